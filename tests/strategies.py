"""What Hypothesis draws: truth tables, tables of mixed columns, predicates, rule sets, settings."""

import math
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from learned import learn
from truism.model.predicates import AnyOf, Interval, OneOf, Present, Range
from truism.model.rules import Rule
from truism.model.schema import Categorical, Numeric
from truism.model.settings import Settings
from truism.table.frames import as_table

HOSTILE_NAMES = (
    " and ",
    "rock and roll",
    "a or b",
    "x <= 3",
    "x=1",
    'say "hi"',
    "it's",
    "naïve 🚰",
    "<script>alert(1)</script>",
    '=HYPERLINK("http://x")',
    "U in {a, b}",
    "⇒",
    "a\nb",
    "Δ",
    "  spaced  ",
)
names = st.one_of(
    st.sampled_from(HOSTILE_NAMES),
    st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1).filter(
        lambda name: name.strip()
    ),
)
finite = st.floats(allow_nan=False, allow_infinity=False)
states = st.one_of(st.booleans(), st.integers(-(2**53), 2**53), finite, st.text(max_size=8))
thresholds = st.sampled_from([0.01, 0.05, 0.1, 0.15, 0.2, 0.29, 0.3, 0.4])
ratios = st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99])


# A pump and the flow that follows it, and rows in which one of them is wrong.
NORMAL = {"P101": ["on", "off"] * 50, "FIT201": [2.5, 0.0] * 50, "mode": ["auto"] * 100}
BROKEN = {
    "P101": ["on", "on", "never", None],
    "FIT201": [2.5, 0.0, 2.5, 0.0],
    "mode": ["auto"] * 4,
}


@st.composite
def truth_tables(draw, max_predicates=10, max_rows=80, missing=True):
    """Predicates × rows of True, False and None, and the variable of each predicate.

    Hypothesis draws the shape and a seed: cells that it draws one by one hold hardly any rule with
    two conditions. Rows repeat and predicates imply others, because rules without exceptions are
    rare among independent bits.
    """
    n = draw(st.integers(1, max_predicates))
    n_rows = draw(st.integers(2, max_rows))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    often = random.uniform(0.3, 0.95, size=(n, 1))
    kinds = random.random((n, draw(st.integers(1, 30)))) < often
    cells = kinds[:, random.integers(kinds.shape[1], size=n_rows)]
    for _ in range(draw(st.integers(0, 3))):
        one, other = random.integers(n, size=2)
        cells[other] |= cells[one]
    rare = draw(st.sampled_from([0.0, 0.02, 0.1, 0.3])) if missing else 0.0
    unknown = random.random(cells.shape) < rare
    truths = [
        [None if hole else cell for cell, hole in zip(row, holes, strict=True)]
        for row, holes in zip(cells.tolist(), unknown.tolist(), strict=True)
    ]
    shared = draw(st.booleans())
    variables = random.integers(n + 2, size=n).tolist() if shared else list(range(n))
    return truths, variables


STATES = {
    "states": [0, 1, 2],
    "text": ["on", "off", "rock and roll", 'a "b"'],
    "letters": list("abcdefgh"),
    "flag": [True, False],
}


def _column(random, kind, which, missing):
    """One column: a function of the kind of row, or free of it, or in between."""
    n_kinds, n_rows = int(which.max()) + 1, len(which)
    if kind == "quantity":
        pool = np.sort(random.choice(200, size=12, replace=False)) / 8.0
    elif kind == "ramp":  # ascends with the kind of row, so that other columns can tell it
        pool = np.arange(n_kinds) * 1.5 + 0.25
    else:
        pool = np.array(STATES[kind], dtype=object)
    of_kind = pool if kind == "ramp" else pool[random.integers(len(pool), size=n_kinds)]
    free = pool[random.integers(len(pool), size=n_rows)]
    values = np.where(
        random.random(n_rows) < random.choice([0.0, 0.0, 0.1, 1.0]), free, of_kind[which]
    )
    cells = [float(v) if kind in ("quantity", "ramp") else v for v in values.tolist()]
    if missing and random.random() < 0.5:
        holes = random.random(n_rows) < random.choice([0.05, 0.3])
        cells = [None if hole else cell for hole, cell in zip(holes, cells, strict=True)]
    return cells


