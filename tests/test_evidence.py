"""Evidence scoring: what a score is made of, and that no table, however strange, disturbs it."""

import math
import re
from types import SimpleNamespace

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

import oracle
from learned import breaks_mined_rule, find_incidents, learn
from learned import learn as tune
from strategies import learned
from truism.explain.clues import Contradiction, Outside, Rarity
from truism.explain.explanations import explain_rows
from truism.explain.investigation import WHY_FIRST, find_clues
from truism.explain.listings import MIN_SHARE
from truism.explain.words import say
from truism.model.evidence import Grave
from truism.model.files import decode_model, encode_model
from truism.model.predicates import Interval, OneOf, Present, Range, variables
from truism.model.schema import Categorical
from truism.model.settings import Settings
from truism.score import alignment, contexts, evidence, rarity
from truism.score.alignment import Readings
from truism.score.evidence import lift
from truism.score.rarity import Emptiness
from truism.score.rules import expected_exceptions, habit_worth, rule_worth
from truism.score.scorer import Scorer
from truism.score.weighed import Violation
from truism.table.frames import as_table

CONSTANTS = SimpleNamespace(**vars(alignment) | vars(contexts))
HOSTILE = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-5, 5).map(float)
weighed_models = learned(scoring="evidence", min_rows=12, max_rows=60)


def plant(n=400, seed=0, noise=0.1):
    """A pump that decides about a flow, and two variables that nothing decides about."""
    random = np.random.default_rng(seed)
    on = random.random(n) < 0.5
    return {
        "pump": np.where(on, "on", "off").tolist(),
        "flow": (np.where(on, 5.0, 0.0) + random.normal(0, noise, n)).tolist(),
        "level": random.normal(10, 2, n).tolist(),
        "valve": random.choice(["open", "shut", "half"], n).tolist(),
    }


# --- the score ---


def test_a_row_that_is_like_many_scores_less_than_one_that_contradicts_itself():
    scorer = Scorer(learn(as_table(plant()), min_support=0.05))
    usual = {"pump": "on", "flow": 5.0, "level": 10.0, "valve": "open"}
    tables = {
        "usual": usual,
        "contradiction": usual | {"flow": 0.0},
        "far out": usual | {"level": 40.0},
        "unseen": usual | {"valve": "gone"},
        "missing": usual | {"valve": None},
    }
    scores = {name: scorer.score(as_table(row))[0] for name, row in tables.items()}
    others = [score for name, score in scores.items() if name != "usual"]
    assert scores["usual"] < scorer.model.threshold < min(others)


def test_the_blame_falls_on_the_variable_that_is_wrong():
    scorer = Scorer(learn(as_table(plant()), min_support=0.05))
    usual = {"pump": "on", "flow": 5.0, "level": 10.0, "valve": "open"}
    for change, allowed in (
        ({"level": 40.0}, {"level"}),
        ({"valve": "gone"}, {"valve"}),
        ({"flow": 0.0}, {"pump", "flow"}),
    ):
        (explained,) = explain_rows(scorer, as_table(usual | change), [0])
        assert explained.blames[0].variable in allowed


def strongest_rules(model, row):
    """What the broken rules about each variable are worth, by brute force, in units of the score."""
    counts_of = {each.predicate: each for each in model.rules.predicates}
    worth = dict.fromkeys(model.schema.names, 0.0)
    for rule in model.active_rules:
        if not all(oracle.holds(each, row) is True for each in rule.antecedent):
            continue
        for failed in rule.consequents:
            if oracle.holds(failed, row) is not False:
                continue
            names = variables(failed)
            if rule.antecedent:
                counted = counts_of[failed]
                chances = math.sqrt(counted.n_false * counted.n_episodes)
                expected = rule.count / (counted.n_true + counted.n_false) * chances
                each = 0.5 * math.log(1 + expected) / len(names)
            elif isinstance(failed, Present) or is_constant(failed):
                each = habit_worth(rule.count)
            else:
                continue
            for name in names:
                worth[name] = max(worth[name], each)
    return worth


