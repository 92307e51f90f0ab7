"""The detector keeps scikit-learn's contract and design section 5."""

import json
import math
import pickle
import re

import msgspec
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from learned import learn
from truism import InvariantRuleDetector, load
from truism.errors import ParameterError, SchemaError, TableError, TruismError
from truism.estimator import EXPECTED_FAILED_CHECKS
from truism.explain.explanations import Explanations
from truism.model.files import save_model
from truism.model.rules import RuleSet
from truism.table.deltas import with_deltas
from truism.table.frames import as_table

NORMAL = pd.DataFrame({"pump": ["on", "off"] * 50, "flow": [2.5, 0.0] * 50, "level": [1.0] * 100})
TODAY = pd.DataFrame({"pump": ["on", "on"], "flow": [2.5, 0.0], "level": [1.0, 1.0]})


@pytest.fixture(params=["evidence", "paper"])
def detector(request):
    return InvariantRuleDetector(min_support=0.1, scoring=request.param).fit(NORMAL)


@pytest.fixture
def paper():
    return InvariantRuleDetector(min_support=0.1, scoring="paper").fit(NORMAL)


@parametrize_with_checks(
    [
        InvariantRuleDetector(min_support=0.1, n_jobs=1, scoring="evidence"),
        InvariantRuleDetector(min_support=0.1, n_jobs=1, scoring="paper"),
    ],
    expected_failed_checks=lambda _: EXPECTED_FAILED_CHECKS,
)
def test_scikit_learns_checks_pass(estimator, check):
    check(estimator)


def test_every_expected_failure_has_a_reason():
    assert all(len(reason) > 20 for reason in EXPECTED_FAILED_CHECKS.values())


def test_the_contract_of_scores(detector):
    scores = detector.anomaly_score(TODAY)
    assert scores[1] > scores[0]
    assert np.array_equal(detector.score_samples(TODAY), -scores)
    assert detector.offset_ == -detector.model_.threshold
    assert np.array_equal(detector.decision_function(TODAY), -scores - detector.offset_)
    assert detector.predict(TODAY).tolist() == [1, -1]
    assert detector.fit_predict(NORMAL).tolist() == [1] * 100


def test_the_papers_scores(paper):
    assert paper.anomaly_score(TODAY).tolist() == [0.0, 1.0]
    assert paper.score_samples(TODAY).tolist() == [-0.0, -1.0]
    assert paper.decision_function(TODAY).tolist() == [0.0, -1.0]
    assert paper.attribute(TODAY).tolist() == [[0.0, 0.0, 0.0], [0.5, 0.5, 0.0]]


def test_the_threshold_can_be_changed_after_fitting(paper):
    detector = paper
    assert detector.offset_ == 0.0
    detector.threshold = 2.0
    assert detector.offset_ == -2.0
    assert detector.predict(TODAY).tolist() == [1, 1]
    assert len(detector.explain(TODAY)) == 0
    assert detector.incidents(TODAY) == []
    detector.set_params(threshold=0.5)
    assert detector.predict(TODAY).tolist() == [1, -1]
    assert detector.anomaly_score(TODAY).tolist() == [0.0, 1.0]


def test_without_a_threshold_of_ones_own_the_learned_one_is_in_force():
    learned = InvariantRuleDetector(min_support=0.1).fit(NORMAL).offset_
    detector = InvariantRuleDetector(min_support=0.1, threshold=5).fit(NORMAL)
    assert detector.offset_ == -5.0
    detector.threshold = None
    assert detector.offset_ == learned


def test_a_bad_threshold_is_refused_before_learning():
    told = []
    with pytest.raises(ParameterError, match=r"^threshold must be a finite number"):
        InvariantRuleDetector(threshold=-1).fit(NORMAL, progress=lambda *news: told.append(news))
    assert told == []


def test_a_loaded_detector_learns_a_threshold_of_its_own(tmp_path):
    fitted = InvariantRuleDetector(min_support=0.1).fit(NORMAL)
    fitted.save(tmp_path / "learned.json")
    loaded = load(tmp_path / "learned.json")
    assert loaded.threshold is None
    assert clone(loaded).threshold is None
    assert loaded.offset_ == fitted.offset_
    other = pd.DataFrame(
        {"x": np.random.default_rng(0).normal(size=300), "u": ["a", "b", "c"] * 100}
    )
    expected = InvariantRuleDetector(min_support=0.1).fit(other).offset_
    assert loaded.fit(other).offset_ == expected != fitted.offset_
    fitted.threshold = 2.5
    fitted.save(tmp_path / "by hand.json")
    assert load(tmp_path / "by hand.json").threshold == 2.5


