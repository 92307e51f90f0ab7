"""What two models report in one table, in words: sentences, and sections of incidents and days."""

from collections.abc import Iterable

from truism.explaining.advantage import MIN_SEGMENTS, Advantage, Measure, Verdict
from truism.explaining.comparison import Shared, Sighting, TableComparison
from truism.model.wording import count, percent
from truism.report.sections import Section, section

N_BLAMED = 3
_VERDICTS: dict[Verdict, str] = {
    "better": "new better",
    "worse": "old better",
    "same": "same",
    "chance": "chance",
    "too few": "too few",
}


def say_table(table: TableComparison) -> Iterable[str]:
    """Say which model is better, and what they report."""
    if table.advantage is not None:
        yield say_advantage(table.advantage)
    then, now = table.n_incidents
    if not then and not now:
        yield f"Neither model reports any of {count(table.n_rows, 'row')}."
        return
    yield (
        f"Of {count(table.n_rows, 'row')} the old model reports {table.n_old:,} in "
        f"{count(then, 'incident')}, the new one {table.n_new:,} in {count(now, 'incident')}; "
        f"{len(table.only_old):,} are only the old model's, {len(table.only_new):,} only the new "
        f"one's."
    )


def say_advantage(told: Advantage) -> str:
    """Say which model is better, by how much, and whether that may be chance."""
    clear = [_say_measure(*each) for each in _named(told) if each[1].verdict in ("better", "worse")]
    auc = f"AUC {told.auc.new:.3f} instead of {told.auc.old:.3f}"
    match told.verdict:
        case "better":
            return f"The new model is better: {'; '.join(clear)}."
        case "worse":
            return f"The old model is better: {'; '.join(clear)}."
        case "mixed":
            return f"Neither model is better in everything: {'; '.join(clear)}."
        case "same":
            return f"By the labels both models are equally good: AUC {told.auc.new:.3f}."
        case "chance":
            return f"No difference by the labels is clearer than chance: {auc}."
    needed = f"{count(told.n_segments, 'labelled segment')}, {MIN_SEGMENTS} are needed"
    return f"There are too few labels to tell which model is better ({needed}): {auc}."


def _named(told: Advantage) -> list[tuple[str, Measure, float]]:
    """Return the measures with their names and the factor by which they are printed."""
    return [
        ("AUC", told.auc, 1.0),
        ("segments found (%)", told.found, 100.0),
        ("false alarms (%)", told.false_alarms, 100.0),
    ]


def _say_measure(name: str, measure: Measure, factor: float) -> str:
    old, new, _, interval = _cells(measure, factor)
    return f"{name} {old} with the old, {new} with the new one (95 % interval {interval})"


def _cells(measure: Measure, factor: float) -> tuple[str, str, str, str]:
    """Print a measure of both models, the difference and its interval."""
    digits = 3 if factor == 1.0 else 1
    old, new = (f"{factor * value:.{digits}f}" for value in (measure.old, measure.new))
    low, high = measure.low, measure.high
    interval = "–"
    if low is not None and high is not None:
        interval = f"{factor * low:+.{digits}f} to {factor * high:+.{digits}f}"
    return old, new, f"{factor * measure.difference:+.{digits}f}", interval


def table_sections(table: TableComparison, most: int) -> list[Section]:
    """Return how the reports differ, with the first rows of each section."""
    then, now = table.n_incidents
    reported = [
        ("rows reported", f"{table.n_old:,}", f"{table.n_new:,}"),
        ("share of rows", percent(table.n_old / table.n_rows), percent(table.n_new / table.n_rows)),
        ("incidents", f"{then:,}", f"{now:,}"),
    ]
    if table.days:
        days = len(table.days)
        reported += [
            ("rows per day", f"{table.n_old / days:.3g}", f"{table.n_new / days:.3g}"),
            ("incidents per day", f"{then / days:.3g}", f"{now / days:.3g}"),
        ]
    note = f"{count(table.n_both, 'row')} of {table.n_rows:,} reported by both"
    names = ("when", "rows", "peak score", "blamed")
    both = ("when", "old rows", "new rows", "old peak", "new peak")
    return [
        *section("Reports", note, ("", "old", "new"), reported, 0),
        *_label_sections(table),
        *section(
            "Incidents that only the old model reports",
            "",
            names,
            [_row(e) for e in table.only_old],
            most,
        ),
        *section(
            "Incidents that only the new model reports",
            "",
            names,
            [_row(e) for e in table.only_new],
            most,
        ),
        *section(
            "Incidents that both models report",
            "",
            both,
            [_shared(each) for each in table.both],
            most,
        ),
        *_day_sections(table, most),
    ]


def _row(seen: Sighting) -> tuple[str, ...]:
    blamed = "" if seen.blamed is None else ", ".join(e.variable for e in seen.blamed[:N_BLAMED])
    return (
        _when(seen.start, seen.end, seen.started),
        f"{seen.n_rows:,}",
        f"{seen.score:.3g}",
        blamed,
    )


def _when(start: int, end: int, started: str | None) -> str:
    where = f"row {start}" if start == end else f"rows {start}–{end}"
    return where if started is None else f"{where} · {started}"


def _shared(each: Shared) -> tuple[str, ...]:
    first = min((*each.old, *each.new), key=lambda seen: seen.start)
    end = max(seen.end for seen in (*each.old, *each.new))
    sides = (each.old, each.new)
    return (
        _when(first.start, end, first.started),
        *(f"{sum(seen.n_rows for seen in side):,}" for side in sides),
        *(f"{max(seen.score for seen in side):.3g}" for side in sides),
    )


def _day_sections(table: TableComparison, most: int) -> list[Section]:
    """Return the days, those first on which the models differ most."""
    worst = sorted(table.days, key=lambda day: (-abs(day.n_old - day.n_new), day.date))
    shown = sorted(worst[:most] if most else worst, key=lambda day: day.date)
    rows = tuple(
        (
            day.date,
            *(f"{n:,}" for n in (day.n_rows, day.n_old, day.n_new)),
            *(f"{n:,}" for n in (day.n_incidents_old, day.n_incidents_new)),
        )
        for day in shown
    )
    names = ("day", "rows", "old rows", "new rows", "old incidents", "new incidents")
    note = "those on which the models differ most" if len(rows) < len(table.days) else ""
    return [Section("Days", note, names, rows, len(table.days))] if rows else []


def _label_sections(table: TableComparison) -> list[Section]:
    told = table.advantage
    if told is None:
        return []
    rows = tuple(
        (name, *_cells(measure, factor), _VERDICTS[measure.verdict])
        for name, measure, factor in _named(told)
    )
    note = (
        f"{count(told.n_labelled, 'labelled row')} in {count(told.n_segments, 'segment')}, "
        f"column {told.label}"
    )
    names = ("", "old", "new", "difference", "95 % interval", "")
    return [Section("Labels", note, names, rows, len(rows))]
