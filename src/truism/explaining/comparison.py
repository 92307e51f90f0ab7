"""Two models on the same table: which incidents each reports, row by row and day by day.

Incidents of the two models are the same one if they overlap in time, that is if they share a row or one
lies within the other. An incident of one model may overlap several of the other; these are kept together.
Finding reasons takes longer than scoring, so only the worst incidents that one model alone reports get
variables to blame.
"""

import html
from collections import Counter
from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.errors import SchemaError
from truism.explaining.advantage import Advantage, Judged, weigh_up
from truism.explaining.checker import Checker
from truism.explaining.incidents import Incidents
from truism.explaining.moments import say_moment
from truism.incidents.delays import usual_gap
from truism.incidents.outlines import Extent
from truism.incidents.rates import group_rows
from truism.model.comparison import ModelComparison, compare_models
from truism.scoring.alignment import time_column
from truism.table.cells.timelines import wall_clock
from truism.table.columns import Column, Table
from truism.table.labels import read_labels

N_BLAMED = 5  # variables that are named for an incident
N_EXPLAINED = 20  # incidents of each model alone for which variables are named


class Blamed(msgspec.Struct, frozen=True):
    """A variable, and its share of the blame for an incident."""

    variable: str
    share: float


class Sighting(msgspec.Struct, frozen=True):
    """An incident as one model sees it; see `truism.explaining.incidents.Incident`.

    Parameters
    ----------
    start, end, n_rows, peak, score, started, ended
        As in an incident, times as text.
    blamed
        The variables blamed most; None where they were not looked for.

    """

    start: int
    end: int
    n_rows: int
    peak: int
    score: float
    started: str | None
    ended: str | None
    blamed: tuple[Blamed, ...] | None = None


class Shared(msgspec.Struct, frozen=True):
    """Incidents of both models that overlap."""

    old: tuple[Sighting, ...]
    new: tuple[Sighting, ...]


class Day(msgspec.Struct, frozen=True):
    """One day of a table: its rows, how many each model reports, and incidents that begin on it."""

    date: str
    n_rows: int
    n_old: int
    n_new: int
    n_incidents_old: int
    n_incidents_new: int


class TableComparison(msgspec.Struct, frozen=True):
    """What two models report in one table.

    Parameters
    ----------
    n_rows
        The rows of the table.
    n_old, n_new, n_both
        Rows that the old model, the new model and both of them report.
    only_old, only_new
        Incidents that overlap none of the other model, worst first.
    both
        Incidents that both report, worst first.
    days
        The days of the table, if it has dates.
    advantage
        Which model is better, if rows are labelled.
    extra
        Columns that neither model knows.

    """

    n_rows: int
    n_old: int
    n_new: int
    n_both: int
    only_old: tuple[Sighting, ...]
    only_new: tuple[Sighting, ...]
    both: tuple[Shared, ...]
    days: tuple[Day, ...] = ()
    advantage: Advantage | None = None
    extra: tuple[str, ...] = ()

    @property
    def n_incidents(self) -> tuple[int, int]:
        """How many incidents the old and the new model report."""
        return (
            len(self.only_old) + sum(len(each.old) for each in self.both),
            len(self.only_new) + sum(len(each.new) for each in self.both),
        )


class Comparison(msgspec.Struct, frozen=True):
    """What differs between two models and, if there is a table, between what they report in it."""

    models: ModelComparison
    table: TableComparison | None = None

    @property
    def same(self) -> bool:
        """Whether the models are the same; then so is what they report."""
        return self.models.same

    def __repr__(self) -> str:
        sides = f"{self.models.old.n_rules:,} and {self.models.new.n_rules:,} rules"
        return f"<Comparison of {sides}: {'the same' if self.same else 'they differ'}>"

    def __str__(self) -> str:
        from truism.report.contrast import to_text
        from truism.report.differences import describe

        return to_text(describe(self, most=10))

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


def compare(
    old: Checker, new: Checker, table: Table | None = None, label: str | None = None
) -> Comparison:
    """Compare two models, and what they report in a table.

    Parameters
    ----------
    old, new
        The models, ready to check.
    table
        Rows to check; they need the columns of both models.
    label
        A column that marks true anomalies.

    Returns
    -------
    Comparison

    """
    on_table = None if table is None else compare_on(old, new, table, label)
    return Comparison(compare_models(old.model, new.model), on_table)


class _Seen(msgspec.Struct, frozen=True, eq=False):
    """What one model sees in a table."""

    checker: Checker
    table: Table
    judged: Judged
    sightings: tuple[Sighting, ...]
    explained_by: dict[tuple[int, int], tuple[Incidents, int]]


