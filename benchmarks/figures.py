"""Records -> SVG figures, drawn with matplotlib; the numbers behind them are in the results."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from itertools import product
from statistics import fmean
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from benchmarks import paper
from benchmarks.methods import METHOD_OF
from benchmarks.results import Run
from benchmarks.tables import GridPoint, Spread

mpl.rcParams["svg.hashsalt"] = "benchmarks"  # the same numbers give the same bytes

_SIZE = 2.6
_TITLES = {"n_rules": "rules", "auc": "AUC", "pauc": "pAUC"}


def _svg(figure: Figure) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()


def _panels(n_rows: int, n_columns: int) -> tuple[Figure, list[Any]]:
    figure = Figure(figsize=(_SIZE * 1.3 * n_columns, _SIZE * n_rows), layout="constrained")
    axes = figure.subplots(n_rows, n_columns, squeeze=False)
    return figure, list(axes.flat)


def grid(points: Sequence[GridPoint]) -> bytes:
    """Figure 2: rules, AUC and pAUC against θ, a line for each γ; the average first, then each table."""
    names = list(dict.fromkeys(point.dataset for point in points))
    figure, axes = _panels(1 + len(names), 3)
    _grid_row(axes[:3], points, "average")
    for place, name in enumerate(names, 1):
        own = [point for point in points if point.dataset == name]
        _grid_row(axes[3 * place : 3 * place + 3], own, paper.TITLES.get(name, name))
    axes[0].legend(fontsize="small")
    return _svg(figure)


def _grid_row(axes: Sequence[Any], points: Sequence[GridPoint], title: str) -> None:
    all_thetas = sorted({point.min_support for point in points})
    for axis, (what, label) in zip(axes, _TITLES.items(), strict=True):
        for gamma in sorted({point.support_ratio for point in points}):
            chosen = [point for point in points if point.support_ratio == gamma]
            thetas = sorted({point.min_support for point in chosen})
            means = [
                fmean(getattr(p, what) for p in chosen if p.min_support == theta)
                for theta in thetas
            ]
            axis.plot(thetas, means, marker=".", label=f"γ = {gamma}")
        axis.set_xscale("log")
        axis.set_xlabel("θ")
        axis.set_title(f"{title}: {label}", fontsize="medium")
        axis.set_xticks(all_thetas, [f"{theta:g}" for theta in all_thetas], fontsize="small")
        axis.minorticks_off()
        if what == "n_rules":
            axis.set_yscale("symlog")


def spread(spreads: Sequence[Spread], label: str, *, log: bool) -> bytes:
    """One small figure per dataset: AUC against what is varied, a line per method."""
    names = list(dict.fromkeys(s.dataset for s in spreads))
    figure, axes = _panels(1, max(1, len(names)))
    for axis, name in zip(axes, names, strict=False):
        for method in dict.fromkeys(s.method for s in spreads):
            own = sorted(
                (s for s in spreads if s.dataset == name and s.method == method),
                key=lambda s: s.value,
            )
            values = [s.value for s in own]
            axis.plot(values, [s.auc for s in own], marker=".", label=METHOD_OF[method].title)
            axis.fill_between(
                values, [s.auc_low for s in own], [s.auc_high for s in own], alpha=0.2
            )
        axis.set_title(paper.TITLES.get(name, name), fontsize="medium")
        axis.set_xlabel(label)
        if log:
            axis.set_xscale("symlog", linthresh=0.001)
    axes[0].set_ylabel("AUC")
    axes[0].legend(fontsize="small")
    return _svg(figure)


def seeds(runs: Iterable[Run]) -> bytes:
    """A dot for the AUC of each seed of the split that chooses θ, datasets side by side."""
    plain = [
        run
        for run in runs
        if run.job.share == 1.0
        and run.job.contamination == 0.0
        and METHOD_OF[run.job.method].role == "ours"
    ]
    methods = list(dict.fromkeys(run.job.method for run in plain))
    names = list(dict.fromkeys(run.job.dataset for run in plain))
    figure, (axis,) = _panels(1, 1)
    for shift, method in enumerate(methods):
        own = [run for run in plain if run.job.method == method]
        axis.plot(
            [names.index(run.job.dataset) + 0.2 * shift for run in own],
            [run.outcome.auc for run in own],
            linestyle="",
            marker=".",
            label=METHOD_OF[method].title,
        )
    titles = [paper.TITLES.get(name, name) for name in names]
    axis.set_xticks(range(len(names)), titles, fontsize="small", rotation=30)
    axis.set_ylabel("AUC")
    if methods:
        axis.legend(fontsize="small")
    return _svg(figure)


def growth(runs: Iterable[Run]) -> bytes:
    """Time to learn (above) and to score, against rows and against columns."""
    sizes = [(run, *_size(run.job.dataset)) for run in runs]
    fixed_columns = min((columns for _, _, columns in sizes), default=0)
    figure, axes = _panels(2, 2)
    panels = product((("learn", "fit_seconds"), ("score", "score_seconds")), ("rows", "columns"))
    for axis, ((verb, what), label) in zip(axes, panels, strict=True):
        for method in dict.fromkeys(run.job.method for run, _, _ in sizes):
            line = sorted(
                (rows if label == "rows" else columns, max(getattr(run.outcome, what), 1e-6))
                for run, rows, columns in sizes
                if run.job.method == method and (columns == fixed_columns) == (label == "rows")
            )
            axis.plot(
                [size for size, _ in line],
                [seconds for _, seconds in line],
                marker=".",
                label=METHOD_OF[method].title,
            )
        axis.set_xscale("log")
        axis.set_yscale("log")
        ticks = sorted({size for drawn in axis.lines for size in drawn.get_xdata()})
        axis.set_xticks(ticks, [f"{size:,}" for size in ticks], fontsize="small")
        axis.minorticks_off()
        axis.set_xlabel(label)
        axis.set_ylabel(f"seconds to {verb}")
    axes[0].legend(fontsize="small")
    return _svg(figure)


def _size(name: str) -> tuple[int, int]:
    rows, columns = name.removeprefix("generated-").split("x")
    return int(rows), int(columns)
