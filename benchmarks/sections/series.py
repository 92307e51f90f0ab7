"""Tables in order of time: what a person gets who lives with the alarms, and peers beside."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean

from scipy.stats import poisson

from benchmarks import markdown, plants
from benchmarks.alarms import AFTER, BEFORE, DEADLINE, GAP, RATE, Figures, figures, mean_of
from benchmarks.faults import AMONG, BEGIN, FAULTY_ROWS, SIZE, THEN, WITHIN
from benchmarks.markdown import NOTHING, Section, method_title, pair
from benchmarks.results import FAULT, Alarms, Averaged, Interpretation, Results, Run
from benchmarks.timed import FAMILIES, PREFIX, family_of

PROMISE = "max_false_incidents"
KEPT, CHANGED = 2, 3  # times the promise, and where the process is not what it was
SEVERAL, LIMIT = 10, 0.95  # expected events below which the promise is widened to a Poisson limit

_DEFAULT = (
    "What a person gets who lives with the alarms of a series, with default settings: of a water "
    "network (BATADAL), application servers (ASD), a machine tool (causRCA), a drinking water plant "
    "(GECCO), a water testbed (SKAB) and server machines (SMD). A *segment* "
    "is a run of rows that are labelled anomalous, on BATADAL also those of its seven attacks "
    "that the labels leave out. Events are what `incidents` lists: incidents, and lasting "
    f"changes. A segment is **told** if an event *begins* in its window: from {BEFORE} rows before "
    f"it to {DEADLINE} rows after its beginning (of a shorter segment, to {AFTER} rows after its "
    "end), never in the next segment's window or another series. One that began earlier and is "
    "still open tells nothing new. All segments and rows of a family are taken together; AUC and "
    "pAUC are means over its tables; the last line is the mean over families."
)
_MEANINGS = (
    (
        "late",
        f"segments whose first event begins after the window, but before {AFTER} rows past the end",
    ),
    (
        "chance",
        "share of the segments that events as frequent as the false ones would tell by accident",
    ),
    ("repeats", "further events that begin in a told segment, for each told segment"),
    (
        "false, lasting",
        "incidents, and lasting changes, that begin elsewhere, per 1,000 normal rows",
    ),
    ("open", "share of the normal rows inside incidents (not in lasting changes)"),
    ("stays", "share of a told segment, from its first event on, in which any event is open"),
    ("delay", "rows from the beginning of a told segment to its first event, median"),
    (
        "acausal",
        "of up to three events of a table, the share that is not there, with the same start, when "
        "only the rows up to that start are checked",
    ),
    (
        "first / three",
        "share of the told segments whose first event blames a true variable first, or among the "
        "first three (a change counts as its variable); *of all*: of all segments whose true "
        "variables are known, where one that is not told is a miss",
    ),
)
_COLUMNS = (
    "segments",
    "told",
    "late",
    "chance",
    "repeats",
    "false",
    "lasting",
    "open",
    "stays",
    "delay",
    "acausal",
    "first / three",
    "of all",
    "AUC/pAUC",
)


def series(results: Results) -> Section | None:
    """Return what is told and what is false, with peers, promised rates and faulty sensors."""
    runs = [run for run in results.of("series") if run.outcome.averaged or run.outcome.alarms]
    default = [run for run in runs if run.outcome.alarms and not _promised(run)]
    if not default:
        return None
    families = _in_order({family_of(run.job.dataset) for run in default})
    parts = [
        "## Tables in order of time",
        _DEFAULT,
        "\n".join(f"- *{name}*: {text}" for name, text in _MEANINGS),
        _table("family", [(family, _of(default, family)) for family in families], mean=True),
        *_peers([run for run in runs if not _promised(run)], families),
        *_promises([run for run in runs if _promised(run)]),
        *_faults([each for each in results.interpretations if each.experiment == "series"]),
        markdown.folded(
            "Table by table",
            _table("table", [(run.job.dataset.removeprefix(PREFIX), [run]) for run in default]),
        ),
    ]
    return Section("\n\n".join(parts))


def _promised(run: Run) -> str:
    return str(dict(run.job.settings).get(PROMISE, ""))


def _in_order(names: Iterable[str]) -> list[str]:
    order = (*FAMILIES, *plants.TITLES)
    return sorted(names, key=lambda name: (order.index(name) if name in order else -1, name))


def _of(runs: Iterable[Run], family: str) -> list[Run]:
    return [run for run in runs if family_of(run.job.dataset) == family]


def _alarms(runs: Iterable[Run]) -> list[Alarms]:
    return [run.outcome.alarms for run in runs if run.outcome.alarms is not None]


def _table(title: str, groups: Sequence[tuple[str, Sequence[Run]]], *, mean: bool = False) -> str:
    measured = [
        (name, figures(_alarms(runs)), _areas([_area(run) for run in runs]))
        for name, runs in groups
    ]
    if mean:
        _, parts, areas = zip(*measured, strict=True)
        measured.append(("**mean**", mean_of(parts), _areas(areas)))
    return markdown.table(
        (title, *_COLUMNS), [(name, *_cells(part), pair(*area)) for name, part, area in measured]
    )


def _area(run: Run) -> tuple[float, float]:
    return run.outcome.auc or 0.0, run.outcome.pauc or 0.0


def _areas(areas: Sequence[tuple[float, float]]) -> tuple[float, float]:
    return fmean(auc for auc, _ in areas), fmean(pauc for _, pauc in areas)


def _cells(part: Figures) -> tuple[str, ...]:
    def text(value: float | None, form: str = ".2f") -> str:
        return NOTHING if value is None else format(value, form)

    return (
        text(part.segments, ".4g"),
        text(part.told),
        text(part.late),
        text(part.chance),
        text(part.repeats),
        text(part.false),
        text(part.lasting),
        text(part.open, ".3f"),
        text(part.stays),
        text(part.delay, ".3g"),
        text(part.acausal),
        f"{text(part.first)} / {text(part.three)}",
        f"{text(part.first_all)} / {text(part.three_all)}",
    )


def _peers(runs: Sequence[Run], families: Sequence[str]) -> tuple[str, ...]:
    of_method: dict[str, list[Run]] = {}
    for run in runs:
        of_method.setdefault(run.job.method, []).append(run)
    if len(of_method) < 2:
        return ()
    rows = []
    for method, own in of_method.items():
        best = [_best(_of(own, family)) for family in families]
        known = [each for each in best if each is not None]
        complete = len(known) == len(families)
        mean = f"{fmean(_share(each) for each in known):.2f}" if complete else NOTHING
        areas = [_areas([(each.auc, each.pauc) for each in spans]) for spans in known]
        cells = [NOTHING if each is None else f"{_share(each):.2f}{_span(each)}" for each in best]
        rows.append(
            (method_title(method), *cells, mean, pair(*_areas(areas)) if complete else NOTHING)
        )
    text = (
        "### Beside peers\n\nPeers have scores, and no events, and read a missing value as the "
        "mean of training. Their scores are averaged exponentially over 1, 5 or 20 rows, "
        "whichever tells most segments of the family (the span in brackets); rows above a "
        f"threshold form groups (at most {GAP} other rows between two of one group), and a group "
        f"is an event. The threshold is chosen in hindsight for each table, with at most {RATE:g} "
        "false events per 1,000 normal rows: the one that tells most segments. Nobody can do that "
        "in practice. In this table the program's threshold is chosen likewise, on the excess, "
        "which is what it compares with its own. Each cell is the share of the segments told; "
        "AUC/pAUC of the averaged scores are means over families."
    )
    return text, markdown.table(("method", *families, "mean told", "AUC/pAUC"), rows)


def _best(runs: Sequence[Run]) -> list[Averaged] | None:
    """Return the scores of a family's tables, averaged over the span that tells most."""
    by_span: dict[int, list[Averaged]] = {}
    for run in runs:
        for each in run.outcome.averaged:
            by_span.setdefault(each.span, []).append(each)
    return max(by_span.values(), key=_share, default=None)


