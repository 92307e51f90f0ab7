"""Learning is reproducible, complete, and leaves the caller's table alone."""

import copy
import itertools

import msgspec
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import oracle
from learned import learn
from strategies import HOSTILE_NAMES, exact, ratios, tables, thresholds
from truism.errors import TableError
from truism.learn.learn import learn as train
from truism.learn.mining import UnitRule
from truism.learn.rules import merge_units
from truism.model.predicates import Interval, variables
from truism.model.settings import Settings
from truism.score.scorer import Scorer
from truism.table.fingerprint import fingerprint
from truism.table.frames import as_table

CUTOFFS = st.sampled_from(["tree", "uniform", "kmeans"])


def said(model):
    """What was learned, without the traces of the table's row and column order."""
    schema = msgspec.structs.replace(
        model.schema, variables=tuple(sorted(model.schema.variables, key=lambda v: v.name))
    )
    predicates = tuple(
        msgspec.structs.replace(each, n_episodes=each.n_false) for each in model.rules.predicates
    )
    return schema, msgspec.structs.replace(model.rules, predicates=predicates)


@given(tables(max_columns=4), thresholds, ratios, CUTOFFS, st.randoms())
def test_shuffling_rows_and_columns_changes_nothing(data, min_support, ratio, cutoffs, random):
    options = {"min_support": min_support, "support_ratio": ratio, "cutoffs": cutoffs}
    once = learn(as_table(data), **options)
    rows = list(range(len(next(iter(data.values())))))
    random.shuffle(rows)
    names = list(data)
    random.shuffle(names)
    shuffled = {name: [data[name][i] for i in rows] for name in names}
    again = learn(as_table(shuffled), **options)
    assert said(again) == said(once)
    assert again.schema.names == tuple(name for name in names if name in again.schema.names)
    assert again.rules.rules == once.rules.rules


@given(tables(max_columns=4), thresholds, ratios, st.integers(2, 5))
def test_repeating_all_rows_scales_only_counts(data, min_support, ratio, times):
    once = learn(as_table(data), min_support=min_support, support_ratio=ratio)
    repeated = {name: column * times for name, column in data.items()}
    often = learn(as_table(repeated), min_support=min_support, support_ratio=ratio)
    # What only identifies rows no longer does so when every row is there twice.
    assume(once.schema.names == often.schema.names)
    scaled = [msgspec.structs.replace(rule, count=rule.count * times) for rule in once.rules]
    assert list(often.rules) == scaled


@given(tables(max_columns=4), thresholds, ratios, CUTOFFS)
def test_threads_change_nothing(data, min_support, ratio, cutoffs):
    options = {"min_support": min_support, "support_ratio": ratio, "cutoffs": cutoffs}
    assert learn(as_table(data), n_jobs=2, **options) == learn(as_table(data), **options)


@given(tables(max_columns=4), thresholds, ratios, st.integers(2, 5), CUTOFFS)
def test_the_rules_are_all_the_minimal_rules_among_the_predicates(
    data, min_support, ratio, max_predicates, cutoffs
):
    model = learn(
        as_table(data),
        min_support=min_support,
        support_ratio=ratio,
        max_predicates=max_predicates,
        cutoffs=cutoffs,
    )
    predicates = [each.predicate for each in model.rules.predicates]
    if len(predicates) > 14:
        return
    truths = oracle.evaluate(predicates, data)
    groups = [variables(predicate) for predicate in predicates]
    units = oracle.mine(truths, groups, exact(min_support), exact(ratio), max_predicates)
    mined = [rule for rule in model.rules if rule.antecedent]
    assert mined == merge_units([UnitRule(*msgspec.structs.astuple(u)) for u in units], predicates)
    for counted, truth in zip(model.rules.predicates, truths, strict=True):
        assert (counted.n_true, counted.n_false) == (truth.count(True), truth.count(False))
        assert counted.n_true > exact(min_support) * len(truth)


def test_every_library_teaches_the_same(to_library, pumps):
    # NumPy names its columns x0, x1, …
    data = {f"x{i}": column for i, column in enumerate(pumps.values())}
    model = learn(as_table(to_library(data)), min_support=0.1)
    assert model.rules == learn(as_table(data), min_support=0.1).rules
    assert len([rule for rule in model.rules if rule.antecedent]) > 0


@pytest.mark.parametrize("n_rows", [0, 1])
def test_too_few_rows_are_refused(n_rows):
    with pytest.raises(TableError) as caught:
        learn(as_table({"X": [1.0] * n_rows}), min_support=0.1)
    noun = "sample" if n_rows == 1 else "samples"
    assert str(caught.value) == (
        f"A table to learn from must have at least 2 rows, got {n_rows} {noun}."
    )


