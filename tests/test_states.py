"""Jobs that go on: equal to one check over all rows; states that are damaged or foreign are refused."""

import datetime
import functools
import itertools
import json
import math
import multiprocessing
import os

import msgspec
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import settings as examples
from hypothesis import strategies as st
from rich.text import Text

from learned import learn
from test_following import FAULTS, series
from test_keeping import timed
from truism import InvariantRuleDetector
from truism.errors import StateError
from truism.explain import states as jobs
from truism.explain.checker import Checker
from truism.explain.clues import (
    Contradiction,
    Lasting,
    Nearest,
    Outside,
    Rarity,
    Seen,
    UsualNumber,
    facts_of,
)
from truism.explain.findings import gravest, to_show
from truism.explain.states import (
    FILES,
    at_variables,
    decode_state,
    encode_state,
    proceed,
    read_state,
    working_on,
)
from truism.export.incidents import check_record, event_record, json_schema
from truism.model.acceptances import Acceptance
from truism.model.predicates import Interval, OneOf, Range
from truism.model.rules import Rule
from truism.plant import schedule, simulate
from truism.review.status import status
from truism.score.weighed import Violation
from truism.show.terminal import say_progress, show_findings
from truism.table.atomic import alone_with
from truism.table.columns import Column
from truism.table.frames import as_table

N = 420
STANDING = Text("Differs from training now")


@pytest.fixture(scope="module")
def checker():
    return Checker(learn(as_table(timed(series(1500))), min_support=0.05)).named("pump 1")


@pytest.fixture(scope="module")
def today():
    return as_table(timed(series(N, 1, FAULTS), 5000))


def run(checker, table, cuts, overlap=0, **options):
    """Check a table in pieces, with the state written and read again after each."""
    state, steps = None, []
    for start, end in itertools.pairwise([0, *sorted(cuts), table.n_rows]):
        part = table.take(slice(max(start - overlap, 0), end))
        steps.append(proceed(checker, part, state, **options))
        content = encode_state(steps[-1].state)
        state = decode_state(content)
        assert encode_state(state) == content
    return steps


def last_told(steps):
    found = {each.id: each.incident for step in steps for each in step.changes}
    return sorted(found.values(), key=lambda each: each.start)


def happened(steps):
    return [(each.what, each.id) for step in steps for each in step.changes]


@examples(max_examples=15, deadline=None)
@given(cuts=st.lists(st.integers(0, N), max_size=8), overlap=st.integers(0, 20))
def test_a_job_tells_what_one_check_tells(checker, today, cuts, overlap):
    steps = run(checker, today, cuts, overlap)
    (whole,) = run(checker, today, ())
    assert last_told(steps) == last_told([whole])
    assert sum(step.findings.n_rows for step in steps) == N
    for name in {each.id for each in whole.changes}:
        own = [what for what, each in happened(steps) if each == name]
        assert own[0] == "opened"
        assert own[-1] == "closed"
        assert {*own[1:-1]} <= {"updated"}


@examples(max_examples=10, deadline=None)
@given(cuts=st.lists(st.integers(0, N), max_size=8))
def test_a_job_tells_of_acceptances_what_one_check_tells(checker, today, cuts):
    some = Acceptance(("flow",), (OneOf("pump", ("off",)),), "drifts")
    more = Acceptance(("level", "heat"), (OneOf("pump", ("on",)),), "cleaned")
    model = msgspec.structs.replace(checker.model, accepted=(some, more))
    accepting = Checker(model).named("pump 1")
    (whole,) = run(accepting, today, ())
    told = last_told([whole])
    assert {note.id for each in told for note in each.accepted} == {some.id, more.id}
    assert last_told(run(accepting, today, cuts)) == told
    withdrawn = Checker(msgspec.structs.replace(checker.model, accepted=(more,))).named("pump 1")
    first = proceed(accepting, today.take(slice(0, 240))).state
    after = last_told([proceed(withdrawn, today.take(slice(240, N)), first)])
    assert {note.id for each in after for note in each.accepted} == {more.id}


