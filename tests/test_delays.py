"""On-delay and off-delay, rows without a past in chunks, and what a calibration shows."""

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from learned import learn
from test_following import FAULTS, described, pieces, series
from truism.errors import ParameterError
from truism.explain.checker import Checker
from truism.incidents.delays import Delays, limits_of
from truism.incidents.following import find_events
from truism.score.scorer import Scorer
from truism.score.thresholds import adopt
from truism.table.frames import as_table


@pytest.fixture(scope="module")
def model():
    return learn(as_table(series(1500)), min_support=0.05, ordered=True)


@pytest.fixture(scope="module")
def scorer(model):
    return Scorer(model)


@pytest.fixture(scope="module")
def alone():
    return Scorer(learn(as_table(series(500)), min_support=0.05, ordered=True, lookback=0))


@pytest.fixture(scope="module")
def table():
    return as_table(series(400, 1, FAULTS))


def followed(scorer, parts, limits):
    """Follow a table in chunks; return the latest outline of every event that is told."""
    state, latest, scores = None, {}, []
    for part in parts:
        found = find_events(scorer, part, limits, state)
        state = found.following
        scores.extend(found.scores.tolist())
        latest |= {
            (each.series, each.start): each for each in found.events if each.length >= limits.least
        }
    return described(latest.values()), scores


@examples(max_examples=15, deadline=None)
@given(cuts=st.lists(st.integers(0, 400), max_size=6), on=st.integers(0, 80))
def test_what_does_not_last_is_never_told_and_chunks_agree(scorer, table, cuts, on):
    every = find_events(scorer, table, limits_of(scorer.model, table)).events
    lasting = [each for each in every if each.length >= on]
    limits = limits_of(scorer.model, table, delays=Delays(on=on))
    assert followed(scorer, pieces(table, cuts), limits)[0] == described(lasting)


def test_an_off_delay_waits_for_the_return(scorer, table):
    limits = limits_of(scorer.model, table, delays=Delays(off=30))
    assert limits == limits_of(scorer.model, table, 30)
    assert limits_of(scorer.model, table, 40, Delays(off=30)).gap == 40


@pytest.mark.parametrize("wrong", ["soon", "-3", -3, 2.5])
def test_a_delay_that_is_none_is_refused(wrong):
    with pytest.raises(ParameterError, match="on_delay must be"):
        Delays(on=wrong).in_rows(1.0)


def test_a_duration_needs_times(scorer, table):
    with pytest.raises(ParameterError) as caught:
        limits_of(scorer.model, table, delays=Delays(off="5min"))
    assert str(caught.value) == (
        "off_delay must be a number of rows, because the model has no times, got '5min'."
    )
    assert Delays("1min", "7").in_rows(7.0) == (9, 7)


@examples(max_examples=15, deadline=None)
@given(cuts=st.lists(st.integers(0, 400), max_size=6))
def test_rows_without_a_past_form_the_same_incidents_in_chunks(alone, table, cuts):
    limits = limits_of(alone.model, table)
    whole = find_events(alone, table, limits)
    assert whole.events
    parts = [part for part in pieces(table, cuts) if part.n_rows]
    assert all(limits_of(alone.model, part) == limits for part in parts)
    told, scores = followed(alone, parts, limits)
    assert told == described(whole.events)
    assert scores == whole.scores.tolist()


@pytest.mark.parametrize("lookback", ["auto", 0])
def test_a_gap_in_time_ends_an_incident_whatever_the_chunks(lookback):
    times = [f"2026-01-01T{i // 60:02}:{i % 60:02}:00" for i in range(600)]
    learned = learn(
        as_table({"time": times, **series(600)}), min_support=0.05, time="time", lookback=lookback
    )
    scorer = Scorer(learned)
    later = [f"2026-01-0{2 + (i >= 155)}T{i // 60:02}:{i % 60:02}:00" for i in range(200)]
    table = as_table({"time": later, **series(200, 1, (("heat", 150, 160, 9.0),))})
    limits = limits_of(learned, table)
    whole = find_events(scorer, table, limits)
    assert len(whole.events) >= (1 if learned.memory else 2)  # references survive a gap
    told, scores = followed(scorer, pieces(table, [40, 152, 155, 157]), limits)
    assert told == described(whole.events)
    assert scores == whole.scores.tolist()


def test_what_a_calibration_shows_is_expected_from_then_on(model, table):
    checker = Checker(model)
    normal = as_table(series(3000, 9))
    calibrated = checker.calibrate(normal, None, "2/1000rows")
    adopted = Checker(adopt(model, calibrated))
    assert adopted.model == calibrated
    assert adopted.find(table).expected == Checker(calibrated).find(table).expected
    assert adopted.find(normal).expected == pytest.approx(6.0, rel=0.1)
    plain = learn(as_table(series(300)), min_support=0.1)
    assert adopt(plain, calibrated).series is None
    assert adopt(plain, calibrated).limit == calibrated.limit


def test_a_check_tells_what_lasts(model, table):
    checker = Checker(model)
    every, lasting = checker.find(table), checker.find(table, delays=Delays(on=20))
    starts = {each.start for each in lasting.incidents}
    assert {each.start for each in every.incidents} > starts
    assert all(each.length >= 20 for each in lasting.incidents.outlines)
    assert [each.start for each in lasting.shifts] == [each.start for each in every.shifts]