def _share(parts: Sequence[Averaged]) -> float:
    return sum(each.n_told for each in parts) / sum(each.n_segments for each in parts)


def _span(parts: Sequence[Averaged]) -> str:
    return "" if parts[0].span == 1 else f" ({parts[0].span})"


def _promises(runs: Sequence[Run]) -> tuple[str, ...]:
    if not runs:
        return ()
    promises = list(dict.fromkeys(_promised(run) for run in runs))
    rows = []
    for family in _in_order({family_of(run.job.dataset) for run in runs}):
        own = _of(runs, family)
        of_promise = [_alarms(run for run in own if _promised(run) == each) for each in promises]
        cells = [
            _kept(figures(parts), float(promise.partition("/")[0]), parts, family)
            for promise, parts in zip(promises, of_promise, strict=True)
        ]
        rows.append((plants.TITLES.get(family, family), f"{_n_normal(of_promise[0]):,}", *cells))
    text = (
        "### Promised rates\n\nWhat comes of `max_false_incidents`: false incidents and lasting "
        "changes together, per 1,000 normal rows, and the share of the segments told. The plant "
        f"is the simulated one: {plants.LEARNED_ROWS:,} normal rows to learn from, "
        f"{plants.NORMAL_ROWS:,} others to check, in which nothing is to be told; *re-tuned* from "
        "their first row on, or with noise of 1, 1.5 or 2 times the sensor's own added. In bold: "
        f"more than {KEPT} times what was promised, and {CHANGED} times where the plant is not as "
        f"it was; below {SEVERAL} expected events, more than the {LIMIT:.0%} limit of a Poisson "
        "distribution with that mean."
    )
    header = ("", "normal rows", *(f"promised {each.partition('/')[0]}" for each in promises))
    return text, markdown.table(header, rows)


