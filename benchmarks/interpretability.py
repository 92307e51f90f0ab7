"""Table 3: does the explanation of an attack name what was attacked?

In go attack segments with known targets and a detector's explanations. Out comes, for every segment,
the rank of the first target among the blamed variables (our own, stricter count) and, for detectors
with rules, the broken rules with the highest penalty and whether any of them contains a target on
either side (the paper's count, KDD'23, section 6.3).

The reported rows of a segment form one incident, whose blame is counted. ECOD and the autoencoder
explain nothing, but their scores are sums over variables; for them these sums count, over the
reported rows of a segment. They have no threshold of their own, so they report what scores above the
99 % quantile of attack-free rows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cases import Case, Segment, find_cases
from benchmarks.datasets import Dataset
from benchmarks.encode import Scaling
from benchmarks.methods import METHOD_OF, Encoded
from benchmarks.results import Finding, Interpretation, warn
from benchmarks.rules import RuleDetector, Setting
from truism.table.deltas import DELTA

MAX_RULES = 4
PEER_QUANTILE = 0.99
Blame = Mapping[str, float]
PEERS = ("ecod", "autoencoder")

SETTINGS: Mapping[str, tuple[tuple[str, Setting], ...]] = {
    "paper": (
        ("max_predicates", 5),
        ("min_support", 0.01),
        ("scoring", "paper"),
        ("support_ratio", 0.7),
        ("threshold", 0.0),
    ),
    "truism": (),
}


def interpret_all(
    names: Sequence[str], data: Path | None, methods: Sequence[str]
) -> Iterator[Interpretation]:
    """Table 3 for every case: the paper's settings, the default ones, and the peers."""
    for case in find_cases(names, data):
        for method in [name for name in SETTINGS if name in methods]:
            warn(f"table3: {case.name}, {method}")
            yield interpret_case(case, method, dict(SETTINGS[method]))
        for method in [name for name in PEERS if name in methods]:
            for scaling in METHOD_OF[method].scalings:
                warn(f"table3: {case.name}, {method} {scaling}")
                yield interpret_peer(case, method, scaling)


def interpret_case(case: Case, method: str, settings: Mapping[str, Setting]) -> Interpretation:
    """Learn rules, explain the rows of every segment, and see what the explanations name."""
    learned = RuleDetector(case.kinds, case.time, settings, seed=0, unused=True)
    learned.fit(case.train)
    detector = learned.detector
    rule_of = {rule.id: rule for rule in detector.rules_}
    findings = []
    for segment in case.segments:
        length = segment.stop - segment.start
        rows = case.test.slice(segment.start, length)
        # With this gap all reported rows of a segment form one incident.
        incidents = detector.incidents(rows, gap=length)
        findings.append(interpret(segment, detector.explain(rows), incidents, rule_of))
    return Interpretation(
        table=case.name,
        method=method,
        settings=", ".join(f"{name} {value}" for name, value in settings.items()),
        n_rules=learned.n_rules,
        false_alarm_rate=float(np.mean(detector.predict(case.quiet) == -1)),
        findings=tuple(findings),
    )


def interpret_peer(case: Case, method: str, scaling: Scaling) -> Interpretation:
    """Fit a peer, and see which variables its scores come from in every segment."""
    label = np.zeros(case.test.num_rows, dtype=np.int8)
    dataset = Dataset(case.name, case.train, case.test, label, case.kinds, case.time)
    detector = METHOD_OF[method].make(dataset, scaling, 0, {})
    assert isinstance(detector, Encoded)
    detector.fit(case.train)
    quiet = detector.score(case.quiet)
    threshold = float(np.quantile(quiet, PEER_QUANTILE))
    reported = detector.score(case.test) > threshold
    added = detector.attribute(case.test)
    findings = []
    for segment in case.segments:
        rows = np.arange(segment.start, segment.stop)
        rows = rows[reported[rows]]
        blame = _merged((name, float(parts[rows].sum())) for name, parts in added.items())
        findings.append(_finding(segment, len(rows), blame if len(rows) else {}))
    return Interpretation(
        table=case.name,
        method=method,
        settings=f"{PEER_QUANTILE:.0%} quantile",
        n_rules=0,
        false_alarm_rate=float(np.mean(quiet > threshold)),
        findings=tuple(findings),
        scaling=scaling,
    )


def interpret(
    segment: Segment,
    explanations: Iterable[Any],
    incidents: Iterable[Any],
    rule_of: Mapping[str, Any],
) -> Finding:
    """See what the explanations of a segment's reported rows, which form one incident, name.

    Explanations and incidents have `blames`; a blame has `variable`, `share` and `reasons`; a
    reason has the id of the broken `rule` (empty if there is none) and its `penalty`. These are the
    public value types of truism.
    """
    said = list(explanations)
    blame = _merged(
        (blame.variable, blame.share) for incident in incidents for blame in incident.blames
    )
    ranked = [rule_of[name] for name in _worst_first(_penalties(said))]
    return _finding(segment, len(said), blame, ranked)


def _finding(
    segment: Segment, n_reported: int, blame: Blame, ranked: Sequence[Any] = ()
) -> Finding:
    hits = [rank for rank, name in enumerate(_worst_first(blame), 1) if name in segment.targets]
    return Finding(
        segment=segment.name,
        targets=segment.targets,
        n_rows=segment.stop - segment.start,
        n_reported=n_reported,
        n_rules=len(ranked),
        rules=tuple(str(rule) for rule in ranked[:MAX_RULES]),
        target_in_rule=any(variables_of(rule) & set(segment.targets) for rule in ranked),
        target_rank=hits[0] if hits else None,
    )


def variables_of(rule: Any) -> set[str]:
    """Every variable on either side of a rule; ΔX counts as X."""
    return {name.removeprefix(DELTA) for name in rule.variables}


def _worst_first(parts: Mapping[str, float]) -> list[str]:
    return sorted(parts, key=lambda name: -parts[name])


def _penalties(explanations: Iterable[Any]) -> Blame:
    """What each rule adds to the scores of all rows, by its id; reasons without a rule have none."""
    total: dict[str, float] = defaultdict(float)
    for explanation in explanations:
        for blame in explanation.blames:
            for reason in blame.reasons:
                if reason.rule:
                    total[reason.rule] += reason.penalty
    return total


def _merged(parts: Iterable[tuple[str, float]]) -> Blame:
    """What each variable adds to the scores of all rows; ΔX counts as X."""
    total: dict[str, float] = defaultdict(float)
    for name, part in parts:
        total[name.removeprefix(DELTA)] += part
    return total
