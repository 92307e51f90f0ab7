"""One sentence for an incident, and who was first."""

import datetime
import io
import re

import msgspec
import numpy as np
import pytest
from rich.console import Console

from learned import learn
from truism.explain.blames import Blame
from truism.explain.checker import Checker
from truism.explain.clues import Lasting, Nearest, Outside, Rarity, Seen
from truism.explain.findings import gravest, to_show
from truism.explain.incidents import Incident, course_of, summarise
from truism.explain.words import say
from truism.model.predicates import Interval, OneOf
from truism.model.rules import Rule
from truism.model.wording import NO_LEGEND, Legend
from truism.score.weighed import Violation
from truism.show.terminal import show_differing
from truism.table.frames import as_table

BEGIN = datetime.datetime(2016, 8, 3, 4)


def at(row):
    return BEGIN + datetime.timedelta(seconds=10 * row)


def course(name, share, since, *, timed=True, offset=None, found=255.0, first=True, clue=None):
    worst = clue or Rarity(name, found, Nearest(9.0, None), Seen(0, "high"), 1.0, True)
    early = clue or Rarity(name, 12.0, Nearest(9.0, None), Seen(0, "high"), 1.0, True)
    began = at(since) if timed and since is not None else None
    blame = Blame(name, share, 1.0, (say(worst, 100),), since=since, began=began, offset=offset)
    row = 9 if since is not None else 0
    time = at(row) if timed else None
    return blame, worst, row, time, early if first and since is not None else None


def incident_of(courses, kind="incident", ongoing=False, timed=True, n_rows=214, start=0):
    times = (at(start), at(360), at(9)) if timed else (None,) * 3
    return Incident(
        kind=kind,
        state="open" if ongoing else "closed",
        severity=1.0,
        score=2.0,
        start=start,
        end=360,
        peak=9,
        started=times[0],
        ended=times[1],
        peaked=times[2],
        n_rows=n_rows,
        blames=tuple(blame for blame, *_ in courses),
    )


def story(courses, kind="incident", **options):
    told = sorted((course_of(*each, kind) for each in courses), key=lambda each: each.row)
    return summarise(incident_of(courses, kind, **options), told, NO_LEGEND)


def test_an_incident_is_a_timeline_of_what_each_variable_was_then():
    blames = [course("AIT504", 0.5, 3), course("MV501", 0.2, 7), course("MV502", 0.2, 7)]
    assert story(blames) == (
        "On 3 Aug at 04:00:30 AIT504 read 12 instead of at most 9; "
        "at 04:01:10 MV501 and MV502 read 12 instead of at most 9."
    )


def test_the_oldest_comes_first_whoever_is_most_to_blame():
    blames = [course("a", 0.5, 8), course("b", 0.3, 3), course("c", 0.2, 8641)]
    assert story(blames) == (
        "On 3 Aug at 04:00:30 b read 12 instead of at most 9; "
        "at 04:01:20 a read 12 instead of at most 9; "
        "on 4 Aug at 04:00:10 c read 12 instead of at most 9."
    )


def test_nobody_was_first_within_two_rows():
    blames = [course("a", 0.5, 3), course("b", 0.3, 4), course("c", 0.2, 5)]
    assert story(blames) == (
        "On 3 Aug at 04:00:30 a read 12 instead of at most 9; "
        "together with it b read 12 instead of at most 9; "
        "together with them c read 12 instead of at most 9."
    )


def test_no_time_is_said_where_all_happened_in_the_first_row():
    blames = [course("a", 0.5, 3), course("b", 0.5, 3)]
    assert story(blames, start=3) == "a and b read 12 instead of at most 9."


def test_what_the_condition_names_is_not_said_again_of_the_same_row():
    failed, condition = OneOf("pump", ("off",)), Interval("flow", high=1.0)
    broken = Violation(Rule((condition,), (failed,), 9), failed, ("on",), 1.0)
    pump = course("pump", 0.6, 3, clue=broken, timed=False)
    expected = "pump was on instead of off while flow was less than 1"
    assert story([pump, course("flow", 0.4, 3)], start=3) == f"{expected}."
    assert story([pump, course("flow", 0.4, 9, timed=False)], timed=False) == (
        f"In row 3 {expected}; in row 9 flow read 12 instead of at most 9."
    )


def test_where_the_first_row_tells_nothing_the_worst_one_is_told():
    blames = [course("a", 0.5, 3, first=False), course("b", 0.5, 4)]
    assert story(blames) == (
        "On 3 Aug at 04:00:40 b read 12 instead of at most 9; "
        "at 04:01:30 a read 255 instead of at most 9."
    )


def test_a_variable_with_a_small_share_is_not_in_the_sentence():
    blames = [course("a", 0.8, 3), course("b", 0.19, 3), course("c", 0.01, 3)]
    assert story(blames, start=3) == "a read 12 instead of at most 9."


