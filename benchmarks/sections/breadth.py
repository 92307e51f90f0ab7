"""Detection beyond table 2: attack by attack, and on tables that are not in the paper."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import fmean

from benchmarks import bundled, markdown, tables
from benchmarks.markdown import NOTHING, Section, dataset_title, method_title, pair, scaling_mark
from benchmarks.metrics import mean_ranks
from benchmarks.results import AttackScore, Results, Run


def attacks(results: Results) -> Section | None:
    """A line for each attack, a column for each method in its better preparation."""
    best: dict[str, Run] = {}
    for run in results.of("attacks"):
        other = best.get(run.job.method)
        if run.outcome.by_attack and (other is None or _mean_auc(run) > _mean_auc(other)):
            best[run.job.method] = run
    if not best:
        return None
    runs = list(best.values())
    score_of = [{score.attack: score for score in run.outcome.by_attack} for run in runs]
    names = [(score.attack, score.n_rows) for score in runs[0].outcome.by_attack]
    rows = [
        (name, f"{n_rows:,}", *(_attack_cell(scores.get(name)) for scores in score_of))
        for name, n_rows in names
    ]
    rows.append(("**mean over attacks**", "", *(_mean_over_attacks(run) for run in runs)))
    rows.append(
        (
            "**all rows**",
            f"{sum(n_rows for _, n_rows in names):,}",
            *(pair(run.outcome.auc or 0.0, run.outcome.pauc or 0.0) for run in runs),
        )
    )
    titles = [method_title(run.job.method) + scaling_mark(run.job.scaling) for run in runs]
    name = dataset_title(runs[0].job.dataset.removeprefix("whole-"))
    text = (
        f"### {name}, attack by attack\n\nAUC/pAUC for the rows of one attack against all normal "
        "test rows. This uses every anomaly in the test file, not only those drawn for table 2, so "
        "that rare attacks show up; two attacks make up most of the rows and dominate a score over "
        "all of them. First seed; the preparation with the higher mean AUC over attacks.\n\n"
    )
    return Section(text + markdown.table(("attack", "rows", *titles), rows))


def _mean_auc(run: Run) -> float:
    return fmean(score.auc for score in run.outcome.by_attack)


def _mean_over_attacks(run: Run) -> str:
    return pair(_mean_auc(run), fmean(score.pauc for score in run.outcome.by_attack))


def _attack_cell(score: AttackScore | None) -> str:
    return NOTHING if score is None else pair(score.auc, score.pauc)


def further(results: Results) -> Section | None:
    """A line for each table: the mean over its tasks."""
    best = tables.best_cells(tables.all_cells(results, "further"))
    if not best:
        return None
    methods = [
        name for name in next(iter(best.values())) if all(name in row for row in best.values())
    ]
    tasks_of: dict[str, list[str]] = {}
    for name in best:
        tasks_of.setdefault(bundled.source(name.removeprefix("bundled-")), []).append(name)
    rows = [
        (source, str(len(tasks)), *(_mean_cell(best, tasks, method) for method in methods))
        for source, tasks in tasks_of.items()
    ]
    rows.append(
        ("**mean over tasks**", str(len(best)), *(_mean_cell(best, best, m) for m in methods))
    )
    aucs = {name: {m: row[m].auc for m in methods} for name, row in best.items()}
    paucs = {name: {m: row[m].pauc for m in methods} for name, row in best.items()}
    ranks, partial = mean_ranks(aucs), mean_ranks(paucs)
    rows.append(("**mean rank**", "", *(f"{ranks[m]:.2f}/{partial[m]:.2f}" for m in methods)))
    text = (
        "### Further tables\n\nAUC/pAUC on tables that come with scikit-learn. Each class in turn "
        "is the anomaly, and the other classes are normal; for diabetes the anomaly is the tenth "
        "with the fastest progression. Half of the normal rows are used for training. Detectors "
        "must find out the kinds of columns themselves. Alternatives are shown in the better "
        "preparation for each task (the labels decide); IF is a mean over three seeds.\n\n"
    )
    header = ("table", "tasks", *(method_title(name) for name in methods))
    return Section(text + markdown.table(header, rows))


def _mean_cell(
    best: Mapping[str, Mapping[str, tables.Cell]], tasks: Iterable[str], method: str
) -> str:
    cells = [best[task][method] for task in tasks]
    return pair(fmean(cell.auc for cell in cells), fmean(cell.pauc for cell in cells))
