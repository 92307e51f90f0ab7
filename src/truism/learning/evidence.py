"""The evidence against held-out normal rows: training rows go in, units and a threshold come out.

Every training row is weighed by the other rows: by leaf statistics, values and rules without its own
block (`truism.learning.study`). Mixed blocks give the units, blocks that stand apart the threshold. What
contexts explain in mixed blocks, but not in blocks that stand apart, is drift, and then contexts count
for less.
"""

import math
from collections.abc import Sequence

import msgspec
import numpy as np

from truism.arrays import Floats, Rows
from truism.learning.holdout import broken_worths
from truism.learning.rules import MinedRules
from truism.learning.study import N_BLOCKS, HeldOut, Study, grow
from truism.model.evidence import MIN_UNIT, Evidence, Grave, Usual
from truism.model.provenance import ShareOfRows, Threshold
from truism.model.schema import Schema
from truism.model.settings import Settings
from truism.scoring.thresholds import calibrate
from truism.scoring.worth import RARITY_WEIGHT, RULE_WEIGHT, lift, rule_worth
from truism.table.columns import Column
from truism.work import Progress

MAX_RATE = 0.01  # share of held-out rows above the default threshold, or that break a grave rule
GRAVE_SHARE = 0.8  # a row that breaks a grave rule scores at least this share of the threshold
GRAVE_MARGIN = 1.1  # times the expected exceptions of a rule that too many held-out rows break
MIN_EXPECTED = 20  # exceptions to expect by chance, for a rule without any to be grave
DRIFT_PRIOR, TRUST_POWER, MIN_TRUST = 0.02, 3, 1 / 8
MIN_USUAL_SPREAD = 0.3  # share of the median over all variables


class LearnedEvidence(msgspec.Struct, frozen=True, eq=False):
    """The evidence, the threshold that at most 1 % of held-out rows exceed, and what they come from.

    `apart` are the held-out rows of the study, in stretches; `worths` are of the rules that the rows
    `judged` break, these and those that were asked for.
    """

    evidence: Evidence
    limit: Threshold
    study: Study
    apart: HeldOut
    judged: Rows
    worths: Floats


def learn_evidence(
    schema: Schema,
    columns: Sequence[Column],
    mined: MinedRules,
    settings: Settings,
    n_jobs: int,
    progress: Progress,
    *,
    rows: Rows | None = None,
) -> LearnedEvidence:
    """Learn what is usual beyond the rules, and set the threshold.

    Parameters
    ----------
    schema, columns
        The variables and the training rows.
    mined
        The rules, learned from all rows.
    settings
        How they were learned.
    n_jobs
        Number of threads; the result does not depend on it.
    progress
        Called with the stage, the amount done, and the total amount.
    rows
        Further rows of which to find the rules that they break, ascending. If all rows are weighed, the
        evidence against each value is kept, too.

    """
    grown = grow(schema, columns, settings.random_state, n_jobs, progress)
    study = Study(schema, columns, grown, n_jobs)
    progress("held-out rows", 0, 3)
    mixed = study.hold_out(study.mixed)
    progress("held-out rows", 1, 3)
    chosen = study.chosen(study.apart)
    judged = chosen if rows is None else np.union1d(chosen, rows)
    worths = broken_worths(schema, columns, mined, settings, study.apart.of_row, judged, n_jobs)
    progress("held-out rows", 2, 3)
    each_value = rows is not None and len(chosen) == study.n_rows
    own = worths if len(judged) == len(chosen) else worths[np.searchsorted(judged, chosen)]
    apart = study.hold_out(study.apart, own, each_value=each_value)
    progress("held-out rows", 3, 3)
    trust = _trust(study, mixed, apart)
    unit = float(f"{max(mixed.in_context.std(), MIN_UNIT) / trust:.4g}")
    rarity_unit = float(f"{max(mixed.rarities.std(), MIN_UNIT):.4g}")
    scores = _plain_scores(unit, rarity_unit, apart)
    strongest = as_if_learned_from_all(apart.strongest)
    grave = _grave(scores, strongest)
    scores += lift(grave, scores, strongest)
    evidence = Evidence(
        study.spacings,
        study.splits,
        tuple(each[0].context() for each in study.leaf_sums),
        unit,
        rarity_unit,
        _usual(apart, unit),
        grave,
    )
    limit = Threshold(calibrate(scores, MAX_RATE).value, ShareOfRows(MAX_RATE, len(scores)))
    return LearnedEvidence(evidence, limit, study, apart, judged, worths)


def held_out_scores(evidence: Evidence, held: HeldOut) -> Floats:
    """Score held-out rows, each by itself, in the units of some evidence."""
    scores = _plain_scores(evidence.contradiction_unit, evidence.rarity_unit, held)
    strongest = as_if_learned_from_all(held.strongest)
    return scores + lift(evidence.grave, scores, strongest)


def _plain_scores(unit: float, rarity_unit: float, held: HeldOut) -> Floats:
    return held.contradictions / unit + RARITY_WEIGHT / rarity_unit * held.rarities


def as_if_learned_from_all(worths: Floats) -> Floats:
    """Raise worths of rules learned without a block, which would be worth more if learned from all."""
    more = RULE_WEIGHT * math.log(GRAVE_MARGIN * N_BLOCKS / (N_BLOCKS - 1))
    return np.where(worths > 0, worths + more, 0.0)


def _trust(study: Study, mixed: HeldOut, apart: HeldOut) -> float:
    """Return the share of what contexts explain that they still explain in another stretch of rows."""
    if not study.leaf_sums or not apart.alone.any():
        return 1.0

    def explained(by: HeldOut) -> float:
        numbers = study.reader.numbers
        gained = np.maximum(by.alone - by.surprise, 0)[numbers]
        return float(gained.sum() / by.alone.sum())

    ratio = (explained(apart) + DRIFT_PRIOR) / (explained(mixed) + DRIFT_PRIOR)
    return min(max(ratio**TRUST_POWER, MIN_TRUST), 1.0)


def _grave(scores: Floats, strongest: Floats) -> Grave | None:
    """Find the worth above which hardly any row breaks a rule; doing so is nearly an anomaly.

    Only nearly, because normal rows may drift away from what was learned, and rules are the first to
    show it. A rule that may hold by chance is not grave, however rarely it is broken; and fewer than a
    hundred rows cannot show what one in a hundred does.
    """
    n_allowed = int(MAX_RATE * len(scores))
    if not n_allowed:
        return None
    usual = np.sort(strongest)[::-1][n_allowed]
    limit = max(float(usual), float(rule_worth(np.array(MIN_EXPECTED))))
    score = GRAVE_SHARE * calibrate(scores, MAX_RATE).value
    return Grave(float(f"{limit:.4g}"), float(f"{score:.4g}"))


def _usual(apart: HeldOut, unit: float) -> tuple[Usual, ...]:
    """Return the usual evidence against each variable in normal rows, with a least spread."""
    least = MIN_USUAL_SPREAD * float(np.median(apart.spread))
    spreads = np.maximum(apart.spread, least) / unit
    return tuple(
        Usual(float(f"{mean:.4g}"), float(f"{spread:.4g}") or 1.0)
        for mean, spread in zip(apart.mean / unit, spreads, strict=True)
    )
