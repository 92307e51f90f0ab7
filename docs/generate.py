"""Regenerate the parts of the documentation that the program writes: ``python docs/generate.py``.

- ``docs/cli.md`` from ``--help``;
- the output in every ``console`` block of README.md, docs/tutorial.md and docs/compare.md, by running
  its commands;
- the detectors and speeds in README.md (five detectors) and docs/comparison.md (all of them) from
  the files in ``benchmarks/results``;
- ``src/truism/model/model-file.schema.json`` from the types that read model files, and
  ``docs/check.schema.json`` and ``docs/compare.schema.json`` from those that ``truism check`` and
  ``truism compare`` write for programs.

Tests do the same and fail when a file differs. Others have their own commands: docs/benchmarks.md
``python -m benchmarks page``, and docs/start.ipynb ``python docs/notebook.py``.
"""

import inspect
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import msgspec
from click.testing import CliRunner

from truism.cli.app import COMMANDS, app
from truism.export import incidents
from truism.model import files
from truism.review.compare import Comparison

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
TRANSCRIPTS = ("README.md", "docs/tutorial.md", "docs/compare.md")
_BLOCK = re.compile(r"(?ms)^```console\n(.*?)^```$")
MEASURED = ("README.md", "docs/comparison.md")
FEW = ("truism", "knn", "pca", "iforest", "paper")  # what a user of PyOD looks for first
_DETECTORS = re.compile(
    r"(?ms)^<!-- (all detectors|detectors|speed|former) -->\n(.*?)^<!-- end -->$"
)
_WIDTH = 80


def cli_page() -> str:
    """Return the page of commands and options."""
    parts = ["# Command line", "", "Generated from `--help` by `python docs/generate.py`.", ""]
    for arguments in ([], *([name] for name in COMMANDS)):
        shown = CliRunner().invoke(app, [*arguments, "--help"], terminal_width=_WIDTH)
        parts += _section(" ".join(["truism", *arguments]), shown.stdout)
    return "\n".join(parts)


def _section(title: str, text: str) -> list[str]:
    lines = [line.rstrip() for line in text.splitlines()]
    return [f"## {title}", "", "```text", *lines, "```", ""]


