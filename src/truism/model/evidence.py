"""What is usual beyond the rules, as values: spacings of numbers, contexts, and the units of scores.

A model learned with ``scoring="evidence"`` holds one `Evidence`. `truism.learning` makes it,
`truism.scoring` holds rows against it.
"""

import msgspec

from truism.model.predicates import Interval, OneOf

LEAF = -1  # among the nodes of a context's tree
MAX_CLASSES = 64  # states of a variable that are told apart; the rarest share the last class
CLIP = 50.0  # standard deviations beyond which numbers are not told apart
MIN_UNIT = 1.0
N_EXACT = 50  # training values on each side that a spacing keeps exactly

Split = Interval | OneOf
"""What a context's tree asks of a row."""


class Spacing(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """Where the training values of a numeric variable lie.

    Parameters
    ----------
    variable
        The variable's name.
    values
        At most 255 of them, ascending; the outermost 50 on each side are exact.
    counts
        How many training rows each stands for.
    near
        How many training rows must lie close to a value that is not rare.
    spread
        The usual spread, as robust as a standard deviation is not.

    """

    variable: str
    values: tuple[float, ...]
    counts: tuple[int, ...]
    near: int
    spread: float


class Context(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A tree, and what the variables that it judges were like in its leaves.

    Parameters
    ----------
    tree
        Its nodes, each before its children, the child for which the split holds first: the number
        of a split, or -1 for a leaf. A row without the value goes where the split does not hold.
    numbers, states
        Positions of the numeric and the categorical variables it judges.
    counts
        Training rows in each leaf.
    means, spreads
        Of each leaf and number, in standard deviations of the variable from its mean.
    state_counts
        Of each leaf and categorical variable, the rows in each class of states; see `classes`.

    """

    tree: tuple[int, ...]
    numbers: tuple[int, ...]
    states: tuple[int, ...]
    counts: tuple[int, ...]
    means: tuple[tuple[float, ...], ...]
    spreads: tuple[tuple[float, ...], ...]
    state_counts: tuple[tuple[tuple[int, ...], ...], ...]


class Usual(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """Mean and spread of the contradictions of one variable in normal rows, as parts of the score."""

    mean: float
    spread: float


class Grave(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """From what worth on it is grave that a rule is broken, and what a row then scores at least."""

    worth: float
    score: float


class Evidence(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is usual, beyond the rules.

    Parameters
    ----------
    spacings
        Where the values of each numeric variable lie, in the schema's order.
    splits
        What the contexts' trees ask.
    contexts
        What variables are like when others are as they are.
    contradiction_unit, rarity_unit
        What the summed evidence of held-out training rows varies by; the unit of contradictions
        is larger where contexts do not hold from one stretch of rows to another.
    usual
        How much contradicts each variable in held-out training rows.
    grave
        Which broken rules are grave by themselves; None when no rows could tell.

    """

    spacings: tuple[Spacing, ...]
    splits: tuple[Split, ...]
    contexts: tuple[Context, ...]
    contradiction_unit: float
    rarity_unit: float
    usual: tuple[Usual, ...]
    grave: Grave | None = None
