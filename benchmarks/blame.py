"""Which variables events of series blame, and which ones the peers blame for the same segments.

A segment counts if truism tells it: if an event begins in its window (`alarms`). The first is judged,
by the place of the first true variable among those that it blames. Peers have no incidents; they are
told which rows to explain, all of the segment, and their parts are summed, ties against them. So every
method is judged on the same segments, and the peers know more. ΔX counts as X.
"""

from __future__ import annotations

import csv
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from benchmarks.alarms import named, rank_among, telling
from benchmarks.cases import BATADAL_TARGETS, Case, Segment, segments_of
from benchmarks.datasets import Kinds
from benchmarks.encode import Matrix, fit_encoder
from benchmarks.results import BLAME, Finding, Interpretation, warn
from benchmarks.tails import Tails, copod, ecod
from benchmarks.timed import BY_OF, CAUSES, FOLDER, family_of
from truism import InvariantRuleDetector
from truism.plant import schedule, simulate
from truism.table.deltas import DELTA

PLANT_RUNS = range(4)
PLANT_ROWS, ATTACKED_ROWS = 20_000, 40_000
MAX_ROWS = 20  # of a segment, where every value of a row is replaced in turn
MAX_LEARNED = 5000  # rows, spread evenly, among which neighbours are looked for
N_NEIGHBORS = 5
VARIANCE = 0.95
EPOCHS = 30
_NOTES = ("label", "in_paper_test")

Parts = Callable[[Matrix], Matrix]
Blame = Mapping[str, float]


def find_cases(data: Path, names: Sequence[str] | None = None) -> Iterator[Case]:
    """Return the tables whose true variables are known: those at hand, and four runs of the plant.

    `names` restricts them to some.
    """

    def wanted(name: str) -> bool:
        return names is None or name in names

    if wanted("batadal") and (data / "batadal_test.parquet").exists():
        yield _batadal(data)
    causes = data / FOLDER / CAUSES
    segments: dict[str, list[Segment]] = defaultdict(list)
    if causes.exists():
        with causes.open(encoding="utf-8") as lines:
            for line in csv.DictReader(lines):
                start, stop = int(line["start"]), int(line["end"])
                name = f"{start} to {stop - 1}"
                targets = tuple(line["variables"].split(";"))
                segments[line["table"]].append(Segment(name, start, stop, targets))
    for name, own in segments.items():
        if wanted(name) and family_of(name) not in BY_OF:  # a case is one series
            yield _case(name, data / FOLDER / name, own)
    for run in PLANT_RUNS:
        if wanted(f"plant_{run}"):
            yield plant_case(run)


def _batadal(data: Path) -> Case:
    label = pq.read_table(data / "batadal_test.parquet")["label"].to_numpy().astype(np.int8)
    segments = [
        Segment(f"{start} to {stop - 1}", start, stop, _flow_and_status(pumps))
        for (start, stop), pumps in zip(segments_of(label), BATADAL_TARGETS, strict=True)
    ]
    return _case("batadal", data / "batadal", segments)


def _flow_and_status(pumps: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"{kind}_{pump}" for pump in pumps for kind in ("F", "S"))


def _case(name: str, place: Path, segments: Sequence[Segment]) -> Case:
    learned, checked = (pq.read_table(f"{place}_{part}.parquet") for part in ("train", "test"))
    checked = checked.drop_columns([note for note in _NOTES if note in checked.column_names])
    return Case(name, learned, checked, checked.slice(0, 0), tuple(segments), _kinds(learned))


def plant_case(run: int, n_rows: int = PLANT_ROWS, n_attacked: int = ATTACKED_ROWS) -> Case:
    """Return a whole run of the plant, with every attack once."""
    attacks = schedule(n_attacked, seed=3 * run + 101)
    learned = pa.table(simulate(n_rows, seed=3 * run + 100).columns)
    checked = pa.table(simulate(n_attacked, seed=3 * run + 101, attacks=attacks).columns)
    segments = tuple(
        Segment(f"{each.id} ({each.kind})", each.start, each.end, tuple(each.targets))
        for each in attacks
    )
    return Case(f"plant_{run}", learned, checked, checked.slice(0, 0), segments, _kinds(learned))


def _kinds(table: pa.Table) -> Kinds:
    texts = [each.name for each in table.schema if pa.types.is_string(each.type)]
    numbers = [
        each.name
        for each in table.schema
        if pa.types.is_floating(each.type) or pa.types.is_integer(each.type)
    ]
    return Kinds(tuple(texts), tuple(numbers))


def blame_all(cases: Iterable[Case]) -> Iterator[Interpretation]:
    """Judge truism and its peers on every case."""
    for case in cases:
        warn(f"blame: {case.name}")
        ours = judge(case)
        yield ours
        reported = [each.n_reported > 0 for each in ours.findings]
        yield from judge_peers(case, reported)


