"""What was measured, as frozen records; JSON lines in and out; what changed between two files.

A `Run` is a `Job` (what to do) with its `Outcome` (what happened). The page is computed from these
records alone, so every figure in the docs can be traced to a run.

All results live in `benchmarks/results/`. The first line of a file says when and where the figures
were measured; every other line holds one shape, run or interpretation, so a diff shows which of
them changed.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import msgspec

from benchmarks.encode import Scaling
from benchmarks.rules import Setting
from truism.table.atomic import write_atomically

FOLDER = Path("benchmarks/results")
MEASURED = FOLDER / "experiments.jsonl"
FORMAT = 2
ABSENT = "absent"
BLAME = "blame-"  # begins the names of tables whose incidents are judged
FAULT = "fault-"  # begins the names of faults of a sensor
PACKAGES = (
    "truism",
    "numpy",
    "scikit-learn",
    "scipy",
    "pyarrow",
    "numba",
    "pyod",
    "torch",
    "mlxtend",
    "pandas",
)
SCORE_TOLERANCE = 0.0005
TIME_TOLERANCE = 1.25


@dataclass(frozen=True, slots=True)
class Job:
    """One fit and one scoring: which method on which rows.

    `share` is the share of the training rows to use, `contamination` the number of test anomalies
    to mix in, relative to the training rows.
    """

    dataset: str
    method: str
    scaling: Scaling = "none"
    seed: int = 0
    settings: tuple[tuple[str, Setting], ...] = ()
    share: float = 1.0
    contamination: float = 0.0

    def __str__(self) -> str:
        parts = [self.dataset, self.method]
        if self.scaling != "none":
            parts.append(self.scaling)
        parts += [f"{name}={value}" for name, value in self.settings]
        if self.share != 1.0:
            parts.append(f"share={self.share}")
        if self.contamination:
            parts.append(f"contamination={self.contamination}")
        return " ".join([*parts, f"seed={self.seed}"])


@dataclass(frozen=True, slots=True)
class AttackScore:
    """How well a method separates the rows of one attack from normal rows."""

    attack: str
    n_rows: int
    auc: float
    pauc: float


@dataclass(frozen=True, slots=True)
class Averaged:
    """How scores, averaged over some rows, tell segments of a series from normal rows.

    `n_told` of the `n_segments` are told with the best threshold in hindsight (`alarms.in_hindsight`).
    """

    span: int
    auc: float
    pauc: float
    n_told: int
    n_segments: int


class Labelled(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the program's own events say about a segment of a series (`alarms`).

    Parameters
    ----------
    start, n_rows
        Its first row, and the rows of its window.
    delay
        Rows from its beginning to the first event in its window; None if it is not told.
    is_late
        Whether its first event begins after the window.
    n_repeats
        Further events that begin in its reach, if it is told.
    stays
        The share of its rows, from that event on, in which an event is open.
    is_judged, rank
        Whether its true variables are known, and the place of the first among those that the event
        blames.

    """

    start: int
    n_rows: int
    delay: int | None = None
    is_late: bool = False
    n_repeats: int = 0
    stays: float | None = None
    is_judged: bool = False
    rank: int | None = None


@dataclass(frozen=True, slots=True)
class Alarms:
    """What the program's own events in a series are, at its own threshold.

    `n_false` incidents and `n_lasting` changes belong to no segment; `n_open` normal rows lie inside
    incidents. `n_repeated` events were looked for again without the rows after their start; `n_absent`
    of them are not there then.
    """

    segments: tuple[Labelled, ...]
    n_normal: int
    n_false: int
    n_lasting: int
    n_open: int
    n_repeated: int
    n_absent: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a job; if it failed, `error` is set and little else.

    `alarm_rate` is the share of normal test rows that score above zero; for the paper's scoring
    that is the false-positive rate at φ = 0. `extra_mb` is the peak memory beyond that of the
    loaded tables. `by_attack` is filled if the table names its attacks, `averaged` and `alarms` if
    its rows are a series.
    """

    auc: float | None = None
    pauc: float | None = None
    alarm_rate: float | None = None
    fit_seconds: float = 0.0
    score_seconds: float = 0.0
    extra_mb: float = 0.0
    table_mb: float = 0.0
    train_rows: int = 0
    test_rows: int = 0
    n_rules: int | None = None
    choice: str = ""
    error: str = ""
    by_attack: tuple[AttackScore, ...] = ()
    averaged: tuple[Averaged, ...] = ()
    alarms: Alarms | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """A job of an experiment and its outcome."""

    experiment: str
    job: Job
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Shape:
    """A row of table 1."""

    dataset: str
    train_rows: int
    test_rows: int
    n_continuous: int
    n_categorical: int
    n_unused: int
    anomaly_share: float


class Finding(msgspec.Struct, frozen=True, omit_defaults=True):
    """A row of table 3: an attack segment and what the broken rules say about it.

    The blame for incidents knows no rules; what is empty is not written. Of a fault, `n_rows` are those
    in which an event counts, `n_reported` the events of the whole run.
    """

    segment: str
    targets: tuple[str, ...]
    n_rows: int
    n_reported: int = 0
    n_rules: int = 0
    rules: tuple[str, ...] = ()
    target_in_rule: bool = False
    target_rank: int | None = None


@dataclass(frozen=True, slots=True)
class Interpretation:
    """Table 3, the blame for incidents, or a fault of sensors: for one table and one method."""

    table: str
    method: str
    settings: str
    n_rules: int
    false_alarm_rate: float
    findings: tuple[Finding, ...]
    scaling: Scaling = "none"

    @property
    def experiment(self) -> str:
        """The experiment that it belongs to."""
        if self.table.startswith(BLAME):
            return "blame"
        return "series" if self.table.startswith(FAULT) else "table3"


@dataclass(frozen=True, slots=True)
class Environment:
    """Where and when the figures were measured."""

    date: str
    python: str
    system: str
    processor: str
    cores: int
    memory_gb: float
    versions: dict[str, str]


@dataclass(frozen=True, slots=True)
class Results:
    """The content of a results file."""

    environment: Environment
    shapes: tuple[Shape, ...] = ()
    runs: tuple[Run, ...] = ()
    interpretations: tuple[Interpretation, ...] = ()

    def of(self, experiment: str) -> tuple[Run, ...]:
        """The runs of an experiment that succeeded."""
        return tuple(
            run for run in self.runs if run.experiment == experiment and not run.outcome.error
        )


def package_version(name: str) -> str:
    """Version of an installed package, or `ABSENT`."""
    try:
        return version(name)
    except PackageNotFoundError:
        return ABSENT


def environment() -> Environment:
    """Describe this machine and moment, without host or user names."""
    pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    return Environment(
        date=datetime.now(UTC).date().isoformat(),
        python=platform.python_version(),
        system=f"{platform.system()} {platform.machine()}",
        processor=_processor(),
        cores=os.cpu_count() or 1,
        memory_gb=round(pages * size / 2**30, 1),
        versions={name: package_version(name) for name in PACKAGES},
    )


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


class _Line(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line of a results file; exactly one record is present."""

    format: int | None = None
    environment: Environment | None = None
    shape: Shape | None = None
    run: Run | None = None
    interpretation: Interpretation | None = None


