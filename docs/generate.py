"""Regenerates what in the documentation comes from the program: run ``python docs/generate.py``.

- ``docs/cli.md`` from ``--help``;
- the output in every ``console`` block of README.md and docs/tutorial.md, by running its commands;
- the detectors and speeds in README.md from the files in ``benchmarks/results``;
- ``src/truism/model/model-file.schema.json`` from the types that read model files.

A test does the same and fails when a file differs.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec
from click.testing import CliRunner

from truism.cli.app import COMMANDS, app
from truism.model.files import json_schema

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
TRANSCRIPTS = ("README.md", "docs/tutorial.md")
_BLOCK = re.compile(r"(?ms)^```console\n(.*?)^```$")
_DETECTORS = re.compile(r"(?ms)^<!-- detectors -->\n(.*?)^<!-- end -->$")
_WIDTH = 80


def cli_page() -> str:
    """Make the page of commands and options."""
    parts = ["# Command line", "", "Generated from `--help` by `python docs/generate.py`.", ""]
    for arguments in ([], *([name] for name in COMMANDS)):
        shown = CliRunner().invoke(app, [*arguments, "--help"], terminal_width=_WIDTH)
        parts += _section(" ".join(["truism", *arguments]), shown.stdout)
    return "\n".join(parts)


def _section(title: str, text: str) -> list[str]:
    lines = [line.rstrip() for line in text.splitlines()]
    return [f"## {title}", "", "```text", *lines, "```", ""]


def schema_file() -> str:
    """Make the JSON Schema of model files."""
    content = msgspec.json.encode(
        {"$schema": "https://json-schema.org/draft/2020-12/schema", **json_schema()}
    )
    return msgspec.json.format(content, indent=2).decode() + "\n"


def transcript(page: str) -> str:
    """Run the commands of a page one after another in a new folder, and put in what they print."""
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
    """Put the table of detectors, and the speed, into a page as they were measured."""
    from benchmarks import results
    from benchmarks.sections.detection import overview

    table = overview(results.read(ROOT / results.MEASURED))
    measured = f"<!-- detectors -->\n{table}\n\n{_speed()}\n<!-- end -->"
    return _DETECTORS.sub(lambda _: measured, page)


def _speed() -> str:
    from benchmarks import speed

    measured = speed.read(ROOT / speed.FILE)
    learning, scoring, ours = (
        measured[name].figures for name in ("learning", "scoring", "evidence")
    )
    return (
        f"Learning {learning['rows x columns'].replace('x', '×')} takes "
        f"{learning['truism, trees and mining (s)']:.1f} s with the paper's scoring on two cores, "
        f"{learning['times as fast as scikit-learn (target 30)']:.0f} times less than "
        f"scikit-learn's trees for the same targets alone, and "
        f"{ours['learning, evidence / paper (limit 3)']:.1f} times as long by "
        f"default. A million such rows are scored in {ours['paper, 1,000,000 rows (s)']:.1f} s and "
        f"{ours['evidence, 1,000,000 rows (s)']:.1f} s; IsolationForest needs "
        f"{scoring['IsolationForest (s)']:.1f} s. Results are the same to the last bit on one core "
        f"or two."
    )


def generated() -> dict[str, str]:
    """Give every generated file, by its path in the repository."""
    files = {"docs/cli.md": cli_page(), "src/truism/model/model-file.schema.json": schema_file()}
    pages = {name: with_detectors((ROOT / name).read_text("utf-8")) for name in TRANSCRIPTS}
    return files | {name: transcript(page) for name, page in pages.items()}


if __name__ == "__main__":
    for name, content in generated().items():
        place = ROOT / name
        if not place.exists() or place.read_text("utf-8") != content:
            place.write_text(content, "utf-8")
            print(f"wrote {name}")
