"""Table files: every kind is read, every fault is one sentence that names the file, outputs survive."""

import gzip
import io
import sys

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from truism.errors import TableError
from truism.table.csvfiles import Layout
from truism.table.files import read_table, write_table

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


def test_gzip_is_taken_off(read):
    assert read(gzip.compress(PLAIN.encode())) == CELLS


def test_parquet_feather_and_arrow_are_known_by_their_content(tmp_path):
    frame = pa.table(CELLS)
    pq.write_table(frame, tmp_path / "a")
    pyarrow.feather.write_feather(frame, str(tmp_path / "b"))
    with pa.ipc.new_stream(tmp_path / "c", frame.schema) as writer:
        writer.write_table(frame)
    for name in "abc":
        assert cells(read_table([str(tmp_path / name)])) == CELLS


@pytest.mark.parametrize("kind", ["csv", "parquet", "gzip"])
def test_standard_input_may_be_of_any_kind(monkeypatch, kind):
    content = io.BytesIO()
    if kind == "parquet":
        pq.write_table(pa.table(CELLS), content)
    else:
        content.write(gzip.compress(PLAIN.encode()) if kind == "gzip" else PLAIN.encode())
    content.seek(0)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(content))
    assert cells(read_table(["-"])) == CELLS


def test_several_files_and_patterns_become_one_table(tmp_path):
    (tmp_path / "day1.csv").write_text("a,b\n1,x\n")
    (tmp_path / "day2.csv").write_text("b,a\ny,2.5\n")
    (tmp_path / "day3.csv").write_text("a,b\n,z\n")
    expected = {"a": [1.0, 2.5, None], "b": ["x", "y", "z"]}
    assert cells(read_table([str(tmp_path / "day*.csv")])) == expected
    assert cells(read_table([str(tmp_path / f"day{i}.csv") for i in (1, 2, 3)])) == expected


def test_a_file_whose_name_looks_like_a_pattern_is_a_file(tmp_path):
    (tmp_path / "a[1].csv").write_text(PLAIN)
    assert cells(read_table([str(tmp_path / "a[1].csv")])) == CELLS


def test_the_file_with_other_columns_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("a,b\n1,x\n")
    (tmp_path / "b.csv").write_text("a,c\n1,x\n")
    with pytest.raises(TableError) as caught:
        read_table(["a.csv", "b.csv"])
    assert str(caught.value) == (
        "'b.csv': The columns differ from those of 'a.csv': it lacks 'b' and adds 'c'.\n"
        "Hint: files that are read as one table must have the same columns."
    )


def test_the_file_with_other_values_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("a,b\n1,x\n")
    (tmp_path / "b.csv").write_text("a,b\nBad,x\n")
    with pytest.raises(TableError) as caught:
        read_table(["a.csv", "b.csv"])
    assert str(caught.value) == (
        "Column 'a' holds string in 'b.csv' and int64 in the files before it.\n"
        "Hint: columns must hold the same kind of values in every file."
    )


@pytest.mark.parametrize("magic", [b"PAR1", b"ARROW1", b"FEA1", b"\xff\xff\xff\xff"])
def test_damaged_binary_files_are_refused(refused, magic):
    assert refused(magic + b"rubbish" * 9).startswith("'t.csv': The file is damaged or not a table")


def test_files_that_are_not_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    for sources, message in [
        (["no.csv"], "'no.csv' cannot be read: No such file or directory."),
        (["no*.csv"], "No file matches 'no*.csv'."),
        (["-", "-"], "Standard input can be read only once, got '-' more than once."),
        (
            ["folder"],
            "'folder' cannot be read: Is a directory.\n"
            "Hint: name its files, for instance 'folder/*.csv'.",
        ),
    ]:
        with pytest.raises(TableError) as caught:
            read_table(sources)
        assert str(caught.value) == message


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet", "t.feather", "t.arrow"])
def test_what_is_written_comes_back(tmp_path, name):
    columns = {
        "time": np.array(["2024-01-01T00:00:00", "2024-01-01T00:00:10"], "datetime64[s]"),
        'a "quoted", name': ["=1+2", "x\ny"],
        "Δlevel": [0.1 + 0.2, -1e-300],
    }
    write_table(columns, tmp_path / name)
    back = cells(read_table([str(tmp_path / name)]))
    assert list(back) == list(columns)
    assert back["Δlevel"] == columns["Δlevel"]
    assert back['a "quoted", name'] == columns['a "quoted", name']
    assert [str(each) for each in back["time"]] == ["2024-01-01 00:00:00", "2024-01-01 00:00:10"]


def test_times_in_csv_have_no_needless_digits(tmp_path):
    times = np.array(["2024-01-01T00:00:00"], "datetime64[us]")
    write_table({"time": times}, tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == '"time"\n2024-01-01 00:00:00\n'


def test_times_with_a_zone_say_so_in_csv(tmp_path):
    times = pa.array(["2026-01-31T07:00:00Z"]).cast(pa.timestamp("us", tz="UTC"))
    write_table({"time": times}, tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == '"time"\n2026-01-31 07:00:00Z\n'
