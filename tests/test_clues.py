"""What speaks against a row is said of the training rows that there are, and of no others."""

import math

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from learned import learn
from strategies import finite
from truism.explain.clues import (
    Contradiction,
    Nearest,
    Outside,
    Rarity,
    Seen,
    count_others,
    nearest,
    usual_classes,
    usual_interval,
)
from truism.explain.explanations import explain_rows
from truism.explain.investigation import find_clues
from truism.explain.words import say
from truism.model.evidence import Context, Grave
from truism.model.predicates import Interval, OneOf
from truism.model.schema import Numeric
from truism.score.contexts import FLOOR
from truism.score.rarity import Emptiness
from truism.score.scorer import Scorer
from truism.score.weighed import Violation
from truism.table.frames import as_table

N = 400


def without_rules(data, **kinds):
    """Learn from rows, and leave only what is no rule."""
    model = learn(as_table(data), min_support=0.05, **kinds)
    for rule in model.active_rules:
        model = model.disable(rule.id, "to hear the contexts alone")
    return Scorer(model)


def without_grave_rules(data):
    model = learn(as_table(data), min_support=0.05)
    evidence = msgspec.structs.replace(model.evidence, grave=None)
    return Scorer(msgspec.structs.replace(model, evidence=evidence))


def contradiction(scorer, variable, row):
    (clues_of,) = find_clues(scorer, as_table({name: [value] for name, value in row.items()}))
    return next(each for each in clues_of[variable] if isinstance(each, Contradiction))


def said(clue, n_training=200):
    return say(clue, n_training)


# --- states of which the rarest are counted together ---


@pytest.fixture(scope="module")
def users():
    """63 common users and one of whom nothing is to be said by day, 100 rare ones by night."""
    common = [f"c{i:02}" for i in range(63)]
    day, night = [*(common * 4), *(["c00"] * 8)], [f"r{i:02}" for i in range(100)] * 2
    data = {"time": ["day"] * len(day) + ["night"] * len(night), "user": day + night}
    return without_rules(data), len(day), len(night)


def test_a_state_that_shares_its_class_is_not_given_the_count_of_the_class(users):
    scorer, n_day, _ = users
    clue = contradiction(scorer, "user", {"time": "day", "user": "r07"})
    # Each has few of the rows: none is expected, but one of most of them is usual.
    assert clue.expected.values[0] == "c00"
    n_usual = 12 + 4 * (len(clue.expected.values) - 1)
    assert n_usual - 4 < 0.8 * n_day <= n_usual
    reason = say(clue, scorer.n_training)
    assert reason.expected.startswith("user usually one of c00, c01, c02, c03, c04, c05 and ")
    assert reason.because == "time = day"
    assert reason.evidence == (
        f"one of these {len(clue.expected.values)} in {n_usual} of the {n_day} of "
        f"{scorer.n_training} training rows like this, values as uncommon as r07 in 0 of them"
    )


def test_an_unseen_state_of_very_many_counts_among_the_uncommon(users):
    scorer, _, _ = users
    clue = contradiction(scorer, "user", {"time": "day", "user": "never"})
    assert said(clue).evidence.endswith(", values as uncommon as never in 0 of them")
    assert clue.expected.values[0] == "c00"


def test_where_only_uncommon_states_were_seen_none_is_named_with_their_count(users):
    scorer, _, n_night = users
    clue = contradiction(scorer, "user", {"time": "night", "user": "c05"})
    assert set(clue.expected.values) == {f"r{i:02}" for i in range(100)}
    assert said(clue).evidence == (
        f"one of these 100 in {n_night} of all {n_night} training rows, c05 in 0 of them"
    )
    reason = say(clue, scorer.n_training)
    assert reason.expected == "user in {r00, r01, r02, r03, r04, r05 and 94 others}"


