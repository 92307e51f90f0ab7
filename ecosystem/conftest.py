"""A Spark of its own, in local mode."""

import os
import shutil
import sys

import pytest


@pytest.fixture(scope="session")
def spark():
    sql = pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
    if shutil.which("java") is None:
        pytest.skip("Java is not installed")
    os.environ["PYSPARK_PYTHON"] = sys.executable  # executors need the same packages
    builder = sql.SparkSession.builder.master("local[2]").appName("truism")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()