def test_attributions_stand_in_the_order_of_the_columns(detector):
    parts = detector.attribute(TODAY)
    assert list(detector.feature_names_in_) == ["pump", "flow", "level"]
    assert detector.n_features_in_ == 3
    assert parts.shape == (2, 3)
    assert parts[:, 2].tolist() == [0.0, 0.0]  # the level is what it always is
    assert (parts[1, :2] > parts[0, :2]).all()
    assert parts.sum(axis=1) == pytest.approx(detector.anomaly_score(TODAY))


def test_columns_that_are_no_variables_are_attributed_nothing():
    data = NORMAL.assign(id=[f"row {i}" for i in range(100)])[["id", "pump", "flow"]]
    detector = InvariantRuleDetector(min_support=0.1).fit(data)
    assert detector.n_features_in_ == 3
    parts = detector.attribute(TODAY.assign(id="x").drop(columns="level"))
    assert parts[:, 0].tolist() == [0.0, 0.0]
    assert (parts[1, 1:] > 0).all()


def test_explanations_are_of_the_rows_above_the_threshold(detector):
    explained = detector.explain(TODAY)
    assert isinstance(explained, Explanations)
    assert [each.row for each in explained] == [1]
    assert "found 0" in str(explained)


def test_any_row_can_be_explained(detector):
    explained = detector.explain(TODAY, rows=[1, 0])
    assert [each.row for each in explained] == [1, 0]
    assert explained[1].score == detector.anomaly_score(TODAY)[0]
    assert len(detector.explain(TODAY, rows=np.array([0]))) == 1
    assert len(detector.explain(TODAY, rows=[])) == 0


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            [0, 2],
            "rows must be positions from 0 to 1, got 2.\n"
            "Hint: positions count the rows of the table, whatever its index says.",
        ),
        (
            np.array([-1]),
            "rows must be positions from 0 to 1, got -1.\n"
            "Hint: positions count the rows of the table, whatever its index says.",
        ),
        (
            ["a"],
            "rows must be positions from 0 to 1, got 'a'.\n"
            "Hint: positions count the rows of the table, whatever its index says.",
        ),
        (1, "rows must be a list of positions, got 1.\nHint: write rows=[1]."),
        (
            np.array([True, False]),
            "rows must be positions, got True.\n"
            "Hint: numpy.flatnonzero(mask) gives the positions where a mask is true.",
        ),
    ],
)
def test_rows_that_are_not_there_cannot_be_explained(detector, rows, message):
    with pytest.raises(ParameterError) as caught:
        detector.explain(TODAY, rows=rows)
    assert str(caught.value) == message


def test_incidents_are_those_of_the_report(detector):
    wrong = pd.concat([TODAY[1:], *[NORMAL[:2]] * 2, TODAY[1:]])  # four normal rows between
    together = detector.incidents(wrong, gap=4)
    assert [(each.start, each.end) for each in together] == [(0, 5)]
    assert len(detector.report(wrong, gap=4).incidents) == 1
    assert len(detector.incidents(wrong, gap=3)) == 2


def test_rows_that_are_no_series_stand_for_themselves_and_form_patterns(detector):
    wrong = pd.concat([TODAY[1:], TODAY[1:]])
    assert [(each.start, each.end) for each in detector.incidents(wrong)] == [(0, 0), (1, 1)]
    (pattern,) = detector.patterns(wrong)
    assert (pattern.n_rows, pattern.share, pattern.n_times) == (2, 1.0, 2)
    assert pattern.variable == detector.incidents(wrong)[0].blames[0].variable


def test_patterns_are_of_rows_made_ready():
    normal = {"pump": ["on", "off"] * 50, "level": [i * i % 97 for i in range(100)]}
    detector = InvariantRuleDetector(min_support=0.1, delta=True).fit(normal)
    today = pd.DataFrame({"pump": ["on", "off", "on"], "level": [0.0, 5000.0, 4.0]})
    found = detector.patterns(today)
    assert sum(each.n_rows for each in found) == (detector.predict(today) == -1).sum() > 0


def test_the_papers_explanation_names_the_broken_rule(paper):
    assert "expected flow = 2.5, found 0" in str(paper.explain(TODAY))


def test_rules_are_a_rule_set_with_univariate_ones(detector):
    assert isinstance(detector.rules_, RuleSet)
    assert any(not rule.antecedent for rule in detector.rules_)
    assert len(detector.rules_.about("level")) == 2


def test_rules_can_be_switched_off_and_on(paper):
    detector = paper
    before = detector.model_
    for rule in detector.rules_.about("flow"):
        detector.disable_rule(rule.id, reason="flow meter replaced")
    assert detector.predict(TODAY).tolist() == [1, 1]
    assert detector.model_.disabled[0].reason == "flow meter replaced"
    assert detector.model_.disabled[0].date is not None
    for rule in detector.rules_.about("flow"):
        detector.enable_rule(rule.id)
    assert detector.model_ == before
    assert detector.predict(TODAY).tolist() == [1, -1]


