"""Rates of incidents, as a law and as people say them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truism.errors import ParameterError
from truism.incidents.rates import fit_tail, group_rows
from truism.model.provenance import RateOfIncidents
from truism.model.series import Memory, Tail
from truism.model.settings import IncidentRate
from truism.score.thresholds import expect


@given(
    level=st.floats(0, 100),
    scale=st.floats(0.01, 100),
    n_incidents=st.integers(1, 500),
    rate=st.floats(0.001, 5),
)
def test_threshold_and_rate_are_inverses(level, scale, n_incidents, rate):
    tail = Tail(level, scale, n_incidents, 10_000)
    threshold = tail.threshold(rate)
    assert threshold >= level
    most = n_incidents / 10
    assert tail.rate(threshold) == pytest.approx(min(rate, most), rel=1e-6)


def test_a_rate_that_too_few_rows_show_is_extrapolated():
    tail = Tail(1.0, 1.0, 20, 400)
    assert tail.has_seen(2.5)
    assert not tail.has_seen(1.0)


def test_the_scale_is_the_mean_height_of_incidents():
    levels = np.zeros(100)
    levels[[10, 11, 12]] = 2.0, 5.0, 3.0
    levels[40] = 9.0
    tail = fit_tail(levels, [np.arange(100)])
    assert tail == Tail(0.0, 7.0, 2, 100)


def test_incidents_do_not_reach_from_one_run_into_the_next():
    levels = np.zeros(100)
    levels[[49, 50]] = 4.0
    assert fit_tail(levels, [np.arange(100)]).n_incidents == 1
    assert fit_tail(levels, [np.arange(50), np.arange(50, 100)]).n_incidents == 2


def test_constant_levels_have_a_tail_all_the_same():
    tail = fit_tail(np.full(50, 3.0), [np.arange(50)])
    assert tail.n_incidents == 0
    assert tail.threshold(1.0) == 3.0


def test_the_law_is_found_where_it_holds():
    random = np.random.default_rng(0)
    levels = random.exponential(2.0, 200_000)
    tail = fit_tail(levels, [np.arange(len(levels))], gap=0)
    assert tail.scale == pytest.approx(2.2, rel=0.1)  # peaks of neighbours are a little higher
    seen = len(group_rows(np.flatnonzero(levels > tail.threshold(1.0)), 0)) / 200
    assert seen == pytest.approx(1.0, rel=0.5)


@pytest.mark.parametrize(
    ("text", "step", "in_rows", "said"),
    [
        ("1/day", 60.0, 1000 / 1440, "1 a day"),
        ("2/week", 3600.0, 2000 / 168, "2 a week"),
        ("0.5/1000rows", None, 0.5, "0.5 per 1,000 rows"),
        (" 3 / 1000 rows ", 1.0, 3.0, "3 per 1,000 rows"),
        ("1/hour", 1.0, 1000 / 3600, "1 an hour"),
    ],
)
def test_rates_as_people_say_them(text, step, in_rows, said):
    rate = IncidentRate.parse(text)
    assert rate.in_rows(step) == pytest.approx(in_rows)
    assert str(rate) == said


@pytest.mark.parametrize(
    "text", ["", "1", "day", "-1/day", "0/day", "1/month", "1/10rows", 3, None]
)
def test_what_is_no_rate_is_refused(text):
    with pytest.raises(ParameterError) as caught:
        IncidentRate.parse(text)
    assert str(caught.value).startswith(
        "max_false_incidents must be a rate such as '1/day', '2/week' or '1/1000rows', got "
    )


def test_a_rate_in_time_needs_times():
    with pytest.raises(ParameterError) as caught:
        IncidentRate.parse("1/day").in_rows(None)
    assert "because the model has no times" in str(caught.value)


def test_no_series_exceeds_less_than_a_point():
    memory = Memory(15, 1, 1.0, 1.0, *((),) * 3, Tail(0.001, 0.001, 100, 10_000), (), (), ())
    assert expect(memory, IncidentRate.parse("1/day"), 60.0).value == 1.0


def test_the_usual_rate_depends_on_how_often_rows_come():
    assert str(IncidentRate.asked(None, 86.4)) == "1 a day"
    assert str(IncidentRate.asked(None, 87.0)) == "1 per 1,000 rows"
    assert str(IncidentRate.asked(None, None)) == "1 per 1,000 rows"


def test_a_threshold_is_set_by_the_rate_and_says_so():
    memory = Memory(15, 1, 1.0, 1.0, *((),) * 3, Tail(10.0, 5.0, 100, 10_000), (), (), ())
    limit = expect(memory, IncidentRate.parse("1/day"), 60.0)
    assert limit.value == pytest.approx(10 + 5 * np.log(10 / (1000 / 1440)), rel=0.01)
    assert isinstance(limit.origin, RateOfIncidents)
    assert str(limit.origin) == ("about 1 false incident a day, judging by 10,000 held-out rows")
    far = expect(memory, IncidentRate.parse("1/week"), 60.0).origin
    assert str(far) == ("about 1 false incident a week, extrapolated from 10,000 held-out rows")
