"""One sentence for an incident, and who was first."""

import datetime

import pytest

from truism.explaining.blames import Blame
from truism.explaining.clues import Lasting, Outside, Rarity
from truism.explaining.expectations import Beyond, Nearest
from truism.explaining.incidents import Incident
from truism.explaining.stories import say_onsets, tell
from truism.model.predicates import Interval, OneOf
from truism.model.rules import Rule
from truism.scoring.weighed import Violation

BEGIN = datetime.datetime(2016, 8, 3, 4)


def at(row):
    return BEGIN + datetime.timedelta(seconds=10 * row)


def blame(name, share, since, *, timed=True, offset=None, found=255.0):
    clue = Rarity(name, found, Nearest(9.0, None), Beyond(0, "high"), 1.0, True)
    began = at(since) if timed and since is not None else None
    return Blame(name, share, 1.0, (clue,), 100, since=since, began=began, offset=offset)


def story(blames, kind="incident", ongoing=False, timed=True, n_rows=214):
    times = {"started": at(0), "ended": at(360)} if timed else {"started": None, "ended": None}
    return tell(kind, blames, start=0, end=360, n_rows=n_rows, ongoing=ongoing, **times)


def test_an_incident_begins_with_the_most_blamed_and_says_who_followed():
    blames = [blame("AIT504", 0.5, 3), blame("MV501", 0.2, 5), blame("MV502", 0.2, 5)]
    assert story(blames) == (
        "AIT504 read 255 instead of at most 9; 20 s later MV501 and MV502 read 255 instead of at most 9."
    )
    assert say_onsets(blames, 0, at(0)) == "first AIT504 at 04:00:30; 20 s later MV501 and MV502"


def test_who_was_first_need_not_be_most_to_blame():
    blames = [blame("a", 0.5, 5), blame("b", 0.3, 3), blame("c", 0.2, 5)]
    assert story(blames) == (
        "a read 255 instead of at most 9; 20 s earlier b read 255 instead of at most 9; "
        "at the same time c read 255 instead of at most 9."
    )
    assert say_onsets(blames, 0, None) == "first b at 3 Aug 04:00:30; 20 s later a and c"


def test_what_the_condition_names_is_not_said_again():
    failed, condition = OneOf("pump", ("off",)), Interval("flow", high=1.0)
    broken = Violation(Rule((condition,), (failed,), 9), failed, ("on",), 1.0)
    blames = [Blame("pump", 0.6, 1.0, (broken,), 100, since=3), blame("flow", 0.4, 3)]
    assert story(blames) == "pump was on instead of off while flow was less than 1."


def test_rows_are_numbered_where_there_is_no_time():
    blames = [blame("a", 0.5, 3, timed=False), blame("b", 0.5, 1204, timed=False)]
    assert say_onsets(blames, 0, None) == "first a in row 3; 1,201 rows later b"
    assert story(blames, "shift", ongoing=True, timed=False).startswith("Since row 0 a read 255")


def test_together_and_alone():
    assert (
        say_onsets([blame("a", 0.5, 3), blame("b", 0.5, 3)], 0, at(0))
        == "a and b together at 04:00:30"
    )
    assert say_onsets([blame("a", 1.0, 3)], 0, at(0)) == ""
    some = [blame("a", 0.5, 3), blame("b", 0.3, 5), blame("c", 0.2, 6)]
    assert (
        say_onsets(some, 4, at(4))
        == "first a at 04:00:30, before the alarm; 20 s later b; 30 s later c"
    )
    assert say_onsets([blame("a", 0.5, 3), blame("b", 0.5, None)], 0, at(0)) == ""


def test_a_variable_with_a_small_share_is_not_in_the_sentence():
    blames = [blame("a", 0.8, 3), blame("b", 0.19, 3), blame("c", 0.01, 3)]
    assert story(blames) == "a read 255 instead of at most 9."
    unknown = [blame("a", 0.5, None), blame("b", 0.5, 3)]
    assert story(unknown) == "a read 255 instead of at most 9; b read 255 instead of at most 9."


@pytest.mark.parametrize(
    ("offset", "ongoing", "said"),
    [
        (
            -0.3,
            True,
            "Since 3 Aug 04:00 P_J280 lies 0.3 lower than in such rows of training; "
            "214 rows so far.",
        ),
        (
            12.0,
            False,
            "From 3 Aug 04:00 to 3 Aug 05:00 P_J280 lay 12 higher than in such rows of training; "
            "214 rows.",
        ),
        (
            None,
            True,
            "Since 3 Aug 04:00 P_J280 read 255 instead of at most 9; 214 rows so far.",
        ),
    ],
)
def test_a_shift_says_since_when_and_how_far(offset, ongoing, said):
    assert story([blame("P_J280", 1.0, 3, offset=offset)], "shift", ongoing) == said


@pytest.mark.parametrize(
    ("found", "offset", "said"),
    [
        (
            850.0,
            30.0,
            "lies 30 higher than in such rows of training",
        ),
        (850.0, -200.0, "read 850 instead of at most 807"),
        (
            300.0,
            -200.0,
            "lies 200 lower than in such rows of training",
        ),
        (300.0, 30.0, "read 300 instead of at least 381"),
    ],
)
def test_a_mean_does_not_tell_of_a_value_that_was_worst_on_the_other_side(found, offset, said):
    outside = Blame("a", 1.0, 1.0, (Outside("a", found, 381.0, 807.0, 1.0),), 9, offset=offset)
    told = story([outside], "shift", ongoing=True)
    assert told == f"Since 3 Aug 04:00 a {said}; 214 rows so far."


def test_a_shift_names_the_others():
    blames = [blame("a", 0.4, 3, offset=1.0), blame("b", 0.3, 3), blame("c", 0.3, 3)]
    assert story(blames, "shift", ongoing=True) == (
        "Since 3 Aug 04:00 a lies 1 higher than in such rows of training, and b and c with it; "
        "214 rows so far."
    )


def test_an_incident_without_blames_or_clues_is_still_told():
    assert story([]) == "214 rows in a row unusual."
    assert story([], n_rows=1) == "One unusual row."
    bare = Blame("a", 1.0, 1.0, (), 100)
    assert story([bare], n_rows=1) == "One unusual row."


def test_the_sentence_is_the_same_as_text_and_as_data():
    blames = (blame("a", 0.6, 3), Blame("b", 0.4, 1.0, (Lasting("b", 4, 1.0),), 100))
    incident = Incident(
        start=0,
        end=9,
        n_rows=10,
        peak=3,
        score=2.0,
        severity=1.0,
        started=at(0),
        ended=at(9),
        peaked=at(3),
        blames=blames,
    )
    assert incident.summary in str(incident)
    assert incident.summary in incident._repr_html_()
    plain = incident.to_dict()
    assert plain["summary"] == incident.summary
    assert plain["summary"] == "a read 255 instead of at most 9; b was unusual for 4 rows."
    assert [(each["since"], each["began"]) for each in plain["blames"]] == [
        (3, "2016-08-03 04:00:30"),
        (None, None),
    ]
