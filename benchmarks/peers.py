"""The alternatives: each fits one numeric matrix and scores another; higher is worse.

Settings are the paper's where the paper names the method (KDD'23, section 6.1: LOF and
IsolationForest with scikit-learn's defaults), otherwise the library's defaults. Libraries are
imported when a detector is made, so that a run without PyOD or torch still works.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from benchmarks import tails
from benchmarks.encode import Matrix, Scaling

N_NEIGHBORS = 5
PCA_VARIANCE = 0.95

Scores = NDArray[np.float64]


class Peer(Protocol):
    """A detector on numbers."""

    def fit(self, train: Matrix) -> None:
        """Learn from normal rows."""

    def score(self, test: Matrix) -> Scores:
        """One number per row, higher is worse."""


@runtime_checkable
class Divisible(Protocol):
    """A detector that knows what each column adds to a score."""

    def parts(self, test: Matrix) -> Matrix:
        """Rows × columns."""


@dataclass(slots=True)
class Fitted:
    """Any estimator with `fit`, scored by a function of it and the rows.

    `choice` says in words what the detector chose for itself.
    """

    estimator: Any
    score_with: Callable[[Any, Matrix], Any]
    choice: str = field(default="")

    def fit(self, train: Matrix) -> None:
        """Fit the estimator."""
        self.estimator.fit(train)

    def score(self, test: Matrix) -> Scores:
        """Score rows by `score_with`."""
        return np.asarray(self.score_with(self.estimator, test), dtype=np.float64)


def lof(_scaling: Scaling, _seed: int) -> Peer:
    """Local outlier factor, scikit-learn's defaults, fitted to score new rows."""
    from sklearn.neighbors import LocalOutlierFactor

    return Fitted(LocalOutlierFactor(novelty=True), lambda e, x: -e.score_samples(x))


def isolation_forest(_scaling: Scaling, seed: int) -> Peer:
    """Isolation forest, scikit-learn's defaults."""
    from sklearn.ensemble import IsolationForest

    return Fitted(IsolationForest(random_state=seed), lambda e, x: -e.score_samples(x))


def knn(_scaling: Scaling, _seed: int) -> Peer:
    """Distance to the fifth nearest training row."""
    from sklearn.neighbors import NearestNeighbors

    estimator = NearestNeighbors(n_neighbors=N_NEIGHBORS, algorithm="brute")
    return Fitted(estimator, lambda e, x: e.kneighbors(x)[0][:, -1])


def pca(scaling: Scaling, seed: int) -> Peer:
    """PyOD's PCA with 95 % of the variance; it standardises columns that are not scaled yet."""
    from pyod.models.pca import PCA

    estimator = PCA(n_components=PCA_VARIANCE, standardization=scaling == "none", random_state=seed)
    return Fitted(estimator, lambda e, x: e.decision_function(x))


def pca_error(_scaling: Scaling, _seed: int) -> Peer:
    """Squared reconstruction error of a PCA with 95 % of the variance."""
    from sklearn.decomposition import PCA

    def error(estimator: Any, rows: Matrix) -> Matrix:
        rebuilt = estimator.inverse_transform(estimator.transform(rows))
        squared: Matrix = ((rows - rebuilt) ** 2).sum(axis=1)
        return squared

    return Fitted(PCA(n_components=PCA_VARIANCE, svd_solver="full"), error)


def ecod(_scaling: Scaling, _seed: int) -> Peer:
    """Empirical-cumulative-distribution detector, each row against the training rows."""
    return tails.Tails(tails.ecod)


def copod(_scaling: Scaling, _seed: int) -> Peer:
    """Copula-based detector, each row against the training rows."""
    return tails.Tails(tails.copod)


def hbos(_scaling: Scaling, _seed: int) -> Peer:
    """Histogram-based detector (PyOD)."""
    from pyod.models.hbos import HBOS

    return Fitted(HBOS(), lambda e, x: e.decision_function(x))


def autoencoder(_scaling: Scaling, seed: int) -> Peer:
    """Autoencoder as in the paper (`neural.py`)."""
    from benchmarks.neural import AutoEncoder

    return AutoEncoder(seed)


def brief_autoencoder(_scaling: Scaling, seed: int) -> Peer:
    """The same, trained for fewer epochs than reconstruction error would choose."""
    from benchmarks.neural import BRIEF_EPOCHS, AutoEncoder

    return AutoEncoder(seed, BRIEF_EPOCHS)


def deep_svdd(_scaling: Scaling, seed: int) -> Peer:
    """Soft-boundary Deep SVDD as in the paper (`neural.py`)."""
    from benchmarks.neural import DeepSVDD

    return DeepSVDD(seed)
