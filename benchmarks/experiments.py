"""The experiments: each turns datasets into jobs, and jobs into runs.

To add an experiment, add a function and its name to `EXPERIMENTS`; `sections` decides how the page
shows it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import product

import numpy as np

from benchmarks import bundled, datasets, plants, timed
from benchmarks.blame import blame_all, find_cases
from benchmarks.faults import judge_faults
from benchmarks.interpretability import interpret_all
from benchmarks.methods import DETECTORS, METHOD_OF, Method
from benchmarks.results import Interpretation, Job, Run, Shape, warn
from benchmarks.runner import Runner

# KDD'23, section 6.2, figure 2
MIN_SUPPORTS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32)
SUPPORT_RATIOS = (0.0, 0.3, 0.6, 0.9)

CONTAMINATIONS = (0.0, 0.001, 0.01, 0.05)
SHARES = (1.0, 0.5, 0.25, 0.125)
SPLIT_SEEDS = tuple(range(10))
VARIATION_SEEDS = (0, 1, 2)
ROBUST_METHODS = ("truism", "paper", "knn", "iforest")

GROWING = ("truism", "paper", "iforest", "knn")
MANY_ROWS = (25_000, 50_000, 100_000, 200_000)
MANY_COLUMNS = (25, 50, 100, 200)
FIXED_COLUMNS = 20
FIXED_ROWS = 5_000
GROWTH_SETTINGS = (("min_support", 0.01),)

ATTACKED = "kddcup99"
ATTACK_METHODS = ("paper", "truism", "knn", "autoencoder", "deepsvdd", "pca_error")

SERIES_METHODS = ("truism", "knn", "lof", "pca", "iforest", "autoencoder_brief")
PROMISES = ("2/1000rows", "1/1000rows", "0.5/1000rows")  # false incidents
PROMISED = ("GECCO", "SMD", "ASD", "BATADAL", *plants.TITLES)  # families that must keep them

FURTHER_METHODS = ("paper", "truism", "knn", "iforest", "ecod", "pca")
FURTHER_SEEDS = (0, 1, 2)

MINING_TABLES = ("binned-annthyroid", "binned-cardio", "binned-batadal")
MINING_SETTINGS = (
    ("max_predicates", 4),
    ("min_support", 0.05),
    ("scoring", "paper"),
    ("support_ratio", 0.0),
)


@dataclass(frozen=True, slots=True)
class Plan:
    """What to measure with: a runner, the datasets, and the methods that can run here.

    `series` are the tables in order of time.
    """

    runner: Runner
    datasets: tuple[str, ...]
    methods: tuple[Method, ...]
    series: tuple[str, ...] = ()

    def has(self, name: str) -> bool:
        """Whether a method is part of the plan."""
        return any(method.name == name for method in self.methods)


@dataclass(frozen=True, slots=True)
class Measured:
    """What an experiment adds to the results."""

    shapes: tuple[Shape, ...] = ()
    runs: tuple[Run, ...] = ()
    interpretations: tuple[Interpretation, ...] = ()


def usable_methods(names: Sequence[str] = ()) -> tuple[Method, ...]:
    """Return the detectors whose packages are installed: all of them, or those named."""
    modules = {"scikit-learn": "sklearn"}
    usable = []
    for method in DETECTORS:
        if names and method.name not in names:
            continue
        absent = [p for p in method.packages if find_spec(modules.get(p, p)) is None]
        if absent:
            warn(f"{method.title} is left out: {', '.join(absent)} is not installed.")
        else:
            usable.append(method)
    return tuple(usable)


def table1(plan: Plan) -> Measured:
    """KDD'23, table 1: the datasets."""
    return Measured(shapes=tuple(_shape(name, plan) for name in plan.datasets))


def _shape(name: str, plan: Plan) -> Shape:
    dataset = datasets.load(name, plan.runner.data)
    return Shape(
        dataset=name,
        train_rows=dataset.train.num_rows,
        test_rows=dataset.test.num_rows,
        n_continuous=len(dataset.kinds.continuous),
        n_categorical=len(dataset.kinds.categorical),
        n_unused=len(dataset.kinds.unused),
        anomaly_share=float(np.mean(dataset.label)),
    )


def table2(plan: Plan) -> Measured:
    """KDD'23, table 2: detection by every method, every scaling, every seed."""
    jobs = (
        Job(name, method.name, scaling, seed)
        for method in plan.methods
        for name in plan.datasets
        for scaling in method.scalings
        for seed in method.seeds
    )
    return Measured(runs=plan.runner.run("table2", jobs))


def grid(plan: Plan) -> Measured:
    """KDD'23, figure 2: θ and γ of the paper's method."""
    jobs = (
        Job(name, "paper", settings=(("min_support", theta), ("support_ratio", gamma)))
        for name, theta, gamma in product(plan.datasets, MIN_SUPPORTS, SUPPORT_RATIOS)
        if plan.has("paper")
    )
    return Measured(runs=plan.runner.run("grid", jobs, isolated=False))


def attacks(plan: Plan) -> Measured:
    """Each attack of KDD Cup 99 separately, on the whole test file: two attacks are most of its rows."""
    jobs = (
        Job(f"whole-{ATTACKED}", name, scaling)
        for name in ATTACK_METHODS
        if plan.has(name) and ATTACKED in plan.datasets
        for scaling in METHOD_OF[name].scalings
    )
    return Measured(runs=plan.runner.run("attacks", jobs))


