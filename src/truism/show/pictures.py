"""A reason as a picture: the blamed variable over the incident, then those of the condition.

The expectation is drawn only where the condition held, so that a person sees where the rule breaks. A
value that is rare in itself gives a picture of its variable alone.
"""

import datetime
import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from truism.explain.blames import Blame
from truism.explain.clues import Facts
from truism.explain.incidents import Incident
from truism.model.predicates import (
    AnyOf,
    Interval,
    OneOf,
    Predicate,
    Present,
    Range,
    format_value,
    variables,
)
from truism.model.schema import Categorical, Numeric, Schema, Variable
from truism.model.wording import count, first_few, lasting
from truism.score.alignment import MISSING, UNSEEN, codes, time_column
from truism.score.past import rows_by_series
from truism.score.scorer import Scorer
from truism.show.contents import Band, Histogram, Line, Panel, Picture, Span, Unit
from truism.table.columns import Column, Table, numbers
from truism.table.timelines import wall_clock

MAX_STEPS = 6.0  # usual steps between two rows that a line joins
_MINUTE = 60


class Axis:
    """The places of rows on the x axis, and the words for them.

    Rows are placed in time if the table's time column holds times that never run backwards and have
    years that a calendar shows, and are numbered otherwise. Times are those that clocks in the zone
    of the data showed; where an hour occurs twice, the axis goes on without turning the clock back.
    """

    def __init__(self, table: Table, schema: Schema) -> None:
        self.n_rows = n_rows = table.n_rows
        time = time_column(schema, table)
        self.unit: Unit = "row"
        self.x = np.arange(n_rows, dtype=np.float64)
        self._times: NDArray[np.datetime64] | None = None
        self._instants = self.x
        self._zone = f" {time.zone or 'UTC'}" if time is not None and time.zoned else ""
        if time is not None and time.values.dtype.kind == "M" and time.missing is None:
            instants = _milliseconds(time.values)
            if n_rows > 1 and (np.diff(instants) >= 0).all() and _shown(time.values):
                self.unit = "time"
                self._times, self._instants = wall_clock(time), instants
                shown = _milliseconds(self._times)
                ascends = (np.diff(shown) >= 0).all()
                self.x = shown if ascends else instants + (shown[0] - instants[0])
        steps = np.diff(self.x)
        self.step = float(np.median(steps[steps > 0])) if (steps > 0).any() else 1.0

    def span(self, start: int, end: int) -> Span:
        """Return the stretch of the x axis that rows from start to end cover."""
        after = self.x[end + 1] if end + 1 < self.n_rows else self.x[end] + self.step
        return Span(float(self.x[start]), float(min(after, self.x[end] + 10 * self.step)))

    def apart(
        self, x: NDArray[np.float64], y: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return a line that is broken where rows are so far apart that none follows the other."""
        gaps = np.flatnonzero(np.diff(x) > MAX_STEPS * self.step) + 1
        return np.insert(x, gaps, x[gaps - 1] + self.step), np.insert(y, gaps, np.nan)

    def when(self, start: int, end: int) -> str:
        """Say from when to when rows last, no more precisely than needed."""
        if self._times is None:
            return f"row {start:,}" if start == end else f"rows {start:,} to {end:,}"
        first, last = self._moment(start), self._moment(end)
        seconds = (last - first).total_seconds() < 2 * _MINUTE and first != last
        form = "%H:%M:%S" if seconds else "%H:%M"
        one_day = self._moment(0).date() == self._moment(self.n_rows - 1).date()
        begun = first.strftime(form if one_day else f"%Y-%m-%d {form}")
        if start == end:
            return f"{begun}{self._zone}"
        ended = last.strftime(form if last.date() == first.date() else f"%Y-%m-%d {form}")
        return f"{begun} to {ended}{self._zone}"

    def lasted(self, start: int, end: int) -> str:
        """Say how long it is from start to end, in the words of the command line."""
        if self._times is None or start == end:
            return count(end - start + 1, "row")
        return lasting((self._instants[end] - self._instants[start]) / 1e3)

    def _moment(self, row: int) -> datetime.datetime:
        assert self._times is not None
        moment = self._times[row].astype("datetime64[us]").item()
        assert isinstance(moment, datetime.datetime)
        return moment


def _milliseconds(times: NDArray[np.datetime64]) -> NDArray[np.float64]:
    return times.astype("datetime64[us]").astype(np.int64) / 1e3


def _shown(times: NDArray[np.datetime64]) -> bool:
    years = times[[0, -1]].astype("datetime64[Y]").astype(np.int64) + 1970
    return bool((years >= datetime.MINYEAR).all() and (years <= datetime.MAXYEAR).all())


def reduce(x: NDArray[np.float64], y: NDArray[np.float64], n_buckets: int) -> Line:
    """Keep each bucket's smallest and largest value; NaN and infinity count as missing.

    >>> reduce(np.arange(6.0), np.array([0, 0, 0, 9, 0, 0.0]), 2).y
    (0.0, 0.0, 9.0, 0.0)
    """
    y = np.where(np.isfinite(y), y, np.nan)
    if len(y) <= 2 * n_buckets:
        return line(x, y)
    starts = np.linspace(0, len(y), n_buckets + 1).astype(np.int64)[:-1]
    lows = np.minimum.reduceat(np.where(np.isnan(y), np.inf, y), starts)
    highs = np.maximum.reduceat(np.where(np.isnan(y), -np.inf, y), starts)
    rising = y[starts] - lows <= highs - y[starts]
    pairs = np.where(rising, [lows, highs], [highs, lows]).T.ravel()
    return line(np.repeat(x[starts], 2), np.where(np.isfinite(pairs), pairs, np.nan))


def line(x: NDArray[np.float64], y: NDArray[np.float64]) -> Line:
    """Return a series as it is, rounded to what a screen can show."""
    shown = [None if value != value else float(f"{value:.7g}") for value in y.tolist()]
    return Line(tuple(x.tolist()), tuple(shown))


def runs(mask: NDArray[np.bool_], most: int = 200) -> list[tuple[int, int]]:
    """Return the first and last position of each run of true; if there are many, close short gaps.

    >>> runs(np.array([True, True, False, True]))
    [(0, 1), (3, 3)]
    """
    edges = np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8))
    starts, ends = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1) - 1
    if len(starts) > most:
        gaps = starts[1:] - ends[:-1]
        widest = np.sort(np.argsort(-gaps, kind="stable")[: most - 1])
        starts, ends = starts[np.r_[0, widest + 1]], ends[np.r_[widest, len(ends) - 1]]
    return list(zip(starts.tolist(), ends.tolist(), strict=True))


N_BUCKETS = 240
MAX_BROKEN = 120
MAX_PANELS = 6
_LEAST_AROUND = 60
_OTHER = "not seen in training"


class Painter:
    """Draws the incidents of one table."""

    def __init__(self, scorer: Scorer, table: Table, axis: Axis) -> None:
        self.scorer, self.table, self.axis = scorer, table, axis
        self.variable_of = scorer.model.schema.variable_of()

    def paint(self, incident: Incident, blame: Blame) -> Picture:
        """Draw the first reason of a blame."""
        window = self.rows(incident)
        part = self.table.take(window)
        x = self.axis.x[window]
        facts = blame.reasons[0].facts if blame.reasons else Facts()
        if len(facts.expected) == 1:
            panels = self.panels(facts.expected, facts.because, part, x, blame.variable)
        else:
            panels = [self.panel(part, x, blame.variable)]
        return Picture(
            self.axis.span(incident.start, incident.end),
            float(self.axis.x[incident.peak]),
            tuple(panels[:MAX_PANELS]),
        )

    def rows(self, incident: Incident) -> slice | NDArray[np.int64]:
        """Return the rows to draw: those around an incident that belong to its series."""
        series = self.scorer.model.series
        if incident.series is None or series is None:
            return _around(incident.start, incident.end, self.table.n_rows)
        rows = rows_by_series(series.by, self.table)[incident.series]
        start, end = np.searchsorted(rows, [incident.start, incident.end]).tolist()
        return rows[_around(start, end, len(rows))]

    def panels(
        self,
        claims: Sequence[Predicate],
        conditions: Sequence[Predicate],
        part: Table,
        x: NDArray[np.float64],
        blamed: str | None = None,  # is drawn first, with the rows that break the claims
    ) -> list[Panel]:
        """Draw each variable that is claimed something of, then those of the conditions."""
        holds, broken = self.scorer.compare(conditions, claims, part)
        always, panels = np.ones(part.n_rows, np.bool_), dict[str, Panel]()
        for predicate in (*claims, *conditions):
            where = holds if predicate in claims else always
            for name in sorted(variables(predicate), key=lambda name: name != blamed):
                if name not in panels:
                    marks = broken if name == blamed else None
                    panels[name] = self.panel(part, x, name, predicate, where, marks)
        return list(panels.values())

    def panel(
        self,
        part: Table,
        x: NDArray[np.float64],
        name: str,
        predicate: Predicate | None = None,
        where: NDArray[np.bool_] | None = None,
        broken: NDArray[np.bool_] | None = None,
    ) -> Panel:
        """Draw one variable, what was expected of it and where, and the rows that break that."""
        variable = self.variable_of[name]
        values, states = _drawable(variable, part, name)
        band = None
        if predicate is not None and where is not None:
            band = self._band(variable, predicate, where, x)
        marks = Line((), ())
        if broken is not None:
            rows = np.flatnonzero(broken & np.isfinite(values))
            if len(rows) > MAX_BROKEN:
                rows = rows[np.linspace(0, len(rows) - 1, MAX_BROKEN).astype(np.int64)]
            marks = line(x[rows], values[rows])
        drawn = reduce(*self.axis.apart(x, values), N_BUCKETS)
        says = "" if predicate is None else str(predicate)
        return Panel(name, says, states, drawn, band, marks)

    def _band(
        self,
        variable: Variable,
        predicate: Predicate,
        where: NDArray[np.bool_],
        x: NDArray[np.float64],
    ) -> Band | None:
        spans = tuple(
            Span(
                float(x[start]), float(x[end + 1] if end + 1 < len(x) else x[end] + self.axis.step)
            )
            for start, end in runs(where)
        )
        match predicate:
            case Interval(_, low, high) | Range(_, low, high):
                return Band(_finite(low), _finite(high), (), spans)
            case OneOf(_, values):
                return Band(None, None, _positions(variable, values), spans)
            case AnyOf(parts):
                wanted = next(part for part in parts if part.variable == variable.name)
                return Band(None, None, _positions(variable, wanted.values), spans)
            case Present():
                return None


def _around(start: int, end: int, n_rows: int) -> slice:
    around = max(_LEAST_AROUND, end - start + 1)
    return slice(max(0, start - around), min(n_rows, end + around + 1))


def _finite(bound: float) -> float | None:
    return bound if np.isfinite(bound) else None


def _positions(variable: Variable, values: tuple[object, ...]) -> tuple[int, ...]:
    assert isinstance(variable, Categorical)
    return tuple(variable.values.index(value) for value in values)


def _drawable(
    variable: Variable, part: Table, name: str
) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Return values as numbers to draw; states as positions, unseen ones above all others."""
    column = part.column_of()[name]
    if not isinstance(variable, Categorical):
        return numbers(column), ()
    positions = codes(variable, column).astype(np.float64)
    names = tuple(format_value(value) for value in variable.values)
    unseen = positions == UNSEEN
    positions[positions < 0] = np.nan
    if unseen.any():
        positions[unseen] = len(names)
        names = (*names, _OTHER)
    return positions, names


N_BINS = 24
FEW_BINS = 127  # of training: each of so few holds one value
MAX_STATES = 12
_REACH = 0.25  # values beyond the training range by more than this share of it go to the outer bin


def histogram(variable: Variable, column: Column) -> Histogram:
    """Return how values are spread in training and here."""
    if isinstance(variable, Categorical):
        return _of_states(variable, codes(variable, column))
    values = numbers(column)
    return _of_numbers(variable, values[np.isfinite(values)])


def extent(variable: Variable, column: Column) -> tuple[str, str]:
    """Say what values were seen in training, and here."""
    if isinstance(variable, Categorical):
        encoded = codes(variable, column)
        present = np.unique(encoded[encoded >= 0]).tolist()
        here = [format_value(variable.values[i]) for i in present]
        n_unseen = int((encoded == UNSEEN).sum())
        if n_unseen:
            here.append(f"unseen in training: {n_unseen:,}")
        then = [format_value(value) for value in variable.values]
        return first_few(then, MAX_STATES), first_few(here, MAX_STATES)
    values = numbers(column)
    values = values[~np.isnan(values)]
    now = f"{short(values.min())} to {short(values.max())}" if len(values) else "nothing"
    return f"{short(variable.low)} to {short(variable.high)}", now


def short(value: float) -> str:
    """Print a number with at most five digits, for people.

    >>> short(0.123456789), short(12345678.0), short(800.0)
    ('0.12346', '12,345,678', '800')
    """
    if np.isfinite(value) and abs(value) >= 1e4 and abs(value) < 1e9:
        return f"{value:,.0f}"
    return f"{value:.5g}".replace("-", "−")


def _of_states(variable: Categorical, encoded: NDArray[np.int32]) -> Histogram:
    here = [int((encoded == code).sum()) for code in range(len(variable.values))]
    often = np.argsort(-np.array(variable.counts), kind="stable")[:MAX_STATES].tolist()
    shown = sorted(often)
    labels = [format_value(variable.values[i]) for i in shown]
    then, now = [variable.counts[i] for i in shown], [here[i] for i in shown]
    others = int((encoded != MISSING).sum()) - sum(now)
    rest = sum(variable.counts) - sum(then)
    if others or rest:
        labels, then, now = [*labels, "other"], [*then, rest], [*now, others]
    return Histogram(tuple(labels), _parts(then), _parts(now))


def _of_numbers(variable: Numeric, values: NDArray[np.float64]) -> Histogram:
    low, high = variable.low, variable.high
    reach = (high - low) * _REACH or max(abs(low) * _REACH, 1.0)
    if len(values):
        low, high = (
            max(min(low, values.min()), low - reach),
            min(max(high, values.max()), high + reach),
        )
    if low == high:
        low, high = low - reach, high + reach
    edges = np.linspace(low, high, N_BINS + 1)
    here = np.histogram(np.clip(values, low, high), edges)[0]
    labels = [f"{short(a)} to {short(b)}" for a, b in itertools.pairwise(edges.tolist())]
    return Histogram(tuple(labels), _parts(_rebinned(variable, edges)), _parts(here))


def _rebinned(variable: Numeric, edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """Spread the training bins over other bins; a bin that holds one value stays a point."""
    starts, counts = np.array(variable.edges), np.array(variable.counts, np.float64)
    if len(starts) < FEW_BINS:
        return np.histogram(starts, edges, weights=counts)[0]
    ends = np.append(starts[1:], variable.high)
    cumulated = np.append(0.0, np.cumsum(counts))
    return np.diff(np.interp(edges, np.append(starts, ends[-1]), cumulated))


def _parts(counts: object) -> tuple[float, ...]:
    amounts = np.asarray(counts, np.float64)
    total = amounts.sum()
    return tuple(float(f"{part:.4g}") for part in (amounts / total if total else amounts).tolist())
