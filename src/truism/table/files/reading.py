"""Reading table files: paths go in; one `Table` comes out, and how it was read.

Files are read one by one (`sources`) and stacked (`stacking`). Only then is it decided what each column
holds, so that all files count. For later files, the `Reading` of earlier ones decides.
"""

from collections.abc import Sequence

import msgspec
import pyarrow as pa

from truism.errors import ParameterError, TableError, did_you_mean
from truism.table.cells.conforming import conform, without_rows
from truism.table.cells.interpreting import interpret, interpret_times
from truism.table.cells.kinds import kind_of
from truism.table.cells.plain import read_plain
from truism.table.cells.sentinels import find_sentinels
from truism.table.cells.shaped import read_shaped
from truism.table.cells.texts import BadCell, Interpreted
from truism.table.cells.timeformats import read_instants
from truism.table.cells.timelines import examine, find_axis
from truism.table.cells.times import join_times
from truism.table.cells.words import says_time
from truism.table.columns import Table
from truism.table.files.historian import looks_long, pivot
from truism.table.files.sources import STDIN as STDIN
from truism.table.files.sources import Part, find_places, name_of, naming, read_part
from truism.table.files.stacking import stack
from truism.table.files.unitrows import bare
from truism.table.frames import as_table
from truism.table.layouts import DAYS, EPOCHS, ColumnReading, Layout, Reading
from truism.table.notices import Notice, no_rows, times_in_two_columns, times_joined


class TableRead(msgspec.Struct, frozen=True, eq=False):
    """A table, how it was read, and notices about that."""

    table: Table
    reading: Reading
    notices: tuple[Notice, ...] = ()


def read_table(
    sources: Sequence[str],
    layout: Layout | None = None,
    *,
    reading: Reading | None = None,
    allow_empty: bool = False,
) -> Table:
    """Read files as one table, one below the other; see `read`."""
    return read(sources, layout, reading=reading, allow_empty=allow_empty).table


def read(
    sources: Sequence[str],
    layout: Layout | None = None,
    *,
    reading: Reading | None = None,
    allow_empty: bool = False,
) -> TableRead:
    """Read files as one table, one below the other.

    Parameters
    ----------
    sources
        Paths, folders, patterns such as ``day*.csv`` (whose files are sorted by name), or ``-`` for
        standard input.
    layout
        What is known about how files are written; the rest is detected.
    reading
        How earlier files were read: these are read alike.
    allow_empty
        Whether there may be no rows.

    Returns
    -------
    TableRead
        With the columns in the first file's order; the other files must have the same ones.

    """
    layout = layout or Layout()
    parts, notices = _read_parts(find_places(sources), layout, reading, allow_empty)
    if not parts:
        return TableRead(_nothing(reading), reading or Reading(layout), notices)
    return understand(parts, layout, reading, notices)


def understand(
    parts: Sequence[Part],
    layout: Layout,
    reading: Reading | None,
    notices: tuple[Notice, ...] = (),
) -> TableRead:
    """Decide what the columns of files hold, or follow what was decided."""
    said = layout if reading is None else layout.over(reading.layout)
    stacked = stack(parts, said)
    if reading is None and said.time_format is not None and not said.time:
        layout = said = _with_axis(said, stacked)
    quick = _plain_columns(stacked, said, reading, _units(parts))
    with naming(parts[0].place):
        table = _with_quick(stacked, quick)
    layout = _told_apart(layout, table)
    said = _seen(layout if reading is None else layout.over(reading.layout), parts)
    _check_time(table, layout)
    if not set(said.time) <= {*table.names}:  # a later file may lack what only said when
        said = msgspec.structs.replace(said, time=())
    if said.every is not None:
        with naming(parts[0].place):
            table, pivoted = pivot(table, said)
        notices += pivoted
    try:
        return _interpret_all(table, said, reading, parts, notices, quick)
    except BadCell as cell:
        raise _cell_error(cell, parts, said) from None


def _read_parts(
    places: Sequence[str], layout: Layout, reading: Reading | None, allow_empty: bool
) -> tuple[list[Part], tuple[Notice, ...]]:
    """Read every file; those without rows add nothing if others have some."""
    parts: list[Part] = []
    problem: TableError | None = None
    notices: list[Notice] = []
    for place in places:
        try:
            part = read_part(place, layout, reading)
        except TableError as found:
            if not found.message.endswith(" is empty."):
                raise
            problem, part = problem or found, None
        if part is not None and (part.frame.num_rows or allow_empty):
            parts.append(part)
            notices += part.notices
        else:
            problem = problem or TableError(f"{name_of(place)} has no rows.")
            notices.append(no_rows(name_of(place)))
    if not parts and not allow_empty and problem is not None:
        raise problem
    full = [part for part in parts if part.frame.num_rows]
    return full or parts[:1], tuple(notices)


