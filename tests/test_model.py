"""A model is one value; editing gives another."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from learned import breaks_mined_rule, learn
from strategies import NORMAL, ratios, settings_values, tables, thresholds
from truism.errors import ParameterError
from truism.explain.checker import Checker
from truism.explain.explanations import explain_rows
from truism.model.files import decode_model, encode_model
from truism.model.predicates import variables
from truism.model.provenance import ByHand, Calibrated, Disabled, Trial
from truism.model.settings import Settings, exact
from truism.score.scorer import Scorer
from truism.table.frames import as_table


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"min_support": 0.0}, "min_support must be 'auto' or above 0 and below 1, got 0.0."),
        ({"min_support": 1.0}, "min_support must be 'auto' or above 0 and below 1, got 1.0."),
        ({"min_support": -0.1}, "min_support must be 'auto' or above 0 and below 1, got -0.1."),
        ({"min_support": math.nan}, "min_support must be 'auto' or above 0 and below 1, got nan."),
        ({"min_support": "0.1"}, "min_support must be 'auto' or above 0 and below 1, got '0.1'."),
        ({"min_support": None}, "min_support must be 'auto' or above 0 and below 1, got None."),
        ({"min_support": True}, "min_support must be 'auto' or above 0 and below 1, got True."),
        (
            {"support_ratio": 1.0},
            "support_ratio must be 'auto' or at least 0 and below 1, got 1.0.",
        ),
        (
            {"support_ratio": -0.5},
            "support_ratio must be 'auto' or at least 0 and below 1, got -0.5.",
        ),
        (
            {"support_ratio": "x"},
            "support_ratio must be 'auto' or at least 0 and below 1, got 'x'.",
        ),
        ({"max_predicates": 1}, "max_predicates must be a whole number of at least 2, got 1."),
        ({"max_predicates": 2.5}, "max_predicates must be a whole number of at least 2, got 2.5."),
        (
            {"max_predicates": True},
            "max_predicates must be a whole number of at least 2, got True.",
        ),
        ({"max_predicates": 17}, "max_predicates must be at most 16, got 17."),
        ({"max_nodes": 0}, "max_nodes must be a whole number of at least 1, got 0."),
        ({"random_state": -1}, "random_state must be a whole number of at least 0, got -1."),
        ({"max_rules": 0}, "max_rules must be a whole number of at least 1, got 0."),
        ({"cutoffs": "tee"}, "cutoffs must be 'tree' or 'uniform' or 'kmeans', got 'tee'."),
        ({"scoring": "magic"}, "scoring must be 'evidence' or 'paper', got 'magic'."),
    ],
)
def test_settings_out_of_range_are_refused(changes, message):
    with pytest.raises(ParameterError) as caught:
        Settings(**changes)
    assert str(caught.value) == message


@given(settings_values)
def test_settings_are_values(settings):
    assert hash(settings) == hash(
        Settings(**{n: getattr(settings, n) for n in settings.__struct_fields__})
    )


@given(st.floats(1e-6, 1, exclude_max=True))
def test_a_setting_is_the_decimal_it_prints_as(value):
    assert exact(value) == Fraction(repr(value))
    assert float(exact(value)) == value


def test_a_trial_knows_its_rate():
    assert Trial(0.1, 3, 200, 4).rate == 0.015


def test_disabling_gives_a_new_model_and_leaves_the_old(model, pumps):
    rule = model.rules.sorted_by("chance")[0]
    edited = model.disable(rule.id, "sensor replaced", "2024-05-01")
    assert model.disabled == ()
    assert edited.disabled == (Disabled(rule.id, "sensor replaced", "2024-05-01"),)
    assert rule in edited.rules
    assert rule not in edited.active_rules
    assert edited.enable(rule.id) == model
    again = edited.disable(rule.id, "for another reason")
    assert again.disabled == (Disabled(rule.id, "for another reason"),)


def test_a_disabled_rule_neither_scores_nor_explains(model, pumps):
    row = as_table({name: [column[0]] for name, column in pumps.items()} | {"FIT201": [0.0]})
    broken = Scorer(model).violations(row)[0]
    assert broken
    edited = model
    for violation in broken:
        edited = edited.disable(violation.rule.id, "test")
    assert Scorer(edited).violations(row) == [[]]
    assert not breaks_mined_rule(edited, row).any()
    reasons = [
        r for blame in explain_rows(Scorer(edited), row, [0])[0].blames for r in blame.reasons
    ]
    assert not any(reason.rule for reason in reasons)
    assert Scorer(edited).score(row)[0] <= Scorer(model).score(row)[0]


def test_without_its_broken_rules_a_row_scores_zero_in_the_papers_score(pumps):
    model = learn(as_table(pumps), min_support=0.1, support_ratio=0.5, scoring="paper")
    row = as_table({name: [column[0]] for name, column in pumps.items()} | {"FIT201": [0.0]})
    assert Scorer(model).score(row)[0] > 0
    for violation in Scorer(model).violations(row)[0]:
        model = model.disable(violation.rule.id, "test")
    assert Scorer(model).score(row).tolist() == [0.0]


@pytest.mark.parametrize("reason", ["", "  ", None])
def test_disabling_needs_a_reason(model, reason):
    with pytest.raises(ParameterError) as caught:
        model.disable(model.rules[0].id, reason)
    assert str(caught.value) == f"reason must say why the rule is disabled, got {reason!r}."


def test_only_what_is_disabled_can_be_enabled(model):
    rule_id = model.rules[0].id
    with pytest.raises(ParameterError) as caught:
        model.enable(rule_id)
    assert str(caught.value) == f"rule_id must be the id of a disabled rule, got {rule_id!r}."
    for edit in (model.enable, lambda name: model.disable(name, "x")):
        with pytest.raises(ParameterError, match=r"^rule_id must be the id of a rule of the model"):
            edit("nonsense")


@pytest.mark.parametrize("threshold", [-1.0, math.nan, math.inf, True, "high", None])
def test_a_threshold_is_a_finite_number_of_at_least_zero(model, threshold):
    with pytest.raises(ParameterError) as caught:
        model.with_threshold(threshold)
    assert (
        str(caught.value) == f"threshold must be a finite number of at least 0, got {threshold!r}."
    )


def test_a_threshold_can_be_changed(model):
    before = model.threshold
    edited = model.with_threshold(before + 2)
    assert (model.threshold, edited.threshold) == (before, before + 2)
    assert edited.limit.origin == ByHand()
    assert edited != model


def test_models_are_values(model):
    assert hash(model) == hash(model.with_threshold(model.threshold))
    assert model.with_threshold(model.threshold) == model
    # The same number can be chosen for another reason.
    again = model.with_threshold(model.threshold, Calibrated(3, 100))
    assert str(again.limit.origin) == "3 of 100 calibration rows (3 %) exceed it"
    assert again != model
    with pytest.raises(AttributeError):
        model.threshold = 3.0


def mentioned(model):
    """Return every variable that anything in a model is about."""
    names = {name for rule in model.rules for name in rule.variables}
    names |= {name for each in model.rules.predicates for name in variables(each.predicate)}
    if model.evidence is not None:
        names |= {each.variable for each in model.evidence.splits}
        names |= {each.variable for each in model.evidence.spacings}
    return names


@pytest.mark.parametrize("scoring", ["evidence", "paper"])
def test_nothing_is_said_about_what_is_absent(scoring):
    model = learn(as_table(NORMAL), min_support=0.1, scoring=scoring)
    for name in model.schema.names:
        less = model.without({name})
        assert name not in less.schema.names
        assert name not in mentioned(less)
        assert decode_model(encode_model(less)) == less
    assert model.without(()) == model


def consequents(rules, absent):
    """Return what unit rules say, but for those that need an absent variable."""
    units = [(rule.antecedent, each, rule.count) for rule in rules for each in rule.consequents]
    return {
        (before, each, count)
        for before, each, count in units
        if not absent & {name for part in (*before, each) for name in variables(part)}
    }


@examples(max_examples=40)
@given(tables(max_columns=4), thresholds, ratios, st.sampled_from(["evidence", "paper"]), st.data())
def test_any_model_does_without_any_variables(data, min_support, ratio, scoring, draw):
    table = as_table(data)
    model = learn(table, min_support=min_support, support_ratio=ratio, scoring=scoring)
    names = model.schema.names
    absent = draw.draw(st.sets(st.sampled_from(names), max_size=len(names) - 1))
    less = model.without(absent)
    assert not absent & mentioned(less)
    assert consequents(less.rules, set()) == consequents(model.rules, absent)
    assert decode_model(encode_model(less)) == less
    scores = Scorer(less).score(table)
    assert np.isfinite(scores).all()
    parts = Scorer(less).attribute(table)
    assert parts.shape == (table.n_rows, len(less.schema.names))
    assert np.allclose(parts.sum(axis=1), scores)
    if scoring == "paper":  # what is unknown speaks against nobody
        whole = dict(zip(names, Scorer(model).attribute(table).T, strict=True))
        for name, part in zip(less.schema.names, parts.T, strict=True):
            assert (part <= whole[name] + 1e-9).all()


def test_contexts_that_ask_for_an_absent_variable_are_not_asked():
    i = np.arange(600)
    data = {"a": i % 7 * 1.0, "b": i % 7 * 2.0, "c": i % 5 * 1.0, "d": i % 5 * 3.0 + 1}
    model = learn(as_table(data))
    less = model.without({"a"})
    asked = {
        model.evidence.splits[node].variable
        for c in model.evidence.contexts
        for node in c.tree
        if node >= 0
    }
    assert "a" in asked
    place = {name: i for i, name in enumerate(model.schema.names)}
    kept = [
        context
        for context in model.evidence.contexts
        if all(node < 0 or model.evidence.splits[node].variable != "a" for node in context.tree)
        and {*context.numbers, *context.states} - {place["a"]}
    ]
    assert [each.counts for each in less.evidence.contexts] == [each.counts for each in kept]
    assert 0 < len(kept) < len(model.evidence.contexts)
    for before, after in zip(kept, less.evidence.contexts, strict=True):
        judged = {
            model.schema.names[i]: [leaf[at] for leaf in before.means]
            for at, i in enumerate(before.numbers)
        }
        judged.pop("a", None)
        assert judged == {
            less.schema.names[i]: [leaf[at] for leaf in after.means]
            for at, i in enumerate(after.numbers)
        }


def test_a_rule_that_is_off_stays_off():
    model = learn(as_table(NORMAL), min_support=0.1)
    several = [rule for rule in model.rules if len(rule.variables) > 1]
    for rule in several[:20]:
        off = model.disable(rule.id, "because")
        for name in rule.variables:
            less = off.without({name})
            assert not consequents(less.active_rules, set()) - consequents(off.active_rules, {name})


def test_a_checker_does_without_columns_and_their_changes():
    i = np.arange(300)
    normal = {"level": i % 10 * 1.5, "flow": i % 7 * 1.25}
    model = Checker(learn(as_table(normal))).model
    checker = Checker(model)
    assert checker.absent(as_table({"flow": [1.0]})) == ("level",)
    assert len(checker.needed) == 2
    less = checker.without(["level"])
    assert less.absent(as_table({"flow": [1.0]})) == ()
    assert less.score(less.prepare(as_table({"flow": [1.25]}))).shape == (1,)
