"""Later files are read as the first ones were; what cannot be is named, and doubts are values."""

import datetime
import io
import itertools
import json
import os
import sqlite3
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from truism.cli.options import read_pairs
from truism.errors import ParameterError, SchemaError, TableError
from truism.table.columns import Texts, reading_of
from truism.table.counters import find_counter, reason_to_leave_out
from truism.table.files import open_files, read, read_batches
from truism.table.frames import as_table
from truism.table.layouts import SIGNS, ColumnReading, Layout, Reading
from truism.table.looking import look
from truism.table.notices import refuse_doubts
from truism.table.texts import cast, interpret
from truism.table.timelines import examine
from truism.table.times import _SIGNS, dated, find_times, read_instants


def said(problem):
    """Return an error as a face prints it that calls settings by their own names."""
    advice = problem.advice(str)
    return problem.message if advice is None else f"{problem.message}\nHint: {advice}"


def cells(table):
    return {c.name: [c.cell(row) for row in range(table.n_rows)] for c in table.columns}


@pytest.fixture(autouse=True)
def _somewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write(name, text):
    with open(name, "w", encoding="utf-8", newline="") as file:
        file.write(text)
    return name


def learned(text, **layout):
    return read([write("normal.csv", text)], Layout(**layout)).reading


def sentence(kind, *arguments, **settings):
    with pytest.raises(kind) as caught:
        read(*arguments, **settings)
    return said(caught.value)


def test_every_sign_of_a_format_of_times_has_a_meaning():
    assert {*_SIGNS} == SIGNS


CODES = "n,code\n1,12\n2,13\n3,A7\n"


@pytest.mark.parametrize(
    ("normal", "today", "wanted"),
    [
        (CODES, "n,code\n1,12\n2,13\n", ["12", "13"]),
        ("n,x\n1,true\n2,fault\n", "n,x\n1,true\n2,false\n", ["true", "false"]),
        ("n,x\n1,06:00\n2,none\n", "n,x\n1,06:00\n2,06:00\n", ["06:00", "06:00"]),
        ("n,x\n1,2024-01-01\n2,unknown\n", "n,x\n1,2024-01-01\n", ["2024-01-01"]),
        ("n,x\n1,on\n2,off\n", "n,x\n1,1\n2,0\n", ["1", "0"]),
        ("n,x\n1,007\n2,B1\n", "n,x\n1,007\n", ["007"]),
    ],
)
def test_text_stays_text_whatever_a_later_file_looks_like(normal, today, wanted):
    reading = learned(normal)
    found = read([write("today.csv", today)], reading=reading)
    assert list(cells(found.table).values())[1] == wanted
    assert found.table.columns[1].kind == "text"


def test_several_files_are_read_as_one():
    write("a.csv", "n,code\n1,12\n2,13\n")
    write("b.csv", "n,code\n3,A7\n")
    write("c.csv", "n,code\n4,\n")
    for sources in (["a.csv", "b.csv", "c.csv"], ["b.csv", "a.csv", "c.csv"]):
        values = cells(read(sources).table)["code"]
        assert sorted(filter(None, values)) == ["12", "13", "A7"]


def test_a_typed_file_is_converted_where_that_is_exact():
    reading = learned(CODES)
    pq.write_table(pa.table({"n": [1, 2], "code": [12, 13]}), "today.parquet")
    found = read(["today.parquet"], reading=reading)
    assert cells(found.table)["code"] == ["12", "13"]
    assert [str(notice) for notice in found.notices] == [
        "Column 'code' holds numbers; it is read as text, as in training."
    ]
    frame = pd.DataFrame({"n": [1, 2], "code": [12.0, np.nan]})
    assert cells(as_table(frame, reading))["code"] == ["12", None]
    with pytest.raises(SchemaError) as caught:
        as_table({"n": [1], "code": [12.5]}, reading)
    assert said(caught.value) == (
        "Column 'code' must hold text in row 0, got '12.5'.\n"
        "Hint: convert the column, or learn the model again."
    )


def test_frames_follow_the_reading_of_other_frames():
    reading = reading_of(as_table({"on": [True, False], "x": [1.5, 2.5]}))
    table = as_table({"on": [1, 0, 1], "x": ["1.5", "Bad", "2.5"]}, reading)
    assert cells(table) == {"on": [True, False, True], "x": [1.5, None, 2.5]}


LEVELS = "t,level\n" + "".join(f"{i},2.{i}\n" for i in range(1, 9))


@pytest.mark.parametrize(
    ("today", "message"),
    [
        (
            "t,level\n1,2.1\n2,\n3,a\n4,b\n5,c\n6,d\n7,e\n8,f\n",
            "'today.csv', line 4: column 'level' must hold a number, got 'a'.\nHint: see missing.",
        ),
        (
            't,level\n"1\n1",2.1\n2,word\n3,word\n',
            "'today.csv', line 4: column 'level' must hold a number, got 'word'.\n"
            "Hint: see missing.",
        ),
        (
            "t,level\n1,06:00\n",
            "'today.csv', line 2: column 'level' must hold a number, got '06:00'.\n"
            "Hint: see missing.",
        ),
    ],
)
def test_a_value_that_does_not_fit_is_named_with_its_line(today, message):
    reading = learned(LEVELS)
    assert sentence(TableError, [write("today.csv", today)], reading=reading) == message


def test_a_boolean_that_is_none_is_named_with_its_file_and_line():
    reading = learned("n,run\n1,true\n2,false\n")
    write("a.csv", "n,run\n1,true\n")
    write("b.csv", "n,run\n1,true\n2,fault-17\n")
    assert sentence(TableError, ["a.csv", "b.csv"], reading=reading) == (
        "'b.csv', line 3: column 'run' must hold true or false, got 'fault-17'.\nHint: see missing."
    )
    found = read([write("c.csv", "n,run\n1,TRUE\n2,Bad\n")], reading=reading)
    assert cells(found.table)["run"] == [True, None]


def test_a_new_word_in_a_later_file_is_a_loud_notice():
    reading = learned(LEVELS)
    found = read([write("today.csv", "t,level\n1,2.1\n2,kaputt\n3,2.3\n")], reading=reading)
    assert cells(found.table)["level"] == [2.1, None, 2.3]
    (notice,) = found.notices
    assert notice.doubtful
    with pytest.raises(TableError) as caught:
        refuse_doubts(found.notices)
    assert said(caught.value) == (
        "Column 'level' holds numbers; 'kaputt' (once) is taken as missing, first in row 1.\n"
        "Hint: see categorical and missing."
    )


def test_dates_that_no_longer_tell_day_from_month_follow_the_model():
    reading = learned("when,x\n13/02/2014 00:00,1\n14/02/2014 00:00,2\n")
    found = read([write("today.csv", "when,x\n01/03/2014 00:00,1\n")], reading=reading)
    assert found.table.columns[0].cell(0) == datetime.datetime(2014, 3, 1)
    assert found.notices == ()
    both = learned("d;t;x\n02/13/2014;07:00;1\n02/14/2014;07:00;2\n", time=("d", "t"))
    found = read([write("today.csv", "d;t;x\n01/03/2014;07:30;1\n")], reading=both)
    assert found.table.columns[0].cell(0) == datetime.datetime(2014, 1, 3, 7, 30)


