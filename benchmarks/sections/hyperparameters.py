"""Figure 2 of the paper: what θ and γ do."""

from __future__ import annotations

from benchmarks import figures, markdown, paper, tables
from benchmarks.markdown import Section, dataset_title, marked, pair, printed
from benchmarks.results import Results


def grid(results: Results) -> Section | None:
    """The figure, and the paper's θ next to the best of the grid."""
    points = tables.grid_points(results)
    if not points:
        return None
    letter = {cell.dataset: cell for cell in tables.all_cells(results) if cell.method == "paper"}
    rows = []
    for name, point in tables.best_points(points).items():
        cell = letter.get(name)
        rows.append(
            (
                dataset_title(name),
                "–" if cell is None else f"{marked(cell)} ({cell.choice})",
                f"{pair(point.auc, point.pauc)} (θ = {point.min_support}, "
                f"γ = {point.support_ratio}, {point.n_rules:,} rules)",
                printed(paper.TABLE_2.get(name, {}).get("paper")),
            )
        )
    header = ("dataset", "the paper's rule for θ, γ = 0.7", "best θ and γ of the grid", "paper")
    text = (
        "## Figure: hyperparameters\n\nThe labels decide which θ and γ are best, so this is what "
        "the method could reach, not what a user gets.\n\n"
    )
    text += markdown.table(header, rows)
    return Section(text, (("hyperparameters.svg", figures.grid(points)),))