def is_constant(predicate):
    match predicate:
        case Range(variable=_, low=low, high=high):
            return low == high
        case OneOf(variable=_, values=values):
            return len(values) == 1
    return False


def rarity_of(model, row):
    """How rare each value is, by brute force where all training values are kept."""
    found = {}
    spacing_of = {each.variable: each for each in model.evidence.spacings}
    for variable in model.schema.variables:
        value = row[variable.name]
        if oracle.is_missing(value):
            found[variable.name] = 0.0
        elif isinstance(variable, Categorical):
            rarities = oracle.state_rarities(variable.counts, rarity.WELL_KNOWN, rarity.MAX_RARITY)
            known = [i for i, state in enumerate(variable.values) if state == value]
            found[variable.name] = rarities[known[0] if known else -2]
        else:
            spacing = spacing_of[variable.name]
            values = np.repeat(spacing.values, spacing.counts).tolist()
            if value not in values and min(values) <= value <= max(values):
                found[variable.name] = None  # interpolated; see test_rarity.py
                continue
            far = oracle.distance(value, values, spacing.near)
            steep = math.log1p(rarity.STEEPNESS * far / spacing.spread)
            found[variable.name] = min(max(steep**2 - rarity.MIN_RARITY, 0.0), rarity.MAX_RARITY)
    return found


@examples(max_examples=30)
@given(weighed_models)
def test_the_score_is_the_sum_of_contradictions_and_rarities(drawn):
    _, model, data = drawn
    parts = Scorer(model).attribute(as_table(data))
    learned_of = model.evidence
    for row, found in zip(oracle.rows_of(data), parts.tolist(), strict=True):
        judged = oracle.judge(
            model.schema.variables, learned_of.contexts, learned_of.splits, row, CONSTANTS
        )
        broken, rare = strongest_rules(model, row), rarity_of(model, row)
        for name, in_context, part in zip(model.schema.names, judged, found, strict=True):
            if rare[name] is None:
                continue
            wanted = max(in_context, broken[name]) / learned_of.contradiction_unit
            wanted += evidence.RARITY_WEIGHT * rare[name] / learned_of.rarity_unit
            assert part == pytest.approx(wanted, rel=1e-4, abs=1e-4)


@examples(max_examples=30)
@given(weighed_models)
def test_ordinary_values_are_set_aside(drawn):
    _, model, data = drawn
    weigher = Scorer(model).weigher
    table = as_table(data)
    read = weigher.reader.read([table.column_of()[name] for name in model.schema.names])
    found = weigher.rarities.weigh(read)
    of_numbers = zip(
        weigher.reader.numbers, weigher.rarities.emptiness, read.numbers.T, strict=True
    )
    for place, emptiness, values in of_numbers:
        assert found[:, place] == pytest.approx(emptiness.rarity(values), abs=1e-12)


@given(
    st.lists(st.lists(HOSTILE, min_size=1, max_size=8), min_size=1, max_size=3),
    st.lists(HOSTILE | st.sampled_from([math.nan, math.inf, -math.inf]), min_size=1, max_size=20),
)
def test_rarities_are_looked_up_where_numpy_interpolates(known, asked):
    emptiness = [
        Emptiness(*np.unique(np.array(each) + 0.0, return_counts=True), near=2, spread=3.0)
        for each in known
    ]
    numbers = len(known) * [np.array(asked)]
    reader = SimpleNamespace(
        numbers=list(range(len(known))), states=[], schema=SimpleNamespace(variables=known)
    )
    none = np.empty((len(asked), 0), np.int32)
    read = Readings(np.array(numbers).T, none.astype(np.float32), none, none.astype(np.uint8))
    found = rarity.Rarities(reader, emptiness, []).weigh(read)
    with np.errstate(over="ignore", invalid="ignore"):
        wanted = [each.rarity(own) for each, own in zip(emptiness, numbers, strict=True)]
    assert found.T.tolist() == pytest.approx(np.array(wanted), abs=1e-12)


