"""The border to dataframes: anything that holds columns goes in, a `Table` of NumPy columns comes out.

Every library's columns are first turned into Arrow arrays (Narwhals does that for pandas, Polars,
Modin, PyArrow and the rest), so that there is one list of types to understand instead of one per
library. After this module nothing but NumPy is known. The caller's data are never written to.

A column that cannot be read is kept with its `Fault`, which is an error only if the column is needed.
"""

from collections.abc import Mapping, Sequence, Set
from typing import Any

import msgspec
import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from truism.errors import TableError
from truism.table.columns import Column, ColumnKind, Fault, Table
from truism.table.layouts import Reading, check_names
from truism.table.texts import conform_table


def as_table(data: Any, reading: Reading | None = None) -> Table:
    """Read a dataframe that Narwhals understands, an array, or a dict of columns.

    Columns of an array are named ``x0``, ``x1``, …; a dict of single values is one row. An index of
    dates is a column too, unless there are dates already. A `reading` of the table that was learned
    from converts columns likewise where that is exact.

    >>> table = as_table({"P101": ["on", "off", None], "LIT301": [800.5, 790.0, 795.25]})
    >>> [(column.name, column.kind, column.n_missing) for column in table.columns]
    [('P101', 'text', 1), ('LIT301', 'number', 0)]
    """
    if reading is not None:
        return conform_table(as_table(data), reading)[0]
    if isinstance(data, Table):
        return data
    if isinstance(data, Mapping):
        return _from_mapping(data)
    if isinstance(data, np.ndarray):
        return _from_array(data)
    return _from_frame(data)


def has_named_columns(data: Any) -> bool:
    """Tell frames with names from arrays, and from frames that are only numbered."""
    if hasattr(data, "collect_schema"):  # a lazy frame warns when asked for its columns
        return True
    names = getattr(data, "columns", None)
    if names is None:
        return False
    no_names = len(names) == 0
    return no_names or hasattr(data, "column_names") or any(isinstance(n, str) for n in names)


def _from_mapping(data: Mapping[Any, Any]) -> Table:
    _check_names(list(data))
    columns = []
    for name, values in data.items():
        _check_holds_values(name, values)
        if isinstance(values, str) or not hasattr(values, "__len__"):
            columns.append(_single(name, values))
        else:
            columns.append(_read(name, values))
    return _assemble(columns)


def _check_holds_values(name: str, values: Any) -> None:
    """Refuse data that has no rows, has them in no order, or can be read only once."""
    hint = None
    if isinstance(values, Mapping):
        hint = "give a list of its values; pandas does with frame.to_dict('list')."
    elif isinstance(values, Set) or hasattr(values, "__next__"):
        hint = "turn it into a list first."
    elif isinstance(values, bytes | bytearray | memoryview):
        hint = "turn it into text first, for instance with value.decode()."
    if hint is not None:
        raise TableError(
            f"Column {name!r} must be a list or an array of values, got {type(values).__name__}.",
            hint,
        )


def _from_array(data: NDArray[Any]) -> Table:
    if data.ndim != 2:
        raise TableError(
            f"A table must be a NumPy array of 2 dimensions, got {data.ndim}.",
            "reshape it with array.reshape(-1, 1) if it is one column, (1, -1) if it is one row.",
        )
    names = [f"x{i}" for i in range(data.shape[1])]
    return _assemble([_read(name, data[:, i]) for i, name in enumerate(names)], data.shape[0])


def _from_frame(data: Any) -> Table:
    if isinstance(data, pa.RecordBatch):
        data = pa.Table.from_batches([data])
    if isinstance(data, pa.Table):  # immutable, so that it need not be copied
        _check_names(data.column_names)
        columns = [_read(name, data.column(name)) for name in data.column_names]
        return _assemble(columns, data.num_rows)
    # A lazy frame has its names checked when it is collected; asking it makes Polars warn.
    lazy = hasattr(data, "collect_schema") and not hasattr(data, "shape")
    native = None if lazy else getattr(data, "columns", None)
    if native is not None and not callable(native):
        _check_names(list(native))
    try:
        frame = nw.from_native(data)
    except TypeError:
        raise TableError(
            f"A table must be a dataframe, a NumPy array of 2 dimensions or a dict of columns, "
            f"got {type(data).__name__}.",
            "wrap it with pandas.DataFrame(...) or pass a dict from names to columns.",
        ) from None
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
        _check_names(frame.columns)
    columns = [_read(name, frame[name]) for name in frame.columns]
    index = _read_index(nw.maybe_get_index(frame), columns)
    return _assemble([*columns, *index], frame.shape[0])


