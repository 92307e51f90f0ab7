"""What must not get worse unseen: how well faults are detected, and what a command imports."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from sklearn.metrics import roc_auc_score

import truism
from tests.net import tables
from tests.net.program import inside, run

AUC_TOLERANCE = 0.002
DETECTED = ("numbers", "faults")
# Libraries that take time to import, and those that the others bring with them.
LIBRARIES = (
    *("click", "dask", "duckdb", "jinja2", "llvmlite", "matplotlib", "msgspec"),
    *("narwhals", "numba", "numpy", "pandas", "polars", "pyarrow", "rich", "scipy", "sklearn"),
    *("sqlglot", "yaml"),
)
_RUN = f"""
import json, sys
from truism.__main__ import main
try:
    main()
except SystemExit as end:
    assert (end.code or 0) < 2, end.code
loaded = [name for name in {LIBRARIES} if name in sys.modules]
sys.stdout.write("\\n" + json.dumps(loaded))
"""


def areas(folder: Path) -> dict[str, float]:
    """Return how well scores tell wrong rows of made tables from the others: areas under the curve."""
    found = {}
    for name in DETECTED:
        made = tables.MAKERS[name]()
        tables.write(made.normal, folder / "normal.csv")
        with inside(folder):
            assert run("learn", "normal.csv", "-o", f"{name}.json").code == 0
        scores = truism.load(folder / f"{name}.json").anomaly_score(made.later)
        found[name] = float(roc_auc_score(made.wrong, scores))
    return found


def imports(folder: Path) -> dict[str, list[str]]:
    """Return which libraries some commands import, each in a process of its own."""
    made = tables.numbers()
    tables.write(made.normal, folder / "normal.csv")
    tables.write(made.later, folder / "later.csv")
    with inside(folder):
        assert run("learn", "normal.csv", "-o", "m.json").code == 0
        commands = ("--version", "rules m.json", "look normal.csv", "check later.csv -m m.json")
        return {command: _imported(command) for command in commands}


def _imported(command: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", _RUN, *command.split()],
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONUTF8": "1"},
        text=True,
    )
    names: list[str] = json.loads(done.stdout.splitlines()[-1])
    return names


def observe_guards(folder: Path) -> dict[str, Any]:
    """Return both, as they are recorded."""
    return {"guards": {"areas": areas(folder), "imports": imports(folder)}}