def further(plan: Plan) -> Measured:
    """Tables that the paper does not use and that come with scikit-learn."""
    jobs = (
        Job(f"bundled-{task}", name, scaling, seed)
        for task in bundled.TASKS
        for name in FURTHER_METHODS
        if plan.has(name)
        for scaling in METHOD_OF[name].scalings
        for seed in METHOD_OF[name].seeds
        if seed in FURTHER_SEEDS
    )
    return Measured(runs=plan.runner.run("further", jobs, isolated=False))


def series(plan: Plan) -> Measured:
    """Tables in order of time: alarms that people can live with."""
    runs = plan.runner.run("series", _series_jobs(plan), isolated=False)
    with_plant = plan.has("truism") and f"{timed.PREFIX}plant" in plan.series
    return Measured(runs=runs, interpretations=tuple(judge_faults()) if with_plant else ())


def _series_jobs(plan: Plan) -> Iterator[Job]:
    for name, method in product(plan.series, filter(plan.has, SERIES_METHODS)):
        family = timed.family_of(name)
        settings = timed.settings_of(name) if method == "truism" else ()
        if family not in plants.TITLES:
            yield Job(name, method, METHOD_OF[method].scalings[-1], settings=settings)
        for promise in PROMISES if method == "truism" and family in PROMISED else ():
            yield Job(name, method, settings=(("max_false_incidents", promise), *settings))


def table3(plan: Plan) -> Measured:
    """KDD'23, table 3: what rules say about attacks, and which variables the peers' scores come from."""
    methods = [method.name for method in plan.methods]
    found = interpret_all(plan.datasets, plan.runner.data, methods)
    return Measured(interpretations=tuple(found))


def blame(plan: Plan) -> Measured:
    """Whom incidents of real series and of the plant are blamed on, and whom the peers blame."""
    assert plan.runner.data is not None
    return Measured(interpretations=tuple(blame_all(find_cases(plan.runner.data))))


def speed(plan: Plan) -> Measured:
    """Time and memory of every method on every dataset, all measured in this run."""
    jobs = [
        Job(name, method.name, method.scalings[-1])
        for name in plan.datasets
        for method in plan.methods
    ]
    return Measured(runs=plan.runner.run("speed", jobs, fresh=True))


def mining(plan: Plan) -> Measured:
    """Mining alone, γ = 0, on tables without continuous variables: ours against mlxtend."""
    names = [n for n in MINING_TABLES if n.removeprefix("binned-") in plan.datasets]
    jobs = [
        Job(name, method, settings=MINING_SETTINGS)
        for name in names
        for method in ("paper", "mlxtend")
        if method == "mlxtend" or plan.has(method)
    ]
    return Measured(runs=plan.runner.run("mining", jobs, fresh=True))


def growth(plan: Plan) -> Measured:
    """Time against rows and against columns, on generated tables."""
    names = [f"generated-{rows}x{FIXED_COLUMNS}" for rows in MANY_ROWS]
    names += [f"generated-{FIXED_ROWS}x{columns}" for columns in MANY_COLUMNS]
    jobs = [
        Job(name, method, METHOD_OF[method].scalings[-1], settings=_growth_settings(method))
        for name in names
        for method in GROWING
        if plan.has(method)
    ]
    return Measured(runs=plan.runner.run("growth", jobs, fresh=True))


def _growth_settings(method: str) -> tuple[tuple[str, float], ...]:
    """A fixed θ for the paper's method: choosing it would take most of the time."""
    return GROWTH_SETTINGS if method == "paper" else ()


def robustness(plan: Plan) -> Measured:
    """Contaminated training rows, fewer training rows, and other seeds for the θ split."""
    return Measured(runs=plan.runner.run("robustness", _robustness_jobs(plan), isolated=False))


def _robustness_jobs(plan: Plan) -> Iterator[Job]:
    methods = [name for name in ROBUST_METHODS if plan.has(name)]
    ours = [name for name in methods if METHOD_OF[name].role == "ours"]
    for name, method in product(plan.datasets, methods):
        scaling = METHOD_OF[method].scalings[-1]
        for value, seed in product(CONTAMINATIONS, VARIATION_SEEDS):
            if value or method in ours or seed in METHOD_OF[method].seeds:
                yield Job(name, method, scaling, seed, contamination=value)
        for value, seed in product(SHARES[1:], VARIATION_SEEDS):
            yield Job(name, method, scaling, seed, share=value)
    for name, method, seed in product(plan.datasets, ours, SPLIT_SEEDS):
        if seed not in VARIATION_SEEDS:
            yield Job(name, method, seed=seed)


EXPERIMENTS: Mapping[str, Callable[[Plan], Measured]] = {
    "table1": table1,
    "table2": table2,
    "grid": grid,
    "attacks": attacks,
    "further": further,
    "series": series,
    "table3": table3,
    "blame": blame,
    "speed": speed,
    "mining": mining,
    "growth": growth,
    "robustness": robustness,
}


def run_all(plan: Plan, names: Iterable[str]) -> Measured:
    """Run experiments by name and join what they add."""
    parts = [EXPERIMENTS[name](plan) for name in names]
    return Measured(
        shapes=tuple(shape for part in parts for shape in part.shapes),
        runs=tuple(run for part in parts for run in part.runs),
        interpretations=tuple(i for part in parts for i in part.interpretations),
    )
