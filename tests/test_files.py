"""Table files: every kind is read, every fault is one sentence that names the file, outputs survive."""

import contextlib
import gzip
import io
import itertools
import sys

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from truism.errors import ParameterError, TableError
from truism.table import files
from truism.table.csv import Layout
from truism.table.writing import write_table

PLAIN = "pump,level\non,2.5\noff,3.25\n"
CELLS = {"pump": ["on", "off"], "level": [2.5, 3.25]}


def said(problem):
    """Return an error as a face prints it that calls settings by their own names."""
    advice = problem.advice(str)
    return problem.message if advice is None else f"{problem.message}\nHint: {advice}"


def cells(table):
    return {c.name: [c.cell(row) for row in range(table.n_rows)] for c in table.columns}


@pytest.fixture
def read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def read(content, name="t.csv", **layout):
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return cells(files.read([name], Layout(**layout)).table)

    return read


@pytest.fixture
def refused(read):
    def refused(content, name="t.csv", **layout):
        with pytest.raises(TableError) as caught:
            read(content, name, **layout)
        return said(caught.value)

    return refused


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_seen(read, delimiter):
    assert read(PLAIN.replace(",", delimiter)) == CELLS


def test_a_decimal_comma_is_seen(read):
    assert read("pump;level\non;2,5\noff;3,25\n") == CELLS


def test_delimiter_and_decimal_can_be_said(read):
    assert read("pump,level\non,'2;5'\n", delimiter=",") == {"pump": ["on"], "level": ["'2;5'"]}
    assert read("a;b\n1,5;2\n", decimal=".") == {"a": [1.5], "b": [2]}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings_with_a_mark_and_utf_8_are_seen(read, encoding):
    assert read("größe\n1\n2\n".encode(encoding)) == {"größe": [1, 2]}


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16-le", "cp1252"])
def test_other_encodings_can_be_said(read, encoding):
    text = "größe,art\n1,weiß\n".encode(encoding)
    assert read(text, encoding=encoding) == {"größe": [1], "art": ["weiß"]}


def test_gzip_is_taken_off(read):
    assert read(gzip.compress(PLAIN.encode())) == CELLS


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


def test_parquet_feather_and_arrow_are_known_by_their_content(tmp_path):
    frame = pa.table(CELLS)
    pq.write_table(frame, tmp_path / "a")
    pyarrow.feather.write_feather(frame, str(tmp_path / "b"))
    with pa.ipc.new_stream(tmp_path / "c", frame.schema) as writer:
        writer.write_table(frame)
    for name in "abc":
        assert cells(files.read([str(tmp_path / name)]).table) == CELLS


@pytest.mark.parametrize("kind", ["csv", "parquet", "gzip"])
def test_standard_input_may_be_of_any_kind(monkeypatch, kind):
    content = io.BytesIO()
    if kind == "parquet":
        pq.write_table(pa.table(CELLS), content)
    else:
        content.write(gzip.compress(PLAIN.encode()) if kind == "gzip" else PLAIN.encode())
    content.seek(0)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(content))
    assert cells(files.read(["-"]).table) == CELLS


def test_several_files_and_patterns_become_one_table(tmp_path):
    (tmp_path / "day1.csv").write_text("a,b\n1,x\n")
    (tmp_path / "day2.csv").write_text("b,a\ny,2.5\n")
    (tmp_path / "day3.csv").write_text("a,b\n,z\n")
    expected = {"a": [1.0, 2.5, None], "b": ["x", "y", "z"]}
    assert cells(files.read([str(tmp_path / "day*.csv")]).table) == expected
    assert cells(files.read([str(tmp_path / f"day{i}.csv") for i in (1, 2, 3)]).table) == expected


def test_a_file_whose_name_looks_like_a_pattern_is_a_file(tmp_path):
    (tmp_path / "a[1].csv").write_text(PLAIN)
    assert cells(files.read([str(tmp_path / "a[1].csv")]).table) == CELLS


