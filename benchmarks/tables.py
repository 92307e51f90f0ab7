"""Runs -> the numbers on the page: means over seeds, the better scaling, ranks, differences.

Everything here is plain arithmetic on records; `sections` only formats it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev

from benchmarks import paper
from benchmarks.encode import Scaling
from benchmarks.methods import DETECTORS
from benchmarks.metrics import mean_ranks
from benchmarks.results import Interpretation, Results, Run

UNEXPLAINED = "not explained yet"
LOSS_TOLERANCE = 0.05
QUIET_RATE = 0.02
CLEAR_SHARE = 0.05


@dataclass(frozen=True, slots=True)
class Cell:
    """A method on a dataset: mean and standard deviation over seeds, in its better scaling."""

    dataset: str
    method: str
    scaling: Scaling
    auc: float
    pauc: float
    auc_sd: float
    pauc_sd: float
    n_seeds: int
    choice: str


@dataclass(frozen=True, slots=True)
class Difference:
    """A cell of table 2 that differs from the paper's by more than the tolerance."""

    dataset: str
    method: str
    ours: Cell
    printed: paper.Printed
    explanation: str


def all_cells(results: Results, experiment: str = "table2") -> tuple[Cell, ...]:
    """One cell for every dataset, method and scaling of table 2, or of a table like it."""
    groups: dict[tuple[str, str, Scaling], list[Run]] = {}
    for run in results.of(experiment):
        key = (run.job.dataset, run.job.method, run.job.scaling)
        groups.setdefault(key, []).append(run)
    return tuple(_cell(*key, runs) for key, runs in groups.items())


def _cell(dataset: str, method: str, scaling: Scaling, runs: list[Run]) -> Cell:
    aucs = [run.outcome.auc for run in runs if run.outcome.auc is not None]
    paucs = [run.outcome.pauc for run in runs if run.outcome.pauc is not None]
    return Cell(
        dataset,
        method,
        scaling,
        fmean(aucs),
        fmean(paucs),
        pstdev(aucs),
        pstdev(paucs),
        len(runs),
        runs[0].outcome.choice,
    )


def best_cells(cells: Iterable[Cell]) -> dict[str, dict[str, Cell]]:
    """Every method in the scaling that suits it best on the dataset (AUC and pAUC together).

    This favours the alternatives: it uses the labels, which no user has.
    """
    best: dict[str, dict[str, Cell]] = {}
    for cell in cells:
        row = best.setdefault(cell.dataset, {})
        other = row.get(cell.method)
        if other is None or cell.auc + cell.pauc > other.auc + other.pauc:
            row[cell.method] = cell
    order = [name for name in paper.TITLES if name in best]
    order += [name for name in best if name not in order]
    methods = [method.name for method in DETECTORS]
    return {
        name: {method: best[name][method] for method in methods if method in best[name]}
        for name in order
    }


@dataclass(frozen=True, slots=True)
class Summary:
    """Mean score and mean rank of a method over the datasets all methods were measured on."""

    method: str
    auc: float
    pauc: float
    auc_rank: float
    pauc_rank: float


def summaries(best: Mapping[str, Mapping[str, Cell]]) -> tuple[Summary, ...]:
    """Averages as in the paper, over methods that were measured on every dataset."""
    if not best:
        return ()
    complete = [m.name for m in DETECTORS if all(m.name in row for row in best.values())]
    auc_ranks = mean_ranks(_table(best, complete, lambda cell: cell.auc))
    pauc_ranks = mean_ranks(_table(best, complete, lambda cell: cell.pauc))
    return tuple(
        Summary(
            name,
            fmean(row[name].auc for row in best.values()),
            fmean(row[name].pauc for row in best.values()),
            auc_ranks[name],
            pauc_ranks[name],
        )
        for name in complete
    )


def ahead(best: Mapping[str, Mapping[str, Cell]], method: str) -> Iterator[tuple[Cell, Cell]]:
    """Every cell with a higher AUC, to three digits, than a method's on its dataset, and the method's."""
    for row in best.values():
        for cell in row.values():
            if method in row and round(cell.auc, 3) > round(row[method].auc, 3):
                yield cell, row[method]


def _table(
    best: Mapping[str, Mapping[str, Cell]], methods: list[str], value: Callable[[Cell], float]
) -> dict[str, dict[str, float]]:
    return {name: {m: value(row[m]) for m in methods} for name, row in best.items()}


def differences(best: Mapping[str, Mapping[str, Cell]]) -> Iterator[Difference]:
    """Every cell that differs from the paper's by more than 0.02, with the reason if known."""
    for dataset, row in best.items():
        for method, cell in row.items():
            printed = paper.TABLE_2.get(dataset, {}).get(method)
            if printed is None:
                continue
            distance = max(abs(cell.auc - printed.auc), abs(cell.pauc - printed.pauc))
            if distance > paper.TOLERANCE + 0.005:  # the paper rounds to two digits
                reason = paper.explanation(dataset, method) or UNEXPLAINED
                yield Difference(dataset, method, cell, printed, reason)


@dataclass(frozen=True, slots=True)
class GridPoint:
    """A point of figure 2."""

    dataset: str
    min_support: float
    support_ratio: float
    n_rules: int
    auc: float
    pauc: float


