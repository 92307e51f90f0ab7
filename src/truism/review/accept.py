"""Rows accepted as normal: which variables are no longer judged, on which condition, and at what price.

The variables are as few of those with most evidence as keep the rows from being reported.
The condition is the one that the first clue against the rows names, as far as it holds in all of them,
bounded by the ranges that the first few of the variables have in the rows, since it would reach too far
without them (docs/experiments.md).
"""

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.arrays import Mask, Rows
from truism.errors import ParameterError, did_you_mean
from truism.explain.checker import Checker
from truism.explain.clues import Clue, Contradiction
from truism.explain.findings import Findings
from truism.explain.investigation import find_clues
from truism.model.acceptances import Acceptance, Condition, check_text, check_until
from truism.model.model import Model
from truism.model.parsing import parse_conditions
from truism.model.predicates import AnyOf, Interval, OneOf, Predicate, cut_between, variables
from truism.model.schema import Numeric
from truism.model.wording import Printed, count, percent, visible
from truism.review.compare import Reports, Sighting, Source, overlapping
from truism.score.alignment import align
from truism.score.scorer import Scorer
from truism.score.weighed import Violation
from truism.table.columns import Column, Table, join_tables, numbers

HIGH = 0.1  # share of the rows in which an acceptance applies, above which its price is high
N_RANGES = 3  # variables whose range bounds the condition, those with most evidence
MARGIN = 0.01  # share of a standard deviation by which the range of accepted values is widened
N_LISTED = 5

Raw = tuple[Table, Table]
"""Rows as they are, and prepared."""


class Named(msgspec.Struct, frozen=True, eq=False):
    """Which rows: their numbers, ascending, and the series that they are of; any if None."""

    numbers: Rows
    series: str | None = None

    def within(self, scorer: Scorer, table: Table, first: int = 0) -> Rows:
        """Return the positions of these rows in a prepared batch, from row `first` on."""
        ends = np.searchsorted(self.numbers, [first, first + table.n_rows])
        rows = self.numbers[slice(*ends.tolist())] - first
        if self.series is None or not len(rows):
            return rows
        timeline = scorer.lay_out(table)
        of_series = [timeline.names[i] == self.series for i in timeline.of_row[rows]]
        return rows[np.array(of_series, np.bool_)]


def find_named(findings: Findings, wanted: str, kind: str) -> Named:
    """Return the rows of what has an id: a pattern, or else an incident or a lasting change."""
    if kind == "pattern":
        for position, pattern in enumerate(findings.patterns):
            if pattern.id == wanted:
                return Named(findings.patterns.rows(position))
    else:
        for events in (findings.incidents, findings.shifts):
            for position, outline in enumerate(events.outlines[:]):
                if events.id_of(outline) == wanted:
                    incident = events[position]
                    return Named(np.arange(incident.onset, incident.end + 1), outline.series)
    constraint = "be an id that a check of the same rows with the same model shows"
    raise ParameterError.of(kind, constraint, wanted)


def take_rows(scorer: Scorer, named: Named, batches: Iterable[Raw]) -> Raw:
    """Take rows out of a table that comes in batches: as they are, and prepared."""
    taken: list[Raw] = []
    first = 0
    for table, prepared in batches:
        rows = named.within(scorer, prepared, first)
        taken.append((table.take(rows), prepared.take(rows)))
        first += prepared.n_rows
    return join_tables([raw for raw, _ in taken]), join_tables([rows for _, rows in taken])


# --- what to accept ---


def offer(
    checker: Checker,
    rows: Table | None = None,
    named: Named | None = None,
    *,
    reason: str,
    when: str | None = None,  # as rules print conditions; absent, that of the rows
    mute: Sequence[str] = (),  # variables, or only "all"; absent, those of the rows
    until: str | None = None,
    who: str | None = None,
    date: str | None = None,
    here: Source | None = None,  # the table at hand
    history: tuple[Checker, Source] | None = None,  # earlier rows, and the checker that suits them
) -> "Offer":
    """Work out what it takes to accept rows, prepared, or a given condition, and what that silences."""
    reason, until = check_text("reason", reason), check_until(until)
    pricing = None if here is None else _Pricing(checker, here, named)
    n_rows = 0 if rows is None else rows.n_rows
    tried: list[tuple[Acceptance, Price | None]] = []
    for names, conditions in _propose(checker, rows, when, mute, pricing):
        acceptance = Acceptance(names, conditions, reason, who, date, until, n_rows)
        price = None if pricing is None else pricing.price(acceptance)
        tried.append((acceptance, price))
        if price is None or not price.n_left:
            break
    acceptance, price = min(tried, key=lambda pair: 0 if pair[1] is None else pair[1].n_left)
    model = checker.model.accept(acceptance)
    earlier = None if history is None else _Pricing(*history).price(acceptance)
    return Offer(acceptance, model, price, earlier)


