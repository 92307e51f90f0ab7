"""What historians, spreadsheets, control systems and loggers write, and the reading expected of each.

``data/odd/expected.json`` holds, by file: what is said about it, the kind of each column, the first and
the last row, missing values, and notices (a ``!`` marks those in doubt); or the whole error.
"""

import json
from pathlib import Path

import msgspec
import pytest

from truism.errors import TableError
from truism.table.files import read
from truism.table.layouts import Layout, Reading
from truism.table.looking import look
from truism.table.notices import refuse_doubts

FOLDER = Path(__file__).parent / "data" / "odd"
EXPECTED = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))


@pytest.fixture(autouse=True)
def _in_folder(monkeypatch):
    monkeypatch.chdir(FOLDER)


def said(problem):
    """Return an error as a face prints it that calls settings by their own names."""
    advice = problem.advice(str)
    return problem.message if advice is None else f"{problem.message}\nHint: {advice}"


def layout_of(wanted):
    return msgspec.convert(wanted.get("layout", {}), Layout)


def shown(column, row):
    value = column.cell(row)
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def brief(notice):
    about = ",".join(notice.columns)
    return f"{notice.code}{':' * bool(about)}{about}{'!' * notice.doubtful}"


READ = [name for name, wanted in EXPECTED.items() if "error" not in wanted]


@pytest.mark.parametrize("name", READ)
def test_an_odd_file_is_read_as_expected(name):
    wanted = EXPECTED[name]
    found = read([name], layout_of(wanted))
    table, reading = found.table, found.reading
    assert {each.name: each.kind for each in reading.columns} == wanted["kinds"]
    assert [brief(notice) for notice in found.notices] == wanted["notices"]
    missing = {column.name: column.n_missing for column in table.columns if column.n_missing}
    assert missing == wanted.get("missing", {})
    if "first" in wanted:
        assert [shown(column, 0) for column in table.columns] == wanted["first"]
    if "last" in wanted:
        assert [shown(column, table.n_rows - 1) for column in table.columns] == wanted["last"]
    assert table.n_rows == wanted.get("n_rows", table.n_rows)
    for notice in found.notices:
        assert str(notice).endswith(".")
        assert "--" not in str(notice).replace("'--'", "")


@pytest.mark.parametrize("name", [name for name in EXPECTED if name not in READ])
def test_an_odd_file_is_refused_in_one_sentence(name):
    with pytest.raises(TableError) as caught:
        read([name], layout_of(EXPECTED[name]))
    assert said(caught.value) == EXPECTED[name]["error"]


@pytest.mark.parametrize("name", READ)
def test_whoever_is_strict_is_refused_what_is_in_doubt(name):
    found = read([name], layout_of(EXPECTED[name]))
    doubts = [notice for notice in found.notices if notice.doubtful]
    if not doubts:
        refuse_doubts(found.notices)
        return
    with pytest.raises(TableError) as caught:
        refuse_doubts(found.notices)
    assert caught.value.message == str(doubts[0])


@pytest.mark.parametrize("name", READ)
def test_reading_again_as_a_model_says_gives_the_same_table(name):
    first = read([name], layout_of(EXPECTED[name]))
    kept = msgspec.json.decode(msgspec.json.encode(first.reading), type=Reading)
    assert kept == first.reading
    again = read([name], reading=kept)
    assert again.reading == first.reading
    for one, other in zip(first.table.columns, again.table.columns, strict=True):
        assert (one.name, one.kind, one.zone) == (other.name, other.kind, other.zone)
        rows = range(first.table.n_rows)
        assert [one.cell(row) for row in rows] == [other.cell(row) for row in rows]


@pytest.mark.parametrize("name", READ)
def test_an_odd_file_can_be_looked_at(name):
    found = read([name], layout_of(EXPECTED[name]))
    seen = look(found.table, found.reading, found.notices)
    assert [column.name for column in seen.columns] == list(EXPECTED[name]["kinds"])
    kept = msgspec.json.decode(msgspec.json.encode(seen))
    assert [column["name"] for column in kept["columns"]] == list(EXPECTED[name]["kinds"])


def test_every_file_is_expected():
    there = {path.name for path in FOLDER.iterdir()} - {"expected.json"}
    assert there == {*EXPECTED}
    assert len(EXPECTED) >= 60
