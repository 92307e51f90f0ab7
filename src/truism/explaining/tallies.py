"""What adds up over the rows of an event: who is to blame, since when, and where it shows best.

A variable is to blame for a row by its *deviation*: how far the evidence against it is beyond what it is
in one of fifty normal rows, as a root, because evidence grows with the square of a deviation. Over the
rows of an incident deviations are summed, and a row counts half after one lookback, because faults
spread. A `Tally` grows with every row and is as small as one row.
"""

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.model.model import Model
from truism.model.series import LOOKBACK
from truism.scoring.scorer import Scorer
from truism.scoring.stillness import worth_of_death
from truism.scoring.weighed import Silenced, Weighed

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

NEVER = -1
FLOOR = 0.5  # share of the median variable's unit: the least unit of any variable
ONE_IN_FIFTY = 2.05  # standard deviations that one of fifty values exceeds
ASIDE = 0.5  # share of what lies off that must lie on one side more than on the other
GUILTY = 0.5  # share of the most blamed variable's blame: those with more are most to blame


class Silence(msgspec.Struct, frozen=True, eq=False, forbid_unknown_fields=True):
    """What an acceptance takes from an event: in how many rows, and how much from each variable."""

    n_rows: int
    points: Floats


class Tally(msgspec.Struct, frozen=True, eq=False):
    """What is known of an event's rows; arrays have one entry for each variable.

    Parameters
    ----------
    first, last, peak
        Rows of the table: the first, the last, and the one with the highest score. In a series with
        a past, the last two are rows in which a variable that is most to blame deviates.
    score
        That score.
    n_rows, n_seen
        How many rows there are up to the last one, and how many were added up.
    blame
        How much each variable is to blame.
    parts
        What each variable adds to the scores of all rows.
    since
        The first row in which each variable deviates; -1 if it never does.
    telling, strength
        The row in which it deviates most, and by how much.
    lasting
        For how many rows its past had been high in that row.
    above, below, n_known
        How far its numbers lie above and below those of such training rows, summed over all rows, in
        standard deviations, and in how many rows there is a number.
    dead, stood
        The last row in which it was dead, and for how many rows it had stood still by then; -1 and 0
        if it never was.
    silences
        What does not count because it was accepted, by the acceptance's id.

    """

    first: int
    last: int
    peak: int
    score: float
    n_rows: int
    n_seen: int
    blame: Floats
    parts: Floats
    since: Rows
    telling: Rows
    strength: Floats
    lasting: Rows
    above: Floats
    below: Floats
    n_known: Rows
    dead: Rows
    stood: Rows
    silences: dict[str, Silence] = {}

    @property
    def offsets(self) -> Floats:
        """How far each variable lies off on average, in standard deviations.

        It is NaN if its numbers lie off on both sides, or are missing in most rows.
        """
        leaning, straying = self.above - self.below, self.above + self.below
        aside = (straying > 0) & (np.abs(leaning) >= ASIDE * straying)
        aside &= 2 * self.n_known >= self.n_seen
        return np.where(aside, leaning / np.maximum(self.n_known, 1), np.nan)

    @property
    def telling_rows(self) -> set[int]:
        """The rows in which variables are told."""
        return {self.peak, *self.telling.tolist(), *self.dead.tolist()} - {NEVER}

    @property
    def marked_rows(self) -> set[int]:
        """The rows whose times are told."""
        return {self.first, self.last, *self.since.tolist()} - {NEVER}

    @property
    def shares(self) -> Floats:
        """Each variable's share of the blame; they sum to 1."""
        return shares_of(self.blame, self.parts)


def shares_of(deviations: Floats, parts: Floats) -> Floats:
    """Return shares of the blame: of the deviations, or of the score where nothing deviates."""
    for blame in (deviations, parts):
        total = blame.sum()
        if total > 0:
            return np.asarray(blame / total)
    return parts


def no_rows(n_variables: int) -> Tally:
    """Return the tally of an event that has no row yet."""
    zeros, nought = np.zeros(n_variables), np.zeros(n_variables, np.int64)
    never: Rows = nought + NEVER
    return Tally(
        first=NEVER,
        last=NEVER,
        peak=NEVER,
        score=-1.0,
        n_rows=0,
        n_seen=0,
        blame=zeros,
        parts=zeros,
        since=never,
        telling=never,
        strength=zeros - 1,
        lasting=nought,
        above=zeros,
        below=zeros,
        n_known=nought,
        dead=never,
        stood=nought,
    )


