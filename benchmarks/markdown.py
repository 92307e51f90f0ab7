"""The parts of every section of the page: Markdown tables and formatted numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks import paper, tables
from benchmarks.encode import Scaling
from benchmarks.methods import METHOD_OF

NOTHING = "–"

_SCALING_MARK: Mapping[str, str] = {
    "none": "",
    "codes": " c",
    "minmax": " m",
    "standard": " s",
}


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page; the figures are shown under the text."""

    text: str
    figures: tuple[tuple[str, bytes], ...] = ()


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def folded(summary: str, body: str) -> str:
    """Text that opens with a click."""
    return f"<details><summary>{summary}</summary>\n\n{body}\n\n</details>"


def escape(text: str) -> str:
    """Escape text for a cell of a table."""
    return text.replace("&", "&amp;").replace("|", "\\|").replace("<", "&lt;")


def dataset_title(name: str) -> str:
    """The name of a dataset as the paper writes it."""
    return paper.TITLES.get(name, name)


def method_title(name: str) -> str:
    """The name of a method in the tables."""
    return METHOD_OF[name].title


def pair(auc: float, pauc: float) -> str:
    """AUC and pAUC in one cell."""
    return f"{auc:.3f}/{pauc:.3f}"


def scores(cell: tables.Cell) -> str:
    """AUC and pAUC of a method, with their spread over seeds if there are several."""
    text = pair(cell.auc, cell.pauc)
    return text if cell.n_seeds == 1 else f"{text} ± {pair(cell.auc_sd, cell.pauc_sd)}"


def marked(cell: tables.Cell | None) -> str:
    """The same with a letter for the preparation of the table."""
    return NOTHING if cell is None else scores(cell) + scaling_mark(cell.scaling)


def scaling_mark(scaling: Scaling) -> str:
    """A space and a letter for a preparation."""
    return _SCALING_MARK[scaling]


def printed(cell: paper.Printed | None) -> str:
    """A cell of the paper, with its two digits."""
    return NOTHING if cell is None else f"{cell.auc:.2f}/{cell.pauc:.2f}"