def _read_index(index: Any, columns: Sequence[Column]) -> list[Column]:
    """Take an index of dates as a column, where no column holds dates."""
    if not str(getattr(index, "dtype", "")).startswith(("datetime64[", "period[")):
        return []
    name = index.name if isinstance(index.name, str) and index.name.strip() else "index"
    if any(column.kind == "time" or column.name == name for column in columns):
        return []
    return [msgspec.structs.replace(_read(name, index), index=True)]


def _assemble(columns: list[Column], n_rows: int | None = None) -> Table:
    if not columns:
        raise TableError("A table must have at least one column, got 0 feature(s).")
    lengths = {len(column.values) for column in columns}
    if len(lengths) > 1:
        shortest = min(columns, key=lambda column: len(column.values))
        raise TableError(
            f"Columns must be of equal length, got {min(lengths)} values in {shortest.name!r} "
            f"and {max(lengths)} elsewhere."
        )
    return Table(tuple(columns), n_rows if n_rows is not None else lengths.pop())


def _check_names(names: Sequence[Any]) -> None:
    if not names:
        raise TableError("A table must have at least one column, got 0 feature(s).")
    for name in names:
        if not isinstance(name, str):
            raise TableError(
                f"Column names must be strings, got {name!r}.",
                "rename them, for instance with frame.columns = frame.columns.astype(str).",
            )
        if not name.isprintable() and any("\ud800" <= letter <= "\udfff" for letter in name):
            raise TableError(
                f"Column names must be valid Unicode, got {name!r}.",
                "they were probably read with a wrong encoding.",
            )
    check_names(names, "rename or drop it.")


_UNREADABLE = (pa.ArrowException, OverflowError, UnicodeError)


def _read(name: str, values: Any) -> Column:
    """Read a column, or keep it with the reason why that is not possible."""
    try:
        column = _column(name, _arrow(name, values))
        if isinstance(values, pa.ChunkedArray) or column.values.flags.owndata:
            return column
        return msgspec.structs.replace(column, values=column.values.copy())  # it may change later
    except (*_UNREADABLE, TypeError) as problem:
        if _types(values) == {"Decimal"}:  # Arrow's decimals know neither infinity nor NaN
            floats = [None if value is None or value != value else float(value) for value in values]
            return _column(name, pa.array(floats, pa.float64()))
        kind, fault = _find_fault(name, values, problem)
        return Column(name, kind, np.zeros(len(values)), fault=fault)


def _find_fault(name: str, values: Any, problem: Exception) -> tuple[ColumnKind, Fault]:
    """Say why Arrow does not take a column."""
    if isinstance(problem, UnicodeError):
        wrong_text = "it was probably read with a wrong encoding."
        return "faulty", Fault("holds text that is not valid Unicode", wrong_text)
    if isinstance(problem, OverflowError):
        too_long = "turn it into text, or into floating-point numbers."
        return "faulty", Fault("holds whole numbers beyond 64 bits", too_long)
    types = _types(values)
    if len(types) == 1:
        return "other", _foreign(types.pop())
    return "faulty", Fault(
        "mixes values of different types",
        f"make them one type, for instance with frame[{name!r}].astype(str).",
    )


def _foreign(kind: Any) -> Fault:
    return Fault(
        f"has values of type {kind}, which cannot be read",
        "leave it out, or turn it into text or numbers first.",
    )


