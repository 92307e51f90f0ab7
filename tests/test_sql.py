"""Statements say in a database what Python says: the same broken rules, the same scores of the paper."""

import json
import math
from pathlib import Path

import duckdb
import msgspec
import numpy as np
import pyarrow as pa
import pytest
import sqlglot
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from learned import learn
from strategies import BROKEN, NORMAL, learned, names
from test_cli import run
from truism.errors import ParameterError, TruismError
from truism.export.sql.dialects import DIALECTS, Dialect, number, words
from truism.export.sql.statements import FORMS, strongest, to_sql
from truism.model.files import load_model
from truism.model.schema import Categorical, Numeric
from truism.score.scorer import Scorer
from truism.table.frames import as_table

ALL = {"rules": 10**6, "max_bytes": 10**9}


def asked(model, data, form, keys=("row number",), **limits):
    """Run a statement in DuckDB and return its rows, as dicts in the order of the keys."""
    n_rows = len(next(iter(data.values())))
    statement = to_sql(
        model, dialect="duckdb", table="readings", form=form, keys=keys, **{**ALL, **limits}
    )
    connection = duckdb.connect(config={"threads": 1})
    connection.register("readings", pa.table({**data, "row number": range(n_rows)}))
    cursor = connection.execute(statement.text)
    titles = [each[0] for each in cursor.description]
    found = [dict(zip(titles, row, strict=True)) for row in cursor.fetchall()]
    connection.close()
    return sorted(found, key=lambda row: row["row number"])


def scores(model, data, form, **limits):
    return np.array([row["score"] for row in asked(model, data, form, **limits)])


def broken(model, data):
    return sorted((row["row number"], row["rule"]) for row in asked(model, data, "violations"))


def broken_in_python(model, data):
    listed = Scorer(model).violations(as_table(data))
    return sorted({(i, each.rule.id) for i, row in enumerate(listed) for each in row})


def paper(model):
    return msgspec.structs.replace(model, evidence=None)


def with_rules(model, chosen):
    rules = msgspec.structs.replace(model.rules, rules=tuple(chosen))
    return msgspec.structs.replace(model, rules=rules)


@given(learned())
def test_the_same_rows_break_the_same_rules(drawn):
    _, model, data = drawn
    assert broken(model, data) == broken_in_python(model, data)


@given(learned())
def test_the_papers_score_is_the_same(drawn):
    _, model, data = drawn
    expected = Scorer(model).score(as_table(data))
    np.testing.assert_allclose(scores(model, data, "paper"), expected, rtol=1e-9, atol=1e-12)


@examples(max_examples=30)
@given(learned(), st.integers(0, 12))
def test_the_papers_score_is_exact_for_the_rules_that_are_written(drawn, n):
    _, model, data = drawn
    chosen = strongest(model).first(n)
    fewer = with_rules(model, [*chosen.univariate, *chosen.conditional])
    expected = Scorer(fewer).score(as_table(data))
    found = scores(model, data, "paper", rules=n)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.fixture(scope="module")
def small():
    return learn(as_table(NORMAL), min_support=0.1)


def test_a_row_says_which_rule_it_breaks_what_was_expected_found_and_why(small):
    found = sorted(asked(small, BROKEN, "violations"), key=lambda row: row["expected"])
    assert [row for row in found if row["row number"] == 1] == [
        {
            "row number": 1,
            "rule": small.rules.containing("P101 = on ⇒")[0].id,
            "expected": "FIT201 = 2.5",
            "found": "FIT201 = 0.0",
            "because": "P101 = on",
        },
        {
            "row number": 1,
            "rule": small.rules.containing("FIT201 = 0 ⇒")[0].id,
            "expected": "P101 = off",
            "found": "P101 = on",
            "because": "FIT201 = 0",
        },
    ]
    assert [row for row in found if row["row number"] == 0] == []


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_form_can_be_parsed_in_every_dialect(small, dialect, form):
    text = to_sql(small, dialect=dialect, table="readings", form=form).text
    (parsed,) = sqlglot.parse(text, dialect=dialect, error_level=sqlglot.ErrorLevel.RAISE)
    selected = [each.alias_or_name for each in parsed.selects]
    ends = (
        ["rule", "expected", "found", "because"] if form == "violations" else ["score", "anomaly"]
    )
    assert selected == ["P101", "FIT201", "mode", *ends]


