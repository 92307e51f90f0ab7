"""Table 3: do the violated rules name what was attacked?

Attack segments with known targets and a detector's explanations go in; for every segment come
out the most telling violated rules, whether one of them holds a target on either side (the
paper's count, KDD'23, section 6.3), and at which place of the blame list the first target stands
(our own, stricter count).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cases import DELTA, Case, Segment, find_cases
from benchmarks.results import Finding, Interpretation, warn
from benchmarks.rules import RuleDetector, Setting

MAX_RULES = 4

SETTINGS: Mapping[str, tuple[tuple[str, Setting], ...]] = {
    "θ = 0.01, γ = 0.7": (
        ("max_predicates", 5),
        ("min_support", 0.01),
        ("scoring", "paper"),
        ("support_ratio", 0.7),
        ("threshold", 0.0),
    ),
    "default": (),
}


def interpret_all(names: Sequence[str], data: Path | None) -> Iterator[Interpretation]:
    """Table 3 for every case at hand, with the paper's settings and with the default ones."""
    for case in find_cases(names, data):
        for title, settings in SETTINGS.items():
            warn(f"table3: {case.name}, {title}")
            yield interpret_case(case, title, dict(settings))


def interpret_case(case: Case, title: str, settings: Mapping[str, Setting]) -> Interpretation:
    """Learn, explain the rows of every segment, and judge what is said of them."""
    learned = RuleDetector(case.kinds, case.time, settings, seed=0, unused=True)
    learned.fit(case.train)
    detector = learned.detector
    rule_of = {rule.id: rule for rule in detector.rules_}
    findings = []
    for segment in case.segments:
        rows = case.test.slice(segment.start, segment.stop - segment.start)
        findings.append(interpret(segment, detector.explain(rows), rule_of))
    return Interpretation(
        table=case.name,
        settings=title,
        n_rules=learned.n_rules,
        false_alarm_rate=float(np.mean(detector.predict(case.quiet) == -1)),
        findings=tuple(findings),
    )


def interpret(segment: Segment, explanations: Iterable[Any], rule_of: Mapping[str, Any]) -> Finding:
    """Judge the explanations of the reported rows of a segment.

    An explanation has `score` and `blames`; a blame `variable`, `share` and `reasons`; a reason
    the id of the violated `rule` and its `penalty` (the public value types of truism).
    """
    said = list(explanations)
    ranked = [rule_of[name] for name, _ in _penalties(said).most_common()]
    hits = [rank for rank, name in enumerate(_blamed(said), 1) if name in segment.targets]
    return Finding(
        segment=segment.name,
        targets=segment.targets,
        n_rows=segment.stop - segment.start,
        n_reported=len(said),
        n_rules=len(ranked),
        rules=tuple(str(rule) for rule in ranked[:MAX_RULES]),
        target_in_rule=any(variables_of(rule) & set(segment.targets) for rule in ranked),
        target_rank=hits[0] if hits else None,
    )


def variables_of(rule: Any) -> set[str]:
    """Every variable on either side of a rule; ΔX counts as X."""
    return {name.removeprefix(DELTA) for name in rule.variables}


def _penalties(explanations: Iterable[Any]) -> Counter[str]:
    """Rule ids by what they add to the scores of all rows."""
    total: Counter[str] = Counter()
    for explanation in explanations:
        for blame in explanation.blames:
            for reason in blame.reasons:
                total[reason.rule] += reason.penalty
    return total


def _blamed(explanations: Iterable[Any]) -> list[str]:
    """Variables, most blamed first, by their part of the scores of all rows; ΔX counts as X."""
    total: Counter[str] = Counter()
    for explanation in explanations:
        for blame in explanation.blames:
            total[blame.variable.removeprefix(DELTA)] += blame.share * explanation.score
    return [name for name, _ in total.most_common()]
