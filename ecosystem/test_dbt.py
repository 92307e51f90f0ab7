"""A real dbt runs the singular test: it passes for normal rows and fails for others."""

import subprocess
import sys
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from rows import BROKEN, HOSTILE, HOSTILE_BROKEN, HOSTILE_MODEL, MODEL, NORMAL

from truism.export.contracts import to_dbt
from truism.score.scorer import Scorer
from truism.table.frames import as_table

pytest.importorskip("dbt.adapters.duckdb", reason="dbt-duckdb is not installed")

PROJECT = """
name: plant
version: "1.0"
profile: plant
model-paths: [models]
test-paths: [tests]
"""
PROFILE = """
plant:
  target: dev
  outputs:
    dev: {type: duckdb, path: plant.duckdb}
"""


def dbt(folder, data, model=MODEL):
    files = {
        "dbt_project.yml": PROJECT,
        "profiles.yml": PROFILE,
        "models/readings.sql": "SELECT * FROM main.rows",
        "tests/readings_are_normal.sql": to_dbt(model, dialect="duckdb", table="readings"),
    }
    for name, content in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content, newline="")
    with duckdb.connect(str(folder / "plant.duckdb")) as database:
        database.register("given", pa.table(data))
        database.execute("CREATE TABLE main.rows AS SELECT * FROM given")
    program = Path(sys.executable).with_name("dbt")
    return subprocess.run(
        [program, "build", "--profiles-dir", ".", "--no-send-anonymous-usage-stats"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_normal_rows_pass(tmp_path):
    done = dbt(tmp_path, NORMAL)
    assert done.returncode == 0, done.stdout
    assert "PASS=2" in done.stdout


def test_broken_rows_fail(tmp_path):
    done = dbt(tmp_path, BROKEN)
    assert done.returncode == 1
    assert "FAIL" in done.stdout
    assert "readings_are_normal" in done.stdout
    assert "ERROR=1" in done.stdout


@pytest.mark.parametrize(("data", "code"), [(HOSTILE, 0), (HOSTILE_BROKEN, 1)])
def test_names_and_states_mean_nothing_to_dbt(tmp_path, data, code):
    done = dbt(tmp_path, data, HOSTILE_MODEL)
    assert done.returncode == code, done.stdout
    n_broken = sum(map(len, Scorer(HOSTILE_MODEL).violations(as_table(data))))
    assert (f"Got {n_broken} results" in done.stdout) == (code == 1)
    with duckdb.connect(str(tmp_path / "plant.duckdb")) as database:
        assert {name for (name,) in database.execute("SHOW TABLES").fetchall()} == {
            "readings",
            "rows",
        }
