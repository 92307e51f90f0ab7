"""The evidence against held-out normal rows: training rows go in, units and a threshold come out.

Every training row is weighed by the other rows: by leaf statistics, values and rules without its own
block. Rows are divided into blocks in two ways. *Mixed* blocks go by the content of the rows, not their
order; they give the units. Blocks that stand *apart* are stretches of consecutive rows, which resemble
each other if the order of rows is one of time; they give the threshold. What contexts explain in mixed
blocks, but not in blocks that stand apart, is drift, and then contexts count for less. Trees and
cut-offs are made from all rows, or from a sample of them that is the same for each block.
"""

import itertools
import math
from collections.abc import Iterator, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.learning import context_trees
from truism.learning.holdout import broken_worths
from truism.learning.leaf_sums import sum_leaves, sums_of_others
from truism.learning.rules import MinedRules
from truism.learning.spacings import space, stand_in
from truism.model.evidence import MIN_UNIT, Evidence, Grave, Spacing, Usual
from truism.model.origins import ShareOfRows, Threshold
from truism.model.schema import Categorical, Numeric, Schema
from truism.model.settings import Settings
from truism.scoring.contexts import LeafProfiles, contradiction, surprise
from truism.scoring.evidence import Rarities
from truism.scoring.rarity import Emptiness
from truism.scoring.readings import Reader
from truism.scoring.thresholds import calibrate
from truism.scoring.worth import RARITY_WEIGHT, RULE_WEIGHT, lift, rule_worth
from truism.table.columns import Column
from truism.table.distinct import distinct
from truism.work import Progress, share_out

N_BLOCKS, N_STRETCHES = 5, 25  # every fifth stretch of rows is a block
MAX_ROWS_WEIGHED = 20_000
WEIGHED_AT_ONCE = 2048  # few enough for little memory and the processor's cache
MIN_SIFTED = 1000  # rows of a block from which it pays to set ordinary values aside
MAX_RATE = 0.01  # share of held-out rows above the default threshold, or that break a grave rule
GRAVE_SHARE = 0.8  # a row that breaks a grave rule scores at least this share of the threshold
GRAVE_MARGIN = 1.1  # times the expected exceptions of a rule that too many held-out rows break
MIN_EXPECTED = 20  # exceptions to expect by chance, for a rule without any to be grave
DRIFT_PRIOR, TRUST_POWER, MIN_TRUST = 0.02, 3, 1 / 8
MIN_USUAL_SPREAD = 0.3  # share of the median over all variables

Floats = NDArray[np.float64]


