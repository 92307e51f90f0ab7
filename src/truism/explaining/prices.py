"""What it costs to accept rows: which rules fall, how far limits move, which incidents would vanish."""

import msgspec
import numpy as np

from truism.explaining.checker import Checker
from truism.explaining.chosen import Chosen
from truism.explaining.comparison import Sighting, compare
from truism.model.acceptances import Acceptance
from truism.model.model import Model
from truism.model.predicates import variables
from truism.model.schema import Numeric
from truism.scoring.alignment import align
from truism.scoring.scorer import Scorer
from truism.table.columns import Table, numbers

MOST_VANISH = 0.5  # share of earlier incidents that vanish, above which there is a warning


class Moved(msgspec.Struct, frozen=True):
    """What an acceptance allows of a variable.

    Parameters
    ----------
    variable
        Its name.
    points
        The most evidence that no longer counts, in points of the score; None for any amount.
    low, high
        The smallest and the largest number among the accepted rows; None for states.
    usual_low, usual_high
        The same among the training rows.

    """

    variable: str
    points: float | None
    low: float | None = None
    high: float | None = None
    usual_low: float | None = None
    usual_high: float | None = None


class Fallen(msgspec.Struct, frozen=True):
    """A rule that no longer counts in such rows, and how many accepted rows break it."""

    rule_id: str
    text: str
    n_rows: int


class Price(msgspec.Struct, frozen=True):
    """What accepting rows costs.

    Parameters
    ----------
    threshold, peak_before, peak_after
        The threshold, and the highest score of an accepted row by itself, before and after.
    n_rows, n_unusual
        Accepted rows, and those among them for which something had to be allowed.
    shares
        For each case, the largest share of the training rows that can satisfy its conditions.
    n_elsewhere
        Other rows of the table in which it applies; 0 without a table.
    n_normal
        The same for rows that are known to be normal; None if there are none.
    moved
        What is allowed of each variable, most first.
    rules
        Rules that no longer count in such rows, those that most accepted rows break first.
    n_incidents
        Incidents in the history; None without one.
    vanished
        Incidents of the history that would no longer be reported, worst first.
    still
        Variables that stand still for longer than ever in accepted rows; this is reported all the same.

    """

    threshold: float
    peak_before: float
    peak_after: float
    n_rows: int
    n_unusual: int
    shares: tuple[float | None, ...]
    n_elsewhere: int
    n_normal: int | None
    moved: tuple[Moved, ...]
    rules: tuple[Fallen, ...]
    n_incidents: int | None = None
    vanished: tuple[Sighting, ...] = ()
    still: tuple[str, ...] = ()

    @property
    def hides_most(self) -> bool:
        """Whether what is accepted looks like most earlier incidents."""
        return bool(self.n_incidents) and len(self.vanished) > MOST_VANISH * (self.n_incidents or 0)


def put_price(
    before: Checker,
    after: Checker,
    chosen: Chosen | None,
    acceptance: Acceptance,
    normal: Table | None = None,
    history: Table | None = None,
) -> Price:
    """Return what an acceptance costs.

    Parameters
    ----------
    before, after
        The model without and with it.
    chosen
        The accepted rows, and the table that they are from, if there is one.
    acceptance
        The acceptance.
    normal
        A prepared table of rows that are known to be normal.
    history
        A table, not prepared, with earlier incidents.

    """
    model, tolerance = before.model, after.scorer.tolerance
    assert tolerance is not None
    own = None if chosen is None or not chosen.own.n_rows else chosen.own
    n_applied = 0 if chosen is None else chosen.count(tolerance)
    n_inside = 0 if own is None else int(tolerance.applied_in(own)[-1].sum())
    n_rows = model.rules.n_rows
    peaks = [
        0.0 if own is None else float(each.scorer.weigh_alone(own).scores.max())
        for each in (before, after)
    ]
    price = Price(
        model.threshold,
        peaks[0],
        peaks[1],
        0 if own is None else own.n_rows,
        0,
        tuple(
            None if each.n_training is None else each.n_training / n_rows
            for each in acceptance.cases
        ),
        n_applied - n_inside,
        None if normal is None else int(tolerance.applied_in(normal)[-1].sum()),
        _moved(model, own, acceptance),
        () if own is None else _fallen(before.scorer, own, acceptance),
        still=() if chosen is None else chosen.still,
    )
    return price if history is None else _with_history(price, before, after, history)


def _moved(model: Model, own: Table | None, acceptance: Acceptance) -> tuple[Moved, ...]:
    """Return what is allowed of each variable, most first."""
    columns = (None,) * len(model.schema.names) if own is None else align(model.schema, own)[0]
    points: dict[str, float | None] = {}
    for case in acceptance.cases:
        for each in case.allowed:
            most = points.get(each.variable, 0.0)
            points[each.variable] = (
                None if most is None or each.points is None else max(most, each.points)
            )
    found = []
    for variable, column in zip(model.schema.variables, columns, strict=True):
        if variable.name not in points:
            continue
        told = Moved(variable.name, points[variable.name])
        values = np.empty(0)
        if isinstance(variable, Numeric) and column is not None:
            values = numbers(column)
            values = values[np.isfinite(values)]
        if isinstance(variable, Numeric) and len(values):
            told = msgspec.structs.replace(
                told,
                low=float(values.min()),
                high=float(values.max()),
                usual_low=variable.low,
                usual_high=variable.high,
            )
        found.append(told)
    return tuple(sorted(found, key=lambda each: -(each.points or np.inf)))


def _fallen(scorer: Scorer, own: Table, acceptance: Acceptance) -> tuple[Fallen, ...]:
    """Return the rules about accepted variables that accepted rows break."""
    names = {*acceptance.variables}
    found = [
        Fallen(rule.id, str(rule), n_rows)
        for rule, n_rows in scorer.count_broken(own).items()
        if any(name in names for each in rule.consequents for name in variables(each))
    ]
    return tuple(sorted(found, key=lambda each: (-each.n_rows, each.rule_id)))


def _with_history(price: Price, before: Checker, after: Checker, history: Table) -> Price:
    """Say which incidents of a history would vanish."""
    found = compare(before, after, history).table
    assert found is not None
    return msgspec.structs.replace(price, n_incidents=found.n_incidents[0], vanished=found.only_old)
