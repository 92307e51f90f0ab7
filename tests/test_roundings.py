"""Numbers that came rounded: found row by row, excused where rounding may explain them."""

import itertools

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truism import InvariantRuleDetector
from truism.explaining.roundings import (
    MIN_CHANGES,
    Limit,
    find_rounded,
    most_when_rounded,
    nothing_shown,
)
from truism.model.schema import Numeric
from truism.scoring.decimals import decimals_of

LIMITS = (Limit(0, 0, 2, 1.0, 2.0), Limit(2, 1, 0, -5.0, 5.0))
some_values = st.sampled_from([1.0, 1.25, 1.5, 1.123, 0.99, 0.994, 2.004, 3.0, -5.0, 7.0, np.nan])


def by_rows(values: list[float], most: int, low: float, high: float) -> list[bool]:
    """Decide value by value, with all that came before it."""
    found = []
    for at, value in enumerate(values):
        so_far = [each for each in values[: at + 1] if np.isfinite(each)]
        decimals = next(
            (d for d in range(most + 1) if all(round(each, d) == each for each in so_far)), None
        )
        n_changes = sum(a != b for a, b in itertools.pairwise(so_far))
        excused = decimals is not None and np.isfinite(value) and n_changes >= MIN_CHANGES
        if excused:
            half = 0.5 * 10.0**-decimals
            excused = low - half <= value <= high + half
        found.append(bool(excused))
    return found


@given(st.lists(st.tuples(some_values, some_values), max_size=20), st.data())
def test_values_are_judged_by_those_before_them_in_any_portions(rows, data):
    numbers = np.array(rows, np.float64).reshape(-1, 2)
    cut = data.draw(st.integers(0, len(rows)))
    first, between = find_rounded(LIMITS, numbers[:cut], nothing_shown(3))
    second, _ = find_rounded(LIMITS, numbers[cut:], between)
    found = np.concatenate([first, second])
    assert found[:, 0].tolist() == by_rows(numbers[:, 0].tolist(), 2, 1.0, 2.0)
    assert found[:, 2].tolist() == by_rows(numbers[:, 1].tolist(), 0, -5.0, 5.0)
    assert not found[:, 1].any()


def test_a_value_far_outside_is_not_excused():
    numbers = np.array([[1.0, 0.0], [1.5, 0.0], [1.0, 0.0], [1.25, 0.0], [2.25, 0.0], [2.0, 0.0]])
    rounded, _ = find_rounded(LIMITS, numbers, nothing_shown(3))
    assert rounded[:, 0].tolist() == [False, False, False, True, False, True]


@pytest.mark.parametrize(
    ("std", "expected"), [(0.001, 2), (0.02, 1), (0.1, 1), (1.9, 0), (2.0, None), (0.0, 2)]
)
def test_rounding_matters_if_a_step_is_large_beside_what_is_usual(std, expected):
    variable = Numeric("P", 2.1, 3.0, 2.5, std, 0, (2.134, 2.957), (5, 5))
    assert most_when_rounded(variable, 0.5) == expected


def test_decimals_are_those_of_the_finest_value():
    assert decimals_of([1.0, 2.5, 3.125]) == 3
    assert decimals_of([0.1 + 0.2]) == 9
    assert decimals_of([]) == 0


@pytest.fixture(scope="module")
def series():
    """A pressure that hardly varies, a flow, and a detector that learned them with all decimals."""
    draw = np.random.default_rng(0)
    n_rows = 3000
    flow = np.sin(np.arange(n_rows) / 30) + draw.normal(0, 0.05, n_rows)
    level = np.where(draw.random(n_rows) < 0.5, 2.974, 2.986)
    pressure = level + draw.normal(0, 0.0003, n_rows)
    table = {"flow": flow, "pressure": pressure}
    learned = {name: values[:2000] for name, values in table.items()}
    later = {name: values[2000:] for name, values in table.items()}
    return InvariantRuleDetector(ordered=True).fit(learned), later


def rounded_to(table, decimals):
    return {**table, "pressure": np.round(table["pressure"], decimals)}


def test_rounding_alone_is_told_once_until_it_is_certain(series):
    detector, later = series
    coarse = rounded_to(later, 2)
    found = detector.check(coarse)
    assert (found.scores > found.threshold).any()  # scores say what rows are
    assert all(each.end < 20 for each in found.incidents)
    assert len(found.incidents) <= 1
    assert not found.shifts


def test_what_rounding_cannot_explain_is_told(series):
    detector, later = series
    coarse = rounded_to(later, 2)
    coarse["pressure"][500:530] = 3.2
    found = detector.check(coarse)
    worst = max(found.incidents, key=lambda each: each.score)
    assert worst.blames[0].variable == "pressure"
    assert 495 <= worst.start <= 501


def test_rounding_keeps_no_incident_open(series):
    detector, later = series
    faulty = {**later, "flow": later["flow"].copy()}
    faulty["flow"][500:530] += 3.0
    found = detector.check(rounded_to(faulty, 2))
    assert (found.scores > found.threshold).mean() > 0.9  # because of rounding
    assert not found.state.watches[""].events
    lasted = sorted((each.event.start, each.event.last) for each in found.incidents.outlines)
    (first, early), (second, late) = lasted
    assert first == 4
    assert early < 20
    assert second == 500
    assert late < 540


def test_portions_give_the_same(series):
    detector, later = series
    coarse = rounded_to(later, 2)
    coarse["pressure"][500:530] = 3.2
    whole = detector.check(coarse)
    state, scores = None, []
    for cut in ((0, 2), (2, 505), (505, 1000)):
        part = {name: values[slice(*cut)] for name, values in coarse.items()}
        found = detector.check(part, state)
        state = found.state
        scores.append(found.scores)
    assert np.concatenate(scores).tolist() == whole.scores.tolist()
    assert state.roundings.keys() == whole.state.roundings.keys()
    for own, other in zip(
        msgspec.structs.astuple(state.roundings[""]),
        msgspec.structs.astuple(whole.state.roundings[""]),
        strict=True,
    ):
        assert own.tolist() == other.tolist()
