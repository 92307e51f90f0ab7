"""Blames: which variables are shown, which stand behind others, and when a condition is in doubt."""

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from learned import find_incidents, learn
from test_twins import rows
from truism.explain.blames import NAMED, Blame, choose, describe, fold, say_others, suspects_among
from truism.explain.clues import conditional_on
from truism.explain.explanations import explain_rows
from truism.explain.investigation import find_clues
from truism.explain.words import say
from truism.model.predicates import OneOf
from truism.model.rules import Rule
from truism.score.scorer import Scorer
from truism.score.weighed import Violation
from truism.table.frames import as_table

HIGH = OneOf("flow", ("high",))
RULE = Rule((OneOf("gate", ("open",)), OneOf("pump", ("on",))), (HIGH,), 90)


@pytest.mark.parametrize(
    ("others", "why"),
    [
        ({"pump": 0.3}, "because gate = open and pump = on (or pump is wrong)"),
        (
            {"pump": 0.3, "gate": 0.2},
            "because gate = open and pump = on (or gate or pump is wrong)",
        ),
        ({"pump": 0.1}, "because gate = open and pump = on"),
        ({"valve": 0.3}, "because gate = open and pump = on"),
        ({}, "because gate = open and pump = on"),
    ],
)
def test_a_condition_on_somebody_who_is_blamed_as_well_is_in_doubt(others, why):
    shares = {"flow": 0.6, **others}
    clue = Violation(RULE, HIGH, ("low",), 1.0)
    reason = say(clue, 100, suspects={*suspects_among(shares)} - {"flow"})
    assert reason.why == why
    assert reason.because == "gate = open and pump = on"


def test_without_a_condition_there_is_nothing_to_doubt():
    clue = Violation(Rule((), (HIGH,), 100), HIGH, ("low",), 1.0)
    reason = say(clue, 100, suspects={"pump"})
    assert reason.condition == reason.why == "whatever the other variables are"


@pytest.mark.parametrize("scoring", ["evidence", "paper"])
@examples(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**16))
def test_exactly_those_are_doubted_who_are_in_the_condition_and_most_to_blame(scoring, seed):
    random = np.random.default_rng(seed)
    pump, gate = random.choice(["on", "off"], 200), random.choice(["open", "shut"], 200)
    flow = np.where((pump == "on") & (gate == "open"), 2.5, 0.0) + random.normal(0, 0.01, 200)
    table = {"pump": pump, "gate": gate, "flow": flow}
    scorer = Scorer(learn(as_table(table), scoring=scoring))
    broken = {"pump": pump[:20], "gate": gate[:20], "flow": random.permutation(flow)[:20]}
    clues_of = find_clues(scorer, as_table(broken))
    for explanation in explain_rows(scorer, as_table(broken), range(20)):
        largest = max((each.share for each in explanation.blames), default=0.0)
        most = {each.variable for each in explanation.blames if each.share >= NAMED * largest}
        for each in explanation.blames:
            clues = clues_of[explanation.row][each.variable]
            for clue, reason in zip(clues, each.reasons, strict=True):
                assert set(reason.blamed) == set(conditional_on(clue)) & most - {each.variable}
                assert ("wrong)" in reason.why) == bool(reason.blamed)


NAMES = ("a", "b", "c", "d", "e")


@pytest.fixture(scope="module")
def model():
    return learn(as_table(rows()), min_support=0.05)


def test_a_twin_and_a_change_stand_behind_the_one_blamed_more(model):
    model = msgspec.structs.replace(model, twins=(("a", "b"), ("b", "c")), derived=("d",))
    assert fold(["a", "b", "c", "Δd", "d"], model) == {"b": "a", "d": "Δd"}
    assert fold(["b", "a", "c"], model) == {"a": "b", "c": "b"}
    assert fold(["a", "b"], msgspec.structs.replace(model, twins=None)) == {}


def test_twins_that_speak_against_each_other_stand_for_themselves(model):
    model = msgspec.structs.replace(model, twins=(("a", "b"), ("a", "c"), ("b", "c")))
    assert fold(["a", "b", "c"], model, {"a": ("b", "x")}) == {"c": "a"}
    assert fold(["a", "b", "c"], model, {"b": ("a",)}) == {"c": "a"}
    assert fold(["a", "b", "c"], model, {"c": ("b",)}) == {"b": "a", "c": "a"}
    assert fold(["a", "b", "c"], model, {"a": ("b",), "c": ("b",)}) == {}


@given(
    order=st.permutations(NAMES),
    pairs=st.sets(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES))),
)
def test_leaders_are_no_twins_and_everybody_stands_behind_the_first_twin(model, order, pairs):
    twins = tuple(pair for pair in pairs if pair[0] != pair[1])
    alike = {(x, y) for pair in twins for x, y in (pair, pair[::-1])}
    behind = fold(order, msgspec.structs.replace(model, twins=twins))
    leaders = [name for name in order if name not in behind]
    assert not any((x, y) in alike for x in leaders for y in leaders)
    for name in behind:
        earlier = [each for each in leaders if order.index(each) < order.index(name)]
        assert behind[name] == next(each for each in earlier if (each, name) in alike)


def test_the_first_screen_names_three_and_the_others_in_one_line():
    def blame(name, share, behind=None):
        return Blame(name, share, 1.0, behind=behind)

    blames = [
        *(blame("a", 0.3), blame("a2", 0.2, "a"), blame("b", 0.2), blame("b2", 0.1, "b")),
        *(blame("c", 0.1), blame("d", 0.06), blame("a3", 0.04, "a")),
    ]
    shown, others = choose(blames, 3)
    assert [each.variable for each in shown] == ["a", "b", "c"]
    assert say_others(others) == "moving with a: a2, a3; moving with b: b2; also unusual: d"
    assert (
        say_others([blame(f"x{i}", 0.1) for i in range(7)])
        == "also unusual: x0, x1, x2, x3, x4 and 2 more"
    )


def test_an_incident_is_told_by_its_leaders(model):
    data = {name: values[:1] for name, values in rows(seed=3).items()}
    data["flow"], data["level"] = [90.0], [50.0]
    (incident,) = find_incidents(Scorer(model), as_table(data))
    leader, follower = incident.blames[:2]
    assert {leader.variable, follower.variable} == {"flow", "level"}
    assert follower.behind == leader.variable
    assert follower.to_dict()["behind"] == leader.variable
    assert f"with {leader.variable}: {follower.variable}" in describe(incident.blames)
    assert follower.variable not in incident.summary
