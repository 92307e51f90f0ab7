"""Anomalous rows with the same culprit and the same kind of reason are one pattern, counted exactly."""

import functools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from learned import learn
from truism.explain.checker import Checker
from truism.explain.clues import Contradiction, Rarity
from truism.explain.explanations import explain_rows
from truism.explain.investigation import find_clues
from truism.explain.patterns import N_TOLD, N_WORST, pattern_id
from truism.explain.words import say
from truism.incidents.marks import KINDS, most_blamed
from truism.incidents.outlines import Grouped, Singles
from truism.model.schema import Categorical
from truism.score.weighed import Violation
from truism.table.frames import as_table

N_NORMAL = 600


def traffic(n=N_NORMAL, seed=0):
    """Return records: the size follows the service, the rest is noise."""
    random = np.random.default_rng(seed)
    service = random.choice(["http", "dns", "smtp"], n, p=[0.6, 0.3, 0.1]).astype("U8")
    service[: n // N_NORMAL] = "ftp"
    usual = np.select([service == "http", service == "dns"], [200.0, 20.0], 900.0)
    return {
        "service": service.tolist(),
        "size": (usual + random.normal(0, 4, n)).tolist(),
        "delay": random.normal(10, 1, n).tolist(),
        "flag": ["ok"] * n,
    }


@functools.cache
def checker(scoring="evidence"):
    return Checker(learn(as_table(traffic()), min_support=0.05, scoring=scoring))


# What is wrong with a record, and which pattern it belongs to.
WRONG = {
    "unseen": {"service": "ctf"},
    "above": {"delay": 90.0},
    "below": {"delay": -90.0},
    "missing": {"flag": None},
    "conflict": {"size": 900.0},
    "rare": {"service": "ftp", "size": 900.0},
}


def attacked(kinds, seed=1):
    """Return records, some of them wrong; None leaves one as it is."""
    table = traffic(max(len(kinds), 1), seed)
    table["service"] = ["dns"] * len(kinds)
    table["size"] = [20.0] * len(kinds)
    for row, kind in enumerate(kinds):
        for name, value in WRONG.get(kind, {}).items():
            table[name][row] = value
    return as_table({name: values[: len(kinds)] for name, values in table.items()})


def kind_by_hand(variable, value, clue):
    """Say what is wrong with a value, from the value and the first clue against it."""
    if value is None:
        return "missing"
    if isinstance(variable, Categorical):
        if value not in variable.values:
            return "unseen"
    elif not variable.low <= value <= variable.high:
        return "above" if value > variable.high else "below"
    return "rare" if isinstance(clue, Rarity) else "conflict"


@pytest.mark.parametrize("scoring", ["evidence", "paper"])
@examples(max_examples=15, deadline=None)
@given(kinds=st.lists(st.sampled_from([None, *WRONG]), min_size=1, max_size=30))
def test_patterns_are_what_explaining_every_row_would_show(scoring, kinds):
    table, own = attacked(kinds), checker(scoring)
    found = own.find(table)
    by_hand = Counter()
    variable_of = own.model.schema.variable_of()
    rows = np.flatnonzero(found.scores > own.model.threshold)
    clues_of = find_clues(own.scorer, table.take(rows))
    for each, clues in zip(explain_rows(own.scorer, table, rows), clues_of, strict=True):
        blame = each.blames[0]
        value = table.column_of()[blame.variable].cell(each.row)
        kind = kind_by_hand(variable_of[blame.variable], value, clues[blame.variable][0])
        by_hand[blame.variable, kind] += 1
    patterns = found.patterns
    assert {(each.variable, each.kind): each.n_rows for each in patterns} == by_hand
    assert [each.n_rows for each in patterns] == sorted(by_hand.values(), reverse=True)
    assert sum(each.share for each in patterns) == pytest.approx(1.0 if len(rows) else 0.0)
    together = np.concatenate([np.empty(0, np.int64), *map(patterns.rows, range(len(patterns)))])
    assert sorted(together.tolist()) == rows.tolist()


@examples(max_examples=15, deadline=None)
@given(kinds=st.lists(st.sampled_from([None, *WRONG]), min_size=1, max_size=30))
def test_what_is_told_of_a_pattern_is_counted_in_all_its_rows(kinds):
    table, own = attacked(kinds), checker()
    patterns = own.find(table).patterns
    for at, pattern in enumerate(patterns):
        told_of, rows = set(), patterns.rows(at)
        clues = (
            each[pattern.variable][0]
            for each in find_clues(own.scorer, table.take(rows))
            if pattern.variable in each
        )
        reasons = [(say(clue, own.scorer.n_training), clue) for clue in clues]
        clue_of = {(r.expected, r.because, r.evidence): clue for r, clue in reasons}
        for reason in pattern.reasons:
            clue = clue_of[reason.expected, reason.because, reason.evidence]
            expected, conditions = statement(clue)
            fits = {
                row
                for row in rows.tolist()
                if all(holds(each, table, row) for each in conditions)
                and not holds(expected, table, row)
            }
            assert reason.n_rows == len(fits - told_of) > 0
            told_of |= fits
        assert len(pattern.reasons) <= N_TOLD
        assert bool(pattern.reasons) <= (pattern.kind == "conflict")


def statement(clue):
    if isinstance(clue, Violation):
        return clue.failed, clue.rule.antecedent
    assert isinstance(clue, Contradiction)
    return clue.expected, clue.conditions


def holds(predicate, table, row):
    value = table.column_of()[predicate.variable].cell(row)
    if hasattr(predicate, "values"):
        return value in predicate.values
    return predicate.low <= value < predicate.high


def test_a_pattern_says_what_is_wrong_and_shows_its_worst_rows():
    kinds = ["unseen"] * 6 + ["conflict"] * 3 + ["above"] * 2 + ["below", "missing", "rare", None]
    patterns = checker().find(attacked(kinds)).patterns
    assert [(each.variable, each.kind, each.n_rows) for each in patterns[:3]] == [
        ("service", "unseen", 6),
        ("size", "conflict", 3),
        ("delay", "above", 2),
    ]
    said = {each.kind: each.summary for each in patterns}
    assert said["unseen"] == "service never seen in training (ctf)"
    assert said["conflict"].startswith("size 900, expected size < ")
    assert said["conflict"].endswith("because service = dns")
    highest = max(traffic()["delay"])
    assert said["above"] == (
        f"delay above everything in training: 90 (at most {highest:.4g} in training)"
    )
    assert said["below"].startswith("delay below everything in training: -90 (at least ")
    assert said["missing"] == "flag is missing, as it never was in training"
    assert said["rare"] == "service rarely so in training: ftp"
    worst = patterns[0].worst
    assert len(worst) == N_WORST
    assert [each.found for each in worst] == ["ctf"] * N_WORST
    assert [each.score for each in worst] == sorted((each.score for each in worst), reverse=True)


def test_states_that_were_found_are_named_the_commonest_first():
    table = attacked(["unseen"] * 10)
    names = ["ctf"] * 4 + ["uucp"] * 3 + ["rje"] * 2 + ["x11"]
    table = as_table(
        {**{c.name: [c.cell(i) for i in range(10)] for c in table.columns}, "service": names}
    )
    (pattern,) = checker().find(table).patterns
    assert pattern.summary == "service never seen in training (ctf, uucp, rje, …)"


def test_the_id_follows_from_the_model_the_culprit_and_the_kind():
    one = checker().find(attacked(["unseen"])).patterns[0]
    other = checker().find(attacked([None, "unseen", "above", "unseen"], seed=5)).patterns[0]
    assert one.id == other.id == pattern_id(checker().model, "service", "unseen")
    ids = {pattern_id(checker().model, name, kind) for name in ("a", "b") for kind in KINDS}
    assert len(ids) == 2 * len(KINDS)
    assert one.id != pattern_id(checker("paper").model, "service", "unseen")


def test_a_pattern_is_also_plain_text_data_and_html():
    pattern = checker().find(attacked(["conflict", "conflict"])).patterns[0]
    plain = pattern.to_dict()
    assert (plain["n_rows"], plain["share"], plain["kind"]) == (2, 1.0, "conflict")
    assert plain["summary"] == pattern.summary
    assert plain["reasons"][0]["n_rows"] == 2
    assert [each["row"] for each in plain["worst"]] == [each.row for each in pattern.worst]
    assert str(pattern).startswith(f"100 % of the anomalies (2 rows), {pattern.id}\nsize 900")


def test_no_anomaly_no_pattern():
    found = checker().find(attacked([None] * 4))
    assert (len(found.patterns), len(found.incidents), found.patterns[:5]) == (0, 0, ())
    with pytest.raises(IndexError):
        found.patterns[0]


def test_ties_in_blame_go_to_the_larger_part_of_the_score():
    deviations = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 0.0], [2.0, 3.0, 1.0]])
    parts = np.array([[1.0, 2.0, 9.0], [0.0, 1.0, 1.0], [1.0, 0.0, 1.0]])
    assert most_blamed(deviations, parts).tolist() == [1, 1, 0]


