"""Rules as checks of other tools: each query returns the rows that break its rule in Python."""

import json
import re

import duckdb
import numpy as np
import pyarrow as pa
import pytest
import yaml
from hypothesis import example, given
from hypothesis import settings as examples
from hypothesis import strategies as st

from attack.exports import (
    PIECES,
    contract_queries,
    counts,
    rendered,
    suite_queries,
    table_of,
)
from attack.exports import compare as compare_exports
from learned import learn
from strategies import BROKEN, NORMAL, learned
from truism.errors import ParameterError
from truism.export.contracts import MAX_CHECKS, to_dbt, to_great_expectations, to_odcs
from truism.export.sql.statements import strongest
from truism.table.frames import as_table


@pytest.fixture(scope="module")
def small():
    return learn(as_table(NORMAL), min_support=0.1)


def run(query, data):
    with duckdb.connect(config={"threads": 1}) as database:
        database.register("readings", pa.table(data))
        return database.execute(query).fetchall()


@examples(max_examples=25)
@given(learned())
def test_every_query_finds_the_rows_that_break_its_rule(drawn):
    _, model, data = drawn
    expected = counts(model, data)
    for name, query in suite_queries(model):
        assert len(run(query, data)) == expected.get(name, 0)
    for name, query in contract_queries(model):
        assert run(query, data) == [(expected.get(name, 0),)]


def test_a_dbt_test_returns_the_broken_rules(small):
    text = to_dbt(small, dialect="duckdb", table="readings")
    assert "FROM {{ ref('readings') }}\n" in text
    found = run(f"SELECT rule FROM ({rendered(text)}) AS inner_test", BROKEN)
    expected = counts(small, BROKEN)
    univariate = {rule.id for rule in small.rules if not rule.antecedent}
    assert {rule for (rule,) in found} == {*expected} - {"variables"}
    assert univariate & {*expected}
    assert "{{ source('plant', 'readings') }}" in to_dbt(
        small, dialect="postgres", table="plant.readings"
    )


texts = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=3)), max_size=5).map(
    lambda pieces: "".join(pieces).replace("\x00", "") + "n"
)


@examples(max_examples=25)
@example("{%+ endraw %}{{ owned() }}")
@example("{% endraw +%}{{ owned() }}")
@example("{{ owned() }}")
@example("{# x #}")
@example("FROM truism_relation\n")
@example("a\r\nb")
@example("auto :remote")
@example("\\:x")
@given(texts)
def test_names_and_states_mean_nothing_to_other_tools(text):
    compare_exports(*learned_from(text, text))


@examples(max_examples=25)
@given(texts, texts)
def test_no_two_names_and_states_mean_anything_together(name, state):
    compare_exports(*learned_from(name, state))


def learned_from(name, state):
    normal, rows = table_of(iter((name, state, state, name, state)).__next__)
    return learn(as_table(normal), min_support=0.1), rows


def test_a_brace_is_refused_in_a_data_contract():
    model = learn(as_table({"u": ["{table}", "off"] * 20, "v": ["high", "low"] * 20}))
    with pytest.raises(ParameterError) as refused:
        to_odcs(model, dialect="duckdb", table="t")
    assert str(refused.value) == (
        "A data contract cannot hold '{table}': its tools take braces for placeholders.\n"
        "Hint: export to another tool, or rename it before learning."
    )


def test_at_most_fifty_rules_unless_asked():
    random = np.random.default_rng(0)
    data = {f"x{i}": random.integers(2, size=60).astype(str).tolist() for i in range(12)}
    model = learn(as_table(data), min_support=0.05, support_ratio=0.0, max_predicates=4)
    n_all = strongest(model).n_rules
    assert n_all > MAX_CHECKS
    for written, n in (({}, MAX_CHECKS), ({"rules": 3}, 3), ({"rules": 10**6}, n_all)):
        suite = json.loads(to_great_expectations(model, dialect="spark", table="t", **written))
        assert len(suite["expectations"]) == n + 1
        contract = yaml.safe_load(to_odcs(model, dialect="spark", table="t", **written))
        assert len(contract["schema"][0]["quality"]) == n + 1
    head = to_dbt(model, dialect="spark", table="t").splitlines()[0]
    assert f": {MAX_CHECKS} rules with a condition" in head


def test_a_contract_describes_its_columns(model):
    contract = yaml.safe_load(to_odcs(model, dialect="duckdb", table="plant.readings"))
    (table,) = contract["schema"]
    assert table["name"] == "plant.readings"
    assert [(p["name"], p["logicalType"], p["required"]) for p in table["properties"]] == [
        ("P101", "string", True),
        ("P102", "number", True),
        ("FIT201", "number", True),
        ("LIT301", "number", False),
        ("auto", "boolean", True),
    ]
    doubles = [p["name"] for p in table["properties"] if p.get("physicalType") == "DOUBLE"]
    assert doubles == ["FIT201", "LIT301"]
    others = yaml.safe_load(to_odcs(model, dialect="postgres", table="plant.readings"))
    assert not [p for p in others["schema"][0]["properties"] if "physicalType" in p]


def test_what_dbt_cannot_name_is_refused(small):
    with pytest.raises(ParameterError, match=re.escape("table must be a dbt model, or a source")):
        to_dbt(small, dialect="duckdb", table="a b")
