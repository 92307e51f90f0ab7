"""Regenerates what in the documentation comes from the program: run ``python docs/generate.py``.

- ``docs/cli.md`` from ``--help``;
- the output in every ``console`` block of README.md and docs/tutorial.md, by running its commands;
- ``src/truism/model-file.schema.json`` from the types that read model files.

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
from truism.modelfiles import json_schema

ROOT = Path(__file__).parents[1]
TRANSCRIPTS = ("README.md", "docs/tutorial.md")
_BLOCK = re.compile(r"(?ms)^```console\n(.*?)^```$")
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


def generated() -> dict[str, str]:
    """Give every generated file, by its path in the repository."""
    files = {"docs/cli.md": cli_page(), "src/truism/model-file.schema.json": schema_file()}
    return files | {name: transcript((ROOT / name).read_text("utf-8")) for name in TRANSCRIPTS}


if __name__ == "__main__":
    for name, content in generated().items():
        place = ROOT / name
        if not place.exists() or place.read_text("utf-8") != content:
            place.write_text(content, "utf-8")
            print(f"wrote {name}")
