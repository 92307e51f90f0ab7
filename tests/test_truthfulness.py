"""Every number that an explanation gives of the training rows is recounted in the training rows."""

import re

import numpy as np
import pytest

from truism.explaining.clues import Contradiction, Outside, Rarity
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


LIKE = rf"(?:all|the {COUNT} of) 3,000 training rows(?: like this)?"


def test_rows_like_this_are_counted_and_averaged_as_they_are(told):
    scorer, training, clues = told
    found = [(name, clue) for name, clue in clues if isinstance(clue, Contradiction)]
    assert len(found) > 100
    assert len({len(clue.circumstances) for _, clue in found}) > 3
    for name, clue in found:
        like = np.ones(training.n_rows, np.bool_)
        if clue.conditions:
            like, _ = scorer.compare(clue.conditions, (), training)
        column = training.column_of()[name]
        evidence = say(clue, scorer.n_training).evidence
        if column.kind == "text":
            own = np.array(column.categories)[column.values[like]]
            check_states(clue, evidence, own)
            continue
        pattern = rf"on average (\S+)(?: ± (\S+))? in {LIKE}"
        mean, spread, n_like = re.fullmatch(pattern, evidence).groups()
        own, std = column.values[like], column.values.std()
        assert whole(n_like or "3,000") == like.sum()
        assert float(mean) == pytest.approx(own.mean(), abs=0.1 * own.std() + 0.02 * std)
        assert float(spread or 0) == pytest.approx(own.std(), rel=0.1, abs=0.01 * std)
        far = abs(clue.found - own.mean()) > 2.05 * own.std() + 0.06 * std
        near = abs(clue.found - own.mean()) < 1.95 * own.std() - 0.01 * std
        assert clue.expected is not None or not far
        assert clue.expected is None or not near, "no interval is narrower than two spreads"


def check_states(clue, evidence, own):
    pattern = rf"(?:.+ in {COUNT} of {LIKE}, )?\S+ in {COUNT} of (?:them|{LIKE})"
    n_usual, n_like, n_found, n_all = re.fullmatch(pattern, evidence).groups()
    assert whole(n_like or n_all or "3,000") == len(own)
    assert whole(n_found) == (own == clue.found).sum()
    if clue.expected is None:
        assert 2 * whole(n_found) > len(own)
        return
    usual = np.isin(own, clue.expected.values).sum()
    assert whole(n_usual) == usual
    said = say(clue, 3000).expected
    if " usually " not in said:
        assert usual >= 0.9 * len(own)
    if " one of " not in said and " in " not in said:
        assert usual >= 0.5 * len(own), "what a third of the rows have is no expectation"


def test_rules_and_rare_values_are_counted_as_they_are(told):
    scorer, training, clues = told
    n_rules = n_rare = n_outside = 0
    for name, clue in clues:
        if isinstance(clue, Violation) and clue.rule.antecedent:
            holds, broken = scorer.apply(clue.rule, training)
            assert (clue.rule.count, 0) == (holds.sum(), broken.sum())
            n_rules += 1
        if isinstance(clue, Outside):
            values = training.column_of()[name].values
            assert (clue.low, clue.high) == (values.min(), values.max())
            assert not clue.low <= clue.found <= clue.high
            assert say(clue, 3000).evidence.startswith("0 of 3,000 training rows were this ")
            n_outside += 1
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
    assert n_rare
    assert n_outside > 5
