"""Every number that an explanation gives of the training rows is recounted in the training rows."""

import re

import numpy as np
import pytest

from truism.explaining.clues import Contradiction, Rarity
from truism.explaining.investigation import find_clues
from truism.explaining.reasons import say
from truism.learning.training import train
from truism.model.settings import Settings
from truism.plant import schedule, simulate
from truism.scoring.scorer import Scorer
from truism.scoring.weighed import Violation
from truism.table.frames import as_table

COUNT = r"([\d,]+)"


def whole(text):
    return int(text.replace(",", ""))


@pytest.fixture(scope="module")
def told():
    training = as_table(simulate(3000, seed=0).columns)
    scorer = Scorer(train(training, Settings()))
    attacked = as_table(simulate(2000, seed=1, attacks=schedule(2000, seed=1)).columns)
    worst = np.argsort(-scorer.score(attacked), kind="stable")[:25]
    clues_of_rows = find_clues(scorer, attacked.take(worst))
    clues = [(name, clue) for each in clues_of_rows for name, own in each.items() for clue in own]
    return scorer, training, clues


def test_rows_like_this_are_counted_and_averaged_as_they_are(told):
    scorer, training, clues = told
    found = [(name, clue) for name, clue in clues if isinstance(clue, Contradiction)]
    assert len(found) > 100
    for name, clue in found:
        like = np.ones(training.n_rows, np.bool_)
        if clue.conditions:
            like, _ = scorer.compare(clue.conditions, [clue.expected], training)
        column = training.column_of()[name]
        if column.kind == "text":
            pattern = rf"(\S+) in {COUNT} of the {COUNT} training rows like this"
            state, n_state, n_like = re.match(
                pattern, say(clue, scorer.n_training).evidence
            ).groups()
            own = np.array(column.categories)[column.values[like]]
            assert (whole(n_state), whole(n_like)) == ((own == state).sum(), like.sum())
            continue
        pattern = rf"(\S+)(?: ± (\S+))? in the {COUNT} of 3,000 training rows like this"
        mean, spread, n_like = re.fullmatch(pattern, say(clue, scorer.n_training).evidence).groups()
        own, std = column.values[like], column.values.std()
        assert whole(n_like) == like.sum()
        assert float(mean) == pytest.approx(own.mean(), abs=0.1 * own.std() + 0.02 * std)
        assert float(spread or 0) == pytest.approx(own.std(), rel=0.1, abs=0.01 * std)


def test_rules_and_rare_values_are_counted_as_they_are(told):
    scorer, training, clues = told
    n_rules = n_rare = 0
    for name, clue in clues:
        if isinstance(clue, Violation) and clue.rule.antecedent:
            holds, broken = scorer.apply(clue.rule, training)
            assert (clue.rule.count, 0) == (holds.sum(), broken.sum())
            n_rules += 1
        if isinstance(clue, Rarity):
            column = training.column_of()[name]
            pattern = rf"{COUNT} of 3,000 training rows were this (low|high)"
            seen = re.fullmatch(pattern, say(clue, scorer.n_training).evidence)
            if seen and column.kind == "number":
                beyond = (
                    column.values <= clue.found if seen[2] == "low" else column.values >= clue.found
                )
                assert whole(seen[1]) == beyond.sum()
                n_rare += 1
    assert n_rules > 50
    assert n_rare > 5