def compare_on(
    old: Checker, new: Checker, table: Table, label: str | None = None
) -> TableComparison:
    """Compare what two models report in a table."""
    truth = None if label is None else read_labels(table, label)
    one, other = _see(old, table, "old"), _see(new, table, "new")
    only_old, only_new, both = pair_up(one.sightings, other.sightings)
    then, now = one.judged.reported, other.judged.reported
    advantage = None
    if label is not None and truth is not None:
        gap = max(_label_gap(each, table) for each in (old, new))
        segments = group_rows(np.flatnonzero(truth), gap)
        advantage = weigh_up(label, segments, np.flatnonzero(~truth), one.judged, other.judged)
    unknown = {*new.extra(other.table)} - {label}
    return TableComparison(
        table.n_rows,
        int(then.sum()),
        int(now.sum()),
        int((then & now).sum()),
        _blame(one, only_old),
        _blame(other, only_new),
        tuple(both),
        _days(_times(old, new, table), one, other),
        advantage,
        tuple(name for name in old.extra(one.table) if name in unknown),
    )


def _see(checker: Checker, table: Table, which: str) -> _Seen:
    try:
        prepared = checker.prepare(table)
        findings = checker.find(prepared)
    except SchemaError as problem:
        raise SchemaError(
            f"The {which} model cannot be used on the table. {problem.message}",
            problem.hint,
            # A comparison needs the columns of both models.
            see=tuple(name for name in problem.see if name != "allow_missing"),
        ) from None
    reported = findings.excess > checker.model.threshold
    times = time_column(checker.model.schema, prepared)
    explained_by, sightings = {}, []
    for events in (findings.incidents, findings.shifts):
        for position, extent in enumerate(events.outlines.extents()):
            sighting = _sighting(extent, times)
            sightings.append(sighting)
            explained_by[sighting.start, sighting.end] = events, position
    in_order = tuple(sorted(sightings, key=lambda each: (each.start, each.end)))
    return _Seen(checker, prepared, Judged(findings.scores, reported), in_order, explained_by)


def _sighting(extent: Extent, times: Column | None) -> Sighting:
    started, ended = (
        None if times is None else times.cell(row) for row in (extent.first, extent.last)
    )
    return Sighting(
        extent.first,
        extent.last,
        extent.n_rows,
        extent.peak,
        extent.score,
        say_moment(started),
        say_moment(ended),
    )


def _blame(seen: _Seen, sightings: Sequence[Sighting]) -> tuple[Sighting, ...]:
    """Name the variables to blame for the first of some incidents."""
    found = []
    for each in sightings[:N_EXPLAINED]:
        events, position = seen.explained_by[each.start, each.end]
        blames = events[position].blames[:N_BLAMED]
        blamed = tuple(Blamed(of.variable, of.share) for of in blames)
        found.append(msgspec.structs.replace(each, blamed=blamed))
    return (*found, *sightings[N_EXPLAINED:])


def pair_up(
    old: Sequence[Sighting], new: Sequence[Sighting]
) -> tuple[list[Sighting], list[Sighting], list[Shared]]:
    """Return the incidents that only one model has, and those of both that overlap; worst first.

    Incidents that belong together follow one another.
    """
    spans = [(each.start, each.end, side, each) for side in (0, 1) for each in (old, new)[side]]
    groups: list[tuple[list[Sighting], list[Sighting]]] = []
    reached = -1
    for start, end, side, each in sorted(spans, key=lambda span: span[:3]):
        if start > reached:
            groups.append(([], []))
        groups[-1][side].append(each)
        reached = max(reached, end)

    def worst(some: Sequence[Sighting]) -> tuple[float, int]:
        return -max(each.score for each in some), some[0].start

    only_old = [olds for olds, news in groups if not news]
    only_new = [news for olds, news in groups if not olds]
    both = [Shared(tuple(olds), tuple(news)) for olds, news in groups if olds and news]
    return (
        [each for some in sorted(only_old, key=worst) for each in some],
        [each for some in sorted(only_new, key=worst) for each in some],
        sorted(both, key=lambda each: worst([*each.old, *each.new])),
    )


def _times(old: Checker, new: Checker, table: Table) -> Column | None:
    """Return the column of dates that either model knows."""
    for checker in (old, new):
        found = time_column(checker.model.schema, table)
        if found is not None and found.values.dtype.kind == "M":
            return found
    return None


def _label_gap(checker: Checker, table: Table) -> int:
    """Return how many normal rows may lie within a labelled segment; none where rows have no time."""
    if time_column(checker.model.schema, table) is None:
        return 0
    return usual_gap(checker.model.schema, table)


def _days(times: Column | None, old: _Seen, new: _Seen) -> tuple[Day, ...]:
    if times is None:
        return ()
    dates = local_dates(times)
    starts = [Counter(str(dates[each.start]) for each in seen.sightings) for seen in (old, new)]
    known = ~np.isnat(dates)
    days, at = np.unique(dates[known], return_inverse=True)
    reported = [
        np.bincount(at, seen.judged.reported[known], len(days)).astype(np.int64).tolist()
        for seen in (old, new)
    ]
    rows = np.bincount(at, minlength=len(days)).tolist()
    return tuple(
        Day(str(day), rows[i], reported[0][i], reported[1][i], *(each[str(day)] for each in starts))
        for i, day in enumerate(days)
    )


def local_dates(times: Column) -> NDArray[np.datetime64]:
    """Return the date of each row, in the zone in which its time is shown; NaT where it is missing."""
    return wall_clock(times).astype("datetime64[D]")
