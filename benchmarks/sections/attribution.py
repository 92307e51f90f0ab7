"""Table 3: whether what is said about an attack names what was attacked."""

from __future__ import annotations

from benchmarks import markdown, paper
from benchmarks.markdown import Section, dataset_title, escape
from benchmarks.results import Finding, Interpretation, Results


def table3(results: Results) -> Section | None:
    if not results.interpretations:
        return None
    parts = [f"## Table 3: interpretability\n\nThe paper: {paper.TABLE_3}."]
    parts += [_interpretation(each) for each in results.interpretations]
    return Section("\n\n".join(parts))


def _interpretation(each: Interpretation) -> str:
    found = [finding for finding in each.findings if finding.n_reported]
    first = sum(finding.target_rank == 1 for finding in found)
    in_three = sum((finding.target_rank or 4) <= 3 for finding in found)
    rows = [
        (
            finding.segment,
            ", ".join(finding.targets),
            f"{finding.n_reported} of {finding.n_rows}",
            "–" if finding.target_rank is None else str(finding.target_rank),
            _rules(finding),
        )
        for finding in each.findings
    ]
    header = ("segment", "targets", "rows reported", "place of the first target", "rules")
    return (
        f"### {dataset_title(each.table)}, {each.settings}\n\n{each.n_rules:,} rules; "
        f"{len(found)} of {len(each.findings)} segments break a rule; a violated rule holds a "
        f"target in {sum(f.target_in_rule for f in found)}; the first blamed variable is a target "
        f"in {first}, one of the first three in {in_three}; {each.false_alarm_rate:.2%} of "
        f"attack-free rows are reported.\n\n" + markdown.table(header, rows)
    )


def _rules(finding: Finding) -> str:
    if not finding.rules:
        return "–"
    more = finding.n_rules - len(finding.rules)
    shown = "<br>".join(escape(rule) for rule in finding.rules)
    return shown + (f"<br>and {more:,} more" if more > 0 else "")
