"""A statement as flat levels: each names the columns that the next one uses.

An expression is a tuple of lines, so that lines can be moved to the right although a text in quotes may
run over several; what stands between quotes is never touched.
"""

from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from truism.export.sql.dialects import Dialect, words

Lines = tuple[str, ...]
Escapes = dict[int, str]
NO_ESCAPES: Escapes = {}

# Databases limit how deeply an expression may be nested (DuckDB: 1,000), and a + b + c nests by one
# with every sign; so long sums are sums of shorter ones.
_WIDTH = 50


class Column(msgspec.Struct, frozen=True):
    """An expression, the name of its result, and what it means."""

    lines: Lines
    name: str
    comment: str = ""


class Level(msgspec.Struct, frozen=True):
    """A query over one other: ``SELECT columns FROM source WHERE condition``."""

    name: str  # what later levels call it; empty for the last one
    columns: tuple[Column, ...]  # what it selects
    source: str  # where from, with joins; empty for the first one, which reads the table
    keeps: bool = False  # whether all columns of the source are selected too
    condition: str = ""  # which rows; empty for all


class Listing(msgspec.Struct, frozen=True):
    """A small table that the statement brings along, row by row."""

    name: str
    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def column(expression: str, name: str, comment: str = "") -> Column:
    """Return a column of one line."""
    return Column((expression,), name, comment)


def indented(lines: Iterable[str]) -> Lines:
    """Move lines to the right."""
    return tuple(f"  {line}" for line in lines)


def bracketed(lines: Lines) -> Lines:
    """Put lines in brackets; the last line then has no comment."""
    return ("(", *indented(lines), ")")


def chain(sign: Literal["+", "||", "OR"], terms: Sequence[Lines]) -> Lines:
    """Join terms with a sign, in brackets of at most fifty.

    >>> chain("+", [("a",), ("b",)])
    ('a', '+ b')
    """
    if not terms:
        return ({"+": "0e0", "||": "''", "OR": "FALSE"}[sign],)
    if len(terms) > _WIDTH:
        inner = [
            bracketed(chain(sign, terms[i : i + _WIDTH])) for i in range(0, len(terms), _WIDTH)
        ]
        return chain(sign, inner)
    found: list[str] = []
    for i, (first, *rest) in enumerate(terms):
        found += [first if i == 0 else f"{sign} {first}", *rest]
    return tuple(found)


def comment_lines(text: str) -> Lines:
    """Return a text as comments, one for each of its lines."""
    return tuple(f"-- {words(line)}".rstrip() for line in text.splitlines())


def said(line: str, comment: str) -> str:
    """Put a comment behind a line."""
    return f"{line}  -- {words(comment)}" if comment else line


def write(
    dialect: Dialect,
    head: Lines,
    table: str,
    parts: Sequence[Level | Listing],
    escapes: Escapes = NO_ESCAPES,
) -> str:
    """Write a statement.

    Parameters
    ----------
    dialect
        The kind of database.
    head
        Comments above it.
    table
        What the first part reads, as it is to be written.
    parts
        Its queries; the last is what it returns.
    escapes
        How characters are written before and after the table, so that the tool that fills in the
        table reads nothing else as its own.

    """
    first, *named, last = parts
    before = [*head, f"WITH {first.name} {dialect.opening}", *indented(_query(dialect, first))]
    after: list[str] = []
    for part in named:
        after += ["),", f"{part.name} {dialect.opening}", *indented(_query(dialect, part))]
    after += [")", *_query(dialect, last)]
    ahead, behind = ("\n".join(lines).translate(escapes) for lines in (before, ["", *after, ""]))
    return f"{ahead}\n  FROM {table}{behind}"


def _query(dialect: Dialect, part: Level | Listing) -> Lines:
    if isinstance(part, Listing):
        return _rows(dialect, part)
    items: list[Lines] = [("*",)] if part.keeps else []
    comments = [""] if part.keeps else []
    for each in part.columns:
        *before, last = each.lines
        items.append((*before, f"{last} AS {each.name}"))
        comments.append(each.comment)
    found = ["SELECT"]
    for i, (item, comment) in enumerate(zip(items, comments, strict=True)):
        *before, last = item
        comma = "," if i < len(items) - 1 else ""
        found += indented([*before, said(f"{last}{comma}", comment)])
    if part.source:
        found.append(f"FROM {part.source}")
    if part.condition:
        found.append(f"WHERE {part.condition}")
    return tuple(found)


def _rows(dialect: Dialect, part: Listing) -> Lines:
    """Write a small table; BigQuery knows no VALUES."""
    if dialect.name == "bigquery":
        first, *rest = part.rows
        named = zip(first, part.names, strict=True)
        rows = [", ".join(f"{value} AS {name}" for value, name in named), *map(", ".join, rest)]
        start, row_start, end = "SELECT * FROM UNNEST([", "STRUCT", "])"
    else:
        rows = [", ".join(row) for row in part.rows]
        start, row_start, end = "SELECT * FROM (VALUES", "", f") AS given ({', '.join(part.names)})"
    commas = [*[","] * (len(rows) - 1), ""]
    lines = (f"{row_start}({row}){comma}" for row, comma in zip(rows, commas, strict=True))
    return (start, *indented(lines), end)
