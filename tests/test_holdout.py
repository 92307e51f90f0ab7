"""Held-out rows are judged by rules that they had no part in."""

import math

import msgspec
import numpy as np
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

import oracle
from strategies import exact, tables
from truism.bits import count
from truism.holdout import broken_worths
from truism.learning import find_predicates, infer_schema, mine_model, variable_columns
from truism.mining import minimum_counts, variable_numbers
from truism.model import Settings
from truism.predicates import variables
from truism.progress import be_silent
from truism.scoring import Scorer
from truism.table import as_table
from truism.truths import Truths

SUPPORT = exact(0.1)


def parts_of(data, **options):
    table = as_table(data)
    settings = Settings(scoring="evidence", **options)
    schema = infer_schema(table, settings)
    columns = variable_columns(schema, table)
    (predicates,) = find_predicates(schema, columns, settings, [SUPPORT], 1, be_silent)
    return table, settings, schema, columns, predicates


@examples(max_examples=60)
@given(
    tables(min_rows=10, max_rows=40, max_columns=4),
    st.integers(2, 5),
    st.sampled_from([0.1, 0.7]),
    st.randoms(use_true_random=False),
)
def test_worths_equal_brute_force(data, n_blocks, ratio, random):
    table, settings, schema, columns, predicates = parts_of(data, support_ratio=ratio)
    blocks = np.array([random.randrange(n_blocks) for _ in range(table.n_rows)])
    rows = np.array(sorted(random.sample(range(table.n_rows), table.n_rows // 2)))
    found = broken_worths(schema, columns, predicates, settings, SUPPORT, blocks, rows, 1)
    again = broken_worths(schema, columns, predicates, settings, SUPPORT, blocks, rows, 2)
    assert np.array_equal(again, found)
    wanted = np.zeros_like(found)
    if len(set(blocks.tolist())) > 1 and predicates:
        truths = oracle.evaluate(predicates, data)
        present = sorted(set(blocks.tolist()))
        outside = {b: np.flatnonzero(blocks != b) for b in present}
        fewest = [min(sum(t[i] is True for i in own) for own in outside.values()) for t in truths]
        fewest_rows = min(map(len, outside.values()))
        least = minimum_counts(fewest, fewest_rows, SUPPORT, exact(ratio)).tolist()
        mined = oracle.mine_broken(
            truths, variable_numbers(predicates), blocks.tolist(), least, settings.longest
        )
        for (left, right), (held, block) in mined.items():
            failing = [i for i in outside[block] if truths[right][i] is False]
            # Rows follow each other when no other row of their block stands between them.
            episodes = sum(
                truths[right][own[k]] is False
                and (k == 0 or truths[right][own[k - 1]] is not False)
                for b in present
                if b != block
                for own in [np.flatnonzero(blocks == b).tolist()]
                for k in range(len(own))
            )
            expected = held / len(outside[block]) * math.sqrt(len(failing) * episodes)
            names = variables(predicates[right])
            for place, i in enumerate(rows.tolist()):
                if truths[right][i] is False and all(truths[p][i] is True for p in left):
                    for name in names:
                        at = (place, schema.names.index(name))
                        wanted[at] = max(wanted[at], 0.5 * math.log(1 + expected) / len(names))
    assert np.allclose(found, wanted, rtol=1e-12, atol=0)


@examples(max_examples=40)
@given(tables(min_rows=20, max_rows=40, max_columns=4), st.integers(2, 4))
def test_rows_break_what_mining_without_their_block_finds(data, n_blocks):
    data = {name: cells[: len(cells) // n_blocks * n_blocks] for name, cells in data.items()}
    table, settings, schema, columns, predicates = parts_of(data, support_ratio=0.01)
    blocks = np.arange(table.n_rows) % n_blocks
    rows = np.arange(table.n_rows)
    found = broken_worths(schema, columns, predicates, settings, SUPPORT, blocks, rows, 1)
    for block in range(n_blocks):
        rest = table.take(blocks != block)
        # Predicates that no row of the rest satisfies are not worth mining, and change nothing.
        true, _ = Truths(schema, predicates).evaluate_all(variable_columns(schema, rest))
        met = [p for p, n in zip(predicates, count(true).tolist(), strict=True) if n]
        model = mine_model(rest, schema, met, settings, SUPPORT, 1, be_silent)
        own = [column.take(blocks == block) for column in columns]
        plain = msgspec.structs.replace(model, threshold=0.0)
        broken = Scorer(plain).broken_worth(own) > 0
        assert np.array_equal(found[blocks == block] > 0, broken)


def test_one_block_judges_nobody():
    _, settings, schema, columns, predicates = parts_of(
        {"x": [1.0, 2.0] * 20, "u": ["a", "b"] * 20}
    )
    blocks, rows = np.zeros(40, np.int64), np.arange(40)
    found = broken_worths(schema, columns, predicates, settings, SUPPORT, blocks, rows, 1)
    assert found.shape == (40, 2)
    assert not found.any()