def grid_points(results: Results) -> tuple[GridPoint, ...]:
    """The hyperparameter grid."""
    points = []
    for run in results.of("grid"):
        settings = dict(run.job.settings)
        outcome = run.outcome
        if outcome.auc is None or outcome.pauc is None:
            continue
        points.append(
            GridPoint(
                run.job.dataset,
                float(settings["min_support"]),
                float(settings["support_ratio"]),
                outcome.n_rules or 0,
                outcome.auc,
                outcome.pauc,
            )
        )
    return tuple(points)


def best_points(points: Iterable[GridPoint]) -> dict[str, GridPoint]:
    """The best point of the grid for each dataset, by AUC and pAUC together."""
    best: dict[str, GridPoint] = {}
    for point in points:
        other = best.get(point.dataset)
        if other is None or point.auc + point.pauc > other.auc + other.pauc:
            best[point.dataset] = point
    return best


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean and range of AUC and pAUC over seeds, for one value of what is varied."""

    dataset: str
    method: str
    value: float
    auc: float
    pauc: float
    auc_low: float
    auc_high: float
    alarm_rate: float


def spreads(results: Results, value_of: Callable[[Run], float | None]) -> tuple[Spread, ...]:
    """Robustness runs by dataset, method and the value that `value_of` returns (None: skip)."""
    groups: dict[tuple[str, str, float], list[Run]] = {}
    for run in results.of("robustness"):
        value = value_of(run)
        if value is not None:
            groups.setdefault((run.job.dataset, run.job.method, value), []).append(run)
    return tuple(_spread(*key, runs) for key, runs in groups.items())


def _spread(dataset: str, method: str, value: float, runs: list[Run]) -> Spread:
    aucs = [run.outcome.auc or 0.0 for run in runs]
    return Spread(
        dataset,
        method,
        value,
        fmean(aucs),
        fmean(run.outcome.pauc or 0.0 for run in runs),
        min(aucs),
        max(aucs),
        fmean(run.outcome.alarm_rate or 0.0 for run in runs),
    )


@dataclass(frozen=True, slots=True)
class Loss:
    """The AUC that a method loses on a dataset at one value of what is varied."""

    dataset: str
    method: str
    value: float
    before: float
    after: float


def losses(varied: Sequence[Spread], start: float) -> Iterator[Loss]:
    """Every loss of AUC over `LOSS_TOLERANCE` relative to the value `start`, largest first."""
    base_of = {(s.dataset, s.method): s.auc for s in varied if s.value == start}
    found = [
        Loss(s.dataset, s.method, s.value, base_of[s.dataset, s.method], s.auc)
        for s in varied
        if (s.dataset, s.method) in base_of
    ]
    found.sort(key=lambda loss: loss.after - loss.before)
    for loss in found:
        if loss.before - loss.after > LOSS_TOLERANCE:
            yield loss


def contamination_of(run: Run) -> float | None:
    """The contamination of a run on all training rows."""
    in_seeds = run.job.seed in (0, 1, 2)
    return run.job.contamination if run.job.share == 1.0 and in_seeds else None


def share_of(run: Run) -> float | None:
    """The share of training rows of a run without contamination."""
    in_seeds = run.job.seed in (0, 1, 2)
    return run.job.share if run.job.contamination == 0.0 and in_seeds else None


def seed_of(run: Run) -> float | None:
    """0 for every run on the unchanged training table, so that all seeds form one group."""
    plain = run.job.share == 1.0 and run.job.contamination == 0.0
    return 0.0 if plain else None


@dataclass(frozen=True, slots=True)
class Hits:
    """How high the first target ranks among the blamed variables, over attacks."""

    interpretation: Interpretation
    n_attacks: int
    n_reported: int
    first: float
    in_three: float
    reciprocal: float


def detectable(interpretations: Iterable[Interpretation]) -> set[str]:
    """Attacks that a method with few false alarms reports well above its false-alarm rate."""
    return {
        finding.segment
        for each in interpretations
        if each.false_alarm_rate <= QUIET_RATE
        for finding in each.findings
        if finding.n_reported >= CLEAR_SHARE * finding.n_rows
    }


def hits(each: Interpretation, attacks: set[str]) -> Hits:
    """Hit@1, Hit@3 and mean reciprocal rank; an attack that is not reported is a miss."""
    found = [finding for finding in each.findings if finding.segment in attacks]
    ranks = [finding.target_rank for finding in found]
    n_attacks = max(1, len(found))
    return Hits(
        each,
        len(found),
        sum(finding.n_reported > 0 for finding in found),
        sum(rank == 1 for rank in ranks) / n_attacks,
        sum(rank is not None and rank <= 3 for rank in ranks) / n_attacks,
        sum(1 / rank for rank in ranks if rank is not None) / n_attacks,
    )


def better_hits(interpretations: Sequence[Interpretation]) -> tuple[Hits, ...]:
    """The hits of each method on a table, in the preparation that suits it best."""
    attacks = detectable(interpretations)
    best: dict[str, Hits] = {}
    for each in interpretations:
        own = hits(each, attacks)
        other = best.get(each.method)
        if other is None or own.reciprocal > other.reciprocal:
            best[each.method] = own
    return tuple(best.values())