@examples(max_examples=30)
@given(weighed_models, st.floats(0.0, 2.0), st.floats(0.1, 20.0))
def test_a_grave_rule_lifts_the_variable_that_it_speaks_of(drawn, worth, score):
    _, model, data = drawn
    grave = msgspec.structs.replace(model.evidence, grave=Grave(worth, score))
    table = as_table(data)
    plain = Scorer(model).attribute(table)
    lifted = Scorer(msgspec.structs.replace(model, evidence=grave)).attribute(table)
    for row, before, after in zip(oracle.rows_of(data), plain, lifted, strict=True):
        broken = list(strongest_rules(model, row).values())
        if abs(max(broken) - worth) < 1e-9:
            continue
        added = after - before
        if max(broken) < worth:
            assert (added == 0).all()
            continue
        assert after.sum() == pytest.approx(math.hypot(before.sum(), score))
        (place,) = np.flatnonzero(added) if added.any() else [int(np.argmax(broken))]
        assert broken[place] == pytest.approx(max(broken))


@examples(max_examples=30)
@given(weighed_models)
def test_attributions_are_not_negative_and_sum_to_the_score(drawn):
    _, model, data = drawn
    scorer, table = Scorer(model), as_table(data)
    scores, parts = scorer.score(table), scorer.attribute(table)
    assert (parts >= 0).all()
    assert np.isfinite(scores).all()
    assert parts.sum(axis=1) == pytest.approx(scores, rel=1e-12)


@examples(max_examples=10)
@given(weighed_models, st.integers(1, 3))
def test_a_row_scores_the_same_to_the_bit_wherever_it_stands(drawn, n_jobs):
    _, model, data = drawn
    scorer, table = Scorer(model), as_table(data)
    scores, parts = scorer.score(table), scorer.attribute(table)
    times = evidence.ROWS_AT_ONCE // table.n_rows + 2  # so that rows fall into two blocks
    many = as_table({name: column * times for name, column in data.items()})
    assert np.array_equal(scorer.score(many, n_jobs), np.tile(scores, times))
    assert np.array_equal(scorer.attribute(many, n_jobs), np.tile(parts, (times, 1)))
    for start in (1, 7, 33):
        shifted = table.take(slice(start, None))
        assert np.array_equal(scorer.score(shifted), scores[start:])
    order = np.random.default_rng(0).permutation(table.n_rows)
    assert np.array_equal(scorer.score(table.take(order)), scores[order])
    for row in range(0, table.n_rows, 9):
        assert scorer.score(table.take(slice(row, row + 1)))[0] == scores[row]


@examples(max_examples=20)
@given(weighed_models)
def test_a_saved_model_scores_and_explains_the_same_to_the_bit(drawn):
    _, model, data = drawn
    again = decode_model(encode_model(model))
    table = as_table(data)
    assert again == model
    assert np.array_equal(Scorer(again).attribute(table), Scorer(model).attribute(table))
    assert find_clues(Scorer(again), table) == find_clues(Scorer(model), table)


@pytest.mark.parametrize("count", [0, 1, 50, 10**6])
def test_a_broken_rule_is_worth_more_the_more_exceptions_chance_would_have_made(count):
    def worth(count, n_false, n_episodes):
        return rule_worth(expected_exceptions(count, 10**6, n_false, n_episodes))

    assert worth(count, 0, 0) == 0.0  # what always holds anyway is no rule
    assert worth(count, 100, 10) >= worth(count, 10, 10)
    assert worth(count, 100, 10) >= worth(count, 100, 1)
    assert worth(count + 1, 100, 10) > worth(count, 100, 10)
    assert habit_worth(count + 1) > habit_worth(count) >= 0.0