def test_the_file_with_other_columns_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("a,b\n1,x\n")
    (tmp_path / "b.csv").write_text("a,c\n1,x\n")
    with pytest.raises(TableError) as caught:
        files.read(["a.csv", "b.csv"])
    assert said(caught.value) == (
        "'b.csv': The columns differ from those of 'a.csv': it lacks 'b' and adds 'c'.\n"
        "Hint: files that are read as one table must have the same columns."
    )


def test_files_that_disagree_become_the_texts_that_they_hold(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("a,b\n012,x\n1.50,x\n")
    (tmp_path / "b.csv").write_text("a,b\nA7,x\n")
    assert cells(files.read(["a.csv", "b.csv"]).table)["a"] == ["012", "1.50", "A7"]


def test_the_file_with_values_of_another_type_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table({"a": [1.5]}), "a.parquet")
    pq.write_table(pa.table({"a": ["x"]}), "b.parquet")
    with pytest.raises(TableError) as caught:
        files.read(["a.parquet", "b.parquet"])
    assert said(caught.value) == (
        "Column 'a' holds string in 'b.parquet' and double in the files before it.\n"
        "Hint: columns must hold the same kind of values in every file."
    )


FAULTS = [
    (b"", "'t.csv' is empty."),
    (b"\n \n", "'t.csv' is empty."),
    (b"a,b\n", "'t.csv' has no rows."),
    (
        b"a,b\n1,2\n\n3,4,5\n",
        "'t.csv', line 4: the number of fields must be 2 as in the line of names, got 3.\n"
        "Hint: the delimiter was taken to be ','; see delimiter.",
    ),
    (
        b'a;b\n"x\ny";1\n5\n',
        "'t.csv', line 4: the number of fields must be 2 as in the line of names, got 1.\n"
        "Hint: the delimiter was taken to be ';'; see delimiter.",
    ),
    (
        b'a,b\n"1,2\n3,4\n',
        "'t.csv', line 2: the number of fields must be 2 as in the line of names, got 1.\n"
        "Hint: a quote opens in line 2 and closes in line 3 or never.",
    ),
    (
        b"a,b,a\n1,2,3\n",
        "'t.csv': Column names must be distinct, got 'a' for columns 1 and 3.\n"
        "Hint: rename or drop one of them; see header.",
    ),
    (
        b"a" + b",a" * 8 + b"\n1,2,3,4,5,6,7,8,9\n",
        "'t.csv': Column names must be distinct, got 'a' for columns 1, 2, 3, 4, 5 and 4 more.\n"
        "Hint: rename or drop one of them; see header.",
    ),
    (
        b",a\n0,1\n",
        "'t.csv': Column names must not be empty, got none for column 1 of 2.\n"
        "Hint: give it a name or remove it; pandas writes its index unless to_csv has index=False.",
    ),
    (
        b"1,2.5\n3,4\n",
        "'t.csv': The first line holds numbers where names are expected, got '1', '2.5'.\n"
        "Hint: say whether the first line holds names; see header.",
    ),
    (
        b"art\nwei\x81\n",
        "'t.csv' is not text in the encoding utf-8.\n"
        "Hint: say which it is, for instance latin-1; see encoding.",
    ),
    (
        b"gr\x81\x8de\n1\n",
        "'t.csv' is not text in the encoding utf-8.\n"
        "Hint: say which it is, for instance latin-1; see encoding.",
    ),
    (
        b"a\x00b\x01\n",
        "'t.csv' is neither CSV nor another known table format.\n"
        "Hint: if it is text in another encoding, such as utf-16, say which; see encoding.",
    ),
    (
        b"PK\x03\x04rest",
        "'t.csv': The spreadsheet cannot be read: Cannot detect file format.",
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


@pytest.mark.parametrize("magic", [b"PAR1", b"ARROW1", b"FEA1", b"\xff\xff\xff\xff"])
def test_damaged_binary_files_are_refused(refused, magic):
    assert refused(magic + b"rubbish" * 9).startswith("'t.csv': The file is damaged or not a table")


def test_a_device_without_end_is_refused(monkeypatch):
    monkeypatch.setattr(files, "MOST_OF_DEVICE", 1 << 20)
    with pytest.raises(TableError) as caught:
        files.read(["/dev/zero"])
    assert said(caught.value) == "'/dev/zero' is a device without end."
    with pytest.raises(TableError, match="is empty"):
        files.read(["/dev/null"])


def test_files_that_are_not_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    for sources, message in [
        (["no.csv"], "'no.csv' cannot be read: No such file or directory."),
        (["no*.csv"], "No file matches 'no*.csv'."),
        (["-", "-"], "Standard input can be read only once, got '-' more than once."),
        (
            ["folder"],
            "'folder' is a folder without table files.\n"
            "Hint: name the files, or give them a usual ending (.csv, .tsv, .txt and so on).",
        ),
    ]:
        with pytest.raises(TableError) as caught:
            files.read(sources)
        assert said(caught.value) == message


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
    assert said(caught.value) == message


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet", "t.feather", "t.arrow"])
def test_what_is_written_comes_back(tmp_path, name):
    columns = {
        "time": np.array(["2024-01-01T00:00:00", "2024-01-01T00:00:10"], "datetime64[s]"),
        'a "quoted", name': ["=1+2", "x\ny"],
        "Δlevel": [0.1 + 0.2, -1e-300],
    }
    write_table(columns, tmp_path / name)
    back = cells(files.read([str(tmp_path / name)]).table)
    assert list(back) == list(columns)
    assert back["Δlevel"] == columns["Δlevel"]
    assert back['a "quoted", name'] == columns['a "quoted", name']
    assert [str(each) for each in back["time"]] == ["2024-01-01 00:00:00", "2024-01-01 00:00:10"]


def test_times_in_csv_have_no_needless_digits(tmp_path):
    times = np.array(["2024-01-01T00:00:00"], "datetime64[us]")
    write_table({"time": times}, tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == '"time"\n2024-01-01 00:00:00\n'


@settings(max_examples=60, deadline=None)
@given(content=st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_any_bytes_are_a_table_or_a_table_error(tmp_path_factory, content):
    place = tmp_path_factory.getbasetemp() / "any.csv"
    place.write_bytes(content)
    with contextlib.suppress(TableError):
        assert files.read([str(place)]).table.n_rows > 0


def test_times_with_a_zone_say_so_in_csv(tmp_path):
    times = pa.array(["2026-01-31T07:00:00Z"]).cast(pa.timestamp("us", tz="UTC"))
    write_table({"time": times}, tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == '"time"\n2026-01-31 07:00:00Z\n'


@pytest.mark.parametrize("name", ["t.parquet", "t.jsonl"])
def test_only_lines_and_rows_of_sheets_can_be_columns(read, refused, name):
    content = b'{"a": 1}\n'
    if name == "t.parquet":
        sink = io.BytesIO()
        pq.write_table(pa.table({"a": [1]}), sink)
        content = sink.getvalue()
    assert refused(content, name, transpose=True) == (
        f"{name!r} is neither CSV nor a spreadsheet, so its lines cannot be columns.\n"
        "Hint: see transpose."
    )


def test_a_field_too_many_between_blanks_is_refused_with_its_line(refused):
    lines = "a b\n" + "".join(f" {i}    {i + 0.5}\n" for i in range(300)) + "1 2  3\n"
    said = refused(lines, "t.dat", delimiter=" ")
    assert said.startswith("'t.dat', line 302: the number of fields must be 2")


@given(
    st.lists(st.tuples(*[st.decimals(-99, 99, places=1)] * 3), min_size=2, max_size=9),
    st.lists(st.integers(1, 4), min_size=3, max_size=3),
    st.booleans(),
)
def test_any_number_of_blanks_divides_columns(tmp_path_factory, rows, widths, turned):
    """However they are padded, and whichever way round they stand."""
    path = tmp_path_factory.mktemp("blanks") / "t.dat"
    lines = [("a", "b", "c"), *rows]
    lines = [*zip(*lines, strict=True)] if turned else lines
    blanks = [" " * width for width in widths]
    gaps = itertools.cycle(blanks)
    path.write_text("".join(next(gaps).join(map(str, line)) + next(gaps) + "\n" for line in lines))
    found = files.read([str(path)], Layout(delimiter=" ", transpose=turned or None))
    assert [*zip(*cells(found.table).values(), strict=True)] == [tuple(map(float, r)) for r in rows]
