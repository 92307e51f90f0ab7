"""The threshold is what rows score that were not learned from."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from learned import breaks_mined_rule, learn
from strategies import tables
from test_evidence import plant
from truism.errors import ParameterError, TableError
from truism.learn import contexts
from truism.learn import holdout as learning
from truism.learn.contexts import sum_leaves
from truism.learn.holdout import stand_in
from truism.learn.kinds import variable_columns
from truism.model.evidence import MIN_UNIT
from truism.model.provenance import ShareOfRows
from truism.model.schema import Categorical
from truism.score.contexts import LeafProfiles, surprise
from truism.score.rarity import Emptiness, Rarities
from truism.score.scorer import Scorer
from truism.score.thresholds import calibrate
from truism.table.frames import as_table
from truism.work import be_silent


def learn_and_watch(data, **options):
    """Learn, and give what the held-out rows scored as well, in the order of rows."""
    seen = []

    def watch(scores, max_rate):
        seen.append((scores.copy(), max_rate))
        return calibrate(scores, max_rate)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(learning, "calibrate", watch)
        model = learn(as_table(data), min_support=0.1, **options)
    # Where there are many rows it first finds out what a grave one is to score.
    scores, max_rate = seen[-1]
    return model, scores, max_rate


@examples(max_examples=30)
@given(tables(min_rows=4, max_rows=60))
def test_at_most_one_percent_of_held_out_rows_score_above_the_threshold(data):
    model, scores, max_rate = learn_and_watch(data)
    assert max_rate == learning.MAX_RATE
    assert len(scores) == model.provenance.n_rows
    assert np.isfinite(scores).all()
    assert (scores >= 0).all()
    assert (scores > model.threshold).sum() <= learning.MAX_RATE * len(scores)
    assert model.evidence.contradiction_unit >= MIN_UNIT
    assert model.evidence.rarity_unit >= MIN_UNIT
    assert model.limit.origin == ShareOfRows(0.01, len(scores))
    assert str(model.limit.origin) == (
        f"at most 1 % of {len(scores)} training rows score above it when held out"
    )


def test_a_row_that_is_alone_of_its_kind_counts_as_strange_when_held_out():
    data = plant(500)
    data["valve"][123] = "once"
    model, scores, _ = learn_and_watch(data)
    known = Scorer(model).score(as_table(data))
    assert scores[123] == scores.max()
    assert scores[123] > known[123]


def test_held_out_rows_score_about_what_new_rows_score():
    model, scores, _ = learn_and_watch(plant(2000, seed=1))
    new = Scorer(model).score(as_table(plant(2000, seed=2)))
    assert np.median(new) == pytest.approx(np.median(scores), rel=0.25)
    assert (new > model.threshold).mean() < 0.05


def test_rows_are_held_out_with_their_neighbours():
    # A change that lasts for one stretch of rows is unknown to the other blocks; one that lasts for
    # five is known to each.
    random = np.random.default_rng(0)
    data = {"x": random.normal(0, 1, 500), "y": random.normal(0, 1, 500)}
    data["x"][200:220] += 50.0
    _, scores, _ = learn_and_watch(data)
    assert scores[200:220].min() > np.delete(scores, np.arange(200, 220)).max()
    data["x"][220:300] += 50.0
    _, known, _ = learn_and_watch(data)
    assert known[200:220].max() < scores[200:220].min() / 2


def rarities_of(study, columns, others):
    """What is rare according to some rows, by values that were kept of all."""
    known = study.reader.read([column.take(others) for column in columns])
    empty = []
    for place, spacing in enumerate(study.spacings):
        knots, values = np.array(spacing.values), known.numbers[:, place]
        counts = np.bincount(stand_in(knots, values[~np.isnan(values)]), minlength=len(knots))
        counts = counts if counts.any() else np.array(spacing.counts)
        empty.append(Emptiness(knots, counts, spacing.near, spacing.spread))
    states = [
        np.bincount(codes[codes >= 0], minlength=len(variable.values))
        for codes, variable in zip(
            known.codes.T,
            [each for each in study.schema.variables if isinstance(each, Categorical)],
            strict=True,
        )
    ]
    return Rarities(study.reader, empty, states)


@examples(max_examples=15)
@given(
    tables(min_rows=25, max_rows=60, min_columns=2, max_columns=5),
    st.integers(0, 1000),
    st.sampled_from([1, 2]),
)
def test_a_block_is_weighed_by_the_rows_of_the_others(data, seed, n_jobs):
    model = learn(as_table(data), min_support=0.1)
    columns = variable_columns(model.schema, as_table(data))
    study = learning.Study(
        model.schema,
        columns,
        learning.grow(model.schema, columns, 0, n_jobs, be_silent),
        n_jobs,
    )
    if not study.leaf_sums:
        return
    worths = np.random.default_rng(seed).uniform(0, 9, (study.n_rows, len(columns)))
    trees = [contexts.Tree(of.tree, frozenset((*of.numbers, *of.states))) for of in study.leaf_sums]
    for blocks in (study.apart, study.mixed):
        with pytest.MonkeyPatch.context() as patch:
            # So few that parts begin and end within blocks.
            patch.setattr(learning, "WEIGHED_AT_ONCE", 7)
            found = study.hold_out(blocks, worths)
        averages, judged, alone = [], [], []
        for at, row in enumerate(study.chosen(blocks)):
            others = np.flatnonzero(blocks.of_row != blocks.of_row[row])
            known = study.reader.read([column.take(others) for column in columns])
            leaf_sums = sum_leaves(trees, study.leaves[:, others], known, study.reader, 1)
            judge = LeafProfiles(study.reader, [each.statistics() for each in leaf_sums])
            own = study.reader.read([column.take(slice(row, row + 1)) for column in columns])
            in_context = judge.contradict(study.leaves[:, [row]], own)[0]
            assert found.in_context[at] == pytest.approx(in_context.sum(), abs=1e-9)
            all_told = np.maximum(in_context, worths[at])
            assert found.contradictions[at] == pytest.approx(all_told.sum(), abs=1e-9)
            assert found.strongest[at] == worths[at].max()
            rare = rarities_of(study, columns, others).weigh(own)
            assert found.rarities[at] == pytest.approx(rare.sum(), abs=1e-9)
            averages.append(judge.average(study.leaves[:, [row]], own)[0])
            judged.append(all_told)
            by_itself = np.zeros(len(columns))
            by_itself[study.reader.numbers] = np.nan_to_num(surprise(own.standard[0]))
            alone.append(by_itself)
        for name, rows in (("alone", alone), ("surprise", averages), ("mean", judged)):
            assert getattr(found, name) == pytest.approx(np.mean(rows, axis=0), abs=1e-6)
        assert found.spread == pytest.approx(np.std(judged, axis=0), abs=1e-6)


@pytest.mark.parametrize("n_rows", [2, 3, 5, 6, 24, 25, 26])
def test_every_row_of_a_small_table_is_held_out(n_rows):
    _, scores, _ = learn_and_watch({"x": [float(i) for i in range(n_rows)], "u": ["a"] * n_rows})
    assert np.isfinite(scores).all()


def test_hardly_any_held_out_row_breaks_a_grave_rule_and_a_row_that_does_is_nearly_an_anomaly():
    grave = learning._grave(np.arange(3000.0), np.r_[np.full(30, 5.0), np.full(2970, 3.0)])
    assert grave.worth == 3.0
    assert grave.score == learning.GRAVE_SHARE * 2970.0
    assert learning._grave(np.arange(99.0), np.zeros(99)) is None
    # However rarely a rule is broken: chance must not have sufficed to make it.
    grave = learning._grave(np.arange(3000.0), np.zeros(3000))
    assert grave.worth == pytest.approx(0.5 * np.log(1 + learning.MIN_EXPECTED), rel=1e-3)
    model, _, _ = learn_and_watch(plant(2000, seed=1))
    wrong = as_table({"pump": ["on"], "flow": [0.0], "level": [10.0], "valve": ["open"]})
    assert breaks_mined_rule(model, wrong)[0]
    assert Scorer(model).score(wrong)[0] >= model.evidence.grave.score
    assert model.evidence.grave.score == pytest.approx(0.8 * model.threshold, rel=0.1)


@examples(max_examples=15)
@given(tables(min_rows=4, max_rows=60))
def test_the_same_table_gives_the_same_threshold(data):
    model, scores, _ = learn_and_watch(data)
    again, others, _ = learn_and_watch(data, n_jobs=2)
    assert again == model
    assert np.array_equal(others, scores)


@given(
    st.lists(st.one_of(st.just(0.0), st.floats(1e-9, 1e9)), min_size=1, max_size=300),
    st.sampled_from([0.0, 0.01, 0.05, 0.29, 0.5, 0.99]),
)
def test_no_more_rows_exceed_a_calibrated_threshold_than_allowed(scores, max_rate):
    found = calibrate(np.array(scores), max_rate)
    assert found.origin.n_rows == len(scores)
    assert found.origin.n_above == sum(score > found.value for score in scores)
    assert found.origin.n_above <= round(max_rate * 100) * len(scores) / 100
    # It has three digits, and one unit of the last of them less would be exceeded by too many.
    assert found.value == float(f"{found.value:.2e}")
    if found.value > 0:
        digits = f"{found.value:.2e}".split("e")
        less = float(f"{float(digits[0]) - 0.01:.3f}e{digits[1]}")
        assert sum(score > less for score in scores) > int(
            round(max_rate * 100) * len(scores) / 100
        )


@pytest.mark.parametrize("max_rate", [-0.1, 1.0, float("nan")])
def test_a_rate_out_of_range_is_refused(max_rate):
    with pytest.raises(ParameterError) as caught:
        calibrate(np.zeros(3), max_rate)
    assert str(caught.value) == (
        f"max_false_positive_rate must be at least 0 and below 1, got {max_rate!r}."
    )


def test_no_rows_cannot_be_calibrated_on():
    with pytest.raises(TableError) as caught:
        calibrate(np.array([]), 0.01)
    assert str(caught.value) == "A table to calibrate on must have at least 1 row, got 0 samples."
