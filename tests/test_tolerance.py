"""What was accepted no longer counts, in situations like those of the accepted rows and nowhere else."""

import math

import msgspec
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
from learned import learn
from strategies import learned
from truism.explaining.sparing import find_spared
from truism.model import stamps
from truism.model.acceptances import Acceptance, Allowance, Case, mute
from truism.model.predicates import AnyOf, Interval, OneOf
from truism.scoring import tolerance
from truism.scoring.scorer import Scorer
from truism.scoring.tolerance import Kinds, Tolerance, beyond
from truism.scoring.weighed import joined
from truism.table.frames import as_table

amounts = st.none() | st.floats(0.0, 30.0)


def accepting(model, *acceptances):
    return msgspec.structs.replace(model, accepted=tuple(acceptances))


@st.composite
def accepted(draw, scoring="evidence", min_rows=24):
    """Draw a table, a model that accepts something, and rows that hold anything."""
    data, model, strange = draw(learned(scoring=scoring, min_rows=min_rows))
    predicates = [each.predicate for each in model.rules.predicates]
    known = (
        st.lists(st.sampled_from(predicates), max_size=2).map(tuple) if predicates else st.just(())
    )
    names = st.sampled_from(model.schema.names)
    allowed = st.lists(
        st.builds(Allowance, names, amounts, amounts, amounts),
        max_size=3,
        unique_by=lambda each: each.variable,
    ).map(tuple)
    cases = st.lists(st.builds(Case, known, allowed), min_size=1, max_size=3).map(tuple)
    some = draw(st.lists(st.builds(Acceptance, cases, st.just("a test")), min_size=1, max_size=2))
    return data, model, accepting(model, *some), strange


def spare(model, rows, found):
    """Return what counts, row by row and variable by variable: by brute force."""
    left = [[list(each) for each in kind] for kind in found]
    for i, row in enumerate(rows):
        limits = {}
        for acceptance in model.accepted:
            for case in acceptance.cases:
                if all(oracle.holds(each, row) is True for each in case.conditions):
                    for each in case.allowed:
                        limits.setdefault(each.variable, []).append(each.limits)
        for j, name in enumerate(model.schema.names):
            for k, kind in enumerate(left):
                most = max((each[k] for each in limits.get(name, [])), default=-1.0)
                value = kind[i][j]
                if value <= most:
                    kind[i][j] = 0.0
                elif k and most >= 0:
                    kind[i][j] = min(value, 2 * (value - most))
    return left