def read(path: Path) -> Results:
    """Read results from a file of JSON lines."""
    head, *rest = msgspec.json.Decoder(_Line).decode_lines(path.read_bytes())
    if head.environment is None or head.format != FORMAT:
        raise ValueError(f"format must be {FORMAT}, got {head.format!r}.")
    return Results(
        head.environment,
        shapes=tuple(line.shape for line in rest if line.shape is not None),
        runs=tuple(line.run for line in rest if line.run is not None),
        interpretations=tuple(
            line.interpretation for line in rest if line.interpretation is not None
        ),
    )


def write(results: Results, path: Path) -> None:
    """Write results to a file as JSON lines, and make its folder."""
    lines = [
        _Line(format=FORMAT, environment=results.environment),
        *(_Line(shape=shape) for shape in results.shapes),
        *(_Line(run=run) for run in results.runs),
        *(_Line(interpretation=each) for each in results.interpretations),
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, msgspec.json.Encoder().encode_lines(lines))


def merge(old: Results, new: Results, experiments: Iterable[str]) -> Results:
    """Return `old` with everything that `new` measured again replaced.

    The experiments named were run in full, so none of their old runs are kept. A package that is
    absent now keeps the version that the old figures were measured with.
    """
    again = set(experiments)
    runs = {(run.experiment, run.job): run for run in old.runs if run.experiment not in again}
    runs |= {(run.experiment, run.job): run for run in new.runs}
    still = [each for each in old.interpretations if each.experiment not in again]
    interpretations = {
        (each.table, each.method, each.scaling): each for each in (*still, *new.interpretations)
    }
    present = {name: v for name, v in new.environment.versions.items() if v != ABSENT}
    versions = new.environment.versions | old.environment.versions | present
    return replace(
        new,
        environment=replace(new.environment, versions=versions),
        shapes=new.shapes or old.shapes,
        runs=tuple(runs.values()),
        interpretations=tuple(interpretations.values()),
    )


def compare(old: Results, new: Results) -> Iterator[str]:
    """Yield a line for each change: versions first, then runs that are gone or new, then figures."""
    for name in sorted({*old.environment.versions, *new.environment.versions}):
        before = old.environment.versions.get(name, ABSENT)
        after = new.environment.versions.get(name, ABSENT)
        if before != after:
            yield f"version of {name}: {before} -> {after}"
    was = {(run.experiment, run.job): run.outcome for run in old.runs}
    now = {(run.experiment, run.job): run.outcome for run in new.runs}
    for key in was.keys() - now.keys():
        yield f"gone: {key[0]}: {key[1]}"
    for key in now.keys() - was.keys():
        yield f"new: {key[0]}: {key[1]}"
    for key in [key for key in now if key in was]:
        for change in _changes(was[key], now[key]):
            yield f"{key[0]}: {key[1]}: {change}"


def _changes(old: Outcome, new: Outcome) -> Iterator[str]:
    if old.error != new.error:
        yield f"error {old.error!r} -> {new.error!r}"
    for name in ("auc", "pauc"):
        before, after = getattr(old, name), getattr(new, name)
        if before is not None and after is not None and abs(after - before) > SCORE_TOLERANCE:
            yield f"{name} {before:.3f} -> {after:.3f} ({after - before:+.3f})"
    if old.n_rules != new.n_rules:
        yield f"rules {old.n_rules} -> {new.n_rules}"
    for name in ("fit_seconds", "score_seconds"):
        before, after = getattr(old, name), getattr(new, name)
        if min(before, after) > 0.05 and not 1 / TIME_TOLERANCE < after / before < TIME_TOLERANCE:
            yield f"{name} {before:.2f} -> {after:.2f} (x{after / before:.2f})"


def describe(environment: Environment) -> str:
    """Describe the machine and the versions in one line."""
    versions = ", ".join(f"{name} {text}" for name, text in environment.versions.items())
    return (
        f"{environment.date}, {environment.processor}, {environment.cores} cores, "
        f"{environment.memory_gb} GB, {environment.system}, Python {environment.python}; {versions}"
    )


def warn(text: str) -> None:
    """Print progress and problems to stderr."""
    print(text, file=sys.stderr, flush=True)
