"""Ordinary files to attack: a table, a later one with anomalies, models of it, and what commands write.

`WRITINGS` lists every command that writes files. A new one joins all attacks on writing with a line.
"""

import os
import re
import shutil
import tempfile
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from attack.program import Program

N_ROWS = 300


class Writing(NamedTuple):
    """A command that writes a file, or several into a folder."""

    name: str
    line: str
    outputs: tuple[str, ...]

    @property
    def arguments(self) -> list[str]:
        return self.line.split()


WRITINGS = (
    Writing("learn", "learn normal.csv -o out.json --jobs 2", ("out.json",)),
    Writing("rules", "rules m.json --disable RULE --reason why", ("m.json",)),
    Writing("page", "check today.csv -m m.json --report out.html", ("out.html",)),
    Writing("summary", "check today.csv -m m.json --report out.json", ("out.json",)),
    Writing("text", "check today.csv -m m.json --report out.txt", ("out.txt",)),
    Writing("scores", "check today.csv -m m.json --scores out.csv", ("out.csv",)),
    Writing("parquet", "check today.csv -m m.json --scores out.parquet", ("out.parquet",)),
    Writing(
        "both",
        "check today.csv -m m.json --scores out.csv.gz --report out.html",
        ("out.csv.gz", "out.html"),
    ),
    Writing("look", "look today.csv --report out.html", ("out.html",)),
    Writing("markdown", "export m.json --to markdown -o out.md", ("out.md",)),
    Writing("records", "export m.json --to json -o out.json", ("out.json",)),
    Writing(
        "compare",
        "compare m.json other.json --on today.csv --format html -o out.html",
        ("out.html",),
    ),
    Writing(
        "plant",
        "plant --rows 60 --attacks -o out",
        ("out/normal.csv", "out/attacked.csv", "out/attacks.json"),
    ),
)
INPUTS = ("normal.csv", "today.csv", "m.json", "other.json")
DRAFT = re.compile(r"\..*\.draft")
# What differs from run to run: when it was, and the digest of a model that says so.
_WHEN = re.compile(
    rb'\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\+00:00)?|"digest": ?"[^"]*"|\b[0-9a-f]{64}\b'
)


def table(seed: int, n_rows: int = N_ROWS, n_wrong: int = 0) -> str:
    """Return a table as CSV: a pump, what follows from it, gaps; some rows may be wrong."""
    random = np.random.default_rng(seed)
    pump = np.repeat(random.integers(0, 2, n_rows // 10 + 1), 10)[:n_rows]
    wrong = set(random.permutation(n_rows)[:n_wrong].tolist())
    lines = ["time,pump,flow,level,mode,count"]
    for i, on in enumerate(pump.tolist()):
        flow = (1 - on if i in wrong else on) * 2.5 + random.normal(0, 0.02)
        level = "" if random.random() < 0.02 else f"{500 + 100 * on + random.normal():.2f}"
        minute = f"2024-01-0{1 + i // 1440} {i % 1440 // 60:02}:{i % 60:02}:00"
        lines.append(f"{minute},{'on' if on else 'off'},{flow:.3f},{level},auto,{i % 3}")
    return "\n".join([*lines, ""])


class Samples:
    """The files, made once and copied for each attempt."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._written: dict[str, dict[str, bytes]] = {}

    @cached_property
    def folder(self) -> Path:
        """Where they are."""
        folder = Path(tempfile.mkdtemp(prefix="attack-samples-"))
        (folder / "normal.csv").write_text(table(1))
        (folder / "today.csv").write_text(table(2, 120, 9))
        for name, more in (("m.json", []), ("other.json", ["--scoring", "paper", "--delta"])):
            done = self._program.run(folder, "learn", "normal.csv", "-o", name, *more)
            assert done.code == 0, done.said()
        return folder

    @cached_property
    def rules(self) -> list[str]:
        """The ids of the rules of the model."""
        listed = self._program.run(
            self.folder, "rules", "m.json", "--format", "csv", "--sort", "id"
        )
        return [line.split(",")[0] for line in listed.out.decode().splitlines()[1:]]

    def remove(self) -> None:
        if "folder" in self.__dict__:
            shutil.rmtree(self.folder)

    def copy_to(self, folder: Path, writing: Writing | None = None, over: bool = False) -> None:
        """Put the inputs into a folder, and if wished older outputs of a command."""
        for name in INPUTS:
            shutil.copyfile(self.folder / name, folder / name)
        for output in writing.outputs if over and writing is not None else ():
            place = folder / output
            place.parent.mkdir(exist_ok=True)
            if output not in INPUTS:
                place.write_bytes(b"what was there before\n" * 100)

    def arguments(self, writing: Writing) -> list[str]:
        return [each.replace("RULE", self.rules[0]) for each in writing.arguments]

    def written(self, writing: Writing) -> dict[str, bytes]:
        """Return what a command writes if nothing disturbs it."""
        if writing.name not in self._written:
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name)
                self.copy_to(folder)
                done = self._program.run(folder, *self.arguments(writing))
                assert done.code in (0, 1), done.said()
                self._written[writing.name] = {
                    output: masked((folder / output).read_bytes()) for output in writing.outputs
                }
        return self._written[writing.name]


def masked(content: bytes) -> bytes:
    """Return content without what differs from run to run."""
    if content[:2] == b"\x1f\x8b":
        import gzip

        content = gzip.decompress(content)
    return _WHEN.sub(b"(when)", content)


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder."""
    return {
        os.fspath(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }
