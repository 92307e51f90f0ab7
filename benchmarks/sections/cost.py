"""What learning and scoring cost, in time and memory, and how that grows."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks import figures, markdown
from benchmarks.markdown import Section, dataset_title, method_title
from benchmarks.results import Results, Run


def speed(results: Results) -> Section | None:
    runs = results.of("speed")
    if not runs:
        return None
    base_of = {run.job.dataset: run for run in runs if run.job.method == "truism"}
    rows = [
        (
            dataset_title(run.job.dataset),
            method_title(run.job.method),
            f"{run.outcome.fit_seconds:.2f}",
            _ratio(run, base_of, "fit_seconds"),
            f"{run.outcome.score_seconds:.2f}",
            _ratio(run, base_of, "score_seconds"),
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
        "ratio to truism",
        "score, s",
        "ratio to truism",
        "rows/s scored",
        "peak extra MB",
        "in table sizes",
    )
    text = (
        "## Speed\n\nAll measured in one run, one core and a process for each method, encoding "
        "included, imports and compilation not. A table size is rows × columns × 8 bytes of the "
        "training table.\n\n"
    )
    return Section(text + markdown.table(header, rows))


def _ratio(run: Run, base_of: Mapping[str, Run], what: str) -> str:
    base = base_of.get(run.job.dataset)
    if base is None:
        return "–"
    return f"{getattr(run.outcome, what) / max(getattr(base.outcome, what), 1e-6):.2g}"


def mining(results: Results) -> Section | None:
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
        "### Mining alone\n\nContinuous variables cut into five uniform bins, so that no trees are "
        "involved. truism keeps only rules with a minimal antecedent; mlxtend lists all.\n\n"
    )
    return Section(text + markdown.table(("dataset", "program", "settings", "rules", "s"), rows))


def growth(results: Results) -> Section | None:
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
    text = "### Growth\n\n" + markdown.table(
        ("rows x columns", "method", "learn, s", "score, s"), rows
    )
    return Section(text, (("growth.svg", figures.growth(runs)),))
