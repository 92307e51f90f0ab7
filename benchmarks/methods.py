"""Every method by name: what it needs, which seeds it runs with, how to make it.

One table drives detection, speed, robustness and smoke runs, so a method added here is measured
everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from benchmarks import peers
from benchmarks.datasets import Dataset, Kinds
from benchmarks.encode import Encoder, Scaling, fit_encoder
from benchmarks.rules import Mlxtend, RuleDetector, Setting

Role = Literal["ours", "peer", "miner"]

_BOTH: tuple[Scaling, ...] = ("minmax", "standard")
_EITHER: tuple[Scaling, ...] = ("codes", "none")


class TableDetector(Protocol):
    """A detector on tables, as `worker.py` runs it."""

    def fit(self, train: pa.Table) -> None:
        """Learn from normal rows."""

    def score(self, test: pa.Table) -> NDArray[np.float64] | None:
        """One number per row, higher is worse; None where scoring is not defined."""


class Encoded:
    """A peer behind an encoder; encoding counts as part of fitting and scoring."""

    def __init__(self, peer: peers.Peer, kinds: Kinds, scaling: Scaling) -> None:
        self.peer = peer
        self.kinds = kinds
        self.scaling = scaling
        self.encoder = Encoder(())

    def fit(self, train: pa.Table) -> None:
        """Learn the encoding, then the detector."""
        self.encoder = fit_encoder(train, self.kinds, self.scaling)
        self.peer.fit(self.encoder.encode(train))

    def score(self, test: pa.Table) -> NDArray[np.float64]:
        """Encode, then score."""
        return self.peer.score(self.encoder.encode(test))

    def attribute(self, test: pa.Table) -> dict[str, NDArray[np.float64]]:
        """What each variable adds to the scores; its columns are summed."""
        if not isinstance(self.peer, peers.Divisible):
            raise TypeError(f"{type(self.peer).__name__} does not divide its score.")
        parts = self.peer.parts(self.encoder.encode(test))
        added: dict[str, NDArray[np.float64]] = {}
        for name, column in zip(self.encoder.variables, parts.T, strict=True):
            added[name] = added[name] + column if name in added else column
        return added

    @property
    def choice(self) -> str:
        """What the detector chose for itself."""
        return str(getattr(self.peer, "choice", ""))


@dataclass(frozen=True, slots=True)
class Method:
    """A named method.

    Parameters
    ----------
    scalings
        All are measured; table 2 shows the best one.
    packages
        A cached result depends on their versions.
    revision
        Raise it when our code for the method computes something else, to discard cached results.
    settings
        Fixed parameters of the rule detector; those of a job are added.
    """

    name: str
    title: str
    role: Role
    packages: tuple[str, ...]
    make_peer: Callable[[Scaling, int], peers.Peer] | None = None
    scalings: tuple[Scaling, ...] = ("none",)
    seeds: tuple[int, ...] = (0,)
    settings: tuple[tuple[str, Setting], ...] = ()
    keeps_unused: bool = False
    needs_torch: bool = False
    revision: int = 1

    def make(
        self, dataset: Dataset, scaling: Scaling, seed: int, settings: Mapping[str, Setting]
    ) -> TableDetector:
        """Make a new detector for a dataset."""
        if self.make_peer is not None:
            return Encoded(self.make_peer(scaling, seed), dataset.kinds, scaling)
        if self.role == "miner":
            return Mlxtend(settings)
        return RuleDetector(
            dataset.kinds if dataset.told else Kinds((), ()),
            dataset.time,
            dict(self.settings) | dict(settings),
            seed,
            unused=self.keeps_unused,
        )


# KDD'23, section 6.1; written out, so that a change of truism's defaults does not change these
_PAPER: tuple[tuple[str, Setting], ...] = (
    ("max_predicates", 5),
    ("min_support", "auto"),
    ("scoring", "paper"),
    ("support_ratio", 0.7),
)
_SKLEARN = ("scikit-learn", "numpy")
_PYOD = ("pyod", "scikit-learn", "numpy")
_SCIPY = ("scipy", "numpy")
_TORCH = ("torch", "numpy")
_OURS = ("truism",)

METHODS: tuple[Method, ...] = (
    Method("lof", "LOF", "peer", _SKLEARN, peers.lof, _BOTH),
    Method("iforest", "IF", "peer", _SKLEARN, peers.isolation_forest, _EITHER, tuple(range(10))),
    Method(
        "autoencoder",
        "AE",
        "peer",
        _TORCH,
        peers.autoencoder,
        _BOTH,
        seeds=(0, 1, 2),
        needs_torch=True,
        revision=3,
    ),
    Method(
        "autoencoder_brief",
        "AE, brief",
        "peer",
        _TORCH,
        peers.brief_autoencoder,
        _BOTH,
        seeds=(0, 1, 2),
        needs_torch=True,
    ),
    Method(
        "deepsvdd",
        "DeepSVDD",
        "peer",
        _TORCH,
        peers.deep_svdd,
        _BOTH,
        seeds=(0, 1, 2),
        needs_torch=True,
    ),
    Method("uniform", "uniform bins", "ours", _OURS, settings=(*_PAPER, ("cutoffs", "uniform"))),
    Method("kmeans", "k-means bins", "ours", _OURS, settings=(*_PAPER, ("cutoffs", "kmeans"))),
    Method("paper", "paper's method", "ours", _OURS, settings=(*_PAPER, ("cutoffs", "tree"))),
    Method("truism", "truism (default)", "ours", _OURS, keeps_unused=True),
    Method("knn", "KNN", "peer", _SKLEARN, peers.knn, _BOTH),
    Method("pca", "PCA", "peer", _PYOD, peers.pca, ("none", "minmax", "standard")),
    Method("pca_error", "PCA error", "peer", _SKLEARN, peers.pca_error, _BOTH),
    Method("ecod", "ECOD", "peer", _SCIPY, peers.ecod, _EITHER, revision=2),
    Method("copod", "COPOD", "peer", _SCIPY, peers.copod, _EITHER, revision=2),
    Method("hbos", "HBOS", "peer", _PYOD, peers.hbos, _EITHER),
    Method("mlxtend", "mlxtend", "miner", ("mlxtend", "pandas", "numpy")),
)
METHOD_OF: Mapping[str, Method] = {method.name: method for method in METHODS}
DETECTORS: tuple[Method, ...] = tuple(method for method in METHODS if method.role != "miner")