def test_chances_lie_between_the_episodes_of_failing_rows_and_the_rows():
    assert expected_exceptions(500, 1000, 400, 400) == 200.0
    assert expected_exceptions(500, 1000, 400, 4) == 20.0
    assert expected_exceptions(500, 1000, 400, 1) == 10.0


# --- outranking ---


@examples(max_examples=25)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(200, 500),
    noise=st.floats(0.02, 0.4),
    unusual=st.floats(0.5, 2.0),
    which=st.sampled_from(["on", "off"]),
)
def test_a_row_that_breaks_a_well_supported_rule_outranks_one_that_is_a_little_unusual(
    seed, n, noise, unusual, which
):
    scorer = Scorer(tune(as_table(plant(n, seed, noise)), Settings(random_state=seed % 7)))
    usual = {"pump": which, "flow": {"on": 5.0, "off": 0.0}[which], "level": 10.0, "valve": "open"}
    broken = as_table(usual | {"flow": {"on": 0.0, "off": 5.0}[which]})
    assert breaks_mined_rule(scorer.model, broken)[0]
    score = scorer.score(broken)[0]
    for a_little in (
        usual,
        usual | {"level": 10.0 + 2 * unusual},
        usual | {"flow": usual["flow"] + noise * unusual},
        usual | {"level": 10.0 - 2 * unusual, "valve": "half"},
    ):
        assert score > scorer.score(as_table(a_little))[0]


# --- clues ---


def is_said(reason):
    return all((reason.expected, reason.found, reason.why, reason.evidence))


def check_clues(scorer, data):
    """What must hold of the clues against the rows of any table."""
    table = as_table(data)
    scores, parts = scorer.score(table), scorer.attribute(table)
    names = scorer.model.schema.names
    clues_of_rows = find_clues(scorer, table)
    for row, clues_of, part in zip(oracle.rows_of(data), clues_of_rows, parts, strict=True):
        for i, name in enumerate(names):
            clues = clues_of.get(name, ())
            penalties = [clue.penalty for clue in clues]
            assert sum(penalties) == pytest.approx(part[i], rel=1e-12, abs=1e-300)
            # What training never had comes first; then what can say why, unless it is a small part.
            told = [each for each in clues if not is_new(each)]
            assert not any(map(is_new, clues[1:]))
            assert not told or told[0].penalty >= max(each.penalty for each in told) / WHY_FIRST
            assert sum(isinstance(clue, Contradiction) for clue in clues) <= 1
            assert sum(isinstance(clue, Rarity) for clue in clues) <= 1
            for clue in clues:
                check_clue(clue, name, row)
    for explained in explain_rows(scorer, table, range(table.n_rows)):
        assert explained.score == scores[explained.row]
        blamed = {blame.variable for blame in explained.blames}
        assert blamed == {names[i] for i in np.flatnonzero(parts[explained.row])}
        for blame in explained.blames:
            assert blame.reasons
            assert all(is_said(reason) for reason in blame.reasons)
            assert blame.penalty == parts[explained.row, names.index(blame.variable)]
        assert str(explained)
        assert explained._repr_html_()


def is_new(clue):
    return isinstance(clue, Outside) or (isinstance(clue, Rarity) and clue.new)


def check_clue(clue, name, row):
    match clue:
        case Violation():
            assert name in variables(clue.failed)
            assert oracle.is_violated(clue.rule, row)
            assert oracle.holds(clue.failed, row) is False
        case Contradiction():
            assert clue.variable == name
            assert clue.penalty > 0
            # What was found is not what was expected, and what is stated as a condition holds.
            assert clue.expected is None or oracle.holds(clue.expected, row) is not True
            assert all(oracle.holds(each, row) is True for each in clue.conditions)
            assert name not in {each.variable for each in clue.conditions}
        case Rarity():
            assert clue.variable == name
            assert clue.penalty > 0 or clue.new
            assert not oracle.is_missing(row[name])
        case Outside():
            assert clue.variable == name
            assert not clue.low <= row[name] <= clue.high


