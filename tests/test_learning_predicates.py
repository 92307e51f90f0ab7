"""The predicates of all variables: in order, each with enough rows, and the same alone as together."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

import oracle
from learned import infer
from strategies import exact, tables, thresholds
from truism.learn.kinds import variable_columns
from truism.learn.predicates import find_predicates
from truism.model.predicates import AnyOf, Interval, OneOf, order, variables
from truism.model.schema import Numeric
from truism.table.frames import as_table


def found(data, cutoffs, *min_supports, told=None):
    table = as_table(data)
    schema = infer(table)
    steps = [] if told is None else told
    columns = variable_columns(schema, table)
    return schema, find_predicates(
        schema, columns, cutoffs, min_supports, 1, lambda *step: steps.append(step)
    )


@examples(max_examples=30)
@given(tables(), st.sampled_from(["tree", "uniform", "kmeans"]), st.lists(thresholds, min_size=2))
def test_several_supports_at_once_give_what_each_gives_alone(data, cutoffs, some):
    supports = [exact(each) for each in some]
    _, together = found(data, cutoffs, *supports)
    for support, predicates in zip(supports, together, strict=True):
        assert found(data, cutoffs, support)[1] == [predicates]


@examples(max_examples=30)
@given(tables(), st.sampled_from(["tree", "uniform"]), thresholds)
def test_each_is_about_variables_of_its_kind_and_holds_in_enough_rows(data, cutoffs, min_support):
    schema, (predicates,) = found(data, cutoffs, exact(min_support))
    n_rows = len(next(iter(data.values())))
    assert predicates == sorted(predicates, key=order)
    assert len(set(predicates)) == len(predicates)
    rows = [dict(zip(data, each, strict=True)) for each in zip(*data.values(), strict=True)]
    for predicate in predicates:
        numeric = [isinstance(schema.variable_of()[name], Numeric) for name in variables(predicate)]
        assert isinstance(predicate, Interval if all(numeric) else OneOf | AnyOf)
        holds = sum(oracle.holds(predicate, row) is True for row in rows)
        assert holds > exact(min_support) * n_rows


@pytest.mark.parametrize("cutoffs", ["tree", "uniform", "kmeans"])
def test_progress_is_told(cutoffs):
    told = []
    data = {"x": [float(i) % 7 for i in range(40)], "u": ["a", "b"] * 20}
    found(data, cutoffs, Fraction(1, 10), told=told)
    assert told[:2] == [("compiling", 0, 1), ("compiling", 1, 1)]
    assert any(step[0] == "trees" for step in told) == (cutoffs == "tree")
