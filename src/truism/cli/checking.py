"""One check on the command line: what is asked for goes in; what was found is printed and written."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from truism.cli.batched import Batched, open_beyond
from truism.cli.calibrating import calibrated
from truism.cli.fitting import Fitted, read_for
from truism.cli.reading import Asked
from truism.cli.screen import Screen
from truism.errors import ParameterError, did_you_mean, shorten
from truism.explaining.checker import Checker
from truism.explaining.findings import Findings, gravest
from truism.explaining.incidents import Incident
from truism.explaining.rowblames import blame_kinds
from truism.explaining.scorelists import tabulate
from truism.explaining.statefiles import working_on
from truism.explaining.states import Step, proceed
from truism.export.incidents import Teller
from truism.export.spreadsheets import tame
from truism.incidents.delays import Delays
from truism.model.files import load_model
from truism.model.provenance import ByHand, Threshold
from truism.model.stamps import clock, now_here
from truism.model.wording import count
from truism.report.output import write_report
from truism.report.progress import show_progress
from truism.report.summarising import summarise
from truism.report.terminal import show_findings, verdict
from truism.scoring.thresholds import expecting
from truism.table.batches import typed
from truism.table.columnar import Columnar
from truism.table.columns import Table
from truism.table.layouts import seconds_of
from truism.table.writing import write_table, writing
from truism.work import Progress

CheckFormat = Literal["table", "json", "jsonl", "csv", "events"]
N_SHOWN = 10
_PATTERN_NAMES = ("id", "variable", "kind", "n_rows", "share", "n_times", "summary", "worst")
_CSV_NAMES = (
    *("incident", "id", "source", "series", "start", "end", "n_rows", "peak", "score", "severity"),
    *("kind", "ongoing", "started", "ended", "peaked", "seconds", "summary"),
    *(
        "variable",
        "share",
        "since",
        "began",
        "expected",
        "found",
        "because",
        "evidence",
        "rule",
        "row",
    ),
)


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What a check is asked for; the options of the command say what each means."""

    data: tuple[str, ...]
    place: str
    said: Asked
    name: str | None
    state_place: str | None
    threshold: float | None
    max_false_positive_rate: float | None
    max_false_incidents: str | None
    calibration: tuple[str, ...]
    gap: int | None
    min_rows: int
    on_delay: str
    off_delay: str
    retain: str
    ignore: tuple[str, ...]
    mute: tuple[str, ...]
    top: int | None
    patterns: bool
    scores_place: str | None
    report_place: str | None
    label: str | None
    form: CheckFormat
    jobs: int
    allow_missing: bool
    memory_limit: str | None


def run(screen: Screen, wanted: Wanted) -> int:
    """Check, print and write what was asked for; return the exit code."""
    checker = _checker(wanted)
    if wanted.state_place is None:
        _, code = _examine(screen, wanted, checker, None)
        return code
    with working_on(wanted.state_place) as (state, write):
        step, code = _examine(screen, wanted, checker, state)
        if not screen.is_lost:  # what nobody has seen is told again
            assert step.state is not None
            write(step.state)
    return code


def _examine(screen: Screen, wanted: Wanted, checker: Checker, state: Any) -> tuple[Step, int]:
    with screen.stages() as progress:
        if wanted.calibration:
            progress("calibrating", 0, 0)
            checker = _calibrated(screen, wanted, checker)
        progress("reading", 0, 0)
        files = open_beyond(
            wanted.data,
            wanted.said,
            checker.model.reading,
            wanted.memory_limit,
            _needing_all(wanted),
        )
        if files is not None:
            checker, step = _examine_large(screen, progress, wanted, checker, files)
            return _tell(screen, wanted, checker, step)
        found = _read(screen, wanted, checker, wanted.data, allow_empty=True)
        checker = found.checker
        progress("scoring", 0, 0)
        step = proceed(
            checker,
            found.table,
            state,
            gap=wanted.gap,
            min_rows=wanted.min_rows,
            delays=Delays(wanted.on_delay, wanted.off_delay),
            retain=None if wanted.state_place is None else _seconds("retain", wanted.retain),
            now=None if wanted.state_place is None else clock(),
        )
        findings = step.findings
        if wanted.scores_place is not None:

            def advance(done: int, of: int) -> None:
                progress("writing scores", done, of)

            columns = tabulate(checker, step.table, findings.scores, findings.excess, advance)
            write_table(_written(columns, wanted.scores_place), wanted.scores_place)
        if wanted.report_place is not None:
            progress("writing report", 0, 0)
            place, label = wanted.report_place, wanted.label
            write_page(place, checker, step.table, findings, wanted.data, label, found.doubts)
    return _tell(screen, wanted, checker, step)


