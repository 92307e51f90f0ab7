"""The paper's public tables, where ``TRUISM_DATA`` names their folder."""

import os
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from sklearn.metrics import roc_auc_score

import truism
from tests.net.observing import in_records, rules_of, scores_of
from tests.net.program import run

TABLES = ("annthyroid", "batadal", "cardio", "gas_pipeline", "kddcup99")
IN_ORDER = {"batadal"}
NOT_VARIABLES = ["label", "in_paper_test"]


def data() -> Path | None:
    """Return the folder of the tables, if it is known."""
    folder = os.environ.get("TRUISM_DATA")
    return Path(folder) if folder else None


def observe_public(name: str, folder: Path) -> dict[str, Any]:
    """Learn from its normal rows as a user would, and score the others."""
    source = data()
    assert source is not None
    model = folder / "model.json"
    learned = run("learn", source / f"{name}_train.parquet", "-o", model)
    assert learned.code == 0, learned.err
    detector = truism.load(model)
    later = pq.read_table(source / f"{name}_test.parquet")
    wrong = later["label"].to_numpy()
    rows = later.drop_columns([each for each in NOT_VARIABLES if each in later.column_names])
    scores = scores_of(detector, rows)
    parts = {
        "rules": rules_of(detector),
        "scores": {"auc": roc_auc_score(wrong, detector.anomaly_score(rows)), **scores},
        "findings": {
            "threshold": detector.threshold_,
            "n_anomalous": int((detector.predict(rows) == -1).sum()),
        },
    }
    return in_records(name, parts, ordered=name in IN_ORDER)