@settings(max_examples=20)
@given(accepted(), st.integers(0, 2**32))
def test_evidence_counts_as_brute_force_says(drawn, seed):
    _, _, model, strange = drawn
    applied = Tolerance(model)
    table = as_table(strange)
    shape = (3, table.n_rows, len(model.schema.names))
    kinds = np.random.default_rng(seed).uniform(0.0, 40.0, shape).round(1)
    applies = applied.find(table)
    found, silenced = applied.spare(applies, Kinds(*kinds))
    expected = spare(model, oracle.rows_of(strange), kinds.tolist())
    for one, other in zip(msgspec.structs.astuple(found), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    assert (silenced is None) == (not applies.any())
    if silenced is not None:
        rules, contexts, rarities = np.array(expected)
        gone = np.maximum(kinds[0], kinds[1]) + kinds[2] - np.maximum(rules, contexts) - rarities
        np.testing.assert_allclose(silenced.points, gone, atol=1e-9)
        np.testing.assert_array_equal(silenced.applies, applied.applied_in(table))


@pytest.mark.parametrize("scoring", ["evidence", "paper"])
@settings(max_examples=15)
@given(data=st.data())
def test_what_is_silenced_is_known_of_each_row_in_any_portion(scoring, data):
    _, strict, model, strange = data.draw(accepted(scoring))
    table = as_table(strange)
    before, after = Scorer(strict).weigh_alone(table), Scorer(model).weigh_alone(table)
    cut = data.draw(st.integers(1, max(1, table.n_rows - 1)))
    portions = [
        Scorer(model).weigh_alone(table.take(each))
        for each in (slice(0, cut), slice(cut, table.n_rows))
        if each.start < table.n_rows
    ]
    whole = joined(portions)
    if after.silenced is None:
        assert whole.silenced is None
        return
    np.testing.assert_array_equal(whole.silenced.points, after.silenced.points)
    np.testing.assert_array_equal(whole.silenced.applies, after.silenced.applies)
    if before.pieces is None:
        np.testing.assert_array_equal(after.silenced.points, before.parts - after.parts)
    noted = find_spared(model, after)
    for row, notes in enumerate(noted):
        own = [each for each in model.accepted if each.id in {note.id for note in notes}]
        assert all(after.silenced.points[row].sum() >= note.points - 1e-9 for note in notes)
        assert {name for note in notes for name in note.variables} <= {
            name for each in own for name in each.variables
        }


@pytest.mark.parametrize("scoring", ["evidence", "paper"])
@settings(max_examples=15)
@given(data=st.data())
def test_accepting_lowers_scores_only_where_it_applies_and_parts_still_add_up(scoring, data):
    _, strict, model, strange = data.draw(accepted(scoring))
    table = as_table(strange)
    before, after = Scorer(strict), Scorer(model)
    applies = after.tolerance.applied_in(table).any(axis=0)
    old, new = before.score(table), after.score(table)
    assert (new <= old).all()
    np.testing.assert_array_equal(new[~applies], old[~applies])
    np.testing.assert_array_equal(new, after.attribute(table).sum(axis=1))
    alone = [after.score(table.take(np.array([row]))).item() for row in range(table.n_rows)]
    np.testing.assert_array_equal(alone, new)


@pytest.mark.parametrize("scoring", ["evidence", "paper"])
@settings(max_examples=15)
@given(data=st.data())
def test_where_everything_is_muted_nothing_counts(scoring, data):
    _, model, strange = data.draw(learned(scoring=scoring))
    muted = accepting(model, Acceptance((mute((), model.schema.names),), "stopped"))
    assert not Scorer(muted).score(as_table(strange)).any()


@settings(max_examples=15)
@given(learned(scoring="evidence"))
def test_an_acceptance_that_never_applies_changes_no_bit(drawn):
    _, model, strange = drawn
    never = (Interval("hour", 3.0, 4.0),)  # there are no times
    table = as_table(strange)
    kept = Scorer(accepting(model, Acceptance((mute(never, model.schema.names),), "no"))).weigh(
        table
    )
    plain = Scorer(model).weigh(table)
    for name in ("contradictions", "rarities", "plain", "in_context"):
        one, other = (getattr(each.pieces, name) for each in (kept, plain))
        np.testing.assert_array_equal(one, other)


def test_what_exceeds_the_allowed_counts_twice_up_to_all_of_it():
    found = beyond(np.array([0.0, 1.0, 2.0, 3.0, 9.0]), np.array([2.0, 2.0, 2.0, 2.0, math.inf]))
    assert found.tolist() == [0.0, 0.0, 0.0, 2.0, 0.0]


HOURS = [f"2024-08-{1 + hour // 24:02} {hour % 24:02}:00" for hour in range(72)]
NORMAL = {"time": HOURS, "pump": ["on", "off"] * 36, "flow": [2.5, 0.0] * 36}


def applies(conditions, table, until=None):
    model = learn(as_table(NORMAL), min_support=0.1, lookback=0)
    case = mute(conditions, ("flow",))
    return Tolerance(accepting(model, Acceptance((case,), "a test", until=until))).find(table)[0]


def test_conditions_may_ask_for_the_hour_and_the_day_of_the_week():
    table = as_table(NORMAL)
    found = applies((Interval("hour", 3.0, 5.0), OneOf("weekday", ("Friday",))), table)
    assert [HOURS[row] for row in np.flatnonzero(found)] == ["2024-08-02 03:00", "2024-08-02 04:00"]
    joined = AnyOf((OneOf("weekday", ("Friday",)), OneOf("pump", ("on",))))
    assert applies((joined,), table).sum() == 24 + 24


def test_hours_are_those_of_the_zone_that_is_shown():
    times = pd.to_datetime(HOURS).tz_localize("UTC").tz_convert("Asia/Kolkata")
    found = applies((Interval("hour", 5.5, 6.0),), as_table({**NORMAL, "time": times}))
    assert np.flatnonzero(found).tolist() == [0, 24, 48]


def test_an_acceptance_ends_after_its_last_day(monkeypatch):
    table = as_table(NORMAL)
    assert np.flatnonzero(applies((), table, "2024-08-02")).tolist() == list(range(48))
    missing = as_table({**NORMAL, "time": [None, *HOURS[1:]]})
    monkeypatch.setattr(tolerance, "today", lambda: "2024-08-02")
    assert applies((), missing, "2024-08-02")[0]
    monkeypatch.setattr(tolerance, "today", lambda: "2024-08-03")
    assert not applies((), missing, "2024-08-02")[0]
    assert applies((), missing, "2024-08-02")[1]
    assert stamps.today() > "2024-08-02"


def test_rows_without_times_go_by_today(monkeypatch):
    rows = {"pump": ["on"], "flow": [0.0]}
    model = learn(as_table({name: NORMAL[name] for name in rows}), min_support=0.1)
    muted = accepting(model, Acceptance((mute((), ("flow", "pump")),), "no", until="2024-08-02"))
    monkeypatch.setattr(tolerance, "today", lambda: "2024-08-02")
    assert Scorer(muted).score(as_table(rows)).tolist() == [0.0]
    monkeypatch.setattr(tolerance, "today", lambda: "2024-08-03")
    assert Scorer(muted).score(as_table(rows)) > 0


def test_a_variable_called_hour_is_that_variable():
    data = {"time": HOURS, "hour": [float(i % 7) for i in range(72)], "pump": ["on", "off"] * 36}
    model = learn(as_table(data), min_support=0.1, lookback=0)
    case = mute((Interval("hour", high=1.0),), ("pump",))
    found = Tolerance(accepting(model, Acceptance((case,), "a test"))).find(as_table(data))[0]
    assert np.flatnonzero(found).tolist() == list(range(0, 72, 7))


def test_series_in_one_piece_and_in_chunks_count_the_same():
    model = learn(as_table(NORMAL), min_support=0.1, ordered=True)
    assert model.memory is not None
    case = Case((OneOf("pump", ("on",)),), (Allowance("flow", 0.5, 0.5, 0.5), Allowance("pump")))
    scorer = Scorer(accepting(model, Acceptance((case,), "a test")))
    table = as_table({**NORMAL, "flow": [0.0, 0.1, 2.5] * 24})
    left, parts = None, []
    for start in range(0, 72, 5):
        [(_, weighed, left)] = scorer.follow(table.take(slice(start, start + 5)), left)
        parts.append(weighed.scores)
    np.testing.assert_array_equal(np.concatenate(parts), scorer.score(table))
