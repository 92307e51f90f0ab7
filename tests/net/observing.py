"""What is found in a made table: rules, scores, and all that a check says.

Everything comes from the command line, but for scores and attributions of rows, which come from
`truism.load`. A long list is recorded as its length, its first entries and a digest of all.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import truism
from tests.net import tables
from tests.net.program import Answer, inside, run

N_FIRST = 5
N_RULES = 8
N_SAMPLED = 12
N_BLAMES = 3


@dataclass(frozen=True)
class Case:
    """A made table, and how it is learned from and checked."""

    name: str
    table: str
    learn: tuple[str, ...] = ()
    check: tuple[str, ...] = ()
    ordered: bool = False


CASES = (
    Case("numbers", "numbers"),
    Case("numbers_paper", "numbers", ("--scoring", "paper")),
    Case(
        "numbers_uniform",
        "numbers",
        *(
            ("--cutoffs", "uniform", "--max-predicates", "4", "--min-support", "0.03"),
            ("--gap", "3"),
        ),
    ),
    Case("numbers_kmeans", "numbers", ("--cutoffs", "kmeans", "--ignore", "hum", "--seed", "7")),
    Case("states", "states"),
    Case("states_paper", "states", ("--scoring", "paper", "--support-ratio", "0.5")),
    Case("missing", "missing"),
    Case("missing_columns", "missing", ("--optional", "pressure"), ("--ignore", "flow")),
    Case("wide", "wide"),
    Case("texts", "texts", ("--categorical", "price")),
    Case("faults_alone", "faults", ("--lookback", "0")),
    Case("plant_alone", "plant", ("--lookback", "0", "--ignore", "time")),
    Case("faults", "faults", ordered=True),
    Case("faults_delta", "faults", ("--delta",), ("--on-delay", "30s"), ordered=True),
    Case("numbers_in_order", "numbers", ("--ordered", "--lookback", "4"), ordered=True),
    Case("gaps", "gaps", ("--max-false-incidents", "1/week"), ordered=True),
    Case("machines", "machines", ("--by", "machine"), ordered=True),
    Case("plant", "plant", ordered=True),
    Case("plant_delta", "plant", ("--delta", "--max-predicates", "2"), ordered=True),
)


def observe(case: Case, folder: Path) -> dict[str, Any]:
    """Learn, check, score; return what is recorded, by the name of its record."""
    made = tables.MAKERS[case.table]()
    tables.write(made.normal, folder / "normal.csv")
    tables.write(made.later, folder / "later.csv")
    with inside(folder):
        learned = run("learn", "normal.csv", "-o", "model.json", *case.learn)
        assert learned.code == 0, learned.err
        checked = run("check", "later.csv", "-m", "model.json", "--format", "json", *case.check)
        assert checked.code < 2, checked.err
        detector = truism.load("model.json")
    table = {
        part: digest([(name, *map(str, column)) for name, column in columns.items()])
        for part, columns in (("normal", made.normal), ("later", made.later))
    }
    parts = {
        "rules": {"tables": table, **rules_of(detector)},
        "scores": scores_of(detector, made.later),
        "findings": {
            "learn": {**learned.facts(), "threshold": detector.threshold_},
            "check": check_of(checked),
        },
    }
    return in_records(case.name, parts, ordered=case.ordered)


def in_records(name: str, parts: Mapping[str, Any], *, ordered: bool) -> dict[str, Any]:
    """Return the parts by the names of their records."""
    names = record_names(name, ordered=ordered)
    return dict(zip(names, parts.values(), strict=True)) if ordered else {names[0]: parts}


def record_names(name: str, *, ordered: bool) -> list[str]:
    """Return the names of the records of a table: those of a series are three."""
    if not ordered:
        return [f"rows_{name}"]
    return [f"series_{name}_{part}" for part in ("rules", "scores", "findings")]


def digest(texts: Iterable[object]) -> str:
    """Return a short text that differs where any of the texts does."""
    return hashlib.blake2b("\n".join(map(str, texts)).encode(), digest_size=8).hexdigest()


def rules_of(detector: Any) -> dict[str, Any]:
    """Return how many rules there are, some from first to last, and digests of all, in any order."""
    texts = {rule.id: f"{rule} ({rule.count} rows)" for rule in detector.rules_}
    some = np.linspace(0, len(texts) - 1, min(N_RULES, len(texts))).astype(int).tolist()
    lengths = Counter(rule.length for rule in detector.rules_)
    return {
        "n": len(texts),
        "by_length": {str(each): lengths[each] for each in sorted(lengths)},
        "some": [list(texts.values())[i] for i in some],
        "ids": digest(sorted(texts)),
        "texts": digest(sorted(texts.values())),
    }


def sampled(scores: Sequence[float]) -> list[int]:
    """Return some rows: the worst, and others spread over all."""
    worst = np.argsort(-np.round(scores, 6), kind="stable")[: N_SAMPLED // 2].tolist()
    spread = np.linspace(0, len(scores) - 1, N_SAMPLED // 2).round().astype(int).tolist()
    return sorted({*worst, *spread})


def scores_of(detector: Any, rows: Any) -> dict[str, Any]:
    """Return scores of some rows and of all together, and who adds how much to them."""
    scores, parts = detector.anomaly_score(rows), detector.attribute(rows)
    # Columns that are not variables get nothing.
    names = list(detector.feature_names_in_)
    assert parts.shape == (len(scores), len(names))
    assert np.allclose(parts.sum(axis=1), scores)
    return {
        "n": len(scores),
        "sum": scores.sum(),
        "rows": {str(i): scores[i] for i in sampled(scores)},
        "attributed": _largest(names, parts.sum(axis=0), 8),
        "attributed_in_rows": {
            str(i): _largest(names, parts[i], N_BLAMES) for i in sampled(scores)[::3]
        },
    }


def _largest(names: Sequence[str], parts: Any, n: int) -> dict[str, float]:
    order = np.argsort(-np.round(parts, 6), kind="stable")[:n]
    return {names[i]: parts[i] for i in order.tolist()}


def check_of(answer: Answer) -> dict[str, Any]:
    """Return the JSON of a check without what is long, and without names that follow from the model."""
    whole = answer.json()
    found, shifts = whole.pop("incidents"), whole.pop("shifts")
    patterns = whole.pop("patterns")
    del whole["model"]
    return {
        **answer.facts(out=False),
        **whole,
        "incidents": _brief(found),
        "shifts": _brief(shifts),
        "patterns": None if patterns is None else [_pattern(each) for each in patterns[:N_FIRST]],
        "n_patterns": None if patterns is None else len(patterns),
    }


_WHERE = ("kind", "state", "series", "start", "end", "peak", "n_rows")


def _brief(incidents: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    assert len({each["id"] for each in incidents}) == len(incidents)
    where = [
        " ".join(str(each[name]) for name in (*_WHERE, "started", "ended")) for each in incidents
    ]
    return {
        "n": len(incidents),
        "all": digest(where),
        "blamed": digest(each["blames"][0]["variable"] for each in incidents),
        "first": [_incident(each) for each in incidents[:N_FIRST]],
    }


_TOLD = ("started", "ended", "peaked", "seconds", "score", "severity", "summary")


def _incident(each: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **{name: each[name] for name in (*_WHERE, *_TOLD)},
        "blames": [_blame(blame) for blame in each["blames"][:N_BLAMES]],
    }


def _blame(blame: Mapping[str, Any]) -> dict[str, Any]:
    named = ("variable", "share", "penalty", "since", "offset", "behind")
    return {
        **{name: blame[name] for name in named},
        "reasons": [_reason(each) for each in blame["reasons"][:1]],
    }


def _reason(reason: Mapping[str, Any]) -> dict[str, Any]:
    named = ("expected", "found", "because", "evidence", "rule", "penalty", "row")
    return {name: reason[name] for name in named}


def _pattern(each: Mapping[str, Any]) -> dict[str, Any]:
    named = ("variable", "kind", "n_rows", "share", "n_times", "summary", "found")
    return {
        **{name: each[name] for name in named},
        "reasons": [_reason(reason) for reason in each["reasons"][:2]],
        "worst": [row["row"] for row in each["worst"]],
    }
