"""How far variables deviate: beyond what one of fifty normal rows shows, as a root of evidence.

Evidence grows with the square of a deviation, so its root measures how far off a value is.
"""

import numpy as np

from truism.arrays import Floats, Rows
from truism.incidents.events import Silence
from truism.model.model import Model
from truism.score.past import worth_of_death
from truism.score.scorer import Scorer
from truism.score.weighed import Weighed

FLOOR = 0.5  # share of the median variable's unit: the least unit of any variable
ONE_IN_FIFTY = 2.05  # standard deviations that one of fifty values exceeds
FARTHEST = 1e12  # standard deviations, so that sums stay finite
TINY = 1e-12  # the unit of shares of a score, which need none


class Judge:
    """Finds how far the values of rows deviate.

    Parameters
    ----------
    model
        The model.

    """

    def __init__(self, model: Model) -> None:
        n_variables = len(model.schema.variables)
        self.units = np.full(n_variables, TINY) if model.evidence is None else units_of(model)
        self._has_evidence = model.evidence is not None
        self._grave = 0.0 if model.memory is None else worth_of_death(model.memory)

    def evidence(self, weighed: Weighed, at: Rows | slice = slice(None)) -> Floats:
        """Return the evidence against each value of some rows by itself: rows × variables.

        With the paper's scoring a variable is to blame for its share of the row's score: one row far
        out of range must not hide what broke in others.
        """
        if weighed.pieces is None or not self._has_evidence:
            parts = weighed.parts[at]
            total = parts.sum(axis=1, keepdims=True)
            return np.asarray(np.divide(parts, total, out=np.zeros_like(parts), where=total > 0))
        found: Floats = weighed.pieces.plain[at] + weighed.pieces.rarities[at]
        if weighed.remembered is not None and weighed.remembered.dead is not None:
            found[weighed.remembered.dead[at] > 0] += self._grave
        return found

    def deviations(self, weighed: Weighed, at: Rows | slice = slice(None)) -> Floats:
        """Return how far some rows deviate: rows × variables."""
        evidence = self.evidence(weighed, at)
        if not self._has_evidence:
            return evidence
        return np.sqrt(np.maximum(evidence / self.units - 1.0, 0.0))


def own_variables(model: Model) -> list[tuple[str, Floats]]:
    """Return for each acceptance its id, and 1 for each variable that it is about, 0 for the others."""
    names = model.schema.names
    return [
        (each.id, np.array([name in each.variables for name in names], float))
        for each in model.accepted or ()
    ]


def silences_of(model: Model, weighed: Weighed) -> list[dict[str, Silence]]:
    """Return what does not count against each row because it was accepted, by the acceptance's id."""
    found: list[dict[str, Silence]] = [{} for _ in weighed.parts]
    silenced = weighed.silenced
    if silenced is None:
        return found
    for (name, own), applies in zip(own_variables(model), silenced.applies, strict=True):
        points = silenced.points * own * applies[:, None]
        for row in np.flatnonzero((points > 0).any(axis=1)).tolist():
            found[row][name] = Silence(1, points[row])
    return found


def differences(scorer: Scorer, weighed: Weighed) -> Floats:
    """Return how far numbers lie from those of such training rows; unknown without contexts."""
    pieces = weighed.pieces
    if pieces is None:
        return np.full(weighed.parts.shape, np.nan)
    found = scorer.weigher.profiles.differences(pieces.leaves, pieces.readings)
    return np.where(np.isfinite(found), np.clip(found, -FARTHEST, FARTHEST), np.nan)


def units_of(model: Model) -> Floats:
    """Return the evidence against each variable that one of fifty normal rows exceeds."""
    assert model.evidence is not None
    usual = [each.mean + ONE_IN_FIFTY * each.spread for each in model.evidence.usual]
    return with_floor(np.array(usual))


def with_floor(units: Floats) -> Floats:
    """Raise units to a least one, so that a variable with hardly any evidence is not always to blame.

    >>> with_floor(np.array([4.0, 8.0, 0.1, 0.0])).tolist()
    [4.0, 8.0, 2.0, 2.0]
    """
    some = units[units > 0]
    return np.maximum(units, FLOOR * float(np.median(some)) if len(some) else 1.0)


def added(total: Floats, rows: Floats) -> Floats:
    """Add rows one after the other, so that the sum does not depend on how many come at once."""
    sums = np.add.accumulate(np.concatenate([total[None], rows]), axis=0)
    last: Floats = sums[-1].copy()  # one of them alone would hold all
    return last
