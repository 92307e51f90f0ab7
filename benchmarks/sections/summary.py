"""The conclusions that open the page, each computed from the records.

Even who is ahead is computed, so a conclusion stays true when the figures change. A conclusion whose
experiment was not run is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean

from benchmarks import datasets, paper, tables
from benchmarks.markdown import Section, dataset_title, method_title, pair
from benchmarks.results import Results, Run

OURS = "truism"
CONTAMINATION = 0.01
SHARE = 0.125
TARGET_RATE = 0.01
BESIDE = ("iforest", "knn")


def conclusions(results: Results) -> Section | None:
    """The conclusions as a list."""
    lines = [line for sentence in _SENTENCES if (line := sentence(results))]
    if not lines:
        return None
    return Section("## What follows\n\n" + "\n".join(f"- {line}" for line in lines))


def exceptions(results: Results) -> str:
    """Where another method beats the default on a single table of table 2; empty where nowhere."""
    best = tables.best_cells(tables.all_cells(results))
    found = [
        f"{method_title(cell.method)} on {dataset_title(cell.dataset)} "
        f"({pair(cell.auc, cell.pauc)}; truism {pair(own.auc, own.pauc)})"
        for cell, own in tables.ahead(best, OURS)
    ]
    return (
        f"Ahead of truism on a single table, by AUC to three digits: {_listed(found)}."
        if found
        else ""
    )


def _detection(results: Results) -> str:
    best = tables.best_cells(tables.all_cells(results))
    averages = {each.method: each for each in tables.summaries(best)}
    own = averages.pop(OURS, None)
    if own is None or not averages:
        return ""
    other = max(averages.values(), key=lambda each: (each.auc, each.pauc))
    text = (
        f"**{_leader(own, other)} detects best on average.** With default settings truism has a "
        f"mean AUC/pAUC of {pair(own.auc, own.pauc)} over {_tables(list(best))}; the best of the "
        f"other {len(averages)} methods, {method_title(other.method)}, has "
        f"{pair(other.auc, other.pauc)}. {exceptions(results)}"
    )
    return text.strip()


def _leader(own: tables.Summary, other: tables.Summary) -> str:
    return "truism" if own.auc >= other.auc else method_title(other.method)


def _tables(names: list[str]) -> str:
    if set(names) == set(datasets.PAPER_TABLES):
        return "the paper's five public tables"
    return _listed([dataset_title(name) for name in names])


def _small_tables(results: Results) -> str:
    best = tables.best_cells(tables.all_cells(results, "further"))
    averages = {each.method: each for each in tables.summaries(best)}
    own = averages.pop(OURS, None)
    if own is None or not averages:
        return ""
    other = max(averages.values(), key=lambda each: (each.auc, each.pauc))
    return (
        f"**On small numeric tables {_leader(own, other)} is better.** Over {len(best)} tasks made "
        f"from scikit-learn's own tables truism has {pair(own.auc, own.pauc)}; the best "
        f"alternative, {method_title(other.method)}, has {pair(other.auc, other.pauc)}."
    )


def _paper(results: Results) -> str:
    best = tables.best_cells(tables.all_cells(results))
    shared = [name for name, row in best.items() if "paper" in row and name in paper.TABLE_2]
    if not shared:
        return ""
    cells = [best[name]["paper"] for name in shared]
    printed = [paper.TABLE_2[name]["paper"] for name in shared]
    found = list(tables.differences(best))
    n_compared = sum(method in paper.TABLE_2[name] for name in shared for method in best[name])
    return (
        f"**The paper's method scores {pair(*_mean(cells))} here;** the paper's own figures for "
        f"these tables have a mean of {fmean(p.auc for p in printed):.2f}/"
        f"{fmean(p.pauc for p in printed):.2f}. Of the {n_compared} cells that can be compared, "
        f"{len(found)} differ by more than {paper.TOLERANCE}, "
        f"{sum(d.method == 'paper' for d in found)} of them for the paper's method; "
        "[here is why](#differences-from-the-paper)."
    )


def _mean(cells: Sequence[tables.Cell]) -> tuple[float, float]:
    return fmean(cell.auc for cell in cells), fmean(cell.pauc for cell in cells)


def _blame(results: Results) -> str:
    own = [each for each in results.interpretations if each.table == "plant"]
    hits = {each.interpretation.method: each for each in tables.better_hits(own)}
    if OURS not in hits:
        return ""
    said = [
        f"{method_title(name)} {each.first:.0%} and {each.in_three:.0%}"
        for name, each in hits.items()
        if name != OURS
    ]
    beside = f" ({'; '.join(said)})" if said else ""
    ours = hits[OURS]
    return (
        f"**Explanations name the right variable first in {ours.first:.0%} of attacks,** and among "
        f"the first three in {ours.in_three:.0%}, over the {ours.n_attacks} detectable attacks on "
        f"the simulated plant{beside}."
    )


def _false_alarms(results: Results) -> str:
    rates = [
        f"{each.false_alarm_rate:.2%} on {_where(each.table)}"
        for each in results.interpretations
        if each.method == OURS and each.experiment == "table3"
    ]
    if not rates:
        return ""
    return (
        f"**The default threshold is meant to report {TARGET_RATE:.0%} of normal rows.** It reports "
        f"{_listed(rates)} ([what drives this](experiments.md#known-weaknesses))."
    )


def _where(table: str) -> str:
    return "the plant" if table == "plant" else dataset_title(table)


def _dirt(results: Results) -> str:
    varied = tables.spreads(results, tables.contamination_of)
    return _fall(
        varied,
        0.0,
        CONTAMINATION,
        f"With {CONTAMINATION:.0%} anomalies among the training rows",
        ("A few anomalies in training do no harm", "Training rows must be normal"),
    )


def _few_rows(results: Results) -> str:
    varied = tables.spreads(results, tables.share_of)
    return _fall(
        varied,
        1.0,
        SHARE,
        "With an eighth of the training rows",
        ("Few training rows are enough", "Few training rows are not enough"),
    )


def _fall(
    varied: Sequence[tables.Spread],
    start: float,
    end: float,
    opening: str,
    verdicts: tuple[str, str],
) -> str:
    """What a variation does to mean AUC; the second verdict is for a loss over the tolerance."""
    means = {}
    told = ""
    for method in (OURS, *BESIDE):
        before = {s.dataset: s.auc for s in varied if (s.method, s.value) == (method, start)}
        after = {s.dataset: s.auc for s in varied if (s.method, s.value) == (method, end)}
        names = before.keys() & after.keys()
        if names:
            means[method] = tuple(fmean(each[n] for n in names) for each in (before, after))
            if method == OURS:
                worst = min(names, key=lambda n: (after[n] - before[n], n))
                told = f"{dataset_title(worst)} {before[worst]:.3f} → {after[worst]:.3f}"
    if OURS not in means:
        return ""
    others = "; ".join(
        f"{method_title(method)} {before:.3f} → {after:.3f}"
        for method, (before, after) in means.items()
        if method != OURS
    )
    before, after = means[OURS]
    verdict = verdicts[before - after > tables.LOSS_TOLERANCE]
    return (
        f"**{verdict}.** {opening} truism's mean AUC goes from {before:.3f} to {after:.3f}; the "
        f"worst case is {told}." + (f" For comparison: {others}." if others else "")
    )


def _cost(results: Results) -> str:
    runs = results.of("speed")
    largest = max((run.outcome.train_rows for run in runs), default=0)
    run_of = {run.job.method: run for run in runs if run.outcome.train_rows == largest}
    if OURS not in run_of:
        return ""
    own = run_of[OURS]
    others = ", ".join(
        f"{method_title(n)} takes {_seconds(run_of[n])}" for n in BESIDE if n in run_of
    )
    return (
        f"**Learning and scoring take {_seconds(own)}** on the largest table "
        f"({dataset_title(own.job.dataset)}, {largest:,} rows to learn from, "
        f"{own.outcome.test_rows:,} to score) and one core" + (f"; {others}." if others else ".")
    )


def _seconds(run: Run) -> str:
    return f"{run.outcome.fit_seconds:.1f} and {run.outcome.score_seconds:.1f} s"


def _listed(parts: list[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


_SENTENCES: tuple[Callable[[Results], str], ...] = (
    _detection,
    _small_tables,
    _paper,
    _blame,
    _false_alarms,
    _dirt,
    _few_rows,
    _cost,
)