@pytest.mark.parametrize(
    ("offset", "ongoing", "said"),
    [
        (
            -0.3,
            True,
            "Since 3 Aug 04:00:30 P_J280 lies 0.3 lower than in such rows of training; "
            "214 rows so far.",
        ),
        (
            12.0,
            False,
            "From 3 Aug 04:00:30 to 05:00 P_J280 lay 12 higher than in such rows of training; "
            "214 rows.",
        ),
        (
            None,
            True,
            "Since 3 Aug 04:00:30 P_J280 is unlike training (first 12 instead of at most 9); "
            "214 rows so far.",
        ),
    ],
)
def test_a_shift_says_since_when_and_how_far(offset, ongoing, said):
    assert story([course("P_J280", 1.0, 3, offset=offset)], "shift", ongoing=ongoing) == said


@pytest.mark.parametrize(
    ("found", "offset", "said"),
    [
        (
            850.0,
            30.0,
            "lies 30 higher than in such rows of training",
        ),
        (
            850.0,
            -200.0,
            "is unlike training (first 850 instead of at most 807, now 200 lower than in such rows of "
            "training)",
        ),
        (
            300.0,
            -200.0,
            "lies 200 lower than in such rows of training",
        ),
        (
            300.0,
            30.0,
            "is unlike training (first 300 instead of at least 381, now 30 higher than in such rows of "
            "training)",
        ),
    ],
)
def test_a_mean_does_not_tell_of_a_value_that_was_worst_on_the_other_side(found, offset, said):
    clue = Outside("a", found, 381.0, 807.0, 1.0)
    outside = course("a", 1.0, None, clue=clue, offset=offset)
    told = story([outside], "shift", ongoing=True)
    assert told == f"Since 3 Aug 04:00 a {said}; 214 rows so far."


def test_a_shift_says_since_when_of_each():
    first = course("a", 0.4, 3, offset=1.0)
    together = [first, course("b", 0.3, 4, offset=-2.0), course("c", 0.3, 4, offset=3.0)]
    assert story(together, "shift", ongoing=True) == (
        "Since 3 Aug 04:00:30 a lies 1 higher than in such rows of training; "
        "since 04:00:40 b lies 2 lower and c lies 3 higher; 214 rows so far."
    )
    assert story([first, course("b", 0.3, 8643)], "shift", ongoing=True) == (
        "Since 3 Aug 04:00:30 a lies 1 higher than in such rows of training; "
        "since 4 Aug 04:00:30 b is unlike training (first 12 instead of at most 9); 214 rows so far."
    )


def test_a_lasting_change_of_a_change_says_that_it_is_one():
    clue = Outside("Δa", 3.0, -1.0, 1.0, 1.0)
    assert story([course("Δa", 1.0, None, clue=clue)], "shift", ongoing=True) == (
        "Since 3 Aug 04:00 a is unlike training (first changed by 3 instead of at most 1); "
        "214 rows so far."
    )


def test_an_incident_without_blames_has_a_sentence_too():
    assert story([]) == "214 rows in a row unusual."
    assert story([], n_rows=1) == "One unusual row."


def test_the_sentence_is_the_same_as_text_and_as_data():
    courses = [course("a", 0.6, 3), course("b", 0.4, 3, clue=Lasting("b", 4, 1.0))]
    incident = incident_of(courses, n_rows=10)
    summary = story(courses, n_rows=10)
    assert summary == (
        "On 3 Aug at 04:00:30 a read 12 instead of at most 9 and b was unusual for 4 rows."
    )
    incident = msgspec.structs.replace(incident, summary=summary)
    assert summary in str(incident)
    assert summary in incident._repr_html_()
    plain = incident.to_dict()
    assert plain["summary"] == summary
    assert [(each["since"], each["began"]) for each in plain["blames"]] == [
        (3, "2016-08-03T04:00:30"),
        (3, "2016-08-03T04:00:30"),
    ]


def tank(n_rows, seed, failed=None):
    """Return a valve's flow, and a large tank far behind it that overflows once the valve fails."""
    random = np.random.default_rng(seed)
    flow = 5 + 0.1 * random.standard_normal(n_rows)
    level = 100 + random.standard_normal(n_rows)
    if failed is not None:
        flow[failed : failed + 40] = 0.0
        level[failed + 70 : failed + 160] += np.linspace(20, 900, 90)
    times = np.datetime64("2024-03-01T00:00:00", "us") + np.arange(n_rows) * np.timedelta64(60, "s")
    return as_table({"t": times, "flow": flow, "level": level})


def test_a_story_begins_with_what_began_first_however_grave_the_consequence():
    checker = Checker(learn(tank(3000, 0), min_support=0.05))
    found = checker.find(tank(600, 1, failed=200))
    first, *others = gravest(found, 0)
    worst = max(others, key=lambda each: each.severity)
    assert [first.blames[0].variable, worst.blames[0].variable] == ["flow", "level"]
    assert first.story == worst.story
    assert first.severity < worst.severity
    assert first.summary.startswith("flow read 0 instead of")


