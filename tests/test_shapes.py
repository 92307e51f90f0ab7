"""Texts taken together by their shape are read as each of them is by itself."""

import re

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from truism.table import numerals as shapes_module
from truism.table import times as timeformats
from truism.table.files import read
from truism.table.frames import as_table
from truism.table.layouts import ColumnReading, Layout
from truism.table.numerals import MAX_SHAPES, PLAIN, read_numbers, read_one_by_one, shapes_of
from truism.table.shaped import read_shaped
from truism.table.texts import BadCell, conform, interpret

DIGITS = "0123456789"
MARKS = st.sampled_from(
    [
        *("{}", "-{}", "+{}", "({})", "{}-", "<{}", "> {}", "≤{}", "−{}", "{} kW", "{}%", "{} %"),
        *(
            "{} m3",
            "{} m2",
            "{}°C",
            "${}",
            "-€ {}",
            "$-{}",
            "(£{})",
            "${} kW",
            "{}e5",
            "{}E-3",
            "{} {}",
            "({}",
            "{})",
            "x{}",
            "{}µ",
            "Bad",
        ),
    ]
)
BODIES = st.one_of(
    st.integers(0, 10**9).map("{:,}".format),
    st.integers(0, 10**9).map(lambda n: f"{n:,}".replace(",", ".")),
    st.integers(0, 10**6).map(lambda n: f"{n:,}".replace(",", " ")),
    st.integers(0, 10**6).map(lambda n: f"{n:,}".replace(",", "\u202f")),
    st.integers(0, 10**6).map(lambda n: f"{n:,}".replace(",", "'")),
    st.text(f"{DIGITS}0000,.", min_size=1, max_size=7),
    st.text(f"{DIGITS}00.,' ", max_size=9),
)
NUMERALS = st.builds(lambda mark, body, more: mark.format(body, more), MARKS, BODIES, BODIES)
SIGNS = st.sampled_from([None, ".", ","])
PLAIN_OF = {sign: re.compile(pattern) for sign, pattern in PLAIN.items()}


def values_of(numbers):
    fields = msgspec.structs.asdict(numbers)
    return {
        name: each.tolist() if isinstance(each, np.ndarray) else each
        for name, each in fields.items()
        if name not in ("values", "grouped")
    } | {
        "values": [repr(each) for each in numbers.values[numbers.known].tolist()],
        "dtype": numbers.values.dtype,
        "grouped": {sign: mask.tolist() for sign, mask in numbers.grouped.items()},
    }


@settings(max_examples=80, deadline=None)
@given(st.lists(NUMERALS, min_size=1, max_size=12, unique=True), SIGNS, SIGNS)
def test_numbers_of_a_shape_are_read_as_they_are_one_by_one(texts, decimal, thousands):
    numbers_agree(texts, decimal, thousands)


def numbers_agree(texts, decimal, thousands):
    array = pa.array(texts)
    trimmed = pc.utf8_trim_whitespace(array)
    found = values_of(read_numbers(array, decimal, thousands))
    slow = values_of(read_one_by_one(trimmed, decimal, thousands))
    sign = decimal or "."
    digits = [text for text in trimmed.to_pylist() if any(each in DIGITS for each in text)]
    plain = thousands != sign and all(PLAIN_OF[sign].match(text) for text in digits)
    if plain and found["known"] == slow["known"] and any(found["known"]):
        # Plain numbers are not taken apart; a sign that was said, but does not occur, is not told.
        assert found["decimal"] == (sign if any(sign in text for text in digits) else None)
        assert slow["decimal"] in (decimal, found["decimal"])
        slow["decimal"] = found["decimal"]
    assert found == slow


PLAIN_TEXTS = st.one_of(
    st.from_regex(r"\A[+\-−]?(?:[0-9]{1,4}[.,]?[0-9]{0,4}|[.,][0-9]{1,3})(?:[eE]-?[0-9])?\Z"),
    st.sampled_from(["Bad", "inf", "-inf", "--", "1.234", "1,234", "12.345", "-1,234"]),
)


