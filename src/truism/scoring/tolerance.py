"""What was accepted, applied to evidence: rows and their evidence go in, what still counts comes out.

This is the only place where acceptances enter scoring. In rows that satisfy the condition of a case, the
evidence against a variable does not count up to what the case allows. What exceeds that counts twice, up
to all of it: evidence of more than twice what is allowed counts in full. A broken rule counts in full or
not at all. Where several cases apply, the most generous one counts for each variable.
"""

from collections.abc import Callable

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.arrays import Floats, Mask
from truism.model.acceptances import HOUR, WEEKDAY, Acceptance, Condition, with_clock
from truism.model.evidence import Grave
from truism.model.model import Model
from truism.model.schema import Schema
from truism.model.stamps import today
from truism.scoring.alignment import align, time_column
from truism.scoring.bits import unpack
from truism.scoring.stillness import Stillness
from truism.scoring.truths import Truths
from truism.scoring.weighed import Silenced
from truism.scoring.worth import lifted
from truism.table.columns import Column, Table
from truism.table.timelines import wall_clock

Change = Callable[[Floats], Floats]

_HOUR, _DAY = 3_600_000_000, 86_400_000_000  # microseconds


class Kinds(msgspec.Struct, frozen=True, eq=False):
    """Evidence against rows, in points of the score: rows × variables of each kind."""

    rules: Floats
    contexts: Floats
    rarities: Floats

    @property
    def plain(self) -> Floats:
        """How much each variable is contradicted, before grave rules raise it."""
        return np.maximum(self.contexts, self.rules)

    def lifted(self, grave: Grave | None, worth: Floats) -> Floats:
        """Return the same after that; `worth` is that of broken rules, whether they count or not."""
        return lifted(grave, np.where(self.rules > 0, worth, 0.0), self.plain, self.rarities)


class _Limits(msgspec.Struct, frozen=True, eq=False):
    """A case: its conditions' positions, the variables it allows something of, and how much."""

    acceptance: int
    conditions: slice
    places: NDArray[np.int64]
    limits: Floats


class Tolerance:
    """The acceptances of a model, ready to be applied.

    Parameters
    ----------
    model
        The model.

    """

    def __init__(self, model: Model) -> None:
        self.accepted = model.accepted or ()
        self._model, self._schema = model, with_clock(model.schema)
        place = {name: i for i, name in enumerate(model.schema.names)}
        self._clock = [name for name in ("hour", "weekday") if name not in place]
        self._cases: list[_Limits] = []
        conditions: list[Condition] = []
        for number, acceptance in enumerate(self.accepted):
            for case in acceptance.cases:
                own = slice(len(conditions), len(conditions) + len(case.conditions))
                conditions += case.conditions
                self._cases.append(
                    _Limits(
                        number,
                        own,
                        np.array([place[each.variable] for each in case.allowed], np.int64),
                        np.array([each.limits for each in case.allowed]).reshape(-1, 3).T,
                    )
                )
        self._truths = Truths(self._schema, conditions)

    def find(self, table: Table) -> Mask:
        """Return in which rows each case applies: cases × rows."""
        columns, _ = align(self._model.schema, table)
        moments = _moments(self._model.schema, table)
        clock = [column for column in _clock(moments) if column.name in self._clock]
        true, _ = self._truths.evaluate_all([*columns, *clock])
        found = np.ones((len(self._cases), table.n_rows), np.bool_)
        for case, holds in zip(self._cases, found, strict=True):
            for each in true[case.conditions]:
                holds &= unpack(each, table.n_rows)
            holds &= _lasts(self.accepted[case.acceptance], moments)
        return found

    def applied_in(self, table: Table) -> Mask:
        """Return in which rows each acceptance applies: acceptances × rows."""
        return self._by_acceptance(self.find(table))

    def muted_in(self, table: Table) -> Mask:
        """Return which variables are not to be judged at all in rows: rows × variables."""
        allowed = self._allowed(self.find(table), len(self._model.schema.names))
        return np.asarray(np.isinf(allowed).all(axis=0))

    def spare(self, applies: Mask, kinds: Kinds) -> tuple[Kinds, Silenced | None]:
        """Return what still counts of the evidence against rows, and what does not.

        `applies` is what `find` returned.
        """
        rows = np.flatnonzero(applies.any(axis=0))
        if not len(rows):
            return kinds, None
        rules, contexts, rarities = self._allowed(applies[:, rows], kinds.rules.shape[1])
        counted = Kinds(
            _replaced(kinds.rules, rows, lambda own: np.where(own <= rules, 0.0, own)),
            _replaced(kinds.contexts, rows, lambda own: beyond(own, contexts)),
            _replaced(kinds.rarities, rows, lambda own: beyond(own, rarities)),
        )
        points = kinds.plain + kinds.rarities - (counted.plain + counted.rarities)
        return counted, Silenced(self._by_acceptance(applies), points)

    def spare_penalties(self, applies: Mask, penalties: Floats) -> tuple[Floats, Silenced | None]:
        """Return what still counts of the penalties of the paper's scoring, and what does not."""
        rows = np.flatnonzero(applies.any(axis=0))
        if not len(rows):
            return penalties, None
        allowed = self._allowed(applies[:, rows], penalties.shape[1])[0]
        counted = _replaced(penalties, rows, lambda own: beyond(own, allowed))
        return counted, Silenced(self._by_acceptance(applies), penalties - counted)

    def _by_acceptance(self, applies: Mask) -> Mask:
        """Return in which rows each acceptance applies: acceptances × rows."""
        found = np.zeros((len(self.accepted), applies.shape[1]), np.bool_)
        for case, holds in zip(self._cases, applies, strict=True):
            found[case.acceptance] |= holds
        return found

    def _allowed(self, applies: Mask, n_variables: int) -> Floats:
        """Return what is allowed of each kind: kinds × rows × variables."""
        allowed = np.zeros((3, applies.shape[1], n_variables))
        for case, holds in zip(self._cases, applies, strict=True):
            for limits, into in zip(case.limits, allowed, strict=True):
                some = np.ix_(np.flatnonzero(holds), case.places)
                into[some] = np.maximum(into[some], limits)
        return allowed


