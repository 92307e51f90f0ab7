"""A model as one SQL statement: the front door, with the limits on rules and length."""

from collections.abc import Sequence
from typing import Literal, get_args

import msgspec

from truism.errors import ParameterError
from truism.export.sql.conditions import Conditions
from truism.export.sql.dialects import Dialect, DialectName
from truism.export.sql.levels import (
    NO_ESCAPES,
    Escapes,
    Level,
    Lines,
    Listing,
    comment_lines,
    write,
)
from truism.export.sql.penalties import penalties
from truism.export.sql.strength import Selection, strongest
from truism.export.sql.violations import RETURNED, violations
from truism.model.model import Model
from truism.model.settings import check_whole

Form = Literal["violations", "paper"]
FORMS: tuple[Form, ...] = get_args(Form)
MAX_RULES = 2000
MAX_BYTES = 900_000  # several warehouses refuse statements of more than a megabyte
_SCORED = ("score", "anomaly")


class Statement(msgspec.Struct, frozen=True):
    """A statement, and what it does not hold."""

    text: str  # the SQL
    n_rules: (
        int  # how many rules with a condition it holds; those about one variable alone come on top
    )
    left_out: tuple[str, ...] = ()  # what of the model it does not hold, in sentences


def to_sql(
    model: Model,
    *,
    dialect: DialectName,
    table: str,
    form: Form = "violations",
    keys: Sequence[str] | None = None,
    rules: int = MAX_RULES,
    max_bytes: int = MAX_BYTES,
) -> Statement:
    """Return a model as one SELECT statement.

    Parameters
    ----------
    model
        The model.
    dialect
        The kind of database: ``"duckdb"``, ``"postgres"``, ``"spark"``, ``"bigquery"`` or
        ``"snowflake"``.
    table
        The table to check, as the database writes it: ``readings``, ``plant.readings``.
    form
        ``"violations"``: which rule a row breaks, what was expected and what was found.
        ``"paper"``: the paper's score.
    keys
        Columns of the table that the result keeps, by default the time axis; without one, all
        variables.
    rules
        At most so many rules with a condition, the strongest.
    max_bytes
        At most so much text. The weakest rules that do not fit are left out, and said.

    Examples
    --------
    >>> from truism.model.settings import Settings
    >>> from truism.table.frames import as_table
    >>> from truism.learn.learn import learn
    >>> normal = as_table({"pump": ["on", "off"] * 50, "flow": [2.5, 0.0] * 50})
    >>> model = learn(normal, Settings(min_support=0.1))
    >>> statement = to_sql(model, dialect="duckdb", table="readings")
    >>> "pump = on ⇒ flow = 2.5" in statement.text
    True

    """
    check_whole("max_bytes", max_bytes, 1)
    if form not in FORMS:
        raise ParameterError.of("form", f"be one of {', '.join(map(repr, FORMS))}", form)
    wrote = Dialect(dialect)
    conditions = Conditions(wrote, model.schema, _keys(model, keys, form), missing_words(model))
    draft = Draft(model, conditions, wrote.table(table), form)
    return draft.fitting(rules, max_bytes)


def refuse_past(model: Model) -> None:
    """Refuse a model whose rules look at earlier rows; a statement sees one row at a time.

    This is the one place that decides which models a statement can stand for.
    """
    if model.derived:
        raise ParameterError(
            f"A statement checks each row by itself, and this model looks at the change of "
            f"{model.derived[0]!r} since the row before.",
            "learn a model without changes since the previous row.",
        )


def _keys(model: Model, keys: Sequence[str] | None, form: Form) -> tuple[str, ...]:
    if keys is None:
        return usual_keys(model, form)
    taken = _taken(form)
    for each in keys:
        if not isinstance(each, str) or not each:
            raise ParameterError.of("keys", "name columns of the table", each)
        if each.casefold() in taken:
            raise ParameterError.of(
                "keys",
                f"not be called as a column of the result ({', '.join(taken)})",
                each,
            )
    return tuple(dict.fromkeys(keys))


def missing_words(model: Model) -> tuple[str, ...]:
    """Return how the model's tables spell missing values, besides the usual ways."""
    return () if model.reading is None else model.reading.layout.missing


def usual_keys(model: Model, form: Form = "violations") -> tuple[str, ...]:
    """Return the time axis, or all variables; a database has both columns of which an axis was joined."""
    axis, reading = model.schema.time, model.reading
    found = model.schema.names if axis is None else (axis,)
    if reading is not None and len(reading.layout.time) == 2 and reading.axis == axis:
        found = reading.layout.time
    return tuple(each for each in found if each.casefold() not in _taken(form))


def _taken(form: Form) -> tuple[str, ...]:
    return RETURNED if form == "violations" else _SCORED


class Draft(msgspec.Struct, frozen=True):
    """A statement to be written with more or fewer rules."""

    model: Model  # the model
    conditions: Conditions  # its readings and predicates
    table: str  # what stands for the table
    form: Form = "violations"  # what the statement returns
    escapes: Escapes = NO_ESCAPES  # see `write`

    def fitting(self, rules: int, max_bytes: int = MAX_BYTES) -> Statement:
        """Return the statement with as many of the strongest rules as fit."""
        check_whole("rules", rules, 0)
        refuse_past(self.model)
        selection = strongest(self.model).first(rules)
        found = self.write(selection)
        if len(found.text.encode()) <= max_bytes:
            return found
        low, high = 0, selection.n_rules
        found = self.write(selection.first(0))
        while low + 1 < high:
            middle = (low + high) // 2
            tried = self.write(selection.first(middle))
            if len(tried.text.encode()) <= max_bytes:
                low, found = middle, tried
            else:
                high = middle
        if len(found.text.encode()) > max_bytes:
            raise ParameterError.of(
                "max_bytes",
                f"be at least {len(found.text.encode())} for a model of this many variables",
                max_bytes,
            )
        return found

    def write(self, selection: Selection) -> Statement:
        """Return the statement with these rules."""
        left_out = tuple(self._left_out(selection))
        levels = (*self.conditions.readings(), *self._levels(selection))
        head = self._head(selection, left_out)
        text = write(self.conditions.dialect, head, self.table, levels, self.escapes)
        return Statement(text, selection.n_rules, left_out)

    def _levels(self, selection: Selection) -> Sequence[Level | Listing]:
        model = self.model
        if self.form == "violations":
            return violations(self.conditions, selection)
        # The threshold of another scoring says nothing here; any broken rule does.
        threshold = model.threshold if model.evidence is None else 0.0
        return penalties(self.conditions, selection, model.rules.n_rows, threshold)

    def _left_out(self, selection: Selection) -> list[str]:
        found = []
        if selection.n_rules < selection.n_all:
            rest = selection.n_all - selection.n_rules
            found.append(
                f"The {rest:,} weakest of {selection.n_all:,} rules with a condition are left out."
            )
            if self.form == "paper":
                found.append("So a row may score less than truism gives it, never more.")
        if self.model.accepted:
            found.append("What was accepted as normal counts here all the same.")
        return found

    def _head(self, selection: Selection, left_out: Sequence[str]) -> Lines:
        made = self.model.provenance
        titles = {
            "violations": "the rules that rows break",
            "paper": "the score of rows as in the paper",
        }
        n_rules = f"{selection.n_rules:,} rules with a condition"
        return comment_lines(
            "\n".join(
                [
                    f"{titles[self.form]}, written by truism {made.version} from a model of "
                    f"{made.n_rows:,} rows: {n_rules}, {len(selection.univariate):,} about one "
                    "variable alone.",
                    *left_out,
                ]
            )
        )
