"""Every number that an explanation gives of the training rows is recounted in the training rows."""

import re

import numpy as np
import pytest

from truism.explain.clues import Contradiction, Outside, Rarity
from truism.explain.investigation import find_clues
from truism.explain.words import say
from truism.learn.learn import learn as train
from truism.model.settings import Settings
from truism.plant import schedule, simulate
from truism.score.scorer import Scorer
from truism.score.weighed import Violation
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


def lost(columns, share, seed):
    """Return columns with missing values: at random, in stretches, and wherever another has a state."""
    random, found = np.random.default_rng(seed), {}
    n_rows = len(next(iter(columns.values())))
    for i, (name, values) in enumerate(columns.items()):
        gone = random.random(n_rows) < share
        if i % 3 == 1:
            gone = np.roll(np.arange(n_rows) < share * n_rows, int(random.integers(n_rows)))
        if i % 3 == 2:
            gone |= np.asarray(columns["MV101"]) == "open"
        found[name] = [None if hole else value for hole, value in zip(gone, values, strict=True)]
    return found | {"MV101": columns["MV101"]}


def rows_like(scorer, training, circumstances):
    """Return the training rows that have in common what a clue names."""
    like = np.ones(training.n_rows, np.bool_)
    for each in circumstances:
        allowed = () if each.allowed is None else (each.allowed,)
        own = scorer.compare(allowed, (), training)[0] & bool(allowed)
        if "missing" in each.besides:
            own |= is_missing(training.column_of()[each.variable])
        like &= own
    return like


def is_missing(column):
    if column.missing is None:
        return np.zeros(len(column.values), np.bool_)
    return column.missing


@pytest.mark.parametrize("share", [0.001, 0.03, 0.3])
def test_means_and_spreads_are_of_the_rows_that_have_the_value(share):
    training = as_table(lost(simulate(3000, seed=0).columns, share, 0))
    scorer = Scorer(train(training, Settings(lookback=0)))
    attacked = simulate(1500, seed=1, attacks=schedule(1500, seed=1)).columns
    attacked = as_table(lost(attacked, share, 1))
    worst = np.argsort(-scorer.score(attacked), kind="stable")[:60]
    clues_of_rows = find_clues(scorer, attacked.take(worst))
    n_said = 0
    for clue in (each for row in clues_of_rows for own in row.values() for each in own):
        if not isinstance(clue, Contradiction):
            continue
        column = training.column_of()[clue.variable]
        like, known = rows_like(scorer, training, clue.circumstances), ~is_missing(column)
        evidence = say(clue, scorer.n_training).evidence
        if column.kind == "text":
            states = np.array([*column.categories, "missing"])
            count_states(clue, evidence, states[np.where(known, column.values, -1)][like])
            continue
        pattern = rf"on average (\S+)(?: ± (\S+))?(, where it is known,)? in {LIKE}"
        mean, spread, some, n_like = re.fullmatch(pattern, evidence).groups()
        assert whole(n_like or "3,000") == like.sum()
        assert bool(some) == (like & ~known).any()
        own, std = column.values[like & known], column.values[known].std()
        assert float(mean) == pytest.approx(own.mean(), abs=0.1 * own.std() + 0.02 * std)
        n_said += 1
        assert float(spread or 0) == pytest.approx(own.std(), rel=0.1, abs=0.01 * std)
    assert n_said > 100


def check_states(clue, evidence, own):
    usual = count_states(clue, evidence, own)
    if clue.expected is None:
        assert 2 * (own == clue.found).sum() > len(own)
        return
    said = say(clue, 3000).expected
    if " usually " not in said:
        assert usual >= 0.9 * len(own)
    if " one of " not in said and " in " not in said:
        assert usual >= 0.5 * len(own), "what a third of the rows have is no expectation"


def count_states(clue, evidence, own):
    """Recount the states that a sentence counts; return how many rows have those that were expected."""
    pattern = rf"(?:.+ in {COUNT} of {LIKE}, )?\S+ in {COUNT} of (?:them|{LIKE})"
    n_usual, n_like, n_found, n_all = re.fullmatch(pattern, evidence).groups()
    assert whole(n_like or n_all or "3,000") == len(own)
    assert whole(n_found) == (own == clue.found).sum()
    if clue.expected is None:
        return 0
    usual = np.isin(own, clue.expected.values).sum()
    assert whole(n_usual) == usual
    return usual


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
