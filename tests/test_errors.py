"""Errors name the culprit, carry the remedy, and let each face name settings in its own way."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truism.errors import (
    ModelFileError,
    ParameterError,
    SchemaError,
    TableError,
    TruismError,
    did_you_mean,
    shorten,
)


@pytest.mark.parametrize("kind", [SchemaError, ParameterError, TableError, ModelFileError])
def test_every_error_is_ours_and_all_but_one_are_value_errors(kind):
    assert issubclass(kind, TruismError)
    assert issubclass(kind, ValueError) == (kind is not ModelFileError)


def test_the_message_and_the_hint_stand_apart():
    problem = TableError("It is empty.", "take another.")
    assert (problem.message, problem.hint) == ("It is empty.", "take another.")
    assert str(problem).splitlines() == ["It is empty.", "Hint: take another."]
    assert str(TableError("It is empty.")) == "It is empty."


def test_advice_names_the_settings_that_help():
    name_of = "--{}".format
    assert TruismError("a", see=["b"]).advice(name_of) == "see --b."
    both = TruismError("a", "do so.", see=["b", "c"])
    assert both.advice(name_of) == "do so; see --b and --c."
    assert TruismError("a").advice(name_of) is None


def test_a_face_may_have_another_name_for_a_setting():
    problem = ParameterError.of("gap", "be at least 0", -1, "take 0.")
    assert (problem.parameter, problem.constraint, problem.value) == ("gap", "be at least 0", -1)
    assert problem.message_about("--gap") == problem.message.replace("gap", "--gap")
    assert ParameterError("Two things differ.").message_about("--gap") == "Two things differ."


def test_an_error_can_be_sent_to_another_process():
    problem = pickle.loads(pickle.dumps(TableError("It is empty.")))
    assert (type(problem), str(problem)) == (TableError, "It is empty.")


@given(st.lists(st.text(max_size=5)), st.integers(1, 8))
def test_a_message_never_lists_more_than_a_handful(names, most):
    said = shorten(names, most)
    shown = ", ".join(map(repr, names[:most]))
    rest = len(names) - most
    assert said == (f"{shown} and {rest} more" if rest > 0 else shown)


def test_a_close_name_is_guessed_and_a_far_one_is_not():
    assert "'FIT201'" in did_you_mean("FIT20", ["LIT101", "FIT201"])
    assert did_you_mean("zzz", ["LIT101", "FIT201"]) is None
    assert did_you_mean(3, ["3"]) is None
