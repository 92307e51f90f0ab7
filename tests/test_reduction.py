"""A model without some variables: what needs them is gone, and the rest says what it said before."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from learned import learn
from strategies import NORMAL, ratios, tables, thresholds
from truism.explaining.checker import Checker
from truism.model.files import decode_model, encode_model
from truism.model.predicates import variables
from truism.model.reduction import without
from truism.scoring.scorer import Scorer
from truism.table.frames import as_table


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
        less = without(model, {name})
        assert name not in less.schema.names
        assert name not in mentioned(less)
        assert decode_model(encode_model(less)) == less
    assert without(model, ()) == model


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
    less = without(model, absent)
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
    less = without(model, {"a"})
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
            less = without(off, {name})
            assert not consequents(less.active_rules, set()) - consequents(off.active_rules, {name})


def test_a_checker_does_without_columns_and_their_changes():
    i = np.arange(300)
    normal = {"level": i % 10 * 1.5, "flow": i % 7 * 1.25}
    model = Checker(learn(as_table(normal))).model
    checker = Checker(model)
    assert checker.absent(as_table({"flow": [1.0]})) == ("level",)
    assert checker.n_columns == 2
    less = checker.without(["level"])
    assert less.absent(as_table({"flow": [1.0]})) == ()
    assert less.score(less.prepare(as_table({"flow": [1.25]}))).shape == (1,)