@pytest.mark.parametrize("last", [math.nan, math.inf])
def test_a_job_goes_on_after_a_row_without_the_number_whose_change_matters(last):
    options = {"min_support": 0.05, "delta": True, "time": "time"}
    model = InvariantRuleDetector(**options).fit(timed(series(300))).model_
    rows = timed(series(60, 1), 5000)
    rows["level"][29] = last
    first, second = run(Checker(model), as_table(rows), [30])
    assert "level" not in decode_state(encode_state(first.state)).following.previous[""]
    (whole,) = run(Checker(model), as_table(rows), ())
    if math.isnan(last):  # of what is infinite the change is not known in the next call
        assert list(second.findings.scores) == list(whole.findings.scores[30:])


def test_the_plant_is_told_alike_hour_by_hour():
    rows = simulate(900, seed=1, attacks=schedule(900, seed=1)).columns
    plant = Checker(learn(as_table(simulate(1200, seed=0).columns), min_support=0.05))
    table = as_table(rows)
    whole = last_told(run(plant, table, ()))
    assert whole
    assert last_told(run(plant, table, range(90, 900, 90))) == whole


def test_row_by_row_one_event_opens_and_closes(checker, today):
    part = today.take(slice(40, 90))
    steps = run(checker, part, range(1, 50))
    (whole,) = run(checker, part, ())
    assert last_told(steps) == last_told([whole])
    told = happened(steps)
    assert [each for each in told if each[0] != "updated"] == happened([whole])


@pytest.mark.parametrize("options", [{}, {"gap": 2}])
@pytest.mark.parametrize("changes", [{"lookback": 0}, {"scoring": "paper"}])
def test_rows_without_a_past_form_the_same_incidents_in_a_job(today, changes, options):
    normal = timed(series(700))
    if "lookback" not in changes:  # exchangeable rows, at odd times
        normal["time"] = normal["time"][np.random.default_rng(0).permutation(700)]
    checker = Checker(learn(as_table(normal), min_support=0.05, **changes))
    assert checker.model.memory is None
    whole = run(checker, today, (), **options)
    assert len(last_told(whole)) >= 2
    for cuts in ((62, 63, 160, 161, 250), range(3, N, 3)):
        steps = run(checker, today, cuts, **options)
        assert last_told(steps) == last_told(whole)
        if checker.model.series is None and not options:
            assert all(step.is_alarming == bool(step.changes) for step in steps)
            assert all(each.start == each.end for each in last_told(steps))
            assert not run(checker, today, cuts, min_rows=2)[-1].findings.incidents


def test_rows_that_were_seen_are_skipped_and_counted(checker, today):
    steps = run(checker, today, (100, 200), overlap=30)
    assert [step.n_skipped for step in steps] == [0, 30, 30]
    late = proceed(checker, today.take(slice(0, 50)), steps[-1].state)
    assert (late.n_skipped, late.findings.n_rows, late.changes) == (50, 0, ())
    assert late.state.seen == steps[-1].state.seen
    nothing = proceed(checker, today.take(slice(0, 0)), steps[-1].state)
    assert (nothing.n_skipped, nothing.findings.n_rows) == (0, 0)


def test_without_times_every_row_is_new():
    checker = Checker(learn(as_table(series(800)), min_support=0.05, ordered=True))
    table = as_table(series(60, 1))
    steps = run(checker, table, (30,), overlap=10)
    assert [(step.n_skipped, step.findings.n_rows) for step in steps] == [(0, 30), (0, 40)]
    assert steps[-1].state.seen == {}


def test_a_row_without_a_time_is_as_new_as_the_row_before_it(checker):
    data = timed(series(20, 1), 5000)
    data["time"] = data["time"].copy()
    data["time"][[0, 5, 15]] = np.datetime64("NaT", "s")
    first = proceed(checker, as_table(timed(series(10, 1), 5000)))
    step = proceed(checker, as_table(data), first.state)
    assert (step.n_skipped, step.findings.n_rows) == (9, 11)


