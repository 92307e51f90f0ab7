"""What differs between databases, written by sqlglot: names, texts, types, tables and NaN.

All else in a statement (comparisons, AND, OR, NOT, CASE, sums, LN, SQRT, LEAST, GREATEST) is written the
same and means the same in every dialect here. sqlglot's optimiser is not called.
"""

import functools
import re
from typing import Any, Literal, get_args

import msgspec

from truism.errors import ParameterError, TruismError

DialectName = Literal["duckdb", "postgres", "spark", "bigquery", "snowflake"]
DIALECTS: tuple[DialectName, ...] = get_args(DialectName)
LARGEST = 1.7976931348623157e308
_LINE = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]+")


class Dialect(msgspec.Struct, frozen=True):
    """How one kind of database wants names, texts and types to be written."""

    name: DialectName

    def __post_init__(self) -> None:
        if self.name not in DIALECTS:
            choices = ", ".join(repr(dialect) for dialect in DIALECTS)
            raise ParameterError.of("dialect", f"be one of {choices}", self.name)

    def identifier(self, name: str) -> str:
        """Write the name of a column, quoted."""
        return _identifier(self.name, name)

    def text(self, value: str) -> str:
        """Write a text."""
        return _text(self.name, value)

    def cast(self, expression: str, kind: Literal["DOUBLE", "TEXT", "BOOLEAN"]) -> str:
        """Write the conversion of an expression."""
        return f"CAST({expression} AS {_type(self.name, kind)})"

    def without_nan(self, expression: str) -> str:
        """Write a double that is NULL where it is NaN."""
        if self.name == "bigquery":
            return f"CASE WHEN NOT IS_NAN({expression}) THEN {expression} END"
        return f"NULLIF({expression}, {self.cast(self.text('NaN'), 'DOUBLE')})"

    def table(self, name: str) -> str:
        """Write the name of a table, which may have a schema and quotes as the database has them."""
        if not isinstance(name, str) or not name.strip():
            raise ParameterError.of("table", "name a table", name)
        return _table(self.name, name)

    @property
    def opening(self) -> str:
        """How the query of a level begins.

        PostgreSQL and DuckDB would otherwise copy the expressions of a level to wherever they are used.
        """
        return "AS MATERIALIZED (" if self.name in ("postgres", "duckdb") else "AS ("


def number(value: float) -> str:
    """Write a double; without an exponent some databases would read an exact decimal.

    >>> number(2.4), number(800.0), number(-1e-12)
    ('2.4e0', '800e0', '(-1e-12)')
    """
    digits = repr(float(value)).removesuffix(".0")
    written = digits if "e" in digits else f"{digits}e0"
    return f"({written})" if written.startswith("-") else written


def words(text: str) -> str:
    """Return a text that stays on the line of its comment."""
    return _LINE.sub(" ", text)


def _sqlglot() -> Any:
    try:
        import sqlglot
    except ModuleNotFoundError:
        raise TruismError(
            "Writing SQL needs sqlglot, which is not installed.", "pip install 'truism[sql]'."
        ) from None
    return sqlglot


@functools.lru_cache(maxsize=1 << 16)
def _identifier(dialect: str, name: str) -> str:
    return str(_sqlglot().exp.to_identifier(name, quoted=True).sql(dialect=dialect))


@functools.lru_cache(maxsize=1 << 16)
def _text(dialect: str, value: str) -> str:
    return str(_sqlglot().exp.Literal.string(value).sql(dialect=dialect))


@functools.cache
def _type(dialect: str, kind: str) -> str:
    return str(_sqlglot().exp.DataType.build(kind).sql(dialect=dialect))


def _table(dialect: str, name: str) -> str:
    glot, hint = _sqlglot(), "quote names as the database does, such as plant.readings."
    refused = ParameterError.of("table", "name a table", name, hint)
    try:
        found = glot.parse_one(name, into=glot.exp.Table, dialect=dialect)
    except glot.errors.SqlglotError:
        raise refused from None
    # An alias, a function or a whole query would be parsed too.
    parts = {part for part, value in found.args.items() if value}
    if parts - {"this", "db", "catalog"} or not isinstance(found.this, glot.exp.Identifier):
        raise refused
    return str(found.sql(dialect=dialect, comments=False))