class Judge:
    """Finds how far the values of rows deviate.

    Parameters
    ----------
    model
        The model.

    """

    def __init__(self, model: Model) -> None:
        self.lookback = LOOKBACK if model.memory is None else model.memory.lookback
        self.units = None if model.evidence is None else units_of(model)
        self.grave = 0.0 if model.memory is None else worth_of_death(model.memory)
        self.accepted = own_variables(model)

    def deviations(
        self, weighed: Weighed, at: Rows, *, on_top: bool = False, members: Rows | None = None
    ) -> Floats:
        """Return how far rows deviate, rows × variables; `on_top` leaves out what is known.

        If `members` are given, which are 1 or 0 for each variable, only those may be to blame.

        With the paper's scoring a variable is to blame for its share of the row's score: one row far
        out of range must not hide what broke in others.
        """
        if weighed.pieces is None or self.units is None:
            parts = weighed.parts[at]
            total = parts.sum(axis=1, keepdims=True)
            return np.asarray(np.divide(parts, total, out=np.zeros_like(parts), where=total > 0))
        evidence: Floats = weighed.pieces.plain[at] + weighed.pieces.rarities[at]
        if weighed.remembered is not None and weighed.remembered.dead is not None:
            evidence += np.where(weighed.remembered.dead[at] > 0, self.grave, 0.0)
        if on_top and weighed.remembered is not None:
            evidence = np.maximum(evidence - weighed.remembered.known[at], 0.0)
        far = np.sqrt(np.maximum(evidence / self.units - 1.0, 0.0))
        return far if members is None else far * members

    def add_risen(
        self, before: Tally, rows: Rows, ages: Rows, weighed: Weighed, at: Rows, *, on_top: bool
    ) -> Tally:
        """Add rows from before an event, while it is rising: they count for blame only."""
        far = self.deviations(weighed, at, on_top=on_top)
        return self._tell(self._blame(before, rows, ages, far), rows, far, weighed, at)

    def add_rows(
        self,
        before: Tally,
        rows: Rows,
        ages: Rows,
        weighed: Weighed,
        at: Rows,
        scores: Floats,
        n_blamed: int,
        differences: Floats | None = None,
        *,
        on_top: bool,
        members: Rows | None = None,
    ) -> Tally:
        """Add rows of an event to its tally.

        Parameters
        ----------
        before
            What is known of the rows before.
        rows
            Numbers of the rows in the table.
        ages
            How many rows after its onset each is.
        weighed, at
            A block of rows, and where in it they are.
        scores
            Their scores.
        n_blamed
            How many of them count for blame: what is a shift has been blamed already.
        differences
            How far their numbers lie from those of such training rows; NaN where that is not known.
        on_top
            Whether it began on top of something settled.
        members
            Those who may be to blame, 1 or 0 for each variable; all if absent.

        """
        far = self.deviations(weighed, at, on_top=on_top, members=members)
        if differences is None:
            differences = np.full(far.shape, np.nan)
        # Rows without a past are unusual by themselves.
        own = np.ones(len(at), np.bool_)
        if weighed.remembered is not None:
            own = self._deviate(before, ages[:n_blamed], far)
        own[0] |= not before.n_seen
        alive = np.flatnonzero(own)
        last, n_rows = before.last, before.n_rows
        if len(alive):
            last, n_rows = int(rows[alive[-1]]), before.n_seen + int(alive[-1]) + 1
        before = self._blame(before, rows[:n_blamed], ages[:n_blamed], far[:n_blamed])
        before = self._tell(before, rows, far, weighed, at)
        told = np.where(own, scores, -np.inf)
        peak = int(told.argmax())
        higher = told[peak] > before.score
        return msgspec.structs.replace(
            before,
            first=before.first if before.n_seen else int(rows[0]),
            last=last,
            peak=int(rows[peak]) if higher else before.peak,
            score=float(scores[peak]) if higher else before.score,
            n_rows=n_rows,
            n_seen=before.n_seen + len(rows),
            parts=added(before.parts, weighed.parts[at]),
            above=added(before.above, np.fmax(differences, 0.0)),
            below=added(before.below, np.fmax(-differences, 0.0)),
            n_known=before.n_known + np.isfinite(differences).sum(axis=0),
            silences=self._silences(before.silences, weighed.silenced, at),
            **_last_dead(before, rows, weighed, at),
        )

    def _silences(
        self, before: dict[str, Silence], silenced: Silenced | None, at: Rows
    ) -> dict[str, Silence]:
        """Add up what does not count because it was accepted."""
        if silenced is None:
            return before
        found = dict(before)
        own = silenced.take(at)
        for (name, places), applies in zip(self.accepted, own.applies, strict=True):
            points = own.points * places * applies[:, None]
            rows = (points > 0).any(axis=1)
            if rows.any():
                known = found.get(name) or Silence(0, np.zeros_like(places))
                found[name] = Silence(
                    known.n_rows + int(rows.sum()), added(known.points, points[rows])
                )
        return found

    def _blame(self, before: Tally, rows: Rows, ages: Rows, far: Floats) -> Tally:
        """Add what rows count for blame, and find where each variable begins to deviate."""
        if not len(rows):
            return before
        begins = np.where((far > 0).any(axis=0), rows[(far > 0).argmax(axis=0)], NEVER)
        return msgspec.structs.replace(
            before,
            blame=added(before.blame, far * self._weights(ages)[:, None]),
            since=np.where(before.since == NEVER, begins, before.since),
        )

    def _tell(self, before: Tally, rows: Rows, far: Floats, weighed: Weighed, at: Rows) -> Tally:
        """Find the row in which each variable deviates most, however late in an event it comes."""
        if not len(rows):
            return before
        every = np.arange(far.shape[1])
        best = far.argmax(axis=0)
        strength = far[best, every]
        stronger = strength > np.maximum(before.strength, 0.0)
        lasting = np.zeros(len(every), np.int64)
        if weighed.remembered is not None:
            lasting = weighed.remembered.lasting[at[best], every].astype(np.int64)
        return msgspec.structs.replace(
            before,
            telling=np.where(stronger, rows[best], before.telling),
            strength=np.where(stronger, strength, before.strength),
            lasting=np.where(stronger, lasting, before.lasting),
        )

    def _weights(self, ages: Rows) -> Floats:
        """Return how much rows count, by how many rows after the onset they are."""
        if self.units is None:
            return np.ones(len(ages))
        return np.asarray(self.lookback / (ages + self.lookback))

    def _deviate(self, before: Tally, ages: Rows, far: Floats) -> NDArray[np.bool_]:
        """Return the rows in which one of those most to blame until then deviates.

        The others are unusual only because of what came before them.
        """
        weighted = far[: len(ages)] * self._weights(ages)[:, None]
        blame = np.add.accumulate(np.concatenate([before.blame[None], weighted]), axis=0)
        blame = blame[np.minimum(np.arange(1, len(far) + 1), len(ages))]
        most = blame >= GUILTY * blame.max(axis=1, keepdims=True)
        return np.asarray((most & (far > 0)).any(axis=1))


