"""The method again, by brute force and to the letter; only value types come from the library.

A table is a dict from names to lists of Python values, None where one is missing; a row is a dict
from names to values. Functions bear the names of the ones they check. Nothing here is fast, and
nothing here shares an idea with what it checks beyond the paper (KDD'23) and its definitions.
"""

import itertools
import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

from truism.learn.mining import UnitRule
from truism.model.predicates import AnyOf, OneOf, Present, Range
from truism.model.rules import Rule
from truism.model.schema import Categorical

# --- predicates -----------------------------------------------------------------------------------


def rows_of(table):
    names = list(table)
    return [dict(zip(names, cells, strict=True)) for cells in zip(*table.values(), strict=True)]


def is_missing(value):
    return value is None or (isinstance(value, float) and math.isnan(value))


def holds(predicate, row):
    """True, False, or None where it cannot be known (Kleene's logic)."""
    if isinstance(predicate, AnyOf):
        parts = [holds(part, row) for part in predicate.parts]
        return True if True in parts else None if None in parts else False
    value = row[predicate.variable]
    if isinstance(predicate, Present):
        return not is_missing(value)
    if is_missing(value):
        return None
    if isinstance(predicate, OneOf):
        return any(value == state for state in predicate.values)
    if isinstance(predicate, Range):
        return predicate.low <= value <= predicate.high
    if math.isinf(value):
        return None
    return predicate.low <= value < predicate.high


def evaluate(predicates, table):
    """Truth values, predicates × rows."""
    rows = rows_of(table)
    return [[holds(predicate, row) for row in rows] for predicate in predicates]


# --- algorithm 1 ----------------------------------------------------------------------------------


