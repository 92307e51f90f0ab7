"""The paper's score, row by row, to the last bit where that is promised; and what holds of any score.

What is particular to evidence scoring stands in `test_evidence.py`.
"""

import math

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
from learned import breaks_mined_rule, infer, learn
from strategies import learned
from truism.model.model import Model
from truism.model.predicates import AnyOf, Interval, OneOf, Present, Range, variables
from truism.model.provenance import Provenance
from truism.model.rules import Rule, RuleSet
from truism.model.schema import Numeric
from truism.model.settings import Settings
from truism.score import scorer as scoring
from truism.score.scorer import Scorer
from truism.table.frames import as_table


def made(data, rules, n_rows=100):
    """A model of hand-made rules about the variables of a table."""
    schema = infer(as_table(data))
    provenance = Provenance("0", n_rows, len(data), "", 0.1, 4, "asked")
    settings = Settings(min_support=0.1, scoring="paper")
    return Model(schema, RuleSet(tuple(rules), n_rows), settings, provenance)


PLANT = {"X": [float(i) for i in range(10)] * 2, "U": ["a", "b"] * 10, "V": list("cdcde") * 4}
STD = infer(as_table(PLANT)).variables[0].std


def scored(rules, row):
    return Scorer(made(PLANT, rules)).score(as_table(row)).tolist()[0]


def test_a_violated_rule_adds_its_support_times_the_degree():
    rule = Rule((OneOf("U", ("a",)),), (Interval("X", high=3.0),), 40)
    assert scored([rule], {"X": 5.0, "U": "a", "V": "c"}) == 0.4 * (2.0 / STD)
    assert scored([rule], {"X": 2.0, "U": "a", "V": "c"}) == 0.0
    assert scored([rule], {"X": 5.0, "U": "b", "V": "c"}) == 0.0


def test_a_larger_distance_scores_more():
    rule = Rule((OneOf("U", ("a",)),), (Interval("X", high=3.0),), 40)
    near, far = ({"X": x, "U": "a", "V": "c"} for x in (3.5, 4.0))
    assert 0 < scored([rule], near) < scored([rule], far)


def test_a_value_at_the_open_bound_breaks_the_rule_a_little():
    rule = Rule((OneOf("U", ("a",)),), (Interval("X", high=3.0),), 40)
    assert scored([rule], {"X": 3.0, "U": "a", "V": "c"}) == 0.4 * 1e-12


def test_failed_states_and_joins_have_degree_one():
    join = AnyOf((OneOf("U", ("a",)), OneOf("V", ("d",))))
    rules = [Rule((Interval("X", low=5.0),), (join, OneOf("V", ("e",))), 30)]
    assert scored(rules, {"X": 6.0, "U": "b", "V": "c"}) == pytest.approx(0.6)
    parts = Scorer(made(PLANT, rules)).attribute(as_table({"X": 6.0, "U": "b", "V": "c"}))
    assert parts.tolist() == [[0.0, pytest.approx(0.15), pytest.approx(0.45)]]


def test_a_missing_value_breaks_nothing_but_presence():
    rules = [
        Rule((OneOf("U", ("a",)),), (Interval("X", high=3.0),), 40),
        Rule((Interval("X", high=3.0),), (OneOf("U", ("a",)),), 40),
        Rule((), (Range("X", 0.0, 9.0),), 100),
        Rule((), (OneOf("U", ("a", "b")),), 100),
    ]
    row = {"X": None, "U": "a", "V": "c"}
    assert scored(rules, row) == 0.0
    assert scored([*rules, Rule((), (Present("X"),), 100)], row) == 1.0


@pytest.mark.parametrize("infinity", [math.inf, -math.inf])
def test_infinity_breaks_the_range_with_the_largest_degree_and_is_else_unknown(infinity):
    rules = [
        Rule((OneOf("U", ("a",)),), (Interval("X", 1.0, 3.0),), 40),
        Rule((Interval("X", high=3.0),), (OneOf("U", ("b",)),), 40),
        Rule((Interval("X", low=3.0),), (OneOf("U", ("b",)),), 40),
    ]
    row = {"X": infinity, "U": "a", "V": "c"}
    assert scored(rules, row) == 0.0
    assert scored([*rules, Rule((), (Range("X", 0.0, 9.0),), 100)], row) == 1e6


def test_an_unseen_state_breaks_its_univariate_rule_and_every_equality_is_false():
    rules = [
        Rule((), (OneOf("U", ("a", "b")),), 100),
        Rule((Interval("X", high=3.0),), (OneOf("U", ("a",)),), 40),
    ]
    assert scored(rules, {"X": 1.0, "U": "never", "V": "c"}) == pytest.approx(1.4)


def test_any_other_value_breaks_a_constant_with_degree_one():
    data = {"X": [3.0] * 10, "U": ["a", "b"] * 5}
    for overrides in ({}, {"continuous": ("X",)}):
        model = learn(as_table(data), min_support=0.1, scoring="paper", **overrides)
        assert Scorer(model).score(as_table({"X": [3.0, 3.1, -1e9], "U": ["a"] * 3})).tolist() == [
            0.0,
            1.0,
            1.0,
        ]