def own_variables(model: Model) -> list[tuple[str, Floats]]:
    """Return for each acceptance its id, and 1 for each variable that it is about, 0 for the others."""
    names = model.schema.names
    return [
        (each.id, np.array([name in each.variables for name in names], float))
        for each in model.accepted or ()
    ]


def _last_dead(before: Tally, rows: Rows, weighed: Weighed, at: Rows) -> dict[str, Rows]:
    """Return when variables were dead last, and for how many rows they had stood still by then."""
    remembered = weighed.remembered
    if remembered is None or remembered.dead is None:
        return {}
    stood = remembered.dead[at].astype(np.int64)
    last = len(at) - 1 - (stood > 0)[::-1].argmax(axis=0)
    found = stood[last, np.arange(stood.shape[1])]
    return {
        "dead": np.where(found > 0, rows[last], before.dead),
        "stood": np.where(found > 0, found, before.stood),
    }


def differences(scorer: Scorer, weighed: Weighed, at: Rows) -> Floats:
    """Return how far numbers lie from those of such training rows; unknown without contexts."""
    pieces = weighed.pieces
    if pieces is None:
        return np.full((len(at), weighed.parts.shape[1]), np.nan)
    profiles = scorer.prepared.profiles
    return profiles.differences(pieces.leaves[:, at], pieces.readings.standard[at])


def without(tally: Tally, members: Rows) -> Tally:
    """Return a tally as if some variables, which are 1 among the others, had never deviated."""
    out = members > 0
    return msgspec.structs.replace(
        tally,
        blame=np.where(out, 0.0, tally.blame),
        since=np.where(out, NEVER, tally.since),
        telling=np.where(out, NEVER, tally.telling),
        strength=np.where(out, -1.0, tally.strength),
        lasting=np.where(out, 0, tally.lasting),
        dead=np.where(out, NEVER, tally.dead),
        stood=np.where(out, 0, tally.stood),
    )


def units_of(model: Model) -> Floats:
    """Return the evidence against each variable that one of fifty normal rows exceeds."""
    if model.memory is not None:
        return np.array(model.memory.units)
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