@settings(max_examples=80, deadline=None)
@given(st.lists(PLAIN_TEXTS, min_size=1, max_size=5, unique=True), SIGNS, SIGNS)
def test_plain_numbers_are_read_as_they_are_one_by_one(texts, decimal, thousands):
    numbers_agree(texts, decimal, thousands)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.builds(
            lambda form, parts: form.format(*parts),
            st.sampled_from(
                [
                    *("{0}/{1}/{2} {3}:{4:02}:{5:02} AM", "{0}/{1}/{2} {3}:{4:02} pm"),
                    *(
                        "{0:02}.{1:02}.{2:02} {3:02}:{4:02}:{5:02}",
                        "{2:04}-{0:02}-{1:02}T{3:02}:{4:02}Z",
                    ),
                    *(
                        "{2:04}/{0}/{1} {3:02}:{4:02}:{5:02}.{6} +0{3}:{4:02}",
                        "{1}-Mar-{0:02} {3}h{4:02}",
                    ),
                    *(
                        "{2:04}{0:02}{1:02}{3:02}{4:02}",
                        "{3}:{4:02}:{5:02},{6}",
                        "Mo {1}. Feb 20{0:02}",
                    ),
                    *(
                        "{2:04}-{0:02}-{1:02} {3:02}:{4:02} UTC+{3}",
                        "{1} Nov 2014 {3}:{4:02} XYZ",
                        "none",
                    ),
                ]
            ),
            st.tuples(
                *(st.integers(0, 13), st.integers(0, 32), st.integers(0, 2100), st.integers(0, 9)),
                *(st.integers(0, 61), st.integers(0, 61), st.integers(0, 999_999)),
            ),
        ),
        min_size=1,
        max_size=10,
    ),
    st.sampled_from(sorted(timeformats._PATTERNS)),
)
def test_times_of_a_shape_are_read_as_they_are_one_by_one(texts, style):
    array = pa.array(texts * 8 * len(texts))
    found = timeformats.read_by_pattern(array, style)
    slow = timeformats.read_one_by_one(array, style)
    assert np.array_equal(found.times, slow.times, equal_nan=True)
    assert np.array_equal(found.offsets[found.known], slow.offsets[slow.known])


def test_a_day_of_the_year_begins_with_1():
    times = timeformats.read_instants(pa.array(["2024 060", "2024 000"]), "%Y %j").times
    assert times.astype("datetime64[D]").astype(str).tolist() == ["2024-02-29", "NaT"]


def outcome(read_one):
    try:
        found = read_one()
    except BadCell as cell:
        return (cell.row, cell.value)
    rows = range(len(found.column.values))
    return [found.column.cell(row) for row in rows], found.reading, found.notices


ODD = st.sampled_from(
    [
        None,
        "Bad",
        "--",
        "hm",
        "so",
        "1,234.5",
        "<0.5",
        "12 kW",
        "7 m3",
        "1.5",
        "(3)",
        "0,5",
        "A7",
        "3%",
    ]
)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(
        [
            "{:,.2f}",
            "{:.1f} kW",
            "{:,.0f}",
            "{:.2f}%",
            "<{:.1f}",
            "{:.0f} m3",
            "{:.0f}.5.2024",
            "{:.2f}",
        ]
    ),
    st.booleans(),
    st.lists(ODD, max_size=8),
    st.sampled_from([100, 130, 160]),
    st.sampled_from(["new", "said", "known"]),
    st.randoms(use_true_random=False),
)
def test_a_column_is_read_at_once_as_it_is_by_its_distinct_texts(form, swap, odd, n, how, random):
    texts = [form.format(1000.25 * i + 7) for i in range(n)]
    if swap:
        texts = [text.translate(str.maketrans(".,", ",.")) for text in texts]
    texts += odd
    random.shuffle(texts)
    decimal = "," if swap else "."
    layout = Layout(decimal=decimal if how == "said" else None)
    known = ColumnReading("x", "number", None, ("hm",), None, decimal) if how == "known" else None
    quick = read_shaped("x", pa.array(texts, pa.string()), layout, known)
    if quick is None:
        return
    column = as_table({"x": texts}).columns[0]
    slow = outcome(
        lambda: interpret(column, layout) if known is None else conform(column, known, layout)
    )
    assert repr(outcome(lambda: quick)) == repr(slow)


