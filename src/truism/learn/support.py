"""The choice of θ: by the number of rows, or by held-out rows.

Evidence scoring uses a fixed share of the rows. The paper's scoring (KDD'23, section 6.1) uses the
smallest θ for which fewer than 1 % of the held-out rows break a rule; all values of the grid share one
binning, and every tree is grown only once.
"""

from fractions import Fraction

import msgspec
import numpy as np

from truism.learn.kinds import variable_columns
from truism.learn.predicates import find_predicates
from truism.learn.rules import Search
from truism.model.provenance import EVIDENCE_ROWS, MAX_RATE, SupportOrigin, Trial
from truism.model.schema import Schema
from truism.model.settings import Settings, exact
from truism.score.rules import breaks_any
from truism.table.columns import Table
from truism.table.notices import Notice
from truism.work import Progress, be_silent

GRID = (0.32, 0.16, 0.08, 0.04, 0.02, 0.01, 0.005, 0.002)
MIN_ROWS = 10  # a θ of fewer rows than this is not tried
HELD_OUT = Fraction(1, 5)
EVIDENCE_SUPPORT = 0.01  # evidence weighs broken rules, so θ matters little


class Support(msgspec.Struct, frozen=True):
    """A θ, why it was chosen, what was tried, and what the user should know about that."""

    value: float
    origin: SupportOrigin
    trials: tuple[Trial, ...] = ()
    notices: tuple[Notice, ...] = ()


def choose_support(
    table: Table, schema: Schema, settings: Settings, n_jobs: int, progress: Progress
) -> Support:
    """Return the θ to learn with: as set, or what suits the rows."""
    if settings.min_support != "auto":
        return Support(settings.min_support, "asked")
    if settings.scoring == "evidence":
        return usual_support(table.n_rows)
    return best_trial(try_grid(table, schema, settings, n_jobs, progress))


def usual_support(n_rows: int) -> Support:
    """Return θ for evidence scoring: 1 % of the rows, or what a rule of at least 12 rows exceeds.

    A rule holds in *more* than θ of the rows, so θ lies halfway between 11 and 12 of them: rounded to
    three digits it is still between the two, whereas 12 / n might be rounded to either side of 12 rows.

    >>> usual_support(100).value, usual_support(5000).value
    (0.115, 0.01)
    """
    dozen = float(f"{(EVIDENCE_ROWS - 0.5) / n_rows:.3g}")
    if dozen <= EVIDENCE_SUPPORT:
        return Support(EVIDENCE_SUPPORT, "share")
    return Support(dozen, "rows") if dozen < GRID[0] else Support(GRID[0], "most")


def try_grid(
    table: Table, schema: Schema, settings: Settings, n_jobs: int, progress: Progress
) -> tuple[Trial, ...]:
    """Count how many held-out rows break a mined rule, for each θ of the grid."""
    grid = [each for each in GRID if exact(each) * table.n_rows >= MIN_ROWS]
    if not grid:
        return ()
    shuffled = np.random.default_rng(settings.random_state).permutation(table.n_rows)
    n_held_out = max(1, int(HELD_OUT * table.n_rows))
    held_out = variable_columns(schema, table.take(np.sort(shuffled[:n_held_out])))
    kept = variable_columns(schema, table.take(np.sort(shuffled[n_held_out:])))
    min_supports = [exact(each) for each in grid]
    progress("choosing θ", 0, len(grid))
    found = find_predicates(schema, kept, settings.cutoffs, min_supports, n_jobs, progress)
    trials = []
    for done, (each, predicates) in enumerate(zip(grid, found, strict=True), 1):
        search = Search(schema, kept, predicates, settings, exact(each), n_jobs, be_silent)
        mined = search.conclude(search.propose())
        n_broken = int(breaks_any(schema, mined.rules, held_out, n_jobs).sum())
        trials.append(Trial(each, n_broken, n_held_out, mined.complete_to))
        progress("choosing θ", done, len(grid))
    return tuple(trials)


def best_trial(trials: tuple[Trial, ...]) -> Support:
    """Choose θ, with a notice if no value keeps the rate below 1 %.

    >>> tried = (Trial(0.02, 0, 100, 4), Trial(0.01, 0, 100, 4), Trial(0.005, 3, 100, 4))
    >>> best_trial(tried).value
    0.01
    """
    if not trials:
        text = (
            f"There are too few rows to choose min_support (a rule could hold in fewer than {MIN_ROWS} "
            f"rows); {GRID[0]} was used."
        )
        return Support(GRID[0], "untried", (), (Notice("too_few_rows", text),))
    complete = tuple(trial for trial in trials if trial.complete_to > 0) or trials[:1]
    passing = [trial for trial in complete if trial.rate < MAX_RATE]
    if passing:
        return Support(min(trial.min_support for trial in passing), "smallest", trials)
    best = min(complete, key=lambda trial: (trial.n_broken, -trial.min_support))
    text = (
        f"No min_support keeps the false-positive rate on held-out rows below {MAX_RATE:.0%}; "
        f"{best.min_support} was used, with {best.rate:.1%}."
    )
    return Support(best.min_support, "fewest", trials, (Notice("false_alarms", text),))
