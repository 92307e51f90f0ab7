"""A detector among sktime's: its checks, and series with an index of times."""

import numpy as np
import pytest

import truism
from truism.plant import schedule, simulate

pytest.importorskip("sktime", reason="sktime is not installed")
pd = pytest.importorskip("pandas", reason="pandas is not installed")


def series(n_rows, **options):
    columns = simulate(n_rows, **options).columns
    return pd.DataFrame(columns).set_index("time")


def test_it_passes_the_checks_of_sktime():
    from sktime.utils.estimator_checks import check_estimator

    from truism.sktime import RuleDetector

    check_estimator(RuleDetector, raise_exceptions=True, verbose=False)


def test_it_finds_what_the_detector_finds():
    from truism.sktime import RuleDetector

    normal, today = series(2000), series(1000, seed=1, attacks=schedule(1000, seed=1))
    found = RuleDetector(truism.InvariantRuleDetector(random_state=1)).fit(normal)
    alone = truism.InvariantRuleDetector(random_state=1).fit(normal.reset_index())
    assert found.detector_.model_.series is not None
    rows = np.flatnonzero(alone.predict(today.reset_index()) == -1)
    assert 0 < len(rows) < len(today)
    assert found.predict(today)["ilocs"].tolist() == rows.tolist()
    scores = found.transform_scores(today)
    assert scores.index.equals(today.index)
    assert np.array_equal(
        scores["scores"] > alone.threshold_, alone.predict(today.reset_index()) == -1
    )
    assert len(found.predict_scores(today)) == len(rows)