def _propose(
    checker: Checker,
    rows: Table | None,
    when: str | None,
    mute: Sequence[str],
    pricing: "_Pricing | None",
) -> Iterator[tuple[tuple[str, ...], tuple[Condition, ...]]]:
    """Yield variables and a condition; if they are those of the rows, then more and more variables."""
    model = checker.model
    names = model.schema.names if tuple(mute) == ("all",) else tuple(dict.fromkeys(mute))
    for name in names:
        if name not in model.schema.names:
            hint = did_you_mean(name, model.schema.names)
            raise ParameterError.of("mute", "name a variable of the model, or all", name, hint)
    conditions = () if when is None else parse_conditions(when, model.schema, model.words)
    if conditions and names:
        yield names, conditions
        return
    if rows is None:
        raise ParameterError("Rows of a table, or when and mute, must be given.")
    if not rows.n_rows:
        raise ParameterError.of("rows", "name at least one row", [])
    reported = np.zeros(rows.n_rows, np.bool_) if pricing is None else pricing.reported
    finder = _Finder(checker, rows, conditions, reported)
    if names:
        yield names, finder.condition(names)
        return
    yield from finder.find()


class _Finder:
    """Finds variables and a condition for rows."""

    def __init__(
        self, checker: Checker, rows: Table, conditions: tuple[Condition, ...], reported: Mask
    ) -> None:
        self._checker, self._scorer, self._rows = checker, checker.scorer, rows
        scorer, memory = checker.scorer, checker.model.memory
        # In a series, earlier rows may add so much to the score of a row.
        target = scorer.model.threshold / (1.0 + (0.0 if memory is None else memory.weight))
        weighed = scorer.weigh_alone(rows)
        unusual = np.flatnonzero(weighed.scores > target)
        if not len(unusual):
            raise ParameterError(
                "There is nothing to accept: none of these rows is unusual by itself.",
                "rows may be reported because of the rows before them: accept the first rows of the "
                "incident; a variable that stands still can be muted under a condition.",
            )
        unusual = np.flatnonzero((weighed.scores > target) | reported)
        if conditions:
            unusual = unusual[self._hold(conditions, rows.take(unusual))]
            self._rows = rows.take(np.flatnonzero(self._hold(conditions, rows)))
            if not len(unusual):
                raise ParameterError("when must hold in one of the unusual rows.")
        self._telling, parts = rows.take(unusual), weighed.parts[unusual]
        self._columns, _ = align(scorer.model.schema, self._telling)
        ranked = np.argsort(-parts.sum(axis=0), kind="stable")
        self._names = scorer.model.schema.names
        self._ranked = [int(i) for i in ranked if parts[:, i].any()]
        self._given = conditions
        self._shared = () if conditions else self._of_first_clue(parts)

    def find(self) -> Iterator[tuple[tuple[str, ...], tuple[Condition, ...]]]:
        """Yield the fewest variables that do and the condition, then twice as many, and so on."""
        ranked = [self._names[i] for i in self._ranked]
        low, high = 0, len(ranked)
        while high - low > 1:  # more variables never raise a score
            middle = (low + high) // 2
            low, high = (low, middle) if self._suffice(ranked[:middle]) else (middle, high)
        sizes = itertools.takewhile(lambda n: n < len(ranked), (high << k for k in range(9)))
        for size in (*sizes, len(ranked)):
            chosen = tuple(name for name in self._names if name in ranked[:size])
            yield chosen, self.condition(chosen)

    def _suffice(self, names: Sequence[str]) -> bool:
        """Return whether the rows are not reported without evidence against some variables."""
        try:
            trial = Acceptance(tuple(names), self.condition(names), "trial")
        except ParameterError:
            return False
        return not len(self._checker.accepting(trial).anomalous(self._rows))

    def condition(self, names: Sequence[str]) -> tuple[Condition, ...]:
        """Return the condition under which some variables are not judged."""
        if self._given:
            return self._given
        ranges = (self._range(i) for i in self._ranked if self._names[i] in names)
        bounds: Iterator[Condition] = itertools.islice(filter(None, ranges), N_RANGES)
        conditions = tuple(dict.fromkeys((*self._shared, *bounds)))
        if not conditions:
            raise ParameterError(
                "No condition bounds what these rows show: values are missing or infinite.",
                "give a condition.",
                see=("when",),
            )
        return conditions

    def _of_first_clue(self, parts: NDArray[np.float64]) -> tuple[Condition, ...]:
        """Return what the first clue says of the other variables, as far as all rows satisfy it."""
        first = self._ranked[0]
        row = self._telling.take(np.array([int(np.argmax(parts[:, first]))]))
        clues = find_clues(self._scorer, row)[0].get(self._names[first], ())
        conditions = _conditions_of(clues[0]) if clues else ()
        return tuple(one for one in conditions if self._hold((one,), self._telling).all())

    def _hold(self, conditions: Sequence[Condition], table: Table) -> NDArray[np.bool_]:
        return self._scorer.compare(conditions, (), table)[0]

    def _range(self, i: int) -> Condition | None:
        """Return the range of a variable in the rows; None if it has none, or all that training had."""
        variable, column = self._scorer.model.schema.variables[i], self._columns[i]
        if len(column.present) < self._telling.n_rows:
            return None
        if isinstance(variable, Numeric):
            return _range_of(variable, column) if np.isfinite(numbers(column)).all() else None
        states = {column.cell(row) for row in range(self._telling.n_rows)}
        return None if states >= {*variable.values} else OneOf(variable.name, tuple(sorted(states)))


