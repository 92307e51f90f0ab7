"""Ordinary files to attack: a table, a later one with anomalies, models of it, and what commands write.

`WRITINGS` lists every command that writes files. A new one joins all attacks on writing with a line.
"""

import io
import os
import re
import shutil
import tempfile
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow.csv as pa_csv
import pyarrow.parquet as parquet

from attack.program import Program
from truism.model.files import load_model

N_ROWS = 300
N_LARGE = 400  # rows that count as many in `attack.parent`


class Writing(NamedTuple):
    """A command that writes files.

    Parameters
    ----------
    name
        A noun.
    line
        The command; ``RULE`` stands for the id of a rule, ``WRONG`` and ``OTHER`` for rows that are
        wrong, ``TAKEN`` for the id of what has been accepted in ``taken.json``.
    outputs
        What it writes.
    earlier
        The command that wrote what it goes on from, if it does. Otherwise what was there before is
        some other text.

    """

    name: str
    line: str
    outputs: tuple[str, ...]
    earlier: str | None = None


WRITINGS = (
    Writing("learn", "learn normal.csv -o out.json --jobs 2", ("out.json",)),
    Writing("large", "learn large.parquet -o out.json --jobs 2", ("out.json",)),
    Writing(
        "portions",
        "check large.parquet -m m.json --memory-limit 1MiB --scores out.parquet",
        ("out.parquet",),
    ),
    Writing("rules", "rules m.json --disable RULE --reason why", ("m.json",)),
    Writing(
        "accept",
        "accept today.csv --rows WRONG -m m.json -o out.json --who me --reason why",
        ("out.accepted.parquet", "out.json"),
    ),
    Writing(
        "another",
        "accept today.csv --rows OTHER -m taken.json -o out.json --who me --reason why",
        ("out.accepted.parquet", "out.json"),
    ),
    Writing(
        "undo",
        "accept --undo TAKEN -m taken.json -o taken.json",
        ("taken.accepted.parquet", "taken.json"),
    ),
    Writing(
        "accepted",
        "learn today.csv -o out.json --jobs 2 --accepted taken.accepted.parquet",
        ("out.json",),
    ),
    Writing("calibrate", "calibrate m.json normal.csv --max-false-positive-rate 0.02", ("m.json",)),
    Writing(
        "state",
        "check second.csv -m m.json --state out.state",
        ("out.state",),
        earlier="check first.csv -m m.json --state out.state",
    ),
    Writing(
        "machines",
        "check --models second.toml --format events",
        ("one.state", "two.state"),
        earlier="check --models first.toml --format events",
    ),
    Writing("page", "check today.csv -m m.json --report out.html", ("out.html",)),
    Writing("summary", "check today.csv -m m.json --report out.json", ("out.json",)),
    Writing("scores", "check today.csv -m m.json --scores out.csv", ("out.csv",)),
    *(
        Writing(name, f"check today.csv -m m.json --scores out.{name}", (f"out.{name}",))
        for name in ("parquet", "feather", "arrow")
    ),
    Writing(
        "both",
        "check today.csv -m m.json --scores out.csv.gz --report out.html",
        ("out.csv.gz", "out.html"),
    ),
    Writing("look", "look today.csv --report out.html", ("out.html",)),
    Writing("markdown", "export m.json --to markdown -o out.md", ("out.md",)),
    Writing("records", "export m.json --to json -o out.json", ("out.json",)),
    Writing(
        "statement", "export m.json --to sql --table t --dialect duckdb -o out.sql", ("out.sql",)
    ),
    Writing(
        "contract", "export m.json --to odcs --table t --dialect duckdb -o out.yaml", ("out.yaml",)
    ),
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
    Writing(
        "demo",  # with fewer rows: `attack.parent` says how many
        "demo out --jobs 2",
        (
            *(f"out/normal-{i}.csv" for i in range(1, 5)),
            *("out/quiet.csv", "out/attacked.csv", "out/attacks.json"),
            *("out/plant.truism.json", "out/report.html"),
        ),
    ),
)
TABLES = ("normal.csv", "today.csv", "first.csv", "second.csv", "large.parquet")
INPUTS = (
    *(*TABLES, "first.toml", "second.toml", "m.json", "other.json", "job.state"),
    *("taken.json", "taken.accepted.parquet"),
)
DRAFT = re.compile(r"\..*\.draft")
LOCKED = re.compile(
    r".*\.(state|accepted\.parquet)"
)  # files that are locked while they are worked on
# What differs from run to run: when it was, and the digest of a model that says so.
_WHEN = re.compile(
    rb'\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\+00:00)?|"digest": ?"[^"]*"|\b[0-9a-f]{64}\b'
)