def _types(values: Any) -> set[str]:
    """Name the types of a column's values, as its library does or as Python does."""
    native = values.to_native() if isinstance(values, nw.Series) else values
    dtype = str(getattr(native, "dtype", "object"))
    if dtype.lower() != "object":
        return {dtype}
    present = (
        value
        for value in values
        if not (value is None or (isinstance(value, float) and value != value))
    )
    return {type(value).__name__ for value in present}


def _arrow(name: str, values: Any) -> pa.Array | pa.ChunkedArray:
    if isinstance(values, pa.ChunkedArray):
        return values
    if isinstance(values, nw.Series):
        native = _dense(values.to_native())
        if native is None:
            return values.alias("").to_arrow()  # Polars panics where a name holds a NUL
        return pa.array(native, from_pandas=True)
    if isinstance(values, np.ndarray) and values.ndim != 1:
        raise TableError(f"Column {name!r} must have one dimension, got {values.ndim}.")
    if isinstance(values, np.ndarray) and not values.dtype.isnative:
        values = values.astype(values.dtype.newbyteorder("="))
    if isinstance(values, np.ndarray) and values.dtype.kind in "mM":
        values = _in_units_of_arrow(values)
    if isinstance(values, np.ma.MaskedArray):
        return pa.array(values.data, mask=np.ma.getmaskarray(values), from_pandas=True)
    dense = _dense(values)
    return pa.array(values if dense is None else dense, from_pandas=True)


def _in_units_of_arrow(values: NDArray[Any]) -> NDArray[Any]:
    """Return times or durations in seconds where NumPy counts hours, minutes, weeks and the like."""
    unit, _ = np.datetime_data(values.dtype)
    name = {"M": "datetime64", "m": "timedelta64"}[values.dtype.kind]
    if unit in ("ps", "fs", "as"):
        return values.astype(f"{name}[ns]")
    units = (*_TICKS, "D") if values.dtype.kind == "M" else (*_TICKS,)
    if unit in (*units, "generic") or (name == "timedelta64" and unit in "YM"):
        return values
    return values.astype(f"{name}[s]")


def _dense(values: Any) -> NDArray[Any] | None:
    """Give a sparse column of pandas, which Arrow does not know, as an array."""
    if not str(getattr(values, "dtype", "")).startswith("Sparse["):
        return None
    return np.asarray(getattr(values, "array", values).to_dense())


def _single(name: str, value: Any) -> Column:
    """Make a column of one row; the common types without a detour, since one row must be quick."""
    if isinstance(value, str):
        return Column(name, "text", np.zeros(1, np.int32), None, (value,))
    if isinstance(value, bool | np.bool_):
        return Column(name, "boolean", np.array([value], np.bool_))
    if isinstance(value, float | np.floating):
        missing = np.array([True]) if value != value else None
        return Column(name, "number", np.array([value], np.float64), missing)
    return _read(name, [value])


def _column(name: str, array: pa.Array | pa.ChunkedArray) -> Column:
    if isinstance(array, pa.ChunkedArray):
        array = array.chunk(0) if array.num_chunks == 1 else array.combine_chunks()
    if isinstance(array, pa.ChunkedArray):  # a table of no rows has no chunks to combine
        array = pa.array([], type=array.type)
    declared = array.type
    if isinstance(array, pa.ExtensionArray):
        array = _stored(array)
    kind = array.type
    if pa.types.is_null(kind):
        return Column(name, "empty", np.zeros(len(array)), np.ones(len(array), bool))
    if pa.types.is_dictionary(kind):
        return _column_of_dictionary(name, array)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        if pa.types.is_string_view(kind):
            array = array.cast(pa.string())
        return _column_of_dictionary(name, array.dictionary_encode())
    missing = None if array.null_count == 0 else array.is_null().to_numpy(zero_copy_only=False)
    if pa.types.is_boolean(kind):
        flags = _filled(array, False).to_numpy(zero_copy_only=False)
        return Column(name, "boolean", flags, missing)
    if pa.types.is_integer(kind):
        return Column(name, "number", _filled(array, 0).to_numpy(zero_copy_only=False), missing)
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        floats = _filled(array.cast(pa.float64()), np.nan).to_numpy(zero_copy_only=False)
        unknown = np.isnan(floats)
        return Column(name, "number", floats, unknown if unknown.any() else None)
    if pa.types.is_duration(kind):
        ticks = array.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
        seconds = ticks / _TICKS[kind.unit]
        if missing is not None:
            seconds[missing] = np.nan
        return Column(name, "number", seconds, missing)
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        zone = getattr(kind, "tz", None)
        instants = array.cast(pa.timestamp("us", tz=zone), safe=False)
        times = instants.to_numpy(zero_copy_only=False)
        return Column(name, "time", times, missing, zoned=zone is not None, zone=zone)
    if pa.types.is_time(kind):
        ticks = array.cast(pa.time64("us"), safe=False).cast(pa.int64()).fill_null(0)
        return Column(name, "time", ticks.to_numpy(zero_copy_only=False), missing)
    return Column(name, "other", np.zeros(len(array)), fault=_foreign(declared))