def test_an_alarm_is_what_opened_or_an_incident_that_goes_on(checker, today):
    steps = run(checker, today, range(30, N, 30))
    alarms = [step.is_alarming for step in steps]
    shift = [what for step in steps[5:] for what in step.changes if what.incident.kind == "shift"]
    assert [each.what for each in shift][-1] == "closed"
    opens = [True, False, True, False, False, True, True, True]
    assert alarms == [*opens, False, False, False, True, False, False]


def test_what_still_differs_from_training_is_listed_apart(checker, today):
    over = proceed(checker, today)
    assert over.findings.shifts
    assert not over.findings.differing
    assert STANDING not in list(show_findings(over.findings, 20))
    shift = over.findings.shifts[0]
    step = proceed(checker, today.take(slice(0, shift.start + 80)))
    (first, *_) = step.findings.differing
    assert first.incident == shift.id
    assert first.variable == shift.blames[0].variable
    assert (first.since, first.began) == (shift.blames[0].since, shift.blames[0].began)
    assert first.cost > 1
    for shown in (
        list(show_findings(step.findings, 20, step=step)),
        list(show_findings(step.findings, 20)),
    ):
        assert shown.count(STANDING) == 1
    # It stays in the list as long as it stands, and in the list alone once it is old.
    step = proceed(checker, today.take(slice(shift.start + 80, shift.start + 85)), step.state)
    assert {each.incident for each in step.findings.differing} == {shift.id}
    assert shift.id in {each.id for each in gravest(step.findings, 0)}
    assert shift.id not in {each.id for each, _ in to_show(step.findings, 0)[0]}
    assert STANDING in list(show_findings(step.findings, 20, step=step))


def test_rows_are_not_clean_where_a_third_is_unlike_all_of_training(checker):
    rows = timed(series(300, 2), 5000)
    assert checker.find(as_table(rows)).doubts == ()
    low = checker.model.schema.variable_of()["level"].low - 1e-6
    level = np.where(np.arange(300) < 120, low, rows["level"])
    odd = as_table({**rows, "level": level})
    found = checker.find(odd)
    assert not found.is_clean
    assert found.outside == (("level", 0.4),)
    assert any("level was unlike all training rows in 40 %" in each for each in found.doubts)
    assert status(checker, odd).verdict == "stale"


def test_what_changed_is_said_in_a_line(checker, today):
    said = [say_progress(step) for step in run(checker, today, range(30, N, 30))]
    assert said[3] == "Since the last call: nothing new."
    assert said[5] == "Since the last call: 1 incident is new."
    assert said[6] == "Since the last call: 1 incident goes on."
    assert said[7] == "Since the last call: 1 incident is new, 1 lasting change goes on."
    assert said[8] == "Since the last call: 1 incident is over, 1 lasting change goes on."
    assert said[10] == "Since the last call: 1 lasting change goes on."
    assert said[12].endswith("1 lasting change is over.")
    step = run(checker, today, ())[0]
    assert "came and went" in say_progress(step)
    assert "4 more; --top 0 shows all." in map(str, show_findings(step.findings, 1, step=step))


def test_few_rows_are_not_told_until_they_are_many(checker, today):
    plain = run(checker, today, range(5, N, 5))
    steps = run(checker, today, range(5, N, 5), min_rows=5)
    told = {each.id for each in last_told(steps)}
    assert told == {each.id for each in last_told(plain) if each.n_rows >= 5}
    assert len(told) < len(last_told(plain))
    # What was told before is told to its end, even if fewer rows than are asked for now.
    first = proceed(checker, today.take(slice(30, 62)))
    (opened,) = first.changes
    then = proceed(checker, today.take(slice(62, 100)), first.state, min_rows=50)
    assert [(each.what, each.id) for each in then.changes] == [("closed", opened.id)]