def text_of(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def categories(table, min_support):
    """KDD'23, algorithm 1, line by line; `table` holds the categorical variables only."""
    rows = rows_of(table)

    def support(parts):
        held = sum(any(row[name] == value for name, value in parts) for row in rows)
        return Fraction(held, len(rows))

    found, rare = [], []
    for name in sorted(table):
        seen = {value for value in table[name] if not is_missing(value)}
        if len(seen) < 2:
            continue  # a constant keeps only its univariate rule
        for value in sorted(seen, key=text_of):
            if support([(name, value)]) > min_support:
                found.append(OneOf(name, (value,)))
            else:
                rare.append((name, value))
    k = 0
    for j in range(1, len(rare)):
        if support(rare[k : j + 1]) > min_support:
            if support(rare[j + 1 :]) > min_support:
                found.append(_join(rare[k : j + 1]))
                k = j + 1
            else:
                found.append(_join(rare[k:]))
                break
    return found


def _join(parts):
    values_of = {}
    for name, value in parts:
        values_of.setdefault(name, []).append(value)
    sets = tuple(OneOf(name, tuple(values)) for name, values in values_of.items())
    return sets[0] if len(sets) == 1 else AnyOf(sets)


# --- algorithm 2 ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Split:
    """A node's split: what is below `above` goes left."""

    gain: float
    variable: str
    below: float
    above: float


class AmbiguousError(Exception):
    """Two different splits are equally good within rounding; no order of ties can be expected."""


def grow_tree(table, target, regress, min_leaf, skip=None):
    """Every internal node's split of an exact decision tree with leaves of at least `min_leaf`."""
    n = len(target)
    rows = [i for i in range(n) if not is_missing(target[i])]
    if regress:
        target = _standardised(target)
    splits, stack = [], [rows]
    while stack:
        node = stack.pop()
        best = _best_split(table, target, regress, min_leaf, node, n, skip)
        if best is None:
            continue
        splits.append(best)
        column = table[best.variable]
        present = [i for i in node if not is_missing(column[i])]
        stack.append([i for i in present if column[i] < best.above])
        stack.append([i for i in present if column[i] >= best.above])
    return splits


def _standardised(target):
    present = [Fraction(value) for value in target if not is_missing(value)]
    mean = sum(present) / len(present)
    variance = sum((value - mean) ** 2 for value in present) / len(present)
    std = Fraction(math.sqrt(variance))
    return [None if is_missing(value) else (Fraction(value) - mean) / std for value in target]


def _impurity(values, regress):
    if not values:
        return 0.0
    if regress:
        mean = sum(values) / len(values)
        return float(sum((value - mean) ** 2 for value in values) / len(values))
    shares = [count / len(values) for count in Counter(values).values()]
    return -sum(share * math.log2(share) for share in shares)


def _best_split(table, target, regress, min_leaf, node, n, skip):
    found = []
    for name in sorted(table):
        if name == skip:
            continue
        column = table[name]
        values = sorted({value for value in column if not is_missing(value)})
        present = [i for i in node if not is_missing(column[i])]
        for below, above in itertools.pairwise(values):
            left = [target[i] for i in present if column[i] < above]
            right = [target[i] for i in present if column[i] >= above]
            if min(len(left), len(right)) < min_leaf:
                continue
            whole = left + right
            gain = (
                len(whole)
                / n
                * (
                    _impurity(whole, regress)
                    - len(left) / len(whole) * _impurity(left, regress)
                    - len(right) / len(whole) * _impurity(right, regress)
                )
            )
            shape = frozenset(_shape(side, regress) for side in (left, right))
            found.append((gain, shape, Split(gain, name, below, above)))
    if not found:
        return None
    most = max(gain for gain, _, _ in found)
    tolerance = 1e-4 / n
    equals = [each for each in found if each[0] > most - tolerance]
    if most <= tolerance:
        if most <= 1e-12:
            return None
        raise AmbiguousError
    if len({shape for _, shape, _ in equals}) > 1:
        raise AmbiguousError
    return min((each[2] for each in equals), key=lambda split: (split.variable, split.above))


def _shape(side, regress):
    if regress:
        return tuple(sorted(side))
    return (len(side), tuple(sorted(Counter(side).items(), key=str)))


def choose_cuts(values, proposals, min_support, n_rows):
    """Keep cut-offs in the order given while both intervals made by each keep their support."""
    kept = []
    for cut in proposals:
        edges = sorted([-math.inf, *kept, math.inf])
        if cut in kept:
            continue
        low = max(edge for edge in edges if edge < cut)
        high = min(edge for edge in edges if edge > cut)
        below = sum(low <= value < cut for value in values)
        above = sum(cut <= value < high for value in values)
        if min(below, above) > min_support * n_rows:
            kept.append(cut)
    return sorted(kept)


# --- rules ----------------------------------------------------------------------------------------


def _masks(truths):
    """Rows as bits of a whole number, for true and for false."""
    return tuple(
        [sum(1 << i for i, each in enumerate(truth) if each is wanted) for truth in truths]
        for wanted in (True, False)
    )


def _admits(members, together, true, n_rows, min_support, support_ratio):
    rarest = min(true[p].bit_count() for p in members)
    least = max(min_support * n_rows, support_ratio * rarest)
    return together.bit_count() > least


def admitted_rules(truths, variables, min_support, support_ratio, max_predicates):
    """Every ``S1 ⇒ S2`` that section 3 of the paper admits, as (S1, S2, count)."""
    true, false = _masks(truths)
    n_rows = len(truths[0]) if truths else 0
    found = []
    for size in range(2, max_predicates + 1):
        for members in itertools.combinations(range(len(truths)), size):
            if len({variables[p] for p in members}) < size:
                continue
            together = -1
            for p in members:
                together &= true[p]
            if not _admits(members, together, true, n_rows, min_support, support_ratio):
                continue
            for n_left in range(1, size):
                for left in itertools.combinations(members, n_left):
                    right = tuple(p for p in members if p not in left)
                    condition = -1
                    for p in left:
                        condition &= true[p]
                    if not any(condition & false[p] for p in right):
                        found.append((left, right, together.bit_count()))
    return found


def mine(truths, variables, min_support, support_ratio, max_predicates):
    """The admitted rules with one consequent and no admitted rule with a smaller antecedent."""
    units = [
        (set(left), right[0], count)
        for left, right, count in admitted_rules(
            truths, variables, min_support, support_ratio, max_predicates
        )
        if len(right) == 1
    ]
    claims = {}
    for left, right, _ in units:
        claims.setdefault(right, []).append(left)
    return sorted(
        UnitRule(tuple(sorted(left)), right, count)
        for left, right, count in units
        if not any(other < left for other in claims[right])
    )


def univariate_rules(variables, n_rows):
    """KDD'23, section 4.3, and the presence of what was never missing."""
    found = set()
    for variable in variables:
        if isinstance(variable, Categorical):
            seen = OneOf(variable.name, variable.values)
        else:
            seen = Range(
                variable.name,
                min(variable.mean - 3 * variable.std, variable.low),
                max(variable.mean + 3 * variable.std, variable.high),
            )
        found.add(Rule((), (seen,), n_rows - variable.n_missing))
        if variable.n_missing == 0:
            found.add(Rule((), (Present(variable.name),), n_rows))
    return found


# --- the score ------------------------------------------------------------------------------------


def g(predicate, row, std_of):
    """The degree of violation (KDD'23, section 5.1), within the bounds that the design decides."""
    if holds(predicate, row) is not False:
        return 0.0
    if isinstance(predicate, OneOf | AnyOf | Present):
        return 1.0
    value, std = row[predicate.variable], std_of[predicate.variable]
    if std == 0:
        return 1.0
    if value < predicate.low:
        distance = predicate.low - value
    else:
        distance = value - predicate.high
    return min(max(distance / std, 1e-12), 1e6)


def is_violated(rule, row):
    return all(holds(each, row) is True for each in rule.antecedent) and any(
        holds(each, row) is False for each in rule.consequents
    )


def f(rule, row, std_of, n_rows):
    """The score that a violated rule adds; univariate rules have support 1."""
    support = rule.count / n_rows if rule.antecedent else 1.0
    return support * sum(g(each, row, std_of) for each in rule.consequents)


def score(rules, row, std_of, n_rows):
    """KDD'23, algorithm 3."""
    return sum(f(rule, row, std_of, n_rows) for rule in rules if is_violated(rule, row))


# --- evidence scoring -----------------------------------------------------------------------------


def distance(value, values, near):
    """How far one must go from a number to meet `near` training values, itself included."""
    return sorted(abs(value - each) for each in values)[min(near, len(values)) - 1]


def state_rarities(counts, well_known, most):
    """How rare each state is; then one never met, then a missing one."""
    largest = max([*counts, 0])
    found = []
    for own in [*counts, 0]:
        # A state is as rare as all that are no more common together; a new one as those met once.
        met = min(sum(other for other in counts if other <= max(own, 1)), largest)
        surprise = math.log((largest + 0.5) / (met + 0.5)) * max(1 - met / well_known, 0)
        found.append(min(surprise**2, most))
    return [*found, 0.0]


def classes(counts, most):
    """Rank states by how common they are, the earlier first among equals; the rarest share one."""
    ranked = sorted(range(len(counts)), key=lambda state: (-counts[state], state))
    return [min(ranked.index(state), most - 1) for state in range(len(counts))]


def leaf_of(tree, truths):
    """Walk down a tree, told for each split whether it holds; count the leaves passed on the way.

    Gives the leaf's number and the way: each split met, and whether it holds.
    """

    def below(position, passed):
        """Where the subtree at a position ends, and how many leaves it has."""
        if tree[position] == -1:
            return position + 1, passed + 1
        return below(*below(position + 1, passed))

    position, passed, way = 0, 0, []
    while tree[position] != -1:
        split = tree[position]
        way.append((split, truths[split]))
        position += 1
        if not truths[split]:
            position, passed = below(position, passed)
    return passed, way


def surprise(standard, tail):
    return (tail + 1) / 2 * math.log(1 + standard**2 / tail)


def state_evidence(counts, leaf, state, pseudo_count):
    """How much rarer a state is in a leaf than by chance; `counts` are leaves × classes."""
    rows = sum(counts[leaf])
    of_state = sum(each[state] for each in counts) if state is not None else 0
    if of_state == 0:
        return math.log(1 + rows / pseudo_count)
    expected = rows * of_state / max(sum(map(sum, counts)), 1)
    return max(0.0, math.log((expected + pseudo_count) / (counts[leaf][state] + pseudo_count)))


def standardise(value, variable, clip):
    """A number in standard deviations from the mean, exactly, then within bounds."""
    if math.isinf(value):
        return math.copysign(clip, value)
    exact = (Fraction(value) - Fraction(variable.mean)) / Fraction(variable.std or 1.0)
    return float(min(max(exact, -Fraction(clip)), Fraction(clip)))


def judge(variables, contexts, splits, row, constants):
    """The evidence against each variable of a row, from the statistics of its leaves."""
    truths = [holds(split, row) is True for split in splits]
    leaves = [leaf_of(context.tree, truths)[0] for context in contexts]
    found = []
    for i, variable in enumerate(variables):
        value = row[variable.name]
        parts = []
        for context, leaf in zip(contexts, leaves, strict=True):
            if is_missing(value) or i not in (*context.numbers, *context.states):
                continue
            if isinstance(variable, Categorical):
                at = context.states.index(i)
                counts = [of_leaf[at] for of_leaf in context.state_counts]
                ranks = classes(variable.counts, constants.MAX_CLASSES)
                known = [r for v, r in zip(variable.values, ranks, strict=True) if v == value]
                new = constants.MAX_CLASSES - 1 if len(ranks) > constants.MAX_CLASSES else None
                state = known[0] if known else new
                parts.append(state_evidence(counts, leaf, state, constants.PSEUDO_COUNT))
            else:
                at = context.numbers.index(i)
                mean, n = context.means[leaf][at], context.counts[leaf]
                shrunk = (context.spreads[leaf][at] ** 2 * n + constants.SHRINKAGE) / (
                    n + constants.SHRINKAGE
                )
                spread = math.sqrt(shrunk + constants.FLOOR**2)
                z = (standardise(value, variable, constants.CLIP) - mean) / spread
                parts.append(surprise(z, constants.TAIL))
        total = sum(parts) / max(len(parts), 1)
        if parts and not isinstance(variable, Categorical):
            own = surprise(standardise(value, variable, constants.CLIP), constants.TAIL)
            total = max(total - constants.OWN_SHARE * own, 0.0)
        found.append(total)
    return found


# --- held-out rows and contexts -------------------------------------------------------------------


def mine_broken(truths, variables, blocks, least, max_predicates):
    """Minimal rules whose exceptions all lie in one block, as (antecedent, consequent): (count, block).

    Rows outside of the block support them, at least as many as their least demanding predicate asks, and
    others fail their consequent.
    """
    found = {}
    for size in range(1, max_predicates):
        for left in itertools.combinations(range(len(truths)), size):
            for right in set(range(len(truths))) - set(left):
                members = (*left, right)
                if len({variables[p] for p in members}) < len(members):
                    continue
                holding = [i for i in range(len(blocks)) if all(truths[p][i] is True for p in left)]
                guilty = {blocks[i] for i in holding if truths[right][i] is False}
                failing = {
                    block
                    for block, cell in zip(blocks, truths[right], strict=True)
                    if cell is False
                }
                if len(guilty) != 1 or len(failing) < 2:
                    continue
                (block,) = guilty
                count = sum(truths[right][i] is True and blocks[i] != block for i in holding)
                shorter = any(
                    (other, right) in found
                    for n in range(1, size)
                    for other in itertools.combinations(left, n)
                )
                if count >= min(least[p] for p in members) and not shorter:
                    found[left, right] = (count, block)
    return found


def split_rows(codes, is_state, rows, v, c):
    """Divide rows by whether they have a state's code, or a number's code of at most so much."""
    held = [i for i in rows if (codes[i][v] == c if is_state[v] else codes[i][v] <= c)]
    return held, [i for i in rows if i not in set(held)]


def split_gains(codes, members, is_state, n_splits, targets, least, rows):
    """What each allowed split of some rows takes off the squares of the targets, exactly."""

    def squares(some):
        sums = [sum(targets[i][k] for i in some) for k in range(len(targets[0]))]
        return Fraction(sum(each * each for each in sums), len(some))

    found = {}
    for v in members:
        for c in range(n_splits[v]):
            held, others = split_rows(codes, is_state, rows, v, c)
            if len(held) >= least and len(others) >= least:
                found[v, c] = squares(held) + squares(others) - squares(rows)
    return found


# --- a series followed row by row, from docs/method.md ---------------------------------------------


class Followed:
    """Follow rows of points with plain lists; see docs/method.md, "Time"."""

    RETURNED, SHARE, NAMED, DRIFTED = 0.25, 0.05, 0.25, 0.5

    def __init__(self, memory, threshold, gap):
        self.memory, self.threshold, self.gap = memory, threshold, gap
        self.n, self.every = 0, range(len(memory.usual))
        self.unfolding, self.horizon = 4 * memory.lookback, 7 * memory.lookback
        self.reference = list(memory.usual)
        self.near = [0.0 for _ in self.every]
        self.place = [0.0 for _ in self.every]
        self.stray = [0.0 for _ in self.every]
        self.active = self.rising = None
        self.standing, self.ended = [], []

    def since(self, i):
        starts = [each["start"] for each in self.standing if i in each["members"]]
        return min(starts) if starts else None

    def settled(self, i):
        since = self.since(i)
        steady = 0 < self.stray[i] <= 2 * self.memory.stray[i]
        return since is not None and self.n - since >= self.horizon and steady

    def excess(self, points):
        parts, self.leaps = [], [False for _ in self.every]
        for i in self.every:
            if self.settled(i):
                far = max(abs(self.near[i] - self.place[i]) - 2 * self.stray[i], 0.0)
                way = min(far / max(abs(self.place[i]), 3.0), 1.0)
                self.leaps[i] = far > 0
                part = (way * self.reference[i]) ** 2
            else:
                part = max(math.sqrt(points[i]) - self.reference[i], 0.0) ** 2
            parts.append(part)
        return parts

    def look(self, differences, rate):
        for i in self.every:
            if differences[i] is not None:
                self.near[i] += rate * (differences[i] - self.near[i])

    def stand(self, event):
        total = sum(event["blame"])
        members = {i for i in self.every if event["blame"][i] > 0}
        event["members"] = {i for i in members if event["blame"][i] >= self.SHARE * total}
        for i in event["members"]:
            event["frozen"][i] = min(event["frozen"][i], self.reference[i])
            self.reference[i] = max(self.reference[i], event["highest"][i])
            self.place[i], self.stray[i] = self.near[i], self.memory.stray[i]
        self.standing.append(event)

    def begin(self):
        nothing = [0.0 for _ in self.every]
        return {
            "onset": self.n,
            "frozen": list(self.reference),
            "stood": [self.settled(i) and self.place[i] != 0 for i in self.every],
            "highest": list(nothing),
            "blame": list(nothing),
            "slow": False,
            "since": [-1 for _ in self.every],
            "telling": [-1 for _ in self.every],
            "strength": list(nothing),
        }

    def quote(self, event, counts=True):
        """Note the first row in which each variable deviates, and the one in which it does most."""
        for i, far in self.far.items():
            if far >= self.SHARE * self.threshold:
                first = event["since"][i] < 0
                if first:
                    event["since"][i] = self.n
                if (first or counts) and far > event["strength"][i]:
                    event["telling"][i], event["strength"][i] = self.n, far
                    if "members" not in event and not self.leaps[i]:
                        event["stood"][i] = False

    def add(self, event, points, parts, unfolds=True):
        """Add a row; return whether by itself, or by its place, it would be an alarm if it lasted."""
        self.far = {}
        for i in event.get("members", self.every):
            root, frozen = math.sqrt(points[i]), event["frozen"][i]
            if unfolds:
                if root > frozen:
                    event["highest"][i] = max(event["highest"][i], root)
                if self.n - event["onset"] < self.unfolding:
                    event["blame"][i] += parts[i]
            lasting = math.sqrt((1 + self.memory.weight) * points[i])
            far = max(lasting - frozen, 0.0) ** 2
            if unfolds and event["stood"][i]:
                far = parts[i]
            elif unfolds and self.leaps[i]:
                far = max(far, parts[i])
            self.far[i] = far
        least = self.NAMED * max(event["blame"])
        main = [far for i, far in self.far.items() if event["blame"][i] >= least]
        return sum(main) > self.threshold * (self.DRIFTED if event["slow"] else 1)

    def take(self, points, differences):
        is_open = self.active is not None or bool(self.standing)
        if is_open:
            self.look(differences, 2 / (self.memory.lookback + 1))
        parts = self.excess(points)
        event = self.active
        if event is not None and (
            self.n - event["alarm"] > self.gap + 1 or self.n - event["start"] >= self.unfolding
        ):
            self.stand(event)
            self.active = None
            parts = self.excess(points)
        height = sum(parts)
        low = self.RETURNED * self.threshold
        rising = self.rising
        if rising is not None and (height <= low or self.n - rising["onset"] >= self.unfolding):
            self.rising = None
        if height > low and self.active is None and self.rising is None:
            self.rising = self.begin()
        if height > self.threshold and self.active is None:
            if not is_open:
                self.near = [0.0 for _ in self.every]
                self.look(differences, 1.0)
            is_open = True
            self.active, self.rising = self.rising, None
            self.active |= {"start": self.n, "last": self.n}
        before = list(self.standing)
        if self.rising is not None:
            self.add(self.rising, points, parts)
            self.quote(self.rising)
        if self.active is not None:
            deviates = self.add(self.active, points, parts)
            counts = height > self.threshold and (deviates or self.n == self.active["start"])
            self.quote(self.active, counts)
            if counts:
                self.active["last"] = self.n
            if height > self.threshold:
                self.active["alarm"] = self.n
        for event in before:
            beyond = [max(math.sqrt(points[i]) - event["frozen"][i], 0) for i in event["members"]]
            level = sum(each**2 for each in beyond)
            if event["slow"]:
                drift = [max(self.reference[i] - event["frozen"][i], 0) for i in event["members"]]
                level = max(level, sum(each**2 for each in drift))
            if level > low:
                if self.add(event, points, parts, unfolds=False):
                    event["last"] = self.n
                    self.quote(event)
            elif self.n - event["last"] > self.gap:
                self.standing.remove(event)
                self.ended.append(event)
                for i in event["members"] if not event["slow"] else ():
                    self.reference[i] = min(self.reference[i], event["frozen"][i])
        if self.active is None:
            free = [i for i in self.every if self.since(i) is None]
            drift = [0.0 for _ in self.every]
            for i in free:
                drift[i] = max(self.reference[i] - self.memory.highest[i], 0.0) ** 2
            if sum(drift) > self.DRIFTED * self.threshold:
                if not self.standing:
                    self.near = [0.0 for _ in self.every]
                    self.look(differences, 1.0)
                event = self.begin()
                event |= {"start": self.n, "last": self.n, "alarm": self.n, "slow": True}
                highest = self.memory.highest
                self.leaps = [False for _ in self.every]
                self.add(event, points, drift)
                self.quote(event)
                event["blame"], event["highest"] = drift, [0.0 for _ in self.every]
                event["frozen"] = [min(self.reference[i], highest[i]) for i in self.every]
                self.stand(event)
        is_open = self.active is not None or bool(self.standing)
        for i in self.every:
            far = math.sqrt(points[i]) - self.reference[i]
            at_once = self.active is None and far > 0 and self.since(i) is not None
            self.reference[i] += far if at_once else far / self.horizon
            if is_open and self.since(i) is not None and differences[i] is not None:
                off = min(abs(self.near[i] - self.place[i]), 4 * self.memory.stray[i])
                self.stray[i] += (off - self.stray[i]) / self.horizon
                self.place[i] += (self.near[i] - self.place[i]) / self.horizon
        self.n += 1
        return height

    def events(self):
        open_ = [] if self.active is None else [self.active]
        return sorted(
            (each["start"], each["last"], each["slow"], each["since"], each["telling"])
            for each in (*self.ended, *self.standing, *open_)
        )


def follows(statement, facts):
    """Return whether a statement follows from facts, by all rows of one value for each variable.

    A row is a choice of one atom for each variable: the pieces into which all predicates divide it.
    """
    both = [(fact.conditions, fact.conclusion) for fact in facts]
    both += [((f.conclusion,), f.conditions[0]) for f in facts if f.is_equivalence]
    predicates = [p for conditions, p in both for p in (*conditions, p)]
    predicates += [*statement.conditions, statement.conclusion]
    atoms = {}
    for predicate in predicates:
        atoms.setdefault(predicate.variable, set())
        if hasattr(predicate, "values"):
            atoms[predicate.variable] |= {*predicate.values, None}
        else:
            for bound in (predicate.low, predicate.high):
                if math.isfinite(bound):
                    atoms[predicate.variable] |= {bound, math.nextafter(bound, -math.inf)}

    def true(predicate, row):
        value = row[predicate.variable]
        if hasattr(predicate, "values"):
            return value in predicate.values
        return predicate.low <= value < predicate.high

    names = sorted(atoms)
    for values in itertools.product(*(sorted(atoms[name], key=str) for name in names)):
        row = dict(zip(names, values, strict=True))
        kept = all(
            true(conclusion, row) or not all(true(each, row) for each in conditions)
            for conditions, conclusion in both
        )
        broken = all(true(each, row) for each in statement.conditions)
        if kept and broken and not true(statement.conclusion, row):
            return False
    return True