@examples(max_examples=30)
@given(weighed_models)
def test_the_penalties_of_a_variables_clues_sum_to_its_attribution_and_each_is_said(drawn):
    _, model, data = drawn
    check_clues(Scorer(model), data)


def test_a_contradiction_says_what_was_usual_in_rows_like_this_one():
    data = plant(400, noise=0.5)
    scorer = Scorer(learn(as_table(data), Settings(min_support=0.4, max_predicates=2)))
    model = scorer.model
    for violation in scorer.violations(as_table({**data, "pump": data["pump"][::-1]})):
        for each in violation:
            if each.rule.id not in {d.rule_id for d in model.disabled}:
                model = model.disable(each.rule.id, "to hear the contexts alone")
    row = {"pump": "on", "flow": 0.0, "level": 10.0, "valve": "open"}
    (clues_of,) = find_clues(Scorer(model), as_table(row))
    clue = next(each for each in clues_of["flow"] if isinstance(each, Contradiction))
    assert isinstance(clue.expected, Interval)
    assert clue.expected.low < 5.0 < clue.expected.high
    assert (
        OneOf("pump", ("on",)) in clue.conditions or OneOf("pump", ("off",)) not in clue.conditions
    )
    reason = say(clue, 400)
    assert "of 400 training rows" in reason.evidence
    assert "pump" in reason.because


def test_a_rare_state_is_not_among_the_expected_ones_and_its_rows_are_counted():
    data = {"n": [0] * 60 + [1] * 37 + [2] * 3, "u": ["a", "b"] * 50}
    scorer = Scorer(learn(as_table(data), min_support=0.1))
    for value in (2, 2.0):
        (clues_of,) = find_clues(scorer, as_table({"n": value, "u": "a"}))
        clue = next(each for each in clues_of["n"] if isinstance(each, Rarity))
        reason = say(clue, 100)
        assert reason.expected == "n in {0, 1}"
        assert reason.evidence == "3 of 100 training rows have this value"


def test_a_number_between_two_modes_is_said_with_the_rows_between_them():
    random = np.random.default_rng(0)
    x = np.concatenate([random.normal(0.1, 0.01, 250), random.normal(5.1, 0.01, 250), [2.0, 3.0]])
    scorer = Scorer(learn(as_table({"x": x, "u": ["a", "b"] * 251}), min_support=0.1))
    (clues_of,) = find_clues(scorer, as_table({"x": 2.5, "u": "a"}))
    clue = next(each for each in clues_of["x"] if isinstance(each, Rarity))
    reason = say(clue, 502)
    low, high = re.fullmatch(r"x ≤ (\S{3,7}) or x ≥ (\S{3,7})", reason.expected).groups()
    assert 0.1 < float(low) < 2.5 < float(high) < 5.1
    between = int(
        re.fullmatch(r"about (\d+) of 502 training rows lie between these", reason.evidence)[1]
    )
    assert 0 <= between < 20


def test_numbers_closer_than_their_spread_can_be_explained():
    y = [float(i % 7) for i in range(100)]
    data = {"x": [1e16, 1e16 + 2] * 50, "u": ["a", "b"] * 50, "y": y}
    scorer = Scorer(learn(as_table(data), min_support=0.1, continuous=("x",)))
    table = as_table({"x": [1e16 + 2, 1e16, 1e16], "u": ["a", "b", "a"], "y": [1.0, 2.0, 9.0]})
    for explained in explain_rows(scorer, table, range(3)):
        assert all(is_said(reason) for blame in explained.blames for reason in blame.reasons)


def test_a_variable_that_is_mostly_missing_can_be_constant():
    data = {"x": [3.0] * 10 + [None] * 90, "u": ["a", "b"] * 50}
    scorer = Scorer(learn(as_table(data), min_support=0.1, continuous=("x",)))
    usual, wrong = scorer.score(as_table({"x": [3.0, 4.0], "u": ["a", "a"]}))
    assert wrong > usual
    check_clues(scorer, {"x": [3.0, 4.0, None], "u": ["a", "c", None]})