@pytest.mark.parametrize(
    ("cells_of_when", "style", "first"),
    [
        (["05/03/2014 00:00", "05/03/2014 00:01"], "month first", "2014-05-03 00:00:00"),
        (["05/03/2014 00:00", "05/03/2014 00:01"], "%d/%m/%Y %H:%M", "2014-03-05 00:00:00"),
        (["1393632000", "1393632060"], "milliseconds", "1970-01-17 03:07:12+00:00"),
        (["20140301", "20140302"], "digits", "2014-03-01 00:00:00"),
    ],
)
def test_a_format_of_times_needs_no_name_of_their_column(cells_of_when, style, first):
    rows = "".join(f"on,{cell},{i}\n" for i, cell in enumerate(cells_of_when))
    write("normal.csv", f"s,time,x\n{rows}")
    found = read(["normal.csv"], Layout(time_format=style))
    assert str(found.table.column_of()["time"].cell(0)) == first
    assert not any(notice.doubtful for notice in found.notices)
    again = read(["normal.csv"], reading=found.reading)
    assert str(again.table.column_of()["time"].cell(0)) == first


def test_a_format_of_times_does_no_harm_where_times_are_times():
    times = pa.array([datetime.datetime(2014, 3, 1)])
    pq.write_table(pa.table({"s": ["on"], "t": times}), "t.parquet")
    found = read(["t.parquet"], Layout(time_format="day first"))
    assert [column.kind for column in found.table.columns] == ["text", "time"]


def test_a_later_file_may_lack_the_column_that_says_when():
    reading = learned("when,x\n2014-02-13,1.5\n2014-02-14,2.5\n", time=("when",))
    assert cells(read([write("today.csv", "x\n1.5\n")], reading=reading).table) == {"x": [1.5]}


def test_decimal_commas_follow_the_model():
    reading = learned("t;x\n1;2,5\n2;3,25\n")
    found = read([write("today.csv", "t;x\n1;1,234\n2;5,678\n")], reading=reading)
    assert cells(found.table)["x"] == [1.234, 5.678]
    assert found.notices == ()


def test_a_sign_that_groups_thousands_is_known_again():
    reading = learned("t;x;y\n1;2,5;12.345\n2;3,5;12.346\n")
    found = read([write("today.csv", "t;x;y\n1;1,234;9.876\n")], reading=reading)
    assert cells(found.table) == {"t": [1], "x": [1.234], "y": [9876]}
    assert not any(notice.doubtful for notice in found.notices)
    with open("same.csv", "w") as file:
        file.write('a,b\n1,"1,234"\n2,"2,345"\n')
    first = read(["same.csv"])
    assert any(notice.doubtful for notice in first.notices)
    again = read(["same.csv"], reading=first.reading)
    assert cells(again.table)["b"] == [1234, 2345]
    assert not any(notice.doubtful for notice in again.notices)


def test_what_windows_writes_is_read_and_later_files_may_be_either():
    Path("a.csv").write_bytes("Größe;x\n1;ü\n2;é\n".encode("cp1252"))
    found = read(["a.csv"], Layout())
    assert found.table.names == ("Größe", "x")
    assert found.reading.layout.encoding == "windows-1252"
    for encoding in ("cp1252", "utf-8"):
        Path("b.csv").write_bytes("Größe;x\n1;ü\n".encode(encoding))
        later = read(["b.csv"], reading=found.reading)
        assert later.table.names == ("Größe", "x")
        assert later.table.column_of()["x"].cell(0) == "ü"
        assert not any("UTF-8" in str(each) for each in later.notices)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
@pytest.mark.parametrize("n_before", [300, 40_000])
def test_a_code_far_below_numbers_is_seen(encoding, n_before):
    head = "n,status,level\n" + "".join(f"{i},{i % 9},{i % 7}.5\n" for i in range(n_before))
    with open("codes.csv", "w", encoding=encoding) as file:
        file.write(head + "7, 0X1F,0.5\n8,0x0011,0.5\n")
    found = read(["codes.csv"], Layout(encoding=encoding)).table.column_of()
    assert [found[name].kind for name in ("n", "status", "level")] == ["number", "text", "number"]
    assert [found["status"].cell(row) for row in (n_before, n_before + 1)] == ["0X1F", "0x0011"]


def test_another_delimiter_is_seen_and_said():
    reading = learned("t;x\n1;2,5\n2;3,25\n")
    found = read([write("today.csv", "t\tx\n1\t2,5\n")], reading=reading)
    assert cells(found.table)["x"] == [2.5]
    assert [str(notice) for notice in found.notices] == [
        "'today.csv' has the delimiter '\\t'; earlier files had ';'."
    ]


def test_renames_are_kept_and_can_be_added():
    reading = learned("FIT-201,x\n1.5,a\n2.5,b\n", renames=(("FIT-201", "FIT201"),))
    assert [column.name for column in reading.columns] == ["FIT201", "x"]
    assert read([write("a.csv", "FIT-201,x\n1.5,a\n")], reading=reading).table.names == (
        "FIT201",
        "x",
    )
    again = Layout(renames=(("flow", "FIT201"),))
    assert (
        read([write("b.csv", "flow,x\n1.5,7\n")], again, reading=reading).table.names[0] == "FIT201"
    )
    wrong = Layout(renames=(("flaw", "y"),))
    assert sentence(ParameterError, ["b.csv"], wrong) == (
        "rename must name columns of the table, got 'flaw'.\nHint: did you mean 'flow'?"
    )
    turned = Layout(renames=(("x", "y"),))
    with pytest.raises(ParameterError) as caught:
        read([write("c.csv", "FIT201,y\n1.5,7\n")], turned, reading=reading)
    assert (
        said(caught.value)
        == "rename must be OLD=NEW, got 'x=y'.\nHint: the table has 'y': write y=x."
    )


@given(st.dictionaries(*[st.text('ab =,;"\t', min_size=1).map(str.strip).filter(len)] * 2))
def test_files_of_pairs_hold_any_text(tmp_path_factory, pairs):
    place = tmp_path_factory.mktemp("pairs") / "pairs"
    quoted = [['"' + text.replace('"', '""') + '"' for text in pair] for pair in pairs.items()]
    lines = map(" , ".join, quoted)
    place.write_text("# since June\n\n" + "\n".join(lines))
    assert dict(read_pairs("units", str(place))) == pairs
    place.write_text(json.dumps(pairs))
    assert dict(read_pairs("units", str(place))) == pairs


def test_a_file_of_pairs_may_be_plain_and_says_which_line_is_no_pair():
    plain = write("names.txt", "# since June\nFIT-201=FIT201\n\nLIT301,feed tank, level\n")
    expected = (("FIT-201", "FIT201"), ("LIT301", "feed tank, level"))
    assert read_pairs("titles", plain) == expected
    with pytest.raises(ParameterError) as caught:
        read_pairs("titles", write("names.txt", "a=b\nnonsense\n"))
    assert said(caught.value) == (
        "titles must name a file of pairs, got 'names.txt'.\nHint: 'nonsense' is no pair; it must hold "
        "a JSON object of texts, or lines such as LIT301,mm or LIT301=mm."
    )


