"""Statements say in a database what Python says: the same broken rules, the same scores."""

import math

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
from truism.errors import ParameterError, TruismError
from truism.export.sql.dialects import DIALECTS, Dialect, number, words
from truism.export.sql.statements import FORMS, to_sql
from truism.export.sql.strength import strongest
from truism.model.evidence import LEAF, Grave
from truism.model.predicates import Interval
from truism.model.schema import Categorical, Numeric
from truism.scoring.alignment import align
from truism.scoring.contexts import cautious_spreads, state_evidence, statistics_of
from truism.scoring.readings import classes
from truism.scoring.scorer import Scorer
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


def with_grave(model, grave):
    evidence = msgspec.structs.replace(model.evidence, grave=grave)
    return msgspec.structs.replace(model, evidence=evidence)


graves = st.sampled_from([None, Grave(0.0, 2.5), Grave(0.4, 30.0)])


def without_contexts(model):
    evidence = msgspec.structs.replace(model.evidence, contexts=(), splits=())
    return msgspec.structs.replace(model, evidence=evidence)


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
    fewer = with_rules(model, [*chosen.univariate, *(each.rule for each in chosen.ranked)])
    expected = Scorer(fewer).score(as_table(data))
    found = scores(model, data, "paper", rules=n)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@given(learned(scoring="evidence", min_rows=20, max_rows=60, min_columns=2), graves)
def test_rules_and_rarity_add_up_to_the_same_default_score(drawn, grave):
    _, model, data = drawn
    model = with_grave(without_contexts(model), grave)
    expected = Scorer(model).score(as_table(data))
    np.testing.assert_allclose(scores(model, data, "evidence"), expected, rtol=1e-9, atol=1e-9)


@examples(max_examples=25)
@given(learned(scoring="evidence", min_rows=20, max_rows=60, min_columns=2), graves)
def test_the_default_score_with_contexts_is_that_of_python_in_double_precision(drawn, grave):
    _, model, data = drawn
    model = with_grave(model, grave)
    found = scores(model, data, "evidence")
    np.testing.assert_allclose(found, double_scores(model, data), rtol=1e-9, atol=1e-9)
    single = Scorer(model).score(as_table(data))
    np.testing.assert_allclose(found, single, rtol=1e-5, atol=1e-5)


@examples(max_examples=20)
@given(learned(scoring="evidence", min_rows=20, max_rows=60, min_columns=2), st.integers(0, 5))
def test_what_is_left_out_only_lowers_a_score(drawn, n):
    _, model, data = drawn
    whole = Scorer(model).score(as_table(data))
    fewer = scores(without_contexts(model), data, "evidence", rules=n)
    assert (fewer <= whole + 1e-5 * (1 + np.abs(whole))).all()


def leaf_of(context, splits, row):
    """Walk down a context's tree, and return the number of the leaf."""
    nodes, n_leaves = list(context.tree), 0

    def walk(position, wanted):
        nonlocal n_leaves
        if nodes[position] == LEAF:
            n_leaves += 1
            return position + 1, (n_leaves - 1 if wanted else None)
        yes = holds(splits[nodes[position]], row)
        after, left = walk(position + 1, wanted and yes)
        end, right = walk(after, wanted and not yes)
        return end, left if left is not None else right

    return walk(0, True)[1]


def holds(split, row):
    value = row[split.variable]
    if value is None:
        return False
    if isinstance(split, Interval):
        return math.isfinite(value) and split.low <= value < split.high
    return value in split.values


def double_scores(model, data):
    """Score in double precision: contexts one value at a time, the rest as Python weighs it."""
    table = as_table(data)
    scorer, evidence = Scorer(model), model.evidence
    columns = dict(zip(model.schema.names, align(model.schema, table)[0], strict=True))
    rows = [
        {name: columns[name].cell(i) for name in model.schema.names} for i in range(table.n_rows)
    ]
    against = np.zeros((len(rows), len(model.schema.variables)))
    for place, variable in enumerate(model.schema.variables):
        for i, row in enumerate(rows):
            against[i, place] = contradiction(evidence, place, variable, row)
    alone = Scorer(without_contexts(model)).weigh(table).pieces
    worth = alone.plain * evidence.contradiction_unit
    plain = np.maximum(against, worth) / evidence.contradiction_unit
    rest = plain.sum(axis=1) + alone.rarities.sum(axis=1)
    if evidence.grave is None:
        return rest
    is_grave = (worth > evidence.grave.worth).any(axis=1)
    assert scorer.model is model
    return np.where(is_grave, np.hypot(rest, evidence.grave.score), rest)


