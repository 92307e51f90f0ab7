"""What a broken rule is worth as evidence: nothing without exceptions by chance, more with more."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truism.model.evidence import Evidence, Grave
from truism.score.contexts import PSEUDO_COUNT
from truism.score.evidence import RARITY_WEIGHT, add_parts, add_up, lift, put_together
from truism.score.kernels import worth as kernel
from truism.score.rules import RULE_WEIGHT, expected_exceptions, habit_worth, rule_worth
from truism.score.weighed import sum_of_rows

scores = st.lists(st.floats(0, 1e6), min_size=1, max_size=20)


def test_of_rows_that_fail_one_by_one_each_is_a_chance():
    # Of 100 rows 20 fail the consequent, each by itself; the antecedent holds in half of the rows.
    found = expected_exceptions(*map(np.array, (50, 100, 20, 20)))
    assert found == pytest.approx(10.0)
    assert rule_worth(found) == pytest.approx(RULE_WEIGHT * math.log(11))


@given(st.integers(1, 10**6), st.integers(1, 10**6), st.integers(0, 10**6), st.integers(0, 10**6))
def test_expected_exceptions_lie_between_those_of_episodes_and_those_of_rows(a, b, c, d):
    count, n_known = sorted((a, b))
    n_episodes, n_false = sorted((c, d))
    found = float(expected_exceptions(*map(np.array, (count, n_known, n_false, n_episodes))))
    part = count / n_known
    assert found == pytest.approx(part * math.sqrt(n_false * n_episodes))
    assert part * n_episodes * (1 - 1e-9) <= found <= part * n_false * (1 + 1e-9)


@given(st.lists(st.floats(0, 1e9), min_size=1))
def test_a_rule_is_worth_nothing_where_nothing_was_expected_and_never_less_for_more(expected):
    ascending = np.sort(np.array([0.0, *expected]))
    worth = rule_worth(ascending)
    assert worth[0] == 0.0
    assert (np.diff(worth) >= 0).all()


def test_a_habit_is_worth_more_the_more_rows_had_it():
    assert [habit_worth(n) for n in (0, 7, 1000)] == pytest.approx(
        [math.log(1 + n / PSEUDO_COUNT) for n in (0, 7, 1000)]
    )


@given(scores, st.floats(0, 100), st.floats(0, 100), st.integers(0, 10**6))
def test_what_is_grave_adds_at_a_right_angle_and_keeps_the_order(values, least, score, seed):
    own = np.array(values)
    worth = np.random.default_rng(seed).uniform(0, 100, len(own))
    added = lift(Grave(least, score), own, worth)
    for before, each, much in zip(values, added.tolist(), worth.tolist(), strict=True):
        wanted = math.hypot(before, score) if much > least else before
        assert before + each == pytest.approx(wanted)
    grave = worth > least
    order = np.argsort(own[grave], kind="stable")
    assert (np.diff((own + added)[grave][order]) >= -1e-6).all()


@given(scores)
def test_where_no_rows_could_tell_nothing_is_grave(values):
    assert not lift(None, np.array(values), np.full(len(values), 1e9)).any()


def evidence(unit, rarity_unit, grave):
    return Evidence((), (), (), unit, rarity_unit, (), grave)


@given(st.integers(0, 2**32), st.integers(1, 150), st.integers(1, 6), st.booleans())
def test_evidence_is_put_together_row_by_row_compiled_or_not(seed, n_rows, n_variables, is_grave):
    random = np.random.default_rng(seed)
    shape = (n_variables, n_rows)
    in_context, rarities, worth = (
        np.where(
            random.random(shape) < 0.5, random.choice([0.5, 1.0, 3.0, random.random()], shape), 0
        )
        for _ in range(3)
    )
    known = evidence(1.7, 0.3, Grave(0.9, 4.0) if is_grave else None)
    found = []
    for compiled in (False, True):
        own = in_context.copy().T, rarities.copy().T, worth.copy().T
        plain, contradictions = put_together(known, *own, compiled=compiled)
        parts = add_parts(contradictions, own[1], compiled=compiled)
        assert parts.flags.c_contiguous
        scores = add_up(known, *(each.copy().T for each in (in_context, rarities, worth)))
        assert scores.tobytes() == sum_of_rows(parts).tobytes()
        unbroken = add_up(known, in_context.copy().T, rarities.copy().T, np.zeros_like(worth).T)
        assert add_up(known, in_context.T, rarities.T).tobytes() == unbroken.tobytes()
        found.append([each.tolist() for each in (own[0], own[1], plain, contradictions, parts)])
    assert found[0] == found[1]
    for r in range(n_rows):
        strong = [float(each) for each in worth[:, r]]
        wanted = [
            max(float(one) / 1.7, other / 1.7)
            for one, other in zip(in_context[:, r], strong, strict=True)
        ]
        rare = [float(each) * (RARITY_WEIGHT / 0.3) for each in rarities[:, r]]
        assert found[0][2][r] == wanted
        if is_grave and max(strong) > 0.9:
            score = sum(wanted) + sum(rare)
            wanted[strong.index(max(strong))] += math.hypot(score, 4.0) - score
        assert found[0][3][r] == pytest.approx(wanted)
        assert found[0][4][r] == pytest.approx([a + b for a, b in zip(wanted, rare, strict=True)])


def test_the_loops_run_on_almost_nothing():
    kernel.exercise()