def test_incidents_are_told_with_reasons():
    data = plant()
    scorer = Scorer(learn(as_table(data), min_support=0.05))
    flow = list(data["flow"])
    flow[100:110] = [5.0 - each for each in flow[100:110]]
    table = as_table({**data, "flow": flow})
    incidents = find_incidents(scorer, table)
    assert incidents
    assert 100 <= incidents[0].start <= 109
    for incident in incidents:
        # Who bears less than a hundredth of the blame is not named.
        assert 0.9 < sum(blame.share for blame in incident.blames) <= 1.0 + 1e-9
        assert all(blame.share > MIN_SHARE for blame in incident.blames)
        for blame in incident.blames:
            assert blame.reasons
            assert all(is_said(reason) for reason in blame.reasons)


# --- hostile tables ---


def some_rows(n, seed=1):
    random = np.random.default_rng(seed)
    return {
        "x": random.normal(size=n).tolist(),
        "u": random.choice(["a", "b"], n).tolist(),
        "b": (random.random(n) < 0.5).tolist(),
    }


STRANGE = {"x": [math.inf, -math.inf, None, 0.0, 1e308], "u": ["never", None, "a", "b", "a"]}
STRANGE["b"] = [True, None, False, True, None]
HUGE = [-1.7e308, 1.7e308, 0.0, 1e200, -1.0]
HOSTILE = {
    "constant columns": ({"x": [1.5] * 30, "u": ["a"] * 30, "b": [True] * 30}, STRANGE),
    "all rows equal, but for one": (
        {"x": [1.5] * 29 + [2.5], "u": ["a"] * 30, "b": [True] * 30},
        STRANGE,
    ),
    "one number": ({"x": some_rows(50)["x"]}, {"x": STRANGE["x"]}),
    "one state": ({"u": some_rows(50)["u"]}, {"u": STRANGE["u"]}),
    "two columns": ({n: some_rows(50)[n] for n in "xu"}, {n: STRANGE[n] for n in "xu"}),
    "booleans": (
        {f"b{i}": some_rows(50, i)["b"] for i in range(4)},
        {f"b{i}": STRANGE["b"] for i in range(4)},
    ),
    "more columns than rows": (
        {f"x{i}": some_rows(8, i)["x"] for i in range(40)},
        {f"x{i}": STRANGE["x"] for i in range(40)},
    ),
    "huge numbers": (
        {"x": HUGE * 12, "u": list("abcde") * 12, "y": [float(i % 5) for i in range(60)]},
        {
            "x": [*STRANGE["x"], 1.7e308, -1.7e308],
            "u": list("edcbaaa"),
            "y": [0.0, 1.0, 2.0, 3.0] + [9.0] * 3,
        },
    ),
    "huge and nearly constant": (
        {"x": [0.0] * 95 + [1e200, 2e200, 3e200, 1e300, 1.7e308], "u": ["a", "b"] * 50},
        {"x": STRANGE["x"], "u": STRANGE["u"]},
    ),
    "tiny numbers": (
        {"x": [5e-324, 0.0, 1e-310, -5e-324, 1e-300] * 12, "u": ["a", "b", "c", "d"] * 15},
        {"x": STRANGE["x"], "u": STRANGE["u"]},
    ),
    "nearly all missing": (
        {"x": [None] * 58 + [1.0, 2.5], "u": [None] * 58 + ["a", "b"], "b": some_rows(60)["b"]},
        STRANGE,
    ),
    "a block that holds all values": (
        {
            "x": [1.0, 2.5, 3.5, 4.5, 9.0] + [None] * 55,
            "u": ["a", "b"] * 30,
            "b": [True, False] * 30,
        },
        STRANGE,
    ),
    "a hundred states with missing ones": (
        {
            "u": [f"s{i % 100:02}" if i % 7 else None for i in range(600)],
            "v": ["a" if i % 7 else "b" for i in range(600)],
        },
        {"u": ["s01", "never", None], "v": ["a", "b", None]},
    ),
}