def test_a_state_belongs_to_a_model_and_a_source(checker, today):
    state = proceed(checker, today.take(slice(0, 50))).state
    other = Checker(learn(as_table(timed(series(900, 7))), min_support=0.05)).named("pump 1")
    with pytest.raises(StateError, match="belongs to another model: rules or evidence differ"):
        proceed(other, today, state)
    with pytest.raises(StateError, match="belongs to source 'pump 1', not to source 'pump 2'"):
        proceed(checker.named("pump 2"), today, state)
    with pytest.raises(StateError, match="'pump 1', not to a source without a name"):
        proceed(checker.named(None), today, state)


def test_a_state_goes_on_with_another_threshold_and_rules_switched_off(checker, today):
    state = proceed(checker, today.take(slice(0, 50))).state
    model = checker.model.with_threshold(99.0)
    rule = next(rule for rule in model.rules if rule.antecedent)
    changed = Checker(model.disable(rule.id, "why")).named("pump 1")
    step = proceed(changed, today, state)
    then = f"{checker.model.threshold:.3g}"
    assert step.notes[0].startswith(
        f"The threshold is 99; when the state was written it was {then}"
    )
    assert step.notes[1:] == (
        "What is switched off, muted or accepted has changed since the state was written.",
    )
    assert proceed(changed, today, step.state).notes == ()
    assert len(proceed(checker.muting(["heat"]), today, state).notes) == 1


def test_a_column_may_come_and_go(checker, today):
    state = proceed(checker, today.take(slice(0, 200))).state
    reduced = checker.without(["heat"])
    step = proceed(reduced, today.take(slice(200, 240)), state)
    assert "heat" not in step.state.variables
    assert not step.notes
    again = proceed(checker, today.take(slice(240, N)), decode_state(encode_state(step.state)))
    assert again.findings.n_rows == N - 240
    names = checker.model.schema.names
    turned = at_variables(state.following, names, names[::-1])
    back = at_variables(turned, names[::-1], names)
    assert encode_state(msgspec.structs.replace(state, following=back)) == encode_state(state)


def test_what_is_muted_is_never_to_blame(checker, today):
    muted = checker.muting(["heat"])
    plain = checker.prepare(today)
    shares = muted.scorer.attribute(plain)
    at = checker.model.schema.names.index("heat")
    assert not shares[:, at].any()
    assert {b.variable for each in muted.find(plain).incidents for b in each.blames} - {"heat"}
    assert all(b.variable != "heat" for each in muted.find(plain).incidents for b in each.blames)
    assert muted.named("a").scorer.muted == {"heat"}
    assert muted.without(["flow"]).scorer.muted == muted.timed(None).scorer.muted == {"heat"}
    paper = Checker(learn(as_table(series(400)), min_support=0.05, scoring="paper"))
    rows = as_table(series(50, 1, (("heat", 10, 20, 30.0),)))
    assert paper.score(rows)[10:20].all()
    assert not paper.muting(["heat"]).scorer.attribute(rows)[:, at].any()


# --- files ---


@pytest.fixture(scope="module")
def content(checker, today):
    return encode_state(run(checker, today, (160, 225))[1].state)


def forged(content, change):
    """Return a state that someone wrote by hand, with the right digest."""

    plain = json.loads(content)
    change(plain)
    return json.dumps(jobs.FILES.signed(plain)).encode()


def put(*path):
    *where, value = path

    def change(plain):
        for key in where[:-1]:
            plain = plain[key]
        plain[where[-1]] = value

    return change


