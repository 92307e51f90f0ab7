"""Two models compared: what is new, gone, changed or unchanged, whichever of them comes first."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learned import learn
from strategies import NORMAL, learned, tables
from truism.model.comparison import (
    Change,
    KindChange,
    ModelComparison,
    StateChange,
    VariableChanges,
    compare_models,
)
from truism.model.origins import ByHand, Threshold
from truism.model.predicates import Interval, OneOf
from truism.model.rules import PredicateCount, Rule, RuleSet, rule_order
from truism.table.frames import as_table

replace = msgspec.structs.replace
DATA = {**NORMAL, "FIT201": [(2.5 if i % 2 == 0 else 0.0) + 0.01 * (i % 23) for i in range(100)]}
ON, OFF = OneOf("P101", ("on",)), OneOf("P101", ("off",))


@pytest.fixture(scope="module")
def model():
    return learn(as_table(DATA), min_support=0.1)


def flow(low):
    return Interval("FIT201", low=low)


def with_rules(model, *rules):
    """The model with these rules instead of its own."""
    predicates = {each for rule in rules for each in (*rule.antecedent, *rule.consequents)}
    counts = tuple(PredicateCount(each, 50, 50, 50) for each in predicates)
    return replace(model, rules=RuleSet(tuple(sorted(rules, key=rule_order)), 100, counts))


def texts(claims):
    return [each.text for each in claims]


def test_a_model_against_itself_is_the_same(model):
    found = compare_models(model, model)
    assert found.same
    assert found.rules.n_unchanged == found.old.n_claims > 0
    assert (found.variables, found.changes) == (VariableChanges(), ())


def test_the_date_is_no_difference_and_the_threshold_is(model):
    later = replace(model, provenance=replace(model.provenance, created="2024-05-01"))
    assert compare_models(model, later).same
    found = compare_models(model, model.with_threshold(3.5))
    assert not found.same
    assert [(each.topic, each.name, each.new) for each in found.changes] == [
        ("threshold", "value", 3.5),
        ("threshold", "origin", "set by hand"),
    ]


def test_variables_are_added_gone_and_of_another_kind(model):
    data = {
        "P101": [1, 0] * 50,
        "FIT201": DATA["FIT201"],
        "level": [float(i * 7 % 31) for i in range(100)],
    }
    found = compare_models(model, learn(as_table(data), min_support=0.1)).variables
    assert found.added == ("level",)
    assert found.gone == ("mode",)
    assert found.other_kind == (KindChange("P101", "states (text)", "states (number)"),)
    back = compare_models(learn(as_table(data), min_support=0.1), model).variables
    assert (back.added, back.gone) == (found.gone, found.added)


def test_states_that_only_one_model_has_seen(model):
    data = {**DATA, "P101": ["on", "idle"] * 50}
    found = compare_models(model, learn(as_table(data), min_support=0.1)).variables
    assert found == VariableChanges(other_states=(StateChange("P101", ("idle",), ("off",)),))


def test_rules_are_compared_one_consequent_at_a_time(model):
    idle = OneOf("mode", ("auto",))
    old = with_rules(model, Rule((ON,), (flow(2.0), idle), 50))
    new = with_rules(model, Rule((ON,), (idle,), 49), Rule((OFF,), (idle,), 50))
    found = compare_models(old, new).rules
    assert found.n_unchanged == 1
    assert texts(found.new) == ["P101 = off ⇒ mode = auto"]
    assert texts(found.gone) == ["P101 = on ⇒ FIT201 ≥ 2"]
    assert found.gone[0].rule == old.rules[0].id
    assert found.changed == ()


@pytest.mark.parametrize(("then", "now", "move"), [(2.0, 2.4, "stricter"), (2.4, 2.0, "looser")])
def test_a_changed_rule_is_stricter_or_looser(model, then, now, move):
    old, new = (with_rules(model, Rule((ON,), (flow(low),), 50)) for low in (then, now))
    found = compare_models(old, new).rules
    assert (found.n_unchanged, found.new, found.gone) == (0, (), ())
    (change,) = found.changed
    assert (change.old.text, change.new.text) == (str(old.rules[0]), str(new.rules[0]))
    assert change.move == move
    assert change.distance == pytest.approx(0.4 / model.schema.variable_of()["FIT201"].std)
    assert (change.old.covered, change.new.covered) == (move == "stricter", move == "looser")


def test_a_rule_that_moved_sideways_is_neither(model):
    conditions = (Interval("FIT201", 1.0, 2.0), Interval("FIT201", 1.5, 2.5))
    old, new = (with_rules(model, Rule((each,), (ON,), 50)) for each in conditions)
    (change,) = compare_models(old, new).rules.changed
    assert change.move == "moved"


def test_a_rule_that_is_gone_may_still_follow_from_a_shorter_one(model):
    old = with_rules(model, Rule((ON, OneOf("mode", ("auto",))), (flow(2.0),), 50))
    new = with_rules(model, Rule((ON,), (flow(2.0),), 50))
    found = compare_models(old, new).rules
    assert [each.covered for each in found.gone] == [True]
    assert [each.covered for each in found.new] == [False]


def test_rules_that_say_the_same_in_another_order_are_unchanged(model):
    one = Rule((ON, flow(2.0)), (OneOf("mode", ("auto", "hand")),), 50)
    other = Rule((flow(2.0), ON), (OneOf("mode", ("hand", "auto")),), 50)
    found = compare_models(with_rules(model, one), with_rules(model, other)).rules
    assert (found.n_unchanged, found.changed, found.new, found.gone) == (1, (), (), ())


def test_rules_switched_off_and_on(model):
    rule = model.rules[0]
    edited = model.disable(rule.id, "new pump")
    found = compare_models(model, edited)
    assert not found.same
    assert {each.rule for each in found.rules.switched_off} == {rule.id}
    assert len(found.rules.switched_off) == len(rule.consequents)
    assert found.rules.switched_on == ()
    back = compare_models(edited, model).rules
    assert (back.switched_on, back.switched_off) == (found.rules.switched_off, ())
    assert compare_models(edited, edited).same


def test_settings_and_training_rows(model):
    other = learn(as_table(DATA).take(slice(0, 80)), min_support=0.2, random_state=3)
    changes = compare_models(model, other).changes
    assert Change("settings", "min_support", 0.1, 0.2) in changes
    assert Change("settings", "random_state", 0, 3) in changes
    assert Change("training", "n_rows", 100, 80) in changes
    assert {"fingerprint", "min_support"} <= {e.name for e in changes if e.topic == "training"}


def test_what_is_usual_beyond_the_rules_is_compared_too(model):
    other = replace(model, evidence=replace(model.evidence, rarity_unit=77.0))
    assert [(e.topic, e.name) for e in compare_models(model, other).changes] == [
        ("evidence", "digest")
    ]
    none = compare_models(model, replace(model, evidence=None)).changes
    assert [e.new for e in none] == [None, None]


def test_it_is_written_as_json_and_read_back(model):
    other = replace(model, limit=Threshold(9.0, ByHand()))
    found = compare_models(model, with_rules(other, Rule((ON,), (flow(2.0),), 50)))
    assert msgspec.json.decode(msgspec.json.encode(found), type=ModelComparison) == found


@given(learned())
@settings(max_examples=40)
def test_any_model_against_itself_is_the_same(drawn):
    assert compare_models(drawn[1], drawn[1]).same


@given(tables(), tables(), st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_swapping_swaps_and_the_order_of_rules_does_not_matter(one, other, random):
    old, new = (learn(as_table(each), min_support=0.2, scoring="paper") for each in (one, other))
    found, back = compare_models(old, new), compare_models(new, old)
    assert (found.rules.new, found.rules.gone) == (back.rules.gone, back.rules.new)
    assert {(e.old, e.new) for e in found.rules.changed} == {
        (e.new, e.old) for e in back.rules.changed
    }
    assert (found.old, found.new) == (back.new, back.old)
    for each in (*found.rules.new, *found.rules.gone):
        assert each.text == str(Rule(each.antecedent, (each.consequent,), each.count))
    counted = found.rules.n_unchanged + len(found.rules.changed)
    assert found.old.n_claims == counted + len(found.rules.gone)
    assert found.new.n_claims == counted + len(found.rules.new)
    mixed = replace(
        old, rules=replace(old.rules, rules=tuple(random.sample([*old.rules], len(old.rules))))
    )
    assert compare_models(mixed, new).rules == found.rules
