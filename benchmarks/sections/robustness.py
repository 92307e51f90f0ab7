"""How contaminated training rows, fewer of them, and other seeds affect detection."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from benchmarks import figures, markdown, tables
from benchmarks.markdown import Section, dataset_title, method_title
from benchmarks.methods import METHOD_OF
from benchmarks.results import Results


def robustness(results: Results) -> Section | None:
    """Three variations of the training rows, and where they hurt our own methods."""
    if not results.of("robustness"):
        return None
    dirty = tables.spreads(results, tables.contamination_of)
    fewer = tables.spreads(results, tables.share_of)
    seeds = [s for s in tables.spreads(results, tables.seed_of) if _is_ours(s.method)]
    parts = [
        "## Robustness\n\nMeans over three seeds; one preparation for each alternative (KNN "
        "standardised, IF one-hot).",
        "### Contaminated training rows\n\nSome test anomalies are scattered among the training "
        "rows and removed from the test table. At most half of them are moved, so small tables stay "
        "below the stated contamination.\n\n"
        + _spread_table(dirty, "contamination")
        + _weaknesses(dirty, "contamination"),
        "### Fewer training rows\n\n" + _spread_table(fewer, "share") + _weaknesses(fewer, "share"),
        "### Ten seeds for the split that chooses θ\n\n" + _seed_table(seeds),
    ]
    drawn = (
        ("contamination.svg", figures.spread(dirty, "contamination", log=True)),
        ("fewer-rows.svg", figures.spread(fewer, "share of the training rows", log=False)),
        ("split-seeds.svg", figures.seeds(results.of("robustness"))),
    )
    return Section("\n\n".join(parts), drawn)


def _is_ours(method: str) -> bool:
    return METHOD_OF[method].role == "ours"


def _start(what: str) -> float:
    return 0.0 if what == "contamination" else 1.0


def _weaknesses(varied: Sequence[tables.Spread], what: str) -> str:
    """What a user of our own methods has to know, a line for each loss."""
    found = [loss for loss in tables.losses(varied, _start(what)) if _is_ours(loss.method)]
    told = [
        f"- {method_title(loss.method)} on {dataset_title(loss.dataset)}, {what} {loss.value:g}: "
        f"AUC {loss.before:.3f} → {loss.after:.3f}"
        for loss in found
    ]
    if not any(_is_ours(s.method) for s in varied):
        return ""
    if not told:
        return f"\n\nNeither truism nor the paper's method loses more than {tables.LOSS_TOLERANCE} AUC."
    return f"\n\nLosses of more than {tables.LOSS_TOLERANCE} AUC:\n\n" + "\n".join(told)


def _seed_table(seeds: Sequence[tables.Spread]) -> str:
    rows = [
        (
            dataset_title(s.dataset),
            method_title(s.method),
            f"{s.auc:.3f}",
            f"{s.auc_low:.3f}",
            f"{s.auc_high:.3f}",
        )
        for s in seeds
    ]
    return markdown.table(("dataset", "method", "mean AUC", "lowest", "highest"), rows)


def _spread_table(spreads: Sequence[tables.Spread], what: str) -> str:
    """Means over the datasets measured for every method and value, and the largest losses."""
    keys = {(s.method, s.value) for s in spreads}
    have = [{s.dataset for s in spreads if (s.method, s.value) == key} for key in keys]
    spreads = [s for s in spreads if all(s.dataset in names for names in have)]
    values = sorted({s.value for s in spreads})
    start = _start(what)
    base_of = {(s.dataset, s.method): s for s in spreads if s.value == start}
    rows = []
    for method in dict.fromkeys(s.method for s in spreads):
        for value in values:
            own = [s for s in spreads if s.method == method and s.value == value]
            if not own:
                continue
            losses = {
                s.dataset: base_of[s.dataset, s.method].auc - s.auc
                for s in own
                if (s.dataset, s.method) in base_of
            }
            worst = max(losses, key=lambda name: losses[name], default="")
            rows.append(
                (
                    method_title(method),
                    f"{value:g}",
                    f"{fmean(s.auc for s in own):.3f}/{fmean(s.pauc for s in own):.3f}",
                    f"{losses[worst]:+.3f} on {dataset_title(worst)}" if worst else "–",
                )
            )
    return markdown.table(("method", what, "mean AUC/pAUC", "largest loss of AUC"), rows)