def _conditions_of(clue: Clue) -> tuple[Condition, ...]:
    """Return the condition of a clue; nothing if it holds whatever the other variables are."""
    conditions: Sequence[Predicate] = ()
    if isinstance(clue, Violation):
        conditions = clue.rule.antecedent
    elif isinstance(clue, Contradiction):
        conditions = clue.conditions
    return tuple(one for one in conditions if isinstance(one, Interval | OneOf | AnyOf))


def _range_of(variable: Numeric, column: Column) -> Interval:
    values = numbers(column)
    low, high = float(values.min()), float(values.max())
    below = min(low - MARGIN * variable.std, math.nextafter(low, -math.inf))
    above = max(high + MARGIN * variable.std, math.nextafter(high, math.inf))
    return Interval(
        variable.name,
        cut_between(below, low) if math.isfinite(below) else low,
        cut_between(high, above) if math.isfinite(above) else math.inf,
    )


# --- what it costs ---


class Price(msgspec.Struct, frozen=True):
    """What an acceptance silences in a table."""

    n_rows: int  # how many rows there are, and in how many of them it applies
    n_applied: int
    n_anomalous: int  # rows above the threshold without it, and how many fewer there are with it
    n_silenced: int
    # incidents and lasting changes without it, and those of them that would not be reported
    n_incidents: int
    n_gone: int
    gone: tuple[Sighting, ...]  # the worst of those
    n_left: int = 0  # accepted rows that would be above the threshold all the same

    @property
    def share(self) -> float:
        """The share of the rows in which it applies."""
        return self.n_applied / self.n_rows if self.n_rows else 0.0

    @property
    def is_high(self) -> bool:
        """Whether it applies in more than a tenth of the rows."""
        return self.share > HIGH


