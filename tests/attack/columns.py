"""Odd columns and names, as Python values and as columns of each dataframe library."""

import contextlib
import datetime
import decimal
import fractions
import random
import struct
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

TEXTS = (
    *("", " ", "a", "b", "A", "NaN", "nan", "null", "None", "inf", "-0", "0x1F", "1e400", "1_000"),
    *("true", "FALSE", "12", "1,5", "1.234,5", "２３", "٣", "½", "2024-01-01", "06:00", "-", "--"),
    *("é", "e\u0301", "ß", "İ", "\u202eabc", "\ufeff", "\x00", "\x1b[2J", "a\nb", "a\r", "\t"),
    *(
        '"',
        "'",
        "`",
        "=1+1",
        "@x",
        "+1",
        "</script>",
        "{{x}}",
        "%s",
        "\\",
        "🚰",
        "x" * 5000,
        "\ud800",
    ),
)
NAMES = (
    *("a", "b", "ΔX", "X", "time", "score", "row", "variable", "a and b", "x <= 3", "x=1", "⇒"),
    *("</script><script>document.title='owned'</script>", "=cmd()", "'", '"', "a\nb", "\t", " a "),
    *("\x00", "\x1b[31m", "\u202e", "é", "e\u0301", "0", "-", "--about", "{}", "%s", "a" * 300),
    *("$x$", "[a](b)", "|", "`", "🚰", "\u2028", "nan", "None", "'; drop table x; --", "\ud800"),
)
UTC = datetime.UTC


def odd_floats(draw: random.Random, n: int) -> list[Any]:
    payload = struct.unpack("<d", struct.pack("<Q", 0x7FF8_0000_DEAD_BEEF))[0]
    pools = (
        [0.0, -0.0, 1.5, payload, -payload],
        [5e-324, 1.7976931348623157e308, -1.7976931348623157e308, 0.1],
        [1.0, 2.0, float("inf")],
        [1e16, 1e16 + 2, 0.1 + 0.2, 1 / 3],
    )
    if draw.random() < 0.5:
        return [draw.gauss(0, 10.0 ** draw.randint(-300, 300)) for _ in range(n)]
    pool = draw.choice(pools)
    return [draw.choice(pool) for _ in range(n)]


def odd_integers(draw: random.Random, n: int) -> list[Any]:
    top = draw.choice([1, 3, 2**31, 2**53, 2**63 - 1, 2**64 - 1, 2**70, 10**40])
    few = [draw.randint(-top, top) for _ in range(draw.randint(1, 8))]
    return [draw.choice(few) if draw.random() < 0.9 else draw.randint(0, top) for _ in range(n)]


def odd_times(draw: random.Random, n: int) -> list[Any]:
    start = draw.choice(
        [
            datetime.datetime(1, 1, 1),
            datetime.datetime(2024, 3, 31, 1),
            datetime.datetime(9998, 1, 1),
        ]
    )
    zone = draw.choice([None, UTC, datetime.timezone(datetime.timedelta(hours=5, minutes=45))])
    step = draw.choice([datetime.timedelta(microseconds=1), datetime.timedelta(hours=1)])
    times = [(start + i * step).replace(tzinfo=zone) for i in range(n)]
    if draw.random() < 0.3:
        draw.shuffle(times)
    return times


def objects(draw: random.Random, n: int) -> list[Any]:
    pool = [
        *(None, True, 1, 1.5, "a", b"a", float("nan"), 10**30, decimal.Decimal("1.10"), 1j, [1]),
        *(decimal.Decimal("NaN"), decimal.Decimal("-Infinity"), fractions.Fraction(1, 3), {"a": 1}),
        *(datetime.date(2024, 1, 1), datetime.time(6), datetime.timedelta(days=1), (1, 2), ()),
        *(np.float32(1.5), np.datetime64("NaT", "s"), pd.NA, pd.NaT, object, frozenset({1}), set()),
    ]
    few = draw.sample(pool, draw.choice([1, 1, 2, 2, 3, 9]))
    return [draw.choice(few) for _ in range(n)]


def texts(draw: random.Random, n: int) -> list[Any]:
    few = draw.sample(TEXTS, draw.randint(1, 6))
    return [draw.choice(few) for _ in range(n)]


def ordinary(draw: random.Random, n: int) -> list[Any]:
    if draw.random() < 0.5:
        return [draw.choice(["on", "off"]) for _ in range(n)]
    return [draw.gauss(0, 1) for _ in range(n)]


VALUES: tuple[Callable[[random.Random, int], list[Any]], ...] = (
    *(odd_floats, odd_integers, odd_times, objects, texts, ordinary, ordinary),
    lambda draw, n: [draw.random() < 0.5 for _ in range(n)],
    lambda _, n: [None] * n,
    lambda draw, n: [draw.choice([3, "x", None])] * n,
    lambda _, n: list(range(n)),
)


def odd_values(draw: random.Random, n: int) -> list[Any]:
    """Return values of a column: of one odd kind, often with gaps."""
    values = draw.choice(VALUES)(draw, n)
    gaps = draw.choice([0.0, 0.0, 0.1, 0.9])
    return [None if draw.random() < gaps else value for value in values]


