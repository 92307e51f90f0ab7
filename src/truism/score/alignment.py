"""The variables of a model found in the columns of a table, and rows read for weighing.

All variables are measured in the same terms: a number by its distance from the mean in standard
deviations, a state by its rank among the states; the rarest share one rank.
"""

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.errors import SchemaError, did_you_mean, shorten
from truism.model.evidence import CLIP, MAX_CLASSES
from truism.model.schema import Categorical, Numeric, Schema, Variable
from truism.table.columns import NOUNS, Column, Table, numbers
from truism.table.times import dated

_ROWS = 1024  # standardised at a time
UNSEEN, MISSING = -2, -1  # codes of a categorical value that is not one of the variable's values


def time_column(schema: Schema, table: Table) -> Column | None:
    """Return the column of times, read as times if possible; None if there is none."""
    column = None if schema.time is None else table.column_of().get(schema.time)
    return None if column is None else dated(column)


def align(schema: Schema, table: Table) -> tuple[tuple[Column, ...], tuple[str, ...]]:
    """Find the schema's variables in a table to score.

    Returns
    -------
    columns
        One per variable, in the schema's order.
    extra
        Names of columns that the model does not know and ignores. An index is not a column.

    """
    column_of = table.column_of()
    columns = []
    absent = [name for name in schema.names if name not in column_of]
    if absent:
        raise _missing_columns(absent, schema, table)
    for variable in schema.variables:
        column = column_of[variable.name]
        if column.fault is not None:
            raise column.fault.error(column.name)
        if column.kind != "empty" and 0 < len(column.values) == column.n_missing:
            # The type of a column without any value is its library's guess.
            column = Column(column.name, "empty", column.values, column.missing)
        _check_kind(variable, column)
        columns.append(column)
    known = {*schema.names, schema.time, *(left.name for left in schema.left_out)}
    own = (column.name for column in table.columns if not column.index)
    return tuple(columns), tuple(name for name in own if name not in known)


def codes(variable: Categorical, column: Column) -> NDArray[np.int32]:
    """Return each value's position in ``variable.values``, or `UNSEEN`, or `MISSING`."""
    if column.kind == "empty":
        return np.full(len(column.values), MISSING, np.int32)
    if column.kind == "text":
        position = {value: code for code, value in enumerate(variable.values)}
        lookup = np.array(
            [position.get(text, UNSEEN) for text in column.categories] or [UNSEEN], np.int32
        )
        found: NDArray[np.int32] = lookup[column.values]
    else:
        states = np.array(variable.values)
        found = np.searchsorted(states, column.values).astype(np.int32)
        found[found == len(states)] = 0
        found[states[found] != column.values] = UNSEEN
    if column.missing is not None:
        found[column.missing] = MISSING
    return found


def refuse_text_for_numbers(schema: Schema, table: Table) -> None:
    """Refuse text in a column of numbers, and name it; historians write "Bad" and the like."""
    column_of = table.column_of()
    for variable in schema.variables:
        column = column_of.get(variable.name)
        if isinstance(variable, Numeric) and column is not None and column.kind == "text":
            wrong = {code for code, text in enumerate(column.categories) if not _is_number(text)}
            row = next((row for row, code in enumerate(column.values) if code in wrong), 0)
            raise SchemaError(
                f"Column {column.name!r} held numbers when the model was learned, "
                f"got {column.cell(row)!r} in row {row}.",
                "convert it, or read it as missing.",
                see=("missing",),
            )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _missing_columns(absent: list[str], schema: Schema, table: Table) -> SchemaError:
    hint = f"the model was learned with {len(schema.variables)} variables"
    unknown = [other for other in table.names if other not in schema.names]
    guess = did_you_mean(absent[0], unknown) if len(absent) == 1 else None
    which = f"Column {absent[0]!r} is" if len(absent) == 1 else f"Columns {shorten(absent)} are"
    return SchemaError(
        f"{which} missing from the table to score.",
        f"{hint}; {guess}" if guess else f"{hint}.",
        see=("rename", "allow_missing"),
    )


def _check_kind(variable: Variable, column: Column) -> None:
    expected = "number" if isinstance(variable, Numeric) else variable.holds
    if column.kind in (expected, "empty"):
        return
    if isinstance(variable, Numeric) and column.kind == "boolean":
        return
    raise SchemaError(
        f"Column {column.name!r} held {NOUNS[expected]} when the model was learned, "
        f"got {NOUNS[column.kind]}.",
        "convert the column, or learn the model again.",
    )


