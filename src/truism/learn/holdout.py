"""Training rows judged by the other training rows, and the evidence and threshold that follow.

Rows are divided into blocks in two ways. *Mixed* blocks go by the content of the rows, not their order.
Blocks that stand *apart* are stretches of consecutive rows, which resemble each other if the order of
rows is one of time. A row is weighed by what is known without its block: leaf statistics, values, and
rules, of which one search finds all that only a single block breaks (`mining.mine_broken`). Trees and
cut-offs are made from all rows, or from a sample of them that is the same for each block.

Mixed blocks give the units, blocks that stand apart the threshold. What contexts explain in mixed blocks,
but not in blocks that stand apart, is drift, and then contexts count for less.
"""

import itertools
import math
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.arrays import Counts, Floats, Rows
from truism.incidents.rates import four_digits
from truism.learn.contexts import Grown, grow, sum_leaves, without
from truism.learn.mining import (
    Budget,
    mine_broken,
    minimum_counts,
    variable_numbers,
)
from truism.learn.rules import MinedRules
from truism.model.evidence import MIN_UNIT, N_EXACT, Evidence, Grave, Spacing, Usual
from truism.model.predicates import variables
from truism.model.provenance import MAX_RATE, ShareOfRows, Threshold
from truism.model.schema import Categorical, Numeric, Schema, Variable
from truism.model.settings import Settings, exact
from truism.score.alignment import Reader
from truism.score.contexts import LeafProfiles, surprise
from truism.score.evidence import RARITY_WEIGHT, lift
from truism.score.rarity import Emptiness, Rarities
from truism.score.rules import RULE_WEIGHT, expected_exceptions, rule_worth
from truism.score.thresholds import calibrate
from truism.score.truths import Truths, count, n_words
from truism.table.columns import Column
from truism.table.distinct import Distinct, distinct
from truism.work import Progress, share_out

N_BLOCKS, N_STRETCHES = 5, 25  # every fifth stretch of rows is a block
BLOCKS = np.arange(N_BLOCKS + 1)
MAX_ROWS_WEIGHED = 20_000
WEIGHED_AT_ONCE = 2048  # few enough for little memory and the processor's cache
GRAVE_SHARE = 0.8  # a row that breaks a grave rule scores at least this share of the threshold
GRAVE_MARGIN = 1.1  # times the expected exceptions of a rule that too many held-out rows break
MIN_EXPECTED = 20  # exceptions to expect by chance, for a rule without any to be grave
DRIFT_PRIOR, TRUST_POWER, MIN_TRUST = 0.02, 3, 1 / 8
MIN_USUAL_SPREAD = 0.3  # share of the median over all variables
NEAR_SHARE, MIN_NEAR, MAX_NEAR = 0.01, 5, 50  # the nearest 1 % of the training values, 5 to 50
N_KNOTS, N_EVEN = 255, 75  # kept training values, and how many of them are chosen evenly
HEAVY_SHARE = 0.1  # a value with this share of the rows is left out of the usual spread


class HeldOut(msgspec.Struct, frozen=True, eq=False):
    """The evidence against rows, judged by the other rows.

    Per row, summed over variables: evidence `in_context`, `contradictions` and `rarities`; and the
    worth of the `strongest` rule that it breaks. Per variable: mean surprise `alone` and in context,
    and mean and spread of contradictions. `values` has, if asked for, contradictions and rarities of
    each value, and how far numbers lie off: 3 × rows × variables.
    """

    in_context: Floats
    contradictions: Floats
    rarities: Floats
    strongest: Floats
    alone: Floats
    surprise: Floats
    mean: Floats
    spread: Floats
    values: Floats | None = None


class Blocks(msgspec.Struct, frozen=True, eq=False):
    """A division of the rows: the block of each row, and an order to sample rows by.

    Counts by both divisions, apart × mixed, have the blocks of this one along `axis`.
    """

    of_row: NDArray[np.int64]
    axis: int
    order: NDArray[np.int64]