def judge(case: Case) -> Interpretation:
    """Learn, look for events, and see which variables the first of each segment blames."""
    delta = case.name.startswith("plant")
    detector = InvariantRuleDetector(ordered=True, delta=delta, n_jobs=1).fit(case.train)
    events = detector.incidents(case.test)
    ranges = [(segment.start, segment.stop) for segment in case.segments]
    firsts = telling(events, ranges, case.test.num_rows)
    findings = []
    for segment, first in zip(case.segments, firsts, strict=True):
        rank = None if first is None else rank_among(named(first), segment.targets)
        n_rows = segment.stop - segment.start
        counts = int(first is not None)
        findings.append(Finding(segment.name, segment.targets, n_rows, counts, target_rank=rank))
    n_rules = len(detector.rules_)
    return Interpretation(BLAME + case.name, "truism", "", n_rules, 0.0, tuple(findings))


def judge_peers(case: Case, reported: Sequence[bool]) -> Iterator[Interpretation]:
    """Sum the parts of each peer's score over the rows of the segments that truism reports."""
    encoder = fit_encoder(case.train, case.kinds, "standard")
    learned, checked = encoder.encode(case.train), encoder.encode(case.test)
    for name, fit in PEERS.items():
        parts, findings = fit(learned), []
        for segment, counts in zip(case.segments, reported, strict=True):
            blame: Blame = {}
            if counts:
                rows = np.arange(segment.start, segment.stop)
                if name == "knn":
                    rows = rows[:: -(-len(rows) // MAX_ROWS)]
                added = parts(checked[rows]).sum(axis=0)
                blame = merged(zip(encoder.variables, added.tolist(), strict=True))
            length = segment.stop - segment.start
            rank = rank_of(blame, segment.targets)
            findings.append(
                Finding(segment.name, segment.targets, length, int(counts), target_rank=rank)
            )
        yield Interpretation(BLAME + case.name, name, "", 0, 0.0, tuple(findings), "standard")


def rank_of(blame: Blame, targets: Sequence[str]) -> int | None:
    """Return the rank of the first true variable, ties against it; None if it has no blame at all.

    >>> rank_of({"a": 0.5, "b": 0.3, "c": 0.3}, ["b"]), rank_of({"a": 1.0}, ["b"])
    (3, None)
    """
    best = max((blame.get(name, 0.0) for name in targets), default=0.0)
    return sum(part >= best for part in blame.values()) if best > 0 else None


def merged(parts: Iterable[tuple[str, float]]) -> Blame:
    """Add up the parts of each variable; ΔX counts as X."""
    total: dict[str, float] = defaultdict(float)
    for name, part in parts:
        total[name.removeprefix(DELTA)] += part
    return total


def _tails(combine: Any) -> Callable[[Matrix], Parts]:
    def fit(learned: Matrix) -> Parts:
        detector = Tails(combine)
        detector.fit(learned)
        return detector.parts

    return fit


def pca_residual(learned: Matrix) -> Parts:
    """Squared residuals of a PCA that keeps 95 % of the variance."""
    from sklearn.decomposition import PCA

    fitted = PCA(n_components=VARIANCE, svd_solver="full").fit(learned)

    def parts(rows: Matrix) -> Matrix:
        rebuilt = fitted.inverse_transform(fitted.transform(rows))
        return np.asarray((rows - rebuilt) ** 2)

    return parts


def autoencoder_residual(learned: Matrix) -> Parts:
    """Squared residuals of an autoencoder with a bottleneck of a quarter of the width."""
    from sklearn.neural_network import MLPRegressor

    width = max(2, learned.shape[1] // 4)
    network = MLPRegressor(
        hidden_layer_sizes=(width,), activation="tanh", max_iter=EPOCHS, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is stopped on purpose
        network.fit(learned, learned)
    return lambda rows: np.asarray((network.predict(rows) - rows) ** 2)


def replaced_neighbours(learned: Matrix) -> Parts:
    """How much nearer a row comes to its neighbours if one value is replaced by their mean."""
    from sklearn.neighbors import NearestNeighbors

    learned = learned[:: -(-len(learned) // MAX_LEARNED)]
    fitted = NearestNeighbors(n_neighbors=N_NEIGHBORS, algorithm="brute").fit(learned)

    def distances(rows: Matrix) -> NDArray[np.float64]:
        return np.asarray(fitted.kneighbors(rows)[0][:, -1])

    def parts(rows: Matrix) -> Matrix:
        around = learned[fitted.kneighbors(rows, return_distance=False)].mean(axis=1)
        before, found = distances(rows), np.empty_like(rows)
        for place in range(rows.shape[1]):
            changed = rows.copy()
            changed[:, place] = around[:, place]
            found[:, place] = np.maximum(before - distances(changed), 0.0)
        return found

    return parts


PEERS: Mapping[str, Callable[[Matrix], Parts]] = {
    "ecod": _tails(ecod),
    "copod": _tails(copod),
    "pca_error": pca_residual,
    "autoencoder": autoencoder_residual,
    "knn": replaced_neighbours,
}