@pytest.mark.parametrize("content", ["", "\n", "t,level\n"])
def test_no_rows_may_be_allowed(content):
    reading = learned(LEVELS)
    found = read([write("empty.csv", content)], reading=reading, allow_empty=True)
    assert found.table.n_rows == 0
    assert [(c.name, c.kind) for c in found.table.columns] == [("t", "number"), ("level", "number")]


def test_times_in_two_columns_may_be_absent_later():
    text = "date;clock;level\n;;m\n" + "".join(f"1.3.2024;7:{i};{i},5\n" for i in range(10, 40))
    layout = Layout(time=("date", "clock"))
    reading = read([write("normal.csv", text)], layout).reading
    for rows, wanted in (("", []), (";;m\n", []), (";;m\n;;2,5\n", [None])):
        write("today.csv", "date;clock;level\n" + rows)
        table = read(["today.csv"], reading=reading, allow_empty=True).table
        assert [(c.name, c.kind) for c in table.columns] == [
            ("date clock", "time"),
            ("level", "number"),
        ]
        assert cells(table)["date clock"] == wanted
    write("normal.csv", "date;clock;level\n;7:10;2,5\n;7:11;3,5\n")
    assert sentence(TableError, ["normal.csv"], layout) == (
        "'normal.csv', line 2: column 'date' must hold a date, got ''.\nHint: see time_format."
    )


def test_times_in_two_columns_are_put_into_their_zone_once():
    write("t.csv", "D;T;x\n01.03.2014;07:30;1\n13.03.2014;07:31;2\n")
    found = read(["t.csv"], Layout(time=("D", "T"), zone="Europe/Vienna"))
    assert str(found.table.columns[0].cell(0)) == "2014-03-01 07:30:00+01:00"
    frame = {"D": ["01.03.2014"], "T": ["07:30"], "x": [1]}
    assert str(as_table(frame, found.reading).columns[0].cell(0)) == "2014-03-01 07:30:00+01:00"


def test_an_empty_file_without_a_model_is_a_table_without_columns():
    assert read([write("empty.csv", "")], allow_empty=True).table.columns == ()


def test_a_day_without_rows_does_not_stop_a_folder_of_days():
    os.mkdir("days")
    write("days/1.csv", "t,x\n1,2.5\n")
    write("days/2.csv", "t,x\n")
    write("days/3.csv", "t,x\n3,Bad\n")
    write("days/notes.md", "not a table")
    write("days/.hidden.csv", "junk")
    found = read(["days"])
    assert cells(found.table) == {"t": [1, 3], "x": ["2.5", "Bad"]}
    assert [str(notice) for notice in found.notices] == ["'days/2.csv' has no rows."]


def test_what_truism_wrote_beside_the_tables_of_a_folder_is_none_of_them():
    os.mkdir("days")
    write("days/1.csv", "t,x\n1,2.5\n")
    write("days/m.json", '{\n  "format": "truism-model",\n  "format_version": 4}')
    write("days/s.json", '{"format":"truism-state","format_version":1}')
    write("days/m.accepted.parquet", "")
    assert cells(read(["days"]).table) == {"t": [1], "x": [2.5]}


@pytest.mark.parametrize(
    ("layout", "message"),
    [
        ({"delimiter": "§"}, "delimiter must be an ASCII character, got '§'.\n"
         "Hint: replace it in the file, for instance by a tab."),
        ({"delimiter": "\x00"}, "delimiter must be one character, got '\\x00'."),
        ({"encoding": "base64"}, "encoding must be one that Python knows, got 'base64'.\n"
         "Hint: for instance utf-8, latin-1, cp1252 or utf-16."),
        ({"encoding": "undefined"}, "encoding must be one that Python knows, got 'undefined'.\n"
         "Hint: for instance utf-8, latin-1, cp1252 or utf-16."),
        ({"encoding": "IDNA"}, "encoding must be one that Python knows, got 'IDNA'.\n"
         "Hint: for instance utf-8, latin-1, cp1252 or utf-16."),
        ({"missing": tuple(f"word {i}" for i in range(40_000))},
         "missing must be at most 10,000 bytes in all, got 388890."),
        ({"encoding": "a\x00b"}, "encoding must be one that Python knows, got 'a\\x00b'.\n"
         "Hint: for instance utf-8, latin-1, cp1252 or utf-16."),
        ({"missing": ("\udcff",)}, "missing must be valid Unicode, got '\\udcff'."),
        ({"zone": "Mars"}, "zone must be the name of a time zone, got 'Mars'.\n"
         "Hint: for instance UTC, Europe/Vienna or +02:00."),
        ({"every": "often"}, "every must be a duration such as '10s', '5min' or '1h', got 'often'."),
        ({"time_format": "%Q"}, "time_format must be a format such as '%d.%m.%Y %H:%M', got '%Q'.\n"
         "Hint: or one of 'year first', 'day first', 'month first', 'month name', 'digits', "
         "'seconds', 'milliseconds', 'microseconds', 'nanoseconds', 'excel days'."),
    ],
)  # fmt: skip
def test_layouts_that_make_no_sense_are_refused(layout, message):
    with pytest.raises(ParameterError) as caught:
        Layout(**layout)
    assert said(caught.value) == message


def test_a_file_name_that_is_not_unicode_is_a_file_name():
    name = os.fsdecode(b"t\xff.csv")
    write(name, "a,b\n1,x\n")
    assert cells(read([name]).table) == {"a": [1], "b": ["x"]}
    write(name, "a,b\n1\n")
    assert sentence(TableError, [name]) == (
        "'t\\udcff.csv', line 2: the number of fields must be 2 as in the line of names, got 1.\n"
        "Hint: the delimiter was taken to be ','; see delimiter."
    )


@pytest.mark.parametrize(
    ("text", "layout", "message"),
    [
        (
            "when,x\n2014-03-01,1\nsoon,2\n",
            {"time": ("when",)},
            "'t.csv', line 3: column 'when' must hold a time, got 'soon'.\nHint: see time_format.",
        ),
        (
            "when,x\n31.12.2014,1\n12.31.2014,2\n",
            {"time": ("when",)},
            "'t.csv', line 3: column 'when' must hold a time, got '12.31.2014'.\n"
            "Hint: see time_format.",
        ),
        (
            "n,x\n5,1\n6,2\n",
            {"time": ("n",)},
            "'t.csv', line 2: column 'n' must hold a time, got '5'.\nHint: see time_format.",
        ),
        (
            "d,t,x\n2014-03-01,late,1\n",
            {"time": ("d", "t")},
            "'t.csv', line 2: column 't' must hold a time of day, got 'late'.\n"
            "Hint: see time_format.",
        ),
        (
            "when,x\n2014-03-01,1\n",
            {"time": ("whne",)},
            "time must name columns of the table, got 'whne'.\nHint: did you mean 'when'?",
        ),
        (
            "when,x\n01/02/2014,1\n",
            {"time_format": "%Y.%m.%d"},
            "time_format must be how times in a column of the table are written, got '%Y.%m.%d'.\n"
            "Hint: name that column; see time.",
        ),
        (
            "when,x\n01/02/2014,1\n02/02/2014,1\nsoon,2\n",
            {"time_format": "month first"},
            "'t.csv', line 4: column 'when' must hold a time, got 'soon'.\nHint: see time_format.",
        ),
    ],
)
def test_times_that_cannot_be_read_are_an_error(text, layout, message):
    with pytest.raises((TableError, ParameterError)) as caught:
        read([write("t.csv", text)], Layout(**layout))
    assert said(caught.value) == message