def _tell(screen: Screen, wanted: Wanted, checker: Checker, step: Step) -> tuple[Step, int]:
    """Print what was found, and return the exit code, too."""
    findings = step.findings
    _note(screen, wanted, step)
    report(screen, checker, step, wanted)
    if wanted.state_place is None:
        return step, 1 if findings.incidents or findings.shifts else 0
    if step.stuck is not None and step.is_stuck_again:
        screen.fail(step.stuck, "correct the times, or remove the state to begin anew.")
        return step, 2
    if step.stuck is not None:
        screen.warn(step.stuck)
    return step, 1 if step.is_alarming else 0


def _seconds(option: str, duration: str) -> float:
    try:
        return seconds_of(duration)
    except ParameterError:
        raise ParameterError.of(option, "be a duration such as '12h' or '30d'", duration) from None


def _needing_all(wanted: Wanted) -> list[str]:
    """Return options for which all rows must be held at once."""
    given = {"--state": wanted.state_place, "--report": wanted.report_place}
    return [option for option, value in given.items() if value is not None]


def _examine_large(
    screen: Screen, progress: Progress, wanted: Wanted, checker: Checker, files: Columnar
) -> tuple[Checker, Step]:
    """Check files portion by portion, and write scores as they come."""
    batched = Batched(
        screen,
        progress,
        checker,
        files,
        wanted.said,
        wanted.memory_limit,
        allow_missing=wanted.allow_missing,
    )
    most: int | None = _n_shown(wanted) or None
    options: Any = {
        "gap": wanted.gap,
        "min_rows": wanted.min_rows,
        "delays": Delays(wanted.on_delay, wanted.off_delay),
        "most": None if wanted.form == "events" else most,
        "patterns": wanted.patterns,
    }
    place = wanted.scores_place
    if place is None:
        return batched.checker, batched.check(None, **options)
    with writing(place) as write:
        step = batched.check(lambda columns: write(_written(columns, place)), **options)
    return batched.checker, step


def _n_shown(wanted: Wanted) -> int:
    """Return how many incidents are shown; 0 if all are."""
    if wanted.top is None:
        return N_SHOWN if wanted.form == "table" else 0
    return wanted.top


def _checker(wanted: Wanted) -> Checker:
    """Load the model, with the threshold and the variables that are asked for."""
    checker = Checker(load_model(wanted.place), wanted.jobs).named(wanted.name)
    for option, names, known in (
        ("ignore", wanted.ignore, checker.needed),
        ("mute", wanted.mute, checker.model.schema.names),
    ):
        for name in names:
            if name not in known:
                hint = did_you_mean(name, known)
                raise ParameterError.of(option, "name a variable of the model", name, hint)
    if wanted.ignore:
        if {*wanted.ignore} >= {*checker.needed}:
            raise ParameterError("--ignore must leave a variable to check.")
        checker = checker.without(wanted.ignore)
    if wanted.mute:
        checker = checker.muting(wanted.mute)
    if wanted.threshold is not None:
        return checker.at(Threshold(wanted.threshold, ByHand()))
    if wanted.max_false_incidents is not None:
        return checker.at(expecting(checker.model, wanted.max_false_incidents).limit)
    return checker


def _calibrated(screen: Screen, wanted: Wanted, checker: Checker) -> Checker:
    normal = _read(screen, wanted, checker, wanted.calibration)
    rates = (wanted.max_false_positive_rate, wanted.max_false_incidents)
    return checker.adopting(calibrated(screen, normal.checker, normal.table, *rates))


def _read(
    screen: Screen,
    wanted: Wanted,
    checker: Checker,
    sources: Sequence[str],
    *,
    allow_empty: bool = False,
) -> Fitted:
    return read_for(
        screen,
        checker,
        sources,
        wanted.said,
        allow_missing=wanted.allow_missing,
        allow_empty=allow_empty,
        only_doubts=wanted.state_place is not None,  # the next call would say the same again
    )