def test_every_library_can_be_learned_from_and_scored(to_library):
    data = {"x0": ["on", "off"] * 50, "x1": [2.5, 0.0] * 50}
    detector = InvariantRuleDetector(min_support=0.1).fit(to_library(data))
    assert detector.n_features_in_ == 2
    today = to_library({"x0": ["on", "on"], "x1": [2.5, 0.0]})
    assert detector.predict(today).tolist() == [1, -1]


def test_a_model_learned_from_one_library_scores_another(detector):
    assert detector.predict(pl.DataFrame(TODAY.to_dict("list"))).tolist() == [1, -1]
    assert detector.predict(TODAY.to_dict("list")).tolist() == [1, -1]
    assert detector.predict(TODAY.iloc[1].to_dict()).tolist() == [-1]
    assert detector.predict(pl.DataFrame(TODAY.to_dict("list")).lazy()).tolist() == [1, -1]


def test_a_plain_array_goes_by_position(detector):
    with pytest.warns(UserWarning, match=r"^X does not have valid feature names, but Invariant"):
        scores = detector.anomaly_score(TODAY.to_numpy())
    assert np.array_equal(scores, detector.anomaly_score(TODAY))
    with pytest.warns(UserWarning, match="feature names"):
        parts = detector.attribute(TODAY.to_numpy())
    assert np.array_equal(parts, detector.attribute(TODAY))


def test_masked_values_are_missing():
    random = np.random.default_rng(0)
    masked = np.ma.array(random.normal(size=(200, 2)), mask=random.random((200, 2)) < 0.1)
    detector = InvariantRuleDetector(min_support=0.1).fit(masked)
    n_missing = [variable.n_missing for variable in detector.model_.schema.variables]
    assert n_missing == masked.mask.sum(axis=0).tolist()
    holed = masked.filled(np.nan)
    assert np.array_equal(detector.anomaly_score(masked), detector.anomaly_score(holed))


def test_times_with_a_zone_say_so():
    normal, today = plant(2000), plant(40, seed=1)
    today.loc[25, "level"] = 900.0
    zoned = [
        frame.assign(when=pd.to_datetime(frame["when"]).dt.tz_localize("Europe/Vienna"))
        for frame in (normal, today)
    ]
    detector = InvariantRuleDetector().fit(zoned[0])
    assert detector.incidents(zoned[1])[0].to_dict()["started"] == "2026-01-01T00:25:00+01:00"
    (card,) = detector.report(zoned[1]).incidents
    assert (card.title, card.when) == ("level", "00:25 Europe/Vienna")


def test_a_saved_detector_is_the_same_detector(detector, tmp_path):
    detector.threshold = float(detector.anomaly_score(TODAY).mean())
    detector.disable_rule(detector.rules_[0].id, reason="test")
    detector.save(tmp_path / "plant.truism.json")
    again = load(tmp_path / "plant.truism.json")
    assert again.model_ == detector.model_.with_threshold(detector.threshold)
    assert again.offset_ == detector.offset_
    assert np.array_equal(again.anomaly_score(TODAY), detector.anomaly_score(TODAY))
    assert np.array_equal(again.attribute(TODAY), detector.attribute(TODAY))
    assert again.predict(TODAY).tolist() == [1, -1]
    assert again.get_params() == {**detector.get_params(), "n_jobs": again.n_jobs}
    assert list(again.feature_names_in_) == list(detector.feature_names_in_)
    assert again.fit(NORMAL).rules_ == detector.rules_


def test_a_saved_detector_of_arrays_still_scores_arrays(tmp_path):
    random = np.random.default_rng(0)
    array = np.column_stack([np.arange(200), random.normal(size=200), random.integers(0, 3, 200)])
    data = {"x0": np.arange(200), "x1": array[:, 1], "x2": array[:, 2]}
    for training in (array, data):
        detector = InvariantRuleDetector(min_support=0.1).fit(training)
        detector.save(tmp_path / "model.json")
        again = load(tmp_path / "model.json")
        assert np.array_equal(again.anomaly_score(array), detector.anomaly_score(data))


def test_a_saved_detector_attributes_to_the_same_columns(tmp_path):
    data = NORMAL.assign(id=[f"row {i}" for i in range(100)])[["id", "pump", "flow"]]
    detector = InvariantRuleDetector(min_support=0.1).fit(data)
    detector.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert list(again.feature_names_in_) == list(detector.feature_names_in_)
    today = TODAY.assign(id="x").drop(columns="level")
    assert np.array_equal(again.attribute(today), detector.attribute(today))


