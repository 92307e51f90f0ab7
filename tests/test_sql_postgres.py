"""Statements in a real PostgreSQL: the plant under attack scores as in Python."""

import csv
import io

import msgspec
import numpy as np
import pytest

from learned import learn
from postgres import postgres, skip_without_postgres
from truism.export.sql.statements import FORMS, strongest, to_sql
from truism.model.schema import Numeric
from truism.plant import schedule, simulate
from truism.score.scorer import Scorer
from truism.table.frames import as_table

skip_without_postgres()

N_RULES = 300


@pytest.fixture(scope="module")
def model():
    return learn(as_table(simulate(2000, seed=5).columns), lookback=0)


@pytest.fixture(scope="module")
def attacked():
    """Return the plant under attack, with some readings missing."""
    columns = simulate(400, seed=6, attacks=schedule(400, seed=6)).columns
    holes = {"LIT301": range(0, 400, 7), "P101": range(3, 400, 11)}
    return {
        name: [None if i in holes.get(name, ()) else value for i, value in enumerate(values)]
        for name, values in columns.items()
    }


@pytest.fixture(scope="module")
def database(model, attacked):
    with postgres() as running:
        variables = model.schema.variables
        types = ["DOUBLE PRECISION" if isinstance(v, Numeric) else "TEXT" for v in variables]
        columns = ", ".join(f'"{v.name}" {t}' for v, t in zip(variables, types, strict=True))
        sheet = io.StringIO()
        rows = zip(range(400), *(attacked[v.name] for v in variables), strict=True)
        csv.writer(sheet, lineterminator="\n").writerows(rows)
        running.run(
            f"CREATE TABLE readings (i INTEGER, {columns});\n"
            f"COPY readings FROM STDIN (FORMAT csv);\n{sheet.getvalue()}\\.\n"
        )
        yield running


def asked(database, model, form, **limits):
    statement = to_sql(model, dialect="postgres", table="readings", form=form, keys=["i"], **limits)
    return sorted(database.rows(statement.text), key=lambda row: int(row["i"]))


def with_strongest(model, n):
    chosen = strongest(model).first(n)
    rules = (*chosen.univariate, *chosen.conditional)
    rules = msgspec.structs.replace(model.rules, rules=rules)
    return msgspec.structs.replace(model, rules=rules)


def test_the_same_rows_break_the_same_rules(database, model, attacked):
    found = asked(database, model, "violations", rules=N_RULES)
    listed = Scorer(with_strongest(model, N_RULES)).violations(as_table(attacked))
    expected = {(i, each.rule.id) for i, row in enumerate(listed) for each in row}
    assert len(expected) > 100
    assert sorted((int(row["i"]), row["rule"]) for row in found) == sorted(expected)


def test_the_papers_score_is_the_same(database, model, attacked):
    found = [float(row["score"]) for row in asked(database, model, "paper", rules=N_RULES)]
    paper = msgspec.structs.replace(with_strongest(model, N_RULES), evidence=None)
    expected = Scorer(paper).score(as_table(attacked))
    assert (expected > 0).sum() > 50
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_statements_of_the_default_length_run(database, model):
    for form in FORMS:
        assert asked(database, model, form)


@pytest.mark.parametrize(("size", "middle", "edge"), [(1.0, 0.0, 5e-324), (1e306, -1e308, 1.7e308)])
def test_no_distance_from_an_interval_is_too_small_or_too_large(database, size, middle, edge):
    values = [(1 + i * 7 % 13) * (-1) ** i * size + middle for i in range(100)]
    normal = {"x": values, "u": ["a", "b"] * 50}
    model = learn(as_table(normal), min_support=0.1, scoring="paper")
    assert model.rules.containing("u = b ⇒ x < ")
    data = {"x": [-edge, edge], "u": ["a", "b"]}
    database.run(
        "DROP TABLE IF EXISTS distances;\n"
        "CREATE TABLE distances (i INTEGER, x DOUBLE PRECISION, u TEXT);\n"
        f"INSERT INTO distances VALUES (0, '-{edge}', 'a'), (1, '{edge}', 'b');"
    )
    text = to_sql(model, dialect="postgres", table="distances", form="paper", keys=["i"]).text
    found = sorted(database.rows(text), key=lambda row: row["i"])
    expected = Scorer(model).score(as_table(data))
    np.testing.assert_allclose([float(row["score"]) for row in found], expected, rtol=1e-9)


def test_numbers_at_the_edge_of_doubles_raise_no_error(database):
    normal = {"x": [i / 7 for i in range(50)], "u": ["a", "b"] * 25}
    small = learn(as_table(normal), min_support=0.1)
    data = {"x": [np.nan, np.inf, -np.inf, 1.7e308, -1.7e308, 3.0], "u": ["a"] * 5 + ["?"]}
    database.run(
        "CREATE TABLE edges (i INTEGER, x DOUBLE PRECISION, u TEXT);\n"
        "INSERT INTO edges VALUES (0, 'NaN', 'a'), (1, 'Infinity', 'a'), (2, '-Infinity', 'a'), "
        "(3, 1.7e308, 'a'), (4, -1.7e308, 'a'), (5, 3, '?');"
    )
    text = to_sql(small, dialect="postgres", table="edges", form="paper", keys=["i"]).text
    rows = sorted(database.rows(text), key=lambda row: row["i"])
    expected = Scorer(msgspec.structs.replace(small, evidence=None)).score(as_table(data))
    np.testing.assert_allclose([float(row["score"]) for row in rows], expected, rtol=1e-9)