def sparing(
    stillness: Stillness | None, tolerance: Tolerance | None, table: Table
) -> Stillness | None:
    """Return what finds dead variables in a table, but for those that are not to be judged there."""
    if stillness is None or tolerance is None:
        return stillness
    return stillness.sparing(tolerance.muted_in(table))


def beyond(evidence: Floats, allowed: Floats) -> Floats:
    """Return what counts of evidence if some of it is allowed.

    >>> beyond(np.array([1.0, 2.0, 3.0, 4.0, 5.0]), np.array([2.0])).tolist()
    [0.0, 0.0, 2.0, 4.0, 5.0]
    """
    with np.errstate(invalid="ignore"):
        excess = 2.0 * np.maximum(evidence - allowed, 0.0)
    found: Floats = np.minimum(evidence, np.where(evidence <= allowed, 0.0, excess))
    return found


def _replaced(values: Floats, rows: NDArray[np.int64], change: Change) -> Floats:
    """Return values with some rows changed, laid out in memory as before."""
    found = values.copy(order="K")
    found[rows] = change(values[rows])
    return found


def _lasts(acceptance: Acceptance, moments: NDArray[np.datetime64]) -> Mask:
    """Return in which rows an acceptance has not ended; for rows without a time, today counts."""
    if acceptance.until is None:
        return np.ones(len(moments), np.bool_)
    ends = np.datetime64(acceptance.until) + np.timedelta64(1, "D")
    found: Mask = moments < ends
    lasts_today = today() <= acceptance.until
    return np.where(np.isnat(moments), lasts_today, found)


def _moments(schema: Schema, table: Table) -> NDArray[np.datetime64]:
    """Return when rows are, in their own zone; NaT where that is not known."""
    column = time_column(schema, table)
    if column is None or column.values.dtype.kind != "M":
        return np.full(table.n_rows, np.datetime64("NaT", "us"))
    return wall_clock(column)


def _clock(moments: NDArray[np.datetime64]) -> tuple[Column, Column]:
    """Return the hour and the day of the week of rows, as columns of a table."""
    missing = np.isnat(moments)
    times = np.where(missing, 0, moments.astype(np.int64))
    days, weekday = np.floor_divide(times, _DAY), WEEKDAY.values
    names = tuple(str(each) for each in weekday)
    return (
        Column(
            HOUR.name, "number", np.where(missing, np.nan, (times - days * _DAY) / _HOUR), missing
        ),
        Column(WEEKDAY.name, "text", np.mod(days + 3, 7).astype(np.int32), missing, names),
    )
