"""Which variables events are blamed on: one table over families, with the peers beside."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from benchmarks import markdown
from benchmarks.markdown import NOTHING, Section, method_title
from benchmarks.results import BLAME, Finding, Interpretation, Results

FAMILIES = {"smd": "SMD", "asd": "ASD", "plant": "plant", "batadal": "BATADAL"}


def blame(results: Results) -> Section | None:
    """How often the true variable is blamed first, or among three."""
    found = [each for each in results.interpretations if each.experiment == "blame"]
    if not found:
        return None
    text = (
        "## Blame for incidents\n\n"
        "Which variable caused an incident of a series? The tables are four server machines (SMD), "
        "application servers (ASD), BATADAL, and four whole runs of the simulated plant (20,000 rows "
        "to learn from, 40,000 with 48 attacks, with changes). A segment counts if truism tells it "
        "at its default threshold: if an event begins in its window "
        "([above](#tables-in-order-of-time)). The first is judged, by the place of the first true "
        "variable among those that it blames, ΔX counted as X. Each cell is Hit@1 / Hit@3: the shares "
        "of the segments for which a true variable is blamed first, or among the first three. The "
        "peers have no incidents: they are told which rows to explain, all of the segment, and their "
        "parts are summed over them, ties against them, so they know more. KNN "
        "has no parts; each value is replaced by the mean of the five neighbours in turn, in at most "
        "20 rows of a segment, and neighbours are looked for among at most 5,000 training rows, spread "
        "evenly. Columns are standardised, and texts become indicators."
    )
    return Section(f"{text}\n\n{_table(found)}\n\n{markdown.folded(*_by_table(found))}")


def hits(findings: Sequence[Finding]) -> tuple[int, float, float]:
    """Return how many segments count, and the shares with a true variable first or among three."""
    ranks = [each.target_rank or 10**6 for each in findings if each.n_reported]
    n = len(ranks)
    first, third = (sum(rank <= most for rank in ranks) / max(n, 1) for most in (1, 3))
    return n, first, third


def _table(found: Sequence[Interpretation]) -> str:
    of_family: dict[tuple[str, str], list[Finding]] = defaultdict(list)
    for each in found:
        of_family[each.method, _family(each)] += each.findings
    families = [name for name in FAMILIES if any(key[1] == name for key in of_family)]
    methods = list(dict.fromkeys(each.method for each in found))
    rows = [
        (
            method_title(method),
            *(
                _cell(of_family[method, name]) if (method, name) in of_family else NOTHING
                for name in families
            ),
        )
        for method in methods
    ]
    counted = [hits(of_family[methods[0], name])[0] for name in families]
    header = (
        "method",
        *(f"{FAMILIES[name]} ({n})" for name, n in zip(families, counted, strict=True)),
    )
    return markdown.table(header, rows)


def _cell(findings: Sequence[Finding]) -> str:
    n, first, third = hits(findings)
    if not n:
        return NOTHING
    return f"{first:.2f} / {third:.2f}"


def _by_table(found: Sequence[Interpretation]) -> tuple[str, str]:
    ours = [each for each in found if each.method == found[0].method]
    rows = []
    for each in ours:
        n, first, third = hits(each.findings)
        name = each.table.removeprefix(BLAME)
        rows.append((name, f"{n} of {len(each.findings)}", f"{first:.2f}", f"{third:.2f}"))
    return "truism, table by table", markdown.table(("table", "told", "Hit@1", "Hit@3"), rows)


def _family(each: Interpretation) -> str:
    return each.table.removeprefix(BLAME).split("_")[0]
