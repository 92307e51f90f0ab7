"""Blames: who is shown, in which words, and when a condition is in doubt."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from learned import learn
from truism.explain.blames import NAMED, suspects_among
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
