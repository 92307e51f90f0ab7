"""Spark runs statements of a small model: the same broken rules and the paper's score as in Python."""

import math

import msgspec
import numpy as np
import pytest
from rows import BROKEN, MODEL

from truism.export.sql.statements import to_sql
from truism.scoring.scorer import Scorer
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
