"""Conditions are as short as they can be, and what is said of their rows is what the rows are like."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from learned import learn
from truism.explain.nodes import KEPT, Chooser, counts_of, nodes_of_all
from truism.model.evidence import Context, Evidence
from truism.model.predicates import Interval
from truism.model.schema import Categorical, Numeric, Schema
from truism.score.scorer import Scorer
from truism.table.frames import as_table


def rows(n, seed):
    random = np.random.default_rng(seed)
    on = random.random(n) < 0.5
    mode = random.choice(["a", "b", "c"], n)
    return {
        "pump": np.where(on, "on", "off").tolist(),
        "flow": (np.where(on, 5.0, 0.0) + random.normal(0, 0.3, n)).tolist(),
        "mode": mode.tolist(),
        "level": (random.normal(10, 1, n) + 4 * on * (mode == "a")).tolist(),
        "valve": np.where(on & (mode == "b"), "open", "shut").tolist(),
    }


@pytest.fixture(scope="module")
def learned():
    training = as_table(rows(600, 0))
    return Scorer(learn(training, min_support=0.1)), training


@pytest.mark.parametrize("every", [0, 2, 7])
def test_the_statistics_of_a_node_are_those_of_the_training_rows_on_its_path(every):
    data = rows(600, 0)
    for i, name in enumerate(("flow", "level") if every else ()):
        data[name][i::every] = [None] * len(data[name][i::every])
    training = as_table(data)
    scorer = Scorer(learn(training, min_support=0.1))
    model = scorer.model
    nodes_of = nodes_of_all(model.schema, model.evidence)
    assert sum(len(each.answers) > 3 for each in nodes_of) > 5
    for each in nodes_of:
        for node, path in enumerate(each.answers):
            like = np.ones(training.n_rows, np.bool_)
            for split, holds in path:
                like &= scorer.compare((model.evidence.splits[split],), (), training)[0] == holds
            assert each.statistics.counts[node] == like.sum()
            asked = {model.evidence.splits[split].variable for split, _ in path}
            names = np.array(model.schema.names)
            assert set(names[each.asks[node] > 0]) == asked
            for at, i in enumerate(each.statistics.numbers):
                variable = model.schema.variables[i]
                own = training.column_of()[variable.name].values[like]
                own = (own[~np.isnan(own)] - variable.mean) / variable.std
                assert each.known[node, at] == len(own)
                if not len(own):
                    continue
                assert each.statistics.means[node, at] == pytest.approx(own.mean(), abs=2e-3)
                assert each.statistics.spreads[node, at] == pytest.approx(own.std(), abs=2e-3)
            for i in each.statistics.states:
                column = training.column_of()[model.schema.variables[i].name]
                seen = np.bincount(column.values[like], minlength=len(column.categories))
                assert sorted(counts_of(each.statistics, i)[node]) == sorted(seen)


def evidence_of(statistics, node, at, value):
    """Return how surprising a number is among the rows of a node, written out."""
    n, spread = statistics.counts[node], statistics.spreads[node, at]
    cautious = math.sqrt((spread**2 * n + 3.0) / (n + 3.0) + 0.05**2)
    return 5.5 * math.log1p(((value - statistics.means[node, at]) / cautious) ** 2 / 10)


@pytest.mark.parametrize("suspects", [(), ("pump",), ("mode", "valve")])
def test_the_shortest_condition_is_chosen_that_keeps_most_of_the_evidence(learned, suspects):
    scorer, _ = learned
    model = scorer.model
    table = as_table(rows(40, 1) | {"level": np.linspace(2, 22, 40).tolist()})
    pieces = scorer.weigh(table).pieces
    names = model.schema.names
    blamed = np.zeros((40, len(names)), np.bool_)
    blamed[:, [names.index(each) for each in suspects]] = True
    nodes_of = nodes_of_all(model.schema, model.evidence)
    chooser = Chooser(nodes_of, pieces.leaves, blamed)
    i, place = names.index("level"), scorer.weigher.reader.numbers.index(names.index("level"))
    standard = pieces.readings.standard[:, place].astype(np.float64)
    chosen = chooser.choose_for_number(i, standard)
    shorter = 0
    for row, value in enumerate(standard):
        candidates, leaves = {}, []
        for k, each in enumerate(nodes_of):
            if i not in each.statistics.numbers:
                continue
            at = each.statistics.numbers.index(i)
            path = each.paths[pieces.leaves[k, row]]
            for node in path:
                asked = np.flatnonzero(each.asks[node])
                length = len(asked) + sum(names[a] in suspects for a in asked)
                far = abs(value - each.statistics.means[node, at])
                clear = far > max(2 * each.statistics.spreads[node, at], 0.05)
                strength = evidence_of(each.statistics, node, at, value)
                candidates[k, int(node)] = (length, strength, clear)
            leaves.append((k, int(path[-1])))
        strongest = max(leaves, key=lambda each: candidates[each][1])
        least = KEPT * np.mean([candidates[each][1] for each in leaves])
        may = [
            each
            for each, (_, strength, clear) in candidates.items()
            if strength >= least - 1e-9 and (clear or not candidates[strongest][2])
        ]
        told = chosen[row]
        assert told in may
        assert candidates[told][0] == min(candidates[each][0] for each in may)
        shorter += candidates[told][0] < candidates[strongest][0]
    assert shorter > 10


SCHEMA = Schema(
    (
        Categorical("u", "text", ("a", "b", "c", "d"), (15, 15, 15, 15), 0),
        Numeric("x", 1.0, 9.0, 5.0, 1.0, 0, (1.0,), (60,)),
    )
)


@given(st.lists(st.integers(0, 20), min_size=4, max_size=4), st.integers(0, 3), st.integers(0, 3))
def test_a_state_is_told_with_a_condition_only_where_the_condition_matters(counts, own, leaf):
    """One tree: the second split says nothing, because both leaves below it are alike."""
    if not sum(counts):
        return
    half = tuple(counts)
    context = Context(
        tree=(0, -1, 1, -1, -1),
        numbers=(),
        states=(0,),
        counts=(60, sum(half), sum(half)),
        means=((),) * 3,
        spreads=((),) * 3,
        state_counts=(((15, 15, 15, 15),), (half,), (half,)),
    )
    splits = (Interval("x", high=2.0), Interval("x", high=9.0))
    evidence = Evidence((), splits, (context,), 1.0, 1.0, ())
    nodes = nodes_of_all(SCHEMA, evidence)
    leaf = max(1, leaf % 3)
    blamed = np.zeros((1, 2), np.bool_)
    chooser = Chooser(nodes, np.array([[leaf]], np.uint8), blamed)
    [(_, node)] = chooser.choose_for_state(0, np.array([own]))
    assert len(nodes[0].answers[node]) < 2