class _Pricing:
    """Finds out what acceptances silence in a table; `reported` says which accepted rows are."""

    def __init__(self, checker: Checker, source: Source, named: Named | None = None) -> None:
        self._checker, self._source = checker, source
        self._named = Named(np.empty(0, np.int64)) if named is None else named
        self._before, self.reported, _ = self._check(checker)

    def _check(self, checker: Checker) -> tuple[Reports, Mask, int]:
        """Return the reports, which rows to accept are reported, and in how many an acceptance holds."""
        reports = Reports(checker, self._source.n_rows)
        places, first, n_applied = [self._named.numbers[:0]], 0, 0
        for table in self._source.read():
            reports.take(table)
            places.append(self._named.within(checker.scorer, table, first) + first)
            if checker.scorer.tolerance is not None:
                n_applied += int(checker.scorer.tolerance.find(table)[-1].sum())
            first += table.n_rows
        reports.close()
        return reports, reports.reported[np.concatenate(places)], n_applied

    def price(self, acceptance: Acceptance) -> Price:
        """Return what an acceptance silences."""
        conditional = {name for one in acceptance.conditions for name in variables(one)}
        names = {*acceptance.variables, *conditional}
        left = acceptance.without(names - {*self._checker.model.schema.names})
        before, now, reported, n_applied = self._before, self._before, self.reported, 0
        if left is not None:
            now, reported, n_applied = self._check(self._checker.accepting(left))
        pairs = overlapping(before.places, now.places)
        gone = [sighting for then, others in pairs if not others for sighting in then]
        n_anomalous = int(before.reported.sum())
        gone.sort(key=lambda sighting: (-sighting.score, sighting.start))
        return Price(
            self._source.n_rows,
            n_applied,
            n_anomalous,
            max(n_anomalous - int(now.reported.sum()), 0),
            len(before.places),
            len(gone),
            before.blame(gone[:N_LISTED], N_LISTED),
            int(reported.sum()),
        )


class Offer(Printed, msgspec.Struct, frozen=True, eq=False):
    """An acceptance, the model that has it, and what it silences in the table and in a history."""

    acceptance: Acceptance
    model: Model
    price: Price | None = None
    history: Price | None = None

    def __str__(self) -> str:
        head = f"{self.acceptance.id}  {self.acceptance.said}"
        lines = [f"  {heading:<7}  {text}" for heading, text in say_offer(self)]
        return "\n".join([head, *lines])

    def __repr__(self) -> str:
        return f"<Offer {self.acceptance.id}: {visible(self.acceptance.said)}>"

    @property
    def warnings(self) -> tuple[str, ...]:
        """What must not be overlooked: where it applies in more than a tenth of the rows."""
        names = self.acceptance.name_variables(self.model.schema)
        prices = (("these rows", self.price), ("the earlier rows", self.history))
        return tuple(
            f"{names} would no longer be judged in {percent(price.share)} of {rows}: accept fewer rows, "
            f"or on a narrower condition."
            for rows, price in prices
            if price is not None and price.is_high
        )


# --- in words ---


def say_offer(offer: Offer) -> Iterator[tuple[str, str]]:
    """Yield lines with a heading each: what is muted, where, and what that silences."""
    acceptance, model = offer.acceptance, offer.model
    yield "muted", acceptance.name_variables(model.schema)
    yield "where", acceptance.say_condition(model.words)
    for heading, price in (("here", offer.price), ("history", offer.history)):
        if price is not None:
            yield (
                heading,
                (
                    f"it applies in {price.n_applied:,} of {count(price.n_rows, 'row')} "
                    f"({percent(price.share)}); {n_gone(price)}"
                ),
            )
            yield from (("", _say_sighting(sighting)) for sighting in price.gone)
            if price.n_gone > len(price.gone):
                yield "", f"and {price.n_gone - len(price.gone):,} more"
            if price.n_left:
                yield "", f"{count(price.n_left, 'accepted row')} would still be reported"


def n_gone(price: Price) -> str:
    """Say how many incidents would no longer be reported.

    >>> n_gone(Price(400, 6, 6, 6, 3, 3, ()))
    '3 of 3 incidents and 6 of 6 anomalous rows would no longer be reported'
    """
    return (
        f"{price.n_gone or 'none'} of {count(price.n_incidents, 'incident')} and "
        f"{price.n_silenced or 'none'} of {count(price.n_anomalous, 'anomalous row')} would no longer be "
        "reported"
    )


def _say_sighting(sighting: Sighting) -> str:
    when = "" if sighting.started is None else f", {sighting.started}"
    names = f": {sighting.blamed}" if sighting.blamed else ""
    return f"rows {sighting.start} to {sighting.end}{when}{names}"
