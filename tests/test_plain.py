"""A report as plain text, for mails and logs."""

import msgspec
import pytest

import reported
from learned import learn
from reported import NORMAL, attacked, summarised
from truism.explaining.checker import Checker
from truism.report.contents import Summary
from truism.report.html import to_html
from truism.report.plain import to_text
from truism.table.frames import as_table


@pytest.fixture(scope="module")
def summary() -> Summary:
    return reported.summary()


def test_text_has_the_four_parts(summary):
    text = to_text(summary)
    assert "flow" in text
    assert "because pump = on" in text
    assert "1 of 2 labelled segments detected" in text


def test_text_spells_out_what_a_terminal_would_obey(summary):
    hostile = msgspec.structs.replace(summary, verdict="1 incident: \x1b[31mred")
    assert to_text(hostile).startswith("1 incident: \\x1b[31mred\n")


def test_in_plain_text_a_name_with_a_line_break_stays_on_its_line():
    names = {"two\nlines": NORMAL["flow"], "because pump": NORMAL["pump"]}
    checker = Checker(learn(as_table(names), min_support=0.1, scoring="paper"))
    table = as_table({**names, "two\nlines": attacked()["flow"]})
    summary = summarised(checker, table, gap=2)
    lines = to_text(summary).splitlines()
    assert any(line.startswith(r"   two\nlines  ") for line in lines)
    assert not any(line.startswith("lines") for line in lines)
    # The word in front of a condition is no part of it, nor of a name that begins with it.
    assert "<dd>because pump = on</dd>" in to_html(summary)


def test_only_the_first_incidents_are_told_and_the_rest_counted(summary):
    blocks = to_text(summary, most=1).split("\n\n")
    assert [block.startswith("1. ") for block in blocks] == [False, True, False, False]
    assert "1 more" in blocks[2]
    none = msgspec.structs.replace(summary, incidents=(), n_incidents=0, detection=None)
    assert to_text(none) == f"{summary.verdict}\n"
