"""Rules as records: everything about each, in the order asked for."""

import json
import math

import msgspec
import pytest

from learned import learn
from reported import HOSTILE, hostile_model
from truism.export.records import rule_records, select, to_json
from truism.model.rules import RuleSet
from truism.score.scorer import Scorer
from truism.table.frames import as_table


@pytest.fixture(scope="module")
def model():
    return hostile_model()


def test_records_know_what_is_switched_off(model):
    records = rule_records(model)
    assert [record.id for record in records] == [rule.id for rule in model.rules]
    assert [record.disabled.reason for record in records if record.disabled] == ["a | b"]


def test_a_record_says_what_the_rule_says(model):
    chance = model.rules.log_chances()
    for rule, record in zip(model.rules, rule_records(model), strict=True):
        assert (record.text, record.variables) == (str(rule), rule.variables)
        assert (record.antecedent, record.consequents) == (rule.antecedent, rule.consequents)
        assert (record.count, record.length) == (rule.count, rule.length)
        assert record.support == rule.count / 100
        assert record.log10_chance == pytest.approx(chance(rule) / math.log(10), abs=0.005)


def test_support_is_what_the_score_weighs_a_rule_by():
    data = {"x": [None] * 10 + [float(i) for i in range(40)], "u": ["a", "b"] * 25}
    model = learn(as_table(data), min_support=0.1, scoring="paper")
    support_of = {each.id: each.support for each in rule_records(model)}
    assert support_of == dict(
        zip(*(model.rules.to_frame()[name] for name in ("id", "support")), strict=True)
    )
    (row,) = Scorer(model).violations(as_table({"x": [1e9], "u": ["?"]}))
    assert {each.rule.consequents[0].variable for each in row} == {"x", "u"}
    (out, unseen) = sorted(row, key=lambda each: each.rule.count)
    assert out.rule.count == 40
    assert (out.penalty, unseen.penalty) == (
        1e6 * support_of[out.rule.id],
        support_of[unseen.rule.id],
    )
    assert support_of[out.rule.id] == 1


def test_rules_are_chosen_by_variable_and_by_text(model):
    for about in ((), ("flow",), (HOSTILE, "flow")):
        for contains in ((), ("2.5",), ("2.5", "on")):
            wanted = {
                rule.id
                for rule in model.rules
                if set(about) <= set(rule.variables) and all(text in str(rule) for text in contains)
            }
            found = select(model, about=about, contains=contains)
            assert isinstance(found, RuleSet)
            assert {rule.id for rule in found} == wanted


@pytest.mark.parametrize("sort", ["chance", "support", "length", "id"])
def test_chosen_rules_are_sorted_as_asked(model, sort):
    found = [rule.id for rule in select(model, sort=sort)]
    assert found == [rule.id for rule in model.rules.sorted_by(sort)]


def test_json_for_other_programs_has_every_rule_in_full(model):
    plain = json.loads(to_json(model))
    assert plain["format"] == "truism-rules"
    records = rule_records(model, model.rules.sorted_by("chance"))
    assert plain["rules"] == json.loads(msgspec.json.encode(records))
    assert [each["name"] for each in plain["variables"]] == [HOSTILE, "flow"]
    assert {"if", "then"} <= set(plain["rules"][0])