# --- rows that stand for themselves ---


@examples(max_examples=10, deadline=None)
@given(kinds=st.lists(st.sampled_from([None, None, *WRONG]), min_size=1, max_size=20))
def test_single_rows_are_the_incidents_that_following_them_apart_would_give(kinds):
    own = checker()
    spaced = attacked([each for kind in kinds for each in (kind, None)])
    found, joined = own.find(spaced), own.find(spaced, gap=0)
    assert isinstance(found.incidents.outlines, Singles)
    assert isinstance(joined.incidents.outlines, Grouped)
    assert found.incidents == joined.incidents
    assert found.incidents[::-1] == tuple(reversed(joined.incidents))
    one, other = (each.incidents.outlines for each in (found, joined))
    assert list(one.extents()) == list(other.extents())
    np.testing.assert_allclose(one.totals(4), other.totals(4))


def test_neighbours_that_are_no_series_stay_apart_and_go_on_where_others_ended():
    own, table = checker(), attacked(["above", "below", "unseen"])
    found = own.find(table)
    assert [each.n_rows for each in found.incidents] == [1, 1, 1]
    assert sorted(each.start for each in found.incidents) == [0, 1, 2]
    later = own.find(table, found.state)
    assert sorted(each.start for each in later.incidents) == [3, 4, 5]
    assert sorted(row.row for each in later.patterns for row in each.worst) == [3, 4, 5]
    assert found.incidents[-1] == found.incidents[2]
    with pytest.raises(IndexError):
        found.incidents.outlines[3]


# --- series ---


def test_in_a_series_rows_near_each_other_count_once():
    n = 900
    level = np.sin(np.arange(n) / 9.0)
    steady = {"level": level.tolist(), "flow": (2 * level + 5).tolist()}
    own = Checker(learn(as_table(steady), ordered=True, min_support=0.05))
    wrong = {**steady, "flow": list(steady["flow"])}
    for start in (100, 400, 700):
        wrong["flow"][start : start + 4] = [40.0] * 4
    found = own.find(as_table(wrong))
    assert found.ordered
    pattern = next(each for each in found.patterns if each.kind == "above")
    assert (pattern.variable, pattern.n_rows, pattern.n_times) == ("flow", 12, 3)
    rest = [each for each in found.patterns if each.kind == "lasting"]
    assert all(
        each.summary == f"{each.variable} unusual because of the rows before" for each in rest
    )