NUMBERS = "Expected numbers - at `$.following.present[...].events[0].{}`"
PRESENT = ("following", "present", "")
EVENT = (*PRESENT, "events", 0)
BAD = [
    (put("variables", ["level", "level", "heat", "pump"]), "a variable is listed twice"),
    (put("variables", ["level"]), "a list does not fit the variables"),
    (put("gap", -1), "Expected `int` >= 0 - at `$.gap`"),
    (put("gap", 1 << 60), "Expected `int` <= 9007199254740991 - at `$.gap`"),
    (put("gap", "x"), "Expected `int | null`, got `str` - at `$.gap`"),
    (put("more", 1), "Object contains unknown field `more`"),
    (put("following", "more", 1), "Object contains unknown field `more` - at `$.following`"),
    (put(*PRESENT, "reference", [1]), "a list does not fit the variables"),
    (put(*PRESENT, "n_rows", 3), "what is open does not fit its rows"),
    (put(*EVENT, "blame", [1, 2]), "a list does not fit the variables"),
    (put(*EVENT, "blame", "x"), NUMBERS.format("blame")),
    (put(*EVENT, "blame", [True] * 4), NUMBERS.format("blame")),
    (put(*EVENT, "since", [1e300] * 4), NUMBERS.format("since")),
    (put(*EVENT, "since", [10**400] * 4), NUMBERS.format("since")),
    (put(*EVENT, "blame", [10**400] * 4), "int too large to convert to float"),
    (put(*EVENT, "start", 100_000), "what is open does not fit its rows"),
    (put(*EVENT, "phase", 0), "what is open does not fit its rows"),
    (put(*EVENT, "phase", 4), "what is open does not fit its rows"),
    (put(*EVENT, "series", "x"), "what is open does not fit its rows"),
    (
        put(*PRESENT, "events", [1]),
        "Expected `object`, got `int` - at `$.following.present[...].events[0]`",
    ),
    (put("following", "kept", {"-5": {}}), "what is open does not fit its rows"),
    (put("following", "kept", {}), "what is open does not fit its rows"),
    (put(*EVENT, "telling", [1] * 4), "what is open does not fit its rows"),
    (put(*EVENT, "story", 10**30), "a number is too large"),
    (put(*EVENT, "blame", [1e300] * 4), "a number is too large"),
    (put(*PRESENT, "reference", [-1e300] * 4), "a number is too large"),
    (put("following", "n_rows", 1 << 60), "a number of rows is too large, or below 0"),
    (put("seen", "", 1 << 63), "Expected `int` <= 9223372036854775807 - at `$.seen[...]`"),
    (put("zoned", True), "a time has another zone than others"),
    (put("reported", []), "Expected `object`, got `array` - at `$.reported`"),
]


@pytest.mark.parametrize(("change", "problem"), BAD)
def test_a_forged_state_gets_one_sentence(content, change, problem):
    told = f"The state file is damaged: {problem}."
    with pytest.raises(StateError) as caught:
        decode_state(forged(content, change))
    assert caught.value.message == told
    assert caught.value.hint == "restore it, or remove it to begin anew."


def test_a_state_with_a_past_of_another_period_is_refused(checker, today, content):
    def lengthen(plain):
        past = plain["following"]["scoring"][""]["past"]
        past["averages"] = past["averages"] * 2

    with pytest.raises(StateError, match="its past does not fit the model"):
        proceed(checker, today, decode_state(forged(content, lengthen)))


def test_a_state_in_which_something_died_is_refused_where_the_model_knows_no_death(today):
    checker = Checker(learn(as_table(timed(series(700))), min_support=0.05, lookback=0))
    state = encode_state(proceed(checker, today.take(slice(0, 62))).state)
    assert proceed(checker, today, decode_state(state)).changes
    died = decode_state(forged(state, put(*EVENT, "stood", [9] * 4)))
    with pytest.raises(StateError, match="its past does not fit the model"):
        proceed(checker, today, died)


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        (b"\x80\x04", "This is not a truism state file."),
        (b"[]", "This is not a truism state file."),
        (b"{", "The state file is damaged: Input data was truncated."),
        (b'{"format": "truism-model"}', "This is not a truism state file."),
        (
            b'{"format": "truism-state", "format_version": 4}',
            "The state file has format version 4, this truism reads 5.",
        ),
        (
            b'{"format": "truism-state", "format_version": 5}',
            "The state file is damaged: Object missing required field `model`.",
        ),
        (b"[" * 100_000, "This is not a truism state file."),
    ],
)
def test_other_files_are_refused(tmp_path, raw, problem):
    place = tmp_path / "a.state"
    place.write_bytes(raw)
    with pytest.raises(StateError) as caught:
        read_state(place)
    assert caught.value.message == f"{problem} ({place})"


