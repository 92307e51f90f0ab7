"""Rules and rows: broken where a row-by-row look says so, by how much, and what that is worth."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

import oracle
from learned import infer
from strategies import learned
from truism.learn.kinds import variable_columns
from truism.learn.rules import univariate_rules
from truism.model.predicates import OneOf, Present, Range, variables
from truism.model.rules import RuleSet
from truism.score.contexts import PSEUDO_COUNT
from truism.score.rules import (
    RULE_WEIGHT,
    Rulebook,
    breaches,
    breaks_any,
    degrees,
    degrees_outside,
    expected_exceptions,
    habit_worth,
    is_habit,
    rule_worth,
)
from truism.score.truths import Truths
from truism.table.frames import as_table

LEARNED = infer(as_table({"flow": [0.5 * i for i in range(9)], "pump": ["on", "off", "on"] * 3}))
FLOW, PUMP = LEARNED.variables


def rows_of(data):
    return [dict(zip(data, values, strict=True)) for values in zip(*data.values(), strict=True)]


def broken_units(model, rules, data):
    """Rule, consequent and row of every broken unit rule, as the rulebook says."""
    book = Rulebook(model.schema, rules)
    table = as_table(data)
    true, false = Truths(model.schema, book.predicates).evaluate(
        variable_columns(model.schema, table)
    )
    found = set()
    for consequent, units, rows in book.by_consequent(*book.broken(true, false)):
        assert consequent.owners == tuple(
            model.schema.names.index(name) for name in variables(consequent.predicate)
        )
        for unit, row in zip(units, rows, strict=True):
            found.add((book.rules[book.rule_of[unit]].id, consequent.predicate, int(row)))
    return found


@examples(max_examples=25)
@given(learned())
def test_rules_are_broken_where_a_look_at_each_row_says_so(drawn):
    _, model, data = drawn
    wanted = {
        (rule.id, consequent, i)
        for rule in model.rules if rule.antecedent
        for consequent in rule.consequents
        for i, row in enumerate(rows_of(data))
        if all(oracle.holds(each, row) is True for each in rule.antecedent)
        and oracle.holds(consequent, row) is False
    }  # fmt: skip
    assert broken_units(model, model.rules, data) == wanted


@examples(max_examples=25)
@given(learned())
def test_of_each_consequent_the_rule_that_is_worth_most_is_broken(drawn):
    _, model, data = drawn
    book, columns = (
        Rulebook(model.schema, model.rules),
        variable_columns(model.schema, as_table(data)),
    )
    truths = Truths(model.schema, book.predicates).evaluate(columns)
    most = {}
    for consequent, units, rows in book.by_consequent(*book.broken(*truths)):
        for unit, row in zip(units, rows, strict=True):
            place = consequent.predicate, int(row)
            most[place] = max(most.get(place, 0.0), book.worths[unit])
    strongest = list(book.by_consequent(*book.broken(*truths, strongest=True)))
    found = {
        (consequent.predicate, int(row)): book.worths[unit]
        for consequent, units, rows in strongest
        for unit, row in zip(units, rows, strict=True)
    }
    assert found == most
    assert sum(len(rows) for _, _, rows in strongest) == len(most)


@examples(max_examples=25)
@given(learned())
def test_a_row_breaks_any_if_it_breaks_one(drawn):
    _, model, data = drawn
    columns = variable_columns(model.schema, as_table(data))
    wanted = [
        any(oracle.is_violated(rule, row) for rule in model.rules if rule.antecedent)
        for row in rows_of(data)
    ]
    for n_jobs in (1, 2):
        assert breaks_any(model.schema, model.rules, columns, n_jobs).tolist() == wanted


@examples(max_examples=25)
@given(learned())
def test_a_unit_rule_is_worth_what_its_counts_say(drawn):
    _, model, _ = drawn
    book = Rulebook(model.schema, model.rules)
    counts_of = {each.predicate: each for each in model.rules.predicates}
    units = [
        (rule.count, counts_of[consequent])
        for rule in book.rules
        for consequent in rule.consequents
    ]
    wanted = [
        rule_worth(
            expected_exceptions(
                np.array(count), np.array(known.n_true + known.n_false),
                np.array(known.n_false), np.array(known.n_episodes),
            )
        )
        for count, known in units
    ]  # fmt: skip
    assert sorted(book.worths.tolist()) == pytest.approx(sorted(map(float, wanted)))


def test_no_rules_are_never_broken(model):
    none = RuleSet((), model.rules.n_rows, ())
    book = Rulebook(model.schema, none)
    nothing = np.empty((0, 1), np.uint64)
    assert [each.tolist() for each in book.broken(nothing, nothing)] == [[], []]
    assert list(book.by_consequent(*book.broken(nothing, nothing))) == []
    assert len(book.worths) == 0


def test_a_degree_is_the_distance_in_standard_deviations():
    assert degrees(np.array([3.0]), 2.0).tolist() == [1.5]
    assert degrees_outside(np.array([-1.0, 6.0]), 0.0, 4.0, 2.0).tolist() == [0.5, 1.0]


def test_a_degree_has_bounds_and_a_constant_has_degree_one():
    assert degrees(np.array([0.0, math.inf]), 1.0).tolist() == [1e-12, 1e6]
    assert degrees(np.array([1e-300]), 1e300).tolist() == [1e-12]
    assert degrees(np.array([17.0]), 0.0).tolist() == [1.0]


@pytest.mark.parametrize(
    ("predicate", "variable", "values", "rows"),
    [
        (Range("flow", 0.0, 4.0), FLOW, [4.0, 4.5, None, -math.inf, 0.0], [1, 3]),
        (Present("flow"), FLOW, [1.0, None, 2.0, None], [1, 3]),
        (Present("flow"), FLOW, [1.0, 2.0], []),
        (Present("flow"), FLOW, [None, None], [0, 1]),
        (OneOf("pump", ("off", "on")), PUMP, ["on", "stuck", None, "off"], [1]),
    ],
)
def test_rows_that_break_what_is_always_true_of_one_variable_are_found(
    predicate, variable, values, rows
):
    column = as_table({variable.name: values}).columns[0]
    found, by = breaches(predicate, variable, column)
    assert found.tolist() == rows
    assert len(by) == len(rows)
    assert (by > 0).all()


def test_what_never_changes_is_a_habit():
    table = as_table({"a": [1.5] * 9, "b": ["x"] * 9, "c": [0.5 * i for i in range(9)]})
    rules = univariate_rules(infer(table), 9)
    habits = {str(rule) for rule in rules if is_habit(rule)}
    assert habits == {str(rule) for rule in rules} - {
        str(rule) for rule in rules if isinstance(rule.consequents[0], Range)
    }


def test_of_rows_that_fail_one_by_one_each_is_a_chance():
    # Of 100 rows 20 fail the consequent, each by itself; the antecedent holds in half of the rows.
    found = expected_exceptions(*map(np.array, (50, 100, 20, 20)))
    assert found == pytest.approx(10.0)
    assert rule_worth(found) == pytest.approx(RULE_WEIGHT * math.log(11))


@given(st.integers(1, 10**6), st.integers(1, 10**6), st.integers(0, 10**6), st.integers(0, 10**6))
def test_expected_exceptions_lie_between_those_of_episodes_and_those_of_rows(a, b, c, d):
    count, n_known = sorted((a, b))
    n_episodes, n_false = sorted((c, d))
    found = float(expected_exceptions(*map(np.array, (count, n_known, n_false, n_episodes))))
    part = count / n_known
    assert found == pytest.approx(part * math.sqrt(n_false * n_episodes))
    assert part * n_episodes * (1 - 1e-9) <= found <= part * n_false * (1 + 1e-9)


@given(st.lists(st.floats(0, 1e9), min_size=1))
def test_a_rule_is_worth_nothing_where_nothing_was_expected_and_never_less_for_more(expected):
    ascending = np.sort(np.array([0.0, *expected]))
    worth = rule_worth(ascending)
    assert worth[0] == 0.0
    assert (np.diff(worth) >= 0).all()


def test_a_habit_is_worth_more_the_more_rows_had_it():
    assert [habit_worth(n) for n in (0, 7, 1000)] == pytest.approx(
        [math.log(1 + n / PSEUDO_COUNT) for n in (0, 7, 1000)]
    )
