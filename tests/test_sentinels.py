"""Numbers that may stand for missing values are told where nothing else explains them."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from truism.table.columns import Column
from truism.table.texts import MAX_STATES, MIN_COUNT, find_sentinels, is_mark

PLAIN = [20.5, 21.0, 19.5, 22.25, 18.75, 20.0, 23.5]


def told(values, missing=None):
    column = Column("x", "number", np.array(values), missing)
    said = (
        re.search(r"holds (\S+) ([\d,]+) times", each.text).groups()
        for each in find_sentinels(column)
    )
    return [(value, int(count.replace(",", ""))) for value, count in said]


def slowly(values):
    """Find them by looking at every number and at all the others."""
    marks = {value for value in values if is_mark(value)}
    kept = {value for value in values if value not in marks}
    # A mark that has others on both sides is a value like any other.
    kept |= {m for m in marks if any(v < m for v in kept) and any(v > m for v in kept)}
    if len(kept) <= MAX_STATES:
        return []
    span = max(kept) - min(kept)
    far = {m for m in marks - kept if min(abs(m - value) for value in kept) > span}
    counts = {mark: values.count(mark) for mark in far}
    return sorted(mark for mark, count in counts.items() if count >= MIN_COUNT)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [-9999.0, -999.25, 999.0, 9999.0, 0.0, 1.5, 2.0, 3.0, 400.0, 998.0, 7.0, 2000.0]
        ),
        max_size=40,
    )
)
def test_what_is_told_is_what_a_look_at_every_number_tells(values):
    assert sorted(float(value) for value, _ in told(np.array(values, float).tolist())) == slowly(
        values
    )


@pytest.mark.parametrize("mark", ["-9999", "-999.25", "9999", "-99.9", "32767", "65535", "99999.9"])
def test_a_repeated_number_far_from_all_others_is_told(mark):
    assert told([*PLAIN, *[float(mark)] * 3]) == [(mark, 3)]
    single = np.array([*PLAIN, *[float(mark)] * 3], np.float32)
    assert told(single) == [(mark, 3)]


@pytest.mark.parametrize(
    "values",
    [
        [*PLAIN, -9999.0, -9999.0],  # too rare
        [*PLAIN, *[-9998.0] * 5],  # no device writes that
        [*PLAIN, *[99.0] * 5],
        [*range(1000), 999, 999],  # the end of a range
        [0, 1, 2, 999, 999, 999],  # codes
        [*PLAIN, *[999.0] * 3, 3000.0],  # inside the range
        [9999.0] * 5,
        [],
        [np.inf, *PLAIN],
    ],
)
def test_ordinary_numbers_are_not_told(values):
    assert told(values) == []


def test_missing_values_and_other_kinds_are_left_alone():
    values = [*PLAIN, *[-9999.0] * 4]
    assert told(values, np.array([False] * 8 + [True] * 3)) == []
    assert find_sentinels(Column("x", "boolean", np.array([True, False]))) == ()