def test_learning_does_not_change_the_callers_table(pumps):
    data = copy.deepcopy(pumps)
    learn(as_table(data), min_support=0.1)
    assert data == pumps
    frame = pd.DataFrame(pumps)
    before = frame.copy(deep=True)
    learn(as_table(frame), min_support=0.1)
    pd.testing.assert_frame_equal(frame, before)
    array = np.random.default_rng(0).normal(size=(50, 3))
    array.flags.writeable = False
    learn(as_table(array), min_support=0.1)


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_names_survive(name):
    data = {name: ["on", "off"] * 20, "other": [1.0, 2.0] * 20}
    model = learn(as_table(data), min_support=0.1)
    plain = learn(as_table({"n": ["on", "off"] * 20, "other": [1.0, 2.0] * 20}), min_support=0.1)
    assert len(model.rules) == len(plain.rules)
    assert len(model.rules.about(name)) == len(plain.rules.about("n"))
    normal, broken = Scorer(model).score(as_table({name: ["on"] * 2, "other": [1.0, 2.0]}))
    assert broken > max(normal, model.threshold)
    model = learn(as_table(data), min_support=0.1, scoring="paper")
    assert Scorer(model).score(as_table({name: ["on"], "other": [2.0]})).tolist() == [1.0]


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_states_survive(name):
    data = {"u": [name, "off"] * 20, "other": [1.0, 2.0] * 20}
    model = learn(as_table(data), min_support=0.1)
    today = as_table({"u": [name, name], "other": [1.0, 2.0]})
    normal, broken = Scorer(model).score(today)
    assert broken > max(normal, model.threshold)
    model = learn(as_table(data), min_support=0.1, scoring="paper")
    assert Scorer(model).score(today).tolist() == [0.0, 1.0]


def test_a_small_budget_keeps_the_shorter_rules_and_says_so():
    random = np.random.default_rng(3)
    bits = random.random((100, 9)) < 0.6
    data = {f"u{i}": bits[:, i].tolist() for i in range(9)}
    full = learn(as_table(data), min_support=0.05, support_ratio=0.1, max_predicates=5)
    part = learn(
        as_table(data), min_support=0.05, support_ratio=0.1, max_predicates=5, max_nodes=2000
    )
    assert part.provenance.complete_to < full.provenance.complete_to == 4
    short = [r for r in full.rules if len(r.antecedent) <= part.provenance.complete_to]
    assert list(part.rules) == short
    assert part.notices == (
        f"The search budget was reached: rules with up to {part.provenance.complete_to} of 4 "
        "conditions are complete, longer ones are missing.",
    )
    assert full.notices == ()


def test_columns_left_out_are_noticed():
    data = {"id": [f"row {i}" for i in range(100)], "u": ["a", "b"] * 50}
    model = learn(as_table(data), min_support=0.1)
    assert model.notices == ("Column 'id' is left out: text with 100 distinct values in 100 rows.",)


def test_provenance_says_from_what():
    data = {"X": [1.0, 2.0] * 20, "U": ["a", "b"] * 20}
    made = learn(as_table(data), min_support=0.1).provenance
    assert (made.n_rows, made.n_columns, made.min_support, made.complete_to) == (40, 2, 0.1, 2)
    assert made.fingerprint == fingerprint(as_table(data), ordered=False)


def test_cut_offs_are_printed_as_they_are_used(model):
    cuts = [
        bound
        for each in model.rules.predicates
        if isinstance(each.predicate, Interval)
        for bound in (each.predicate.low, each.predicate.high)
        if np.isfinite(bound)
    ]
    assert cuts
    texts = [str(each.predicate) for each in model.rules.predicates]
    for cut in cuts:
        assert any(f"{cut:g}" in text or repr(cut) in text for text in texts)


def test_progress_is_told():
    told = []
    data = {"X": [float(i % 9) for i in range(60)], "U": ["a", "b", "c"] * 20}
    settings = Settings(min_support=0.1)
    train(as_table(data), settings, progress=lambda *news: told.append(news))
    stages = list(dict.fromkeys(stage for stage, _, _ in told))
    assert stages == ["compiling", "trees", "mining", "contexts", "held-out rows"]
    for stage in stages:
        done, of = [news[1:] for news in told if news[0] == stage][-1]
        assert done == of
    assert all(0 <= done <= of for _, done, of in told)


@pytest.mark.parametrize("cutoffs", ["tree", "uniform", "kmeans"])
def test_extreme_numbers_are_learned_from_without_a_warning(cutoffs):
    largest = 1.7976931348623157e308
    data = {
        "X": [-largest, largest, 0.0, 5e-324, -5e-324, 1e200, -1.0, 1.0] * 6,
        "Y": [float(i % 8) for i in range(48)],
    }
    model = learn(as_table(data), min_support=0.1, cutoffs=cutoffs)
    assert np.isfinite(Scorer(model).score(as_table(data))).all()
    assert all(str(rule) for rule in model.rules)
    model = learn(as_table(data), min_support=0.1, cutoffs=cutoffs, scoring="paper")
    assert not Scorer(model).score(as_table(data)).any()


@given(tables(max_columns=4), thresholds)
def test_predicates_know_in_how_many_rows_and_episodes_they_fail(data, min_support):
    model = learn(as_table(data), min_support=min_support, scoring="paper")
    for each in model.rules.predicates:
        (cells,) = oracle.evaluate([each.predicate], data)
        assert (each.n_true, each.n_false) == (cells.count(True), cells.count(False))
        assert each.n_episodes == sum(cell is False for cell, _ in itertools.groupby(cells))