def test_a_model_with_changes_attributes_them_to_their_variable(tmp_path):
    level = np.cumsum(np.random.default_rng(0).normal(size=200)).tolist()
    data = {"level": level, "pump": ["on", "off"] * 100}
    learned = learn(with_deltas(as_table(data), ["level"]), min_support=0.1, scoring="paper")
    save_model(msgspec.structs.replace(learned, derived=("level",)), tmp_path / "model.json")
    detector = load(tmp_path / "model.json")
    assert list(detector.feature_names_in_) == ["level", "pump"]
    assert detector.anomaly_score(data).tolist() == [0.0] * 200
    jump = {"level": [level[0], level[0] + 9], "pump": ["on", "off"]}
    parts = detector.attribute(jump)
    assert parts.shape == (2, 2)
    assert parts[1, 0] > 0
    assert parts.sum(axis=1) == pytest.approx(detector.anomaly_score(jump))


def test_it_can_be_cloned_and_pickled(detector):
    copy = clone(detector)
    assert copy.get_params() == detector.get_params()
    with pytest.raises(NotFittedError):
        copy.predict(TODAY)
    again = pickle.loads(pickle.dumps(detector))
    assert again.model_ == detector.model_
    assert again.predict(TODAY).tolist() == [1, -1]


def test_it_works_in_a_pipeline():
    same = FunctionTransformer(feature_names_out="one-to-one")
    pipeline = make_pipeline(same, InvariantRuleDetector(min_support=0.1)).fit(NORMAL)
    assert pipeline.predict(TODAY).tolist() == [1, -1]
    numbers = np.random.default_rng(0).normal(size=(100, 3))
    pipeline = make_pipeline(StandardScaler(), InvariantRuleDetector(min_support=0.1)).fit(numbers)
    assert pipeline.predict(np.full((1, 3), 99.0)).tolist() == [-1]
    assert pipeline.score_samples(numbers).min() > pipeline.score_samples(np.full((1, 3), 99.0))[0]


def test_it_works_in_a_grid_search():
    labels = [1, -1] * 50
    tampered = NORMAL.copy()
    tampered.loc[tampered.index % 2 == 1, "flow"] = 99.0

    def accuracy(estimator, table, y):
        return (estimator.predict(table) == y).mean()

    search = GridSearchCV(
        InvariantRuleDetector(n_jobs=1), {"min_support": [0.1, 0.3]}, scoring=accuracy, cv=2
    ).fit(NORMAL, labels)
    assert search.best_params_["min_support"] in (0.1, 0.3)
    assert search.best_estimator_.predict(tampered).min() == -1


def test_an_unfitted_detector_says_so():
    fresh = InvariantRuleDetector()
    for ask in (
        lambda: fresh.predict(TODAY),
        lambda: fresh.attribute(TODAY),
        lambda: fresh.explain(TODAY),
        lambda: fresh.incidents(TODAY),
        lambda: fresh.rules_,
        lambda: fresh.offset_,
        lambda: fresh.save("x"),
        lambda: fresh.disable_rule("x", "y"),
        lambda: fresh.enable_rule("x"),
    ):
        with pytest.raises(NotFittedError):
            ask()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"min_support": 2.0}, "min_support must be 'auto' or above 0 and below 1, got 2.0."),
        ({"support_ratio": 1}, "support_ratio must be 'auto' or at least 0 and below 1, got 1."),
        ({"max_predicates": 1}, "max_predicates must be a whole number of at least 2, got 1."),
        ({"cutoffs": "x"}, "cutoffs must be 'tree' or 'uniform' or 'kmeans', got 'x'."),
        ({"scoring": "x"}, "scoring must be 'evidence' or 'paper', got 'x'."),
        ({"threshold": -1}, "threshold must be a finite number of at least 0, got -1."),
        ({"threshold": math.nan}, "threshold must be a finite number of at least 0, got nan."),
        ({"threshold": "x"}, "threshold must be a finite number of at least 0, got 'x'."),
        ({"n_jobs": 0}, "n_jobs must be None, -1 or at least 1, got 0."),
        ({"n_jobs": 1.5}, "n_jobs must be None, -1 or at least 1, got 1.5."),
        ({"random_state": -1}, "random_state must be a whole number of at least 0, got -1."),
        ({"random_state": "x"}, "random_state must be a whole number of at least 0, got 'x'."),
        (
            {"ignore": "flow"},
            "ignore must be a list of column names, got 'flow'.\nHint: put it in a list: ['flow'].",
        ),
        ({"ignore": 5}, "ignore must be a list of column names, got 5."),
        ({"categorical": None}, "categorical must be a list of column names, got None."),
        (
            {"continuous": ["flo"]},
            "continuous must name columns of the table, got 'flo'.\nHint: did you mean 'flow'?",
        ),
        ({"categorical": [["flow"]]}, "categorical must name columns of the table, got ['flow']."),
        ({"time": ["flow"]}, "time must name columns of the table, got ['flow']."),
    ],
)
def test_parameters_out_of_range_are_refused(parameters, message):
    with pytest.raises(ParameterError) as caught:
        InvariantRuleDetector(**{"min_support": 0.1, **parameters}).fit(NORMAL)
    assert str(caught.value) == message