class Study:
    """Everything learned from all rows, as sums from which any block can be left out."""

    def __init__(
        self,
        schema: Schema,
        columns: Sequence[Column],
        grown: Grown,
        n_jobs: int,
        n_stretches: int = N_STRETCHES,
    ) -> None:
        self.schema, self.grown = schema, grown
        self.n_jobs, self.n_rows = n_jobs, len(columns[0].values)
        rows = np.arange(self.n_rows)
        self.n_stretches = min(n_stretches, self.n_rows)
        stretches = rows * self.n_stretches // self.n_rows
        self.apart = Blocks(stretches % N_BLOCKS, 0, rows)
        dealt = np.empty(self.n_rows, np.int64)
        dealt[grown.by_content] = rows % N_BLOCKS
        self.mixed = Blocks(dealt, 1, grown.by_content)
        self.splits, trees, self.leaves = grown.splits, grown.trees, grown.leaves
        self.reader = Reader(schema)
        self.columns = columns
        # Not kept: reading some of the rows again later costs less than the memory.
        readings = self.reader.read(columns)
        divisions = (self.apart.of_row, self.mixed.of_row)
        self.leaf_sums = sum_leaves(
            trees, self.leaves, readings, self.reader, n_jobs, divisions, N_BLOCKS
        )
        cell_of = self.apart.of_row * N_BLOCKS + self.mixed.of_row
        self.spacings = space_all(schema, columns, n_jobs)
        self.knots = [np.array(each.values) for each in self.spacings]
        numbers, codes = readings.numbers.T, readings.codes.T
        states = [each for each in schema.variables if isinstance(each, Categorical)]
        self.knot_counts = [
            _count_in_cells(
                cell_of, np.where(np.isnan(values), -1, stand_in(knots, values)), len(knots)
            )
            for knots, values in zip(self.knots, numbers, strict=True)
        ]
        self.state_counts = [
            _count_in_cells(cell_of, known, len(variable.values))
            for variable, known in zip(states, codes, strict=True)
        ]

    def chosen(self, blocks: Blocks) -> NDArray[np.int64]:
        """Choose the rows to weigh; if there are very many, evenly along their order."""
        n_weighed = min(self.n_rows, MAX_ROWS_WEIGHED)
        return blocks.order[np.linspace(0, self.n_rows - 1, n_weighed).astype(np.int64)]

    def hold_out(
        self,
        blocks: Blocks,
        worths: Floats | None = None,
        rows: NDArray[np.int64] | None = None,
        *,
        each_value: bool = False,
    ) -> HeldOut:
        """Weigh rows, or the chosen ones, without their block and by the rules they break.

        `worths` are those of the rules: rows × variables. The evidence against each value is kept if
        `each_value`.
        """
        chosen = self.chosen(blocks) if rows is None else rows
        of_values = np.empty((3, len(chosen), len(self.schema.variables))) if each_value else None
        judges, rarities = zip(
            *(self._without(block, blocks.axis) for block in range(N_BLOCKS)), strict=True
        )
        of_rows = np.empty((4, len(chosen)))

        def weigh(some: NDArray[np.int64]) -> Floats:
            """Record the evidence against some rows, and return sums over them."""
            rows = chosen[some]
            block_of = blocks.of_row[rows]
            readings = self.reader.read([column.take(rows) for column in self.columns])
            shape = 2, len(self.schema.variables), len(rows)
            average, in_context = np.empty(shape).transpose(0, 2, 1)  # as they are summed up
            rare = np.empty(len(rows))
            for block, pair in enumerate(itertools.pairwise(np.searchsorted(block_of, BLOCKS))):
                own = slice(*pair)
                if own.start == own.stop:
                    continue
                judge, part = judges[block], (self.leaves[:, rows[own]], readings.take(own))
                average[own], in_context[own] = judge.average(*part), judge.contradict(*part)
                rarity = rarities[block].weigh(part[1])
                rare[own] = rarity.sum(axis=1)
                if of_values is not None:
                    of_values[1, some[own]] = rarity
                    of_values[2, some[own]] = judge.differences(*part)
            worth = np.zeros_like(in_context) if worths is None else worths[some]
            contradictions = np.maximum(in_context, worth)
            if of_values is not None:
                of_values[0, some] = contradictions
            of_rows[:, some] = (
                in_context.sum(axis=1),
                contradictions.sum(axis=1),
                rare,
                worth.max(axis=1),
            )
            alone = np.zeros(len(self.schema.variables))
            own_surprise = np.nan_to_num(surprise(readings.standard))
            alone[self.reader.numbers] = own_surprise.sum(axis=0, dtype=np.float64)
            squares = np.square(contradictions)
            return np.stack(
                [alone, *(each.sum(axis=0) for each in (average, contradictions, squares))]
            )

        # Block by block: ordinary values are set aside faster when many come at once.
        by_block = np.argsort(blocks.of_row[chosen], kind="stable")
        parts = range(WEIGHED_AT_ONCE, len(chosen), WEIGHED_AT_ONCE)
        sums = np.zeros((4, len(self.schema.variables)))
        for part in share_out(self.n_jobs, weigh, np.split(by_block, parts)):
            sums += part
        alone, average, mean, square = sums / len(chosen)
        spreads = np.sqrt(np.maximum(square - np.square(mean), 0))
        in_context, contradictions, rare, strongest = of_rows
        return HeldOut(
            in_context, contradictions, rare, strongest, alone, average, mean, spreads, of_values
        )

    def _without(self, block: int, axis: int) -> tuple[LeafProfiles, Rarities]:
        """Return what judges values, in their contexts and by themselves, without knowing a block."""
        sums = [of_blocks.without(block, axis).statistics() for of_blocks in self.leaf_sums]
        empty = []
        for spacing, knots, of_blocks in zip(
            self.spacings, self.knots, self.knot_counts, strict=True
        ):
            counts = without(of_blocks, block, axis)
            # A number that the other rows do not have is as rare to them as to all rows.
            counts = counts if counts.any() else np.array(spacing.counts)
            empty.append(Emptiness(knots, counts, spacing.near, spacing.spread))
        states = [without(of_blocks, block, axis) for of_blocks in self.state_counts]
        return LeafProfiles(self.reader, sums), Rarities(self.reader, empty, states)


