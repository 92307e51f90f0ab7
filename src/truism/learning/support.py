"""Choosing θ on held-out rows, then learning: a table goes in, a model comes out.

KDD'23, section 6.1: the smallest θ for which fewer than 1 % of the held-out rows break a rule. All
values of the grid share one binning and one growth of every tree.
"""

from fractions import Fraction

import msgspec
import numpy as np

from truism.learning.learner import (
    find_predicates,
    infer_schema,
    learn,
    mine_model,
    variable_columns,
)
from truism.model.model import Model
from truism.model.provenance import Trial
from truism.model.settings import Settings, exact
from truism.scoring.scorer import Scorer
from truism.table.columns import Table
from truism.work import Progress, be_silent

GRID = (0.32, 0.16, 0.08, 0.04, 0.02, 0.01, 0.005, 0.002)
MIN_ROWS = 10  # a θ of fewer rows than this is not tried
HELD_OUT = Fraction(1, 5)
MAX_RATE = 0.01
EVIDENCE_SUPPORT, EVIDENCE_ROWS = 0.01, 12  # a broken rule is weighed, so θ need not be chosen


def tune(
    table: Table, settings: Settings, *, n_jobs: int = 1, progress: Progress = be_silent
) -> Model:
    """Learn; choose ``min_support`` first when it is ``"auto"``.

    Parameters
    ----------
    table
        Normal rows.
    settings
        How to learn.
    n_jobs
        Threads to use; the result does not depend on it.
    progress
        Told the stage, and how much of it is done.

    Returns
    -------
    Model
        Learned from all rows. Its provenance lists what was tried.

    """
    if settings.min_support != "auto":
        return learn(table, settings, n_jobs=n_jobs, progress=progress)
    infer_schema(table, settings)
    if settings.scoring == "evidence":
        usual = usual_support(table.n_rows)
        model = learn(table, settings, n_jobs=n_jobs, progress=progress, min_support=usual)
        return msgspec.structs.replace(model, settings=settings)
    trials = try_grid(table, settings, n_jobs, progress)
    chosen, notice = choose(trials)
    model = learn(table, settings, n_jobs=n_jobs, progress=progress, min_support=chosen)
    notices = model.provenance.notices if notice is None else (*model.provenance.notices, notice)
    provenance = msgspec.structs.replace(model.provenance, trials=trials, notices=notices)
    return msgspec.structs.replace(model, settings=settings, provenance=provenance)


def usual_support(n_rows: int) -> float:
    """Give θ for evidence scoring: 1 % of the rows, or what a rule of at least 12 rows exceeds.

    A rule holds in *more* than θ of the rows, so θ lies half-way between 11 and 12 of them: with
    three digits it is still between the two, where 12 / n may be rounded to either side of 12 rows.

    >>> usual_support(100), usual_support(5000)
    (0.115, 0.01)
    """
    dozen = float(f"{(EVIDENCE_ROWS - 0.5) / n_rows:.3g}")
    return max(EVIDENCE_SUPPORT, min(dozen, GRID[0]))


def try_grid(
    table: Table, settings: Settings, n_jobs: int, progress: Progress
) -> tuple[Trial, ...]:
    """Count for each θ of the grid how many held-out rows break a mined rule."""
    grid = [each for each in GRID if exact(each) * table.n_rows >= MIN_ROWS]
    if not grid:
        return ()
    shuffled = np.random.default_rng(settings.random_state).permutation(table.n_rows)
    n_held_out = max(1, int(HELD_OUT * table.n_rows))
    held_out = table.take(np.sort(shuffled[:n_held_out]))
    kept = table.take(np.sort(shuffled[n_held_out:]))
    schema = infer_schema(table, settings)
    columns = variable_columns(schema, kept)
    min_supports = [exact(each) for each in grid]
    progress("choosing θ", 0, len(grid))
    found = find_predicates(schema, columns, settings, min_supports, n_jobs, progress)
    trials = []
    for done, (each, predicates) in enumerate(zip(grid, found, strict=True), 1):
        model = mine_model(kept, schema, predicates, settings, exact(each), n_jobs, be_silent)
        broken = Scorer(model).breaks_mined_rule(held_out, n_jobs)
        trials.append(Trial(each, int(broken.sum()), n_held_out, model.provenance.complete_to))
        progress("choosing θ", done, len(grid))
    return tuple(trials)


def choose(trials: tuple[Trial, ...]) -> tuple[float, str | None]:
    """Choose θ, with a notice where the 1 % rule cannot be followed.

    >>> choose((Trial(0.02, 0, 100, 4), Trial(0.01, 0, 100, 4), Trial(0.005, 3, 100, 4)))
    (0.01, None)
    """
    if not trials:
        return GRID[0], (
            f"There are too few rows to choose min_support (fewer than {MIN_ROWS} would support a "
            f"rule); {GRID[0]} was taken."
        )
    trials = tuple(trial for trial in trials if trial.complete_to > 0) or trials[:1]
    passing = [trial for trial in trials if trial.rate < MAX_RATE]
    if passing:
        return min(trial.min_support for trial in passing), None
    best = min(trials, key=lambda trial: (trial.n_broken, -trial.min_support))
    return best.min_support, (
        f"No min_support keeps the false-positive rate on held-out rows below "
        f"{MAX_RATE:.0%}; {best.min_support} with {best.rate:.1%} was taken."
    )