def test_numpy_scalars_are_numbers_too():
    detector = InvariantRuleDetector(
        min_support=np.float64(0.1),
        support_ratio=np.float32(0.5),
        max_predicates=np.int64(3),
        random_state=np.int64(1),
        threshold=np.int64(1),
        n_jobs=np.int64(1),
    ).fit(NORMAL)
    assert detector.offset_ == -1.0
    assert detector.predict(TODAY).shape == (2,)


def test_refitting_forgets_the_names_of_the_table_before(detector):
    detector.fit(np.random.default_rng(0).normal(size=(50, 2)))
    assert not hasattr(detector, "feature_names_in_")
    assert detector.n_features_in_ == 2


def test_a_table_that_does_not_fit_is_refused(detector):
    with pytest.raises(SchemaError, match=r"^Column 'flow' is missing from the table to score\."):
        detector.predict(TODAY[["pump", "level"]])
    with pytest.raises(TableError, match=r"^A table must have at least one column"):
        detector.predict(TODAY[[]])


def test_every_error_of_ours_is_a_value_error_where_scikit_learn_wants_one():
    for kind in (SchemaError, ParameterError, TableError):
        assert issubclass(kind, ValueError)
        assert issubclass(kind, TruismError)


def test_progress_is_told_through_the_callback():
    told = []
    InvariantRuleDetector(min_support=0.1).fit(NORMAL, progress=lambda *news: told.append(news))
    assert told


def test_notebooks_show_the_model_escaped():
    data = pd.DataFrame({"<b>": ["<i>", "x"] * 20, "y": [1.0, 2.0] * 20})
    detector = InvariantRuleDetector(min_support=0.1)
    assert detector._repr_html_()
    shown = detector.fit(data)._repr_html_()
    assert "<b>&lt;" not in shown
    assert "<i>" not in shown
    assert "rules" in shown


def test_the_repr_shows_what_differs_from_the_defaults():
    assert repr(InvariantRuleDetector(min_support=0.1)) == "InvariantRuleDetector(min_support=0.1)"


def test_fitting_twice_gives_the_same_model():
    one, other = (InvariantRuleDetector(min_support=0.1).fit(NORMAL).model_ for _ in range(2))
    assert one.rules == other.rules
    assert one.schema == other.schema


def test_columns_that_were_not_there_in_training_are_ignored_with_a_notice():
    normal = {"pump": ["on", "off"] * 50, "flow": [2.5, 0.0] * 50}
    detector = InvariantRuleDetector(min_support=0.1).fit(normal)
    today = {"pump": ["on"], "flow": [0.0], "operator": ["Ann"]}
    text = "^Columns that were not in the training table are ignored: 'operator'.$"
    with pytest.warns(UserWarning, match=text):
        scores = detector.anomaly_score(today)
    assert np.array_equal(scores, detector.anomaly_score({n: today[n] for n in normal}))


def plant(n_rows, seed=0):
    """A level that rises while the pump runs and falls while it does not, with a time as text."""
    rng = np.random.default_rng(seed)
    on = np.arange(n_rows) // 10 % 2 == 0
    level = 500 + np.cumsum(np.where(on, 2.0, -2.0)) + rng.normal(0, 0.01, n_rows).round(3)
    when = pd.date_range("2026-01-01", periods=n_rows, freq="min").strftime("%Y-%m-%d %H:%M:%S")
    return pd.DataFrame({"when": when, "pump": np.where(on, "on", "off"), "level": level.round(3)})


def test_changes_can_be_asked_for_and_survive_a_file(tmp_path):
    normal, today = plant(2000), plant(40, seed=1)
    today.loc[25:26, "level"] += [3.0, 6.0]  # rises while the pump is off, never far from normal
    without = InvariantRuleDetector().fit(normal)
    detector = InvariantRuleDetector(delta=True).fit(normal)
    assert "Δlevel" in detector.model_.schema.names
    assert detector.predict(today)[25] == -1
    assert without.anomaly_score(today)[25] < detector.anomaly_score(today)[25]
    assert detector.attribute(today).shape == today.shape
    detector.save(tmp_path / "m.truism.json")
    loaded = load(tmp_path / "m.truism.json")
    assert loaded.delta is True
    assert np.array_equal(loaded.anomaly_score(today), detector.anomaly_score(today))