@examples(max_examples=12)
@given(names, st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=8))
def test_no_name_and_no_state_breaks_a_statement(name, state):
    data = {name: [f"{state}'", "off\\"] * 20, f"X{name}": [1.0, 2.0] * 20}
    model = learn(as_table(data), min_support=0.1)
    strange = {name: [f"{state}'", "off\\", "?", None], f"X{name}": [2.0, 2.0, 1.0, None]}
    if name.casefold() not in {"row number", "xrow number"}:
        assert broken(model, strange) == broken_in_python(model, strange)
    for dialect in DIALECTS:
        text = to_sql(model, dialect=dialect, table="readings").text
        (parsed,) = sqlglot.parse(text, dialect=dialect, error_level=sqlglot.ErrorLevel.RAISE)
        assert parsed.named_selects[:2] == [name, f"X{name}"]


def test_nan_is_missing_and_infinity_is_out_of_range(small):
    model = learn(
        as_table({"x": [i / 7 for i in range(50)], "u": ["a", "b"] * 25}), min_support=0.1
    )
    data = {"x": [math.nan, math.inf, -math.inf, 1.7e308, -1.7e308], "u": ["a"] * 5}
    assert broken(model, data) == broken_in_python(model, data)
    expected = Scorer(paper(model)).score(as_table(data))
    np.testing.assert_allclose(scores(model, data, "paper"), expected, rtol=1e-9)


def test_what_the_model_takes_for_missing_is_missing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{2 + i % 5 / 10},{'on' if i % 2 else 'off'},{i % 3}" for i in range(60)]
    Path("normal.csv").write_text(
        "\n".join(["flow,pump,mode", *rows, "-999,none,2", "2.1,on,-999"])
    )
    Path("today.csv").write_text(
        "flow,pump,mode\n-999,none,-999\n2.2,none,1\n-999,odd,7\n-998,on,1"
    )
    words = ("--missing", "-999", "--missing", "none")
    assert run("learn", "normal.csv", "-o", "m.json", *words, "--scoring", "paper")[2] == 0
    model = load_model("m.json")
    text = run("export", "m.json", "--to", "sql", "--dialect", "duckdb", "--table", "today")[0]
    other = run(
        "export", "m.json", "--to", "great-expectations", "--dialect", "duckdb", "--table", "t"
    )[0]
    first = json.loads(other)["expectations"][0]["kwargs"]["unexpected_rows_query"]
    with duckdb.connect() as database:
        database.execute("CREATE TABLE today AS SELECT * FROM read_csv('today.csv')")
        found = sorted(row[-4] for row in database.execute(text).fetchall())
        alone = database.execute(first.format(batch="today")).fetchall()
    data = {
        "flow": [None, 2.2, None, -998.0],
        "pump": [None, None, "odd", "on"],
        "mode": [None, 1, 7, 1],
    }
    listed = Scorer(model).violations(as_table(data))
    assert [len(row) for row in listed] == [0, 0, 2, 1]
    assert found == sorted(each.rule.id for row in listed for each in row)
    assert len(alone) == 2


def test_numbers_as_large_as_doubles_can_be_are_compared():
    values = [(-1) ** i * 1.7e308 * ((i % 13) / 13) for i in range(60)]
    model = learn(as_table({"x": values, "u": ["a", "b"] * 30}), min_support=0.1)
    data = {"x": [1.7e308, -1.7e308, 3.0, math.inf, 1e300], "u": ["a", "a", "b", "b", "b"]}
    assert broken(model, data) == broken_in_python(model, data)
    expected = Scorer(paper(model)).score(as_table(data))
    np.testing.assert_allclose(scores(model, data, "paper"), expected, rtol=1e-9)


def test_disabled_rules_are_not_written(small):
    rule = small.rules.containing("P101 = on ⇒")[0]
    fewer = small.disable(rule.id, "maintenance")
    assert rule.id in to_sql(small, dialect="duckdb", table="t").text
    assert rule.id not in to_sql(fewer, dialect="duckdb", table="t").text


def test_each_rule_stands_beside_its_words(small):
    for form in FORMS:
        lines = to_sql(small, dialect="duckdb", table="t", form=form).text.splitlines()
        (line,) = [each for each in lines if "P101 = on ⇒ FIT201 = 2.5" in each]
        assert "WHEN" in line.split("  -- ")[0]