def learn_evidence(
    schema: Schema,
    columns: Sequence[Column],
    mined: MinedRules,
    settings: Settings,
    n_jobs: int,
    progress: Progress,
) -> tuple[Evidence, Threshold]:
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

    Returns
    -------
    evidence, threshold
        At most 1 % of the held-out rows exceed the threshold.

    """
    study = _Study(schema, columns, settings.random_state, n_jobs, progress)
    progress("held-out rows", 0, 3)
    mixed = study.hold_out(study.mixed)
    progress("held-out rows", 1, 3)
    rows = study.chosen(study.apart)
    worths = broken_worths(schema, columns, mined, settings, study.apart.of_row, rows, n_jobs)
    progress("held-out rows", 2, 3)
    apart = study.hold_out(study.apart, worths)
    progress("held-out rows", 3, 3)
    trust = _trust(study, mixed, apart)
    unit = float(f"{max(mixed.in_context.std(), MIN_UNIT) / trust:.4g}")
    rarity_unit = float(f"{max(mixed.rarities.std(), MIN_UNIT):.4g}")
    scores = apart.contradictions / unit + RARITY_WEIGHT / rarity_unit * apart.rarities
    # These rules were learned from fewer rows, and would be worth more if learned from all.
    more = RULE_WEIGHT * math.log(GRAVE_MARGIN * N_BLOCKS / (N_BLOCKS - 1))
    strongest = np.where(apart.strongest > 0, apart.strongest + more, 0.0)
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
    limit = calibrate(scores, MAX_RATE).value
    return evidence, Threshold(limit, ShareOfRows(MAX_RATE, len(scores)))


class _HeldOut(msgspec.Struct, frozen=True, eq=False):
    """The evidence against rows, judged by the other rows.

    Per row, summed over variables: evidence `in_context`, `contradictions` and `rarities`; and the
    worth of the `strongest` rule that it breaks. Per variable: mean surprise `alone` and in context,
    and mean and spread of contradictions.
    """

    in_context: Floats
    contradictions: Floats
    rarities: Floats
    strongest: Floats
    alone: Floats
    surprise: Floats
    mean: Floats
    spread: Floats


class _Blocks(msgspec.Struct, frozen=True, eq=False):
    """A division of the rows: the block of each row, and an order to sample rows by.

    Counts by both divisions, apart × mixed, have the blocks of this one along `axis`.
    """

    of_row: NDArray[np.int64]
    axis: int
    order: NDArray[np.int64]


class _Study:
    """Everything learned from all rows, as sums from which any block can be left out."""

    def __init__(
        self,
        schema: Schema,
        columns: Sequence[Column],
        seed: int,
        n_jobs: int,
        progress: Progress,
    ) -> None:
        self.schema = schema
        self.n_jobs, self.n_rows = n_jobs, len(columns[0].values)
        n_stretches = min(N_STRETCHES, self.n_rows)
        rows = np.arange(self.n_rows)
        stretches = rows * n_stretches // self.n_rows
        self.apart = _Blocks(stretches % N_BLOCKS, 0, rows)
        by_content = np.argsort(context_trees.content_hash(schema, columns), kind="stable")
        dealt = np.empty(self.n_rows, np.int64)
        dealt[by_content] = rows % N_BLOCKS
        self.mixed = _Blocks(dealt, 1, by_content)
        self.splits, trees, self.leaves = context_trees.grow(
            schema,
            columns,
            by_content,
            seed,
            n_jobs,
            lambda done, of: progress("contexts", done, of),
        )
        self.reader = Reader(schema)
        self.columns = columns
        # Not kept: reading some of the rows again later costs less than the memory.
        readings = self.reader.read(columns)
        divisions = (self.apart.of_row, self.mixed.of_row)
        self.leaf_sums = sum_leaves(
            trees, self.leaves, readings, self.reader, divisions, N_BLOCKS, n_jobs
        )
        cell_of = self.apart.of_row * N_BLOCKS + self.mixed.of_row
        self.spacings = _space_all(schema, columns, n_jobs)
        self.knots = [np.array(each.values) for each in self.spacings]
        numbers, codes = readings.numbers.T, readings.codes.T
        self.knot_counts = [
            _count_in_cells(cell_of, _owners(knots, values), len(knots))
            for knots, values in zip(self.knots, numbers, strict=True)
        ]
        self.state_counts = [
            _count_in_cells(cell_of, known, len(variable.values))
            for variable, known in zip(_categorical(schema), codes, strict=True)
        ]

    def chosen(self, blocks: _Blocks) -> NDArray[np.int64]:
        """Choose the rows to weigh; if there are very many, evenly along their order."""
        n_weighed = min(self.n_rows, MAX_ROWS_WEIGHED)
        return blocks.order[np.linspace(0, self.n_rows - 1, n_weighed).astype(np.int64)]

    def hold_out(self, blocks: _Blocks, worths: Floats | None = None) -> _HeldOut:
        """Weigh the chosen rows by what is known without their block, and by the rules they break."""
        chosen = self.chosen(blocks)
        leaf_sums = [each[blocks.axis] for each in self.leaf_sums]
        judge = LeafProfiles(self.reader, (each.without_each() for each in leaf_sums))
        n_leaves = np.array([each.rows.shape[1] for each in leaf_sums], np.uint16)
        rarities = self._rarities_without_each(blocks.axis)
        of_rows = np.empty((4, len(chosen)))

        def weigh(some: NDArray[np.int64]) -> Floats:
            """Record the evidence against some rows, and return sums over them."""
            rows = chosen[some]
            block_of = blocks.of_row[rows]
            readings = self.reader.read([column.take(rows) for column in self.columns])
            # The leaves without the second block come after those without the first, and so on.
            leaves = np.multiply.outer(n_leaves, block_of.astype(np.uint16))
            leaves += self.leaves[:, rows]
            average = judge.average(leaves, readings)
            in_context = contradiction(average, readings, self.reader)
            worth = np.zeros_like(in_context) if worths is None else worths[some]
            all_told = np.maximum(in_context, worth)
            rare = np.empty(len(rows))
            for block, own in _runs(block_of):
                sift = own.stop - own.start >= MIN_SIFTED
                rare[own] = rarities[block].weigh(readings.take(own), sift=sift).sum(axis=1)
            of_rows[:, some] = in_context.sum(axis=1), all_told.sum(axis=1), rare, worth.max(axis=1)
            alone = np.zeros(len(self.schema.variables))
            own_surprise = np.nan_to_num(surprise(readings.standard))
            alone[self.reader.numbers] = own_surprise.sum(axis=0, dtype=np.float64)
            squares = np.square(all_told)
            return np.stack([alone, *(each.sum(axis=0) for each in (average, all_told, squares))])

        # Block by block: ordinary values are set aside faster when many come at once.
        by_block = np.argsort(blocks.of_row[chosen], kind="stable")
        parts = range(WEIGHED_AT_ONCE, len(chosen), WEIGHED_AT_ONCE)
        sums = np.zeros((4, len(self.schema.variables)))
        for part in share_out(self.n_jobs, weigh, np.split(by_block, parts)):
            sums += part
        alone, average, mean, square = sums / len(chosen)
        spreads = np.sqrt(np.maximum(square - np.square(mean), 0))
        in_context, contradictions, rare, strongest = of_rows
        return _HeldOut(in_context, contradictions, rare, strongest, alone, average, mean, spreads)

    def _rarities_without_each(self, axis: int) -> list[Rarities]:
        """Return, for each block, rarities that do not know it."""
        found = []
        knots, states = (
            [sums_of_others(each.sum(axis=1 - axis)) for each in tables]
            for tables in (self.knot_counts, self.state_counts)
        )
        for block in range(N_BLOCKS):
            empty = []
            for spacing, values, others in zip(self.spacings, self.knots, knots, strict=True):
                # A state that the other rows do not have is as rare to them as to all rows.
                known = others[block] if others[block].any() else np.array(spacing.counts)
                empty.append(Emptiness(values, known, spacing.near, spacing.spread))
            found.append(Rarities(self.reader, empty, [others[block] for others in states]))
        return found


def _runs(blocks: NDArray[np.int64]) -> Iterator[tuple[int, slice]]:
    """Yield each block and its rows; the block numbers of the rows must ascend.

    >>> list(_runs(np.array([0, 0, 2])))
    [(0, slice(0, 2, None)), (2, slice(2, 3, None))]
    """
    starts = np.flatnonzero(np.diff(blocks, prepend=-1))
    for start, end in itertools.pairwise([*starts.tolist(), len(blocks)]):
        yield int(blocks[start]), slice(start, end)


def _count_in_cells(
    cells: NDArray[np.int64], places: NDArray[np.int64], n_places: int
) -> NDArray[np.int64]:
    """Count the rows of each cell at each place: blocks × blocks × places; -1 is no place."""
    present = places >= 0
    flat = cells[present] * n_places + places[present]
    counts = np.bincount(flat, minlength=N_BLOCKS**2 * n_places)
    return counts.reshape(N_BLOCKS, N_BLOCKS, n_places)


def _owners(knots: Floats, values: Floats) -> NDArray[np.int64]:
    """Return the kept training value that stands for each value; -1 if missing."""
    return np.where(np.isnan(values), -1, stand_in(knots, values))


def _categorical(schema: Schema) -> list[Categorical]:
    return [each for each in schema.variables if isinstance(each, Categorical)]


def _trust(study: _Study, mixed: _HeldOut, apart: _HeldOut) -> float:
    """Return the share of what contexts explain that they still explain in another stretch of rows."""
    if not study.leaf_sums or not apart.alone.any():
        return 1.0

    def explained(by: _HeldOut) -> float:
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


def _usual(apart: _HeldOut, unit: float) -> tuple[Usual, ...]:
    """Return the usual evidence against each variable in normal rows, with a least spread."""
    least = MIN_USUAL_SPREAD * float(np.median(apart.spread))
    spreads = np.maximum(apart.spread, least) / unit
    return tuple(
        Usual(float(f"{mean:.4g}"), float(f"{spread:.4g}") or 1.0)
        for mean, spread in zip(apart.mean / unit, spreads, strict=True)
    )


def _space_all(schema: Schema, columns: Sequence[Column], n_jobs: int) -> tuple[Spacing, ...]:
    def of(pair: tuple[str, Column]) -> Spacing:
        found = distinct(pair[1])
        return space(pair[0], found.values, found.counts)

    pairs = [
        (variable.name, column)
        for variable, column in zip(schema.variables, columns, strict=True)
        if isinstance(variable, Numeric)
    ]
    return tuple(share_out(n_jobs, of, pairs))