def _note(screen: Screen, wanted: Wanted, step: Step) -> None:
    """Say what readers of the findings must know."""
    findings = step.findings
    if wanted.report_place is not None:
        screen.note(f"the report is in {wanted.report_place}.")
    extra = [name for name in findings.extra if name not in (wanted.label, *wanted.ignore)]
    if extra:
        screen.note(f"columns that the model does not know are ignored: {shorten(extra)}.")
    if step.n_skipped:
        rows, one = count(step.n_skipped, "row"), step.n_skipped == 1
        verbs = ("is", "was") if one else ("are", "were")
        screen.note(
            f"{rows} {verbs[0]} not newer than those of earlier calls, and {verbs[1]} skipped."
        )
    for note in (*step.notes, *findings.doubts):
        screen.note(note)


def write_page(
    place: str,
    checker: Checker,
    table: Table,
    findings: Findings,
    sources: Sequence[str],
    label: str | None = None,
    notices: Sequence[str] = (),
) -> None:
    """Write the report of findings."""
    summary = summarise(
        checker,
        table,
        findings,
        source=", ".join(map(_readable, sources)),
        label=label,
        created=now_here(),
        notices=notices,
    )
    write_report(place, summary)


def _written(columns: dict[str, Any], place: str) -> dict[str, Any]:
    """Return columns as they are written: without texts that a spreadsheet runs, if one may open them."""
    if place.endswith((".csv", ".csv.gz")):
        columns = {
            tame(name): [tame(each) for each in values] if isinstance(values, list) else values
            for name, values in columns.items()
        }
    return typed(columns, blame_kinds())


def _readable(name: str) -> str:
    """Return a file's name as text that can be written; some names are not text."""
    return os.fsencode(name).decode(errors="replace")


def report(screen: Screen, checker: Checker, step: Step, wanted: Wanted) -> None:
    """Print findings in the requested form."""
    findings, form = step.findings, wanted.form
    n_shown = _n_shown(wanted) or max(
        len(findings.incidents) + len(findings.shifts), len(findings.patterns)
    )
    if form == "table":
        if wanted.state_place is None:
            screen.show(*show_findings(findings, n_shown, patterns=wanted.patterns))
        else:
            screen.show(*show_progress(step, n_shown, patterns=wanted.patterns))
        return
    teller = Teller(checker.origin, model_name(wanted.place), findings.threshold)
    shown: Sequence[Incident] = ()
    if form != "events" and (form == "json" or not wanted.patterns):
        shown = gravest(findings, n_shown)
    repeated = None
    if wanted.patterns or not findings.ordered:
        repeated = tuple(each.to_dict() for each in findings.patterns[:n_shown])
    if form == "json":
        screen.write_json(teller.check(findings, shown, repeated, step.n_skipped))
    elif form == "events":
        screen.write_lines([teller.event(each) for each in step.changes])
    elif wanted.patterns:
        _write_patterns(screen, form, repeated or ())
    elif form == "jsonl":
        screen.write_lines(list(map(teller.incident, shown)))
    else:
        screen.write_csv(_CSV_NAMES, list(_rows(teller, shown)))
    screen.note(verdict(findings).plain)


def _write_patterns(screen: Screen, form: CheckFormat, patterns: Sequence[dict[str, Any]]) -> None:
    if form == "jsonl":
        screen.write_lines(patterns)
        return
    rows = [
        {**{name: each[name] for name in _PATTERN_NAMES}, "worst": _say_rows(each["worst"])}
        for each in patterns
    ]
    screen.write_csv(_PATTERN_NAMES, rows)


def _say_rows(examples: list[dict[str, Any]]) -> str:
    return " ".join(str(each["row"]) for each in examples)


def model_name(place: str) -> str:
    """Return the name of a model: that of its file, without endings.

    >>> model_name("models/plant.truism.json")
    'plant'
    """
    return _readable(Path(place).name.removesuffix(".json").removesuffix(".truism"))


def _rows(teller: Teller, incidents: Sequence[Incident]) -> Iterator[dict[str, Any]]:
    """Yield one line for each blamed variable, with its strongest reason."""
    for number, incident in enumerate(incidents, 1):
        plain = msgspec.structs.asdict(teller.incident(incident))
        for blame in plain["blames"]:
            reason = msgspec.structs.asdict(blame.reasons[0])
            own = {name: getattr(blame, name) for name in ("variable", "share", "since", "began")}
            told = {**plain, **reason, **own}
            yield {"incident": number, **{name: told[name] for name in _CSV_NAMES[1:]}}