def odd_columns(draw: random.Random, n: int, n_columns: int) -> dict[str, list[Any]]:
    """Return columns with odd names; the first ones are ordinary, so that something can be learned."""
    names = draw.sample(NAMES, n_columns)
    return {
        name: ordinary(draw, n) if i < 2 else odd_values(draw, n) for i, name in enumerate(names)
    }


# --- the same as dataframes ---

PANDAS_TYPES = (
    *(None, None, "infer", "category", "Int64", "Float64", "string", "boolean", "float32", "int8"),
    *("datetime64[ns, UTC]", "Sparse[float]", "period[h]", "float16", "complex128"),
)
ARROW_TYPES = (
    *(None, None, pa.large_string(), pa.float32(), pa.decimal128(30, 5), pa.date32(), pa.uint8()),
    *(pa.timestamp("ns", "Asia/Kolkata"), pa.time64("us"), pa.duration("s")),
)


def as_pandas(draw: random.Random, columns: Mapping[str, list[Any]]) -> Any:
    frame = pd.DataFrame(
        {_unicode(name): pd.Series(values, dtype=object) for name, values in columns.items()}
    )
    for name in list(frame):
        wanted = draw.choice(PANDAS_TYPES)
        try:
            if wanted == "infer":
                frame[name] = frame[name].infer_objects()
            elif wanted is not None:
                frame[name] = frame[name].astype(wanted)
        except Exception:
            continue
        if wanted == "category":
            frame[name] = frame[name].cat.add_categories(["never seen"])
    if draw.random() < 0.2:
        frame.index = pd.Index([draw.choice("xy") for _ in range(len(frame))], name="i")
    elif draw.random() < 0.2:
        frame.index = pd.date_range("2024-01-01", periods=len(frame), freq="h", tz="Europe/Vienna")
    if draw.random() < 0.1:
        frame = pd.concat([frame, frame[frame.columns[:1]]], axis=1)
    if draw.random() < 0.05:
        frame.columns = pd.MultiIndex.from_product([["top"], list(frame)])
    return frame


def _unicode(name: str) -> str:
    """Return a name that every library takes."""
    return name.replace("\ud800", "?")


def as_polars(draw: random.Random, columns: Mapping[str, list[Any]]) -> Any:
    made = []
    for name, values in zip(map(_unicode, columns), columns.values(), strict=True):
        try:
            one = pl.Series(name, values, strict=draw.random() < 0.5)
        except (Exception, pl.exceptions.PanicException):
            try:
                one = pl.Series(name, values, dtype=pl.Object)
            except (Exception, pl.exceptions.PanicException):
                one = pl.Series(name, [None] * len(values))
        wanted = [None, None, pl.Categorical, pl.Float32, pl.Int8, pl.UInt64, pl.Decimal(20, 3)]
        kind = draw.choice([*wanted, pl.Duration, pl.Time, pl.Date, pl.Boolean])
        if kind is not None:
            with contextlib.suppress(BaseException):  # some of its refusals are panics
                one = one.cast(kind, strict=False)
        made.append(one)
    if draw.random() < 0.2:
        made.append(pl.Series("nested", [{"a": [1]}] * len(made[0])))
    frame = pl.DataFrame(made)
    return frame.lazy() if draw.random() < 0.1 else frame


def as_arrow(draw: random.Random, columns: Mapping[str, list[Any]]) -> Any:
    arrays, names = [], []
    for name, values in columns.items():
        try:
            array = pa.array(values)
        except Exception:
            array = pa.nulls(len(values))
        kind = draw.choice(ARROW_TYPES)
        with contextlib.suppress(pa.ArrowException):
            array = array if kind is None else array.cast(kind)
        if draw.random() < 0.3:
            with contextlib.suppress(pa.ArrowException):
                array = array.dictionary_encode()
        cut = draw.randint(0, len(array))
        chunks = [array[:cut], array[cut:cut], array[cut:]]
        arrays.append(pa.chunked_array(chunks, type=array.type))
        names.append(_unicode(name))
    if draw.random() < 0.1:
        arrays.append(arrays[0])
        names.append(names[0])
    return pa.table(arrays, names=names)


def as_numpy(draw: random.Random, columns: Mapping[str, list[Any]]) -> Any:
    rows = list(zip(*columns.values(), strict=True))
    array = np.empty((len(rows), len(columns)), dtype=object)
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            array[i, j] = value
    kind = draw.choice(
        [None, "f8", ">f4", "f2", "i8", "U5", "S3", "c16", "longdouble", "M8[s]", "?"]
    )
    with contextlib.suppress(Exception):
        array = array if kind is None else array.astype(kind)
    shape = draw.random()
    if shape < 0.1:
        return np.asfortranarray(array)[::-1]
    if shape < 0.15:
        return array[:, 0]
    if shape < 0.2:
        return np.ma.masked_array(array, mask=np.zeros(array.shape, bool))
    if shape < 0.25:
        return array[None]
    return array


LIBRARIES = (
    lambda _, columns: dict(columns),
    as_pandas,
    as_polars,
    as_arrow,
    as_numpy,
    lambda _, columns: [list(row) for row in zip(*columns.values(), strict=True)],
)


def odd_frame(draw: random.Random, columns: Mapping[str, list[Any]]) -> Any:
    """Return columns as a table of some library, often with odd types."""
    return draw.choice(LIBRARIES)(draw, columns)
