"""Univariate rules held against columns, and degrees of violation."""

import math

import numpy as np
import pytest

from truism.learn.kinds import infer
from truism.learn.rules import univariate_rules
from truism.model.predicates import OneOf, Present, Range
from truism.score.rules import breaches, degrees, degrees_outside, is_habit
from truism.table.frames import as_table

LEARNED = infer(as_table({"flow": [0.5 * i for i in range(9)], "pump": ["on", "off", "on"] * 3}))
FLOW, PUMP = LEARNED.variables


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
