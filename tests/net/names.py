"""Names of incidents and patterns.

An incident's id follows from the model, the source and where it starts, and a model's from all that was
learned, to the last bit. So ids are those recorded only where the model is that one; they are compared
apart from everything else, which is compared on every machine.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.net import tables
from tests.net.program import inside, run

TABLES = {"numbers": (), "faults": (), "machines": ("--by", "machine")}


def observe_ids(folder: Path) -> dict[str, Any]:
    """Return the ids of some tables, by table."""
    return {"ids": {name: ids_of(name, folder) for name in TABLES}}


def ids_of(table: str, folder: Path, *options: str) -> dict[str, Any]:
    """Learn from a table and check, and return the ids of model, incidents and patterns."""
    write(table, folder)
    with inside(folder):
        assert run("learn", "normal.csv", "-o", "m.json", *TABLES[table]).code == 0
        checked = run("check", "later.csv", "-m", "m.json", "--format", "json", *options).json()
    return {
        "model": checked["model"]["version"],
        "incidents": [each["id"] for each in (*checked["incidents"], *checked["shifts"])],
        "patterns": [each["id"] for each in checked["patterns"] or ()],
    }


def write(table: str, folder: Path) -> None:
    """Write the files of a table."""
    made = tables.MAKERS[table]()
    tables.write(made.normal, folder / "normal.csv")
    tables.write(made.later, folder / "later.csv")


def ids_elsewhere(table: str, folder: Path) -> list[str]:
    """Do the same in processes of their own, on one thread; return the ids of incidents."""
    write(table, folder)
    _elsewhere(folder, "learn", "normal.csv", "-o", "m.json", *TABLES[table], seed="1")
    check = ("check", "later.csv", "-m", "m.json", "--format", "jsonl")
    lines = _elsewhere(folder, *check, seed="2")
    return [json.loads(line)["id"] for line in lines.splitlines()]


def _elsewhere(folder: Path, *arguments: str, seed: str) -> str:
    return subprocess.run(
        [sys.executable, "-m", "truism", *arguments, "--jobs", "1"],
        capture_output=True,
        check=False,
        cwd=folder,
        encoding="utf-8",
        env={**os.environ, "PYTHONHASHSEED": seed},
    ).stdout