def _nothing(reading: Reading | None) -> Table:
    """Return a table without rows, with the columns that are known."""
    known = () if reading is None else reading.columns
    return Table(tuple(without_rows(column) for column in known), 0)


def _seen(layout: Layout, parts: Sequence[Part]) -> Layout:
    """Return the layout with what was seen in the first CSV file."""
    dialect = next((part.dialect for part in parts if part.dialect is not None), None)
    if dialect is None:
        return layout
    several = len(dialect.names) > 1
    seen = Layout(
        delimiter=dialect.delimiter if several else None,
        decimal=dialect.decimal if dialect.delimiter != "," or layout.decimal else None,
        encoding=None if dialect.encoding == "utf-8" else dialect.encoding,
    )
    return layout.over(seen)


def _interpret_all(
    table: Table,
    layout: Layout,
    reading: Reading | None,
    parts: Sequence[Part],
    notices: tuple[Notice, ...],
    quick: dict[str, Interpreted],
) -> TableRead:
    """Decide what each column holds, or follow what was decided, and put times together."""
    known = _known(reading, layout)
    units = _units(parts)
    found: list[Interpreted] = []
    for column in table.columns:
        if column.name in quick:
            found.append(quick[column.name])
            continue
        learned = known.get(column.name)
        if learned is not None:
            found.append(conform(column, learned, layout))
            continue
        if len(layout.time) == 1 and column.name in layout.time:
            found.append(interpret_times(column, layout))
            continue
        found.append(interpret(column, layout, units.get(column.name)))
    if len(layout.time) > 1:
        found = _joined(found, layout, later=reading is not None)
    columns = tuple(each.column for each in found)
    whole = Table(columns, table.n_rows)
    extra = [notice for each in found for notice in each.notices]
    axis = layout.time[0] if len(layout.time) == 1 else None
    axis = axis or find_axis(columns)
    if axis is not None:
        column_of = whole.column_of()
        extra += examine(column_of[axis], column_of.get(layout.by or ""))
    if reading is None:
        extra += [notice for column in columns for notice in find_sentinels(column)]
        extra += _hints(whole, layout)
    said = Reading(
        layout,
        tuple(each.reading for each in found),
        bool(_has_units(parts)),
        () if reading is None else reading.optional,
    )
    return TableRead(whole, said, (*notices, *extra))


def _plain_columns(
    frame: pa.Table, layout: Layout, reading: Reading | None, units: dict[str, str]
) -> dict[str, Interpreted]:
    """Return the columns of text that hold numbers and a few words, by name."""
    if layout.every is not None:
        return {}
    known = {} if reading is None else reading.column_of()
    found = {}
    for name in frame.column_names:
        if pa.types.is_string(frame.schema.field(name).type) and frame.num_rows:
            texts = frame.column(name).combine_chunks()
            for read_one in (read_plain, read_shaped):
                quick = read_one(name, texts, layout, known.get(name), units.get(name))
                if quick is not None:
                    found[name] = quick
                    break
    return found


def _with_quick(frame: pa.Table, quick: dict[str, Interpreted]) -> Table:
    """Return a table of columns, those that are read already as they are."""
    rest = [name for name in frame.column_names if name not in quick]
    others = as_table(frame.select(rest)).column_of() if rest else {}
    columns = (quick[name].column if name in quick else others[name] for name in frame.column_names)
    return Table(tuple(columns), frame.num_rows)


def _known(reading: Reading | None, layout: Layout) -> dict[str, ColumnReading]:
    """Return how columns were read; the first of two time columns was read as the two joined were."""
    known = {} if reading is None else reading.column_of()
    joined = known.get(" ".join(layout.time))
    if len(layout.time) == 2 and joined is not None:
        known[layout.time[0]] = msgspec.structs.replace(joined, name=layout.time[0])
    return known


def _units(parts: Sequence[Part]) -> dict[str, str]:
    """Return the units of columns: from a row of units, else from brackets in the names."""
    units = {}
    for part in parts[:1]:
        for name, own in part.names.items():
            if own.endswith("]") and "[" in own[1:]:
                units[name] = bare(own[own.rindex("[") :])
        units |= {name: part.units[own] for name, own in part.names.items() if part.units.get(own)}
    return units


