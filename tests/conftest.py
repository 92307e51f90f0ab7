"""Fixtures, and how Hypothesis runs: without deadlines, and the same way every time in CI."""

import os
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, settings

from learned import learn
from truism import work
from truism.learn import kernels
from truism.table.frames import as_table

# The share of its examples that a test draws: a fifth in `make test` and all of them in `make test-all`,
# the same every time; with a share above 1 new ones.
SHARE = float(os.environ.get("TRUISM_EXAMPLES", "0.2"))
settings.register_profile(
    "truism",
    deadline=None,
    max_examples=60,
    derandomize=SHARE <= 1,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
settings.load_profile("truism")

# No table of the tests takes long, and yet threads must change nothing.
work.PATIENCE = 0.0


# What `pytest -m near` runs: where truism meets Python, files and other libraries. Another Python, or
# another version of a dependency, hardly changes the rest, which takes most of the time.
NEAR = {
    "test_atomic": "calls of the operating system",
    "test_charts": "NumPy",
    "test_cli": "click, rich, processes",
    "test_columns": "NumPy",
    "test_compare": "the faces together",
    "test_contracts": "YAML",
    "test_deltas": "NumPy's times",
    "test_docs": "help texts and the JSON Schema, which follow docstrings",
    "test_errors": "messages",
    "test_estimator": "scikit-learn",
    "test_files": "pyarrow, gzip, SQLite, DuckDB, spreadsheets",
    "test_model_files": "msgspec",
    "test_frames": "Narwhals, pandas, Polars, PyArrow",
    "test_histograms": "NumPy",
    "test_hostile": "odd values of every library",
    "test_html": "jinja2",
    "test_looks": "pages",
    "test_markdown": "texts",
    "test_model": "msgspec",
    "test_notebook": "IPython's protocol",
    "test_odd_files": "decoders and parsers",
    "test_pictures": "NumPy's times",
    "test_plot": "matplotlib",
    "test_pyod": "PyOD",
    "test_records": "texts",
    "test_report": "the report as a whole",
    "test_schema": "msgspec",
    "test_series": "NumPy's times",
    "test_settings": "msgspec",
    "test_spreadsheets": "csv",
    "test_sql": "sqlglot, DuckDB",
    "test_surface": "imports and signatures",
    "test_terminal": "rich",
    "test_times": "time zones",
    "test_work": "threads",
}
# Of those, what takes long.
FAR = {
    "test_cli::test_a_reader_that_goes_away_changes_nothing": "several processes",
    "test_cli::test_a_terminal_sees_colours_and_progress": "several processes",
    "test_cli::test_checking_rows_loads_neither_scikit_learn_nor_pandas": "several processes",
    "test_cli::test_demo_tells_a_story_and_leaves_its_files": "the demo; its parts are tried alone",
    "test_cli::test_interrupting_the_writing_leaves_the_old_file_and_no_draft": "several processes",
    "test_cli::test_no_color_is_respected": "several processes",
    "test_cli::test_of_two_edits_at_once_none_is_lost": "several processes",
    "test_cli::test_plant_writes_its_files": "simulating",
    "test_cli::test_the_program_ends_with_the_right_code": "several processes",
    "test_contracts::test_every_query_finds_the_rows_that_break_its_rule": "many queries",
    "test_docs::test_commands_run_and_transcripts_are_fresh": "the commands of the documentation",
    "test_docs::test_the_python_example_runs": "learning from many rows",
    "test_looks::test_the_page_in_a_browser": "a browser",
    "test_pictures::test_values_that_are_missing_only_today_are_drawn": "learning twice",
    "test_sql::test_long_sums_are_not_nested_too_deeply_for_a_database": "a large model",
}
ROOT = Path(__file__).parents[1]


def pytest_configure(config):
    """Compile the loops together: of the workers every other one begins with the last of them.

    Whoever comes to a loop that another has compiled finds it in the cache.
    """
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    if worker:
        for name in kernels.NAMES[:: -1 if worker[-1] in "13579" else 1]:
            import_module(f"{kernels.__name__}.{name}").exercise()


def draw_share(test, done):
    """Let a test of Hypothesis draw its share of examples."""
    test = getattr(test, "__func__", test)
    if not getattr(test, "is_hypothesis_test", False) or test in done:
        return
    done.add(test)
    own = test._hypothesis_internal_use_settings or settings.default
    few = max(5, round(own.max_examples * SHARE))
    test._hypothesis_internal_use_settings = settings(own, max_examples=few)


def pytest_collection_modifyitems(items):
    done = set()
    for item in items:
        draw_share(getattr(item, "obj", None), done)
        file, name = item.path.stem, getattr(item, "originalname", item.name)
        example = item.path.is_relative_to(ROOT / "src")
        if example or (file in NEAR and f"{file}::{name}" not in FAR):
            item.add_marker(pytest.mark.near)


def _as_array(columns):
    kinds = {type(value) for column in columns.values() for value in column}
    if kinds <= {int, float, bool}:
        return np.array(list(zip(*columns.values(), strict=True)))
    return np.array(list(zip(*columns.values(), strict=True)), dtype=object)


LIBRARIES = {
    "dict": dict,
    "numpy": _as_array,
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
}


@pytest.fixture(params=LIBRARIES, scope="session")
def to_library(request):
    """Turn a dict of lists into a table of each library in turn.

    NumPy has no names; its columns are called x0, x1, …, so tests name theirs so, too.
    """
    return LIBRARIES[request.param]


@pytest.fixture(scope="session")
def pumps():
    """Return a small plant: two pumps, a flow that follows one of them, a level, a missing value."""
    n = 200
    on = [i % 4 < 2 for i in range(n)]
    return {
        "P101": ["on" if each else "off" for each in on],
        "P102": [i % 3 for i in range(n)],
        "FIT201": [2.4 + (i % 10) / 50 if each else (i % 7) / 100 for i, each in enumerate(on)],
        "LIT301": [None if i == 7 else 500.0 + (i * 37) % 101 for i in range(n)],
        "auto": [i % 8 != 0 for i in range(n)],
    }


@pytest.fixture(scope="session")
def model(pumps):
    return learn(as_table(pumps), min_support=0.1, support_ratio=0.5)
