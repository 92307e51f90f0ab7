"""Clues in a few words: what a variable was, instead of what, and while what."""

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from truism.explain.clues import (
    Beyond,
    Circumstance,
    Contradiction,
    Lasting,
    Nearest,
    Outside,
    Rarity,
    SameState,
    UsualNumber,
    UsualStates,
)
from truism.explain.words import Statement, join, state
from truism.model.predicates import AnyOf, Interval, OneOf, Present, Range
from truism.model.rules import Rule
from truism.model.wording import Legend
from truism.score.weighed import Violation

OPEN = Circumstance("MV501", OneOf("MV501", ("open",)), (), (), True)
HIGH = Circumstance("LIT301", Interval("LIT301", low=800.0), (), (), True)
NARROW = Circumstance("LIT301", Interval("LIT301", 800.0, 810.0), (), (), True)
ODD = Circumstance("LIT301", Interval("LIT301", low=800.0), (), ("missing",), False)
ABOUT_9 = UsualNumber(9.02, 0.3, 0.01, False)


def number(found, *circumstances):
    return Contradiction(
        "AIT504", found, Interval("AIT504", 8.4, 9.6), circumstances, ABOUT_9, 100, 5.0
    )


def states(n_usual):
    usual = UsualStates(n_usual, 0, False, False)
    return Contradiction("P1", "on", OneOf("P1", ("off",)), (), usual, 90, 5.0)


def broken(failed, found, *conditions):
    return Violation(Rule(conditions, (failed,), 9), failed, found, 1.0)


SAID = [
    (number(255.0, OPEN), "AIT504 read 255 instead of about 9.02 while MV501 was open"),
    (
        number(255.0, OPEN, HIGH),
        "AIT504 read 255 instead of about 9.02 while MV501 was open and LIT301 was at least 800",
    ),
    (number(255.0, OPEN, HIGH, OPEN), "AIT504 read 255 instead of about 9.02"),
    (number(255.0, NARROW), "AIT504 read 255 instead of about 9.02"),
    (number(255.0, OPEN, ODD), "AIT504 read 255 instead of about 9.02"),
    (number(None, OPEN), "AIT504 was missing while MV501 was open"),
    (states(81), "P1 was on instead of off"),
    (states(80), "P1 was on, where off is usual"),
    (
        msgspec.structs.replace(states(80), expected=OneOf("P1", ("off", "auto"))),
        "P1 was on, where off, auto are usual",
    ),
    (
        msgspec.structs.replace(number(10.123456789), expected=None),
        "AIT504 read 10.12 where about 9.02 is usual",
    ),
    (
        msgspec.structs.replace(states(90), expected=None),
        "P1 was on, which is less common in such rows",
    ),
    (Outside("x", 9.0, 1.0, 2.0, 1.0), "x read 9 instead of at most 2"),
    (Outside("x", 0.5, 1.0, 2.0, 1.0), "x read 0.5 instead of at least 1"),
    (
        Rarity("x", 255.0, Nearest(9.3, None), Beyond(0, "high"), 1.0, True),
        "x read 255 instead of at most 9.3",
    ),
    (
        Rarity("x", 5.0, Nearest(4.0, 6.0), Beyond(0, "high"), 1.0, False),
        "x read 5 instead of at most 4 or at least 6",
    ),
    (
        Rarity("U", "ctf", OneOf("U", ("http",)), SameState(0), 1.0, True),
        "U was ctf, which no training row had",
    ),
    (
        Rarity("U", "ctf", OneOf("U", ("http",)), SameState(1), 1.0, False),
        "U was ctf, which only 1 training row had",
    ),
    (broken(Range("x", 1.0, 2.0), (2.5,)), "x read 2.5 instead of at most 2"),
    (broken(Range("x", 1.0, 2.0), (0.5,)), "x read 0.5 instead of at least 1"),
    (broken(Range("x", 2.0, 2.0), (0.5,)), "x read 0.5 instead of 2"),
    (broken(Interval("x", 1.0, 2.0), (2.0,)), "x read 2 instead of less than 2"),
    (
        broken(OneOf("P1", ("off",)), ("on",), Interval("x", high=3.0)),
        "P1 was on instead of off while x was less than 3",
    ),
    (broken(OneOf("P1", ("off",)), (None,)), "P1 was missing"),
    (broken(Present("x"), (None,)), "x was missing"),
    (
        broken(AnyOf((OneOf("P1", ("a",)), OneOf("P2", ("b",)))), ("x", "y")),
        "P1 was x, against P1 = a or P2 = b",
    ),
    (Lasting("x", 12, 1.0), "x was unusual for 12 rows"),
]


@pytest.mark.parametrize(("clue", "said"), SAID, ids=[said for _, said in SAID])
def test_a_clue_in_a_few_words(clue, said):
    name = said.split()[0]
    assert join([state(name, clue)]) == said


def test_a_change_is_said_as_one():
    clue = Rarity("ΔLIT1", -8.1, Nearest(None, 0.5), Beyond(0, "low"), 1.0, True)
    assert join([state("ΔLIT1", clue)]) == "LIT1 changed by -8.1 instead of at least 0.5"


def test_titles_and_units_are_said_where_they_are_known():
    titles = {"AIT504": "conductivity", "MV501": "brine valve", "LIT301": "tank level"}
    legend = Legend({"AIT504": "µS/cm", "LIT301": "mm"}, titles)
    assert join([state("AIT504", number(255.0, OPEN, HIGH), legend)]) == (
        "conductivity read 255 instead of about 9.02 µS/cm while brine valve was open and tank "
        "level was at least 800 mm"
    )
    clue = Rarity("ΔLIT301", -8.1, Nearest(None, 0.5), Beyond(0, "low"), 1.0, True)
    assert join([state("ΔLIT301", clue, legend)]) == (
        "tank level changed by -8.1 instead of at least 0.5 mm"
    )
    twice = Legend(titles={"P1": "pump", "P2": "pump"})
    assert join([state("P1", states(90), twice)]) == "P1 (pump) was on instead of off"


def test_variables_of_which_the_same_is_said_share_a_verb():
    shut = [Statement(name, "was", "shut instead of open") for name in ("MV1", "MV2", "MV3")]
    assert join(shut) == "MV1, MV2 and MV3 were shut instead of open"
    apart = [*shut[:1], Statement("rock and roll", "read", "3 instead of 4")]
    assert join(apart) == 'MV1 was shut instead of open and "rock and roll" read 3 instead of 4'


@given(
    found=st.floats(-1e6, 1e6),
    bound=st.floats(-1e6, 1e6),
    above=st.booleans(),
)
def test_a_value_never_seems_to_be_as_expected(found, bound, above):
    assume(found > bound if above else found < bound)
    low, high = (-2e6, bound) if above else (bound, 2e6)
    said = state("x", broken(Range("x", low, high), (found,))).rest
    shown, wanted = said.split(" instead of ")
    side, number_shown = wanted.rsplit(" ", 1)
    assert side == ("at most" if above else "at least")
    assert (float(shown) > float(number_shown)) is above
    assert float(shown) != float(number_shown)
