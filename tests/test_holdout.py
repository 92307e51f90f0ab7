"""Held-out rows are judged by rules that they had no part in."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import numpy as np
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

import oracle
from strategies import exact, tables
from truism.learn.holdout import broken_worths
from truism.learn.kinds import infer_schema, variable_columns
from truism.learn.mining import minimum_counts, variable_numbers
from truism.learn.predicates import find_predicates
from truism.learn.rules import MinedRules, Search
from truism.model.model import Model
from truism.model.predicates import variables
from truism.model.provenance import Provenance
from truism.model.schema import Schema
from truism.model.settings import Settings
from truism.score.scorer import Scorer
from truism.table.columns import Column
from truism.table.frames import as_table
from truism.work import be_silent

SUPPORT = exact(0.1)


def mined(data, **options):
    """The table, its columns and what is mined from all rows."""
    table = as_table(data)
    settings = Settings(scoring="evidence", **options)
    schema = infer_schema(table, settings)
    columns = variable_columns(schema, table)
    (predicates,) = find_predicates(schema, columns, settings.cutoffs, [SUPPORT], 1, be_silent)
    search = Search(schema, columns, predicates, settings, SUPPORT, 1, be_silent)
    rules = search.conclude(search.propose())
    return table, Learned(schema, columns, rules, settings)


class Learned(NamedTuple):
    """What `broken_worths` is given, but for the blocks and rows."""

    schema: Schema
    columns: Sequence[Column]
    rules: MinedRules
    settings: Settings


@examples(max_examples=60)
@given(
    tables(min_rows=10, max_rows=40, max_columns=4),
    st.integers(2, 5),
    st.sampled_from([0.1, 0.7]),
    st.randoms(use_true_random=False),
)
def test_worths_equal_brute_force(data, n_blocks, ratio, random):
    table, model = mined(data, support_ratio=ratio)
    blocks = np.array([random.randrange(n_blocks) for _ in range(table.n_rows)])
    rows = np.array(sorted(random.sample(range(table.n_rows), table.n_rows // 2)))
    found = broken_worths(*model, blocks, rows, 1)
    assert np.array_equal(broken_worths(*model, blocks, rows, 2), found)
    wanted = np.zeros_like(found)
    counts = model.rules.rules.predicates
    present = sorted(set(blocks.tolist()))
    if len(present) > 1 and counts:
        predicates = [each.predicate for each in counts]
        truths = oracle.evaluate(predicates, data)
        outside = {b: np.flatnonzero(blocks != b) for b in present}
        fewest = [min(sum(t[i] is True for i in own) for own in outside.values()) for t in truths]
        fewest_rows = min(map(len, outside.values()))
        least = minimum_counts(fewest, fewest_rows, SUPPORT, exact(ratio)).tolist()
        broken = oracle.mine_broken(
            truths, variable_numbers(predicates), blocks.tolist(), least, model.settings.longest
        )
        for (left, right), (held, block) in broken.items():
            cells = [truths[right][i] for i in outside[block]]
            n_false, n_known = cells.count(False), len(cells) - cells.count(None)
            rate = counts[right].n_episodes / counts[right].n_false
            expected = held / n_known * math.sqrt(n_false * n_false * rate)
            names = variables(predicates[right])
            for place, i in enumerate(rows.tolist()):
                if truths[right][i] is False and all(truths[p][i] is True for p in left):
                    for name in names:
                        at = (place, model.schema.names.index(name))
                        wanted[at] = max(wanted[at], 0.5 * math.log(1 + expected) / len(names))
    assert np.allclose(found, wanted, rtol=1e-9, atol=0)


@examples(max_examples=40)
@given(tables(min_rows=20, max_rows=40, max_columns=4), st.integers(2, 4))
def test_rows_break_what_mining_without_their_block_finds(data, n_blocks):
    data = {name: cells[: len(cells) // n_blocks * n_blocks] for name, cells in data.items()}
    table, model = mined(data, support_ratio=0.01)
    blocks = np.arange(table.n_rows) % n_blocks
    found = broken_worths(*model, blocks, np.arange(table.n_rows), 1)
    predicates = [each.predicate for each in model.rules.rules.predicates]
    for block in range(n_blocks):
        rest = table.take(blocks != block)
        others = variable_columns(model.schema, rest)
        search = Search(model.schema, others, predicates, model.settings, SUPPORT, 1, be_silent)
        without = search.conclude(search.propose()).rules
        fails = {each.predicate for each in without.predicates if each.n_false}
        provenance = Provenance("", rest.n_rows, 1, "", 0.1, 2, "asked")
        scorer = Scorer(Model(model.schema, without, model.settings, provenance))
        own = np.flatnonzero(blocks == block)
        for row, broken in zip(own, scorer.violations(table.take(own)), strict=True):
            guilty = {
                model.schema.names.index(name)
                for each in broken
                if each.rule.antecedent and each.failed in fails
                for name in variables(each.failed)
            }
            assert set(np.flatnonzero(found[row]).tolist()) == guilty


def test_rules_longer_than_the_model_has_are_not_held_against_rows():
    random = np.random.default_rng(0)
    data = {name: random.integers(0, 2, 400).astype(bool).tolist() for name in "abcd"}
    data["d"] = [a and b for a, b in zip(data["a"], data["b"], strict=True)]
    data["d"][7] = not data["d"][7]
    _, model = mined(data)
    blocks, rows = np.arange(400) // 80, np.arange(400)
    assert broken_worths(*model, blocks, rows, 1)[7].any()
    for length in (1, 0):
        short = model._replace(rules=msgspec.structs.replace(model.rules, complete_to=length))
        found = broken_worths(*short, blocks, rows, 1)
        assert length or not found.any()
        assert (found <= broken_worths(*model, blocks, rows, 1)).all()


def test_a_row_breaks_the_same_rules_whoever_else_is_judged():
    random = np.random.default_rng(0)
    data = {name: random.integers(0, 2, 400).astype(bool).tolist() for name in "abcd"}
    data["d"] = [a != (i % 29 == 3) for i, a in enumerate(data["a"])]
    _, model = mined(data)
    blocks = np.arange(400) // 80
    every = broken_worths(*model, blocks, np.arange(400), 1)
    assert every.any()
    some = np.arange(0, 400, 7)
    assert np.array_equal(broken_worths(*model, blocks, some, 1), every[some])


def test_one_block_judges_nobody():
    _, model = mined({"x": [1.0, 2.0] * 20, "u": ["a", "b"] * 20})
    found = broken_worths(*model, np.zeros(40, np.int64), np.arange(40), 1)
    assert found.shape == (40, 2)
    assert not found.any()
