"""Text that a spreadsheet would run, and text that it would not."""

import contextlib
import csv
import io

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from truism.cli.screen import Outlet, Screen
from truism.model.wording import tame

DANGEROUS = [
    "=1+1",
    "+1+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(A1)",
    " =1",
    "\t=1",
    "\r=1",
    "-x",
    "|a",
    "%0A=1",
]


@pytest.mark.parametrize("text", DANGEROUS)
def test_what_looks_like_a_formula_gets_an_apostrophe(text):
    assert tame(text) == "'" + text


@pytest.mark.parametrize(
    "value",
    [
        *("", "pump", "pump = on", "-2.5", "+3", "-1e-9", "-inf", "1,200 rows", "-3 ≤ x ≤ 5"),
        *(-2.5, None, True, 7),
    ],
)
def test_what_is_none_stays(value):
    assert tame(value) is value


@given(st.text())
def test_what_a_spreadsheet_runs_never_comes_first(text):
    tamed = tame(text)
    assert tamed in (text, "'" + text)
    if tamed.lstrip()[:1] in tuple("=@"):
        raise AssertionError(tamed)


def test_tables_for_programs_are_tamed(monkeypatch):
    said = io.StringIO()
    monkeypatch.setattr("sys.stdout", said)
    Screen(Outlet(None)).write_csv(["variable", "found"], [{"variable": "=1+1", "found": "-2"}])
    assert list(csv.reader(io.StringIO(said.getvalue()))) == [
        ["variable", "found"],
        ["'=1+1", "-2"],
    ]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1))
@example(["a\rb", "c\r\n", "\n"])
def test_any_text_survives_a_table(texts):
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        Screen(Outlet(None)).write_csv(["found"], [{"found": each} for each in texts])
    written = said.getvalue()
    assert list(csv.reader(io.StringIO(written, newline=""))) == [
        ["found"],
        *([tame(each)] for each in texts),
    ]
    assert written.endswith("\n")