def test_what_does_not_fit_is_left_out_and_said(small):
    whole = to_sql(small, dialect="duckdb", table="t", form="paper")
    assert (whole.left_out, whole.n_rules) == ((), 4)
    room = len(whole.text.encode()) - 1
    smallest = to_sql(small, dialect="duckdb", table="t", form="paper", max_bytes=room)
    assert smallest.n_rules < 4
    assert smallest.left_out[0].endswith(" weakest of 4 rules with a condition are left out.")
    assert smallest.left_out[1:] == ("So a row may score lower than in truism, never higher.",)
    assert f"-- {smallest.left_out[0]}\n" in smallest.text
    assert len(smallest.text.encode()) <= room
    with pytest.raises(
        ParameterError, match=r"^max_bytes must be at least \d+ for a model of this many variables"
    ):
        to_sql(small, dialect="duckdb", table="t", max_bytes=10)


def test_long_sums_are_not_nested_too_deeply_for_a_database():
    random = np.random.default_rng(0)
    data = {f"x{i}": random.integers(2, size=60).astype(str).tolist() for i in range(22)}
    model = learn(as_table(data), min_support=0.05, support_ratio=0.0, max_predicates=4)
    assert model.rules.n_rows == 60
    assert strongest(model).n_rules > 1500
    other = {name: column[::-1] for name, column in data.items()}
    assert broken(model, other) == broken_in_python(model, other)
    expected = Scorer(paper(model)).score(as_table(other))
    np.testing.assert_allclose(scores(model, other, "paper"), expected, rtol=1e-9)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"dialect": "oracle"},
            "dialect must be one of 'duckdb', 'postgres', 'spark', 'bigquery', 'snowflake', "
            "got 'oracle'.",
        ),
        ({"table": " "}, "table must name a table, got ' '."),
        (
            {"table": "t; DROP TABLE t"},
            "table must name a table, got 't; DROP TABLE t'.\n"
            "Hint: quote names as the database does, such as plant.readings.",
        ),
        (
            {"table": "(SELECT 1)"},
            "table must name a table, got '(SELECT 1)'.\n"
            "Hint: quote names as the database does, such as plant.readings.",
        ),
        ({"form": "all"}, "form must be one of 'violations', 'paper', got 'all'."),
        ({"rules": -1}, "rules must be a whole number of at least 0, got -1."),
        ({"keys": [""]}, "keys must name columns of the table, got ''."),
        (
            {"keys": ["Rule"]},
            "keys must not be called as a column of the result (rule, expected, found, because), "
            "got 'Rule'.",
        ),
    ],
)
def test_what_cannot_be_written_is_refused(small, change, said):
    with pytest.raises(ParameterError) as refused:
        to_sql(small, **{"dialect": "duckdb", "table": "t", **change})
    assert str(refused.value) == said


def test_a_model_that_looks_at_the_row_before_is_refused(small):
    model = msgspec.structs.replace(small, derived=("FIT201",))
    with pytest.raises(ParameterError) as refused:
        to_sql(model, dialect="duckdb", table="t")
    assert str(refused.value) == (
        "A statement checks each row by itself, and this model looks at the change of 'FIT201' since "
        "the row before.\nHint: learn a model without changes since the previous row."
    )


def test_the_time_axis_is_the_key(pumps):
    times = [f"2024-01-01 00:{i // 60:02}:{i % 60:02}" for i in range(200)]
    model = learn(as_table({"at": times, **pumps}), min_support=0.1)
    assert model.schema.time == "at"
    text = to_sql(model, dialect="postgres", table='plant."Readings"', form="paper").text
    assert sqlglot.parse_one(text, dialect="postgres").named_selects == ["at", "score", "anomaly"]
    assert 'FROM plant."Readings"\n' in text


def test_sqlglot_is_asked_for_where_it_is_missing(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "sqlglot", None)
    with pytest.raises(TruismError) as refused:
        Dialect("duckdb").table("never seen before")
    assert str(refused.value) == (
        "Writing SQL needs sqlglot, which is not installed.\nHint: pip install 'truism[sql]'."
    )


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_is_written_exactly(value):
    (found,) = duckdb.sql(f"SELECT {number(value)} AS x, typeof({number(value)}) AS t").fetchall()
    assert found == (value, "DOUBLE")


def test_words_stay_on_their_line():
    assert words("a\nb\r\nc\u2028d") == "a b c d"


def test_all_kinds_of_variables_are_written(model):
    assert {type(each) for each in model.schema.variables} == {Numeric, Categorical}
    assert {each.holds for each in model.schema.variables if isinstance(each, Categorical)} == {
        *("text", "boolean", "number")
    }
    text = to_sql(model, dialect="bigquery", table="t").text
    assert (
        "CASE WHEN NOT IS_NAN(CAST(`LIT301` AS FLOAT64)) THEN CAST(`LIT301` AS FLOAT64) END" in text
    )
    assert "CAST(`auto` AS BOOL) AS v5" in text
