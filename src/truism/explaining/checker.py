"""A model at work on tables: every face uses a `Checker`, and none of them computes anything."""

from collections.abc import Collection, Iterator, Mapping, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.errors import ParameterError
from truism.explaining.explanations import Explanations
from truism.explaining.findings import Findings, find_coarser
from truism.explaining.incidents import Incidents, Origin
from truism.explaining.patterns import Patterns
from truism.incidents.delays import Delays, limits_of
from truism.incidents.events import ENDED, Event
from truism.incidents.following import Following, excess_of, find_events
from truism.incidents.keeping import Clock, Latest, keep, refuse_other_zone
from truism.incidents.outlines import find_rows
from truism.incidents.rates import fit_tail
from truism.model.model import Model
from truism.model.provenance import Calibrated, Threshold
from truism.model.series import PER
from truism.scoring.alignment import align, refuse_text_for_numbers, time_column
from truism.scoring.scorer import Scorer
from truism.scoring.series import last_rows, rows_by_series, seconds_in, times_in
from truism.scoring.thresholds import adopt, calibrate, expecting, series_of
from truism.table.columns import Table
from truism.table.deltas import Run, delta_name, last_values, with_deltas
from truism.table.fingerprint import fingerprint

DEFAULT_RATE = 0.01  # share of normal rows that may be reported


