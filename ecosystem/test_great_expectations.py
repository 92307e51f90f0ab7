"""Great Expectations runs the suite: each expectation fails if a row breaks its rule."""

import json

import pytest
from rows import BROKEN, MODEL, NORMAL, broken_rules

from truism.export.contracts import to_great_expectations

gx = pytest.importorskip("great_expectations", reason="great-expectations is not installed")
pytest.importorskip("pyspark", reason="pyspark is not installed")


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
    assert not any(each.exception_info.get("raised_exception") for each in found.results)
    return {each.expectation_config.meta["rule"] for each in found.results if not each.success}


def test_normal_rows_pass(batch_of, suite):
    assert failed(batch_of(NORMAL), suite) == set()


def test_broken_rows_fail(batch_of, suite):
    assert failed(batch_of(BROKEN), suite) == {"variables", *broken_rules(BROKEN)}