def test_a_state_that_was_edited_is_refused(content):
    edited = content.replace(b'"gap":5', b'"gap":6')
    assert edited != content
    with pytest.raises(StateError, match="its digest does not match"):
        decode_state(edited)


@examples(max_examples=60, deadline=None)
@given(at=st.integers(0, 1 << 30), byte=st.integers(0, 255))
def test_a_damaged_state_never_raises_anything_else(content, at, byte):
    damaged = bytearray(content)
    damaged[at % len(content)] = byte
    try:
        state = decode_state(bytes(damaged))
    except StateError:
        return
    assert encode_state(state) == content


def test_files_that_cannot_be_read(tmp_path):
    assert read_state(tmp_path / "none") is None
    with pytest.raises(StateError, match="cannot be read: Is a directory"):
        read_state(tmp_path)
    large = tmp_path / "large"
    with large.open("wb") as file:
        file.truncate(FILES.max_bytes + 1)
    with pytest.raises(StateError, match="must be at most 64 MiB"):
        read_state(large)


def test_a_state_is_written_whole_and_locked_meanwhile(tmp_path, checker, today):
    place = tmp_path / "a.state"
    with working_on(place) as (state, write):
        assert state is None
        with pytest.raises(StateError) as caught, working_on(place, patience=0):
            pass
        assert (
            caught.value.message == f"The state file {str(place)!r} is in use by another program."
        )
        write(proceed(checker, today).state)
    with working_on(place) as (state, write):
        assert state.source == "pump 1"
        place.write_bytes(b"")
        with pytest.raises(StateError, match="was changed by another program meanwhile"):
            write(state)
    assert not place.exists()  # an empty one is as good as none


def test_a_job_that_fails_leaves_no_file(tmp_path):
    place = tmp_path / "a.state"

    def fail():
        with working_on(place):
            assert place.read_bytes() == b""
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert list(tmp_path.iterdir()) == []


def _die(place):
    with alone_with(place, create=True):
        os._exit(9)


def test_a_job_that_crashes_leaves_no_lock(tmp_path):
    place = tmp_path / "a.state"
    process = multiprocessing.get_context("spawn").Process(target=_die, args=(place,))
    process.start()
    process.join()
    assert process.exitcode == 9
    with working_on(place, patience=0) as (state, _):
        assert state is None


# --- records ---


def fits(value, schema, defs):
    """Return whether a value fits a JSON Schema; only what our schemas use is known here."""
    known = {"anyOf", "$ref", "type", "properties", "required", "additionalProperties", "items"}
    known |= {"enum", "const", "title", "description", "default", "discriminator"}
    assert {*schema} <= known, {*schema} - known
    if "$ref" in schema:
        return fits(value, defs[schema["$ref"].removeprefix("#/$defs/")], defs)
    if "anyOf" in schema and not any(fits(value, each, defs) for each in schema["anyOf"]):
        return False
    if "enum" in schema and value not in schema["enum"]:
        return False
    types = {
        "object": dict, "array": list, "string": str, "boolean": bool, "null": type(None),
        "number": (int, float), "integer": int,
    }  # fmt: skip
    kind = schema.get("type")
    if kind and not isinstance(value, types[kind]):
        return False
    if kind in ("number", "integer") and isinstance(value, bool):
        return False
    if isinstance(value, list) and "items" in schema:
        return all(fits(each, schema["items"], defs) for each in value)
    if isinstance(value, dict):
        named, more = schema.get("properties", {}), schema.get("additionalProperties", True)
        return {*schema.get("required", ())} <= {*value} and all(
            fits(each, named[name], defs)
            if name in named
            else more is True or (more is not False and fits(each, more, defs))
            for name, each in value.items()
        )
    return True


