"""Results -> `docs/benchmarks.md` and its figures; no figure on the page is typed by hand.

The page opens with conclusions. Each section is a function from results to Markdown; a section whose
experiment was not run is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks import markdown
from benchmarks.markdown import Section
from benchmarks.results import Results, describe
from benchmarks.sections import (
    attribution,
    blame,
    breadth,
    cost,
    detection,
    hyperparameters,
    robustness,
    series,
    summary,
)


@dataclass(frozen=True, slots=True)
class Page:
    """Markdown and the figures it shows, by file name."""

    text: str
    figures: Mapping[str, bytes]
    folder: str

    def write(self, path: Path) -> None:
        """Write the page, and its figures into a folder next to it."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.text, encoding="utf-8")
        folder = path.parent / self.folder
        folder.mkdir(exist_ok=True)
        for name, content in self.figures.items():
            (folder / name).write_bytes(content)


def render(results: Results, figures: str = "benchmarks") -> Page:
    """Return the whole page; `figures` names the folder for figures."""
    sections = [section(results) for section in _SECTIONS]
    kept = [section for section in sections if section is not None]
    parts = ["# Benchmarks"]
    opening = summary.conclusions(results)
    if opening is not None:
        parts.append(opening.text)
    parts += [
        "`python -m benchmarks page` writes this page from what `python -m benchmarks run` measured; "
        "do not edit it. AUC is the area under the ROC curve. pAUC is its part at a false-positive "
        "rate below 0.1, standardised: 0.5 is a coin toss, 1 is perfect.",
        f"Measured {describe(results.environment)}.",
    ]
    drawn: dict[str, bytes] = {}
    for part in kept:
        parts.append(part.text)
        for name, content in part.figures:
            drawn[name] = content
            parts.append(f"![{name.removesuffix('.svg')}]({figures}/{name})")
    return Page("\n\n".join(parts) + "\n", drawn, figures)


def _failures(results: Results) -> Section | None:
    failed = [run for run in results.runs if run.outcome.error]
    if not failed:
        return None
    rows = [(run.experiment, str(run.job), run.outcome.error) for run in failed]
    return Section("## Not measured\n\n" + markdown.table(("experiment", "job", "why"), rows))


_SECTIONS: tuple[Callable[[Results], Section | None], ...] = (
    detection.table1,
    detection.table2,
    detection.differences,
    detection.preparations,
    breadth.attacks,
    breadth.further,
    series.series,
    hyperparameters.grid,
    attribution.table3,
    blame.blame,
    cost.speed,
    cost.mining,
    cost.growth,
    robustness.robustness,
    _failures,
)