def contradiction(evidence, place, variable, row):
    """Average what all contexts say against one value, beyond what it is in itself."""
    value = row[variable.name]
    found = []
    for context in evidence.contexts:
        leaf = leaf_of(context, evidence.splits, row)
        statistics = statistics_of(context)
        if place in context.numbers and value is not None:
            at = context.numbers.index(place)
            scale = 1 / (math.sqrt(10) * cautious_spreads(statistics)[leaf, at])
            shift = statistics.means[leaf, at] * scale
            distance = standard(value, variable) * single(scale) - single(shift)
            found.append(5.5 * math.log(1 + distance**2))
        elif place in context.states:
            found.append(state_against(context, statistics, leaf, place, variable, value))
    if not found or value is None:
        return 0.0
    mean = math.fsum(found) / len(found)
    if isinstance(variable, Categorical):
        return mean
    return max(0.0, mean - 0.6 * 5.5 * math.log(1 + standard(value, variable) ** 2 / 10))


def single(value):
    return float(str(np.float32(value)))


def standard(value, variable):
    with np.errstate(over="ignore"):
        distance = (np.float64(value) * 0.5 - variable.mean * 0.5) / (variable.std or 1.0) * 2
    return float(np.clip(distance, -50, 50))


def state_against(context, statistics, leaf, place, variable, value):
    if value is None:
        return 0.0
    at = context.states.index(place)
    known, unseen = state_evidence(statistics.state_counts.astype(float), statistics.widths)
    ranks = classes(variable)
    rank = ranks[variable.values.index(value)] if value in variable.values else ranks[-2]
    width = statistics.widths[at]
    if rank == width:
        return single(unseen[leaf, at])
    return single(known[leaf, sum(statistics.widths[:at]) + rank])


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
    expected = Scorer(model).score(as_table(data))
    np.testing.assert_allclose(scores(model, data, "evidence"), expected, rtol=1e-5)


def test_numbers_as_large_as_doubles_can_be_are_compared():
    values = [(-1) ** i * 1.7e308 * ((i % 13) / 13) for i in range(60)]
    model = learn(as_table({"x": values, "u": ["a", "b"] * 30}), min_support=0.1)
    data = {"x": [1.7e308, -1.7e308, 3.0, math.inf, 1e300], "u": ["a", "a", "b", "b", "b"]}
    assert broken(model, data) == broken_in_python(model, data)
    expected = Scorer(without_contexts(model)).score(as_table(data))
    found = scores(without_contexts(model), data, "evidence")
    np.testing.assert_allclose(found, expected, rtol=1e-9)


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
    whole = to_sql(small, dialect="duckdb", table="t", form="evidence")
    assert (whole.left_out, whole.n_rules) == ((), 4)
    smaller = to_sql(
        small, dialect="duckdb", table="t", form="evidence", max_bytes=len(whole.text.encode()) - 1
    )
    assert smaller.left_out == (
        "What contexts say (values that are unusual given the others) is left out, because it does "
        "not fit.",
        "So a row may score less than truism gives it, never more.",
    )
    smallest = to_sql(
        small,
        dialect="duckdb",
        table="t",
        form="evidence",
        max_bytes=len(smaller.text.encode()) - 1,
    )
    assert smallest.n_rules < 4
    assert smallest.left_out[0].endswith(" weakest of 4 rules with a condition are left out.")
    assert f"-- {smallest.left_out[0]}\n" in smallest.text
    assert len(smallest.text.encode()) < len(smaller.text.encode())
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
        ({"form": "all"}, "form must be one of 'violations', 'paper', 'evidence', got 'all'."),
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


def test_a_model_of_the_paper_has_no_default_score():
    model = learn(as_table(NORMAL), min_support=0.1, scoring="paper")
    with pytest.raises(ParameterError) as refused:
        to_sql(model, dialect="duckdb", table="t", form="evidence")
    assert str(refused.value) == (
        "form must be 'paper' or 'violations' for a model that was learned with the paper's scoring, "
        "got 'evidence'."
    )


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


def test_the_score_of_a_series_is_refused():
    rows = {"pump": ["on", "off"] * 100, "flow": [2.5, 0.0] * 100}
    model = learn(as_table(rows), min_support=0.1, ordered=True)
    with pytest.raises(ParameterError) as caught:
        to_sql(model, dialect="duckdb", table="t", form="evidence")
    assert "this model's score counts earlier rows, too" in str(caught.value)
    assert to_sql(model, dialect="duckdb", table="t", form="violations").n_rules
