"""Table 3: do explanations of an attack name what was attacked?"""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks import markdown, paper, tables
from benchmarks.markdown import NOTHING, Section, dataset_title, escape, method_title, scaling_mark
from benchmarks.methods import METHOD_OF
from benchmarks.results import Finding, Interpretation, Results


def table3(results: Results) -> Section | None:
    """For each table: how high each method ranks the target, overall and attack by attack."""
    interpretations = [each for each in results.interpretations if each.experiment == "table3"]
    if not interpretations:
        return None
    parts = [
        "## Table 3: interpretability\n\n"
        f"The paper reports {paper.TABLE_3}.\n\n"
        "Does the explanation name what was attacked? The reported rows of an attack form one "
        "incident, and the blame of a variable is its share of that incident. For ECOD and AE it is "
        "the variable's part of the scores, summed over the reported rows. ΔX counts as X. Hit@1 and "
        "Hit@3 are the shares of detectable attacks for which an attacked variable is blamed most, "
        "or is among the three blamed most; MRR is the mean of 1/rank of the first one. An attack "
        "that a method does not report is a miss. An attack is detectable if any method that "
        f"reports at most {tables.QUIET_RATE:.0%} of attack-free rows reports at least "
        f"{tables.CLEAR_SHARE:.0%} of its rows. Methods without a threshold of their own report "
        "what scores above the 99 % quantile of attack-free rows, and are shown in the better of "
        "two preparations (letters as in table 2)."
    ]
    for name in dict.fromkeys(each.table for each in interpretations):
        parts += _of_table([each for each in interpretations if each.table == name])
    return Section("\n\n".join(parts))


def _of_table(interpretations: Sequence[Interpretation]) -> list[str]:
    found = tables.better_hits(interpretations)
    shown = [hits.interpretation for hits in found]
    title = dataset_title(interpretations[0].table)
    return [
        f"### {title}\n\n{_summary(found)}",
        markdown.folded(f"{title}, attack by attack", _places(shown)),
        *(
            markdown.folded(f"{title}, rules broken ({_heading(each)})", _rules_table(each))
            for each in shown
            if METHOD_OF[each.method].role == "ours"
        ),
    ]


def _summary(found: Sequence[tables.Hits]) -> str:
    rows = [
        (
            _heading(hits.interpretation),
            hits.interpretation.settings or "defaults",
            f"{hits.n_reported} of {hits.n_attacks}",
            f"{hits.first:.2f}",
            f"{hits.in_three:.2f}",
            f"{hits.reciprocal:.2f}",
            f"{hits.interpretation.false_alarm_rate:.2%}",
        )
        for hits in found
    ]
    header = (
        "method",
        "settings",
        "detectable attacks reported",
        "Hit@1",
        "Hit@3",
        "MRR",
        "attack-free rows reported",
    )
    return markdown.table(header, rows)


def _heading(each: Interpretation) -> str:
    return method_title(each.method) + scaling_mark(each.scaling)


def _places(shown: Sequence[Interpretation]) -> str:
    """The rank of the first target and the rows reported, a column for each method."""
    rows = [
        (
            findings[0].segment,
            ", ".join(findings[0].targets),
            *(f"{f.target_rank or NOTHING} ({f.n_reported} of {f.n_rows})" for f in findings),
        )
        for findings in zip(*(each.findings for each in shown), strict=True)
    ]
    text = "The rank of the first attacked variable among those blamed, and the rows reported.\n\n"
    header = ("attack", "targets", *(_heading(each) for each in shown))
    return text + markdown.table(header, rows)


def _rules_table(each: Interpretation) -> str:
    found = [finding for finding in each.findings if finding.n_reported]
    rows = [(finding.segment, ", ".join(finding.targets), _rules(finding)) for finding in found]
    return (
        f"{each.n_rules:,} rules; {sum(f.n_rules > 0 for f in found)} of {len(each.findings)} "
        f"attacks break a rule; for {sum(f.target_in_rule for f in found)} of them a broken rule "
        "contains an attacked variable.\n\n"
        + markdown.table(("attack", "targets", "broken rules with the highest penalty"), rows)
    )


def _rules(finding: Finding) -> str:
    if not finding.rules:
        return NOTHING
    more = finding.n_rules - len(finding.rules)
    shown = "<br>".join(escape(rule) for rule in finding.rules)
    return shown + (f"<br>and {more:,} more" if more > 0 else "")
