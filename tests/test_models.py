"""A model at a glance."""

import pytest

from truism.learning.training import train
from truism.model.settings import Settings
from truism.report.models import summarise
from truism.table.frames import as_table

HOSTILE = "a|b*<i>[x](y)`_"


@pytest.fixture(scope="module")
def model():
    table = as_table(
        {HOSTILE: ["on", "off"] * 50, "flow": [2.5, 0.0] * 50, "id": [f"n{i}" for i in range(100)]}
    )
    model = train(table, Settings(min_support=0.1), created="2024-01-01T00:00:00+00:00")
    return model.disable(model.rules[-1].id, "a | b", "2024-02-03")


def test_the_summary_holds_what_a_person_asks(model):
    summary = summarise(model)
    assert (summary.n_rows, summary.n_columns) == (100, 3)
    assert summary.categorical == (HOSTILE, "flow")
    assert summary.left_out[0].name == "id"
    assert summary.why == "as asked"
    assert summary.notices == (
        "Learned as states, because they have few different values: 'flow'. If one is a "
        "quantity, say that it is continuous.",
    )
    assert summary.n_rules == len(model.rules)
    assert all(rule.antecedent for rule in summary.best)
