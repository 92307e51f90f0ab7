"""Which of two models is better where rows are labelled, by how much, and whether that is chance.

Rows of a series resemble their neighbours, and one attack of a thousand rows is one attack. So what is
drawn again is not rows but whole pieces of the table: labelled segments, and blocks of consecutive normal
rows. Both models are judged on the same pieces every time (a paired bootstrap), because what is hard for
one is hard for the other. Percentiles of few pieces lie too close together; they are moved apart as
Student's distribution is wider than the normal one. With fewer than five segments nothing is said.
"""

from collections.abc import Sequence
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

CONFIDENCE = 0.95
N_DRAWS = 2000
N_BLOCKS = 10  # blocks of normal rows; long ones, since neighbours resemble each other
MAX_PIECES = 500  # labelled segments that are drawn apart; more are drawn as neighbours
MIN_SEGMENTS = 5
_Z = 1.959964  # the normal distribution's two-sided 95 % quantile

Verdict = Literal["better", "worse", "same", "chance", "too few"]
Floats = NDArray[np.float64]
_Rows = NDArray[np.int64]


class Measure(msgspec.Struct, frozen=True):
    """One measure of both models.

    Parameters
    ----------
    old, new
        Its value for each model.
    difference
        New less old.
    low, high
        The 95 % interval of the difference; None if there are too few segments.
    verdict
        What that means for the new model. ``"chance"`` if the interval holds 0.

    """

    old: float
    new: float
    difference: float
    low: float | None
    high: float | None
    verdict: Verdict


class Advantage(msgspec.Struct, frozen=True):
    """How the models compare where rows are labelled.

    Parameters
    ----------
    label
        The column of labels.
    n_labelled, n_segments
        Labelled rows, and the segments that they form.
    auc
        Area under the ROC of the scores, whatever the thresholds.
    found
        The share of the labelled segments in which a row is reported.
    false_alarms
        The share of the other rows that are reported; less is better.

    """

    label: str
    n_labelled: int
    n_segments: int
    auc: Measure
    found: Measure
    false_alarms: Measure

    @property
    def measures(self) -> tuple[Measure, Measure, Measure]:
        """All measures."""
        return self.auc, self.found, self.false_alarms

    @property
    def verdict(self) -> Verdict | Literal["mixed"]:
        """What all measures together mean for the new model."""
        told = {each.verdict for each in self.measures}
        if {"better", "worse"} <= told:
            return "mixed"
        order: tuple[Verdict, ...] = ("too few", "better", "worse", "chance", "same")
        return next(verdict for verdict in order if verdict in told)


class Judged(msgspec.Struct, frozen=True, eq=False):
    """What one model says of every row: its scores, and which rows it reports."""

    scores: Floats
    reported: NDArray[np.bool_]


def weigh_up(
    label: str,
    segments: Sequence[_Rows],
    normal: NDArray[np.int64],
    old: Judged,
    new: Judged,
    *,
    seed: int = 0,
) -> Advantage:
    """Compare two models on labelled rows.

    Parameters
    ----------
    label
        The column of labels.
    segments
        The labelled rows, those of one incident together.
    normal
        The other rows.
    old, new
        What the models say.
    seed
        Seed of the draws.

    Returns
    -------
    Advantage

    """
    pieces = [np.concatenate(some) for some in _neighbours(segments, MAX_PIECES)]
    blocks = np.array_split(normal, min(N_BLOCKS, len(normal)))
    random = np.random.default_rng(seed)
    of_pieces, of_blocks = (_draw(random, len(some)) for some in (pieces, blocks))
    few = len(segments) < MIN_SEGMENTS
    stretch = 1.0 if few else _stretch(min(len(pieces), len(blocks)))

    def measure(values: Sequence[tuple[float, Floats]], better: int) -> Measure:
        (then, thens), (now, nows) = values
        return _measure(then, now, None if few else nows - thens, stretch, better)

    n_segments = np.array([len(some) for some in _neighbours(segments, MAX_PIECES)], float)
    aucs, found, alarms = [], [], []
    for each in (old, new):
        aucs.append(_auc(each.scores, pieces, blocks, of_pieces, of_blocks))
        hits = np.array([each.reported[rows].any() for rows in segments], float)
        found.append(_share(_sums(hits, n_segments), n_segments, of_pieces))
        false = np.array([each.reported[rows].sum() for rows in blocks], float)
        alarms.append(_share(false, np.array([len(rows) for rows in blocks], float), of_blocks))
    n_labelled = sum(map(len, segments))
    return Advantage(
        label, n_labelled, len(segments), measure(aucs, 1), measure(found, 1), measure(alarms, -1)
    )


def _neighbours(things: Sequence[_Rows], most: int) -> list[Sequence[_Rows]]:
    """Put neighbours together until there are at most so many groups."""
    size = -(-len(things) // most)
    return [things[start : start + size] for start in range(0, len(things), size)]


def _draw(random: np.random.Generator, n: int) -> Floats:
    """Return how often each of n pieces is drawn, in each of many draws of n pieces."""
    return random.multinomial(n, np.full(n, 1 / n), size=N_DRAWS).astype(np.float64)


def _sums(values: Floats, sizes: Floats) -> Floats:
    """Add up consecutive values in groups of given sizes."""
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    return np.add.reduceat(values, starts)


def _share(part: Floats, whole: Floats, drawn: Floats) -> tuple[float, Floats]:
    """Return a share in the table, and in each draw."""
    return float(part.sum() / whole.sum()), (drawn @ part) / (drawn @ whole)


def _auc(
    scores: Floats,
    pieces: Sequence[_Rows],
    blocks: Sequence[_Rows],
    of_pieces: Floats,
    of_blocks: Floats,
) -> tuple[float, Floats]:
    """Return the area under the ROC in the table, and in each draw.

    It is the share of pairs of a labelled and a normal row in which the labelled one scores higher.
    Counted once for each piece and block, these pairs give the area of every draw.
    """
    labelled = scores[np.concatenate(pieces)]
    sizes = np.array([len(rows) for rows in pieces], np.float64)
    above = np.empty((len(pieces), len(blocks)))
    for at, rows in enumerate(blocks):
        others = np.sort(scores[rows])
        below = np.searchsorted(others, labelled, "left") + np.searchsorted(
            others, labelled, "right"
        )
        above[:, at] = _sums(below / 2, sizes)
    n_normal = np.array([len(rows) for rows in blocks], np.float64)
    pairs = ((of_pieces @ above) * of_blocks).sum(axis=1)
    area = float(above.sum() / (sizes.sum() * n_normal.sum()))
    return area, pairs / ((of_pieces @ sizes) * (of_blocks @ n_normal))


def _stretch(n: int) -> float:
    """Return how much wider an interval from n pieces must be than its percentiles.

    Student's quantile by its expansion (Abramowitz and Stegun, 26.7.5), and the factor between the
    spread of a sample and that of what it was drawn from.
    """
    free, z = n - 1, _Z
    student = z + (z**3 + z) / (4 * free) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * free**2)
    return float(student / z * np.sqrt(n / free))


def _measure(then: float, now: float, drawn: Floats | None, stretch: float, better: int) -> Measure:
    difference = now - then
    if drawn is None:
        return Measure(then, now, difference, None, None, "too few")
    ends = np.quantile(drawn, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    low, high = (float(difference + stretch * (end - difference)) for end in ends)
    verdict: Verdict = "chance"
    if low == high == 0:
        verdict = "same"
    elif low > 0 or high < 0:
        verdict = "better" if difference * better > 0 else "worse"
    return Measure(then, now, difference, low, high, verdict)