def test_sqlite_and_duckdb_tables_and_queries():
    duckdb = pytest.importorskip("duckdb")
    with sqlite3.connect("a.db") as base:
        base.execute("create table r (t text, x real)")
        base.executemany("insert into r values (?, ?)", [("2014-03-01", 1.5), ("2014-03-02", None)])
    base.close()
    assert cells(read(["a.db"]).table)["x"] == [1.5, None]
    with duckdb.connect("b.duckdb") as base:
        base.execute("create table r (t timestamp, x double)")
        base.execute("insert into r values ('2014-03-01', 1.5), ('2014-03-02', null)")
        base.execute("create table s (x int)")
    assert cells(read(["b.duckdb"], Layout(table="r")).table) == cells(read(["a.db"]).table)
    asked = Layout(query="select x * 2 as y from r where x is not null")
    for place in ("a.db", "b.duckdb"):
        assert cells(read([place], asked).table) == {"y": [3.0]}
    assert sentence(TableError, ["b.duckdb"]) == (
        "'b.duckdb' has several tables: 'r', 's'.\nHint: say which; see table and query."
    )
    assert sentence(TableError, ["b.duckdb"], Layout(table="q")) == (
        "'b.duckdb' has no table 'q', only 'r', 's'.\nHint: see table."
    )
    assert sentence(TableError, ["a.db"], Layout(query="select nope from r")) == (
        "'a.db': the database says: no such column: nope."
    )
    assert sentence(TableError, ["a.db"], Layout(query="delete from r")) == (
        "'a.db': the database says: attempt to write a readonly database."
    )


def test_a_view_that_may_have_no_end_is_refused():
    base = sqlite3.connect("a.db")
    numbers = "with recursive t(n) as (select 1 union all select n + 1 from t{}) select n from t"
    base.execute(f"create view v as {numbers.format('')}")
    base.close()
    assert sentence(TableError, ["a.db"]) == (
        "'a.db': a view that refers to itself may have no end.\n"
        "Hint: write its rows into a table, or ask for them in a query of your own; see query."
    )
    asked = Layout(query=numbers.format(" where n < 3"))
    assert cells(read(["a.db"], asked).table) == {"n": [1, 2, 3]}


ALONE = (
    ": other files and extensions must not be needed to read a database.\n"
    "Hint: copy the rows into a table of the database, or read the other file itself."
)


@pytest.mark.parametrize("name", ["today.csv", "sqlite:today.csv"])
def test_a_duckdb_file_reads_no_other_file(name):
    duckdb = pytest.importorskip("duckdb")
    write("secret.csv", "a,b\n1,2\n")
    secret = os.path.abspath("secret.csv")
    with duckdb.connect(os.path.abspath(name)) as base:
        base.execute(f"create view v as select * from read_csv('{secret}')")
    wanted = repr(name) + ALONE
    assert sentence(TableError, [name]) == wanted
    for query in (
        f"select * from read_text('{secret}')",
        "attach 'other.duckdb'",
        f"copy (select 1) to '{os.path.abspath('written.csv')}'",
        "install httpfs",
        "load httpfs",
    ):
        assert sentence(TableError, [name], Layout(query=query)) == wanted, query
    for query in ("set enable_external_access = true", "set autoload_known_extensions = true"):
        assert "configuration has been locked" in sentence(TableError, [name], Layout(query=query))
    assert sorted(os.listdir()) == sorted([name, "secret.csv"])


def test_an_sqlite_file_reads_no_other_file():
    with sqlite3.connect("today.csv") as base:
        base.execute("create virtual table words using fts4 (x)")
        base.execute("insert into words values ('hello')")
        base.execute("create view v as select load_extension('other') as x")
    base.close()
    for query in ("attach 'other.db' as other", "vacuum into 'other.db'"):
        assert sentence(TableError, ["today.csv"], Layout(query=query)) == f"'today.csv'{ALONE}"
    for layout in (Layout(table="v"), Layout(query="select load_extension('other')")):
        said_so = sentence(TableError, ["today.csv"], layout)
        assert said_so.startswith("'today.csv': the database says: ")
        assert "\n" not in said_so
    assert cells(read(["today.csv"], Layout(table="words")).table) == {"x": ["hello"]}
    assert os.listdir() == ["today.csv"]


def test_sheets_by_name():
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["a", "b"])
    book.active.append([1, "#VALUE!"])
    book.create_sheet("second").append(["c"])
    book.save("b.xlsx")
    found = read(["b.xlsx"])
    assert found.table.names == ("a", "b")
    assert [str(notice) for notice in found.notices] == [
        "'b.xlsx': sheet 'Sheet' is read, not 'second'."
    ]
    assert sentence(TableError, ["b.xlsx"], Layout(sheet="secnd")) == (
        "'b.xlsx' has no sheet 'secnd', only 'Sheet', 'second'.\n"
        "Hint: did you mean 'second'? See sheet."
    )


def test_a_sheet_may_have_holes_but_not_only_holes():
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["a", "b"])
    book.active["A30000"], book.active["B2"] = 1, 2
    book.save("b.xlsx")
    assert read(["b.xlsx"]).table.n_rows == 29_999
    book.create_sheet("notes")["ZZ1000000"] = "far away"
    book.save("b.xlsx")
    assert sentence(TableError, ["b.xlsx"]).startswith(
        "'b.xlsx': Cells of a sheet must lie close together, got 1 in 1,000,000 rows and 702 columns."
    )


def test_one_column_of_single_words_is_no_log():
    write("t.csv", "batch\n" + "".join(f"batch{i:03}\n" for i in range(30)))
    assert read(["t.csv"]).notices == ()
    write("t.csv", "batch\n" + "".join(f"batch {i:03} has begun\n" for i in range(30)))
    (notice,) = read(["t.csv"]).notices
    assert "its lines seem to hold several values" in str(notice)


def test_json_may_be_nested_but_not_deeply():
    pairs = '{"x": 1, "y": "[[[[ \\" {{{{", "z": %s}\n'
    write("t.jsonl", pairs % ("[" * 99 + "]" * 99) * 3)
    nested = "[" * 99 + "]" * 99
    assert cells(read(["t.jsonl"]).table) == {
        "x": [1, 1, 1],
        "y": ['[[[[ " {{{{'] * 3,
        "z": [nested] * 3,
    }
    write("t.jsonl", pairs % ("[" * 10**5 + "]" * 10**5))
    assert sentence(TableError, ["t.jsonl"]) == (
        "'t.jsonl', line 1: lists and objects are nested too deeply."
    )


