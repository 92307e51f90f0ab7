"""Great Expectations runs the suite: each expectation fails if a row breaks its rule."""

import contextlib
import json
import sqlite3

import pytest
from rows import BROKEN, HOSTILE, HOSTILE_BROKEN, HOSTILE_MODEL, MODEL, NORMAL, broken_rules

from truism.export.contracts import to_great_expectations

gx = pytest.importorskip("great_expectations", reason="great-expectations is not installed")


@pytest.fixture(scope="module")
def batch_of(spark):
    context = gx.get_context(mode="ephemeral")
    source = context.data_sources.add_spark(name="plant")
    asset = source.add_dataframe_asset(name="readings")
    definition = asset.add_batch_definition_whole_dataframe("all")

    def batch(data):
        rows = list(zip(*data.values(), strict=True))
        frame = spark.createDataFrame(rows, "pump string, flow double, auto boolean")
        return definition.get_batch({"dataframe": frame})

    return batch


@pytest.fixture(scope="module")
def suite():
    return gx.ExpectationSuite(
        **json.loads(to_great_expectations(MODEL, dialect="spark", table="readings"))
    )


def failed(batch, suite):
    found = batch.validate(suite)
    assert not any("'raised_exception': True" in str(each.exception_info) for each in found.results)
    return {each.expectation_config.meta["rule"] for each in found.results if not each.success}


def test_normal_rows_pass(batch_of, suite):
    assert failed(batch_of(NORMAL), suite) == set()


def test_broken_rows_fail(batch_of, suite):
    assert failed(batch_of(BROKEN), suite) == {"variables", *broken_rules(BROKEN)}


@pytest.mark.parametrize("data", [HOSTILE, HOSTILE_BROKEN])
def test_names_and_states_mean_nothing_to_sqlalchemy(tmp_path, data):
    """SQLite, which Great Expectations brings along, understands these statements of PostgreSQL."""
    place = tmp_path / "plant.sqlite"
    names = ", ".join('"' + name + '" TEXT' for name in data)
    with contextlib.closing(sqlite3.connect(place)) as database, database:
        database.execute(f"CREATE TABLE readings ({names})")
        database.executemany("INSERT INTO readings VALUES (?, ?)", zip(*data.values(), strict=True))
    sources = gx.get_context(mode="ephemeral").data_sources
    source = sources.add_sqlite(name="plant", connection_string=f"sqlite:///{place}")
    asset = source.add_table_asset(name="readings", table_name="readings")
    batch = asset.add_batch_definition_whole_table("all").get_batch()
    written = to_great_expectations(HOSTILE_MODEL, dialect="postgres", table="readings")
    suite = gx.ExpectationSuite(**json.loads(written))
    univariate = {"variables"} if data is HOSTILE_BROKEN else set()
    assert failed(batch, suite) == broken_rules(data, HOSTILE_MODEL) | univariate
