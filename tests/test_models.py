"""A model at a glance."""

import msgspec
import pytest

from reported import HOSTILE, hostile_model
from truism.model.provenance import Trial
from truism.report.models import N_BEST, summarise, why_min_support


@pytest.fixture(scope="module")
def model():
    return hostile_model()


def test_the_summary_holds_what_a_person_asks(model):
    summary = summarise(model)
    assert (summary.n_rows, summary.n_columns) == (100, 3)
    assert summary.categorical == (HOSTILE, "flow")
    assert summary.left_out[0].name == "id"
    assert summary.why == why_min_support(model)
    assert summary.notices == tuple(map(str, model.provenance.notices))
    assert summary.notices[0] == (
        "Learned as states, because they have few different values: 'flow'. If one is a quantity, "
        "declare it continuous."
    )
    assert summary.n_rules == len(model.rules)
    assert all(rule.antecedent for rule in summary.best)


def test_rules_are_counted_by_length_and_the_best_are_the_least_likely(model):
    summary = summarise(model)
    lengths = [rule.length for rule in model.rules]
    assert dict(summary.rules_by_length) == {n: lengths.count(n) for n in set(lengths)}
    mined = [rule for rule in model.rules.sorted_by("chance") if rule.antecedent]
    assert list(summary.best) == mined[:N_BEST]
    assert summary.why_threshold == str(model.limit.origin)


def with_origin(model, origin):
    trials = (Trial(0.05, 3, 20, 3), Trial(0.1, 1, 20, 3))
    made = msgspec.structs.replace(model.provenance, support_origin=origin, trials=trials)
    return msgspec.structs.replace(model, provenance=made)


def test_every_origin_of_a_support_has_words_of_its_own(model):
    origins = ("asked", "share", "rows", "most", "untried", "fewest", "smallest")
    said = [why_min_support(with_origin(model, origin)) for origin in origins]
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
    assert "5 %" in why_min_support(with_origin(model, "fewest"))
    smallest = why_min_support(with_origin(model, "smallest"))
    assert "5 %" in smallest
    assert "15 % at 0.05" in smallest
