"""Acceptances as values: names, checks, and the section of the model file."""

import json

import msgspec
import pytest

from learned import learn
from strategies import NORMAL
from truism.errors import ModelFileError, ParameterError
from truism.explain.checker import Checker
from truism.explain.states import proceed
from truism.model.acceptances import Acceptance, check_text, check_until
from truism.model.files import decode_model, encode_model
from truism.model.predicates import AnyOf, Interval, OneOf
from truism.table.frames import as_table

ON, FULL = OneOf("P101", ("on",)), OneOf("FIT201", (2.6, 2.7))
VALVE_TEST = Acceptance(
    ("FIT201",), (ON, FULL), "valve test", "Ana", "2025-08-03", "2025-08-31", 12
)


@pytest.fixture(scope="module")
def model():
    return learn(as_table(NORMAL), min_support=0.1)


def test_an_acceptance_has_a_name_that_follows_from_what_it_says():
    assert VALVE_TEST.id == msgspec.structs.replace(VALVE_TEST, who="Ben", date=None).id
    assert VALVE_TEST.id != msgspec.structs.replace(VALVE_TEST, until=None).id
    assert VALVE_TEST.id != msgspec.structs.replace(VALVE_TEST, conditions=(ON,)).id


def test_an_acceptance_is_said_in_one_line(model):
    said = VALVE_TEST.say(model.schema, model.words)
    assert said == (
        "FIT201 where P101 = on and FIT201 in {2.6, 2.7}; accepted on 3 Aug 2025 by Ana: valve test "
        "(until 31 Aug 2025)"
    )
    every = Acceptance(model.schema.names, (ON,), "stopped")
    assert every.name_variables(model.schema) == "all variables"
    many = msgspec.structs.replace(every, variables=tuple("abcdefg"))
    assert many.name_variables(model.schema) == "a, b, c, d, e and 2 more"


def test_a_model_takes_acceptances_and_gives_them_back(model):
    edited = model.accept(VALVE_TEST)
    assert edited.accepted == (VALVE_TEST,)
    assert edited.id == model.id
    assert edited.withdraw(VALVE_TEST.id) == model
    with pytest.raises(ParameterError, match=r"This is accepted already, as '\w{8}'\."):
        edited.accept(VALVE_TEST)
    with pytest.raises(ParameterError) as problem:
        edited.withdraw("nothing")
    assert str(problem.value) == (
        f"undo must be the id of an acceptance, got 'nothing'.\nHint: there are {VALVE_TEST.id}."
    )
    with pytest.raises(ParameterError, match="nothing is accepted in this model"):
        model.withdraw("nothing")


def test_the_file_holds_them(model):
    content = encode_model(model.accept(VALVE_TEST))
    assert len(json.loads(content)["accepted"]) == 1
    assert decode_model(content) == model.accept(VALVE_TEST)
    assert b'"accepted"' not in encode_model(model)


LOW, STRANGE = Interval("P101", low=3.0), OneOf("P101", (3,))
NOTHING = "Expected `array` of length >= 1"
UNKNOWN = "a variable is unknown or listed twice"
FIRST = "$.accepted[0]"


def accepted(*conditions, names=("FIT201",), reason="no", **more):
    return (Acceptance(names, conditions, reason, **more),)


@pytest.mark.parametrize(
    ("accepted", "problem", "place"),
    [
        ((), NOTHING, "$.accepted"),
        ((VALVE_TEST,) * 2, "an acceptance is listed twice", "$.accepted"),
        (accepted(), NOTHING, f"{FIRST}.conditions"),
        (accepted(ON, reason=""), "Expected `str` of length >= 1", f"{FIRST}.reason"),
        (accepted(ON, n_rows=-1), "Expected `int` >= 0", f"{FIRST}.n_rows"),
        (accepted(ON, names=("x",)), UNKNOWN, FIRST),
        (accepted(ON, names=()), NOTHING, f"{FIRST}.variables"),
        (accepted(ON, names=("mode", "mode")), UNKNOWN, FIRST),
        (accepted(LOW), "a condition does not fit its variable", FIRST),
        (accepted(AnyOf((ON, STRANGE))), "a condition does not fit its variable", FIRST),
        (accepted(OneOf("x", ("a",))), "a condition does not fit its variable", FIRST),
    ],
)
def test_a_file_that_accepts_what_cannot_be_is_refused(model, accepted, problem, place):
    content = encode_model(msgspec.structs.replace(model, accepted=accepted))
    with pytest.raises(ModelFileError) as found:
        decode_model(content)
    assert found.value.message == f"The model file is damaged: {problem} - at `{place}`."


def test_a_reduced_model_forgets_what_it_cannot_know(model):
    edited = model.accept(VALVE_TEST).accept(Acceptance(("FIT201", "mode"), (ON,), "no"))
    kept = edited.without({"FIT201"}).accepted
    assert [each.variables for each in kept] == [("mode",)]
    assert edited.without({"P101"}).accepted is None


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
        with pytest.raises(ParameterError, match="until must be a date"):
            Acceptance(("mode",), (ON,), "no", until=text)


def test_a_state_goes_on_with_a_note_when_what_is_accepted_has_changed(model):
    rows = as_table(NORMAL)
    state = proceed(Checker(model), rows).state
    step = proceed(Checker(model.accept(VALVE_TEST)), rows, state)
    said = "What is switched off, muted or accepted has changed since the state was written."
    assert step.notes == (said,)
