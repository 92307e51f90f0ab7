"""What was accepted no longer counts, in situations like those of the accepted rows and nowhere else."""

import msgspec
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
from learned import learn
from strategies import learned
from truism.explain.blames import find_spared
from truism.model import provenance as stamps
from truism.model.acceptances import Acceptance
from truism.model.predicates import Interval, OneOf
from truism.model.schema import Categorical
from truism.score import evidence as tolerance
from truism.score.evidence import Tolerance
from truism.score.scorer import Scorer
from truism.score.weighed import joined
from truism.table.frames import as_table


def accepting(model, *acceptances):
    return msgspec.structs.replace(model, accepted=tuple(acceptances))


@st.composite
def accepted(draw, scoring="evidence", min_rows=24):
    """Draw a table, a model that accepts something, and rows that hold anything."""
    data, model, strange = draw(learned(scoring=scoring, min_rows=min_rows))
    predicates = [each.predicate for each in model.rules.predicates]
    everywhere = [
        OneOf(each.name, each.values)
        if isinstance(each, Categorical)
        else Interval(each.name, low=-1e300)
        for each in model.schema.variables
    ]
    conditions = st.lists(st.sampled_from([*predicates, *everywhere]), min_size=1, max_size=2)
    names = st.lists(st.sampled_from(model.schema.names), min_size=1, max_size=3, unique=True)
    some = st.builds(Acceptance, names.map(tuple), conditions.map(tuple), st.just("a test"))
    return data, model, accepting(model, *draw(st.lists(some, min_size=1, max_size=3))), strange


@pytest.mark.parametrize("scoring", ["evidence", "paper"])
@settings(max_examples=20)
@given(data=st.data())
def test_evidence_counts_as_brute_force_says(scoring, data):
    _, _, model, strange = data.draw(accepted(scoring))
    applied, table = Tolerance(model), as_table(strange)
    muted = applied.muted(applied.find(table))
    weighed = Scorer(model).weigh_alone(table)
    for i, row in enumerate(oracle.rows_of(strange)):
        holds = [
            each
            for each in model.accepted
            if all(oracle.holds(condition, row) is True for condition in each.conditions)
        ]
        names = {name for each in holds for name in each.variables}
        assert [name in names for name in model.schema.names] == muted[i].tolist()
        assert not weighed.parts[i][muted[i]].any()
    assert (weighed.silenced is None) == (not applied.find(table).any())


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
    applies = after.tolerance.find(table).any(axis=0)
    old, new = before.score(table), after.score(table)
    assert (new <= old).all()
    np.testing.assert_array_equal(new[~applies], old[~applies])
    np.testing.assert_array_equal(new, after.attribute(table).sum(axis=1))
    alone = [after.score(table.take(np.array([row]))).item() for row in range(table.n_rows)]
    np.testing.assert_array_equal(alone, new)


@settings(max_examples=15)
@given(learned(scoring="evidence"))
def test_an_acceptance_that_never_applies_changes_no_bit(drawn):
    _, model, strange = drawn
    never = Acceptance(model.schema.names, (Interval(model.schema.names[0], 1e300, 2e300),), "no")
    if isinstance(model.schema.variables[0], Categorical):
        text = {"text": "nothing", "number": 77, "boolean": True}
        value = text[model.schema.variables[0].holds]
        if value is True:
            return
        never = msgspec.structs.replace(never, conditions=(OneOf(model.schema.names[0], (value,)),))
    table = as_table(strange)
    kept, plain = Scorer(accepting(model, never)).weigh(table), Scorer(model).weigh(table)
    for name in ("contradictions", "rarities", "plain", "in_context"):
        one, other = (getattr(each.pieces, name) for each in (kept, plain))
        np.testing.assert_array_equal(one, other)


HOURS = [f"2024-08-{1 + hour // 24:02} {hour % 24:02}:00" for hour in range(72)]
NORMAL = {"time": HOURS, "pump": ["on", "off"] * 36, "flow": [2.5, 0.0] * 36}
ALWAYS = (OneOf("pump", ("on", "off")),)


def applies(table, until):
    model = learn(as_table(NORMAL), min_support=0.1, lookback=0)
    return Tolerance(accepting(model, Acceptance(("flow",), ALWAYS, "a test", until=until))).find(
        table
    )[0]


def test_an_acceptance_ends_after_its_last_day(monkeypatch):
    table = as_table(NORMAL)
    assert np.flatnonzero(applies(table, "2024-08-02")).tolist() == list(range(48))
    missing = as_table({**NORMAL, "time": [None, *HOURS[1:]]})
    monkeypatch.setattr(tolerance, "today", lambda: "2024-08-02")
    assert applies(missing, "2024-08-02")[0]
    monkeypatch.setattr(tolerance, "today", lambda: "2024-08-03")
    assert not applies(missing, "2024-08-02")[0]
    assert applies(missing, "2024-08-02")[1]
    assert stamps.today() > "2024-08-02"


def test_days_are_those_of_the_zone_that_is_shown():
    times = pd.to_datetime(HOURS).tz_localize("UTC").tz_convert("Asia/Kolkata")
    found = applies(as_table({**NORMAL, "time": times}), "2024-08-01")
    assert np.flatnonzero(found).tolist() == list(range(19))


def test_rows_without_times_go_by_today(monkeypatch):
    rows = {"pump": ["on"], "flow": [0.0]}
    model = learn(as_table({name: NORMAL[name] for name in rows}), min_support=0.1)
    muted = accepting(model, Acceptance(("flow", "pump"), ALWAYS, "no", until="2024-08-02"))
    monkeypatch.setattr(tolerance, "today", lambda: "2024-08-02")
    assert Scorer(muted).score(as_table(rows)).tolist() == [0.0]
    monkeypatch.setattr(tolerance, "today", lambda: "2024-08-03")
    assert Scorer(muted).score(as_table(rows)) > 0


def test_a_state_that_training_never_had_may_be_a_condition():
    model = learn(as_table(NORMAL), min_support=0.1, lookback=0)
    stuck = Acceptance(("pump", "flow"), (OneOf("pump", ("stuck",)),), "repaired")
    table = as_table({**NORMAL, "pump": ["stuck", "never"] * 36})
    scores = Scorer(accepting(model, stuck)).weigh_alone(table).scores
    assert not scores[::2].any()
    assert scores[1::2].all()


def test_series_in_one_piece_and_in_chunks_count_the_same():
    model = learn(as_table(NORMAL), min_support=0.1, ordered=True)
    assert model.memory is not None
    some = Acceptance(("flow", "pump"), (OneOf("pump", ("on",)),), "a test")
    scorer = Scorer(accepting(model, some))
    table = as_table({**NORMAL, "flow": [0.0, 0.1, 2.5] * 24})
    left, parts = None, []
    for start in range(0, 72, 5):
        [(_, weighed, left)] = scorer.follow(table.take(slice(start, start + 5)), left)
        parts.append(weighed.scores)
    np.testing.assert_array_equal(np.concatenate(parts), scorer.score(table))
