"""CSV files: how they are written is seen or can be said, and every fault names the file."""

import contextlib
import csv
import gzip
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from truism.errors import ParameterError, TableError
from truism.table.csvfiles import (
    DELIMITERS,
    MISSING,
    Layout,
    find_decimal,
    find_delimiter,
    parse_csv,
)
from truism.table.files import read_table

PLAIN = "pump,level\non,2.5\noff,3.25\n"


CELLS = {"pump": ["on", "off"], "level": [2.5, 3.25]}


def cells(table):
    return {c.name: [c.cell(row) for row in range(table.n_rows)] for c in table.columns}


@pytest.fixture
def read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def read(content, name="t.csv", **layout):
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return cells(read_table([name], Layout(**layout)))

    return read


@pytest.fixture
def refused(read):
    def refused(content, name="t.csv", **layout):
        with pytest.raises(TableError) as caught:
            read(content, name, **layout)
        return str(caught.value)

    return refused


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_seen(read, delimiter):
    assert read(PLAIN.replace(",", delimiter)) == CELLS


def test_a_decimal_comma_is_seen(read):
    assert read("pump;level\non;2,5\noff;3,25\n") == CELLS


def test_delimiter_and_decimal_can_be_said(read):
    assert read("pump,level\non,'2;5'\n", delimiter=",") == {"pump": ["on"], "level": ["'2;5'"]}
    assert read("a;b\n1,5;2\n", decimal=".") == {"a": ["1,5"], "b": [2]}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings_with_a_mark_and_utf_8_are_seen(read, encoding):
    assert read("größe\n1\n2\n".encode(encoding)) == {"größe": [1, 2]}


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16-le", "cp1252"])
def test_other_encodings_can_be_said(read, encoding):
    text = "größe,art\n1,weiß\n".encode(encoding)
    assert read(text, encoding=encoding) == {"größe": [1], "art": ["weiß"]}


def test_files_without_a_header_get_numbered_names(read):
    assert read("1,2\n3,4\n", header=False) == {"x0": [1, 3], "x1": [2, 4]}


def test_names_that_are_numbers_can_be_insisted_on(read):
    assert read("1,2\n3,4\n", header=True) == {"1": [3], "2": [4]}


def test_blanks_around_names_are_taken_off(read):
    assert read(" pump , level\non,1\n") == {"pump": ["on"], "level": [1]}


def test_missing_values_in_many_spellings(read):
    text = "pump,level\nNA,1\n,\noff,NaN\nBad,3\n"
    assert read(text, missing=("Bad",)) == {
        "pump": [None, None, "off", None],
        "level": [1, None, None, 3],
    }


def test_quoted_line_breaks_belong_to_the_value(read):
    assert read('a,b\n"x\ny",1\n') == {"a": ["x\ny"], "b": [1]}


FAULTS = [
    (b"", "'t.csv' is empty."),
    (b"\n \n", "'t.csv' is empty."),
    (b"a,b\n", "'t.csv' has no rows."),
    (
        b"a,b\n1,2\n\n3,4,5\n",
        "'t.csv', line 4: the number of fields must be 2 as in the first line, got 3.\n"
        "Hint: the delimiter was taken to be ','; say another one with --delimiter.",
    ),
    (
        b'a;b\n"x\ny";1\n5\n',
        "'t.csv', line 4: the number of fields must be 2 as in the first line, got 1.\n"
        "Hint: the delimiter was taken to be ';'; say another one with --delimiter.",
    ),
    (
        b'a,b\n"1,2\n3,4\n',
        "'t.csv', line 2: the number of fields must be 2 as in the first line, got 1.\n"
        "Hint: a quote opens in line 2 and closes in line 3 or never.",
    ),
    (
        b"a,b,a\n1,2,3\n",
        "'t.csv': Column names must be distinct, got more than one 'a'.\n"
        "Hint: rename or drop one of them; --no-header if the file has no names.",
    ),
    (
        b",a\n0,1\n",
        "'t.csv': Column names must not be empty, got none for column 1 of 2.\n"
        "Hint: give it a name or remove it; pandas writes it unless asked to_csv(index=False).",
    ),
    (
        b"1,2.5\n3,4\n",
        "'t.csv': The first line holds numbers where names are expected, got '1', '2.5'.\n"
        "Hint: say --no-header if the file has no names, or --header if these are the names.",
    ),
    (
        "art\nweiß\n".encode("latin-1"),
        "'t.csv' is not text in the encoding utf-8.\n"
        "Hint: say which it is, for instance --encoding latin-1.",
    ),
    (
        "größe\n1\n".encode("latin-1"),
        "'t.csv' is not text in the encoding utf-8.\n"
        "Hint: say which it is, for instance --encoding latin-1.",
    ),
    (
        b"a\x00b\x01\n",
        "'t.csv' is neither CSV text nor Parquet, Feather or Arrow.\n"
        "Hint: if it is text in another encoding, say which, for instance with --encoding utf-16.",
    ),
    (
        b"PK\x03\x04rest",
        "'t.csv': This is a spreadsheet or an archive, not a table file.\n"
        "Hint: export it as CSV or Parquet.",
    ),
    (
        gzip.compress(PLAIN.encode(), mtime=0)[:-9],
        "'t.csv': The gzip file is damaged: Compressed file ended before the end-of-stream marker "
        "was reached.",
    ),
]