def test_a_sheet_may_have_a_title_and_a_row_of_units():
    openpyxl = pytest.importorskip("openpyxl")

    def save(*rows):
        book = openpyxl.Workbook()
        book.active.append(["Export of line 3"])
        sheet = book.create_sheet("values")
        for row in (["Line 3"], [], ["time", "speed", "state"], [None, "rpm", None], *rows):
            sheet.append(row)
        book.save("b.xlsx")

    save(*([datetime.datetime(2024, 3, 1, i), 900.5 + i, "run"] for i in range(9)))
    found = read(["b.xlsx"])
    assert [(c.name, c.kind, c.unit) for c in found.reading.columns] == [
        ("time", "time", None),
        ("speed", "number", "rpm"),
        ("state", "text", None),
    ]
    assert [str(notice) for notice in found.notices] == [
        "'b.xlsx': sheet 'values' is read, not 'Sheet'.",
        "'b.xlsx': 2 lines before the names left out, beginning with 'Line 3'.",
        "'b.xlsx': the row below the names holds units ('rpm').",
    ]
    assert cells(found.table)["speed"][:2] == [900.5, 901.5]
    save()
    assert read(["b.xlsx"], reading=found.reading, allow_empty=True).table.n_rows == 0


@pytest.mark.parametrize(
    ("name", "absent", "message"),
    [
        (
            "book.xlsx",
            ("python_calamine",),
            "Reading Excel files needs the package python-calamine.\n"
            "Hint: install it with pip install python-calamine, or export the sheet as CSV.",
        ),
        (
            "b.duckdb",
            ("duckdb",),
            "Reading DuckDB files needs the package duckdb.\n"
            "Hint: install it with pip install duckdb.",
        ),
    ],
)
def test_a_package_that_is_absent_is_one_sentence(monkeypatch, name, absent, message):
    with open(name, "wb") as file:
        file.write(b"PK\x03\x04" if name.endswith("xlsx") else b"\0" * 8 + b"DUCK" + b"\0" * 300)
    for package in absent:
        monkeypatch.setitem(sys.modules, package, None)
    assert sentence(TableError, [name]) == f"'{name}': {message}"


def test_long_tables_hold_their_last_values():
    write(
        "h.csv",
        "tag;when;value\nA;01.03.2014 00:00:05;1,5\nA;01.03.2014 00:00:20;2,5\n"
        "B;01.03.2014 00:00:10;open\nB;01.03.2014 00:00:31;shut\n",
    )
    found = read(["h.csv"], Layout(every="10s"))
    assert cells(found.table)["A"] == [1.5, 2.5, 2.5]
    assert cells(found.table)["B"] == ["open", "open", "open"]
    again = read(["h.csv"], reading=found.reading)
    assert cells(again.table) == cells(found.table)
    write("n.csv", "a,b\n1,2\n")
    assert sentence(TableError, ["n.csv"], Layout(every="10s")) == (
        "'n.csv': A table with one value per row needs a time column.\n"
        "Hint: see time and time_format."
    )


def column(values, name="x"):
    return as_table({name: values}).columns[0]


def test_counters_are_known_by_how_they_grow():
    rng = np.random.default_rng(0)
    gaps = np.cumsum(rng.choice([1, 1, 1, 2], 1500))
    pulses = np.cumsum(rng.integers(100, 150, 1500))
    assert find_counter(column(gaps)).counts == "rows"
    assert find_counter(column(pulses)).counts == "amounts"
    assert find_counter(column(pulses[:400])) is None
    assert find_counter(column(np.arange(400), "level")) is None
    assert find_counter(column(pulses[:400], "Energy Total")).counts == "amounts"
    assert find_counter(column(pulses[:400], "batch_id")).counts == "rows"
    assert find_counter(column(rng.integers(0, 9, 400), "Energy Total")) is None
    assert find_counter(column(pulses[:400], "totally")) is None
    assert find_counter(column(np.arange(1500) / 4)) is None
    meter = find_counter(column(pulses[:400], "Energy Total"))
    assert str(meter) == (
        "Column 'Energy Total' is taken as its change from row to row: it holds a counter: whole "
        "numbers that only grow over 400 rows, and its name says so."
    )
    assert reason_to_leave_out(column(gaps)) == (
        "running numbers: whole numbers that only grow over 1,500 rows"
    )


