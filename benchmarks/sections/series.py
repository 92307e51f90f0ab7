"""Tables in order of time: scores beside averaged peers, and the incidents that people would see."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from statistics import fmean, median

from benchmarks import markdown
from benchmarks.markdown import NOTHING, Section, method_title, pair
from benchmarks.results import Alarms, Averaged, Results, Run
from benchmarks.timed import FAMILIES, GAS, PREFIX, family_of

ROWS_ALONE = ("lookback", 0)


def series(results: Results) -> Section | None:
    """Means over the tables of each family, and table by table what is told."""
    runs = [run for run in results.of("series") if run.outcome.averaged]
    ours = [run for run in runs if run.job.method == "truism" and not _alone(run)]
    if not ours:
        return None
    families = [
        each
        for each in dict.fromkeys((*FAMILIES, GAS, *(family_of(run.job.dataset) for run in ours)))
        if any(family_of(run.job.dataset) == each for run in ours)
    ]
    parts = [
        "## Tables in order of time\n\n"
        "Means over the tables of a family; a line for each method. The default score of a series "
        "counts the rows before a row; peers are averaged exponentially over 1, 5 or 20 rows, whichever "
        "is best in hindsight for the family (in brackets). *Rows alone* is truism with `lookback=0`. "
        "On the gas pipeline, whose anomalies are mostly single rows, a past is forced on.",
        _scores(runs, families),
        "Segments found at one and at 0.2 false incidents per 1,000 normal rows, with the threshold "
        "chosen in hindsight for each table. A false incident is a group of rows above the threshold "
        "(gap 5) that touches no true segment widened by 20 rows; on BATADAL the rows of its seven "
        "attack windows are not counted as normal.",
        _recalls(runs, [each for each in families if each != GAS]),
        "At the default threshold, with the incidents that truism itself tells: the share of normal rows "
        "inside incidents that are not lasting changes; false incidents and false lasting changes per "
        "1,000 normal rows; the share of the segments that either of them overlaps, and the median of "
        "the rows until then.",
        _told(ours, [each for each in families if each != GAS]),
        markdown.folded("Table by table", _by_table(ours)),
    ]
    return Section("\n\n".join(parts))


def _alone(run: Run) -> bool:
    return ROWS_ALONE in run.job.settings


def _lines(runs: Iterable[Run]) -> dict[str, list[Run]]:
    """Return the runs of each line of a table, by its title."""
    found: dict[str, list[Run]] = {}
    for run in runs:
        title = "rows alone" if _alone(run) else method_title(run.job.method)
        found.setdefault(title, []).append(run)
    return found


def _scores(runs: Sequence[Run], families: Sequence[str]) -> str:
    return _table(runs, families, lambda each: pair(each.auc, each.pauc))


def _recalls(runs: Sequence[Run], families: Sequence[str]) -> str:
    return _table(
        runs, families, lambda each: f"{each.recall:.2f}/{each.strict_recall:.2f}", mean=True
    )


def _table(
    runs: Sequence[Run],
    families: Sequence[str],
    cell: Callable[[Averaged], str],
    *,
    mean: bool = False,
) -> str:
    rows = []
    for title, own in _lines(runs).items():
        best = [best_of(_of_family(own, family)) for family in families]
        known = [each for each in best if each is not None]
        cells = [NOTHING if each is None else cell(each) + _span(each) for each in best]
        if mean:
            cells.append(cell(_mean(known)) if len(known) == len(families) else NOTHING)
        rows.append((title, *cells))
    return markdown.table(("method", *families, *(("mean",) if mean else ())), rows)


def _of_family(runs: Iterable[Run], family: str) -> list[Run]:
    return [run for run in runs if family_of(run.job.dataset) == family]


def best_of(runs: Sequence[Run]) -> Averaged | None:
    """Return the means over the tables of a family, for the span with the highest AUC."""
    by_span: dict[int, list[Averaged]] = {}
    for run in runs:
        for each in run.outcome.averaged:
            by_span.setdefault(each.span, []).append(each)
    return max(map(_mean, by_span.values()), key=lambda each: each.auc, default=None)


def _mean(parts: Sequence[Averaged]) -> Averaged:
    return Averaged(
        parts[0].span if len({each.span for each in parts}) == 1 else 1,
        *(
            fmean(getattr(each, name) for each in parts)
            for name in ("auc", "pauc", "recall", "strict_recall")
        ),
    )


def _span(each: Averaged) -> str:
    return "" if each.span == 1 else f" ({each.span})"


_TOLD = (
    "normal rows inside",
    "false incidents",
    "false lasting changes",
    "segments found",
    "rows until then",
)


def _told(ours: Sequence[Run], families: Sequence[str]) -> str:
    rows, means = [], []
    for family in families:
        alarms = [_alarms(run) for run in _of_family(ours, family)]
        delays = [each.delay for each in alarms if each.delay is not None]
        mean = Alarms(
            *(
                fmean(getattr(each, name) for each in alarms)
                for name in ("inside", "false_incidents", "false_shifts", "found")
            ),
            delay=median(delays) if delays else None,
        )
        means.append(mean)
        rows.append((family, *_cells(mean)))
    false = [each.false_incidents + each.false_shifts for each in means]
    rows.append(
        (
            "**mean of the families**",
            "",
            f"{fmean(each.false_incidents for each in means):.2f}",
            f"{fmean(each.false_shifts for each in means):.2f} (together {fmean(false):.2f}, "
            f"at worst {max(false):.2f})",
            f"{fmean(each.found for each in means):.2f}",
            "",
        )
    )
    return markdown.table(("family", *_TOLD), rows)


def _by_table(ours: Sequence[Run]) -> str:
    rows = [
        (
            run.job.dataset.removeprefix(PREFIX),
            pair(run.outcome.averaged[0].auc, run.outcome.averaged[0].pauc),
            *_cells(_alarms(run)),
        )
        for run in ours
    ]
    return markdown.table(("table", "AUC/pAUC", *_TOLD), rows)


def _alarms(run: Run) -> Alarms:
    assert run.outcome.alarms is not None
    return run.outcome.alarms


def _cells(each: Alarms) -> tuple[str, ...]:
    return (
        f"{each.inside:.1%}",
        f"{each.false_incidents:.2f}",
        f"{each.false_shifts:.2f}",
        f"{each.found:.2f}",
        NOTHING if each.delay is None else f"{each.delay:.0f}",
    )
