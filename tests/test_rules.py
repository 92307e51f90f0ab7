"""Rules know their text, their id, their chance and their place."""

import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
from learned import infer
from strategies import rules, tables
from truism.errors import ParameterError
from truism.learn.mining import UnitRule
from truism.learn.rules import merge_units, univariate_rules
from truism.model.predicates import AnyOf, Interval, OneOf, Present, Range
from truism.model.rules import PredicateCount, Rule, RuleSet, rule_order
from truism.table.frames import as_table

ON = OneOf("P101", ("on",))
HIGH = Interval("LIT301", low=800.0)
FLOW = Interval("FIT201", 2.4, 2.6)
RULE = Rule((ON, HIGH), (FLOW,), 4310)


def test_a_rule_knows_its_text():
    assert str(RULE) == "P101 = on and LIT301 ≥ 800 ⇒ 2.4 ≤ FIT201 < 2.6"
    assert str(Rule((), (Range("X", 1.0, 2.0),), 9)) == "1 ≤ X ≤ 2"
    assert str(Rule((), (Range("X", 2.0, 2.0),), 9)) == "always X = 2"
    join = AnyOf((OneOf("U", ("a",)), OneOf("V", ("b",))))
    assert str(Rule((join, ON), (FLOW,), 9)) == (
        "(U = a or V = b) and P101 = on ⇒ 2.4 ≤ FIT201 < 2.6"
    )


def test_a_rule_knows_its_variables_and_its_length():
    assert RULE.variables == ("P101", "LIT301", "FIT201")
    assert RULE.length == 3


@given(rules, rules)
def test_an_id_depends_on_what_the_rule_says_and_on_nothing_else(one, other):
    assert len(one.id) == 8
    assert msgspec.structs.replace(one, count=one.count + 1).id == one.id
    if (one.antecedent, one.consequents) == (other.antecedent, other.consequents):
        return
    assert one.id != other.id


@given(rules)
def test_a_rule_survives_json(rule):
    again = msgspec.json.decode(msgspec.json.encode(rule), type=Rule)
    assert again == rule
    assert again.id == rule.id
    assert hash(again) == hash(rule)


@given(st.lists(rules, max_size=6))
def test_the_canonical_order_does_not_depend_on_the_order_given(some):
    ordered = sorted(some, key=rule_order)
    backwards = some[::-1]
    again = sorted(backwards, key=rule_order)
    assert [rule_order(each) for each in again] == [rule_order(each) for each in ordered]


def test_units_with_the_same_antecedent_and_count_are_one_rule():
    predicates = [ON, HIGH, FLOW, OneOf("P102", ("off",))]
    units = [UnitRule((0,), 2, 50), UnitRule((0,), 3, 50), UnitRule((0,), 1, 40)]
    assert merge_units(units, predicates) == [
        Rule((ON,), (FLOW, OneOf("P102", ("off",))), 50),
        Rule((ON,), (HIGH,), 40),
    ]


@given(tables())
def test_univariate_rules_are_those_of_section_4_3(data):
    table = as_table(data)
    schema = infer(table)
    found = univariate_rules(schema, table.n_rows)
    assert set(found) == oracle.univariate_rules(schema.variables, table.n_rows)
    assert found == sorted(found, key=rule_order)
    assert len(found) == len(set(found))


def test_the_range_reaches_three_standard_deviations_or_the_extremes():
    values = [0.0] * 99 + [100.0]
    schema = infer(as_table({"X": values}), continuous=["X"])
    (first, second) = univariate_rules(schema, 100)
    assert first.consequents[0] == Range("X", 1.0 - 3 * schema.variables[0].std, 100.0)
    assert second == Rule((), (Present("X"),), 100)


# --- sets ---

SET = RuleSet(
    (RULE, Rule((ON,), (HIGH,), 10), Rule((), (Present("P101"),), 100)),
    100,
    (
        PredicateCount(ON, 50, 50, 50),
        PredicateCount(HIGH, 20, 70, 70),
        PredicateCount(FLOW, 99, 1, 1),
    ),
)


def test_a_rule_set_is_a_sequence():
    assert len(SET) == 3
    assert SET[0] is RULE
    assert RULE in SET
    assert list(SET[1:]) == list(SET)[1:]
    assert isinstance(SET[:2], RuleSet)


def test_rules_can_be_searched():
    assert list(SET.about("FIT201")) == [RULE]
    assert len(SET.about("P101")) == 3
    assert len(SET.about("P10")) == 0
    assert list(SET.containing("fit201")) == [RULE]
    assert SET.find(RULE.id) is RULE


def test_an_unknown_id_is_refused_with_examples():
    with pytest.raises(ParameterError) as caught:
        SET.find("nonsense")
    shown = ", ".join(repr(rule.id) for rule in SET)
    assert str(caught.value) == (
        "rule_id must be the id of a rule of the model, got 'nonsense'.\n"
        f"Hint: ids look like {shown}; list them with rules_.to_frame()."
    )


def test_the_chance_is_that_of_no_exception_by_luck():
    log_chance = SET.log_chances()
    assert log_chance(SET[1]) == pytest.approx(10 * math.log(20 / 90))
    assert log_chance(RULE) == pytest.approx(4310 * math.log(0.99))
    assert log_chance(SET[2]) == 0.0


def test_rules_sort_by_chance_support_length_and_id():
    assert SET.sorted_by("chance")[0] is RULE
    assert [rule.count for rule in SET.sorted_by("support")] == [4310, 100, 10]
    assert [rule.length for rule in SET.sorted_by("length")] == [1, 2, 3]
    assert [r.id for r in SET.sorted_by("id")] == sorted(rule.id for rule in SET)
    with pytest.raises(ParameterError) as caught:
        SET.sorted_by("luck")
    assert str(caught.value) == (
        "sort must be one of 'chance', 'support', 'length', 'id', got 'luck'."
    )


def test_a_rule_set_prints_what_is_worth_telling():
    said, *statements = str(SET).splitlines()
    assert said == "3 rules"
    assert statements == [
        "P101 = on and LIT301 ≥ 800 ⇒ 2.4 ≤ FIT201 < 2.6  (4,310 rows)",
        "P101 = on ⇒ LIT301 ≥ 800  (10 rows)",
    ]


def test_rules_become_a_frame():
    frame = SET.to_frame()
    assert list(frame.columns) == [
        "id",
        "rule",
        "length",
        "count",
        "support",
        "log_chance",
        "variables",
    ]
    assert frame["rule"].tolist() == [str(rule) for rule in SET]
    assert RuleSet((), 5).to_frame().shape == (0, 7)