def _has_units(parts: Sequence[Part]) -> bool:
    return any(part.units for part in parts)


def _told_apart(layout: Layout, table: Table) -> Layout:
    """Return a layout in which ``DATE,TIME`` is two columns, unless one column is called so."""
    if len(layout.time) != 1 or layout.time[0] in table.names:
        return layout
    parts = tuple(part.strip() for part in layout.time[0].split(","))
    return msgspec.structs.replace(layout, time=parts) if len(parts) == 2 else layout


def _with_axis(layout: Layout, frame: pa.Table) -> Layout:
    """Return a layout that names the first column whose times are written as was said."""
    style = layout.time_format or ""
    for name in frame.column_names:
        if name not in layout.states and _is_written(frame.column(name), name, style):
            return msgspec.structs.replace(layout, time=(name,))
    if not frame.num_rows or any(pa.types.is_temporal(kind) for kind in frame.schema.types):
        return layout
    constraint, hint = "be how times in a column of the table are written", "name that column."
    problem = ParameterError.of("time_format", constraint, style, hint)
    problem.see = ("time",)
    raise problem


def _is_written(values: pa.ChunkedArray, name: str, style: str) -> bool:
    """Return whether most different texts of a column are times in a style."""
    if style in (*EPOCHS, DAYS):
        return says_time(name)
    if not (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)):
        return style == "digits" and says_time(name)
    texts = values.unique().drop_null()
    return len(texts) > 0 and 2 * int(read_instants(texts, style).known.sum()) > len(texts)


def _check_time(table: Table, layout: Layout) -> None:
    for name in layout.time:
        if name not in table.names:
            hint = did_you_mean(name, table.names)
            raise ParameterError.of("time", "name columns of the table", name, hint)


def _joined(found: list[Interpreted], layout: Layout, *, later: bool) -> list[Interpreted]:
    """Join the columns that together give the time, in the place of the first.

    In later files all times may be missing.
    """
    by_name = {each.column.name: each for each in found}
    date, clock = (by_name[name].column for name in layout.time[:2])
    name = " ".join(layout.time)
    times = join_times(name, date, clock) if len(layout.time) == 2 else None
    if times is None or (len(times.values) and not len(times.present) and not later):
        which = clock if kind_of(date) == "time" else date
        row = 0 if which.missing is None else int((~which.missing).argmax())
        wanted = "a time of day" if which is clock else "a date"
        cell = which.cell(row)
        raise BadCell(which.name, row, "" if cell is None else str(cell), wanted)
    first = by_name[layout.time[0]]
    joined = Interpreted(
        times,
        msgspec.structs.replace(first.reading, name=name),
        (*first.notices, times_joined(layout.time, name)),
    )
    if layout.zone is not None:
        joined = msgspec.structs.replace(joined, column=interpret(times, layout).column)
    parts = []
    for each in found:
        if each.column.name == layout.time[0]:
            parts.append(joined)
        elif each.column.name not in layout.time:
            parts.append(each)
    return parts


def _hints(table: Table, layout: Layout) -> list[Notice]:
    """Return notices about settings that the user may have forgotten."""
    hints: list[Notice] = []
    dates = [c for c in table.columns if kind_of(c) == "time"]
    clocks = [c for c in table.columns if kind_of(c) == "clock"]
    if len(layout.time) < 2 and len(dates) == 1 and len(clocks) == 1:
        values = dates[0].present
        if len(values) and (values == values.astype("datetime64[D]")).all():
            hints.append(times_in_two_columns((dates[0].name, clocks[0].name)))
    if layout.every is None:
        long = looks_long(table)
        if long is not None:
            hints.append(long)
    return hints


def _cell_error(cell: BadCell, parts: Sequence[Part], layout: Layout) -> TableError:
    """Say in which file and line a value stands."""
    row, part = cell.row, parts[0]
    for part in parts:
        if row < part.frame.num_rows:
            break
        row -= part.frame.num_rows
    line = None if layout.every is not None else part.line_of(row)
    where = f"row {part.first + row}" if line is None else f"line {line}"
    see = ("time_format",) if cell.wanted in ("a time", "a date", "a time of day") else ("missing",)
    return TableError(
        f"{part.name}, {where}: column {cell.column!r} must hold {cell.wanted}, got {cell.value!r}.",
        see=see,
    )
