"""A statement as flat levels: each names the columns that the next one uses.

An expression is a tuple of lines, so that lines can be moved to the right although a text in quotes may
run over several; what stands between quotes is never touched.
"""

from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from truism.export.sql.dialects import Dialect, words

Lines = tuple[str, ...]

# Databases limit how deeply an expression may be nested (DuckDB: 1,000), and a + b + c nests by one
# with every sign; so long sums are sums of shorter ones.
_WIDTH = 50


class Column(msgspec.Struct, frozen=True):
    """An expression, the name of its result, and what it means."""

    lines: Lines
    name: str
    comment: str = ""


class Level(msgspec.Struct, frozen=True):
    """A query over one other: ``SELECT columns FROM source WHERE condition``.

    Parameters
    ----------
    name
        What later levels call it; empty for the last one.
    columns
        What it selects.
    source
        Where from; with joins.
    keeps
        Whether all columns of the source are selected too.
    condition
        Which rows; empty for all.

    """

    name: str
    columns: tuple[Column, ...]
    source: str
    keeps: bool = False
    condition: str = ""


class Union(msgspec.Struct, frozen=True):
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


def write(dialect: Dialect, head: Lines, parts: Sequence[Level | Union]) -> str:
    """Write a statement; the last part is what it returns."""
    found = list(head)
    *named, last = parts
    for i, part in enumerate(named):
        found.append(f"{'WITH ' if i == 0 else ''}{part.name} {dialect.opening}")
        found += indented(_query(part))
        found.append(")," if i < len(named) - 1 else ")")
    return "\n".join([*found, *_query(last)]) + "\n"


def _query(part: Level | Union) -> Lines:
    if isinstance(part, Union):
        return _rows(part)
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
    found.append(f"FROM {part.source}")
    if part.condition:
        found.append(f"WHERE {part.condition}")
    return tuple(found)


def _rows(part: Union) -> Lines:
    found = []
    for i, row in enumerate(part.rows):
        if i == 0:
            pairs = zip(row, part.names, strict=True)
            found.append("SELECT " + ", ".join(f"{value} AS {name}" for value, name in pairs))
        else:
            found.append(f"UNION ALL SELECT {', '.join(row)}")
    return tuple(found)