def test_records_fit_their_schema(checker, today):
    schema = json_schema()
    defs = schema["$defs"]
    checker = checker.named("pump 1", "plant")
    (step,) = run(checker, today.take(slice(0, 280)), ())
    found = step.findings
    check = check_record(found, checker.origin, gravest(found, 0))
    events = [event_record(each) for each in step.changes]
    records = {"CheckRecord": [check], "Event": events, "Incident": check.incidents}
    for name, values in records.items():
        assert values
        for value in values:
            plain = json.loads(msgspec.json.encode(value))
            assert fits(plain, defs[name], defs)
            assert fits(plain, {"anyOf": schema["anyOf"]}, defs)
            assert not fits({**plain, "more": 1}, defs[name], defs)
            assert not fits({**plain, "threshold": "x"}, defs[name], defs)
    assert set(events[0]) == {"event", *check.incidents[0].__struct_fields__}
    assert events[0]["event"] == "opened"
    assert events[0]["state"] == "open"
    assert events[0]["model"] == {"name": "plant", "version": checker.model.id}
    assert (events[0]["source"], events[0]["threshold"]) == ("pump 1", checker.model.threshold)
    assert not fits({}, {"enum": [1]}, defs)
    assert not fits(True, {"type": "integer"}, defs)


def test_reasons_are_told_as_values_too():
    low, states = Interval("x", high=2.0), OneOf("u", ("a", "b"))
    rule = Rule((states,), (low,), 9)
    broken = facts_of(Violation(rule, low, (float("inf"),), 1.0))
    assert json.loads(msgspec.json.encode(broken)) == {
        "expected": [{"type": "interval", "variable": "x", "high": 2.0}],
        "found": {"x": "inf"},
        "because": [{"type": "one_of", "variable": "u", "values": ["a", "b"]}],
        "usual": None,
    }
    number = facts_of(Contradiction("x", 3.0, low, (), UsualNumber(1.0, 0.5, 0.1, False), 7, 1.0))
    assert (number.usual.mean, number.usual.spread, number.found) == (1.0, 0.5, {"x": 3.0})
    vague = facts_of(Contradiction("x", 3.0, None, (), UsualNumber(1.0, 0.5, 0.1, False), 7, 1.0))
    assert vague.expected == ()
    beyond = facts_of(Outside("x", 9.0, 1.0, 2.0, 1.0))
    assert (beyond.expected, beyond.found) == ((Range("x", 1.0, 2.0),), {"x": 9.0})
    rare = facts_of(Rarity("x", None, Nearest(None, 4.0), Seen(0, "near"), 1.0, False))
    assert (rare.expected, rare.found) == ((Interval("x", low=4.0),), {"x": None})
    assert facts_of(Rarity("u", "c", states, Seen(0, "near"), 1.0, True)).expected == (states,)
    assert facts_of(Lasting("x", 3, 1.0)).found == {}


# --- whatever is written can be read ---


ZONES = st.sampled_from([None, "UTC", "Europe/Vienna", "-11:30"])
FIRST, LAST = datetime.datetime.min, datetime.datetime.max
MOMENTS = st.datetimes(FIRST, LAST)
SECONDS = (1e-6, 1.0, 60.0, 86_400.0, 400 * 86_400.0)


