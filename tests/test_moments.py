"""When something happened, in words."""

import datetime

from truism.explain.words import say_at, say_when

EVENING = datetime.datetime(2024, 3, 1, 23, 59, 50)
NIGHT = datetime.datetime(2024, 3, 2)


def test_moments_are_said_as_briefly_as_they_can_be():
    assert say_when(0, EVENING) == "1 Mar 23:59:50"
    assert say_at(1, NIGHT, EVENING) == "on 2 Mar at 00:00"
    assert say_at(1, NIGHT, NIGHT) == "at 00:00"
    assert say_at(1, NIGHT.replace(microsecond=250_000), NIGHT) == "at 00:00:00.25"
    assert say_at(1, "noon", NIGHT) == "at noon"
    assert say_at(1234, None, NIGHT) == "in row 1,234"