def test_a_counter_may_grow_seldom_and_be_reset_where_rows_are_in_order_of_time():
    rng = np.random.default_rng(0)
    seldom = np.cumsum(rng.random(2000) < 0.01)
    assert find_counter(column(seldom)) is None  # the rows may be sorted by it
    assert find_counter(column(seldom), in_order=True).counts == "amounts"
    assert find_counter(column(seldom[:900]), in_order=True) is None
    energy = np.cumsum(rng.random(2000).round(2)).round(2)
    assert find_counter(column(energy), in_order=True).counts == "amounts"
    reset = np.concatenate([energy[:1200], energy[1200:] - energy[1200]])
    assert (
        "grow, but for once, over 2,000 rows" in find_counter(column(reset), in_order=True).reason
    )
    corrected = energy.copy()
    corrected[700] -= 0.5  # as Linux's count of idle time
    assert find_counter(column(corrected), in_order=True).counts == "amounts"
    filled = 500 + np.arange(2000) % 700  # a tank that is never empty
    assert find_counter(column(filled), in_order=True) is None
    steps = np.arange(9000) // 60 % 25  # of a batch
    assert find_counter(column(steps), in_order=True) is None
    pump = np.arange(9000) // 1000 % 2
    assert find_counter(column(pump), in_order=True) is None
    noise = rng.normal(size=2000)
    assert find_counter(column(noise), in_order=True) is None
    pump = np.isin(np.arange(9000) // 100, range(3, 80, 11)).astype(float)  # on seven times
    assert find_counter(column(pump), in_order=True) is None


def test_a_look_says_what_would_become_of_each_column():
    text = "time,id,level,note\n" + "".join(
        f"2014-03-01 00:{i:02},{i * 3},{'Bad' if i == 7 else i / 4},{'on' if i % 2 else 'off'}\n"
        for i in range(40)
    )
    found = read([write("t.csv", text)])
    seen = look(found.table, found.reading, found.notices)
    assert (seen.n_rows, seen.time, seen.step) == (40, "time", 60.0)
    assert (seen.start, seen.end) == ("2014-03-01 00:00:00", "2014-03-01 00:39:00")
    time, running, level, note = seen.columns
    assert time.left_out is None
    assert running.left_out == (
        "running numbers: whole numbers that only grow over 40 rows, and its name says so"
    )
    assert (level.n_missing, level.low, level.high, sum(level.bins)) == (1, "0", "9.75", 39)
    assert [str(each) for each in level.oddities] == [
        "Column 'level' holds numbers; 'Bad' (once) is taken as missing, first in row 7."
    ]
    assert [(each.state, each.count) for each in note.states] == [("off", 20), ("on", 20)]
    assert level.words == ("Bad",)


def test_times_of_frames_are_read_as_those_of_files():
    days = dated(column([f"{day:02}/03/2014 00:00" for day in range(1, 13)]))
    assert days.cell(11) == datetime.datetime(2014, 3, 12)
    assert dated(column(["x1", "y2"])).kind == "text"


def test_a_decimal_sign_that_differs_is_said():
    found = read([write("t.csv", "a;b\n1;2,5\n2;1.2\n3;4,5\n")])
    assert [str(each) for each in found.notices] == [
        "Numbers are written with decimal commas, but in column 'b' 1 row has a decimal point, "
        "for instance '1.2'."
    ]


def test_columns_that_are_said_to_be_states_stay_texts():
    found = read(
        [write("t.csv", "a,b\n" + "".join(f"{i},{i}%\n" for i in range(9)))], Layout(states=("b",))
    )
    assert found.table.columns[1].kind == "text"


# Known columns, written in a dialect and read back.

numbers = st.lists(
    st.one_of(st.none(), st.integers(-(10**6), 10**6), st.decimals(-9999, 9999, places=4)),
    min_size=8, max_size=20,
)  # fmt: skip


@st.composite
def dialects(draw):
    decimal = draw(st.sampled_from([".", ","]))
    group = draw(st.sampled_from(["", "", " ", "\u202f", "'", "." if decimal == "," else ","]))
    return {
        "decimal": decimal,
        "group": group,
        "delimiter": draw(st.sampled_from([";", "\t", "|"])),
        "end": draw(st.sampled_from(["\n", "\r\n", "\r"])),
        "encoding": draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32"])),
        "word": draw(st.sampled_from(["", "NaN", "Bad", "--", "I/O Timeout"])),
        "plus": draw(st.booleans()),
        "time": draw(
            st.sampled_from(
                ["%Y-%m-%d %H:%M", "%d.%m.%Y %H:%M", "%Y/%m/%d %H:%M", "%d-%b-%y %H:%M", "%d/%m/%Y %H:%M",
                 "%m/%d/%Y %I:%M:%S %p", "%Y-%m-%dT%H:%M:%S+01:00"]
            )
        ),
        "units": draw(st.booleans()),
    }  # fmt: skip


def written(value, dialect):
    if value is None:
        return dialect["word"]
    whole, _, part = f"{abs(value):,}".partition(".")
    text = whole.replace(",", dialect["group"])
    if part:
        text += dialect["decimal"] + part
    return ("-" if value < 0 else "+" if dialect["plus"] else "") + text


@settings(max_examples=150, deadline=None)
@given(values=numbers, dialect=dialects(), start=st.datetimes(
    datetime.datetime(1990, 1, 1), datetime.datetime(2060, 1, 1)))  # fmt: skip
def test_known_columns_come_back_from_any_dialect(tmp_path_factory, values, dialect, start):
    # What only a person could know is left out: sure decimals, and days beyond the twelfth.
    values = [*values, *(each / 4 + 0.25 for each in range(6))]
    start = start.replace(day=20, second=0, microsecond=0, tzinfo=None)
    times = [start + datetime.timedelta(minutes=7 * row) for row in range(len(values))]
    lines = [["when", "x", "s"]]
    if dialect["units"]:
        lines.append(["", "[m³/h]", ""])
    for row, (time, value) in enumerate(zip(times, values, strict=True)):
        lines.append([time.strftime(dialect["time"]), written(value, dialect), f"s{row % 3}"])
    text = dialect["end"].join(dialect["delimiter"].join(line) for line in lines) + dialect["end"]
    place = tmp_path_factory.getbasetemp() / "any.csv"
    place.write_bytes(text.encode(dialect["encoding"]))
    found = read([str(place)])
    when, x, s = found.table.columns
    assert [s.cell(row) for row in range(len(values))] == [f"s{i % 3}" for i in range(len(values))]
    assert (x.kind, x.missing is None) == ("number", None not in values)
    assert [x.cell(row) for row in range(len(values))] == [
        None if value is None else float(value) for value in values
    ]
    got = [when.cell(row).replace(tzinfo=None) for row in range(len(values))]
    assert got == times
    units = [each.unit for each in found.reading.columns]
    assert units == ([None, "m³/h", None] if dialect["units"] else [None] * 3)
    again = read([str(place)], reading=found.reading)
    assert cells(again.table) == cells(found.table)


ODD = (
    *("1", "2.5", "1,5", "Bad", "--", "", "NaN", "2014-03-01", "01/03/2014", "13/13/2014", "06:00"),
    *(
        "true",
        "<0.1",
        "45%",
        "é",
        "'",
        "1e999",
        "-",
        "99999999999999999999",
        "1393632000",
        "41699.5",
    ),
    *("inf", "2014-03-01T00:00:00+01:00", "99:99", "31.02.2014", "1.234.567,8", "a b", "=1+1", "+"),
    *("(", "()", "%", "e5", "1 2 3", "٣", "１２", "24:00", "7 kW", "A7", "true ", "0x1F", "1_000"),
)


@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_any_cells_are_read_again_as_they_were(tmp_path_factory, data):
    pool = data.draw(st.lists(st.sampled_from(ODD), min_size=1, max_size=6))
    rows = data.draw(st.lists(st.tuples(*[st.sampled_from(pool)] * 3), min_size=1, max_size=20))
    delimiter = data.draw(st.sampled_from(";\t|"))
    lines = [("time", "x", "tag"), *rows]
    place = tmp_path_factory.getbasetemp() / "cells.csv"
    place.write_text("".join(delimiter.join(line) + "\n" for line in lines), encoding="utf-8")
    zone = data.draw(st.sampled_from([None, "Europe/Vienna", "+02:00"]))
    try:
        found = read([str(place)], Layout(zone=zone))
    except TableError:
        return
    again = read([str(place)], reading=found.reading)
    assert cells(again.table) == cells(found.table)
    assert again.reading == found.reading
    assert look(found.table, found.reading, found.notices).n_rows == found.table.n_rows


def test_a_column_can_be_interpreted_by_itself():
    found = interpret(column(["1,5", "2,5"]), Layout())
    assert found.reading == ColumnReading("x", "number", decimal=",")
    assert Reading(Layout(), (found.reading,)).axis is None


# --- from text to value ---

CELLS = {
    "whole": ["1", "0", "-7", "007"],
    "bits": ["0", "1"],
    "fraction": ["1.5", "2", "-1e3"],
    "truth": ["true", "False", "1"],
    "date": ["2026-01-01"],
    "moment": ["2026-01-01 10:00:00", "2026-01-02"],
    "fine": ["2026-01-01 10:00:00.5", "2026-01-01 10:00:00.123456789"],
    "zoned": ["2026-01-01T10:00:00Z"],
    "clock": ["10:00:00"],
    "word": ["on", "off", "a,b"],
    "code": ["0x11"],
    "none": [None],
}


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.sampled_from(sorted(CELLS)), min_size=1, max_size=3),
    st.randoms(use_true_random=False),
)
def test_texts_are_cast_to_the_types_that_pyarrow_infers_from_all_cells(kinds, random):
    cells = [random.choice(CELLS[random.choice(kinds)]) for _ in range(40)]
    content = "x\n" + "".join(f'"{cell or ""}"\n' for cell in cells)
    options = pa_csv.ConvertOptions(strings_can_be_null=True)
    wanted = pa_csv.read_csv(io.BytesIO(content.encode()), convert_options=options)["x"]
    if pa.types.is_time(wanted.type) or "0x11" in cells:
        wanted = pa.array(cells, pa.string())
    found = cast(pa.chunked_array([pa.array(cells, pa.string())]))
    if pa.types.is_temporal(wanted.type):
        wanted = wanted.cast(found.type)
    assert found.to_pylist() == wanted.to_pylist()
    assert found.type == wanted.type


