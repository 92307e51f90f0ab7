"""The reading test: twelve incidents as the product shows them and, apart, what had really happened.

Give `incidents` to somebody who does not know the answers and ask, for each file, what was wrong and
where they would look first; then compare with `answers/answers.json` and count found, partly, missed.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import msgspec
from rich.console import Console

from benchmarks.alarms import telling
from benchmarks.blame import find_cases
from benchmarks.cases import Case, Segment
from benchmarks.results import warn
from truism.explain.checker import Checker
from truism.explain.findings import Findings
from truism.explain.incidents import Incident
from truism.explain.listings import Incidents
from truism.learn.learn import learn as train
from truism.model.settings import Settings
from truism.show.summarising import summarise, write_report
from truism.show.terminal import show_incident
from truism.table.columns import Table
from truism.table.frames import as_table

N_FROM: Mapping[str, int] = {
    "batadal": 3,
    "smd_1_6": 1,
    "smd_2_1": 1,
    "smd_3_3": 1,
    "asd_1": 1,
    "asd_11": 1,
    "plant_0": 4,
}
_WIDTH = 100


@dataclass(frozen=True, slots=True)
class Answer:
    """What had really happened: rows of which table, and the variables that were wrong or attacked."""

    file: str
    table: str
    first_row: int
    last_row: int
    what: str
    variables: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Exhibit:
    """An incident, the findings that hold it alone, and the segment that it is about."""

    incident: Incident
    findings: Findings
    segment: Segment


def write_test(data: Path, folder: Path) -> int:
    """Write the incidents and the answers, and return how many there are."""
    shown, apart = folder / "incidents", folder / "answers"
    for each in (shown, apart):
        each.mkdir(parents=True, exist_ok=True)
    answers: list[Answer] = []
    for case in find_cases(data, tuple(N_FROM)):
        warn(f"reading: {case.name}")
        checker = _checker(case)
        table = checker.prepare(as_table(case.test))
        for exhibit in choose(checker, table, case, N_FROM[case.name]):
            name = f"incident-{len(answers) + 1:02}"
            (shown / f"{name}.txt").write_text(as_text(exhibit.incident), encoding="utf-8")
            summary = summarise(checker, table, exhibit.findings)
            write_report(str(shown / f"{name}.html"), summary)
            segment = exhibit.segment
            rows = (segment.start, segment.stop - 1)
            answers.append(Answer(name, case.name, *rows, segment.name, segment.targets))
    plain = msgspec.json.encode([asdict(each) for each in answers])
    (apart / "answers.json").write_bytes(msgspec.json.format(plain, indent=2) + b"\n")
    return len(answers)


def _checker(case: Case) -> Checker:
    delta = case.name.startswith("plant")
    return Checker(train(as_table(case.train), Settings(ordered=True), delta=delta))


def choose(checker: Checker, table: Table, case: Case, most: int) -> Iterator[Exhibit]:
    """Choose segments that are told, evenly over time, each with its first event."""
    found = checker.find(table)
    events = [*found.incidents.outlines, *found.shifts.outlines]
    ranges = [(segment.start, segment.stop) for segment in case.segments]
    firsts = zip(case.segments, telling(events, ranges, table.n_rows), strict=True)
    reported = [(segment, first) for segment, first in firsts if first is not None]
    step = max(1, len(reported) // most)
    rows = found.incidents.rows
    nothing = Incidents(checker.scorer, (), checker.origin, rows, checker.model.threshold)
    for segment, outline in reported[::step][:most]:
        alone = Incidents(checker.scorer, [outline], checker.origin, rows, checker.model.threshold)
        is_shift = outline.kind == "shift"
        findings = msgspec.structs.replace(
            found,
            incidents=nothing if is_shift else alone,
            shifts=alone if is_shift else nothing,
            expected=None,
        )
        yield Exhibit(alone[0], findings, segment)


def as_text(incident: Incident) -> str:
    """Return an incident as a terminal shows it."""
    console = Console(width=_WIDTH, file=io.StringIO(), color_system=None)
    console.print(show_incident(incident, 1))
    written = console.file
    assert isinstance(written, io.StringIO)
    return "\n".join(line.rstrip() for line in written.getvalue().splitlines()) + "\n"
