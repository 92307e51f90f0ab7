"""Tables 1 and 2: the datasets, and how well every method detects on them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from statistics import fmean

from benchmarks import markdown, paper, tables
from benchmarks.markdown import (
    NOTHING,
    Section,
    dataset_title,
    marked,
    method_title,
    pair,
    printed,
    scores,
)
from benchmarks.methods import METHOD_OF, METHODS
from benchmarks.results import Results

Best = Mapping[str, Mapping[str, tables.Cell]]

_SCALING_TITLE: Mapping[str, str] = {
    "none": "one-hot, unscaled",
    "codes": "categories as numbers",
    "minmax": "one-hot, min-max",
    "standard": "one-hot, standardised",
}


_FULL_TITLE: Mapping[str, str] = {
    "iforest": "IsolationForest",
    "autoencoder": "autoencoder",
    "autoencoder_brief": "autoencoder, 30 epochs at most",
}


def table1(results: Results) -> Section | None:
    """The datasets as loaded, next to what the paper says about them."""
    if not results.shapes:
        return None
    rows = []
    for shape in results.shapes:
        theirs = paper.TABLE_1.get(shape.dataset)
        rows.append(
            (
                dataset_title(shape.dataset),
                f"{shape.train_rows:,}",
                f"{shape.test_rows:,}",
                f"{shape.n_continuous} / {shape.n_categorical}",
                str(shape.n_unused),
                f"{shape.anomaly_share:.1%}",
                "–"
                if theirs is None
                else f"{theirs.train_rows:,} / {theirs.test_rows:,}, {theirs.n_continuous} / "
                f"{theirs.n_categorical}, {theirs.anomaly_percent} %",
            )
        )
    header = (
        "dataset",
        "training rows",
        "test rows",
        "continuous / categorical",
        "constant (left out by the paper)",
        "anomalies",
        "the paper's table 1",
    )
    return Section("## Table 1: datasets\n\n" + markdown.table(header, rows))


def table2(results: Results) -> Section | None:
    """Every method on every dataset, the paper's figures below, then the averages."""
    cells = tables.all_cells(results)
    if not cells:
        return None
    best = tables.best_cells(cells)
    point_of = tables.best_points(tables.grid_points(results))
    summary_of = {summary.method: summary for summary in tables.summaries(best)}
    measured = [m.name for m in METHODS if any(m.name in row for row in best.values())]
    columns = []
    for name in measured:
        columns.append(_method_column(name, best, summary_of.get(name)))
        if name == "paper" and point_of:
            columns.append(_grid_column(point_of, best))
    sides = ["", *_row_titles(best), "**mean**", "**mean rank**"]
    lines = list(zip(sides, *columns, strict=True))
    text = (
        "## Table 2: detection\n\nAUC/pAUC; ± is the standard deviation over seeds, for methods "
        "that use random numbers. Methods that need numbers get one-hot categories. On each dataset "
        "they are shown in the preparation that suits them best: m for min-max, s for "
        "standardised, c for categories as plain numbers, no mark for one-hot without scaling. The "
        "labels decide which is best, which favours these methods. AE trains for up to 200 epochs, "
        "as long as the reconstruction error falls; AE, brief, for at most 30, a limit that was set "
        "after a look at the labels. The paper's method appears twice: exactly as printed (θ by the "
        "1 % rule, γ = 0.7), and with the best θ and γ of the grid. The labels decide that as well, "
        "so it has no rank. Ranks compare scores rounded to two digits; ties share the better "
        "rank.\n\n" + markdown.table(lines[0], lines[1:])
    )
    return Section(text)


def overview(results: Results, methods: Collection[str] = ()) -> str:
    """The averages of table 2, best first, for all methods or for those named.

    Ranks are always among all methods.
    """
    best = tables.best_cells(tables.all_cells(results))
    averages = sorted(tables.summaries(best), key=lambda each: (-each.auc, -each.pauc))
    rows = [
        (
            _FULL_TITLE.get(each.method, METHOD_OF[each.method].title),
            f"{each.auc:.3f}",
            f"{each.pauc:.3f}",
            f"{each.auc_rank:.1f}",
        )
        for each in averages
        if not methods or each.method in methods
    ]
    header = ("detector", "AUC", "AUC up to 10 % false alarms", f"mean rank of {len(averages)}")
    return markdown.table(header, rows)


def _row_titles(best: Best) -> Iterator[str]:
    for name in best:
        yield dataset_title(name)
        if name in paper.TABLE_2:
            yield "· the paper"


def _method_column(method: str, best: Best, summary: tables.Summary | None) -> list[str]:
    column = [METHOD_OF[method].title]
    for name, row in best.items():
        column.append(marked(row.get(method)))
        if name in paper.TABLE_2:
            column.append(printed(paper.TABLE_2[name].get(method)))
    if summary is None:
        return [*column, NOTHING, NOTHING]
    rank = f"{summary.auc_rank:.2f}/{summary.pauc_rank:.2f}"
    return [*column, pair(summary.auc, summary.pauc), rank]


def _grid_column(point_of: Mapping[str, tables.GridPoint], best: Best) -> list[str]:
    """The paper's method with the θ and γ that suit each dataset best."""
    column = ["paper's method, best of the grid"]
    for name in best:
        point = point_of.get(name)
        column.append(NOTHING if point is None else pair(point.auc, point.pauc))
        if name in paper.TABLE_2:
            column.append(printed(paper.TABLE_2[name].get("paper")))
    points = [point_of[name] for name in best if name in point_of]
    mean = pair(fmean(p.auc for p in points), fmean(p.pauc for p in points))
    return [*column, mean if len(points) == len(best) else NOTHING, NOTHING]


def differences(results: Results) -> Section | None:
    """Every cell that differs from the paper by more than 0.02, and why."""
    found = list(tables.differences(tables.best_cells(tables.all_cells(results))))
    if not found:
        return None
    rows = [
        (
            dataset_title(d.dataset),
            method_title(d.method),
            marked(d.ours),
            printed(d.printed),
            d.explanation,
        )
        for d in found
    ]
    return Section(
        f"### Differences from the paper\n\nEvery figure that differs by more than "
        f"{paper.TOLERANCE}. *Measured* reasons can be seen in the results; *likely* ones were not "
        "isolated.\n\n" + markdown.table(("dataset", "method", "here", "paper", "why"), rows)
    )


def preparations(results: Results) -> Section | None:
    """Every preparation of every method, folded."""
    cells = [cell for cell in tables.all_cells(results) if len(METHOD_OF[cell.method].scalings) > 1]
    if not cells:
        return None
    rows = [
        (
            dataset_title(cell.dataset),
            method_title(cell.method),
            _SCALING_TITLE[cell.scaling],
            scores(cell),
            str(cell.n_seeds),
            cell.choice,
        )
        for cell in cells
    ]
    header = (
        "dataset",
        "method",
        "prepared",
        "AUC/pAUC",
        "seeds",
        "chosen by the method (first seed)",
    )
    body = markdown.table(header, rows)
    return Section(markdown.folded("All preparations", body))