def schema_file(schema: dict[str, Any]) -> str:
    """Return a JSON Schema as a file, the same with every Python and msgspec."""
    for each in schema["$defs"].values():  # newer Pythons remove the indentation of docstrings
        if "description" in each:
            each["description"] = inspect.cleandoc(each["description"])
    for bound in schema["$defs"]["Interval"]["properties"].values():
        bound.pop("default", None)  # an open side is absent; JSON has no infinity to default to
    _put_null_last(schema)
    content = msgspec.json.encode(
        {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
    )
    return msgspec.json.format(content, indent=2).decode() + "\n"


def _put_null_last(part: Any) -> None:
    """Write alternatives in one order; versions of msgspec differ in where they put null."""
    if isinstance(part, dict):
        if "anyOf" in part:
            part["anyOf"].sort(key=lambda each: each == {"type": "null"})
        part = list(part.values())
    for each in part if isinstance(part, list) else ():
        _put_null_last(each)


def schemas() -> dict[str, str]:
    """Return every JSON Schema by its path in the repository."""
    return {
        "src/truism/model/model-file.schema.json": schema_file(files.json_schema()),
        "docs/check.schema.json": schema_file(incidents.json_schema()),
        "docs/compare.schema.json": schema_file(msgspec.json.schema(Comparison)),
    }


def transcript(page: str) -> str:
    """Run the commands of a page in order in a new folder, and fill in what they print."""
    with tempfile.TemporaryDirectory() as folder:
        return _BLOCK.sub(lambda block: f"```console\n{_rerun(block[1], folder)}```", page)


def _rerun(block: str, folder: str) -> str:
    commands = [line[2:] for line in block.splitlines() if line.startswith("$ ")]
    return "".join(f"$ {command}\n{_output(command, folder)}" for command in commands)


def _output(command: str, folder: str) -> str:
    script = f'truism() {{ "{sys.executable}" -m truism "$@"; }}\n{command}'
    env = {**os.environ, "COLUMNS": str(_WIDTH), "NO_COLOR": "1"}
    done = subprocess.run(
        ["bash", "-c", script], cwd=folder, env=env, capture_output=True, text=True, check=False
    )
    if done.returncode > 1:
        raise RuntimeError(f"{command}\n{done.stderr}")
    return done.stdout


def with_detectors(page: str) -> str:
    """Fill in the detectors and the speed as measured, wherever a page has markers for them.

    ``<!-- detectors -->`` stands for five detectors and the speed, ``<!-- all detectors -->`` for
    every detector, ``<!-- speed -->`` for the speed alone, ``<!-- former -->`` for that of a former
    program on wide tables and many rows to explain.
    """
    return _DETECTORS.sub(
        lambda block: f"<!-- {block[1]} -->\n{_measured(block[1])}\n<!-- end -->", page
    )


def _measured(what: str) -> str:
    from benchmarks import results
    from benchmarks.sections.detection import overview
    from benchmarks.sections.summary import exceptions

    if what == "speed":
        return _speed()
    if what == "former":
        return _former()
    found = results.read(ROOT / results.MEASURED)
    if what == "all detectors":
        return f"{overview(found)}\n\n{exceptions(found)}"
    return f"{overview(found, FEW)}\n\n{exceptions(found)}\n\n{_speed()}"


def _speed() -> str:
    from benchmarks import speed

    measured = speed.read(ROOT / speed.FILE)
    learning, scoring, ours, raced = (
        measured[name].figures for name in ("learning", "scoring", "evidence", "attacks")
    )
    n_rows, n_columns = str(learning["rows x columns"]).split(" x ")
    plant, connections = "a plant's normal rows, default", "KDD Cup 99, default"
    share = 100 / float(raced[f"{plant}, the same in processor time"])
    return (
        f"Learning from {n_rows} rows of {n_columns} variables takes "
        f"{learning['truism, trees and mining (s)']:.1f} s on two cores with the paper's scoring; "
        f"scikit-learn takes {learning['times as fast as scikit-learn (target 30)']:.0f} times as "
        f"long to grow the trees alone. With default settings, learning takes "
        f"{ours['learning, evidence / paper (limit 3)']:.1f} times as long. A million such rows "
        f"are scored in {ours['paper, 1,000,000 rows (s)']:.1f} s with the paper's scoring; "
        f"IsolationForest takes {scoring['IsolationForest (s)']:.1f} s. With default settings they "
        f"take {raced[f'{plant} (s, median of 7)']:.1f} s and {share:.0f} % of IsolationForest's "
        f"processor time; by the clock, truism is "
        f"{raced[f'{plant}, times as fast as IsolationForest']:.1f} times as fast, because it uses "
        f"all cores and IsolationForest one. On KDD Cup 99's test table, mostly attacks, it is "
        f"{raced[f'{connections}, times as fast as IsolationForest']:.1f} times as fast. "
        f"Results are bit-identical on one core and on two."
    )


def _former() -> str:
    from benchmarks import former, markdown

    compared = former.read(ROOT / former.FILE).values()
    return markdown.table(
        ("work", "before, processor s", "now, processor s", "times as fast"),
        [
            (
                each.task,
                *(f"{figure:.1f}" for figure in (each.before, each.now, each.times_as_fast)),
            )
            for each in compared
        ],
    )


def generated() -> dict[str, str]:
    """Return every generated file by its path in the repository."""
    found = {"docs/cli.md": cli_page(), **schemas()}
    for name in dict.fromkeys((*TRANSCRIPTS, *MEASURED)):
        page = with_detectors((ROOT / name).read_text("utf-8"))
        found[name] = transcript(page) if name in TRANSCRIPTS else page
    return found


if __name__ == "__main__":
    for name, content in generated().items():
        place = ROOT / name
        if not place.exists() or place.read_text("utf-8") != content:
            place.write_text(content, "utf-8")
            print(f"wrote {name}")