def test_text_that_reads_as_times_says_when():
    today = plant(40, seed=1)
    today.loc[25, "level"] = 900.0
    detector = InvariantRuleDetector().fit(plant(2000))
    assert detector.model_.schema.time == "when"
    assert detector.model_.schema.left_out == ()
    assert detector.incidents(today)[0].to_dict()["started"] == "2026-01-01T00:25:00"
    (card,) = detector.report(today).incidents
    assert (card.title, card.when) == ("level", "00:25")


def test_an_index_of_dates_says_when(tmp_path):
    normal, today = (
        frame.set_index(pd.to_datetime(frame["when"])).drop(columns="when")
        for frame in (plant(2000), plant(40, seed=1))
    )
    today.iloc[25, 1] = 900.0
    detector = InvariantRuleDetector().fit(normal)
    detector.save(tmp_path / "model.json")
    for each in (detector, load(tmp_path / "model.json")):
        assert each.model_.schema.time == "when"
        assert each.model_.provenance.n_columns == each.n_features_in_ == 2
        assert list(each.feature_names_in_) == ["pump", "level"]
        assert each.attribute(today).shape == (40, 2)
        assert each.incidents(today)[0].to_dict()["started"] == "2026-01-01T00:25:00"
        assert np.array_equal(
            each.anomaly_score(today.reset_index(drop=True)), each.anomaly_score(today)
        )
    numbered = InvariantRuleDetector(ordered=True).fit(normal.reset_index(drop=True))
    assert np.array_equal(numbered.anomaly_score(today), detector.anomaly_score(today))


def test_a_threshold_can_be_calibrated(tmp_path):
    detector = InvariantRuleDetector(threshold=0.5).fit(plant(2000))
    other = plant(1000, seed=3)
    assert detector.calibrate(other, max_false_positive_rate=0.02) is detector
    assert detector.threshold is None
    assert (detector.predict(other) == -1).sum() <= 20
    assert re.fullmatch(
        r"\d+ of 1,000 calibration rows \(\d(\.\d)? %\) exceed it",
        str(detector.model_.limit.origin),
    )
    detector.save(tmp_path / "m.truism.json")
    assert load(tmp_path / "m.truism.json").offset_ == detector.offset_
    assert clone(detector).threshold is None


def test_calibrating_on_the_training_rows_warns():
    normal = plant(500)
    detector = InvariantRuleDetector().fit(normal)
    text = "^The rows to calibrate on are the training rows; use other rows.$"
    with pytest.warns(UserWarning, match=text):
        detector.calibrate(normal)
    with pytest.raises(ParameterError, match=r"^max_false_positive_rate must be at least 0 and be"):
        detector.calibrate(plant(100, seed=3), max_false_positive_rate=1.5)


def test_a_file_name_is_not_a_table(tmp_path):
    for name in ("normal.csv", tmp_path / "normal.csv"):
        with pytest.raises(TableError) as caught:
            InvariantRuleDetector().fit(name)
        assert str(caught.value) == (
            f"X must be a table, not the name of a file, got {str(name)!r}.\n"
            "Hint: read it first, for example with pandas.read_csv or polars.read_parquet."
        )


@pytest.mark.parametrize(
    "method", ["predict", "anomaly_score", "explain", "attribute", "incidents"]
)
def test_warnings_point_at_the_line_that_called(detector, method):
    with pytest.warns(UserWarning, match="operator") as caught:
        getattr(detector, method)(TODAY.assign(operator="Ann"))
    assert {each.filename for each in caught} == {__file__}


def test_long_values_have_short_representations(detector):
    assert repr(detector.rules_) == f"<RuleSet of {len(detector.rules_):,} rules from 100 rows>"
    assert repr(detector.explain(TODAY)) == "<Explanations of 1 row>"


@pytest.mark.parametrize("to_library", [pd.DataFrame, pl.from_pandas, pa.Table.from_pandas])
def test_frames_are_of_the_callers_library(to_library):
    normal = to_library(NORMAL)
    detector = InvariantRuleDetector(min_support=0.1).fit(normal)
    today = to_library(TODAY)
    found = detector.attribute(today, as_frame=True)
    frames = [
        *(found, detector.rules_.to_frame(), detector.rules_[:2].to_frame()),
        *(detector.rules_.about("pump").sorted_by("id").to_frame(),),
        *(detector.explain(today).to_frame(), detector.explain(today)[:1].to_frame()),
        detector.explain({"pump": "on", "flow": 0.0, "level": 1.0}).to_frame(),
    ]
    assert {type(frame) for frame in frames} == {type(normal)}
    attributed = as_table(found)
    assert attributed.names == ("pump", "flow", "level")
    columns = np.column_stack([column.values for column in attributed.columns])
    assert np.array_equal(columns, detector.attribute(today))