@pytest.mark.parametrize("which", HOSTILE)
def test_nothing_warns_about_a_hostile_table(which):
    data, today = HOSTILE[which]
    for options in ({"min_support": 0.1}, {"min_support": "auto", "max_predicates": 3}):
        model = tune(as_table(data), Settings(**options), n_jobs=2)
        scorer = Scorer(decode_model(encode_model(model)))
        for table in (data, today):
            check_clues(scorer, table)


@pytest.mark.parametrize("n_rows", [2, 3, 4, 5, 6, 7, 9, 11, 15, 20])
@pytest.mark.parametrize("equal", [False, True])
def test_few_rows_are_enough(n_rows, equal):
    data = some_rows(n_rows)
    if equal:
        data = {name: column[:1] * n_rows for name, column in data.items()}
    model = tune(as_table(data), Settings(continuous=("x",)))
    check_clues(Scorer(model), data)
    check_clues(Scorer(model), STRANGE)


def test_ten_thousand_strings_are_weighed():
    texts = [f"text {i}" for i in range(10_000)] * 2
    data = {"u": texts, "x": [float(i % 10) for i in range(20_000)], "v": ["a", "b"] * 10_000}
    scorer = Scorer(learn(as_table(data), min_support=0.01))
    check_clues(scorer, {"u": ["text 7", "never", None], "x": [7.0, 1.0, 2.0], "v": ["b"] * 3})


def test_columns_without_a_single_value_can_be_scored():
    scorer = Scorer(learn(as_table(plant(100)), min_support=0.1))
    check_clues(scorer, {name: [None, None] for name in plant(2)})


sums = st.lists(st.floats(0, 1e6), min_size=1, max_size=20)


@given(sums, st.floats(0, 100), st.floats(0, 100), st.integers(0, 10**6))
def test_what_is_grave_adds_at_a_right_angle_and_keeps_the_order(values, least, score, seed):
    own = np.array(values)
    worth = np.random.default_rng(seed).uniform(0, 100, len(own))
    added = lift(Grave(least, score), own, worth)
    for before, each, much in zip(values, added.tolist(), worth.tolist(), strict=True):
        wanted = math.hypot(before, score) if much > least else before
        assert before + each == pytest.approx(wanted)
    grave = worth > least
    order = np.argsort(own[grave], kind="stable")
    assert (np.diff((own + added)[grave][order]) >= -1e-6).all()


@given(sums)
def test_where_no_rows_could_tell_nothing_is_grave(values):
    assert not lift(None, np.array(values), np.full(len(values), 1e9)).any()


def mixed(table, share, seed):
    """Return a table in which some rows have every other value from another row."""
    random, rows = np.random.default_rng(seed), np.arange(table.n_rows)
    others = np.where(random.random(len(rows)) < share, random.permutation(rows), rows)
    columns = [
        column.take(others) if place % 2 else column for place, column in enumerate(table.columns)
    ]
    return type(table)(tuple(columns), table.n_rows)


@examples(max_examples=40)
@given(
    weighed_models,
    st.sampled_from([0.0, 0.1, 1.0]),
    st.integers(0, 99),
    st.booleans(),
    st.booleans(),
)
def test_scores_alone_are_the_sums_of_all_evidence(drawn, share, seed, grave, muted):
    _, model, data = drawn
    if grave:
        learned_of = msgspec.structs.replace(model.evidence, grave=Grave(0.01, 5.0))
        model = msgspec.structs.replace(model, evidence=learned_of)
    scorer = Scorer(model, model.schema.names[:1] if muted else ())
    table = mixed(as_table(data), share, seed)
    for rows in (slice(None), slice(3, 9), slice(0, 1), slice(2, None)):
        weighed = scorer.weigh(table.take(rows))
        assert scorer.score(table.take(rows)).tobytes() == weighed.scores.tobytes()
        assert weighed.silenced is None
