"""Every notice is one sentence in plain English, names no option, and survives JSON."""

import functools
import operator

import msgspec
import numpy as np
import pytest

from truism.table.cells.notices import (
    Converted,
    DayOrMonth,
    GroupedDigits,
    HourRepeated,
    LimitsAsValues,
    MayBeMissing,
    MixedDecimals,
    SeveralZones,
    StaysText,
    TimesDoubled,
    TimesInTwoColumns,
    TimesJoined,
    TimesRead,
    TimesUnsorted,
    UnitInCells,
    WordCount,
    WordsAsMissing,
)
from truism.table.cells.timelines import in_zone, wall_clock
from truism.table.columns import Column
from truism.table.files.notices import (
    ColumnWithoutName,
    FirstRows,
    LinesBeforeNames,
    LooksLong,
    NoRows,
    OneColumnOfText,
    OtherDelimiter,
    PartChosen,
    TagsPivoted,
    UnitRow,
    WindowsText,
)
from truism.table.notices import ColumnNotice, Notice

KINDS = [
    kind
    for base in (Notice, ColumnNotice)
    for kind in base.__subclasses__()
    if kind is not ColumnNotice
]
ANY = functools.reduce(operator.or_, KINDS)
SENTENCES = {
    WordsAsMissing("x", (WordCount("Bad", 2), WordCount("--", 1)), known=True, row=1234): (
        "Column 'x' holds numbers; 'Bad' (twice), '--' (once) are taken as missing, first in row 1,234."
    ),
    StaysText("x", 1200, (WordCount("A7", 3),)): (
        "Column 'x' is read as text: it holds 1,200 rows with numbers, and also 'A7' (3 times)."
    ),
    MixedDecimals("x", ".", 2, "1,5"): (
        "Numbers are written with decimal points, but in column 'x' 2 rows have a decimal comma, "
        "for instance '1,5'."
    ),
    GroupedDigits("x", " ", "1 234", unsure=False): (
        "Blanks in column 'x' are taken to group thousands, for instance in '1 234'."
    ),
    GroupedDigits("x", ",", "1,234", unsure=True): (
        "Commas in column 'x' are taken to group thousands, though they may be decimal signs, for "
        "instance in '1,234'."
    ),
    LimitsAsValues("x", 1, "<0.01"): (
        "In column 'x' 1 row holds a limit such as '<0.01', which is read as that number."
    ),
    UnitInCells("x", "%", 0): "Column 'x' is written with the unit '%', which is taken off.",
    UnitInCells("x", "%", 3): (
        "Column 'x' is written with the unit '%', which is taken off, but 3 rows have no unit."
    ),
    UnitRow("'t.csv'", ("bar", "°C")): (
        "'t.csv': the row below the names holds units ('bar', '°C')."
    ),
    FirstRows(1_000, 2_000_000): "only the first 1,000 of 2,000,000 rows are looked at.",
    LinesBeforeNames("'t.csv'", 3, "Logger"): (
        "'t.csv': 3 lines before the names left out, beginning with 'Logger'."
    ),
    ColumnWithoutName("'t.csv'"): (
        "'t.csv': every line ends with a delimiter; the empty last column is left out."
    ),
    OtherDelimiter("'t.csv'", ",", ";"): "'t.csv' has the delimiter ','; earlier files had ';'.",
    NoRows("'t.csv'"): "'t.csv' has no rows.",
    PartChosen("'t.xlsx'", "a", ("b", "c")): "'t.xlsx': sheet 'a' is read, not 'b', 'c'.",
    TimesRead("t", "seconds", "1393632000", "2014-03-01 00:00:00+00:00"): (
        "Column 't' is read as times (seconds): '1393632000' is 2014-03-01 00:00:00+00:00."
    ),
    DayOrMonth("t", "01/03/2014", "day first"): (
        "In column 't' nothing shows whether the day or the month comes first, for instance in "
        "'01/03/2014'; the day is taken to come first."
    ),
    TimesJoined(("d", "t"), "d t"): "Columns 'd', 't' are read as one column of times, 'd t'.",
    TimesInTwoColumns(("d", "t")): (
        "Columns 'd', 't' may together give the time (d,t); they are read separately."
    ),
    TimesUnsorted("t", 2, 7): (
        "Times in column 't' run backwards twice, first in row 7; rows stay in the order of the table."
    ),
    TimesDoubled("t", 1, 7): "In column 't' 1 row has the time of the row before, first row 7.",
    HourRepeated("t", 7, "2014-10-26 02:00"): (
        "Times in column 't' go back by an hour in row 7 (2014-10-26 02:00), as when summer time ends."
    ),
    SeveralZones("t", ("+01:00", "+02:00"), "UTC"): (
        "Times in column 't' are of several zones (+01:00, +02:00); they are shown in UTC."
    ),
    MayBeMissing("x", "-9999", 12): (
        "Column 'x' holds -9999 12 times, far from all its other values; if it stands for a missing "
        "value, say so as the file writes it."
    ),
    WindowsText("'a.csv'", "°C"): (
        "'a.csv' is not UTF-8; it is read as windows-1252, in which a part of it is '°C'."
    ),
    OneColumnOfText("'a.txt'", "columns of fixed width", "1   2.5"): (
        "'a.txt' is read as one column of text, but looks like columns of fixed width, for instance "
        "'1   2.5'; say what divides its values, or convert it to CSV."
    ),
    Converted("x", "numbers", "text"): (
        "Column 'x' holds numbers; it is read as text, as in training."
    ),
    TagsPivoted(9000, 12, "10s", 800): (
        "9,000 values of 12 tags are read as 800 rows, one every 10s, in which each tag holds its last "
        "value."
    ),
    LooksLong(("t", "tag", "value")): (
        "Columns 't', 'tag', 'value' look like one value per row; to make a column of each tag, "
        "choose the time between rows."
    ),
}  # fmt: skip


@pytest.mark.parametrize("notice", SENTENCES, ids=lambda notice: type(notice).__name__)
def test_a_notice_is_one_sentence(notice):
    assert str(notice) == SENTENCES[notice]
    assert msgspec.json.decode(msgspec.json.encode(notice), type=ANY) == notice


def test_every_notice_has_its_sentence():
    assert {type(notice) for notice in SENTENCES} == {*KINDS}


def test_clocks_show_the_zone_and_the_repeated_hour():
    walls = np.array(["2014-10-26T02:30", "2014-10-26T02:00", "2014-10-26T02:30"], "datetime64[us]")
    for zone in ("Europe/Vienna", "+02:00", "UTC"):
        column = in_zone(Column("t", "time", walls), zone)
        assert wall_clock(column).tolist() == walls.tolist()
    vienna = in_zone(Column("t", "time", walls), "Europe/Vienna")
    assert [str(vienna.cell(row)) for row in range(3)] == [
        "2014-10-26 02:30:00+02:00",
        "2014-10-26 02:00:00+01:00",
        "2014-10-26 02:30:00+01:00",
    ]
