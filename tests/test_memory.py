"""What earlier rows leave behind: equal to the definition, and to the bit in any chunks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from truism.model.series import Memory, Tail
from truism.scoring.memory import (
    BLOCK,
    HABIT,
    LASTING,
    MIN_SPAN,
    fresh,
    no_past,
    rates,
    recall,
)

TAIL = Tail(1.0, 1.0, 1, 1)


def memory_of(n_variables, period=1, lookback=15, usual=0.3):
    return Memory(
        lookback, period, 2.0, 6.0, 3.0, (usual,) * n_variables, (1.0,) * n_variables, TAIL
    )


def evidence_of(seed, n_rows, n_variables):
    random = np.random.default_rng(seed)
    found = random.gamma(0.5, 1.0, (n_rows, n_variables))
    found[n_rows // 3 : n_rows // 2, 0] += 4
    lift = np.where(random.random(found.shape) < 0.05, 1.5, 0.0)
    return found, lift


def oracle(memory, evidence, lift):
    """Return past, news and how long it lasts, row by row, from the definition."""
    n_rows, n_variables = evidence.shape
    rate, habit_rate = rates(memory)
    past, habit = np.zeros((2, memory.period, n_variables))
    pasts, news = np.zeros(evidence.shape), np.zeros(n_rows)
    lasting = np.zeros((n_rows + 1, n_variables), int)
    for t in range(n_rows):
        kind = t % memory.period
        for i in range(n_variables):
            value, now = evidence[t, i], evidence[t, i] + lift[t, i]
            known = max(habit[kind, i] - memory.usual[i], 0.0)
            past[kind, i] += rate * (min(value, memory.cap) - past[kind, i])
            habit[kind, i] += habit_rate * (min(value, memory.habit_cap) - habit[kind, i])
            pasts[t, i] = memory.weight * past[kind, i]
            fresh = max(past[kind, i] - min(known, memory.cap), 0.0)
            news[t] += max(now - known, 0.0) + memory.weight * fresh
            high = past[kind, i] > LASTING * memory.cap
            lasting[t + 1, i] = lasting[t, i] + 1 if high else 0
    return pasts, news, lasting[1:]


@examples(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 1000),
    n_rows=st.integers(1, 4 * BLOCK),
    period=st.integers(1, 5),
    lookback=st.sampled_from([1, 2, 5, 15, 100]),
)
def test_memory_is_what_its_definition_says(seed, n_rows, period, lookback):
    memory = memory_of(3, period, lookback)
    evidence, lift = evidence_of(seed, n_rows, 3)
    found, _ = recall(memory, evidence, lift, no_past(memory))
    past, news, lasting = oracle(memory, evidence, lift)
    np.testing.assert_allclose(found.past, past, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.news, news, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(found.lasting, lasting)


@examples(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 1000),
    cuts=st.lists(st.integers(0, 3 * BLOCK), max_size=12),
    period=st.integers(1, 5),
)
def test_chunks_give_equal_bits(seed, cuts, period):
    memory = memory_of(4, period)
    evidence, lift = evidence_of(seed, 3 * BLOCK, 4)
    whole, left = recall(memory, evidence, lift, no_past(memory))
    state, parts = no_past(memory), []
    for start, end in zip([0, *sorted(cuts)], [*sorted(cuts), len(evidence)], strict=True):
        part, state = recall(memory, evidence[start:end], lift[start:end], state)
        parts.append(part)
    for name in ("past", "news", "known", "lasting"):
        pieced = np.concatenate([getattr(each, name) for each in parts])
        assert pieced.tobytes() == getattr(whole, name).tobytes(), name
    assert state.n_rows == left.n_rows
    for one, other in zip((*state.past, *state.habit), (*left.past, *left.habit), strict=True):
        assert one.total.tobytes() == other.total.tobytes()
        assert one.base.tobytes() == other.base.tobytes()


def bits_of(remembered, state):
    """Return everything that recalling returns, as bytes."""
    averages = [(each.total.tobytes(), each.base.tobytes()) for each in (*state.past, *state.habit)]
    arrays = (remembered.past, remembered.news, remembered.known, remembered.lasting, state.lasting)
    return state.n_rows, averages, [each.tobytes() for each in arrays]


@examples(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 1000),
    cuts=st.lists(st.integers(0, 3 * BLOCK), max_size=6),
    period=st.integers(1, 5),
    lookback=st.sampled_from([1, 2, 15, 100]),
    lifted=st.booleans(),
)
def test_the_compiled_loop_gives_equal_bits(seed, cuts, period, lookback, lifted):
    memory = memory_of(3, period, lookback)
    evidence, lift = evidence_of(seed, 3 * BLOCK, 3)
    ones = others = no_past(memory)
    for start, end in zip([0, *sorted(cuts)], [*sorted(cuts), len(evidence)], strict=True):
        part, own = evidence[start:end], lift[start:end] if lifted else None
        one, ones = recall(memory, part, own, ones)
        other, others = recall(memory, np.asfortranarray(part), own, others, compiled=True)
        assert bits_of(other, others) == bits_of(one, ones)


def test_rows_one_by_one_give_equal_bits():
    memory = memory_of(2, period=3)
    evidence, lift = evidence_of(5, 200, 2)
    whole, _ = recall(memory, evidence, lift, no_past(memory))
    state = no_past(memory)
    for row in range(200):
        one, state = recall(memory, evidence[[row]], lift[[row]], state)
        assert one.news[0] == whole.news[row]
        assert one.past.tobytes() == whole.past[[row]].tobytes()


def test_recalling_changes_no_input():
    memory = memory_of(2)
    evidence, lift = evidence_of(1, 50, 2)
    before = evidence.copy(), lift.copy()
    recall(memory, evidence, lift, no_past(memory))
    np.testing.assert_array_equal(before, (evidence, lift))


def test_news_never_exceeds_the_score():
    memory = memory_of(5)
    evidence, lift = evidence_of(3, 1000, 5)
    found, _ = recall(memory, evidence, lift, no_past(memory))
    scores = (evidence + lift + found.past).sum(axis=1)
    assert (found.news <= scores * (1 + 1e-12)).all()


def test_news_is_what_is_fresh_of_all_variables():
    memory = memory_of(4)
    evidence, lift = evidence_of(3, 300, 4)
    found, _ = recall(memory, evidence, lift, no_past(memory))
    new = fresh(memory, evidence + lift, found.past, found.known)
    assert new.sum(axis=1) == pytest.approx(found.news)
    assert (new < evidence + lift + found.past).any()


def test_what_lasts_becomes_a_habit_and_is_no_news():
    memory = memory_of(1)
    evidence = np.full((2000, 1), 4.0)
    found, _ = recall(memory, evidence, None, no_past(memory))
    scores = evidence[:, 0] + found.past[:, 0]
    assert found.news[0] == pytest.approx(scores[0])
    assert scores[-1] == pytest.approx(4.0 + 3.0 * 2.0)
    assert found.news[-1] < 0.1 * scores[-1]


def test_kinds_of_rows_that_take_turns_have_a_past_of_their_own():
    memory = memory_of(1, period=2)
    evidence = np.zeros((100, 1))
    evidence[::2] = 1.0
    found, _ = recall(memory, evidence, None, no_past(memory))
    assert found.past[1::2].max() == 0
    assert found.past[-2, 0] == pytest.approx(3.0, rel=1e-3)


def test_spans():
    assert rates(memory_of(1)) == (2 / 16, 2 / (HABIT * 15 + 1))
    assert rates(memory_of(1, period=8))[0] == 2 / (MIN_SPAN + 1)
