import itertools

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

import oracle
from truism import InvariantRuleDetector
from truism.model.predicates import Interval, OneOf
from truism.model.summary import N_STATEMENTS


def learned(columns, **settings):
    detector = InvariantRuleDetector(min_support=0.02, lookback=0, random_state=0, **settings)
    return detector.fit(columns).rules_


def tank(n_rows=2000, seed=0):
    random = np.random.default_rng(seed)
    level = random.uniform(0, 10, n_rows)
    pump = np.where(level < 3.217, "on", "off")
    return {
        "level": level,
        "pump": pump,
        "flow": np.where(pump == "on", random.uniform(4, 5, n_rows), 0.0),
        "noise": random.normal(size=n_rows),
        "mode": ["auto"] * n_rows,
    }


def holds(predicate, columns):
    """Return in which rows a predicate holds."""
    values = np.asarray(columns[predicate.variable])
    match predicate:
        case Interval(_, low, high):
            return (values >= low) & (values < high)
        case OneOf(_, states):
            return np.isin(values, states)
    raise AssertionError(predicate)


def rows_of(statement, columns):
    conditions = [holds(each, columns) for each in statement.conditions]
    return np.logical_and.reduce(conditions), holds(statement.conclusion, columns)


def test_a_plant_is_summed_up_as_an_engineer_would():
    summary = learned(tank()).summary()
    said = [str(statement) for statement in summary.statements]
    assert said[:2] == ["pump = off ⇔ flow < 2", "level < 3.2 ⇒ pump = on"]
    assert not any("noise" in text for text in said)
    assert [str(each) for each in summary.constants] == ["mode = auto"]
    pairs = [frozenset(rule_variables(statement)) for statement in summary.statements]
    assert len(pairs) == len(set(pairs)) <= N_STATEMENTS


def rule_variables(statement):
    return [each.variable for each in (*statement.conditions, statement.conclusion)]


@examples(max_examples=40, deadline=None)
@given(seed=st.integers(0, 99), digits=st.integers(0, 3), n=st.integers(1, 30))
def test_statements_hold_in_all_training_rows_and_count_them(seed, digits, n):
    random = np.random.default_rng(seed)
    hidden = random.normal(size=(600, 3))
    columns = {f"x{i}": np.round(hidden[:, i % 3] * (i + 1), digits) for i in range(4)}
    columns["s"] = np.digitize(hidden[:, 0], [-1, 0.5]).astype(str)
    columns["u"] = np.digitize(hidden[:, 1] + 0.1 * random.normal(size=600), [0]).astype(str)
    rules = learned(columns)
    summary = rules.summary(n)
    known = {rule.id for rule in rules}
    assert len(summary.statements) <= n
    for statement in summary.statements:
        where, right = rows_of(statement, columns)
        assert right[where].all()
        if statement.is_equivalence:
            assert where[right].all()
        assert statement.count == where.sum() if not statement.is_derived else True
        assert where.sum() <= statement.count  # rounding makes conditions narrower
        assert {*statement.rules} <= known


@examples(max_examples=20, deadline=None)
@given(seed=st.integers(0, 99))
def test_no_statement_follows_from_those_above_it(seed):
    columns = tank(600, seed)
    statements = learned(columns).summary().statements
    for i, statement in enumerate(statements):
        facts = statements[:i]
        assert not oracle.follows(statement, facts)


def test_neighbouring_intervals_are_joined_and_rounded():
    random = np.random.default_rng(1)
    level = np.round(random.uniform(0, 10, 3000), 4)
    flow = 2 * level + random.uniform(0, 0.5, 3000)
    alarm = np.where(level < 2.71828, "yes", "no")
    summary = learned({"level": level, "flow": flow, "alarm": alarm}).summary()
    joined = [each for each in summary.statements if len(each.rules) > 1 and each.is_derived]
    assert joined
    for statement in joined:
        where, right = rows_of(statement, {"level": level, "flow": flow, "alarm": alarm})
        assert right[where].all()
        assert where.sum() >= 0.8 * statement.count
    assert joined[0].behind == f"≈ {len(joined[0].rules)} rules"


def test_rules_that_may_be_luck_are_no_statements():
    random = np.random.default_rng(2)
    columns = {f"x{i}": random.integers(0, 3, 400).astype(str) for i in range(6)}
    assert learned(columns).summary().statements == ()
    assert str(learned(columns).summary()) == "No rule relates variables to each other."


@pytest.mark.parametrize("order", list(itertools.permutations(range(3)))[1:4])
def test_the_order_of_columns_changes_nothing(order):
    columns = {name: values for name, values in tank().items() if name != "mode"}
    names = list(columns)
    other = {names[i]: columns[names[i]] for i in (*order, 3)}
    assert msgspec.json.encode(learned(columns).summary().statements) == msgspec.json.encode(
        learned(other).summary().statements
    )


def test_a_summary_prints_and_shows_itself():
    rules = learned(tank())
    assert str(rules).splitlines()[0] == f"{len(rules):,} rules"
    assert str(rules).splitlines()[-1] == "always mode = auto"
    assert "<th style='text-align:left'>what is always true</th>" in rules._repr_html_()