def wrong_rows(seed: int, n_rows: int, n_wrong: int) -> set[int]:
    """Return the rows of a table that are wrong."""
    return {*np.random.default_rng((seed, 1)).permutation(n_rows)[:n_wrong].tolist()}


_WRONG = sorted(wrong_rows(2, 120, 9))


def table(seed: int, n_rows: int = N_ROWS, n_wrong: int = 0) -> str:
    """Return a table as CSV: a pump, what follows from it, gaps; some rows may be wrong."""
    random = np.random.default_rng(seed)
    pump = np.repeat(random.integers(0, 2, n_rows // 10 + 1), 10)[:n_rows]
    wrong = wrong_rows(seed, n_rows, n_wrong)
    lines = ["time,pump,flow,level,mode,count"]
    for i, on in enumerate(pump.tolist()):
        flow = (1 - on if i in wrong else on) * 2.5 + random.normal(0, 0.02)
        level = "" if random.random() < 0.02 else f"{500 + 100 * on + random.normal():.2f}"
        minute = f"2024-01-0{1 + i // 1440} {i % 1440 // 60:02}:{i % 60:02}:00"
        lines.append(f"{minute},{'on' if on else 'off'},{flow:.3f},{level},auto,{i % 3}")
    return "\n".join([*lines, ""])


def machines(data: str) -> str:
    """Return a list of two machines."""
    return "".join(
        f'[[machine]]\nname = "{name}"\nmodel = "{model}"\ndata = "{data}"\nstate = "{name}.state"\n'
        for name, model in (("one", "m.json"), ("two", "other.json"))
    )


class Samples:
    """The files, made once and copied for each attempt."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._written: dict[str, dict[str, bytes]] = {}  # by command

    @cached_property
    def folder(self) -> Path:
        """Where they are."""
        folder = Path(tempfile.mkdtemp(prefix="attack-samples-"))
        (folder / "normal.csv").write_text(table(1))
        large = pa_csv.read_csv(io.BytesIO(table(1, N_LARGE).encode()))
        parquet.write_table(large, folder / "large.parquet", row_group_size=50)
        (folder / "today.csv").write_text(table(2, 120, 9))
        head, *lines = table(2, 120, 9).splitlines(keepends=True)
        for name, some in (("first", lines[:70]), ("second", lines[60:])):
            (folder / f"{name}.csv").write_text(head + "".join(some))
            (folder / f"{name}.toml").write_text(machines(f"{name}.csv"))
        for name, more in (("m.json", []), ("other.json", ["--scoring", "paper", "--delta"])):
            done = self._program.run(folder, "learn", "normal.csv", "-o", name, *more)
            assert done.code == 0, done.said()
        for line, code in (
            ("check first.csv -m m.json --state job.state", 1),
            (f"accept today.csv --rows {_WRONG[0]} -m m.json -o taken.json --who me --reason a", 0),
        ):
            done = self._program.run(folder, *line.split())
            assert done.code == code, done.said()
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
        if not over or writing is None:
            return
        older = (
            {} if writing.earlier is None else self.after(writing.earlier, outputs=writing.outputs)
        )
        for output in {*writing.outputs} - {*INPUTS}:
            place = folder / output
            place.parent.mkdir(exist_ok=True)
            place.write_bytes(older.get(output, b"what was there before\n" * 100))

    @cached_property
    def _known(self) -> dict[str, str]:
        """What stands for what in a line."""
        [taken] = load_model(self.folder / "taken.json").accepted or ()
        rows = {"WRONG": str(_WRONG[0]), "OTHER": str(_WRONG[-1])}
        return {"RULE": self.rules[0], "TAKEN": taken.id, **rows}

    def arguments(self, writing: Writing) -> list[str]:
        return self.filled(writing.line)

    def filled(self, line: str) -> list[str]:
        """Return a line as arguments."""
        return [self._known.get(each, each) for each in line.split()]

    def written(self, writing: Writing, over: bool) -> dict[str, bytes]:
        """Return what a command writes if nothing disturbs it, without what differs from run to run."""
        before = () if writing.earlier is None or not over else (writing.earlier,)
        found = self.after(*before, writing.line, outputs=writing.outputs)
        return {output: masked(content) for output, content in found.items()}

    def after(self, *lines: str, outputs: tuple[str, ...]) -> dict[str, bytes]:
        """Return what is there after commands, one after the other."""
        key = " && ".join(lines)
        if key not in self._written:
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name)
                self.copy_to(folder)
                for line in lines:
                    done = self._program.run(folder, *self.filled(line))
                    assert done.code in (0, 1), done.said()
                self._written[key] = {output: (folder / output).read_bytes() for output in outputs}
        return self._written[key]


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