@pytest.mark.parametrize(("content", "message"), FAULTS)
def test_faults_are_one_sentence_with_a_hint(refused, content, message):
    assert refused(content) == message


@pytest.mark.parametrize(
    ("layout", "message"),
    [
        ({"delimiter": "::"}, "delimiter must be one character, got '::'."),
        ({"decimal": "x"}, "decimal must be '.' or ',', got 'x'."),
        (
            {"decimal": ",", "delimiter": ","},
            "decimal and delimiter must differ, got ',' for both.",
        ),
        (
            {"encoding": "klingon"},
            "encoding must be one that Python knows, got 'klingon'.\n"
            "Hint: for instance utf-8, latin-1, cp1252 or utf-16.",
        ),
    ],
)
def test_layouts_that_make_no_sense_are_refused(layout, message):
    with pytest.raises(ParameterError) as caught:
        Layout(**layout)
    assert str(caught.value) == message


@settings(max_examples=60, deadline=None)
@given(content=st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_any_bytes_are_a_table_or_a_table_error(tmp_path_factory, content):
    place = tmp_path_factory.getbasetemp() / "any.csv"
    place.write_bytes(content)
    with contextlib.suppress(TableError):
        assert read_table([str(place)]).n_rows > 0


printable = st.text(st.characters(codec="utf-8", exclude_categories=["C"]), min_size=1)
fields = st.text(st.characters(codec="ascii", categories=["L"]), min_size=1, max_size=5)
field_rows = st.integers(2, 4).flatmap(
    lambda width: st.lists(st.lists(fields, min_size=width, max_size=width), min_size=2, max_size=6)
)


@given(field_rows, st.sampled_from(DELIMITERS))
def test_the_delimiter_that_was_used_is_found(rows, delimiter):
    text = "".join(delimiter.join(row) + "\n" for row in rows)
    assert find_delimiter(text) == delimiter


@pytest.mark.parametrize(
    ("field", "delimiter", "decimal"),
    [
        ("2,5", ";", ","),
        ("2.5", ";", "."),
        ("2,5", ",", "."),
        ("x", ";", "."),
        ("-1,25", "\t", ","),
    ],
)
def test_the_decimal_sign_is_found(field, delimiter, decimal):
    assert find_decimal([["name"], [field]], delimiter) == decimal
    assert find_decimal([["name"], [field], ["1.5"]], delimiter) == "."


@given(
    st.lists(
        st.tuples(printable, st.integers()),
        min_size=1, max_size=8,
    ).filter(lambda rows: not {text for text, _ in rows} & {*MISSING})
)  # fmt: skip
def test_what_python_writes_is_read_back(rows):
    content = io.StringIO()
    writer = csv.writer(content, quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(["text", "number"])
    writer.writerows((f"t{text}", number % 2**31) for text, number in rows)
    layout = Layout(delimiter=",", decimal=".")
    table = parse_csv("t.csv", io.BytesIO(content.getvalue().encode()), layout)
    assert table.to_pydict() == {
        "text": [f"t{text}" for text, _ in rows],
        "number": [number % 2**31 for _, number in rows],
    }
