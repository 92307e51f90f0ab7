"""Which model is better: measures against brute force and scikit-learn, intervals against simulation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from truism.explaining.advantage import Judged, weigh_up


def segments_of(truth):
    rows = np.flatnonzero(truth)
    return np.split(rows, np.flatnonzero(np.diff(rows) > 1) + 1)


def judged(scores, threshold=0.5):
    scores = np.asarray(scores, float)
    return Judged(scores, scores > threshold)


def weigh(truth, old, new, **more):
    truth = np.asarray(truth, bool)
    found = segments_of(truth)
    return weigh_up("label", found, np.flatnonzero(~truth), judged(old), judged(new), **more)


drawn = st.lists(
    st.tuples(st.booleans(), st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=60
).filter(lambda rows: 0 < sum(row[0] for row in rows) < len(rows))


@given(drawn)
def test_the_measures_are_what_their_names_say(rows):
    truth, old, new = (np.array(column) for column in zip(*rows, strict=True))
    found = weigh(truth, old / 5, new / 5)
    for side, scores in (("old", old), ("new", new)):
        reported = scores / 5 > 0.5
        assert getattr(found.auc, side) == pytest.approx(roc_auc_score(truth, scores))
        hits = [reported[rows].any() for rows in segments_of(truth)]
        assert getattr(found.found, side) == pytest.approx(np.mean(hits))
        assert getattr(found.false_alarms, side) == pytest.approx(reported[~truth].mean())
    assert found.n_segments == len(segments_of(truth))
    assert found.n_labelled == truth.sum()


@given(drawn)
def test_swapping_the_models_turns_every_difference_round(rows):
    truth, old, new = zip(*rows, strict=True)
    opposite = {"better": "worse", "worse": "better"}
    found, back = weigh(truth, old, new), weigh(truth, new, old)
    for name in ("auc", "found", "false_alarms"):
        one, other = getattr(found, name), getattr(back, name)
        assert one.difference == pytest.approx(-other.difference)
        assert opposite.get(one.verdict, one.verdict) == other.verdict
        if one.low is not None:
            assert (one.low, one.high) == pytest.approx((-other.high, -other.low), abs=1e-12)


@given(drawn)
def test_a_model_is_no_better_than_itself(rows):
    truth, old, _ = zip(*rows, strict=True)
    found = weigh(truth, old, old)
    enough = found.n_segments >= 5
    for each in (found.auc, found.found, found.false_alarms):
        assert (each.difference, each.verdict) == (0.0, "same" if enough else "too few")


def series(random, n_rows=4000, n_segments=12, length=40):
    """Labels in segments, and noise that resembles its neighbours, as scores of a plant do."""
    truth = np.zeros(n_rows, bool)
    for start in np.linspace(100, n_rows - 100, n_segments).astype(int):
        truth[start : start + length] = True
    return truth, lambda: noise(random, n_rows)


def noise(random, n_rows, memory=0.95):
    steps = random.normal(size=n_rows)
    found = np.empty(n_rows)
    found[0] = steps[0]
    for i in range(1, n_rows):
        found[i] = memory * found[i - 1] + np.sqrt(1 - memory**2) * steps[i]
    return found


def test_a_clear_advantage_is_told():
    truth, draw = series(np.random.default_rng(1))
    weak, strong = draw() + 0.3 * truth, draw() + 3.0 * truth
    found = weigh(truth, weak, strong).auc
    assert found.verdict == "better"
    assert 0 < found.low < found.difference < found.high < 1
    assert weigh(truth, strong, weak).auc.verdict == "worse"


def test_chance_is_seldom_taken_for_an_advantage():
    # Two models that are equally good, with noise of their own in neighbouring rows.
    random = np.random.default_rng(0)
    verdicts = []
    for _ in range(100):
        truth, draw = series(random, n_rows=2000)
        verdicts.append(weigh(truth, draw() + truth, draw() + truth).auc.verdict)
    wrong = sum(verdict != "chance" for verdict in verdicts)
    assert wrong <= 10  # 5 are promised; more than 10 have a probability of 1 %


def test_few_segments_say_nothing():
    truth = [0, 1] * 4 + [0]
    found = weigh(truth, [0.0] * 9, truth)
    assert (found.auc.difference, found.auc.low, found.auc.verdict) == (0.5, None, "too few")
    assert weigh(truth * 2, [0.0] * 18, truth * 2).auc.verdict == "better"


def test_very_many_segments_are_drawn_in_groups():
    truth = np.arange(3000) % 2 == 0
    scores = np.random.default_rng(0).random(3000)
    found = weigh(truth, scores, scores + 0.2 * truth)
    assert (found.n_segments, found.auc.verdict) == (1500, "better")
    assert found.found.new == pytest.approx((scores + 0.2)[truth].__gt__(0.5).mean())


def test_the_seed_decides_and_nothing_else():
    truth, draw = series(np.random.default_rng(1))
    old, new = draw(), draw()
    assert weigh(truth, old, new) == weigh(truth, old, new)
    assert weigh(truth, old, new) != weigh(truth, old, new, seed=1)
