"""Variables then and now: parts of rows that add up to one."""

import pytest

import reported
from truism.report.contents import Summary


@pytest.fixture(scope="module")
def summary() -> Summary:
    return reported.summary()


def test_variables_are_compared_with_training(summary):
    flow = next(each for each in summary.variables if each.name == "flow")
    assert (flow.seen_in_training, flow.seen_here) == ("0 to 2.56", "−1.5 to 2.56")
    assert sum(flow.histogram.training) == pytest.approx(1, abs=1e-3)
    assert sum(flow.histogram.here) == pytest.approx(1, abs=1e-3)
    assert flow.share > 0
