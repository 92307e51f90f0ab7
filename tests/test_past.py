"""What earlier rows leave behind: equal to the definition, and to the bit in any chunks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from truism.model.series import Memory, Tail
from truism.score.past import LASTING, MIN_SPAN, no_past, recall, share_of

N_ROWS = 200


def memory_of(n_variables, period=1, lookback=15):
    nothing = (0.0,) * n_variables
    return Memory(
        lookback,
        period,
        2.0,
        3.0,
        *(nothing,) * 3,
        Tail(1.0, 1.0, 1, 1),
        *((0,) * n_variables,) * 2,
        (None,) * n_variables,
    )


def evidence_of(seed, n_rows, n_variables):
    random = np.random.default_rng(seed)
    found = random.gamma(0.5, 1.0, (n_rows, n_variables))
    found[n_rows // 3 : n_rows // 2, 0] += 4
    return found, random.random(n_rows) < 0.02


def oracle(memory, evidence, anew):
    """Return what the past adds and how long it lasts, row by row, from the definition."""
    rate, pasts, lengths = share_of(memory.lookback, memory.period), [], []
    for t, row in enumerate(evidence):
        if t == 0 or anew[t]:
            first, lasting = t, [0] * len(row)
            past = [[0.0] * len(row) for _ in range(memory.period)]
        own = past[(t - first) % memory.period]
        for i, value in enumerate(row):
            own[i] = (1 - rate) * own[i] + rate * min(value, memory.cap)
            lasting[i] = lasting[i] + 1 if own[i] > LASTING * memory.cap else 0
        pasts.append([memory.weight * each for each in own])
        lengths.append(list(lasting))
    return pasts, lengths


def bits_of(remembered, state):
    """Return everything that recalling returns, as bytes."""
    averages = [each.tobytes() for each in state.averages]
    arrays = (remembered.past, remembered.lasting, state.lasting)
    return state.n_rows, averages, [each.tobytes() for each in arrays]


@examples(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 1000),
    n_rows=st.integers(1, N_ROWS),
    period=st.integers(1, 5),
    lookback=st.sampled_from([1, 2, 5, 15, 100]),
)
def test_memory_is_what_its_definition_says(seed, n_rows, period, lookback):
    memory = memory_of(3, period, lookback)
    evidence, anew = evidence_of(seed, n_rows, 3)
    found, _ = recall(memory, evidence, no_past(memory), anew)
    past, lasting = oracle(memory, evidence, anew)
    np.testing.assert_allclose(found.past, past, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(found.lasting, lasting)


@examples(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 1000),
    cuts=st.lists(st.integers(0, N_ROWS), max_size=12),
    period=st.integers(1, 5),
)
def test_chunks_give_equal_bits(seed, cuts, period):
    memory = memory_of(4, period)
    evidence, anew = evidence_of(seed, N_ROWS, 4)
    whole, left = recall(memory, evidence, no_past(memory), anew)
    state, parts = no_past(memory), []
    for start, end in zip([0, *sorted(cuts)], [*sorted(cuts), len(evidence)], strict=True):
        part, state = recall(memory, evidence[start:end], state, anew[start:end])
        parts.append(part)
    for name in ("past", "lasting"):
        pieced = np.concatenate([getattr(each, name) for each in parts])
        assert pieced.tobytes() == getattr(whole, name).tobytes(), name
    assert bits_of(whole, state) == bits_of(whole, left)


def test_a_series_that_begins_again_is_another_series():
    memory = memory_of(2, period=2)
    evidence, _ = evidence_of(3, 60, 2)
    anew = np.arange(60) == 31
    whole, left = recall(memory, evidence, no_past(memory), anew)
    other, alone = recall(memory, evidence[31:], no_past(memory))
    assert whole.past[31:].tobytes() == other.past.tobytes()
    assert bits_of(other, left) == bits_of(other, alone)


def test_recalling_changes_no_input():
    memory = memory_of(2)
    evidence, _ = evidence_of(1, 50, 2)
    before, state = evidence.copy(), no_past(memory)
    recall(memory, evidence, state)
    np.testing.assert_array_equal(before, evidence)
    assert not state.lasting.any()
    assert not np.any(state.averages)


def test_kinds_of_rows_that_take_turns_have_a_past_of_their_own():
    memory = memory_of(1, period=2)
    evidence = np.zeros((100, 1))
    evidence[::2] = 1.0
    found, _ = recall(memory, evidence, no_past(memory))
    assert found.past[1::2].max() == 0
    assert found.past[-2, 0] == pytest.approx(3.0, rel=1e-3)


def test_spans():
    assert share_of(15) == 2 / 16
    assert share_of(15, 8) == 2 / (MIN_SPAN + 1)