def _filled(array: pa.Array, value: float | bool) -> pa.Array:
    """Return an array with a value where there is none; without a copy if there is one everywhere."""
    return array.fill_null(value) if array.null_count else array


_TICKS = {"s": 1e0, "ms": 1e3, "us": 1e6, "ns": 1e9}  # of a second, by unit


def _stored(array: pa.ExtensionArray) -> pa.Array:
    """Give what an extension type is made of; a period of pandas is the time at which it starts."""
    if array.type.extension_name == "pandas.period":
        return pa.array(array.to_pandas().dt.to_timestamp())
    return array.storage


def _column_of_dictionary(name: str, array: pa.DictionaryArray) -> Column:
    """Encode text (and dictionaries of text or numbers) with every text exactly once."""
    dictionary = array.dictionary
    if pa.types.is_string_view(dictionary.type):
        dictionary = dictionary.cast(pa.string())
    if pa.types.is_large_string(dictionary.type) or pa.types.is_string(dictionary.type):
        codes = _filled(array.indices, 0).to_numpy(zero_copy_only=False).astype(np.int32)
        missing = array.is_null().to_numpy(zero_copy_only=False) if array.null_count else None
        texts = tuple(dictionary.to_pylist())
        if None in texts:
            hole = texts.index(None)
            missing = (codes == hole) if missing is None else missing | (codes == hole)
            texts = tuple("" if text is None else text for text in texts)
        if len(set(texts)) < len(texts):
            first = {text: code for code, text in reversed(list(enumerate(texts)))}
            once = {text: code for code, text in enumerate(sorted(first, key=first.__getitem__))}
            codes = np.array([once[text] for text in texts], np.int32)[codes]
            texts = tuple(once)
        return Column(name, "text", codes, missing, texts)
    plain = _column(name, pc.take(dictionary, array.indices))
    return msgspec.structs.replace(plain, categorical=True)


LIBRARIES = ("pandas", "polars", "pyarrow", "modin", "cudf")


def library_of(data: Any) -> str | None:
    """Return the library of a dataframe or Series, None for anything else.

    >>> import pyarrow
    >>> library_of(pyarrow.table({"a": [1]})), library_of({"a": [1]})
    ('pyarrow', None)
    """
    frame = nw.from_native(data, allow_series=True, pass_through=True)
    library = None if frame is data else str(frame.implementation)
    return library if library in LIBRARIES else None


def to_frame(columns: Mapping[str, Any], library: str | None = None, like: Any = None) -> Any:
    """Return columns as a dataframe, by default of the first library of `LIBRARIES` that is installed.

    If there is a frame with the same rows and an index, the new one has that, too.
    """
    for backend in LIBRARIES if library is None else (library,):
        try:
            frame = nw.from_dict(dict(columns), backend=backend).to_native()  # type: ignore[arg-type]
        except ModuleNotFoundError:
            continue
        index = None if like is None else nw.maybe_get_index(nw.from_native(like))
        return frame if index is None else frame.set_axis(index)
    raise AssertionError("PyArrow is a dependency of truism.")