@st.composite
def tables(draw, min_rows=12, max_rows=40, max_columns=5, missing=True, min_columns=1):
    """Draw a dict of columns that can be learned from; rows repeat, and columns depend on another.

    Hypothesis draws the shape and a seed; drawn cell by cell, nearly every table would be too poor
    in distinct values to have a quantity at all.
    """
    kinds = st.sampled_from(["quantity", "ramp", "quantity", *STATES])
    columns = draw(st.lists(kinds, min_size=min_columns, max_size=max_columns))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    n_rows = draw(st.integers(min_rows, max_rows))
    which = random.integers(draw(st.integers(4, 14)), size=n_rows)
    table = {f"v{i}": _column(random, kind, which, missing) for i, kind in enumerate(columns)}
    for column in table.values():
        if all(value is None for value in column):
            column[0] = 1.0
    return table


@st.composite
def intervals(draw, variables=names):
    low, high = sorted(draw(st.tuples(finite, finite).filter(lambda pair: pair[0] < pair[1])))
    sides = draw(st.sampled_from(["both", "low", "high"]))
    return Interval(
        draw(variables),
        low if sides != "high" else -math.inf,
        high if sides != "low" else math.inf,
    )


one_ofs = st.builds(
    OneOf, names, st.lists(states, min_size=1, max_size=4, unique_by=repr).map(tuple)
)
any_ofs = st.builds(AnyOf, st.lists(one_ofs, min_size=2, max_size=3).map(tuple))
ranges = st.tuples(names, finite, finite).map(lambda t: Range(t[0], min(t[1:]), max(t[1:])))
presents = st.builds(Present, names)
predicates = st.one_of(intervals(), one_ofs, any_ofs, ranges, presents)
rules = st.builds(
    Rule,
    st.lists(st.one_of(intervals(), one_ofs), max_size=3, unique_by=repr).map(tuple),
    st.lists(predicates, min_size=1, max_size=2, unique_by=repr).map(tuple),
    st.integers(1, 1000),
)

# Predicates about few variables with few bounds, so that many are alike.
_few = st.sampled_from([1.0, 2.0, 3.0, 4.0])
_bounds = st.lists(_few, min_size=2, max_size=2, unique=True).map(sorted)
_some_states = st.lists(st.sampled_from("abc"), min_size=1, max_size=2, unique=True).map(
    lambda values: tuple(sorted(values))
)
few_predicates = st.one_of(
    st.builds(Interval, st.sampled_from("xy"), low=_few),
    st.builds(Interval, st.sampled_from("xy"), high=_few),
    st.builds(lambda name, ends: Interval(name, *ends), st.sampled_from("xy"), _bounds),
    st.builds(OneOf, st.sampled_from("uv"), _some_states),
    st.builds(lambda one, other: AnyOf((OneOf("u", one), OneOf("v", other))), *[_some_states] * 2),
)
few_consequents = st.one_of(
    few_predicates,
    st.builds(lambda name, ends: Range(name, *ends), st.sampled_from("xy"), _bounds),
    st.builds(Present, st.sampled_from("xyuv")),
)


settings_values = st.builds(
    Settings,
    min_support=st.one_of(st.just("auto"), thresholds),
    support_ratio=ratios,
    max_predicates=st.integers(2, 6),
    cutoffs=st.sampled_from(["tree", "uniform", "kmeans"]),
    random_state=st.integers(0, 2**31),
)


@st.composite
def learned(draw, scoring="paper", min_rows=12, max_rows=30, min_columns=1):
    """Draw a table, a model of it, and the table with rows added that hold anything at all."""
    data = draw(
        tables(min_rows=min_rows, max_rows=max_rows, max_columns=4, min_columns=min_columns)
    )
    model = learn(
        as_table(data),
        min_support=draw(thresholds),
        support_ratio=draw(ratios),
        max_predicates=4,
        scoring=scoring,
    )
    strange = {}
    seed = draw(st.integers(0, 1000))
    random = np.random.default_rng(seed)
    for name in data:
        variable = model.schema.variable_of().get(name)
        if variable is None:
            continue
        if isinstance(variable, Categorical):
            pool = [*variable.values, None]
            pool += {"text": ["never"], "boolean": [], "number": [99]}[variable.holds]
        else:
            assert isinstance(variable, Numeric)
            pool = [variable.low, variable.high, variable.mean, -30.0, 2.6, 77.5, None]
            pool += [math.inf, -math.inf]
        strange[name] = [pool[i] for i in random.integers(len(pool), size=40)]
    return data, model, {name: data[name] + strange[name] for name in strange}


def exact(value):
    return Fraction(repr(value))
