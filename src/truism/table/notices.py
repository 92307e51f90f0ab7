"""What the user should know about how a table was read or a model learned: a code and a sentence.

A notice is *doubtful* if the reading may be wrong; `refuse_doubts` turns such notices into errors. Like
errors, notices name settings (`see`), not options. A function for each code writes the sentences about
tables; those about learning are where models are learned.
"""

from collections.abc import Iterable

import msgspec

from truism.errors import TableError, shorten


class Notice(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A sentence that the user should read.

    Parameters
    ----------
    code
        What programs know it by.
    text
        The sentence.
    columns
        The columns that it is about.
    doubtful
        Whether the reading may be wrong.
    see
        Names of the settings that change the reading.
    words
        Texts in the cells that are taken as missing values.

    """

    code: str
    text: str
    columns: tuple[str, ...] = ()
    doubtful: bool = False
    see: tuple[str, ...] = ()
    words: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.text


class WordCount(msgspec.Struct, frozen=True):
    """A text and how many rows hold it."""

    word: str
    count: int

    def __str__(self) -> str:
        return f"{self.word!r} ({times(self.count)})"


def refuse_doubts(notices: Iterable[Notice]) -> None:
    """Raise an error for the first notice that is doubtful."""
    for notice in notices:
        if notice.doubtful:
            raise TableError(notice.text, see=notice.see)


def times(count: int) -> str:
    """Return how often, in words."""
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")


def rows(count: int) -> str:
    """Return a number of rows, in words."""
    return "1 row" if count == 1 else f"{count:,} rows"


def words_as_missing(
    column: str, words: tuple[WordCount, ...], sure: bool, row: int, holds: str = "numbers"
) -> Notice:
    """Report words in a column of numbers or times that are taken as missing values."""
    are = "is" if len(words) == 1 else "are"
    text = (
        f"Column {column!r} holds {holds}; {_list(words)} {are} taken as missing, first in row "
        f"{row:,}."
    )
    see = () if sure else ("categorical", "missing")
    texts = tuple(word.word for word in words)
    return Notice("words_as_missing", text, (column,), not sure, see, texts)


def stays_text(column: str, n_numbers: int, words: tuple[WordCount, ...]) -> Notice:
    """Report a column in which numbers and other texts are mixed, and that is read as states."""
    text = (
        f"Column {column!r} is read as text: it holds {rows(n_numbers)} with numbers, and also "
        f"{_list(words)}."
    )
    return Notice("stays_text", text, (column,), True, ("missing",))


def mixed_decimals(column: str, decimal: str, count: int, example: str) -> Notice:
    """Report a few values with the other decimal sign."""
    usual, other = ("points", "comma") if decimal == "." else ("commas", "point")
    has = "has" if count == 1 else "have"
    text = (
        f"Numbers are written with decimal {usual}, but in column {column!r} {rows(count)} {has} a "
        f"decimal {other}, for instance {example!r}."
    )
    return Notice("mixed_decimals", text, (column,), True, ("decimal",))


def grouped_digits(column: str, sign: str, example: str, unsure: bool) -> Notice:
    """Report numbers whose digits are grouped by thousands."""
    name = {",": "Commas", ".": "Points", " ": "Blanks", "'": "Apostrophes"}[sign]
    doubt = ", though they may be decimal signs," if unsure else ","
    text = f"{name} in column {column!r} are taken to group thousands{doubt} for instance in {example!r}."
    return Notice("grouped_digits", text, (column,), unsure, ("decimal",) if unsure else ())


def limits_as_values(column: str, count: int, example: str) -> Notice:
    """Report values such as ``<0.01``, read as the limit."""
    text = (
        f"In column {column!r} {rows(count)} {'holds' if count == 1 else 'hold'} a limit such as "
        f"{example!r}, which is read as that number."
    )
    return Notice("limits_as_values", text, (column,))


def unit_in_cells(column: str, unit: str, n_without: int) -> Notice:
    """Report numbers written with a unit, such as ``45 %``."""
    text = f"Column {column!r} is written with the unit {unit!r}, which is taken off"
    if n_without:
        text += f", but {rows(n_without)} {'has' if n_without == 1 else 'have'} no unit"
    return Notice("unit_in_cells", f"{text}.", (column,), n_without > 0)


def may_be_missing(column: str, value: str, count: int) -> Notice:
    """Report a number such as -9999 that is read as a number, but may stand for a missing value."""
    text = (
        f"Column {column!r} holds {value} {times(count)}, far from all its other values; if it stands "
        f"for a missing value, say so as the file writes it."
    )
    return Notice("may_be_missing", text, (column,), True, ("missing",))


def times_read(column: str, style: str, example: str, first: str) -> Notice:
    """Report a column of numbers or texts that was read as times."""
    text = f"Column {column!r} is read as times ({style}): {example!r} is {first}."
    return Notice("times_read", text, (column,), see=("time_format",))


def day_or_month(column: str, example: str, style: str) -> Notice:
    """Report dates in which nothing shows whether the day or the month comes first."""
    text = (
        f"In column {column!r} nothing shows whether the day or the month comes first, for instance in "
        f"{example!r}; the {style.partition(' ')[0]} is taken to come first."
    )
    return Notice("day_or_month", text, (column,), True, ("time_format",))


def times_joined(parts: tuple[str, ...], name: str) -> Notice:
    """Report two columns that together give the time."""
    text = f"Columns {shorten(parts)} are read as one column of times, {name!r}."
    return Notice("times_joined", text, (name,))


def times_in_two_columns(parts: tuple[str, ...]) -> Notice:
    """Report a column of dates and one of times of day that are read separately."""
    text = (
        f"Columns {shorten(parts)} may together give the time ({','.join(parts)}); they are read "
        "separately."
    )
    return Notice("times_in_two_columns", text, parts, see=("time",))


def times_unsorted(column: str, count: int, row: int) -> Notice:
    """Report times that run backwards."""
    text = (
        f"Times in column {column!r} run backwards {times(count)}, first in row {row:,}; rows stay in "
        "the order of the table."
    )
    return Notice("times_unsorted", text, (column,))


def times_doubled(column: str, count: int, row: int) -> Notice:
    """Report times that occur more than once."""
    text = (
        f"In column {column!r} {rows(count)} {'has' if count == 1 else 'have'} the time of the row "
        f"before, first row {row:,}."
    )
    return Notice("times_doubled", text, (column,))


def hour_repeated(column: str, row: int, time: str) -> Notice:
    """Report an hour that occurs twice, as when summer time ends."""
    text = (
        f"Times in column {column!r} go back by an hour in row {row:,} ({time}), as when summer time "
        "ends."
    )
    return Notice("hour_repeated", text, (column,), see=("zone",))


def hour_undecided(column: str, count: int, row: int, time: str) -> Notice:
    """Report rows in the hour that a clock change repeats, which may be of either pass."""
    lie, are = ("lies", "is") if count == 1 else ("lie", "are")
    text = (
        f"In column {column!r} {rows(count)} {lie} in the hour that a clock change repeats, first row "
        f"{row:,} ({time}), and {are} taken to be from before the change: no row around them says "
        "which. Times in UTC are never in doubt."
    )
    return Notice("hour_undecided", text, (column,), True)


def several_zones(column: str, zones: tuple[str, ...], shown: str) -> Notice:
    """Report times with different offsets from UTC."""
    text = (
        f"Times in column {column!r} are of several zones ({', '.join(zones[:5])}); they are shown in "
        f"{shown}."
    )
    return Notice("several_zones", text, (column,), see=("zone",))


def column_converted(column: str, held: str, wanted: str) -> Notice:
    """Report a column whose type differs from the one that was learned, without loss."""
    text = f"Column {column!r} holds {held}; it is read as {wanted}, as in training."
    return Notice("column_converted", text, (column,))


def first_rows(count: int, total: int) -> Notice:
    """Report files of which only the first rows were looked at."""
    return Notice("first_rows", f"only the first {count:,} of {total:,} rows are looked at.")


def no_series(reason: str) -> Notice:
    """Report that rows are judged one by one."""
    text = (
        f"Rows are judged one by one, not as a series: {reason}. If they follow each other, say so with "
        "--ordered."
    )
    return Notice("no_series", text)


def unit_row(source: str, units: tuple[str, ...]) -> Notice:
    """Report a row of units below the names."""
    return Notice("unit_row", f"{source}: the row below the names holds units ({shorten(units)}).")


def lines_before_names(source: str, count: int, first: str) -> Notice:
    """Report lines before the names that are no part of the table."""
    lines = "1 line" if count == 1 else f"{count} lines"
    text = f"{source}: {lines} before the names left out, beginning with {first!r}."
    return Notice("lines_before_names", text)


def column_without_name(source: str) -> Notice:
    """Report an empty last column, as a delimiter at the end of each line makes it."""
    text = f"{source}: every line ends with a delimiter; the empty last column is left out."
    return Notice("column_without_name", text)


def other_delimiter(source: str, delimiter: str, learned: str) -> Notice:
    """Report a file with another delimiter than the files before it."""
    text = f"{source} has the delimiter {delimiter!r}; earlier files had {learned!r}."
    return Notice("other_delimiter", text)


def windows_text(source: str, encoding: str, example: str) -> Notice:
    """Report a file that is not UTF-8, and is taken for what western programs on Windows write."""
    text = f"{source} is not UTF-8; it is read as {encoding}, in which a part of it is {example!r}."
    return Notice("windows_text", text, doubtful=True, see=("encoding",))


def one_column_of_text(source: str, looks: str, example: str) -> Notice:
    """Report a file that no delimiter divides, though its lines hold several values."""
    text = (
        f"{source} is read as one column of text, but looks like {looks}, for instance {example!r}; "
        "say what divides its values, or convert it to CSV."
    )
    return Notice("one_column_of_text", text, doubtful=True, see=("delimiter",))


def no_rows(source: str) -> Notice:
    """Report a file that adds nothing."""
    return Notice("no_rows", f"{source} has no rows.")


def sheet_chosen(source: str, chosen: str, others: tuple[str, ...]) -> Notice:
    """Report one of several sheets in a file."""
    text = f"{source}: sheet {chosen!r} is read, not {shorten(others)}."
    return Notice("sheet_chosen", text, see=("sheet",))


def tags_pivoted(n_values: int, n_tags: int, every: str, n_rows: int) -> Notice:
    """Report a table of single values that became one with a column for each tag."""
    text = (
        f"{n_values:,} values of {n_tags:,} tags are read as {n_rows:,} rows, one every {every}, in "
        "which each tag holds its last value."
    )
    return Notice("tags_pivoted", text)


def one_value_per_row(parts: tuple[str, ...]) -> Notice:
    """Report a table that seems to hold one value per row."""
    text = (
        f"Columns {shorten(parts)} look like one value per row; to make a column of each tag, choose "
        "the time between rows."
    )
    return Notice("one_value_per_row", text, parts, True, ("every",))


def _list(words: tuple[WordCount, ...], most: int = 5) -> str:
    shown = ", ".join(map(str, words[:most]))
    return shown if len(words) <= most else f"{shown} and {len(words) - most} more"
