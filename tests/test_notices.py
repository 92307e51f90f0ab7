"""Every notice is one sentence in plain English, names no option, and survives JSON."""

import inspect

import msgspec
import numpy as np
import pytest

from truism.table import notices
from truism.table.columns import Column
from truism.table.notices import (
    Notice,
    WordCount,
    column_converted,
    column_without_name,
    day_or_month,
    first_rows,
    grouped_digits,
    hour_repeated,
    hour_undecided,
    limits_as_values,
    lines_before_names,
    may_be_missing,
    mixed_decimals,
    no_rows,
    no_series,
    one_column_of_text,
    one_value_per_row,
    other_delimiter,
    several_zones,
    sheet_chosen,
    stays_text,
    tags_pivoted,
    times_doubled,
    times_in_two_columns,
    times_joined,
    times_read,
    times_unsorted,
    unit_in_cells,
    unit_row,
    windows_text,
    words_as_missing,
)
from truism.table.timelines import in_zone, wall_clock

SENTENCES = {
    words_as_missing("x", (WordCount("Bad", 2), WordCount("--", 1)), sure=True, row=1234): (
        "Column 'x' holds numbers; 'Bad' (twice), '--' (once) are taken as missing, first in row 1,234."
    ),
    stays_text("x", 1200, (WordCount("A7", 3),)): (
        "Column 'x' is read as text: it holds 1,200 rows with numbers, and also 'A7' (3 times)."
    ),
    mixed_decimals("x", ".", 2, "1,5"): (
        "Numbers are written with decimal points, but in column 'x' 2 rows have a decimal comma, "
        "for instance '1,5'."
    ),
    grouped_digits("x", " ", "1 234", unsure=False): (
        "Blanks in column 'x' are taken to group thousands, for instance in '1 234'."
    ),
    grouped_digits("x", ",", "1,234", unsure=True): (
        "Commas in column 'x' are taken to group thousands, though they may be decimal signs, for "
        "instance in '1,234'."
    ),
    limits_as_values("x", 1, "<0.01"): (
        "In column 'x' 1 row holds a limit such as '<0.01', which is read as that number."
    ),
    unit_in_cells("x", "%", 0): "Column 'x' is written with the unit '%', which is taken off.",
    unit_in_cells("x", "%", 3): (
        "Column 'x' is written with the unit '%', which is taken off, but 3 rows have no unit."
    ),
    no_series("no step is as long as the median one"): (
        "Rows are judged one by one, not as a series: no step is as long as the median one. If they "
        "follow each other, say so with --ordered."
    ),
    unit_row("'t.csv'", ("bar", "°C")): (
        "'t.csv': the row below the names holds units ('bar', '°C')."
    ),
    first_rows(1_000, 2_000_000): "only the first 1,000 of 2,000,000 rows are looked at.",
    lines_before_names("'t.csv'", 3, "Logger"): (
        "'t.csv': 3 lines before the names left out, beginning with 'Logger'."
    ),
    column_without_name("'t.csv'"): (
        "'t.csv': every line ends with a delimiter; the empty last column is left out."
    ),
    other_delimiter("'t.csv'", ",", ";"): "'t.csv' has the delimiter ','; earlier files had ';'.",
    no_rows("'t.csv'"): "'t.csv' has no rows.",
    sheet_chosen("'t.xlsx'", "a", ("b", "c")): "'t.xlsx': sheet 'a' is read, not 'b', 'c'.",
    times_read("t", "seconds", "1393632000", "2014-03-01 00:00:00+00:00"): (
        "Column 't' is read as times (seconds): '1393632000' is 2014-03-01 00:00:00+00:00."
    ),
    day_or_month("t", "01/03/2014", "day first"): (
        "In column 't' nothing shows whether the day or the month comes first, for instance in "
        "'01/03/2014'; the day is taken to come first."
    ),
    times_joined(("d", "t"), "d t"): "Columns 'd', 't' are read as one column of times, 'd t'.",
    times_in_two_columns(("d", "t")): (
        "Columns 'd', 't' may together give the time (d,t); they are read separately."
    ),
    times_unsorted("t", 2, 7): (
        "Times in column 't' run backwards twice, first in row 7; rows stay in the order of the table."
    ),
    times_doubled("t", 1, 7): "In column 't' 1 row has the time of the row before, first row 7.",
    hour_repeated("t", 7, "2014-10-26 02:00"): (
        "Times in column 't' go back by an hour in row 7 (2014-10-26 02:00), as when summer time ends."
    ),
    hour_undecided("t", 2, 7, "2014-10-26 02:30"): (
        "In column 't' 2 rows lie in the hour that a clock change repeats, first row 7 (2014-10-26 "
        "02:30), and are taken to be from before the change: no row around them says which. Times in "
        "UTC are never in doubt."
    ),
    several_zones("t", ("+01:00", "+02:00"), "UTC"): (
        "Times in column 't' are of several zones (+01:00, +02:00); they are shown in UTC."
    ),
    may_be_missing("x", "-9999", 12): (
        "Column 'x' holds -9999 12 times, far from all its other values; if it stands for a missing "
        "value, say so as the file writes it."
    ),
    windows_text("'a.csv'", "windows-1252", "°C"): (
        "'a.csv' is not UTF-8; it is read as windows-1252, in which a part of it is '°C'."
    ),
    one_column_of_text("'a.txt'", "columns of fixed width", "1   2.5"): (
        "'a.txt' is read as one column of text, but looks like columns of fixed width, for instance "
        "'1   2.5'; say what divides its values, or convert it to CSV."
    ),
    column_converted("x", "numbers", "text"): (
        "Column 'x' holds numbers; it is read as text, as in training."
    ),
    tags_pivoted(9000, 12, "10s", 800): (
        "9,000 values of 12 tags are read as 800 rows, one every 10s, in which each tag holds its last "
        "value."
    ),
    one_value_per_row(("t", "tag", "value")): (
        "Columns 't', 'tag', 'value' look like one value per row; to make a column of each tag, "
        "choose the time between rows."
    ),
}  # fmt: skip


@pytest.mark.parametrize("notice", SENTENCES, ids=lambda notice: notice.code)
def test_a_notice_is_one_sentence(notice):
    assert str(notice) == SENTENCES[notice]
    assert msgspec.json.decode(msgspec.json.encode(notice), type=Notice) == notice


def test_every_notice_has_its_sentence_and_the_code_that_its_function_is_called():
    codes = {
        name
        for name, made in vars(notices).items()
        if inspect.isfunction(made) and inspect.signature(made).return_annotation is Notice
    }
    assert {notice.code for notice in SENTENCES} == codes


def test_a_notice_with_something_else_in_it_is_refused():
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(b'{"code":"no_rows","text":"No rows.","more":1}', type=Notice)


def test_clocks_show_the_zone_and_the_repeated_hour():
    walls = np.array(["2014-10-26T02:30", "2014-10-26T02:00", "2014-10-26T02:30"], "datetime64[us]")
    for zone in ("Europe/Vienna", "+02:00", "UTC"):
        column, _ = in_zone(Column("t", "time", walls), zone)
        assert wall_clock(column).tolist() == walls.tolist()
    vienna, _ = in_zone(Column("t", "time", walls), "Europe/Vienna")
    assert [str(vienna.cell(row)) for row in range(3)] == [
        "2014-10-26 02:30:00+02:00",
        "2014-10-26 02:00:00+01:00",
        "2014-10-26 02:30:00+01:00",
    ]