GROUPED = [f"{1000.25 * i:,.2f}" for i in range(200)]


def test_grouped_numbers_are_read_at_once():
    found = read_shaped("x", pa.array([*GROUPED, None, "Bad"]), Layout(), None, "kW")
    assert found.column.cell(7) == 7001.75
    assert found.column.n_missing == 2
    assert (found.reading.unit, found.reading.thousands) == ("kW", ",")
    assert len(found.notices) == 2


@pytest.mark.parametrize(
    ("texts", "layout", "known"),
    [
        (GROUPED, Layout(states=("x",)), None),
        (GROUPED, Layout(time=("x",)), None),
        (GROUPED, Layout(), ColumnReading("x", "text")),
        (GROUPED[:100], Layout(), None),  # too few to gain anything
        ([*GROUPED, *"abcdef"], Layout(), None),
        ([f"{i},50" for i in range(150)] + ["1.5"], Layout(), None),  # the majority decides
        ([f"{i} m3" for i in range(150)], Layout(), None),
        ([f"{i}.5" for i in range(150)], Layout(), None),
        ([f"{i % 28 + 1}.{i % 12 + 1}.20{i % 90 + 10}" for i in range(300)], Layout(), None),
        ([*GROUPED[:128], *["hm"] * 200], Layout(), ColumnReading("x", "number")),
        (["so"] * 10, Layout(), None),
    ],
)
def test_what_is_not_so_simple_is_looked_at_more_closely(texts, layout, known):
    assert read_shaped("x", pa.array(texts), layout, known) is None
    assert read_shaped("time", pa.array(texts), layout, known) is None


def test_few_numbers_written_in_many_ways_may_be_codes():
    texts = [f"{'0' * i}1,000.5" for i in range(140)]
    assert read_shaped("x", pa.array(texts), Layout()) is None


def test_shapes_keep_zeros_where_they_matter():
    texts = pa.array(["skipped", "007,10", "0", "", "100 kW", "0.05"])[1:]
    assert shapes_of(texts, zeros=True).texts.to_pylist() == ["001,11", "0", "", "111 kW", "0.01"]
    assert shapes_of(texts).texts.to_pylist() == ["111,11", "1", "", "111 kW", "1.11"]
    assert shapes_of(pa.array([], pa.string())) is None
    assert shapes_of(pa.array(["", ""])).texts.to_pylist() == [""]


def test_too_many_shapes_are_left_to_the_slow_way(monkeypatch):
    monkeypatch.setattr(shapes_module, "MAX_SHAPES", 1)
    texts = pa.array(["1,234", "12,345 kW"])
    assert shapes_of(texts) is None
    assert read_numbers(texts).values.tolist() == [1234, 12345]
    assert read_shaped("x", pa.array([*GROUPED, "12,345.50 kW"]), Layout()) is None
    times = timeformats.read_by_pattern(pa.array(["1/2/2014 7:30 AM", "10/2/2014"]), "day first")
    assert times.known.all()
    assert MAX_SHAPES == 2_000


@pytest.mark.parametrize("words", [[], ["Bad"]])
def test_points_that_grouped_thousands_do_so_where_nothing_else_shows_it(words, tmp_path):
    normal, later = tmp_path / "normal.csv", tmp_path / "later.csv"
    normal.write_text("n;x\n" + "".join(f"{i};{i + 1}.234.567\n" for i in range(9)))
    texts = [*(f"{i // 10 + 1}.{i + 234}" for i in range(90)), *words]
    later.write_text("n;x\n" + "".join(f"{i};{text}\n" for i, text in enumerate(texts)))
    reading = read([str(normal)]).reading
    assert reading.columns[1].thousands == "."
    found = read([str(later)], reading=reading)
    assert [found.table.columns[1].cell(row) for row in (0, 10)] == [1234, 2244]
    assert str(found.notices[0]) == (
        "Points in column 'x' are taken to group thousands, for instance in '1.234'."
    )
