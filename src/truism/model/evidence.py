"""What is usual beyond the rules, as values: spacings of numbers, contexts, and the units of scores.

A model learned with ``scoring="evidence"`` holds one `Evidence`. `truism.learn` makes it,
`truism.score` compares rows with it.
"""

from typing import Annotated

import msgspec
from msgspec import Meta

from truism.model.predicates import Interval, OneOf
from truism.model.schema import Count, Counts, Positive, ascend, require

LEAF = -1  # stands for a leaf among the nodes of a context's tree
MAX_CLASSES = 64  # states of a variable that are kept apart; the rarest share the last class
CLIP = 50.0  # numbers farther out than this many standard deviations count as equal
MIN_UNIT = 1.0
MAX_CONTEXTS = 500  # what they say together is a product of 32 bits
N_EXACT = 50  # training values on each side that a spacing keeps exactly
MAX_LEAVES = 256

_UNFIT = "tree and statistics do not fit"

Width = Annotated[float, Meta(gt=0)]
Size = Annotated[float, Meta(ge=0)]
Unit = Annotated[float, Meta(ge=MIN_UNIT)]

Split = Interval | OneOf
"""What a context's tree asks about a row."""


class Spacing(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """Where the training values of a numeric variable lie."""

    variable: str  # the variable's name
    # at most 255 training values, ascending; the outermost 50 on each side are all kept
    values: tuple[float, ...]
    counts: Counts  # how many training rows each stands for
    near: Positive  # how many training rows must lie close to a value for it not to be rare
    spread: Width  # the usual spread: like a standard deviation, but robust

    def __post_init__(self) -> None:
        same = len(self.values) == len(self.counts)
        require(same and ascend(self.values), "values and counts do not fit")


class Context(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A tree, and statistics of the variables that it judges in each of its leaves."""

    # its nodes, each before its children, and the child for which the split holds first. A node is
    # the number of a split, or -1 for a leaf. A row in which the value is missing goes where the
    # split does not hold.
    tree: tuple[Annotated[int, Meta(ge=LEAF)], ...]
    # positions of the numeric and the categorical variables it judges
    numbers: tuple[Count, ...]
    states: tuple[Count, ...]
    counts: Annotated[tuple[Count, ...], Meta(max_length=MAX_LEAVES)]  # training rows in each leaf
    # for each leaf and number, in standard deviations of the variable from its mean. Where rows
    # lack the number, the spread is one to judge by; see `spreads_to_judge_by`.
    means: tuple[tuple[Annotated[float, Meta(ge=-CLIP, le=CLIP)], ...], ...]
    spreads: tuple[tuple[Annotated[float, Meta(ge=0, le=2 * CLIP)], ...], ...]
    # for each leaf and categorical variable, the rows in each class of states; see `classes`
    state_counts: tuple[tuple[tuple[Count, ...], ...], ...]
    # for each leaf and number, the rows that have it; empty if all rows have every number
    known: tuple[tuple[Count, ...], ...] = ()

    def __post_init__(self) -> None:
        n_open, n_leaves = 1, len(self.counts)
        for node in self.tree:
            require(n_open > 0, _UNFIT)
            n_open += -1 if node == LEAF else 1
        tables = (self.means, self.spreads, *([self.known] if self.known else []))
        require(
            n_open == 0
            and self.tree.count(LEAF) == n_leaves == len(self.state_counts)
            and len({*self.numbers, *self.states}) == len(self.numbers) + len(self.states)
            and all([*map(len, table)] == [len(self.numbers)] * n_leaves for table in tables)
            and all(
                max(present, default=0) <= n
                for present, n in zip(self.known, self.counts, strict=bool(self.known))
            )
            and all(
                len(leaf) == len(self.states) and all(sum(states) <= n for states in leaf)
                for leaf, n in zip(self.state_counts, self.counts, strict=True)
            ),
            _UNFIT,
        )


class Usual(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """Mean and spread of one variable's contradictions in normal rows, in units of the score."""

    mean: Size
    spread: Width


class Grave(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The worth above which a broken rule is grave, and the least that such a row then scores."""

    worth: Size
    score: Size


class Evidence(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is usual, beyond the rules."""

    # where the values of each numeric variable lie, in the schema's order
    spacings: tuple[Spacing, ...]
    splits: tuple[Split, ...]  # what the trees of the contexts ask
    # what each variable is usually like, given the others
    contexts: Annotated[tuple[Context, ...], Meta(max_length=MAX_CONTEXTS)]
    # how much the summed evidence varies among held-out training rows. The unit of contradictions
    # is larger if contexts do not carry over from one stretch of rows to another.
    contradiction_unit: Unit
    rarity_unit: Unit
    usual: tuple[Usual, ...]  # how strongly each variable is contradicted in held-out training rows
    # which broken rules are grave in themselves; None if there were too few rows to find out
    grave: Grave | None = None
