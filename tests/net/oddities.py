"""What `look` and `learn` make of the odd files in ``tests/data/odd``."""

import tempfile
from pathlib import Path
from typing import Any

import truism
from tests.net.observing import digest
from tests.net.program import Answer, inside, run

FOLDER = Path(__file__).parents[1] / "data" / "odd"
# What has to be said about some of them.
OPTIONS = {
    "book.xlsx": ("--sheet", "data"),
    "case_twins_renamed.csv": ("--rename", "Fit 101=FIT101 old"),
    "historian.csv": ("--every", "10s"),
    "latin1.csv": ("--encoding", "latin-1"),
    "log_pairs_said.log": ("--delimiter", ";"),
    "plant.sqlite": ("--table", "readings"),
    "sentinel.csv": ("--missing", "-9999"),
    "summer_time_ends_in_vienna.csv": ("--zone", "Europe/Vienna"),
    "time_with_a_bad_cell.csv": ("--time", "when"),
    "two_columns.csv": ("--time", "DATE,TIME"),
    "two_columns_digits.csv": ("--time", "date,time"),
    "undecided_but_said.csv": ("--time", "Timestamp", "--time-format", "%m/%d/%Y %H:%M"),
}


def observe_odd_files(_: Path) -> dict[str, Any]:
    """Look at each file and learn from it."""
    names = sorted(each.name for each in FOLDER.iterdir() if each.name != "expected.json")
    with inside(FOLDER), tempfile.TemporaryDirectory() as folder:
        return {"odd_files": {name: _observe(name, Path(folder) / "model.json") for name in names}}


def _observe(name: str, model: Path) -> dict[str, Any]:
    options = OPTIONS.get(name, ())
    looked = run("look", name, "--format", "json", *options)
    facts: dict[str, Any] = {"look": {**looked.facts(out=False), **_columns(looked)}}
    learned = run("learn", name, "-o", model, *options)
    facts["learn"] = learned.facts(out=False)
    if learned.code == 0:
        detector = truism.load(model)
        facts["learn"]["threshold"] = detector.threshold_
        facts["learn"]["rules"] = len(detector.rules_)
        facts["learn"]["ids"] = digest(sorted(each.id for each in detector.rules_))
    return facts


def _columns(looked: Answer) -> dict[str, Any]:
    if looked.code:
        return {}
    whole = looked.json()
    return {
        "rows": whole["n_rows"],
        "columns": {each["name"]: _column(each) for each in whole["columns"]},
    }


def _column(column: dict[str, Any]) -> str:
    """Return a column in a line: kind, first values, missing ones, and why it is left out."""
    first = "; ".join(map(str, column["first"]))
    missing = f", {column['n_missing']} missing" if column["n_missing"] else ""
    out = ", left out" if column["left_out"] else ""
    return f"{column['kind']}: {first}{missing}{out}"
