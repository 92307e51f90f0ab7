"""Our own detector and the rule miner to compare it with, used through their public interfaces."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from benchmarks.datasets import Kinds, column

MINING_SUPPORT = 0.05
MINING_LENGTH = 4

Setting = bool | int | float | str


class RuleDetector:
    """`truism.InvariantRuleDetector` with the kinds of the paper and the settings of a job.

    Parameters
    ----------
    unused
        Whether to keep columns that are constant in training. The paper leaves them out; truism
        keeps them by default.
    """

    def __init__(
        self,
        kinds: Kinds,
        time: str | None,
        settings: Mapping[str, Setting],
        seed: int,
        *,
        unused: bool,
    ) -> None:
        from truism import InvariantRuleDetector

        self.detector = InvariantRuleDetector(
            categorical=kinds.categorical,
            continuous=kinds.continuous,
            ignore=() if unused else kinds.unused,
            time=time,
            random_state=seed,
            n_jobs=int(os.environ.get("OMP_NUM_THREADS", "1")),
            **settings,
        )

    def fit(self, train: pa.Table) -> None:
        """Learn rules."""
        self.detector.fit(train)

    def score(self, test: pa.Table) -> NDArray[np.float64]:
        """The anomaly score."""
        return np.asarray(self.detector.anomaly_score(test), dtype=np.float64)

    @property
    def n_rules(self) -> int:
        """Rules learned, univariate ones included."""
        return len(self.detector.rules_)

    @property
    def choice(self) -> str:
        """The minimum support in use, given or chosen."""
        return f"θ = {self.detector.model_.provenance.min_support:g}"


class Mlxtend:
    """Frequent sets and exact rules by mlxtend: the cost of mining the usual way.

    Only for tables whose variables are all categorical. Scoring is not defined.
    """

    choice = ""

    def __init__(self, settings: Mapping[str, Setting]) -> None:
        self.min_support = float(settings.get("min_support", MINING_SUPPORT))
        self.max_predicates = int(settings.get("max_predicates", MINING_LENGTH))
        self.n_rules = 0

    def fit(self, train: pa.Table) -> None:
        """Mine every rule of confidence 1."""
        import pandas as pd
        from mlxtend.frequent_patterns import association_rules, fpgrowth

        truth: dict[str, Any] = {}
        for name in train.column_names:
            values = column(train, name)
            truth |= {f"{name}={value}": values == value for value in np.unique(values)}
        frequent = fpgrowth(
            pd.DataFrame(truth),
            min_support=self.min_support,
            use_colnames=True,
            max_len=self.max_predicates,
        )
        found = association_rules(
            frequent, num_itemsets=len(train), metric="confidence", min_threshold=1.0
        )
        self.n_rules = len(found)

    def score(self, test: pa.Table) -> NDArray[np.float64] | None:  # noqa: ARG002  protocol
        """Nothing: a list of rules is not a detector."""
        return None