def _count_in_cells(
    cells: NDArray[np.int64], places: NDArray[np.int64], n_places: int
) -> NDArray[np.int64]:
    """Count the rows of each cell at each place: blocks × blocks × places; -1 is no place."""
    present = places >= 0
    flat = cells[present] * n_places + places[present]
    counts = np.bincount(flat, minlength=N_BLOCKS**2 * n_places)
    return counts.reshape(N_BLOCKS, N_BLOCKS, n_places)


def space(variable: str, values: Floats, counts: Counts) -> Spacing:
    """Describe a variable by its distinct training values, ascending, and their counts."""
    knots = values[_kept(len(values))]
    owner = stand_in(knots, values)
    n_rows = int(counts.sum())
    near = min(max(int(NEAR_SHARE * n_rows), MIN_NEAR), MAX_NEAR, max(1, n_rows // 2))
    return Spacing(
        variable,
        tuple(knots.tolist()),
        tuple(np.bincount(owner, counts, len(knots)).astype(np.int64).tolist()),
        near,
        _usual_spread(values, counts),
    )


def stand_in(knots: Floats, values: Floats) -> Counts:
    """Return which of the kept training values stands for each value: the nearest one."""
    return np.searchsorted(borders(knots), values)


def borders(knots: Floats) -> Floats:
    """Return the largest value that each of the kept training values but the last stands for."""
    middles = knots[1:] / 2 + knots[:-1] / 2
    # Neighbouring doubles have no midpoint; each still stands for itself.
    found: Floats = np.minimum(middles, np.nextafter(knots[1:], -np.inf))
    return found


def _kept(n_values: int) -> Counts:
    """Choose which of the distinct values are kept, by their rank.

    The outermost ones are all kept, some are chosen evenly, and the rest more densely towards the
    ends: it is in the tails that the spacing matters.
    """
    if n_values <= N_KNOTS:
        return np.arange(n_values)
    inner = np.linspace(N_EXACT, n_values - N_EXACT - 1, N_EVEN)
    n_sparser = (N_KNOTS - 2 * N_EXACT - N_EVEN) // 2
    sparser = np.geomspace(N_EXACT, n_values / 2, n_sparser)
    ranks = np.concatenate([inner, sparser, n_values - 1 - sparser]).round().astype(np.int64)
    outermost = np.arange(N_EXACT)
    return np.unique(np.concatenate([outermost, ranks, n_values - 1 - outermost]))


def _usual_spread(values: Floats, counts: Counts) -> float:
    """Return the standard deviation of a normal distribution with the same outer deciles.

    If one value has a large share of the rows, the others may hold all the variation; so the spread is
    taken with and without it, and the larger one counts.
    """
    spread = _decile_spread(values, counts)
    heaviest = int(counts.argmax())
    if counts[heaviest] > HEAVY_SHARE * counts.sum() and len(values) > 1:
        others = np.arange(len(values)) != heaviest
        spread = max(spread, _decile_spread(values[others], counts[others]))
    if spread == 0.0:
        largest = float(np.abs(values).max()) or 1.0  # the squares of huge numbers would overflow
        middle = values / largest - np.average(values / largest, weights=counts)
        spread = largest * float(np.sqrt(np.average(np.square(middle), weights=counts)))
    return spread if 0.0 < spread < np.inf else 1.0


def _decile_spread(values: Floats, counts: Counts) -> float:
    upto = np.cumsum(counts)
    low, high = values[np.searchsorted(upto * 10, [upto[-1], 9 * upto[-1]], side="left")]
    return float(high / 2.56 - low / 2.56)


def space_all(
    schema: Schema, columns: Sequence[Column], n_jobs: int, outer: Mapping[str, Floats] = {}
) -> tuple[Spacing, ...]:
    """Describe all numbers by the values of their columns, and by `outer` values of other rows."""

    def of(variable: Variable, column: Column) -> Spacing:
        found, name = distinct(column), variable.name
        if name in outer:
            added = np.setdiff1d(outer[name], found.values)
            found += Distinct(added, np.ones(len(added), np.int64))
        return space(name, found.values, found.counts)

    pairs = zip(schema.variables, columns, strict=True)
    numeric = [pair for pair in pairs if isinstance(pair[0], Numeric)]
    return tuple(share_out(n_jobs, lambda pair: of(*pair), numeric))


def broken_worths(
    schema: Schema,
    columns: Sequence[Column],
    mined: MinedRules,
    settings: Settings,
    blocks: Counts,
    rows: Counts,
    n_jobs: int,
) -> NDArray[np.float64]:
    """Return the worth of the strongest rule about each variable that rows break: rows × variables.

    A rule that holds in all other blocks counts if it holds in more than ``min_support`` of their rows,
    and in more than the settings' ratio of those of its rarest predicate, for the block that demands
    least. Rules are no longer than the length up to which the model's are complete.
    """
    from truism.learn.kernels import mining as kernels  # only learning loads compiled code

    worths = np.zeros((len(rows), len(schema.variables)))
    members = [np.flatnonzero(blocks == block) for block in np.unique(blocks)]
    predicates = [counted.predicate for counted in mined.rules.predicates]
    if len(members) < 2 or not predicates or not mined.complete_to:
        return worths
    # Every block has words of its own, and every bit of them the place of its row among those to judge.
    sizes = np.array([len(own) for own in members])
    ends = np.cumsum([n_words(size) for size in sizes.tolist()])
    words = [slice(*pair) for pair in itertools.pairwise([0, *ends.tolist()])]
    true, false = np.empty((2, len(predicates), ends[-1]), np.uint64)
    place_of, place_at = np.full(len(blocks), -1), np.full(64 * int(ends[-1]), -1)
    place_of[rows] = np.arange(len(rows))
    truths = Truths(schema, predicates)
    for own, part in zip(members, words, strict=True):
        true[:, part], false[:, part] = truths.evaluate_all([each.take(own) for each in columns])
        place_at[64 * part.start : 64 * part.start + len(own)] = place_of[own]
    n_true, n_false = (
        counts.sum(axis=0) - counts
        for counts in (np.stack([count(of[:, part]) for part in words]) for of in (true, false))
    )
    n_others, ratio = int((sizes.sum() - sizes).min()), exact(settings.ratio)
    levels = mine_broken(
        true,
        false,
        ends,
        variable_numbers(predicates),
        minimum_counts(n_true.min(axis=0).tolist(), n_others, mined.min_support, ratio),
        max_predicates=mined.complete_to + 1,
        # The budget of mining once for each block.
        budget=Budget(settings.max_nodes * len(members), settings.max_rules * len(members)),
        n_jobs=n_jobs,
    )
    owner_of = {name: i for i, name in enumerate(schema.names)}
    owners = [[owner_of[name] for name in variables(each)] for each in predicates]
    n_owners = np.array([*map(len, owners)])
    places = place_at, np.cumsum([0, *n_owners]), np.concatenate(owners)
    for found in levels:
        p, counted, block = found[:, :3].T
        failing = n_false[block, p]
        # Without the block, failing rows form episodes at the same rate as in all rows.
        of_all = np.array([(each.n_false, each.n_episodes) for each in mined.rules.predicates])[p]
        n_episodes = failing * (of_all[:, 1] / of_all[:, 0])
        n_known = n_true[block, p] + failing
        worth = rule_worth(expected_exceptions(counted, n_known, failing, n_episodes))
        kernels.note_broken(found, worth / n_owners[p], true, false, ends, *places, worths)
    return worths


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
    """Weigh held-out normal rows, and set the units and the threshold by them.

    Also finds the rules that `rows` (ascending) break; keeps the evidence against each value if every
    row is weighed.
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
    unit = four_digits(max(mixed.in_context.std(), MIN_UNIT) / trust)
    rarity_unit = four_digits(max(mixed.rarities.std(), MIN_UNIT))
    scores = _plain_scores(unit, rarity_unit, apart)
    strongest = as_if_learned_from_all(apart.strongest)
    grave = _grave(scores, strongest)
    scores += lift(grave, scores, strongest)
    evidence = Evidence(
        study.spacings,
        study.splits,
        tuple(sums.whole().context() for sums in study.leaf_sums),
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
    return Grave(four_digits(limit), four_digits(score))


def _usual(apart: HeldOut, unit: float) -> tuple[Usual, ...]:
    """Return the usual evidence against each variable in normal rows, with a least spread."""
    least = MIN_USUAL_SPREAD * float(np.median(apart.spread))
    spreads = np.maximum(apart.spread, least) / unit
    return tuple(
        Usual(four_digits(mean), four_digits(spread) or 1.0)
        for mean, spread in zip(apart.mean / unit, spreads, strict=True)
    )