def test_what_leaves_the_place_where_it_stood_is_told_against_that_place():
    checker = Checker(learn(tank(3000, 0), min_support=0.05))
    table = tank(900, 1)
    level = table.column_of()["level"].values
    level[200:] += 40.0
    level[600:] -= 39.0
    found = checker.find(table)
    back = next(each for each in found.incidents if abs(each.start - 600) < 15)
    (said, *_) = back.blames[0].reasons
    assert said.kind == "moved"
    assert re.fullmatch(r"level about 1[34]\d", said.expected)
    assert said.evidence.endswith("so it is normal")
    value, before = re.search(
        r"level read (\S+) instead of about (\S+?) as lately\.$", back.summary
    ).groups()
    assert abs(float(value) - 101) < 4
    assert abs(float(before) - 140) < 4
    assert back.summary == proceeded(checker, table, 640)
    assert not found.shifts[0].ongoing


def proceeded(checker, table, cut):
    """Return the same of a table that came in two parts."""
    first = checker.find(table.take(slice(0, cut)))
    second = checker.find(table.take(slice(cut, table.n_rows)), first.state)
    both = [*first.incidents, *second.incidents]
    return next(each.summary for each in both if abs(each.start - 600) < 15)


def returning(n_times):
    table = tank(400 + 150 * n_times, 2)
    level = table.column_of()["level"].values
    for start in range(300, 300 + 150 * n_times, 150):
        level[start : start + 40] += 30.0
    return table


def test_what_returns_is_counted_and_listed_once():
    checker = Checker(learn(tank(3000, 0), min_support=0.05))
    table = returning(4)
    found = checker.find(table)
    led = [
        each for each in found.incidents if each.blames[0].variable == "level" and each.n_rows > 9
    ]
    assert sorted(each.start for each in led) == [300, 450, 600, 750]
    assert [each.nth for each in sorted(led, key=lambda each: each.start)] == [1, 2, 3, 4]
    assert {each.counted for each in led} == {
        *("", "2nd incident led by level", "3rd incident led by level", "4th incident led by level")
    }
    shown, n_more = to_show(found, 9)
    (also,) = [also for each, also in shown if each.id in {each.id for each in led}]
    assert also.startswith("3 more like it, about every 2 h 30 min: 1 Mar ")
    assert n_more == 0
    every, _ = to_show(found, 0)
    assert {each.id for each in led} <= {each.id for each, _ in every}
    # The count goes on from table to table.
    first = checker.find(table.take(slice(0, 500)))
    second = checker.find(table.take(slice(500, table.n_rows)), first.state)
    assert {each.id: each.nth for each in (*first.incidents, *second.incidents)} == {
        each.id: each.nth for each in found.incidents
    }


def test_what_was_there_in_the_first_row_may_be_older():
    checker = Checker(learn(tank(3000, 0), min_support=0.05))
    table = tank(300, 1)
    table.column_of()["level"].values[:] += 40.0
    found = checker.find(table)
    assert found.shifts[0].summary.startswith("Since before the first row level lies ")
    assert [each.when for each in found.differing] == ["since before the first row"]


def lamps(n_rows, seed, failed=None):
    """Return a flow, and a lamp that never changes unless the flow has failed for 20 rows."""
    random = np.random.default_rng(seed)
    flow = 5 + 0.1 * random.standard_normal(n_rows)
    lamp = np.zeros(n_rows, np.int64)
    if failed is not None:
        flow[failed : failed + 40] = 0.0
        lamp[failed + 20 : failed + 40] = 1
    times = np.datetime64("2024-03-01T00:00:00", "us") + np.arange(n_rows) * np.timedelta64(60, "s")
    return as_table({"t": times, "flow": flow, "lamp": lamp})


def test_what_never_changed_in_training_joins_the_open_incident_and_is_announced_again():
    checker = Checker(learn(lamps(3000, 0), min_support=0.05))
    (incident,) = checker.find(lamps(600, 1, failed=200)).incidents
    assert [each.variable for each in incident.blames[:2]] == ["flow", "lamp"]
    assert incident.again == ("lamp",)
    assert incident.announced == (
        "Announced again: on 1 Mar at 03:40 lamp was 1, which no training row had."
    )
    assert incident.announced in str(incident)


def test_what_differs_keeps_its_name_for_programs_and_its_title_and_unit_for_people():
    model = learn(tank(3000, 0), min_support=0.05)
    legend = Legend(units={"level": "[mm]"}, titles={"level": "tank"})
    checker = Checker(msgspec.structs.replace(model, legend=legend))
    table = tank(300, 1)
    table.column_of()["level"].values[100:] += 40.0
    found = checker.find(table)
    (level,) = found.differing
    assert (level.variable, level.heading) == ("level", legend.heading("level"))
    console = Console(width=200, file=io.StringIO(), color_system=None)
    console.print(*show_differing(found.differing))
    assert (
        f"{level.heading}  since 1 Mar 01:40  {level.offset:g} [mm] higher"
        in console.file.getvalue()
    )
    assert not found.outside  # what is in the list is not noted once more
    assert found.odd[model.schema.names.index("level")] >= 200
