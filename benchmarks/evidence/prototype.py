"""Evidence scoring, reference implementation: how surprising each value of a row is, in one currency.

Three kinds of evidence, each about one variable X of one row, each sayable:

* rarity        "TSH = 0.14: the 40 nearest training values are up to 0.11 away (typical spread 0.002)"
* contradiction "because LIT301 >= 800 and P101 = on (4,310 training rows), FIT201 is 2.5 +- 0.06;
                 found 0.02"; for categories "... expected 12 rows with valve = open, there were 0"
* broken rule   "P101 = on and LIT301 >= 800 => 2.4 <= FIT201 < 2.6 (4,310 rows, no exception)"

    score(row) = sum over variables of  max(context_i, rule_i / 2) / S_c  +  1.5 * rarity_i / S_r

S_c and S_r are the standard deviations of the summed context and rarity evidence of held-out normal rows,
so that each kind counts in units of what it varies by on rows known to be normal.

Only `grow` (learning) is compiled; scoring is NumPy. No setting depends on the table.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numba as nb
import numpy as np
import pandas as pd

N_CONTEXTS = 24  # shared contexts (trees)
CONTEXT_SHARE = 1 / 3  # of the variables form a context; the others are judged in it
MAX_LEAVES, MIN_ROWS = 64, 10  # contexts per tree, training rows in each
N_BINS = 64  # for splits
N_BLOCKS = 5  # consecutive blocks of rows; tree k never sees block k mod 5
FIT_ROWS = 20_000  # tree structure from at most so many rows; the leaf statistics use all
NU = 10.0  # tail of the evidence of a residual
FLOOR, SHRINK = (
    0.05,
    3.0,
)  # a leaf's spread: at least 5 % of the variable's; 3 pseudo-rows of the whole
OWN = 0.4  # share of the evidence that X has without any context, taken off
PSEUDO = 0.3  # pseudo-count of category evidence
NEAR, NEAR_MIN, NEAR_MAX = (
    0.01,
    5,
    50,
)  # rarity looks at the nearest 1 % of training values, 5 to 50
STEEP, RARITY_CAP = 3.0, 10.0
RARITY_WEIGHT, RULE_WEIGHT = 1.5, 0.5
MAX_KNOTS = 255


# ---------------------------------------------------------------- values


@dataclass
class Numeric:
    name: str
    knots: np.ndarray  # at most 255 training values, the outermost 50 on each side exact
    counts: np.ndarray  # training rows each knot stands for
    near: int  # k
    scale: float  # typical spread (robust, of the values off the most frequent one)
    mean: float
    std: float
    edges: np.ndarray  # split points

    def __post_init__(self) -> None:
        self.profile = emptiness_profile(self.knots, self.counts, self.near)

    def standard(self, x):
        return (np.clip(x, -1e300, 1e300) - self.mean) / self.std

    def codes(self, x):
        code = np.searchsorted(self.edges, x, "left")
        return np.where(np.isnan(x), N_BINS, code).astype(np.uint8)

    def distance(self, x):
        """How far one must go from x to meet `near` training rows."""
        at, far = self.profile
        d = np.interp(x, at, far)
        return d + np.maximum(at[0] - x, 0) + np.maximum(x - at[-1], 0)

    def rarity(self, x):
        s = np.log1p(STEEP * self.distance(x) / self.scale) ** 2
        return np.where(np.isnan(x), 0.0, np.minimum(s, RARITY_CAP))


@dataclass
class Categorical:
    name: str
    values: list  # most frequent first
    counts: np.ndarray

    def codes(self, x):
        known = {v: min(i, N_BINS - 1) for i, v in enumerate(self.values)}
        unseen = N_BINS
        return np.array([N_BINS + 1 if v is None else known.get(v, unseen) for v in x], np.uint8)

    def rarity(self, codes):
        """Only values met fewer than 20 times are rare; a value met often is known, however uncommon."""
        self.counts.sum()
        c = np.zeros(N_BINS + 2)
        c[: min(len(self.counts), N_BINS)] = self.counts[:N_BINS]
        s = np.log((self.counts[0] + 0.5) / (c + 0.5)) * np.clip(1 - c / 20, 0, 1)
        s = np.minimum(np.maximum(s, 0) ** 2, RARITY_CAP)
        s[N_BINS + 1] = 0.0
        return s[codes]


@dataclass
class Context:
    feature: np.ndarray  # tree: node -> variable (-1 leaf), cut code, children
    cut: np.ndarray
    left: np.ndarray
    right: np.ndarray
    judged: np.ndarray  # numeric variables judged here
    mean: np.ndarray  # nodes x judged, standardised
    inv: np.ndarray  # nodes x judged, 1 / (sqrt(NU) * spread)
    judged_cat: np.ndarray
    table: list  # per judged categorical: nodes x codes, evidence
    n: np.ndarray  # training rows per node


@dataclass
class Model:
    variables: list
    contexts: list
    n_rows: int
    spread_context: float = 1.0
    spread_rarity: float = 1.0
    held_out: np.ndarray = field(
        default_factory=lambda: np.zeros(0)
    )  # scores of held-out training rows


# ---------------------------------------------------------------- rarity


def knots_of(a):
    """At most 255 order statistics with the rows they stand for; the outermost 50 on each side exact."""
    values, counts = np.unique(a, return_counts=True)
    if len(values) <= MAX_KNOTS:
        return values, counts
    inner = np.unique(np.linspace(50, len(values) - 51, MAX_KNOTS - 100).round().astype(int))
    keep = np.r_[np.arange(50), inner, np.arange(len(values) - 50, len(values))]
    keep = np.unique(keep)
    owner = np.searchsorted((keep[1:] + keep[:-1]) / 2, np.arange(len(values)))
    return values[keep], np.bincount(owner, counts, len(keep)).astype(int)


def emptiness_profile(knots, counts, near):
    """Points and, at each, the distance within which `near` training rows lie."""
    upto = np.r_[0, np.cumsum(counts)]
    end = np.searchsorted(upto, upto[:-1] + near) - 1  # window start -> last knot needed
    start = np.flatnonzero(end < len(knots))
    low, high = knots[start], knots[np.minimum(end[start], len(knots) - 1)]
    at = np.unique(np.r_[knots, (knots[1:] + knots[:-1]) / 2])
    far = np.min(np.maximum(np.abs(at[:, None] - low), np.abs(at[:, None] - high)), axis=1)
    return at, far


def numeric(name, x):
    a = np.sort(x[~np.isnan(x)])
    knots, counts = knots_of(a)
    std = float(a.std()) or 1.0

    def spread(v):
        return float(np.quantile(v, 0.9) - np.quantile(v, 0.1)) / 2.56 if len(v) else 0.0

    values, n = np.unique(a, return_counts=True)
    off_mode = a[a != values[n.argmax()]] if n.max() > 0.1 * len(a) else a
    scale = max(spread(a), spread(off_mode)) or std
    if len(values) > N_BINS:
        edges = np.unique(np.quantile(a, np.linspace(0, 1, N_BINS)[1:-1], method="lower"))
    else:
        edges = (values[1:] + values[:-1]) / 2
    near = min(int(np.clip(NEAR * len(a), NEAR_MIN, NEAR_MAX)), max(1, len(a) // 2))
    return Numeric(name, knots, counts, near, scale, float(a.mean()), std, edges)


# ---------------------------------------------------------------- contexts


@nb.njit(cache=True)
def grow(codes, is_cat, targets, context, min_rows, max_leaves, n_codes):
    """Best-first regression tree for several standardised targets at once (sum of squares)."""
    n, q = targets.shape
    size = 2 * max_leaves
    feature = np.full(size, -1, np.int32)
    cut = np.zeros(size, np.int32)
    left = np.zeros(size, np.int32)
    right = np.zeros(size, np.int32)
    gain = np.full(size, -1.0)
    best_v = np.full(size, -1, np.int32)
    best_c = np.zeros(size, np.int32)
    order = np.arange(n)
    start = np.zeros(size, np.int64)
    end = np.zeros(size, np.int64)
    end[0] = n
    rows = np.zeros(n_codes, np.int64)
    sums = np.zeros((n_codes, q))
    below = np.zeros(q)
    nodes, leaves = 1, 1
    fresh = np.zeros(2, np.int32)
    n_fresh = 1
    while True:
        for f in range(n_fresh):
            u = fresh[f]
            m = end[u] - start[u]
            if m < 2 * min_rows:
                continue
            total = np.zeros(q)
            for i in range(start[u], end[u]):
                for k in range(q):
                    total[k] += targets[order[i], k]
            base = 0.0
            for k in range(q):
                base += total[k] * total[k] / m
            for v in context:
                rows[:] = 0
                sums[:, :] = 0.0
                for i in range(start[u], end[u]):
                    r = order[i]
                    c = codes[r, v]
                    rows[c] += 1
                    for k in range(q):
                        sums[c, k] += targets[r, k]
                below[:] = 0.0
                n_below = 0
                for c in range(n_codes):
                    if is_cat[v]:
                        n_below = rows[c]
                        below[:] = sums[c]
                    else:
                        n_below += rows[c]
                        if rows[c] == 0:
                            continue
                        for k in range(q):
                            below[k] += sums[c, k]
                    if n_below < min_rows or m - n_below < min_rows:
                        continue
                    g = -base
                    for k in range(q):
                        g += below[k] ** 2 / n_below + (total[k] - below[k]) ** 2 / (m - n_below)
                    if g > gain[u] + 1e-9:
                        gain[u] = g
                        best_v[u] = v
                        best_c[u] = c
        u = -1
        most = 1e-6
        for w in range(nodes):
            if feature[w] < 0 and best_v[w] >= 0 and gain[w] > most:
                most = gain[w]
                u = w
        if u < 0 or leaves >= max_leaves:
            break
        v, c = best_v[u], best_c[u]
        lows = np.empty(end[u] - start[u], np.int64)
        highs = np.empty(end[u] - start[u], np.int64)
        a = b = 0
        for i in range(start[u], end[u]):
            x = codes[order[i], v]
            if (x == c) if is_cat[v] else (x <= c):
                lows[a] = order[i]
                a += 1
            else:
                highs[b] = order[i]
                b += 1
        order[start[u] : start[u] + a] = lows[:a]
        order[start[u] + a : end[u]] = highs[:b]
        feature[u], cut[u], left[u], right[u] = v, c, nodes, nodes + 1
        start[nodes], end[nodes] = start[u], start[u] + a
        start[nodes + 1], end[nodes + 1] = start[u] + a, end[u]
        fresh[0], fresh[1] = nodes, nodes + 1
        n_fresh = 2
        nodes += 2
        leaves += 1
    return feature[:nodes], cut[:nodes], left[:nodes], right[:nodes]


def leaf_of(context, codes, is_cat):
    """The leaf each row falls into: rows are handed down the tree, node by node."""
    leaf = np.zeros(len(codes), np.int32)
    waiting = [(0, np.arange(len(codes)))]
    while waiting:
        u, rows = waiting.pop()
        v = context.feature[u]
        if v < 0:
            leaf[rows] = u
            continue
        x = codes[rows, v]
        low = (x == context.cut[u]) if is_cat[v] else (x <= context.cut[u])
        waiting += [(context.left[u], rows[low]), (context.right[u], rows[~low])]
    return leaf


def design(names, usable, seed=0):
    """Which variables form each context: thirds of shuffles that depend on the names' order only."""
    rng = np.random.RandomState(seed)
    by_name = np.array(sorted(usable, key=lambda i: names[i]))
    size = max(1, round(CONTEXT_SHARE * len(by_name)))
    out = []
    while len(out) < N_CONTEXTS and len(by_name) > 1:
        shuffled = rng.permutation(by_name)
        parts = max(1, len(by_name) // size)
        out += [np.sort(shuffled[i * size : (i + 1) * size]) for i in range(parts)]
    return out[:N_CONTEXTS]


def targets_of(variables, numbers, codes):
    """What the trees predict: standardised numbers; indicator columns of the six commonest categories."""
    columns, owner = [], []
    for j, v in enumerate(variables):
        if isinstance(v, Numeric):
            columns.append(np.nan_to_num(v.standard(numbers[:, j])).clip(-5, 5))
            owner.append(j)
        elif len(v.values) > 1:
            flags = (codes[:, [j]] == np.arange(min(len(v.values), 6))).astype(float)
            flags -= flags.mean(0)
            flags /= np.sqrt((flags**2).mean(0).sum())
            columns += list(flags.T)
            owner += [j] * flags.shape[1]
    return np.array(columns).T, np.array(owner)


def statistics(context, leaf, standard, codes, inside, variables):
    """Per node and judged variable: mean and spread, or the evidence of each category."""
    nodes, at = len(context.feature), leaf[inside]
    x = standard[inside][:, context.judged]
    present = ~np.isnan(x)
    n = np.array([np.bincount(at[p], minlength=nodes) for p in present.T]).T.reshape(nodes, -1)
    filled = np.where(present, x, 0.0)
    s1 = np.array([np.bincount(at, c, nodes) for c in filled.T]).T.reshape(nodes, -1)
    s2 = np.array([np.bincount(at, c * c, nodes) for c in filled.T]).T.reshape(nodes, -1)
    context.mean = s1 / np.maximum(n, 1)
    var = np.maximum(s2 / np.maximum(n, 1) - context.mean**2, 0)
    spread = np.sqrt((var * n + SHRINK) / (n + SHRINK) + FLOOR**2)
    context.inv = 1 / (np.sqrt(NU) * spread)
    context.n = np.bincount(at, minlength=nodes)
    context.table = []
    for j in context.judged_cat:
        count = np.zeros((nodes, N_BINS + 2))
        np.add.at(count, (at, codes[inside, j]), 1)
        count[:, N_BINS + 1] = 0  # missing says nothing
        rows = count.sum(1, keepdims=True)
        expected = rows * count.sum(0) / max(rows.sum(), 1)
        table = np.maximum(0, np.log((expected + PSEUDO) / (count + PSEUDO)))
        new = count.sum(0) == 0
        table[:, new] = np.log1p(rows / PSEUDO)
        table[:, N_BINS + 1] = 0.0
        context.table.append(table)


def surprise(z2_over_nu):
    """-ln of a t density without its constant: z^2/2 for small residuals, logarithmic for large ones."""
    return (NU + 1) / 2 * np.log1p(z2_over_nu)


def context_evidence(contexts, standard, codes, is_cat, block=None):
    """Rows x variables. With `block` only contexts that did not see a row's block judge it."""
    n, d = codes.shape
    product = np.ones((n, d))
    total = np.zeros((n, d))
    times = np.zeros((n, d)) if block is not None else np.zeros((1, d))
    for k, context in enumerate(contexts):
        rows = np.arange(n) if block is None else np.flatnonzero(block == k % N_BLOCKS)
        if len(rows) == 0:
            continue
        leaf = leaf_of(context, codes[rows], is_cat)
        t = np.ix_(rows if block is not None else [0], np.r_[context.judged, context.judged_cat])
        times[t] += 1
        if len(context.judged):
            at = np.ix_(rows, context.judged)
            z = (standard[at] - context.mean[leaf]) * context.inv[leaf]
            product[at] *= 1 + np.nan_to_num(z * z, nan=0.0, posinf=1e30)
            if k % 8 == 7 or k == len(contexts) - 1:  # before the product overflows
                total += surprise(product - 1)
                product[:] = 1
        for j, table in zip(context.judged_cat, context.table, strict=False):
            total[rows, j] += table[leaf, codes[rows, j]]
    if (product != 1).any():
        total += surprise(product - 1)
    average = total / np.maximum(times, 1)
    own = np.where(is_cat, 0.0, surprise(np.nan_to_num(standard) ** 2 / NU))
    evidence = np.maximum(average - OWN * own, 0)
    evidence[:, is_cat] = average[:, is_cat]
    if block is not None:  # never judged out of sight: the variable's usual evidence
        judged = times > 0
        usual = (evidence * judged).sum(0) / np.maximum(judged.sum(0), 1)
        evidence = np.where(judged, evidence, usual)
    return evidence


# ---------------------------------------------------------------- fit and score


def read(variables, table):
    """A table as numbers, standardised numbers and codes."""
    n, d = len(table), len(variables)
    numbers, standard, codes = (
        np.full((n, d), np.nan),
        np.full((n, d), np.nan),
        np.zeros((n, d), np.uint8),
    )
    for j, v in enumerate(variables):
        if isinstance(v, Numeric):
            numbers[:, j] = table[v.name].to_numpy(float)
            standard[:, j] = v.standard(numbers[:, j])
            codes[:, j] = v.codes(numbers[:, j])
        else:
            codes[:, j] = v.codes(_texts(table[v.name]))
    return numbers, standard, codes


def _texts(column):
    gone = column.isna().to_numpy()
    if pd.api.types.is_numeric_dtype(column):
        return [None if g else float(v) for v, g in zip(column, gone, strict=False)]
    return [None if g else str(v) for v, g in zip(column, gone, strict=False)]


def fit(table: pd.DataFrame, seed: int = 0) -> Model:
    """Learn from normal rows, in their order."""
    n = len(table)
    variables = []
    for name in table:
        x = table[name]
        if pd.api.types.is_numeric_dtype(x) and x.nunique() > 5:
            variables.append(numeric(name, x.to_numpy(float)))
        else:
            values, counts = np.unique(
                np.array([v for v in _texts(x) if v is not None], object), return_counts=True
            )
            by = np.argsort(-counts, kind="stable")
            variables.append(Categorical(name, list(values[by]), counts[by]))
    numbers, standard, codes = read(variables, table)
    is_cat = np.array([isinstance(v, Categorical) for v in variables])
    constant = np.array([is_cat[j] and len(v.values) < 2 for j, v in enumerate(variables)])
    usable = np.flatnonzero(~constant)
    block = np.arange(n) * N_BLOCKS // n
    targets, owner = targets_of(variables, numbers, codes)
    contexts = []
    for _k, members in enumerate(design(list(table), usable, seed)):
        judged = np.setdiff1d(np.arange(len(variables)), members)
        aim = np.isin(owner, judged)
        if not aim.any():
            continue
        inside = block != len(contexts) % N_BLOCKS
        rows = np.flatnonzero(inside)
        fitted = rows[np.linspace(0, len(rows) - 1, min(len(rows), FIT_ROWS)).astype(int)]
        least = max(2, MIN_ROWS * len(fitted) // n) if n > FIT_ROWS else MIN_ROWS
        tree = grow(
            codes[fitted],
            is_cat,
            np.ascontiguousarray(targets[fitted][:, aim]),
            members.astype(np.int64),
            least,
            MAX_LEAVES,
            N_BINS + 2,
        )
        context = Context(
            *tree, judged[~is_cat[judged]], None, None, judged[is_cat[judged]], None, None
        )
        statistics(context, leaf_of(context, codes, is_cat), standard, codes, inside, variables)
        contexts.append(context)
    model = Model(variables, contexts, n)
    # What the two kinds of evidence vary by on rows they have not seen.
    context = context_evidence(contexts, standard, codes, is_cat, block=block)
    rare = np.zeros((n, len(variables)))
    for b in range(N_BLOCKS):
        rare[block == b] = rarity(
            [_without(v, table[v.name][block != b]) for v in variables],
            numbers[block == b],
            codes[block == b],
        )
    model.spread_context = float(context.sum(1).std()) or 1.0
    model.spread_rarity = float(rare.sum(1).std()) or 1.0
    model.held_out = (
        context / model.spread_context + RARITY_WEIGHT * rare / model.spread_rarity
    ).sum(1)
    return model


def _without(v, column):
    """A variable's rarity as learned without a block of rows; scale and categories stay."""
    if isinstance(v, Categorical):
        texts = [t for t in _texts(column) if t is not None]
        index = {x: i for i, x in enumerate(v.values)}
        return Categorical(
            v.name, v.values, np.bincount([index[t] for t in texts], minlength=len(v.values))
        )
    a = column.to_numpy(float)
    a = np.sort(a[~np.isnan(a)])
    if len(a) < 2:
        return v
    return Numeric(
        v.name, *knots_of(a), min(v.near, max(1, len(a) // 2)), v.scale, v.mean, v.std, v.edges
    )


def rarity(variables, numbers, codes):
    parts = [
        v.rarity(numbers[:, j]) if isinstance(v, Numeric) else v.rarity(codes[:, j])
        for j, v in enumerate(variables)
    ]
    return np.array(parts).T


def parts(model: Model, table: pd.DataFrame, rules: np.ndarray | None = None):
    """The two addends per row and variable. `rules`: ln(1 + E) of the strongest broken rule, rows x variables."""
    is_cat = np.array([isinstance(v, Categorical) for v in model.variables])
    numbers, standard, codes = read(model.variables, table)
    standard = np.clip(standard, -1e6, 1e6)
    context = context_evidence(model.contexts, standard, codes, is_cat)
    for j, v in enumerate(model.variables):  # a column that never moved
        if is_cat[j] and len(v.values) == 1:
            context[:, j] = (codes[:, j] == N_BINS) * np.log1p(model.n_rows / PSEUDO)
    if rules is not None:
        context = np.maximum(context, RULE_WEIGHT * rules)
    return context / model.spread_context, RARITY_WEIGHT * rarity(
        model.variables, numbers, codes
    ) / model.spread_rarity


def score(model: Model, table: pd.DataFrame, rules: np.ndarray | None = None) -> np.ndarray:
    """Rows x variables; each row's sum is its anomaly score."""
    return sum(parts(model, table, rules))


# ---------------------------------------------------------------- words


def conditions(model, context, leaf):
    """The path to a leaf in words, one condition per variable and side."""
    parent = {}
    for u, v in enumerate(context.feature):
        if v >= 0:
            parent[context.left[u]], parent[context.right[u]] = (u, True), (u, False)
    low, high, equal, other = {}, {}, {}, {}
    while leaf in parent:
        leaf, is_left = parent[leaf]
        v = model.variables[context.feature[leaf]]
        c = int(context.cut[leaf])
        if isinstance(v, Categorical):
            value = v.values[c] if c < len(v.values) else "another value"
            (equal if is_left else other).setdefault(v.name, []).append(value)
        elif is_left:
            high.setdefault(v.name, v.edges[min(c, len(v.edges) - 1)])
        else:
            low.setdefault(v.name, v.edges[min(c, len(v.edges) - 1)])
    said = [f"{k} = {v[0]}" for k, v in equal.items()]
    said += [f"{k} is not {' or '.join(map(str, v))}" for k, v in other.items() if k not in equal]
    for k in dict.fromkeys([*low, *high]):
        a, b = low.get(k), high.get(k)
        said.append(
            f"{a:.4g} < {k} <= {b:.4g}"
            if a is not None and b is not None
            else f"{k} > {a:.4g}"
            if a is not None
            else f"{k} <= {b:.4g}"
        )
    return " and ".join(said) or "in all rows"


def say(model: Model, row: pd.DataFrame, most: int = 3) -> list[str]:
    """The strongest variables of one row: share, expected, found, because, evidence."""
    is_cat = np.array([isinstance(v, Categorical) for v in model.variables])
    numbers, standard, codes = read(model.variables, row)
    told, rare = (p[0] for p in parts(model, row))
    total = told + rare
    lines = []
    for j in np.argsort(-total)[:most]:
        if total[j] <= 0:
            break
        v = model.variables[j]
        found = f"{numbers[0, j]:.4g}" if not is_cat[j] else str(_texts(row[v.name])[0])
        share = f"{v.name}  {total[j] / total.sum():.0%}"
        if rare[j] >= told[j]:
            if is_cat[j]:
                c = codes[0, j]
                seen = model.variables[j].counts[c] if c < len(v.values) else 0
                lines.append(
                    f"{share}  found {found}: {seen} of {model.n_rows:,} training rows have this value"
                )
            else:
                x = numbers[0, j]
                d = v.distance(x)
                side = v.counts[v.knots <= x].sum(), v.counts[v.knots >= x].sum()
                tail = f"only {min(side)} of {model.n_rows:,} training rows were this {'low' if side[0] < side[1] else 'high'}; "
                lines.append(
                    f"{share}  found {found}: {tail if min(side) < 0.05 * model.n_rows else ''}"
                    f"the nearest {v.near} training values reach {d:.3g} away (usual spread {v.scale:.3g})"
                )
            continue
        best = None
        for context in model.contexts:
            leaf = leaf_of(context, codes, is_cat)[0]
            if is_cat[j] and j in context.judged_cat:
                e = context.table[list(context.judged_cat).index(j)][leaf, codes[0, j]]
            elif not is_cat[j] and j in context.judged:
                i = list(context.judged).index(j)
                e = surprise(((standard[0, j] - context.mean[leaf, i]) * context.inv[leaf, i]) ** 2)
            else:
                continue
            if best is None or e > best[0]:
                best = e, context, leaf
        if best is None:
            lines.append(
                f"{share}  expected {v.values[0]}, as in all {model.n_rows:,} training rows; found {found}"
            )
            continue
        e, context, leaf = best
        why = f"because {conditions(model, context, leaf)} ({context.n[leaf]:,} training rows)"
        if is_cat[j]:
            lines.append(
                f"{share}  found {found}, {why}: {np.exp(e):.0f} times rarer there than elsewhere"
            )
        else:
            i = list(context.judged).index(j)
            m = v.mean + v.std * context.mean[leaf, i]
            s = v.std / context.inv[leaf, i] / np.sqrt(NU)
            lines.append(f"{share}  expected {m:.4g} ± {2 * s:.2g}, found {found}, {why}")
    return lines