def test_of_few_states_each_has_its_own_count():
    data = {"pump": ["on", "off"] * 50, "valve": ["open", "shut"] * 49 + ["open", "open"]}
    scorer = without_rules(data)
    clue = contradiction(scorer, "valve", {"pump": "on", "valve": "shut"})
    like = "open in 50 of the 50 of 100 training rows like this"
    assert said(clue, 100).evidence == f"{like}, shut in 0 of them"
    # A state that was never seen needs no condition.
    clue = contradiction(scorer, "valve", {"pump": "on", "valve": "never"})
    assert said(clue, 100).evidence == "open in 51 of all 100 training rows, never in 0 of them"
    assert (said(clue, 100).because, said(clue, 100).expected) == (None, "valve usually open")


# --- missing and infinite values ---


def motor(missing=0):
    """Whether a motor runs is decided by the flow, of which some values may be missing."""
    random = np.random.default_rng(0)
    flow = np.concatenate([random.uniform(0, 3, N // 2), random.uniform(4, 7, N // 2)]).tolist()
    runs = [False] * (N // 2) + [True] * (N // 2)
    return {"flow": flow + [None] * missing, "runs": runs + [True] * missing}


@pytest.mark.parametrize("missing", [0, 40])
def test_a_leaf_is_described_by_its_side_whatever_a_row_is_missing(missing):
    scorer = without_rules(motor(missing))
    clues = {
        value: contradiction(scorer, "runs", {"flow": value, "runs": False})
        for value in (5.5, 6.5, None, math.inf)
    }
    assert said(clues[5.5]).because == said(clues[6.5]).because
    side = said(clues[5.5]).because.removesuffix(" or missing")
    assert side.startswith("flow ≥ 3")
    assert said(clues[5.5]).because == (f"{side} or missing" if missing else side)
    assert said(clues[None]).because == f"{side} or missing"
    assert said(clues[math.inf]).because == said(clues[5.5]).because + " or infinite"
    assert (clues[None].conditions, clues[math.inf].conditions) == ((), ())
    assert {said(clue).evidence for clue in clues.values()} == {said(clues[5.5]).evidence}


def test_alternatives_are_bracketed_among_other_conditions():
    data = motor(40)
    data["mode"] = ["a", "b"] * (len(data["flow"]) // 2)
    model = without_rules(data).model
    splits = (Interval("flow", high=3.5), OneOf("mode", ("a",)))
    context = Context(
        tree=(0, -1, 1, -1, -1),
        numbers=(),
        states=(1,),
        counts=(200, 120, 120),
        means=((),) * 3,
        spreads=((),) * 3,
        state_counts=(((0, 200),), ((120, 0),), ((0, 120),)),
    )
    evidence = msgspec.structs.replace(model.evidence, splits=splits, contexts=(context,))
    scorer = Scorer(msgspec.structs.replace(model, evidence=evidence))
    clue = contradiction(scorer, "runs", {"flow": 5.0, "runs": False, "mode": "a"})
    assert said(clue).because == "(flow ≥ 3.5 or missing) and mode = a"
    assert clue.conditions == (Interval("flow", low=3.5), OneOf("mode", ("a",)))


def test_the_side_on_which_a_split_holds_has_no_missing_values():
    scorer = without_rules(motor(40))
    clue = contradiction(scorer, "runs", {"flow": 1.0, "runs": True})
    assert said(clue).because.startswith("flow < 3")
    assert "missing" not in said(clue).because


def test_a_state_that_training_did_not_have_is_said_where_one_state_is_left():
    data = {"pump": ["on", "off"] * 50, "valve": ["open", "shut"] * 50}
    scorer = without_rules(data)
    whys = set()
    for pump in ("on", "off", "broken", None):
        for valve in ("open", "shut"):
            (clues_of,) = find_clues(scorer, as_table({"pump": [pump], "valve": [valve]}))
            clues = clues_of.get("valve", ())
            whys |= {said(each).because for each in clues if isinstance(each, Contradiction)}
    assert {"pump = on", "pump = off"} <= whys
    assert whys - {"pump = on", "pump = off"} <= {
        f"pump = {state} or {else_}"
        for state in ("on", "off")
        for else_ in ("missing", "not seen in training")
    }
    assert len(whys) == 4


def test_many_excluded_states_are_counted_and_the_predicate_stays_exact():
    states = [f"s{i:02}" for i in range(8)]
    data = {"id": states * 30, "speed": np.random.default_rng(0).normal(0, 1, 240).tolist()}
    model = without_rules(data).model
    # Five splits on the way to the last leaf, each asking for one state; none of them holds there.
    splits = tuple(OneOf("id", (state,)) for state in states[:5])
    context = Context(
        tree=(0, -1, 1, -1, 2, -1, 3, -1, 4, -1, -1),
        numbers=(1,),
        states=(),
        counts=(30, 30, 30, 30, 30, 90),
        means=((9.0,), (-9.0,), (9.0,), (-9.0,), (9.0,), (0.0,)),
        spreads=((0.1,),) * 6,
        state_counts=((),) * 6,
    )
    evidence = msgspec.structs.replace(model.evidence, splits=splits, contexts=(context,))
    scorer = Scorer(msgspec.structs.replace(model, evidence=evidence))
    clue = contradiction(scorer, "speed", {"id": "s06", "speed": 5.0})
    assert said(clue).because == "id not in {s00, s01, s02 and 2 others}"
    assert clue.conditions == (OneOf("id", ("s05", "s06", "s07")),)
    assert said(contradiction(scorer, "speed", {"id": "s01", "speed": 5.0})).because == ("id = s01")


# --- numbers ---


def test_a_spread_that_is_nothing_is_not_printed():
    data = {"pump": ["on", "off"] * 100, "flow": [2.5, 0.0] * 99 + [2.5, 0.7]}
    data["flow"][1::2] = np.random.default_rng(0).uniform(0, 1, 100).tolist()
    scorer = without_rules(data, continuous=("flow",))
    clue = contradiction(scorer, "flow", {"pump": "on", "flow": 0.5})
    assert said(clue).evidence == "on average 2.5 in the 100 of 200 training rows like this"


def test_means_of_a_variable_with_missing_values_are_of_those_that_are_known():
    flow = np.random.default_rng(0).normal(5.0, 0.1, 100).tolist()
    data = {"pump": ["on", "off"] * 100, "flow": [x for each in flow for x in (each, 0.0)]}
    data["flow"][:20] = [None] * 20
    scorer = without_rules(data, continuous=("flow",))
    clue = contradiction(scorer, "flow", {"pump": "on", "flow": 1.0})
    assert said(clue).evidence.endswith(
        ", where it is known, in the 100 of 200 training rows like this"
    )


# --- rules before contexts ---


def test_a_rule_worth_half_as_much_speaks_in_place_of_a_context():
    random = np.random.default_rng(0)
    on = random.random(100) < 0.5
    data = {
        "pump": np.where(on, "on", "off").tolist(),
        "flow": (np.where(on, 5.0, 0.0) + random.normal(0, 0.1, 100)).tolist(),
        "level": random.normal(10, 2, 100).tolist(),
        "valve": random.choice(["open", "shut", "half"], 100).tolist(),
    }
    scorer = without_grave_rules(data)
    table = as_table({"pump": ["on"], "flow": [0.0], "level": [10.0], "valve": ["open"]})
    (violations,) = scorer.violations(table)
    worth = max(each.penalty for each in violations if each.failed.variable == "pump")
    context = scorer.weigh(table).pieces.in_context[0, 0]
    assert context / 2 <= worth < context, "the context is stronger, but not twice"
    (clues_of,) = find_clues(scorer, table)
    first = clues_of["pump"][0]
    assert isinstance(first, Violation)
    assert first.penalty == context
    assert not any(isinstance(each, Contradiction) for each in clues_of["pump"])
    (row,) = explain_rows(scorer, table, [0])
    for blame in row.blames:
        assert sum(each.penalty for each in blame.reasons) == pytest.approx(blame.penalty)


def test_what_a_grave_rule_adds_is_said_by_the_rule():
    data = {"pump": ["on", "off"] * 50, "flow": [5.0, 0.0] * 50}
    data["flow"] = (np.array(data["flow"]) + np.random.default_rng(0).normal(0, 0.1, 100)).tolist()
    model = learn(as_table(data), min_support=0.05)
    evidence = msgspec.structs.replace(model.evidence, grave=Grave(0.0, 1000.0))
    scorer = Scorer(msgspec.structs.replace(model, evidence=evidence))
    table = as_table({"pump": ["on"], "flow": [0.0]})
    (clues_of,) = find_clues(scorer, table)
    first = clues_of["pump"][0]
    assert isinstance(first, Violation)
    assert first.penalty == scorer.weigh(table).pieces.contradictions[0, 0] > 900


def test_a_rule_worth_less_leaves_the_word_to_the_context(monkeypatch):
    monkeypatch.setattr("truism.explain.investigation.RULE_FIRST", 2.0)
    data = {"pump": ["on", "off"] * 50, "flow": [5.0, 0.0] * 50}
    data["flow"] = (np.array(data["flow"]) + np.random.default_rng(0).normal(0, 0.1, 100)).tolist()
    scorer = without_grave_rules(data)
    (clues_of,) = find_clues(scorer, as_table({"pump": ["on"], "flow": [0.0]}))
    assert isinstance(clues_of["pump"][0], Contradiction)
    assert all(each.penalty == 0 for each in clues_of["pump"] if isinstance(each, Violation))


# --- rarity ---


def test_a_rare_state_is_held_against_all_that_are_commoner():
    states = [f"s{i}" for i in range(9)]
    data = {"u": [*(states * 30), "odd"], "v": ["a", "b"] * 135 + ["a"]}
    scorer = without_rules(data)
    (clues_of,) = find_clues(scorer, as_table({"u": ["odd"], "v": ["a"]}))
    clue = next(each for each in clues_of["u"] if isinstance(each, Rarity))
    assert set(clue.usual.values) == set(states)
    reason = say(clue, scorer.n_training)
    assert reason.expected == "u in {s0, s1, s2, s3, s4, s5 and 3 others}"
    assert (reason.because, reason.evidence) == (None, "1 of 271 training rows have this value")


def test_clues_are_values():
    clue = Rarity("x", 1.0, Nearest(0.0, None), Seen(0, "high"), 1.0, True)
    assert msgspec.structs.replace(clue) == clue
    assert hash(clue)


def test_a_value_beyond_all_that_training_had_is_told_before_any_why():
    random = np.random.default_rng(0)
    data = {"a": random.normal(0, 1, 800), "b": random.choice(["x", "y"], 800)}
    scorer = Scorer(learn(as_table(data), min_support=0.1))
    (far,) = find_clues(scorer, as_table({"a": [30.0], "b": ["x"]}))
    assert isinstance(far["a"][0], Outside)
    assert said(far["a"][0], 800).evidence == "0 of 800 training rows were this high"
    (near,) = find_clues(scorer, as_table({"a": [float(np.sort(data["a"])[-2])], "b": ["x"]}))
    assert not any(isinstance(clue, Outside) for clue in near["a"])
    # However little it adds: what is beyond everything needs no condition in front.
    (just,) = find_clues(scorer, as_table({"a": [float(data["a"].max()) + 1e-9], "b": ["x"]}))
    assert isinstance(just["a"][0], Outside)
    assert said(just["a"][0], 800).because is None


def numeric(low=0.0, high=100.0, mean=50.0, std=10.0, n_missing=0):
    return Numeric("x", low, high, mean, std, n_missing, (low,), (9,))


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (90.0, "46 ≤ x < 54"),
        (60.0, "46 ≤ x < 54"),
        (54.0, "46 ≤ x < 54"),
        (53.9, "None"),  # within two spreads: no narrower interval is made up
        (50.0, "None"),
        (10.0, "46 ≤ x < 54"),
        (math.inf, "46 ≤ x < 54"),
        (-math.inf, "46 ≤ x < 54"),
    ],
)
def test_the_interval_is_two_spreads_wide_or_there_is_none(found, said):
    assert str(usual_interval(numeric(), 50.0, 2.0, found)) == said


def test_the_interval_is_no_narrower_than_what_contexts_tell_apart():
    assert str(usual_interval(numeric(), 50.0, 0.0, 90.0)) == "49.5 ≤ x < 50.5"


def test_a_bound_beyond_all_training_values_is_left_open():
    assert str(usual_interval(numeric(), 0.0, 28.0, 90.0)) == "x < 56"
    assert str(usual_interval(numeric(), 100.0, 28.0, 10.0)) == "x ≥ 44"
    # On the side of what was found it stays: it is what is broken.
    assert str(usual_interval(numeric(), 95.0, 5.0, 120.0)) == "85 ≤ x < 105"


@pytest.mark.parametrize("found", [1e16, 1e16 + 2, -1.7e308, 1.7e308, math.inf, -math.inf])
@pytest.mark.parametrize("mean", [1e16, 1e16 + 2, -1.7e308, 1.7e308])
@pytest.mark.parametrize(("spread", "std"), [(0.0, 1.0), (1e308, 1e308), (math.inf, 1e308)])
def test_no_number_is_where_it_was_expected_however_large(found, mean, spread, std):
    expected = usual_interval(numeric(-1.7e308, 1.7e308, std=std), mean, spread, found)
    assert expected is None or not expected.low <= found < expected.high


@given(finite, st.floats(0, 1e9), st.floats(1e-9, 1e9), finite)
def test_an_interval_excludes_what_was_found_and_holds_two_spreads(mean, spread, std, found):
    variable = numeric(-1e300, 1e300, std=std)
    expected = usual_interval(variable, mean, spread, found)
    if expected is None:
        return
    assert not expected.low <= found < expected.high
    # Rounding moves a bound by a tenth of the width at most.
    half = max(2 * spread, FLOOR * std)
    slack = 0.11 * half + 1e-9 * abs(mean)
    assert expected.low <= mean - half + slack
    assert expected.high >= mean + half - slack


def brute_force_classes(counts, found, rest):
    """Try every number of the commonest other classes."""
    others = sorted(
        (k for k in range(len(counts)) if k != found and counts[k]),
        key=lambda k: (k == rest, -counts[k], k),
    )
    own = counts[found] if found < len(counts) else 0
    if own > sum(counts) / 2:
        return ()
    for n in range(1, len(others) + 1):
        covered = sum(counts[k] for k in others[:n])
        if counts[others[0]] >= sum(counts) / 2 or covered >= 0.8 * (sum(counts) - own):
            return tuple(others[:n])
    return tuple(others)


@given(st.lists(st.integers(0, 30), min_size=1, max_size=6), st.integers(0, 7), st.booleans())
def test_usual_states_cover_most_rows_or_one_covers_half(counts, found, has_rest):
    rest = len(counts) - 1 if has_rest else None
    chosen = usual_classes(counts, found, rest)
    assert chosen == brute_force_classes(counts, found, rest)
    assert found not in chosen


def emptiness(values):
    values, counts = np.unique(values, return_counts=True)
    return Emptiness(values, counts, 5, 1.0)


def around(values, found, n_training):
    empty = emptiness(values)
    near = nearest(empty, found)
    return near, count_others(empty, near, found, n_training)


def test_rows_are_counted_where_a_rare_number_lies():
    two_modes = [0.0] * 50 + [5.0] * 50 + [2.0, 3.0]
    assert around(two_modes, 2.5, 102) == (Nearest(1.0, 4.0), Seen(2, "near"))
    assert around(two_modes, 50.0, 102)[1] == Seen(0, "high")
    near, others = around([0.0] * 80 + [9.0, 10.0, 11.0, 12.0], 9.5, 84)
    assert (near.above, others) == (None, Seen(4, "near"))
    near, others = around([0.0] * 80 + [-9.0, -10.0, -11.0, -12.0], -9.5, 84)
    assert (near.below, others) == (None, Seen(4, "near"))


def test_a_number_is_never_said_to_be_expected_where_it_was_found():
    near, _ = around([1.0], 1.0, 1)
    assert near == Nearest(None, None)
    assert (near.interval("x"), near.values) == (None, ())


def test_what_is_ordinary_on_one_side_is_an_interval():
    below, above = Nearest(2.0, None).interval("x"), Nearest(None, 3.0).interval("x")
    assert below.low == -math.inf
    assert below.high == math.nextafter(2.0, math.inf)
    assert (above.low, above.high) == (3.0, math.inf)
    assert Nearest(2.0, 3.0).interval("x") is None


def test_few_rows_beyond_a_number_are_counted_exactly():
    assert Seen(50, "low").is_exact
    assert not Seen(51, "low").is_exact