def test_decimal_commas_are_cast_where_no_point_stands():
    def cells(*texts):
        return cast(pa.chunked_array([pa.array(texts)]), ",").to_pylist()

    assert cells("1,5", "-2", "3e1") == [1.5, -2.0, 30.0]
    assert cells("1,5", "1.234,5") == ["1,5", "1.234,5"]
    assert cells("7", "8") == [7, 8]
    assert cells("2026-01-01") == [datetime.datetime(2026, 1, 1)]


FORMS = {
    "year first": "{y:04}{a}{m:02}{a}{d:02}",
    "day first": "{d:02}{a}{m:02}{a}{y:04}",
    "month first": "{m:02}{a}{d:02}{a}{y:04}",
}


@settings(max_examples=150, deadline=None)
@given(
    st.data(),
    st.sampled_from(sorted(FORMS)),
    st.sampled_from(
        ["", "{b}{H:02}:{M:02}", "{b}{H}:{M:02}:{S:02}", "{b}{H:02}:{M:02}:{S:02}.250"]
    ),
    st.sampled_from("-/."),
    st.sampled_from(" T"),
    st.sampled_from(["", "Z", "+02:00", "-0330"]),
)
def test_times_are_read_if_the_calendar_has_them(data, style, clock, a, b, zone):
    parts = st.fixed_dictionaries(
        {
            "y": st.integers(1, 9999),
            "m": st.integers(0, 13),
            "d": st.integers(0, 32),
            "H": st.integers(0, 25),
            "M": st.integers(0, 61),
            "S": st.integers(0, 59),
        }
    )
    rows = data.draw(st.lists(parts, min_size=1))
    form = FORMS[style] + clock + (zone if clock else "")
    ahead = {"+02:00": 120, "-0330": -210}.get(zone, 0) if clock else 0
    micros = 250_000 if clock.endswith("250") else 0
    texts = [form.format(a=a, b=b, **each) for each in rows]

    def moment(y, m, d, **clock):
        hour, minute, second = (clock[each] if each in form else 0 for each in "HMS")
        night = (hour, minute, second) == (24, 0, 0)
        try:
            moment = datetime.datetime(y, m, d, 0 if night else hour, minute, second)
            moment = np.datetime64(moment, "us") + np.timedelta64(int(night), "D")
            return moment + np.timedelta64(micros, "us") - np.timedelta64(ahead, "m")
        except ValueError:
            return np.datetime64("NaT", "us")

    wanted = [moment(**each) for each in rows]
    found = read_instants(pa.array([*texts, "rubbish"]), style)
    assert np.array_equal(found.times, [*wanted, np.datetime64("NaT")], equal_nan=True)
    assert np.array_equal(read_instants(pa.array(texts), style).times, wanted, equal_nan=True)


def test_a_day_of_the_year_begins_with_1():
    times = read_instants(pa.array(["2024 060", "2024 000"]), "%Y %j").times
    assert times.astype("datetime64[D]").astype(str).tolist() == ["2024-02-29", "NaT"]


@pytest.mark.parametrize("words", [[], ["Bad"]])
def test_points_that_grouped_thousands_do_so_where_nothing_else_shows_it(words):
    write("normal.csv", "n;x\n" + "".join(f"{i};{i + 1}.234.567\n" for i in range(9)))
    texts = [*(f"{i // 10 + 1}.{i + 234}" for i in range(90)), *words]
    write("later.csv", "n;x\n" + "".join(f"{i};{text}\n" for i, text in enumerate(texts)))
    reading = read(["normal.csv"]).reading
    assert reading.columns[1].thousands == "."
    found = read(["later.csv"], reading=reading)
    assert [found.table.columns[1].cell(row) for row in (0, 10)] == [1234, 2244]
    assert str(found.notices[0]) == (
        "Points in column 'x' are taken to group thousands, for instance in '1.234'."
    )


def test_a_sample_of_many_dates_may_decide_which_comes_first():
    days = [str(day) for day in np.arange("1990-01-01", "2010-01-01", dtype="datetime64[D]")]
    for style, form in (("day first", "{2}/{1}/{0}"), ("month first", "{1}/{2}/{0}")):
        texts = [form.format(*day.split("-")) for day in days]
        found = find_times(Texts.of(as_table({"when": texts}).columns[0]))
        assert found.style == style
        assert found.instants.times.astype("datetime64[D]").astype(str).tolist() == days
    texts[5000] = "soon"
    assert not find_times(Texts.of(as_table({"when": texts}).columns[0])).instants.valid.all()


@given(st.lists(st.tuples(st.integers(0, 9), st.sampled_from(["A", "B", None])), max_size=25))
def test_times_of_several_series_are_compared_within_each(rows):
    days = np.array([f"2024-01-{1 + day:02}" for day, _ in rows], "datetime64[s]")
    when, machine = as_table({"day": days, "machine": [name for _, name in rows]}).columns
    pairs = [
        (row, days[row] - days[before])
        for name in {name for _, name in rows}
        for own in [[row for row, (_, each) in enumerate(rows) if each == name]]
        for before, row in itertools.pairwise(own)
    ]
    back = [row for row, step in pairs if step < np.timedelta64(0)]
    doubled = [row for row, step in pairs if not step]
    often = {1: "once", 2: "twice"}.get(len(back), f"{len(back)} times")
    wanted = [("times_unsorted", f"{often}, first in row {min(back)};")] if back else []
    wanted += [("times_doubled", f"first row {min(doubled)}.")] if doubled else []
    notices = examine(when, machine)
    assert [notice.code for notice in notices] == [code for code, _ in wanted]
    assert all(text in str(notice) for notice, (_, text) in zip(notices, wanted, strict=True))


def test_an_hour_that_all_machines_repeat_is_told_once():
    hours = np.array([0, 1, 2, 3, 2, 3, 4, 5]) * np.timedelta64(3600, "s")
    times = np.datetime64("2014-10-26T00:00", "s") + np.repeat(hours, 2)
    when, machine = as_table({"t": times, "machine": ["A", "B"] * 8}).columns
    assert [str(notice) for notice in examine(when, machine)] == [
        "Times in column 't' go back by an hour in row 8 (2014-10-26 02:00), as when summer time ends."
    ]


def test_files_of_one_machine_after_the_other_are_in_order():
    write("a.csv", "t,machine,x\n2024-01-01,A,1.5\n2024-01-02,A,1.7\n")
    write("b.csv", "t,machine,x\n2024-01-01,B,1.5\n2024-01-02,B,1.7\n")
    assert [each.code for each in read(["a.csv", "b.csv"]).notices] == ["times_unsorted"]
    found = read(["a.csv", "b.csv"], Layout(by="machine"))
    assert found.notices == ()
    assert read(["a.csv", "b.csv"], reading=found.reading).notices == ()


