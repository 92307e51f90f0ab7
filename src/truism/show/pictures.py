"""A reason as a picture: the blamed variable over the incident, then those of the condition.

The expectation is drawn only where the condition held, so that a person sees where the rule breaks. A
value that is rare in itself gives a picture of its variable alone.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from truism.explain.blames import Blame
from truism.explain.clues import Contradiction, Outside, Rarity
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
from truism.model.rules import Rule
from truism.model.schema import Categorical, Variable
from truism.score.alignment import UNSEEN, codes
from truism.score.past import rows_by_series
from truism.score.scorer import Scorer
from truism.score.weighed import Violation
from truism.show.contents import Band, Line, Panel, Picture, Span
from truism.show.series import Axis, line, reduce, runs
from truism.table.columns import Table, numbers

N_BUCKETS = 240
MAX_BROKEN = 120
MAX_PANELS = 6
_LEAST_AROUND = 60
_OTHER = "not seen in training"


class Painter:
    """Draws the incidents of one table.

    Parameters
    ----------
    scorer
        The model.
    table
        The rows.
    axis
        Their places on the x axis.

    """

    def __init__(self, scorer: Scorer, table: Table, axis: Axis) -> None:
        self.scorer, self.table, self.axis = scorer, table, axis
        self.variable_of = scorer.model.schema.variable_of()

    def paint(self, incident: Incident, blame: Blame) -> Picture:
        """Draw the first clue of a blame."""
        window = self._rows(incident)
        part = self.table.take(window)
        x = self.axis.x[window]
        match blame.clues[:1]:
            case (Violation(rule=rule, failed=failed),):
                panels = self._panels_of(blame.variable, rule.antecedent, failed, part, x)
            case (Contradiction(conditions=conditions, expected=expected),) if expected:
                panels = self._panels_of(blame.variable, conditions, expected, part, x)
            case (Rarity(expected=usual) | Outside(expected=usual),):
                always = np.ones(part.n_rows, np.bool_)
                panels = [self.panel(part, x, blame.variable, usual or "", always, None)]
            case _:
                panels = [self.panel(part, x, blame.variable, "", None, None)]
        return Picture(
            self.axis.span(incident.start, incident.end),
            float(self.axis.x[incident.peak]),
            tuple(panels[:MAX_PANELS]),
        )

    def window(self, incident: Incident) -> slice:
        """Choose the rows around an incident: as many before and after as it has, but not too few."""
        return _around(incident.start, incident.end, self.table.n_rows)

    def _rows(self, incident: Incident) -> slice | NDArray[np.int64]:
        """Return the rows to draw: those around an incident that belong to its series."""
        series = self.scorer.model.series
        if incident.series is None or series is None:
            return self.window(incident)
        rows = rows_by_series(series.by, self.table)[incident.series]
        start, end = np.searchsorted(rows, [incident.start, incident.end]).tolist()
        return rows[_around(start, end, len(rows))]

    def _panels_of(
        self,
        blamed: str,
        conditions: Sequence[Predicate],
        failed: Predicate,
        part: Table,
        x: NDArray[np.float64],
    ) -> list[Panel]:
        holds, broken = self.scorer.compare(conditions, (failed,), part)
        panels = [self.panel(part, x, blamed, failed, holds, broken)]
        seen = {blamed}
        for predicate in (failed, *conditions):
            for name in variables(predicate):
                if name not in seen:
                    seen.add(name)
                    always = np.ones(part.n_rows, np.bool_)
                    panels.append(self.panel(part, x, name, predicate, always, None))
        return panels

    def panel(
        self,
        part: Table,
        x: NDArray[np.float64],
        name: str,
        predicate: Predicate | str,
        where: NDArray[np.bool_] | None,
        broken: NDArray[np.bool_] | None,
    ) -> Panel:
        """Draw one variable, what was expected of it and where, and the rows that break that."""
        variable = self.variable_of[name]
        values, states = _drawable(variable, part, name)
        band = None
        if where is not None and not isinstance(predicate, str):
            band = self._band(variable, predicate, where, x)
        marks = Line((), ())
        if broken is not None:
            rows = np.flatnonzero(broken & np.isfinite(values))
            if len(rows) > MAX_BROKEN:
                rows = rows[np.linspace(0, len(rows) - 1, MAX_BROKEN).astype(np.int64)]
            marks = line(x[rows], values[rows])
        drawn = reduce(*self.axis.apart(x, values), N_BUCKETS)
        return Panel(name, str(predicate), states, drawn, band, marks)

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
                own = next(each for each in parts if each.variable == variable.name)
                return Band(None, None, _positions(variable, own.values), spans)
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


def panels_of_rule(scorer: Scorer, table: Table, axis: Axis, rule: Rule) -> list[Panel]:
    """Draw every variable of a rule over a whole table, consequents first."""
    painter = Painter(scorer, table, axis)
    holds, _ = scorer.apply(rule, table)
    always = np.ones(table.n_rows, np.bool_)
    panels: list[Panel] = []
    for predicate in (*rule.consequents, *rule.antecedent):
        where = holds if predicate in rule.consequents else always
        panels += [
            painter.panel(table, axis.x, name, predicate, where, None)
            for name in variables(predicate)
        ]
    return panels