def test_a_table_without_rows_has_no_scores(model, pumps):
    empty = as_table(pumps).take(slice(0, 0))
    scorer = Scorer(model)
    assert scorer.score(empty).shape == (0,)
    assert scorer.attribute(empty).shape == (0, 5)
    assert scorer.violations(empty) == []
    assert breaks_mined_rule(scorer.model, empty).shape == (0,)


# --- properties over learned models ---


learned_either_way = st.sampled_from(["evidence", "paper"]).flatmap(learned)


def stds(model):
    return {v.name: v.std for v in model.schema.variables if isinstance(v, Numeric)}


@given(learned())
def test_training_rows_score_zero(drawn):
    data, model, _ = drawn
    assert not Scorer(model).score(as_table(data)).any()
    assert not breaks_mined_rule(model, as_table(data)).any()


@given(learned_either_way)
def test_every_rule_holds_in_every_training_row_and_its_count_is_right(drawn):
    data, model, _ = drawn
    rows = oracle.rows_of(data)
    for rule in model.rules:
        assert not any(oracle.is_violated(rule, row) for row in rows)
        # Missing values may hide different rows of each consequent; the count is that of each.
        for consequent in rule.consequents:
            both = (*rule.antecedent, consequent)
            held = sum(all(oracle.holds(each, row) is True for each in both) for row in rows)
            assert held == rule.count


@given(learned())
def test_the_score_is_the_papers_to_the_letter(drawn):
    _, model, table = drawn
    scores = Scorer(model).score(as_table(table))
    wanted = [
        oracle.score(model.rules, row, stds(model), model.rules.n_rows)
        for row in oracle.rows_of(table)
    ]
    assert scores.tolist() == pytest.approx(wanted, rel=1e-9, abs=1e-13)
    assert [score > 0 for score in scores] == [score > 0 for score in wanted]


@given(learned())
def test_attributions_and_penalties_sum_to_the_score(drawn):
    _, model, data = drawn
    table = as_table(data)
    scorer = Scorer(model)
    scores = scorer.score(table)
    parts = scorer.attribute(table)
    assert parts.shape == (table.n_rows, len(model.schema.variables))
    assert parts.sum(axis=1) == pytest.approx(scores, rel=1e-12)
    for score, violations, row in zip(
        scores, scorer.violations(table), oracle.rows_of(data), strict=True
    ):
        told = sum(each.penalty * len(variables(each.failed)) for each in violations)
        assert told == pytest.approx(score, rel=1e-9)
        for each in violations:
            assert oracle.is_violated(each.rule, row)
            assert oracle.holds(each.failed, row) is False
        broken = {rule for rule in model.rules if oracle.is_violated(rule, row)}
        assert {each.rule for each in violations} == broken


@given(learned_either_way)
def test_a_row_scores_the_same_alone_and_in_a_table(drawn):
    _, model, data = drawn
    table = as_table(data)
    scorer = Scorer(model)
    scores, parts = scorer.score(table), scorer.attribute(table)
    for row in range(0, table.n_rows, 7):
        alone = table.take(slice(row, row + 1))
        assert scorer.score(alone)[0] == scores[row]
        assert np.array_equal(scorer.attribute(alone)[0], parts[row])
    as_dicts = oracle.rows_of(data)
    for row in (0, table.n_rows - 1):
        assert scorer.score(as_table(as_dicts[row]))[0] == scores[row]


@given(learned_either_way)
def test_neither_blocks_nor_threads_matter(drawn):
    _, model, data = drawn
    table = as_table({name: column * 4 for name, column in data.items()})
    scorer = Scorer(model)
    scores, parts = scorer.score(table), scorer.attribute(table)
    marks, broken = breaks_mined_rule(scorer.model, table), scorer.violations(table)
    counts = scorer.count_broken(table)
    in_blocks = scoring.blocks_of
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scoring, "blocks_of", lambda n_rows, *_: in_blocks(n_rows, 64))
        assert np.array_equal(scorer.score(table, n_jobs=2), scores)
        assert np.array_equal(scorer.attribute(table, n_jobs=2), parts)
        assert np.array_equal(breaks_mined_rule(scorer.model, table, n_jobs=2), marks)
        assert scorer.violations(table) == broken
        assert scorer.count_broken(table) == counts


@given(learned_either_way)
def test_breaking_a_mined_rule_is_breaking_a_rule_with_a_condition(drawn):
    _, model, data = drawn
    marks = breaks_mined_rule(model, as_table(data))
    mined = [rule for rule in model.rules if rule.antecedent]
    for mark, row in zip(marks, oracle.rows_of(data), strict=True):
        assert mark == any(oracle.is_violated(rule, row) for rule in mined)


@given(learned_either_way)
def test_column_order_and_extra_columns_do_not_change_a_bit(drawn):
    _, model, data = drawn
    scores = Scorer(model).score(as_table(data))
    other = {"extra": ["x"] * len(scores)} | {name: data[name] for name in reversed(data)}
    assert np.array_equal(Scorer(model).score(as_table(other)), scores)


@given(learned_either_way)
def test_scoring_does_not_change_the_model(drawn):
    _, model, data = drawn
    before = msgspec.json.encode(model)
    scorer = Scorer(model)
    first = scorer.score(as_table(data))
    assert np.array_equal(scorer.score(as_table(data)), first)
    assert msgspec.json.encode(model) == before