@pytest.mark.parametrize("kind", [pa.string(), pa.dictionary(pa.int16(), pa.string())])
def test_texts_may_be_listed_in_one_file_and_written_out_in_another(kind):
    texts = ["on", "off", None, "on"]
    listed = pa.array(texts).dictionary_encode().cast(pa.dictionary(pa.int8(), pa.string()))
    for name, column in (("a", listed), ("b", pa.array(texts).cast(kind)), ("c", pa.nulls(4))):
        pq.write_table(pa.table({"pump": column, "flow": [2.5, 0.0, 0.1, 2.4]}), f"{name}.parquet")
    for files in (["a", "b"], ["b", "a"], ["a", "b", "c"], ["a", "c"], ["a", "a"]):
        places = [f"{name}.parquet" for name in files]
        whole = read(places)
        wanted = [text for name in files for text in (texts if name != "c" else [None] * 4)]
        assert cells(whole.table)["pump"] == wanted
        parts = [each.table for each in read_batches(open_files(places), whole.reading, 3)]
        assert [cell for part in parts for cell in cells(part)["pump"]] == wanted


# --- one value per row, of several runs ---


SECONDS = {"time": ("time",), "time_format": "seconds", "every": "10s"}


def long(name, values, run=None):
    rows = (f"{run},{t},{tag},{value}\n" for t, tag, value in values)
    return write(name, "run,time,tag,value\n" + "".join(rows))


def test_runs_that_begin_anew_are_refused_unless_a_column_names_them():
    names = [long(f"{run}.csv", [(10 * t, "A", t) for t in range(5)], run) for run in "ab"]
    message = sentence(TableError, names, Layout(**SECONDS))
    assert message == (
        "'a.csv': Times begin anew: the values are of several runs, which must not be mixed.\n"
        "Hint: name the run in a column of the files; see by."
    )
    found = cells(read(names, Layout(**SECONDS, by="run")).table)
    assert (found["run"], found["A"]) == (["a"] * 5 + ["b"] * 5, [*range(5)] * 2)
    again = long("c.csv", [(10 * t, "A", t) for t in [*range(5), *range(5)]], "c")
    assert "within series of column 'run'" in sentence(
        TableError, [again], Layout(**SECONDS, by="run")
    )
    for order in (
        sorted,
        lambda rows: sorted(rows, reverse=True),
    ):  # one tag after the other, newest first
        rows = order([(tag, 10 * t) for tag in "AB" for t in range(5)])
        name = long("d.csv", [(t, tag, t) for tag, t in rows], "d")
        assert cells(read([name], Layout(**SECONDS)).table)["A"] == [0, 10, 20, 30, 40]


def test_values_hold_until_they_are_stale_and_without_any_there_is_no_row():
    values = [(0, "A", 1), (0, "B", 7), (40, "B", 8), (200, "A", 2)]
    assert sentence(ParameterError, [long("t.csv", values)], Layout(stale="1min")) == (
        "stale must be given with every, got '1min'."
    )
    found = read([long("t.csv", values)], Layout(**SECONDS)).table
    assert [f"{time:%M:%S}" for time in cells(found)["time"]] == [
        *("00:00", "00:10", "00:20", "00:30", "00:40", "00:50", "01:00", "01:10", "01:20", "01:30"),
        "03:20",
    ]
    assert cells(found)["A"] == [1] * 6 + [None] * 4 + [2]
    assert cells(found)["B"] == [7] * 4 + [8] * 6 + [None]
    longer = read([long("t.csv", values)], Layout(**SECONDS, stale="1h")).table
    assert cells(longer)["A"] == [1] * 20 + [2]


@given(
    st.lists(
        st.tuples(
            st.sampled_from("ab"), st.integers(0, 30), st.sampled_from("AB"), st.integers(0, 9)
        ),
        min_size=1,
        unique_by=lambda row: row[:3],
    ),
    st.integers(1, 9),
)
def test_each_series_holds_its_values_as_a_loop_would(tmp_path_factory, rows, stale):
    rows = sorted(rows, key=lambda row: row[1])
    path = tmp_path_factory.mktemp("long") / "t.csv"
    lines = ("".join(f"{r},{10 * t},{tag},{v}\n" for r, t, tag, v in rows),)
    path.write_text("run,time,tag,value\n" + lines[0])
    layout = Layout(**SECONDS, by="run", stale=f"{10 * stale}s")
    found = read([str(path)], layout).table
    expected = []
    for run in dict.fromkeys(row[0] for row in rows):
        times = [t for r, t, *_ in rows if r == run]
        for now in range(min(times), max(times) + 1):
            held = {tag: (t, v) for r, t, tag, v in rows if r == run and t <= now}
            values = {tag: v for tag, (t, v) in held.items() if now - t <= stale}
            if values:
                expected.append(
                    (run, now, *(values.get(tag) for tag in sorted({r[2] for r in rows})))
                )
    times = found.columns[0].values.astype(np.int64) // 10_000_000
    columns = [cells(found)[name] for name in found.names[1:]]
    assert [
        (run, t, *rest) for run, t, *rest in zip(columns[0], times, *columns[1:], strict=True)
    ] == (expected)


# --- rows that sum up the others ---


def test_each_file_may_end_with_a_total_and_lines_are_still_counted():
    first = write("a.csv", "machine,when,flow\nA,2024-01-01,1\nA,2024-01-02,2\nTotal,,3\n")
    second = write("b.csv", "machine,when,flow\nTotal,,9\nA,2024-01-03,4\nA,2024-01-04,5\n")
    found = read([first, second])
    assert [str(notice) for notice in found.notices] == [
        "'a.csv': the last row is left out, because of 'Total' in it.",
        "'b.csv': the first row is left out, because of 'Total' in it.",
    ]
    assert cells(found.table)["flow"] == [1, 2, 4, 5]
    later = read([second], reading=found.reading)
    assert cells(later.table)["flow"] == [4, 5]
    kept = read([first], Layout(states=("machine",)))
    assert cells(kept.table)["machine"] == ["A", "A", "Total"]
    write("b.csv", "machine,when,flow\nTotal,,9\nA,2024-01-03,4\nA,soon,5\n")
    message = sentence(TableError, [first, second], Layout(time=("when",)))
    assert message.startswith("'b.csv', line 4: column 'when' must hold a time, got 'soon'.")


@given(
    st.lists(
        st.tuples(*[st.decimals(-999, 999, places=2)] * 2), min_size=6, max_size=30, unique=True
    ),
    st.sampled_from(["none", "first", "last"]),
    st.booleans(),
)
def test_only_rows_that_sum_up_the_others_are_left_out(tmp_path_factory, rows, place, said):
    columns = [*zip(*rows, strict=True)]
    sums = [*map(sum, columns)]
    total = ["Total" if said else "", *map(str, sums)]
    lines = [[f"r{i}", *map(str, row)] for i, row in enumerate(rows)]
    largest = [max(map(abs, column)) for column in columns]
    exceeds = any(map(lambda total, most: abs(total) > most, sums, largest))
    if place != "none":
        lines.insert(0 if place == "first" else len(lines), total)
    path = tmp_path_factory.mktemp("totals") / "t.csv"
    path.write_text("\n".join(map(",".join, [["name", "kWh", "m3"], *lines])) + "\n")
    found = read([str(path)])
    left_out = place != "none" and (said or exceeds)
    n_rows = len(lines) - left_out
    assert (found.table.n_rows, bool(found.notices)) == (n_rows, left_out)
