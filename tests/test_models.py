"""Why a model has its θ, in words, and what is in doubt about it."""

import msgspec
import pytest

from reported import hostile_model
from truism.model.provenance import Trial


@pytest.fixture(scope="module")
def model():
    return hostile_model()


def with_origin(model, origin):
    trials = (Trial(0.05, 3, 20, 3), Trial(0.1, 1, 20, 3))
    made = msgspec.structs.replace(model.provenance, support_origin=origin, trials=trials)
    return msgspec.structs.replace(model, provenance=made)


def test_every_origin_of_a_support_has_words_of_its_own(model):
    origins = ("asked", "share", "rows", "most", "untried", "fewest", "smallest")
    said = [with_origin(model, origin).provenance.why_support for origin in origins]
    assert all(said)
    assert len(set(said)) == len(origins)


def test_only_what_makes_false_alarms_likely_is_a_doubt_and_in_plain_words(model):
    for origin in ("asked", "share", "rows", "most", "smallest"):
        assert with_origin(model, origin).doubts == ()
    assert with_origin(model, "untried").doubts == (
        "The model was learned from few rows; expect false alarms.",
    )
    assert with_origin(model, "fewest").doubts == (
        "About 5% of normal rows that are new to the model break a rule; expect false alarms.",
    )


def test_why_names_the_rates_that_decided(model):
    assert "5 %" in with_origin(model, "fewest").provenance.why_support
    smallest = with_origin(model, "smallest").provenance.why_support
    assert "5 %" in smallest
    assert "15 % at 0.05" in smallest