class Checker:
    """A model ready to check tables that have the training table's columns.

    Parameters
    ----------
    model
        The model.
    n_jobs
        Number of threads; results do not depend on it.
    scorer
        A scorer of the same model, if there is one; its threshold may differ.
    origin
        Where incidents come from, if not from this very model.

    Examples
    --------
    >>> from truism.learning.training import train
    >>> from truism.model.settings import Settings
    >>> from truism.table.frames import as_table
    >>> normal = as_table({"pump": ["on", "off"] * 50, "flow": [2.5, 0.0] * 50})
    >>> checker = Checker(train(normal, Settings(min_support=0.1)))
    >>> table = checker.prepare(as_table({"pump": ["on", "on"], "flow": [2.5, 0.0]}))
    >>> checker.find(table).incidents[0].blames[0].variable
    'pump'

    """

    def __init__(
        self,
        model: Model,
        n_jobs: int = 1,
        scorer: Scorer | None = None,
        origin: Origin | None = None,
    ) -> None:
        self.scorer = Scorer(model) if scorer is None else scorer
        self.model = model
        self.n_jobs = n_jobs
        self._origin = origin

    @property
    def origin(self) -> Origin:
        """Where incidents come from."""
        if self._origin is not None:
            return self._origin
        return Origin(self.model.id, None, tuple(each.rule_id for each in self.model.disabled))

    def named(self, source: str | None) -> "Checker":
        """Return a checker of something that has a name."""
        origin = msgspec.structs.replace(self.origin, source=source)
        return Checker(self.model, self.n_jobs, self.scorer, origin)

    def at(self, limit: Threshold) -> "Checker":
        """Return a checker with another threshold, which shares the scorer."""
        model = msgspec.structs.replace(self.model, limit=limit)
        return Checker(model, self.n_jobs, self.scorer, self._origin)

    def adopting(self, other: Model) -> "Checker":
        """Return a checker with the threshold and the expectations of a calibrated model."""
        return Checker(adopt(self.model, other), self.n_jobs, self.scorer, self._origin)

    def learned_from(self, table: Table) -> bool:
        """Return whether a prepared table holds the rows that the model was learned from."""
        ordered = self.model.series is not None or bool(self.model.derived)
        found = fingerprint(table, ordered=ordered)
        return found == self.model.provenance.fingerprint

    def timed(self, time: str | None) -> "Checker":
        """Return a checker that takes another column to say when."""
        schema = msgspec.structs.replace(self.model.schema, time=time)
        model = msgspec.structs.replace(self.model, schema=schema)
        return Checker(model, self.n_jobs, Scorer(model, self.scorer.muted), self._origin)

    @property
    def n_columns(self) -> int:
        """How many columns of a table the model needs."""
        return len(self.needed)

    def absent(self, table: Table) -> tuple[str, ...]:
        """Return the columns that the model needs and a table lacks."""
        return tuple(name for name in self.needed if name not in table.names)

    def without(self, columns: Sequence[str]) -> "Checker":
        """Return a checker that does without some columns: what needs them is unknown."""
        changes = (delta_name(name) for name in columns if name in self.model.derived)
        reduced = self.model.without({*columns, *changes})
        return Checker(reduced, self.n_jobs, Scorer(reduced, self.scorer.muted), self.origin)

    def muting(self, variables: Sequence[str]) -> "Checker":
        """Return a checker for which evidence against some variables does not count."""
        changes = (delta_name(name) for name in variables if name in self.model.derived)
        scorer = Scorer(self.model, {*variables, *changes})
        return Checker(self.model, self.n_jobs, scorer, self._origin)

    @property
    def needed(self) -> tuple[str, ...]:
        """The columns of a table that the model needs."""
        source_of = {delta_name(name): name for name in self.model.derived}
        return tuple(dict.fromkeys(source_of.get(name, name) for name in self.model.schema.names))

    def prepare(self, table: Table, before: Following | None = None) -> Table:
        """Add the variables that the model derives from others, and refuse a table that does not fit.

        Parameters
        ----------
        table
            A table.
        before
            What was kept of the tables before it, if it goes on where they ended.

        """
        refuse_text_for_numbers(self.model.schema, table)
        if not self.model.derived:
            return table
        return with_deltas(table, self.model.derived, list(self._runs(table, before)))

    def _runs(self, table: Table, before: Following | None) -> Iterator[Run]:
        """Yield rows that follow each other; where a past counts, a gap in time divides them."""
        known = {} if before is None else before.previous
        if self.model.memory is None:
            for name, rows in self.series_in(table).items():
                yield Run(rows, known.get(name, {}))
            return
        timeline = self.scorer.lay_out(table, {} if before is None else before.scoring)
        for name, rows in timeline.series(slice(0, table.n_rows)):
            for own in timeline.divided(rows):
                anew = timeline.breaks[own[0]]
                yield Run(own, {} if anew else known.get(name, {}))

    def series_in(self, table: Table) -> dict[str, NDArray[np.int64]]:
        """Return the rows of each series in a table."""
        by = None if self.model.series is None else self.model.series.by
        return rows_by_series(by, table)

    def clock(self, table: Table, before: Mapping[str, Latest] | None = None) -> Clock:
        """Return the times of a table's rows; of those before it, the last of each series."""
        return Clock(time_column(self.model.schema, table), self.series_in(table), before)

    def _previous(self, table: Table, before: Following | None) -> dict[str, dict[str, float]]:
        """Return the last values of the variables whose change matters."""
        if not self.model.derived:
            return {}
        latest = last_values(table, self.model.derived, self.series_in(table))
        return {**({} if before is None else before.previous), **latest}

    def leave(self, table: Table, after: Following, before: Following | None = None) -> Following:
        """Return what a prepared table leaves behind for the next one; no row is kept.

        Parameters
        ----------
        table
            The table.
        after
            What is left of it after scoring.
        before
            What was kept of the tables before.

        """
        return self._with_previous(after, table, before)

    def pass_by(self, table: Table, before: Following | None = None) -> Following:
        """Return what a prepared table leaves behind for preparing the next one, if nobody scores it."""
        state, n_rows = ({}, 0) if before is None else (before.scoring, before.n_rows)
        left = last_rows(self.scorer.lay_out(table, state), state)
        return self.leave(table, Following(left, n_rows=n_rows + table.n_rows), before)

    def _with_previous(
        self, following: Following, table: Table, before: Following | None
    ) -> Following:
        return msgspec.structs.replace(following, previous=self._previous(table, before))

    def _kept(self, table: Table, after: Following, before: Following | None) -> Following:
        """Keep of a table what the next one needs."""
        kept = keep(
            {} if before is None else before.kept,
            table,
            self.clock(table),
            0 if before is None else before.n_rows,
            self.model.schema.names,
            {row for event in after.pending for row in event.telling_rows},
            {row for event in after.pending for row in event.marked_rows},
        )
        after = msgspec.structs.replace(after, kept=kept)
        return self._with_previous(after, table, before)

    def extra(self, table: Table) -> tuple[str, ...]:
        """Return the columns of a prepared table that the model does not know; they are ignored."""
        return align(self.model.schema, table)[1]

    def score(self, table: Table) -> NDArray[np.float64]:
        """Score every row of a prepared table."""
        return self.scorer.score(table, self.n_jobs)

    def excess(self, table: Table) -> NDArray[np.float64]:
        """Return how far rows are beyond what their series has been like lately; else their scores."""
        if self.model.memory is None:
            return self.score(table)
        return excess_of(self.scorer, table, limits_of(self.model, table), self.n_jobs)

    def attribute(self, table: Table, names: Sequence[str]) -> NDArray[np.float64]:
        """Attribute each row's score to columns: rows × `names`, the training table's columns.

        What ``ΔX`` does is attributed to ``X``; columns that are not variables get 0.
        """
        parts = self.scorer.attribute(table, self.n_jobs)
        position = {name: i for i, name in enumerate(names)}
        source_of = {delta_name(name): name for name in self.model.derived}
        found = np.zeros((table.n_rows, len(names)))
        for i, name in enumerate(self.model.schema.names):
            found[:, position[source_of.get(name, name)]] += parts[:, i]
        return found

    def explain(self, table: Table, rows: NDArray[np.int64]) -> Explanations:
        """Explain rows of a prepared table, whatever they score."""
        return Explanations(self.scorer, table, rows)

    def anomalous(self, table: Table) -> NDArray[np.int64]:
        """Return the rows of a prepared table that are above the threshold."""
        return np.flatnonzero(self.excess(table) > self.model.threshold)

    def find(
        self,
        table: Table,
        *,
        gap: int | None = None,
        min_rows: int = 1,
        delays: Delays | None = None,
    ) -> Findings:
        """Score a prepared table, and group what is unusual into incidents.

        Parameters
        ----------
        table
            A prepared table.
        gap
            Normal rows allowed within an incident; absent, five in a series with a past, else
            `usual_gap`. Rows that are no series stand for themselves unless it is given.
        min_rows, delays
            Incidents with fewer rows, or that are over too soon, are left out.

        """
        return self.follow(table, gap=gap, min_rows=min_rows, delays=delays)[0]

    def follow(
        self,
        table: Table,
        before: Following | None = None,
        *,
        gap: int | None = None,
        min_rows: int = 1,
        told: Collection[tuple[str, int]] = (),
        delays: Delays | None = None,
        gone: Collection[str] = (),
    ) -> tuple[Findings, Following]:
        """Find what is unusual in a prepared table that goes on where others ended.

        Parameters
        ----------
        table
            A prepared table.
        before
            What was kept of the tables before; None if there are none.
        gap, delays
            As for `find`.
        min_rows, told
            Incidents with fewer rows are left out, unless they were told before: by series and start.
        gone
            Series that end with this table: what is open in them is over, and nothing is kept.

        Returns
        -------
        findings, following
            What was found, and what to keep for the next table.

        """
        limits = limits_of(self.model, table, gap, delays)
        ordered = self.model.series is not None or gap is not None
        first, kept = (0, {}) if before is None else (before.n_rows, before.kept)
        zoned = {each.stamp.zoned for each in kept.values()} - {None}
        refuse_other_zone(next(iter(zoned), None), time_column(self.model.schema, table))
        outlines: dict[str, Sequence[Event]]
        if not ordered:
            found = find_rows(self.scorer, table, limits.threshold, before, self.n_jobs)
            outlines = {"incident": found.events if min_rows <= 1 else (), "shift": ()}
        else:
            found = find_events(self.scorer, table, limits, before, self.n_jobs)
            events = [_ended(each) if each.series in gone else each for each in found.events]
            shown = [
                each
                for each in events
                if each.length >= limits.least
                and (each.n_rows >= min_rows or (each.series, each.start) in told)
            ]
            outlines = {
                kind: [each for each in shown if each.kind == kind]
                for kind in ("incident", "shift")
            }
        kinds = {
            kind: Incidents(self.scorer, table, some, self.origin, first, kept)
            for kind, some in outlines.items()
        }
        following = self._kept(table, found.following, before)
        if gone:
            following = _without(following, gone)
        findings = Findings(
            found.scores,
            found.excess,
            limits.threshold,
            limits.gap if ordered else None,
            kinds["incident"],
            kinds["shift"],
            Patterns(self.scorer, table, found.marks, limits.gap if ordered else None, first),
            ordered,
            self.expected(table.n_rows),
            self.extra(table),
            find_coarser(self.model, table),
            following,
            seconds=seconds_in(times_in(self.model.schema, table)),
        )
        return findings, following

    def calibrate(
        self,
        table: Table,
        max_false_positive_rate: float | None = None,
        max_false_incidents: str | None = None,
    ) -> Model:
        """Return the model with a threshold that suits normal rows which were not learned from.

        Parameters
        ----------
        table
            A prepared table of such rows.
        max_false_positive_rate
            The share of them that may be reported; 1 % if nothing is said.
        max_false_incidents
            How many incidents they may form, for a series; ``"auto"`` is what suits most.

        """
        if max_false_incidents is None:
            rate = DEFAULT_RATE if max_false_positive_rate is None else max_false_positive_rate
            return self._calibrated(table, rate).model
        if max_false_positive_rate is not None:
            raise ParameterError(
                "max_false_positive_rate and max_false_incidents must not both be given."
            )
        series, memory = series_of(self.model, max_false_incidents)
        timeline = self.scorer.lay_out(table)
        runs = list(timeline.runs(slice(0, table.n_rows)))
        memory = msgspec.structs.replace(memory, tail=fit_tail(self._calm(table), runs))
        series = msgspec.structs.replace(series, memory=memory)
        model = msgspec.structs.replace(self.model, series=series)
        return expecting(model, None if max_false_incidents == "auto" else max_false_incidents)

    def _calibrated(self, table: Table, rate: float) -> "Checker":
        """Return a checker that reports at most a share of normal rows."""
        checker = self.at(calibrate(self._calm(table), rate))
        while self.model.memory is not None:  # what follows an alarm depends on the threshold
            excess, value = checker.excess(table), checker.model.threshold
            limit = calibrate(excess, rate)
            if limit.value <= value:
                n_above = int((excess > value).sum())
                return checker.at(Threshold(value, Calibrated(n_above, len(excess))))
            checker = checker.at(limit)
        return checker

    def _calm(self, table: Table) -> NDArray[np.float64]:
        """Return the excess of rows of which none is an alarm; without a past, their scores."""
        if self.model.memory is None:
            return self.score(table)
        limits = msgspec.structs.replace(limits_of(self.model, table), threshold=np.inf)
        return excess_of(self.scorer, table, limits, self.n_jobs)

    def expected(self, n_rows: int) -> float | None:
        """Return how many incidents to expect among normal rows."""
        memory = self.model.memory
        return None if memory is None else memory.tail.rate(self.model.threshold) * n_rows / PER


def _ended(event: Event) -> Event:
    return msgspec.structs.replace(event, phase=ENDED)


def _without(following: Following, gone: Collection[str]) -> Following:
    """Return what is kept of all series but some."""
    scoring, present, previous = (
        {name: value for name, value in of.items() if name not in gone}
        for of in (following.scoring, following.present, following.previous)
    )
    rest = msgspec.structs.replace(following, scoring=scoring, present=present, previous=previous)
    rows = {row for event in rest.pending for row in event.telling_rows | event.marked_rows}
    kept = {row: each for row, each in following.kept.items() if row in rows}
    return msgspec.structs.replace(rest, kept=kept)