def classes(variable: Categorical) -> NDArray[np.int64]:
    """Return numbers for states by how common they are; the rarest of very many share one.

    Unseen and missing states have the last two numbers, so that their negative codes find them. Where
    there are very many states, new ones are to be expected: an unseen one then counts among the rarest.

    >>> classes(Categorical("U", "text", ("a", "b", "c"), (2, 7, 1), 0)).tolist()
    [1, 0, 2, 3, 4]
    """
    by_count = np.argsort(-np.array(variable.counts), kind="stable")
    rank = np.empty(len(by_count) + 2, np.int64)
    rank[by_count] = np.minimum(np.arange(len(by_count)), MAX_CLASSES - 1)
    n_classes = min(len(by_count), MAX_CLASSES)
    rank[UNSEEN], rank[MISSING] = n_classes, n_classes + 1
    if has_rest(variable):
        rank[UNSEEN] = MAX_CLASSES - 1
    return rank


def has_rest(variable: Categorical) -> bool:
    """Return whether the rarest states of a variable share the last class."""
    return len(variable.values) > MAX_CLASSES


def standardise(
    values: NDArray[np.float64],
    mean: NDArray[np.float64] | float,
    std: NDArray[np.float64] | float,
    most: float = CLIP,
) -> NDArray[np.float64]:
    """Return numbers in standard deviations from the mean; missing ones stay missing."""
    with np.errstate(over="ignore", invalid="ignore"):
        # Halved, so that the distance between the farthest doubles does not overflow.
        distance = values * 0.5
        distance -= np.multiply(mean, 0.5)
        distance /= std
        distance *= 2.0
    return np.clip(distance, -most, most, out=distance)


class Readings(msgspec.Struct, frozen=True, eq=False):
    """Rows ready to be weighed: numbers, the same standardised, codes of states and their classes.

    All are rows × variables, with the numeric or the categorical variables in the schema's order. In
    memory the values of a variable are adjacent; of the standardised numbers, those of a row are.
    """

    numbers: NDArray[np.float64]
    standard: NDArray[np.float32]
    codes: NDArray[np.int32]
    classes: NDArray[np.uint8]

    def take(self, rows: slice | NDArray[np.int64]) -> "Readings":
        """Return some of the rows: views for a slice, copies for positions."""
        return Readings(*(each[rows] for each in msgspec.structs.astuple(self)))


def join(parts: Sequence[Readings]) -> Readings:
    """Join blocks of rows."""
    tables = zip(*(msgspec.structs.astuple(each) for each in parts), strict=True)
    return Readings(*(np.concatenate(each) for each in tables))


class Reader:
    """Reads columns once, for everything that weighs them.

    `numbers` and `states` are the positions of the numeric and of the categorical variables.
    """

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        every = list(enumerate(schema.variables))
        self.numbers = [i for i, each in every if isinstance(each, Numeric)]
        self.states = [i for i, each in every if isinstance(each, Categorical)]
        self._numeric = [each for each in schema.variables if isinstance(each, Numeric)]
        self._categorical = [each for each in schema.variables if isinstance(each, Categorical)]
        self._means = np.array([each.mean for each in self._numeric]).reshape(-1, 1)
        self._stds = np.array([each.std or 1.0 for each in self._numeric]).reshape(-1, 1)
        self._classes = [classes(each).astype(np.uint8) for each in self._categorical]

    def read(self, columns: Sequence[Column]) -> Readings:
        """Read one block of rows."""
        values, known = self.encode(columns)
        ranks = np.empty(known.shape, np.uint8)
        for of_state, own, into in zip(self._classes, known, ranks, strict=True):
            np.take(of_state, own, out=into, mode="wrap")
        standard = np.empty(values.shape[::-1], np.float32)
        for start in range(0, len(standard), _ROWS):  # so few stay in the processor's cache
            rows = slice(start, start + _ROWS)
            standard[rows] = standardise(values[:, rows], self._means, self._stds).T
        return Readings(values.T, standard, known.T, ranks.T)

    def encode(self, columns: Sequence[Column]) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        """Return numbers, and codes of states, each variables × rows."""
        n_rows = len(columns[0].values)
        values = np.empty((len(self.numbers), n_rows))
        for place, i in enumerate(self.numbers):
            values[place] = numbers(columns[i])
        known = np.empty((len(self.states), n_rows), np.int32)
        for place, i in enumerate(self.states):
            known[place] = codes(self._categorical[place], columns[i])
        return values, known

    def standard(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return numbers in standard deviations from the mean, however far off: rows × variables."""
        return standardise(values, self._means.T, self._stds.T, most=np.inf)

    def n_classes(self, place: int) -> int:
        """Return how many classes of states a categorical variable has, with unseen and missing."""
        return int(self._classes[place].max()) + 1
