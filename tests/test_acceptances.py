"""Acceptances as values: names, checks, and the section of the model file."""

import json

import msgspec
import pytest

from learned import learn
from strategies import NORMAL
from truism.errors import ModelFileError, ParameterError
from truism.explaining.checker import Checker
from truism.explaining.states import proceed
from truism.model.acceptances import (
    HOUR,
    Acceptance,
    Allowance,
    Case,
    check_text,
    check_until,
    mute,
    with_clock,
)
from truism.model.files import _digest, decode_model, encode_model
from truism.model.predicates import AnyOf, Interval, OneOf
from truism.table.frames import as_table

ON = OneOf("P101", ("on",))
CASE = Case((ON, Interval("hour", 3.0, 4.0)), (Allowance("FIT201", 1.5, 2.5, 0.25),), 50)
VALVE_TEST = Acceptance((CASE,), "valve test", "Ana", "2025-08-03", "2025-08-31", 12)


@pytest.fixture(scope="module")
def model():
    return learn(as_table(NORMAL), min_support=0.1)


def test_an_acceptance_has_a_name_that_follows_from_what_it_says():
    assert VALVE_TEST.id == msgspec.structs.replace(VALVE_TEST, who="Ben", date=None).id
    assert VALVE_TEST.id != msgspec.structs.replace(VALVE_TEST, until=None).id
    assert VALVE_TEST.variables == ("FIT201",)
    assert str(CASE) == "P101 = on and 3 ≤ hour < 4"
    assert str(Case((), ())) == "always"


def test_points_are_the_most_that_is_allowed():
    assert Allowance("x", 1.5, 2.5, 0.25).points == 2.75
    assert Allowance("x", 1.5, None, 0.25).points is None


def test_muting_all_is_told_from_allowing_something(model):
    every = mute((ON,), model.schema.names)
    assert Acceptance((every,), "stopped").mutes_all(model.schema)
    assert not VALVE_TEST.mutes_all(model.schema)
    assert not Acceptance((mute((ON,), ("FIT201",)),), "no").mutes_all(model.schema)


def test_a_model_takes_acceptances_and_gives_them_back(model):
    edited = model.accept(VALVE_TEST)
    assert edited.accepted == (VALVE_TEST,)
    assert edited.id == model.id
    assert edited.withdraw(VALVE_TEST.id) == model
    with pytest.raises(ParameterError, match=r"The same is accepted already, as '\w{8}'\."):
        edited.accept(VALVE_TEST)
    with pytest.raises(ParameterError) as problem:
        edited.withdraw("nothing")
    assert str(problem.value) == (
        f"undo must be the id of an acceptance, got 'nothing'.\nHint: there are {VALVE_TEST.id}."
    )
    with pytest.raises(ParameterError, match="nothing is accepted in this model"):
        model.withdraw("nothing")


def test_the_file_has_a_section_for_them(model):
    content = encode_model(model.accept(VALVE_TEST))
    assert json.loads(content)["sections"]["accepted"] == 1
    assert decode_model(content) == model.accept(VALVE_TEST)
    assert b'"accepted"' not in encode_model(model)


LOW = Case((Interval("P101", low=3.0),), CASE.allowed)
NEVER = AnyOf((ON, OneOf("mode", ("never",))))


NOTHING = "an acceptance is missing or listed twice"
EMPTY = "an acceptance has no reason or no case"
UNKNOWN = "an allowance is missing, about an unknown variable or listed twice"
FIRST = "$.accepted[0]"


def accepted(*cases, reason="no", **more):
    return (Acceptance(cases, reason, **more),)


@pytest.mark.parametrize(
    ("accepted", "problem", "place"),
    [
        ((), NOTHING, "$.accepted"),
        ((VALVE_TEST,) * 2, NOTHING, "$.accepted"),
        (accepted(), EMPTY, FIRST),
        (accepted(CASE, reason=""), EMPTY, FIRST),
        (accepted(CASE, until="soon"), "out of range", FIRST),
        (accepted(CASE, n_rows=-1), "out of range", FIRST),
        (accepted(Case((), (Allowance("P101", -1.0),))), "out of range", FIRST),
        (accepted(mute((), ("x",))), UNKNOWN, FIRST),
        (accepted(mute((), ())), UNKNOWN, FIRST),
        (accepted(LOW), "a condition does not fit 'P101'", FIRST),
        (accepted(mute((NEVER,), ("mode",))), "a condition does not fit 'mode'", FIRST),
        (
            accepted(mute((OneOf("x", ("a",)),), ("mode",))),
            "a condition does not fit 'x'",
            FIRST,
        ),
    ],
)
def test_a_file_that_accepts_what_cannot_be_is_refused(model, accepted, problem, place):
    content = encode_model(msgspec.structs.replace(model, accepted=accepted))
    with pytest.raises(ModelFileError) as found:
        decode_model(content)
    assert str(found.value) == f"The model file is damaged: {problem} - at `{place}`."


def test_a_file_whose_sections_do_not_fit_is_refused(model):
    content = json.loads(encode_model(model))
    content["sections"]["accepted"] = 1
    content["digest"] = _digest(content)
    with pytest.raises(ModelFileError, match=r"sections do not fit - at `\$\.sections`"):
        decode_model(json.dumps(content).encode())


def test_a_reduced_model_forgets_what_it_cannot_know(model):
    both = Case((ON,), (Allowance("FIT201"), Allowance("mode")))
    edited = model.accept(VALVE_TEST).accept(Acceptance((both,), "no"))
    kept = edited.without({"FIT201"}).accepted
    assert [each.variables for each in kept] == [("mode",)]
    assert edited.without({"P101"}).accepted is None


def test_a_clock_stands_beside_the_variables_unless_they_have_its_name(model):
    assert with_clock(model.schema).names == (*model.schema.names, "hour", "weekday")
    own = msgspec.structs.replace(model.schema, variables=(HOUR,))
    assert with_clock(own).names == ("hour", "weekday")


@pytest.mark.parametrize("text", ["", "  ", None, "bad \ud800"])
def test_a_reason_must_say_something(text):
    with pytest.raises(ParameterError, match="reason must"):
        check_text("reason", text)


def test_an_end_is_a_date():
    assert check_until(None) is None
    assert check_until("2025-08-31") == "2025-08-31"
    for text in ("soon", "2025-13-01", 7):
        with pytest.raises(ParameterError, match=r"until must be a date such as 2025-08-31, got "):
            check_until(text)


def test_a_state_goes_on_with_a_note_when_what_is_accepted_has_changed(model):
    rows = as_table(NORMAL)
    state = proceed(Checker(model), rows).state
    step = proceed(Checker(model.accept(VALVE_TEST)), rows, state)
    said = "What is switched off, muted or accepted has changed since the state was written."
    assert step.notes == (said,)