def _n_normal(parts: Sequence[Alarms]) -> int:
    return sum(part.n_normal for part in parts)


def _kept(part: Figures, promised: float, parts: Sequence[Alarms], family: str) -> str:
    is_changed = family in plants.TITLES and family != "plant"
    expected = promised * _n_normal(parts) / 1000
    most = (CHANGED if is_changed else KEPT) * expected
    if expected < SEVERAL:
        most = float(poisson.ppf(LIMIT, most))
    rate = part.false + part.lasting
    text = f"{rate:.2f}"
    if rate * _n_normal(parts) / 1000 > most + 1e-9:
        text = f"**{text}**"
    return text if part.told is None else f"{text}, {part.told:.2f} told"


def _faults(faults: Sequence[Interpretation]) -> tuple[str, ...]:
    if not faults:
        return ()
    rows = []
    for each in faults:
        told = [f.target_rank is not None and f.target_rank <= AMONG for f in each.findings]
        n_events = [finding.n_reported for finding in each.findings]
        cells = (f"{sum(told)} of {len(told)}", " ".join(map(str, n_events)))
        rows.append((each.table.removeprefix(FAULT), *cells))
    text = (
        "### Sensors that fail\n\nLearned once, with `ordered=True`, from the same rows of the "
        f"simulated plant; then runs of {FAULTY_ROWS:,} normal rows with other seeds, in each of "
        f"which one sensor, drawn at random, reads wrong values from row {BEGIN:,} on: too high or "
        f"too low by {SIZE} of its standard deviations in training where nothing else is said. *As "
        f"much again* and *back* begin at row {THEN:,}. Told: an event that blames the sensor "
        f"among its first {AMONG} variables begins within {WITHIN} rows of the fault (of its first "
        "time, where it returns), for a ramp before its top. And how many events each run has in "
        "all."
    )
    return text, markdown.table(("fault", "told", "events in each run"), rows)