@examples(max_examples=30, deadline=None)
@example(FIRST, 1.0, {}, "-11:30", 30)
@example(LAST - datetime.timedelta(seconds=40), 1.0, {}, "Europe/Vienna", 30)
@example(datetime.datetime(1890, 1, 1), 60.0, {}, "Europe/Vienna", 30)
@given(
    begin=MOMENTS,
    step=st.sampled_from(SECONDS),
    fillers=st.dictionaries(st.integers(0, 59), st.one_of(st.none(), MOMENTS), max_size=9),
    zone=ZONES,
    cut=st.integers(0, 60),
)
def test_whatever_the_times_are_a_state_can_be_read(
    checker, today, begin, step, fillers, zone, cut
):
    usual = [
        FIRST + (begin - FIRST + row * datetime.timedelta(seconds=step)) % (LAST - FIRST)
        for row in range(60)
    ]
    moments = [fillers.get(row, usual[row]) for row in range(60)]
    times = np.array([each or FIRST for each in moments], "datetime64[us]")
    missing = np.array([each is None for each in moments])
    column = Column("time", "time", times, missing, zoned=zone is not None, zone=zone)
    table = today.take(slice(40, 100))
    others = [each for each in table.columns if each.name != "time"]
    table = msgspec.structs.replace(table, columns=(column, *others))
    for step in run(checker, table, [cut]):
        ids = [each.id for each in step.changes]
        assert ids == [each.incident.id for each in step.changes]
        assert str(step.findings.incidents)


@examples(max_examples=20, deadline=None)
@given(
    values=st.lists(st.one_of(st.none(), st.floats(), st.floats(-30, 30)), min_size=1, max_size=40)
)
@pytest.mark.parametrize("delta", [False, True])
def test_whatever_the_rows_hold_a_state_can_be_read(values, delta):
    rows = timed(series(len(values), 1), 5000)
    rows["heat"] = values
    run(changing(delta), as_table(rows), [len(values) // 2])


@functools.lru_cache
def changing(delta):
    options = {"min_support": 0.05, "delta": delta, "time": "time"}
    return Checker(InvariantRuleDetector(**options).fit(timed(series(300))).model_)


# --- series that end ---


@functools.lru_cache
def of_batches():
    normal = timed(series(1200)) | {"batch": [str(row // 300) for row in range(1200)]}
    return Checker(learn(as_table(normal), min_support=0.05, by="batch", ordered=True))


def batches(n, wrong=()):
    """Return an hour of each of some batches, ten days apart."""
    rows = timed(series(60 * n, 1, [("heat", 60 * at + 50, 60 * at + 60, 50.0) for at in wrong]))
    days = np.arange(60 * n) // 60 * np.timedelta64(10, "D")
    return as_table(
        rows | {"time": rows["time"] + days, "batch": [f"b{row // 60}" for row in range(60 * n)]}
    )


def test_series_without_rows_are_let_go_and_what_is_open_in_them_is_over():
    table = batches(8, wrong=[1])
    steps = run(of_batches(), table, range(60, 480, 60), retain=30 * 86_400)
    last, sizes = steps[-1].state, [len(encode_state(each.state)) for each in steps]
    assert sorted(last.following.present) == sorted(last.seen) == ["b5", "b6", "b7"]
    assert max(sizes[4:]) < 1.2 * sizes[3]
    assert [each.notes for each in steps[:3]] == [()] * 3
    assert steps[4].notes == ("1 series has had no rows for 30 days and is dropped: 'b1'.",)
    (opened,) = [each for each in steps[1].changes if each.incident.series == "b1"]
    (closed,) = [each for each in steps[4].changes if each.incident.series == "b1"]
    assert (opened.what, closed.what, opened.id) == ("opened", "closed", closed.id)
    assert not closed.incident.ongoing
    again = proceed(of_batches(), table, steps[-1].state, retain=30 * 86_400)
    assert (again.n_skipped, again.changes) == (480, ())
    forever = run(of_batches(), table, range(60, 480, 60))[-1]
    assert len(forever.state.seen) == 8


def test_a_state_that_would_be_too_large_is_not_written(monkeypatch, tmp_path):

    state = proceed(of_batches(), batches(3)).state
    small = msgspec.structs.replace(jobs.FILES, max_bytes=1 << 11)
    monkeypatch.setattr(jobs, "FILES", small)
    place = tmp_path / "a.state"
    with working_on(place) as (_, write), pytest.raises(StateError) as caught:
        write(state)
    assert caught.value.message == "A state file must be at most 0 MiB, got 0.0 MiB for 3 series."
    assert not place.exists()