def test_attributions_keep_the_index():
    detector = InvariantRuleDetector(min_support=0.1).fit(NORMAL)
    today = TODAY.set_axis(["early", "late"])
    assert detector.attribute(today, as_frame=True).index.tolist() == ["early", "late"]
    one = detector.attribute(today.loc["late"], as_frame=True)
    assert one.iloc[0].sum() == detector.anomaly_score(today)[1]


def test_arrays_are_attributed_in_frames_too(tmp_path):
    array = NORMAL.assign(pump=[1.0, 0.0] * 50).to_numpy()
    detector = InvariantRuleDetector(min_support=0.1).fit(array)
    assert list(detector.attribute(array[:3], as_frame=True).columns) == ["x0", "x1", "x2"]
    detector.save(tmp_path / "m.json")
    assert isinstance(load(tmp_path / "m.json").rules_.to_frame(), pd.DataFrame)


def test_the_library_of_frames_is_no_part_of_the_rules():
    detectors = [
        InvariantRuleDetector(min_support=0.1).fit(normal)
        for normal in (NORMAL, pl.from_pandas(NORMAL))
    ]
    assert detectors[0].rules_ == detectors[1].rules_
    assert hash(detectors[0].rules_) == hash(detectors[1].rules_)
    assert msgspec.json.encode(detectors[0].rules_) == msgspec.json.encode(detectors[1].rules_)


@pytest.mark.parametrize(
    "row",
    [
        TODAY.iloc[1],
        TODAY.iloc[1].to_dict(),
        pl.from_pandas(TODAY).row(1, named=True),
        TODAY.iloc[[1]],
    ],
    ids=["Series", "dict", "named row", "frame"],
)
def test_one_row_can_be_explained(detector, row):
    whole = detector.explain(TODAY)[0]
    told = detector.explain(row)
    assert [each.row for each in told] == [0]
    assert told[0].blames == whole.blames
    assert detector.anomaly_score(row).tolist() == [whole.score]


def test_a_normal_row_can_be_explained(detector):
    told = detector.explain(TODAY.iloc[0])
    assert str(told) == "row 0, score 0\n"
    assert repr(told[0]) == "<Explanation of row 0, score 0: nothing to blame>"
    assert "row 0" in told._repr_html_()
    assert len(detector.explain(TODAY.iloc[[0]])) == 0


def test_one_row_of_an_index_of_times_says_when():
    times = pd.date_range("2024-01-01", periods=100, freq="min")
    detector = InvariantRuleDetector(min_support=0.1).fit(NORMAL.set_index(times))
    row = TODAY.set_index(times[:2]).iloc[1]
    assert str(detector.explain(row)[0].time) == "2024-01-01 00:01:00"
    assert str(detector.explain(row, rows=[0])[0].time) == "2024-01-01 00:01:00"


def test_a_row_must_have_distinct_names(detector):
    row = pd.Series(["on", "off", 0.0], ["pump", "pump", "flow"])
    message = "The names of a row must be distinct, got some of them twice."
    with pytest.raises(TableError, match=re.escape(message)):
        detector.explain(row)


def test_a_series_without_names_is_no_row():
    detector = InvariantRuleDetector(min_support=0.1).fit(NORMAL[["flow", "level"]].to_numpy())
    with pytest.raises(ValueError, match="Expected a 2-dimensional container"):
        detector.explain(pd.Series([1.0, 2.0]))


def test_a_rule_can_be_had_as_plain_values(detector):
    rule = next(each for each in detector.rules_ if each.antecedent)
    plain = rule.to_dict()
    assert json.loads(json.dumps(plain)) == plain
    assert list(plain) == ["id", "rule", "if", "then", "variables", "length", "count"]
    assert (plain["id"], plain["rule"], plain["count"]) == (rule.id, str(rule), rule.count)
    assert len(plain["if"]) + len(plain["then"]) == plain["length"]


