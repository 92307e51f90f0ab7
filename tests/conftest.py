"""Fixtures, and how Hypothesis runs: without deadlines, and the same way every time in CI."""

import os

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, settings

from learned import learn
from truism import work
from truism.table.frames import as_table

settings.register_profile(
    "truism",
    deadline=None,
    max_examples=int(os.environ.get("TRUISM_EXAMPLES", "60")),
    # The same examples every time, unless somebody goes looking for new ones.
    derandomize="TRUISM_EXAMPLES" not in os.environ,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
settings.load_profile("truism")

# No table of the tests takes long, and yet threads must change nothing.
work.PATIENCE = 0.0


# What `pytest -m "not long"` leaves out: it takes most of the time, and another Python or another
# version of a dependency would hardly change it.
LONG = {
    "test_benchmarks": "what the benchmarks do is tried on one Python",
    "test_cli::test_demo_tells_a_story_and_leaves_its_files": "the demo; its parts are tried alone",
    "test_context_trees": "numbers against brute force",
    "test_contexts": "numbers against brute force",
    "test_docs::test_commands_run_and_transcripts_are_fresh": "the commands of the documentation",
    "test_evidence": "numbers against brute force",
    "test_holdout": "numbers against brute force",
    "test_jit_off": "the same loops, very slowly",
    "test_kernels": "numbers against brute force, and caches of compiled code",
    "test_layers": "reads the source and runs none of it",
    "test_leaf_sums": "numbers against brute force",
    "test_learning": "learns many tables twice",
    "test_learning_evidence": "numbers against brute force",
    "test_mining": "numbers against brute force",
    "test_model_files": "thousands of mutated files; test_format reads and writes models, too",
    "test_paper": "numbers against the paper",
    "test_plant": "every attack on the simulated plant",
    "test_report_page": "runs in a browser, not in Python",
    "test_scorer": "numbers against brute force",
    "test_reading::test_any_cells_are_read_again_as_they_were": "thousands of tables",
    "test_reading::test_known_columns_come_back_from_any_dialect": "thousands of tables",
    "test_sdist": "builds a package",
    "test_soundness": "checks of damaged files",
    "test_streams": "a process for each closed stream",
    "test_truthfulness": "counts training rows again for what is said of them",
}


def pytest_collection_modifyitems(items):
    for item in items:
        file, name = item.path.stem, getattr(item, "originalname", item.name)
        if file in LONG or f"{file}::{name}" in LONG:
            item.add_marker(pytest.mark.long)


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
