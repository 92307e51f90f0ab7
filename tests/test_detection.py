"""With labels: how well scores tell labelled rows from the others."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import auc, roc_auc_score, roc_curve

import reported
from reported import NORMAL, attacked
from truism import ParameterError
from truism.explain.checker import Checker
from truism.model.schema import Schema
from truism.show.contents import Summary
from truism.show.pictures import Axis
from truism.show.summarising import MAX_FALSE_POSITIVE_RATE, detect, summarise
from truism.table.frames import as_table


@pytest.fixture(scope="module")
def checker() -> Checker:
    return reported.checker()


@pytest.fixture(scope="module")
def summary() -> Summary:
    return reported.summary()


def test_labels_give_segments_and_areas(summary):
    found = summary.detection
    assert found.n_labelled == 15
    assert [(each.start, each.end, each.n_reported) for each in found.segments] == [
        (30, 39, 10),
        (60, 64, 0),
    ]
    assert found.n_detected == 1


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("nowhere", "label must name a column of the table, got 'nowhere'."),
        (
            "note",
            "label must mark some rows and not all, got 'note'.\n"
            "Hint: none of its rows is known to be normal.",
        ),
        (
            "degree",
            "label must name a column of whole numbers, booleans or texts, got 'degree'.\n"
            "Hint: it holds 0.5; 0 means normal, other numbers anomalous.",
        ),
        (
            "flow",
            "label must not be a variable of the model, got 'flow'.\n"
            "Hint: learn again without that column.",
        ),
    ],
)
def test_labels_that_cannot_be_read_are_refused(checker, column, message):
    with pytest.raises(ParameterError) as caught:
        summarise(checker, as_table({**attacked(), "degree": [0.5] * 200}), label=column)
    assert str(caught.value) == message


def test_labels_must_mark_some_rows_and_not_all(checker):
    table = as_table({**NORMAL, "label": [0] * 200})
    with pytest.raises(ParameterError) as caught:
        summarise(checker, table, label="label")
    assert str(caught.value) == (
        "label must mark some rows and not all, got 'label'.\nHint: none of its rows is anomalous."
    )


@st.composite
def judged(draw):
    """Labels of which some are true and not all, and scores of few or of many values."""
    n = draw(st.integers(2, 60))
    truth = draw(st.lists(st.booleans(), min_size=n, max_size=n).filter(lambda t: len({*t}) == 2))
    values = st.floats(0, 100) if draw(st.booleans()) else st.integers(0, 3).map(float)
    return truth, draw(st.lists(values, min_size=n, max_size=n)), draw(st.floats(0, 100))


def detected(truth, scores, threshold):
    table = as_table({"label": np.array(truth)})
    return detect(table, "label", np.array(scores), threshold, Axis(table, Schema(())))


@given(judged())
def test_areas_and_rates_are_those_of_their_definitions(drawn):
    truth, scores, threshold = drawn
    found = detected(truth, scores, threshold)
    # The area is how often a labelled row scores above another, ties counting half.
    pairs = [
        (a > b) + 0.5 * (a == b)
        for a, is_a in zip(scores, truth, strict=True) if is_a
        for b, is_b in zip(scores, truth, strict=True) if not is_b
    ]  # fmt: skip
    assert found.auc == pytest.approx(sum(pairs) / len(pairs))
    assert found.partial_auc == pytest.approx(
        roc_auc_score(truth, scores, max_fpr=MAX_FALSE_POSITIVE_RATE)
    )
    reported = [score > threshold for score in scores]
    for rate, wanted in ((found.true_positive_rate, True), (found.false_positive_rate, False)):
        rows = [each for each, is_true in zip(reported, truth, strict=True) if is_true == wanted]
        assert rate == pytest.approx(sum(rows) / len(rows))


@given(judged())
def test_the_curve_is_scikit_learns(drawn):
    truth, scores, threshold = drawn
    found = detected(truth, scores, threshold)
    false_rates, true_rates, _ = roc_curve(truth, scores, drop_intermediate=False)
    assert found.false_positive_rates == pytest.approx(false_rates.tolist())
    assert found.true_positive_rates == pytest.approx(true_rates.tolist())


@given(judged())
def test_segments_are_the_runs_of_labels_and_know_their_first_report(drawn):
    truth, scores, threshold = drawn
    found = detected(truth, scores, threshold)
    covered = [row for each in found.segments for row in range(each.start, each.end + 1)]
    assert covered == [row for row, is_true in enumerate(truth) if is_true]
    assert found.n_labelled == len(covered)
    for each in found.segments:
        hits = [row for row in range(each.start, each.end + 1) if scores[row] > threshold]
        assert (each.n_reported, each.first_reported) == (len(hits), hits[0] if hits else None)


def test_a_long_curve_is_thinned_without_changing_its_area():
    random = np.random.default_rng(0)
    truth = random.random(20_000) < 0.1
    scores = random.normal(size=20_000) + truth
    found = detected(truth, scores, 1.0)
    assert len(found.false_positive_rates) < 1000
    area = auc(found.false_positive_rates, found.true_positive_rates)
    assert area == pytest.approx(found.auc, abs=1e-3)