def test_threshold_is_the_number_in_force(tmp_path):
    rng = np.random.default_rng(0)
    table = {"x": rng.normal(size=600).cumsum(), "y": rng.normal(size=600)}
    later = {"x": rng.normal(size=600).cumsum(), "y": rng.normal(size=600)}
    detector = InvariantRuleDetector(ordered=True).fit(table)

    def in_force():
        threshold = detector.threshold_
        assert threshold == -detector.offset_ == detector.check(later).threshold
        excess = threshold - detector.decision_function(later)
        assert (detector.predict(later) == np.where(excess > threshold, -1, 1)).all()
        return threshold

    learned = in_force()
    assert learned == detector.model_.threshold
    detector.set_params(threshold=3.5)
    assert in_force() == 3.5
    detector.set_params(threshold=None)
    assert in_force() == learned
    detector.set_params(max_false_incidents="20/1000rows")
    stricter = in_force()
    assert stricter < learned
    detector.save(tmp_path / "m.json")
    again = load(tmp_path / "m.json")
    assert (again.threshold_, again.max_false_incidents) == (stricter, "20/1000rows")
    detector.calibrate(later, max_false_positive_rate=0.1)
    calibrated = in_force()
    assert (detector.predict(later) == -1).mean() <= 0.1
    assert detector.model_.threshold == calibrated
    detector.set_params(max_false_incidents="2/1000rows")
    assert in_force() != calibrated


def test_absent_columns_are_refused_unless_they_may_be(detector, tmp_path):
    table = TODAY.drop(columns="pump")
    message = "Column 'pump' is missing from the table to score."
    with pytest.raises(SchemaError, match=re.escape(message)):
        detector.predict(table)
    allowing = clone(detector).set_params(optional=["pump", "level"]).fit(NORMAL)
    n_rules = len(allowing.rules_)
    for way in (allowing, detector.set_params(allow_missing=True)):
        with pytest.warns(
            UserWarning, match="^Column 'pump' is absent; everything that needs it"
        ) as w:
            scores = way.anomaly_score(table)
        assert str(w[0].message).endswith(f"of {n_rules} rules are left.")
        assert scores.tolist() == [0.0, 0.0]
    allowing.save(tmp_path / "m.json")
    again = load(tmp_path / "m.json")
    assert again.optional == ("pump", "level")
    with pytest.warns(UserWarning, match="'pump' is absent"):
        assert again.attribute(table).tolist() == [[0.0] * 3] * 2
    with pytest.raises(SchemaError, match="'flow'"):
        again.predict(TODAY.drop(columns=["flow", "pump"]))


def test_a_table_that_lacks_every_column_is_refused(detector):
    detector.set_params(allow_missing=True)
    with pytest.raises(SchemaError, match="are missing"):
        detector.predict(pd.DataFrame({"other": [1]}))


def test_calibrating_without_a_column_keeps_the_rules_about_it(detector):
    rules = detector.rules_
    detector.set_params(allow_missing=True)
    with pytest.warns(UserWarning, match="'pump' is absent"):
        detector.calibrate(TODAY.drop(columns="pump"), max_false_positive_rate=0.0)
    assert detector.rules_ == rules
    assert detector.predict(TODAY).tolist() == [1, -1]


@pytest.mark.parametrize(
    ("optional", "message"),
    [
        (
            ["pomp"],
            "optional must name columns of the table, got 'pomp'.\nHint: did you mean 'pump'?",
        ),
        ("pump", "optional must be a list of columns, got 'pump'."),
        (3, "optional must be a list of columns, got 3."),
    ],
)
def test_optional_columns_must_be_there_when_learning(optional, message):
    with pytest.raises(ParameterError) as caught:
        InvariantRuleDetector(optional=optional).fit(NORMAL)
    assert str(caught.value) == message


def test_strict_refuses_what_is_only_read_with_doubts():
    normal = {"x": np.arange(100.0) * 7 % 13.5, "y": [0.5, 1.5] * 50}
    today = {"x": ["1.5", "2.5", "hm", "4.5", "5.5", "6.5", "7.5"], "y": [0.5] * 7}
    detector = InvariantRuleDetector(min_support=0.1).fit(normal)
    with pytest.warns(UserWarning, match="'hm'"):
        detector.anomaly_score(today)
    with pytest.raises(TableError, match="'hm'"):
        detector.set_params(strict=True).anomaly_score(today)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_set_for_the_steps_before_keep_their_names(library):
    normal = NORMAL[["flow", "level"]].assign(level=np.arange(100.0))
    steps = make_pipeline(StandardScaler(), InvariantRuleDetector(min_support=0.1))
    steps.set_output(transform=library).fit(normal)
    detector = steps[-1]
    assert detector.feature_names_in_.tolist() == ["flow", "level"]
    scaled = steps[:-1].transform(normal)
    assert type(detector.attribute(scaled, as_frame=True)) is type(scaled)
    assert type(detector.rules_.to_frame()) is type(scaled)


def test_sparse_columns_without_names_are_read_without_a_word():
    rows = pd.DataFrame(np.eye(40)[:, :2])
    rows[0] = rows[0].astype(pd.SparseDtype(float, 0.0))
    fitted = InvariantRuleDetector(min_support=0.1).fit(rows)  # warnings are errors in tests
    assert np.array_equal(fitted.anomaly_score(rows), fitted.anomaly_score(np.eye(40)[:, :2]))
