"""Spark runs statements of a small model and of the plant: broken rules and paper scores as in Python."""

import math

import msgspec
import numpy as np
import pytest
from rows import BROKEN, MODEL

from truism.export.sql.statements import strongest, to_sql
from truism.learn.learn import learn as train
from truism.model.schema import Numeric
from truism.model.settings import Settings
from truism.plant import schedule, simulate
from truism.score.scorer import Scorer
from truism.table.frames import as_table

ROWS = {
    "pump": [*BROKEN["pump"], "on", "off"],
    "flow": [*BROKEN["flow"], math.nan, math.inf],
    "auto": [*BROKEN["auto"], None, True],
}


@pytest.fixture(scope="module")
def asked(spark):
    rows = list(zip(range(7), *ROWS.values(), strict=True))
    frame = spark.createDataFrame(rows, "i int, pump string, flow double, auto boolean")
    frame.createOrReplaceTempView("readings")

    def ask(form):
        text = to_sql(MODEL, dialect="spark", table="readings", form=form, keys=["i"]).text
        return sorted(spark.sql(text).collect(), key=lambda row: row["i"])

    return ask


def test_the_same_rows_break_the_same_rules(asked):
    listed = Scorer(MODEL).violations(as_table(ROWS))
    expected = {(i, each.rule.id) for i, row in enumerate(listed) for each in row}
    assert len(expected) > 5
    assert sorted((row["i"], row["rule"]) for row in asked("violations")) == sorted(expected)


def test_the_papers_score_is_the_same(asked):
    expected = Scorer(msgspec.structs.replace(MODEL, evidence=None)).score(as_table(ROWS))
    found = [row["score"] for row in asked("paper")]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


N_ROWS, N_RULES = 300, 30
TAGS = (
    "FIT101",
    "LIT101",
    "MV101",
    "P101",
    "P102",
    "FIT201",
    "MV201",
    "LIT301",
    "DPIT301",
    "FIT301",
)
SPARING = {  # its optimiser puts levels together, which makes statements grow beyond measure
    "spark.sql.constraintPropagation.enabled": "false",
    "spark.sql.optimizer.excludedRules": "org.apache.spark.sql.catalyst.optimizer.CollapseProject",
    # The Java program that it would write for two dozen joins takes too long to compile.
    "spark.sql.codegen.wholeStage": "false",
}


@pytest.fixture(scope="module")
def plant():
    """Return a model of the plant with its strongest rules, and the plant under attack, with holes."""
    normal = simulate(2000, seed=5).columns
    model = train(as_table({name: normal[name] for name in TAGS}), Settings(lookback=0))
    chosen = strongest(model).first(N_RULES)
    rules = (*chosen.univariate, *chosen.conditional)
    model = msgspec.structs.replace(model, rules=msgspec.structs.replace(model.rules, rules=rules))
    columns = simulate(N_ROWS, seed=6, attacks=schedule(N_ROWS, seed=6)).columns
    holes = {"LIT301": range(0, N_ROWS, 7), "P101": range(3, N_ROWS, 11)}
    return model, {
        name: [None if i in holes.get(name, ()) else v for i, v in enumerate(columns[name])]
        for name in TAGS
    }


@pytest.fixture(scope="module")
def asked_of_plant(spark, plant):
    model, attacked = plant
    variables = model.schema.variables
    types = ["double" if isinstance(each, Numeric) else "string" for each in variables]
    named = ", ".join(f"{each.name} {kind}" for each, kind in zip(variables, types, strict=True))
    columns = (attacked[each.name] for each in variables)
    rows = [
        tuple(v.item() if isinstance(v, np.generic) else v for v in row)
        for row in zip(range(N_ROWS), *columns, strict=True)
    ]
    spark.createDataFrame(rows, f"i int, {named}").createOrReplaceTempView("plant")
    for name, value in SPARING.items():
        spark.conf.set(name, value)

    def ask(form):
        text = to_sql(
            model, dialect="spark", table="plant", form=form, keys=["i"], max_bytes=10**8
        ).text
        return sorted(spark.sql(text).collect(), key=lambda row: row["i"])

    yield ask
    for name in SPARING:
        spark.conf.unset(name)


def test_the_plants_rows_break_the_same_rules(spark, plant, asked_of_plant):
    model, attacked = plant
    listed = Scorer(model).violations(as_table(attacked))
    expected = {(i, each.rule.id) for i, row in enumerate(listed) for each in row}
    assert len(expected) > 50
    found = sorted((row["i"], row["rule"]) for row in asked_of_plant("violations"))
    assert found == sorted(expected)
    print(f"Spark {spark.version}: {N_ROWS} rows of the plant, {len(found):,} violations, the same")


def test_the_plants_papers_score_is_the_same(spark, plant, asked_of_plant):
    model, attacked = plant
    expected = Scorer(msgspec.structs.replace(model, evidence=None)).score(as_table(attacked))
    found = np.array([row["score"] for row in asked_of_plant("paper")])
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    apart = np.max(np.abs(found - expected))
    print(f"Spark {spark.version}: the paper's score of the plant, at most {apart:.0e} apart")
