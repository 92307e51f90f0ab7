"""Time and memory of learning and scoring, and how they grow."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks import figures, markdown
from benchmarks.markdown import NOTHING, Section, dataset_title, method_title
from benchmarks.results import Results, Run


def speed(results: Results) -> Section | None:
    """Every method as a ratio to truism; the seconds behind the ratios are folded."""
    runs = results.of("speed")
    if not runs:
        return None
    base_of = {run.job.dataset: run for run in runs if run.job.method == "truism"}
    names = list(dict.fromkeys(run.job.dataset for run in runs))
    run_of = {(run.job.dataset, run.job.method): run for run in runs}
    ratios = [
        (
            method_title(method),
            *(_ratios(run_of.get((name, method)), base_of.get(name)) for name in names),
        )
        for method in dict.fromkeys(run.job.method for run in runs)
    ]
    text = (
        "## Speed\n\nTime to learn / time to score / peak extra memory, each relative to truism "
        "(default): above 1 is slower or larger. All were measured in one run, each method in its "
        "own process on one core; encoding counts, imports and compilation do not. For comparison, "
        "measured elsewhere: the program published with the paper learns in 22 s on KDD Cup 99, 15 "
        "to 20 s on gas pipeline, 10 to 22 s on BATADAL, 2 to 3 s on annthyroid and cardio, and "
        "scores 180 to 1,500 rows per second.\n\n"
    )
    text += markdown.table(("method", *(dataset_title(name) for name in names)), ratios)
    return Section(
        f"{text}\n\n{markdown.folded('Seconds, rows per second, memory', _seconds(runs))}"
    )


def _seconds(runs: Sequence[Run]) -> str:
    rows = [
        (
            dataset_title(run.job.dataset),
            method_title(run.job.method),
            f"{run.outcome.fit_seconds:.2f}",
            f"{run.outcome.score_seconds:.2f}",
            f"{run.outcome.test_rows / max(run.outcome.score_seconds, 1e-6):,.0f}",
            f"{run.outcome.extra_mb:.0f}",
            f"{run.outcome.extra_mb / run.outcome.table_mb:.1f}",
        )
        for run in runs
    ]
    header = (
        "dataset",
        "method",
        "learn, s",
        "score, s",
        "rows/s scored",
        "peak extra MB",
        "times the table",
    )
    text = "The size of a table is rows × columns × 8 bytes, for the training table.\n\n"
    return text + markdown.table(header, rows)


def _ratios(run: Run | None, base: Run | None) -> str:
    if run is None or base is None:
        return NOTHING
    parts = (
        (run.outcome.fit_seconds, base.outcome.fit_seconds, 1e-6),
        (run.outcome.score_seconds, base.outcome.score_seconds, 1e-6),
        (run.outcome.extra_mb, base.outcome.extra_mb, 1.0),
    )
    return " / ".join(_ratio(own, other, least) for own, other, least in parts)


def _ratio(own: float, other: float, least: float) -> str:
    """Two digits, without an exponent."""
    ratio = max(own, least) / max(other, least)
    return f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.2g}"


def mining(results: Results) -> Section | None:
    """The time of mining alone, next to mlxtend's."""
    runs = results.of("mining")
    if not runs:
        return None
    rows = [
        (
            dataset_title(run.job.dataset.removeprefix("binned-")),
            method_title(run.job.method),
            ", ".join(f"{name} {value}" for name, value in run.job.settings),
            f"{run.outcome.n_rules:,}" if run.outcome.n_rules is not None else "–",
            f"{run.outcome.fit_seconds:.2f}",
        )
        for run in runs
    ]
    text = (
        "### Mining alone\n\nContinuous variables are cut into five uniform bins, so that no trees "
        "are grown. truism keeps only rules with a minimal antecedent; mlxtend lists all rules.\n\n"
    )
    return Section(text + markdown.table(("dataset", "program", "settings", "rules", "s"), rows))


def growth(results: Results) -> Section | None:
    """Seconds against rows and against columns, as a figure and as numbers."""
    runs = results.of("growth")
    if not runs:
        return None
    rows = [
        (
            run.job.dataset.removeprefix("generated-"),
            method_title(run.job.method),
            f"{run.outcome.fit_seconds:.2f}",
            f"{run.outcome.score_seconds:.2f}",
        )
        for run in runs
    ]
    text = (
        "### Growth\n\nGenerated tables. The paper's method has a fixed θ of 0.01, because choosing "
        "θ would take most of its time; all others run with default settings.\n\n"
    )
    text += markdown.table(("rows x columns", "method", "learn, s", "score, s"), rows)
    return Section(text, (("growth.svg", figures.growth(runs)),))
