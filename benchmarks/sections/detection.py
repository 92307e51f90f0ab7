"""Tables 1 and 2: the datasets, and how well every method detects on them."""

from __future__ import annotations

from collections.abc import Mapping

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

_SCALING_TITLE: Mapping[str, str] = {
    "none": "one-hot, unscaled",
    "codes": "categories as numbers",
    "minmax": "one-hot, min-max",
    "standard": "one-hot, standardised",
}


def table1(results: Results) -> Section | None:
    if not results.shapes:
        return None
    rows = []
    for shape in results.shapes:
        printed = paper.TABLE_1.get(shape.dataset)
        rows.append(
            (
                dataset_title(shape.dataset),
                f"{shape.train_rows:,}",
                f"{shape.test_rows:,}",
                f"{shape.n_continuous} / {shape.n_categorical}",
                str(shape.n_unused),
                f"{shape.anomaly_share:.1%}",
                "–"
                if printed is None
                else f"{printed.train_rows:,} / {printed.test_rows:,}, {printed.n_continuous} / "
                f"{printed.n_categorical}, {printed.anomaly_percent} %",
            )
        )
    header = (
        "dataset",
        "training rows",
        "test rows",
        "continuous / categorical",
        "constant, not used by the paper",
        "anomalies",
        "the paper's table 1",
    )
    return Section("## Table 1: datasets\n\n" + markdown.table(header, rows))


def table2(results: Results) -> Section | None:
    cells = tables.all_cells(results)
    if not cells:
        return None
    best = tables.best_cells(cells)
    methods = [m for m in METHODS if any(m.name in row for row in best.values())]
    rows = []
    for name, row in best.items():
        rows.append((dataset_title(name), *(marked(row.get(m.name)) for m in methods)))
        if name in paper.TABLE_2:
            theirs = paper.TABLE_2[name]
            rows.append(("· the paper", *(printed(theirs.get(m.name)) for m in methods)))
    summary_of = {summary.method: summary for summary in tables.summaries(best)}
    rows.append(("**mean**", *(_mean(summary_of.get(m.name)) for m in methods)))
    rows.append(("**mean rank**", *(_rank(summary_of.get(m.name)) for m in methods)))
    text = (
        "## Table 2: detection\n\nAUC/pAUC, pAUC standardised at a false-positive rate below "
        "0.1; ± is the standard deviation over seeds where a method is random. Methods on numbers "
        "get one-hot categories and, on each dataset, their better preparation: m for min-max, s "
        "for standardised, c for categories as plain numbers, no mark for one-hot unscaled "
        "(chosen with the labels, which favours them). Averages are over the datasets shown and "
        "ties share the better rank.\n\n" + markdown.table(("", *(m.title for m in methods)), rows)
    )
    return Section(text)


def differences(results: Results) -> Section | None:
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
        f"### Differences from the paper over {paper.TOLERANCE}\n\n"
        + markdown.table(("dataset", "method", "here", "paper", "why"), rows)
    )


def preparations(results: Results) -> Section | None:
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
    header = ("dataset", "method", "prepared", "AUC/pAUC", "seeds", "chosen by itself (first seed)")
    body = markdown.table(header, rows)
    return Section(markdown.folded("Every preparation", body))


def _mean(summary: tables.Summary | None) -> str:
    return NOTHING if summary is None else pair(summary.auc, summary.pauc)


def _rank(summary: tables.Summary | None) -> str:
    return NOTHING if summary is None else f"{summary.auc_rank:.2f}/{summary.pauc_rank:.2f}"
