"""A model at work on tables: every face uses a `Checker`, and none of them computes anything."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.errors import ParameterError, shorten
from truism.explain.explanations import Explanations
from truism.explain.findings import (
    MIN_ROWS_TO_DOUBT,
    MOST_INTERRUPTIONS,
    Findings,
    Interruption,
    count_odd,
    find_coarser,
    find_interruptions,
    step_to_tell,
)
from truism.explain.incidents import ModelName, Origin
from truism.explain.listings import Incidents
from truism.explain.patterns import Patterns
from truism.incidents.delays import Delays, limits_of
from truism.incidents.events import ENDED, Event, Kind, Limits, by_story
from truism.incidents.following import Following, Found, excess_of, find_events
from truism.incidents.keeping import Clock, KeptRows, LastTime, refuse_other_zone
from truism.incidents.marks import Marks
from truism.incidents.outlines import Grouped, Outlines, Singles, find_rows
from truism.incidents.rates import fit_tail
from truism.model.acceptances import Acceptance
from truism.model.model import Model
from truism.model.provenance import Calibrated, Threshold
from truism.model.series import PER
from truism.score.alignment import align, refuse_text_for_numbers, time_column
from truism.score.past import last_rows, rows_by_series, seconds_in, times_in
from truism.score.scorer import Scorer
from truism.score.thresholds import calibrate, expecting, series_of
from truism.score.weighed import Weighed
from truism.table.columns import Table, join_tables
from truism.table.deltas import Stretch, delta_name, last_values, with_deltas
from truism.table.fingerprint import fingerprint

SLACK = 64  # incidents beyond those that are looked at before some are let go
DEFAULT_RATE = 0.01  # share of normal rows that may be reported


class Checker:
    """A model ready to check tables that have the training table's columns."""

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
        disabled = tuple(rule.rule_id for rule in self.model.disabled)
        return Origin(ModelName(None, self.model.id), None, disabled)

    def named(self, source: str | None, model: str | None = None) -> "Checker":
        """Return a checker of something that has a name, with a model that may have one."""
        name = ModelName(model, self.origin.model.version)
        origin = msgspec.structs.replace(self.origin, model=name, source=source)
        return self._with(self.model, origin=origin)

    def _with(
        self, model: Model, scorer: Scorer | None = None, origin: Origin | None = None
    ) -> "Checker":
        """Return a checker of another model; incidents keep their origin."""
        return Checker(model, self.n_jobs, scorer or self.scorer, origin or self._origin)

    def at(self, limit: Threshold) -> "Checker":
        """Return a checker with another threshold, which shares the scorer."""
        return self._with(msgspec.structs.replace(self.model, limit=limit))

    def accepting(self, acceptance: Acceptance) -> "Checker":
        """Return a checker of the model with one more acceptance, which shares the scorer."""
        model = self.model.accept(acceptance)
        return self._with(model, self.scorer.accepting(model.accepted))

    def learned_from(self, table: Table) -> bool:
        """Return whether a prepared table holds the rows that the model was learned from."""
        ordered = self.model.series is not None or bool(self.model.derived)
        taken = fingerprint(table, ordered=ordered)
        return taken == self.model.provenance.fingerprint

    def timed(self, time: str | None) -> "Checker":
        """Return a checker that takes another column to say when."""
        schema = msgspec.structs.replace(self.model.schema, time=time)
        model = msgspec.structs.replace(self.model, schema=schema)
        return self._with(model, Scorer(model, self.scorer.muted))

    def absent(self, table: Table) -> tuple[str, ...]:
        """Return the columns that the model needs and a table lacks."""
        return tuple(name for name in self.needed if name not in table.names)

    def suited(self, table: Table, *, allow_missing: bool = False) -> "tuple[Checker, str | None]":
        """Return the checker that suits a table, not prepared, and in words what the table lacks.

        Columns that are absent are done without where that is allowed, or if they were said to be
        optional; everything that needs them is unknown.
        """
        absent, reading = self.absent(table), self.model.reading
        optional = () if reading is None else reading.optional
        allowed = allow_missing or {*absent} <= {*optional}
        if not absent or not allowed or len(absent) == len(self.needed):
            return self, None
        reduced = self.without(absent)
        n_rules, n_left = len(self.model.active_rules), len(reduced.model.active_rules)
        one = len(absent) == 1
        which = f"Column {absent[0]!r} is" if one else f"Columns {shorten(absent)} are"
        return reduced, (
            f"{which} absent; everything that needs {'it' if one else 'them'} is unknown: {n_left:,} of "
            f"{n_rules:,} rules are left."
        )

    def without(self, columns: Sequence[str]) -> "Checker":
        """Return a checker that does without some columns: what needs them is unknown."""
        changes = (delta_name(name) for name in columns if name in self.model.derived)
        reduced = self.model.without({*columns, *changes})
        return self._with(reduced, Scorer(reduced, self.scorer.muted), self.origin)

    def muting(self, variables: Sequence[str]) -> "Checker":
        """Return a checker for which evidence against some variables does not count."""
        changes = (delta_name(name) for name in variables if name in self.model.derived)
        return self._with(self.model, Scorer(self.model, {*variables, *changes}))

    @property
    def needed(self) -> tuple[str, ...]:
        """The columns of a table that the model needs."""
        source_of = {delta_name(name): name for name in self.model.derived}
        return tuple(dict.fromkeys(source_of.get(name, name) for name in self.model.schema.names))

    def prepare(self, table: Table, before: Following | None = None) -> Table:
        """Add the variables that the model derives from others, and refuse a table that does not fit.

        `before` is what was kept of the tables before it, if it goes on where they ended.
        """
        refuse_text_for_numbers(self.model.schema, table)
        if not self.model.derived:
            return table
        runs = list(self._runs(table, before))
        return with_deltas(table, self.model.derived, runs, self._meters)

    @property
    def _meters(self) -> tuple[str, ...]:
        """The variables of which only the change is one."""
        names = self.model.schema.names
        return tuple(name for name in self.model.derived if name not in names)

    def _runs(self, table: Table, before: Following | None) -> Iterator[Stretch]:
        """Yield rows that follow each other; where a past counts, a gap in time divides them."""
        previous = {} if before is None else before.previous
        if self.model.memory is None:
            for name, rows in self.series_in(table).items():
                yield Stretch(rows, previous.get(name, {}))
            return
        timeline = self.scorer.lay_out(table, {} if before is None else before.scoring)
        for name, rows in timeline.series(slice(0, table.n_rows)):
            for run in timeline.divided(rows):
                anew = timeline.breaks[run[0]]
                yield Stretch(run, {} if anew else previous.get(name, {}))

    def series_in(self, table: Table) -> dict[str, NDArray[np.int64]]:
        """Return the rows of each series in a table."""
        by = None if self.model.series is None else self.model.series.by
        return rows_by_series(by, table)

    def clock(self, table: Table, before: Mapping[str, LastTime] | None = None) -> Clock:
        """Return the times of a table's rows; of those before it, the last of each series."""
        return Clock(time_column(self.model.schema, table), self.series_in(table), before)

    def leave(self, table: Table, after: Following, before: Following | None = None) -> Following:
        """Return what a prepared table leaves behind for the next one, with the last values for changes.

        `after` is what is left of it after scoring, `before` what was kept of the tables before.
        """
        if not self.model.derived:
            return after
        names = (*self.model.derived, *map(delta_name, self._meters))
        latest = last_values(table, names, self.series_in(table))
        previous = {**({} if before is None else before.previous), **latest}
        return msgspec.structs.replace(after, previous=previous)

    def pass_by(self, table: Table, before: Following | None = None) -> Following:
        """Return what a prepared table leaves behind for preparing the next one, if it is not scored."""
        state, n_rows = ({}, 0) if before is None else (before.scoring, before.n_rows)
        left = last_rows(self.scorer.lay_out(table, state), state)
        return self.leave(table, Following(left, n_rows=n_rows + table.n_rows), before)

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
        attributed = np.zeros((table.n_rows, len(names)))
        for i, name in enumerate(self.model.schema.names):
            attributed[:, position[source_of.get(name, name)]] += parts[:, i]
        return attributed

    def explain(
        self, table: Table, rows: NDArray[np.int64], library: str | None = None
    ) -> Explanations:
        """Explain rows of a prepared table, whatever they score; frames are of some library."""
        return Explanations(self.scorer, table, rows, library)

    def anomalous(self, table: Table) -> NDArray[np.int64]:
        """Return the rows of a prepared table that are above the threshold."""
        return np.flatnonzero(self.excess(table) > self.model.threshold)

    def find(self, table: Table, before: Following | None = None, **options: Any) -> Findings:
        """Score a prepared table, and group what is unusual into incidents, with options of `Check`."""
        check = Check(self, table.n_rows, before, **options)
        check.take(table)
        return check.findings()

    def calibrate(
        self,
        table: Table,
        max_false_positive_rate: float | None = None,
        max_false_incidents: str | None = None,
    ) -> Model:
        """Return the model with a threshold that suits normal rows which were not learned from.

        At most a share of them is reported, 1 % if nothing is said; or, of a series, so many incidents
        are: ``"auto"`` is what suits most.
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


class Check:
    """One check: takes a table batch by batch, and gathers what is found, however it is divided.

    Of most rows nothing is kept but their number. The cells of anomalous rows, and of rows by which
    incidents are explained, are set aside.
    """

    def __init__(
        self,
        checker: Checker,
        n_rows: int,  # in all
        before: Following | None = None,  # what was kept of the tables before
        *,
        gap: int
        | None = None,  # normal rows within an incident; makes a series of rows that are none
        min_rows: int = 1,  # incidents with fewer are left out
        delays: Delays | None = None,
        reported: Collection[
            tuple[str, int]
        ] = (),  # series and start of incidents never to leave out
        most: int | None = None,  # incidents that will be looked at; others are only counted
        patterns: bool = True,  # whether patterns of a series will be looked at
        watch: Callable[[Weighed], None] | None = None,  # called with what is weighed of a series
    ) -> None:
        self.checker, self.n_rows = checker, n_rows
        self.following = Following() if before is None else before
        self.ordered = checker.model.series is not None or gap is not None
        self._gap, self._min_rows, self._delays, self._reported = gap, min_rows, delays, reported
        self._most, self._marking = most, patterns or not self.ordered
        self._watch = watch
        self._limits: Limits | None = None
        self._whole: Found | None = None  # if the first batch is all
        self._ended: dict[Kind, list[Event]] = {"incident": [], "shift": []}
        self._n_ended: dict[Kind, int] = {"incident": 0, "shift": 0}
        kept = self.following.kept
        self._rows = KeptRows(checker.model.schema, kept)
        self._zoned = next((k.stamp.zoned for k in kept.values() if k.stamp.moment), None)
        self._clock: Clock | None = None
        self._marks, self._examples, self._ends = list[Marks](), list[Table](), list[int]()
        self._n_taken = self._n_anomalous = 0
        self._odd = np.zeros(len(checker.model.schema.names), np.int64)
        self._interruptions = list[tuple[int, Interruption]]()
        self._extra: tuple[str, ...] = ()

    def take(self, table: Table) -> Found:
        """Take the next rows, prepared after those before; return their scores and excess."""
        checker, before, model = self.checker, self.following, self.checker.model
        limits = limits_of(model, table, self._gap, self._delays)
        refuse_other_zone(self._zoned, time_column(model.schema, table))
        if self.ordered:
            found = find_events(checker.scorer, table, limits, before, checker.n_jobs, self._watch)
        else:
            found = find_rows(checker.scorer, table, limits, before, checker.n_jobs)
        if self._limits is None:
            self._extra = checker.extra(table)
            self._whole = found if table.n_rows == self.n_rows else None
        self._limits = limits
        self.following = checker.leave(table, found.following, before)
        self._n_anomalous += int((found.excess > limits.threshold).sum())
        self._odd += count_odd(model, table, checker.scorer.tolerance)
        ended = [event for event in found.events if not event.is_open and self._is_shown(event)]
        self._end(ended)
        self._keep(table, found.marks, before.n_rows, ended)
        self._interruptions += find_interruptions(model, table, before.scoring)
        times = times_in(model.schema, table) if table.n_rows else None
        self._ends += [] if times is None else [int(times[0]), int(times[-1])]
        step = step_to_tell(self.n_rows)  # positions, since a slice would hold all rows
        self._examples.append(table.take(np.arange(-self._n_taken % step, table.n_rows, step)))
        self._n_taken += table.n_rows
        return found

    def _is_shown(self, event: Event) -> bool:
        assert self._limits is not None
        reported = event.n_rows >= self._min_rows or (event.series, event.start) in self._reported
        return event.length >= self._limits.least and reported

    def _end(self, events: Sequence[Event]) -> None:
        """Keep what ended, but not many more events than will be looked at."""
        for kind, ended in self._ended.items():
            new = [event for event in events if event.kind == kind]
            self._n_ended[kind] += len(new)
            ended += new
            if self._most is not None and len(ended) > 2 * self._most + SLACK:
                self._ended[kind] = [ended[at] for at in by_story(ended)[: self._most]]
                self._rows.let_go([*self._ended["incident"], *self._ended["shift"]])

    def _keep(self, table: Table, marks: Marks, first: int, ended: Sequence[Event]) -> None:
        """Keep the marks of a batch, and the rows of it that may explain something."""
        marks = msgspec.structs.replace(marks, rows=marks.rows + first)
        if self._marking:
            self._marks.append(marks)
        latest = None if self._clock is None else self._clock.latest()
        self._clock = self.checker.clock(table, latest)
        events = (*ended, *self.following.pending)
        self._rows.add(
            table, first, self._clock, events, marks.rows.tolist() if self._marking else ()
        )

    @property
    def needs_times(self) -> bool:
        """Whether times have to be read once more, because equal ones may lie far apart."""
        if self._clock is None or len(self._examples) < 2:  # one batch has counted them
            return False
        return any(latest.descends for latest in self._clock.latest().values())

    def read_times(self, read: Callable[[], Iterable[Table]]) -> None:
        """Count equal times, for ids; `read` reads the times and series of all rows in batches."""
        pending = self.following.pending
        rows = [
            event.first for event in (*self._ended["incident"], *self._ended["shift"], *pending)
        ]
        if not self.ordered:
            rows += np.concatenate([batch.rows for batch in self._marks]).tolist()
        numbers = np.unique(np.array(rows, np.int64))
        self._rows.recount(numbers, lambda: map(self.checker.clock, read()))

    def findings(self, gone: Collection[str] = ()) -> Findings:
        """Return what was found in all rows; what is open in series that are gone is over."""
        checker, limits = self.checker, self._limits
        model, scorer = checker.model, checker.scorer
        assert limits is not None
        rows, whole = self._rows, self._whole
        marks = _joined(self._marks, len(model.schema.names))
        gap = limits.gap if self.ordered else None
        still = [
            event for event in self.following.pending if event.is_open and self._is_shown(event)
        ]
        over = (event for event in still if event.series in gone)
        self._end([msgspec.structs.replace(event, phase=ENDED) for event in over])
        still = [event for event in still if event.series not in gone]
        kinds: dict[Kind, Incidents] = {}
        for kind, ended in self._ended.items():
            events = [*ended, *(event for event in still if event.kind == kind)]
            n_events = self._n_ended[kind] + len(events) - len(ended)
            outlines: Outlines = Grouped(events, n_events)
            if not self.ordered and kind == "incident" and self._min_rows <= 1:
                outlines = Singles(scorer, rows.aside, marks, limits.threshold)
            kinds[kind] = Incidents(scorer, outlines, checker.origin, rows, limits.threshold)
        coarser: tuple[str, ...] = ()
        if self.n_rows >= MIN_ROWS_TO_DOUBT:
            coarser = find_coarser(model, join_tables(self._examples))
        longest = sorted(self._interruptions, key=lambda pair: -pair[0])
        return Findings(
            scores=np.empty(0) if whole is None else whole.scores,
            excess=np.empty(0) if whole is None else whole.excess,
            n_rows=self.n_rows,
            n_anomalous=self._n_anomalous,
            threshold=limits.threshold,
            gap=gap,
            incidents=kinds["incident"],
            shifts=kinds["shift"],
            patterns=Patterns(scorer, rows.aside, marks, gap),
            ordered=self.ordered,
            expected=checker.expected(self.n_rows),
            extra=self._extra,
            coarser=coarser,
            odd=tuple(self._odd.tolist()),
            state=self._state(gone),
            interruptions=tuple(one for _, one in longest[:MOST_INTERRUPTIONS]),
            seconds=seconds_in(np.array(self._ends, np.int64)),
        )

    def _state(self, gone: Collection[str]) -> Following:
        """Return what to keep for the table after this one, of all series but those that are gone."""
        left = {
            name: {
                key: value
                for key, value in getattr(self.following, name).items()
                if key not in gone
            }
            for name in ("scoring", "present", "previous")
        }
        state = msgspec.structs.replace(self.following, **left)
        return msgspec.structs.replace(state, kept=self._rows.kept(state.pending))


def _joined(marks: Sequence[Marks], n_variables: int) -> Marks:
    """Put the marks of batches together."""
    none, no_score = np.empty(0, np.int64), np.empty(0)
    return Marks(
        np.concatenate([none, *(batch.rows for batch in marks)]),
        np.concatenate([no_score, *(batch.scores for batch in marks)]),
        np.concatenate([none, *(batch.culprits for batch in marks)]),
        np.concatenate([none, *(batch.kinds for batch in marks)]),
        sum((batch.parts for batch in marks), np.zeros(n_variables)),
        sum((batch.blame for batch in marks), np.zeros(n_variables)),
    )
