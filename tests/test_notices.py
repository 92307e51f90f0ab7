"""Notices as values, and clocks; the odd files have the sentences."""

import msgspec
import numpy as np
import pytest

from truism.table.columns import Column
from truism.table.notices import Notice
from truism.table.timelines import in_zone, wall_clock


def test_a_notice_survives_json():
    notice = Notice("no_rows", "'t.csv' has no rows.", ("x",), True, ("missing",), ("Bad",))
    assert str(notice) == "'t.csv' has no rows."
    assert msgspec.json.decode(msgspec.json.encode(notice), type=Notice) == notice


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
