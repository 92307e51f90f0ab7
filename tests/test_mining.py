"""Mining finds every rule that says something, and nothing else."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

import oracle
from strategies import exact, ratios, thresholds, truth_tables
from truism.learn.kernels.mining import count_planes
from truism.learn.mining import Budget, UnitRule, mine, mine_broken, minimum_counts
from truism.score.truths import pack


def vectors(truths):
    true = pack(np.array([[each is True for each in row] for row in truths]))
    false = pack(np.array([[each is False for each in row] for row in truths]))
    return true, false


def mined(truths, variables, min_support=0.1, support_ratio=0.0, max_predicates=5, **options):
    n_rows = len(truths[0])
    return mine(
        *vectors(truths),
        variables,
        lambda counts: minimum_counts(counts, n_rows, exact(min_support), exact(support_ratio)),
        max_predicates=max_predicates,
        **options,
    )


T, F, N = True, False, None


def test_finds_an_implication_and_no_more():
    truths = [[T] * 3 + [F] * 7, [T] * 5 + [F] * 5]
    found = mined(truths, [0, 1])
    assert found.rules == (UnitRule((0,), 1, 3),)
    assert found.complete_to == 4


def test_counts_are_compared_with_the_threshold_as_it_prints():
    truths = [[T] * 29 + [F] * 71] * 2
    assert mined(truths, [0, 1], min_support=0.29).rules == ()
    assert len(mined(truths, [0, 1], min_support=0.28).rules) == 2


def test_the_support_ratio_is_measured_on_the_rarest_predicate():
    # Of the ten rows of the rarest predicate (0), seven have 1 and 2 as well.
    truths = [
        [T] * 10 + [F] * 90,
        [T] * 7 + [F] * 3 + [T] * 20 + [F] * 70,
        [T] * 7 + [F] * 3 + [F] * 20 + [F] * 30 + [T] * 40,
    ]
    wanted = UnitRule((1, 2), 0, 7)
    assert wanted in mined(truths, [0, 1, 2], 0.01, 0.6).rules
    assert wanted not in mined(truths, [0, 1, 2], 0.01, 0.7).rules


def test_keeps_only_minimal_antecedents():
    truths = [[T] * 5 + [F] * 5, [T] * 5 + [F] * 4 + [T], [T] * 6 + [F] * 4]
    found = mined(truths, [0, 1, 2])
    assert UnitRule((0,), 2, 5) in found.rules
    assert not [rule for rule in found.rules if rule.consequent == 2 and len(rule.antecedent) > 1]


def test_two_predicates_of_one_variable_never_meet():
    truths = [[T] * 5 + [F] * 5, [T] * 6 + [F] * 4, [T] * 7 + [F] * 3]
    found = mined(truths, [0, 0, 1])
    assert found.rules == (UnitRule((0,), 2, 5), UnitRule((1,), 2, 6))


def test_an_unknown_consequent_is_no_exception_and_no_evidence():
    truths = [[T] * 6 + [F] * 4, [T, T, T, N, N, N] + [F] * 4]
    assert UnitRule((0,), 1, 3) in mined(truths, [0, 1], min_support=0.2).rules
    assert UnitRule((0,), 1, 3) not in mined(truths, [0, 1], min_support=0.3).rules


def test_no_predicates_give_no_rules():
    empty = np.zeros((0, 1), np.uint64)
    found = mine(empty, empty, [], lambda _: np.zeros(0, np.int64))
    assert (found.rules, found.complete_to) == ((), 4)


def test_predicates_that_every_row_of_the_rarest_has_may_exclude_the_rows_outside():
    # 2 is the rarest; 0 and 1 hold in all of its rows and together exclude the others.
    truths = [[T, T, T, T, F, F], [T, T, F, F, T, T], [T, T, F, F, F, F]]
    assert UnitRule((0, 1), 2, 2) in mined(truths, [0, 1, 2]).rules


@pytest.mark.parametrize("n_rows", [63, 64, 65, 128, 200])
def test_rows_at_the_edges_of_words_count(n_rows):
    first = [i % 3 == 0 for i in range(n_rows)]
    truths = [first, [each or i % 3 == 1 for i, each in enumerate(first)]]
    (rule,) = mined(truths, [0, 1]).rules
    assert rule == UnitRule((0,), 1, sum(first))
    truths[1][n_rows - 1 - (n_rows - 1) % 3] = False
    assert mined(truths, [0, 1]).rules == ()


@examples(max_examples=500)  # one wrong line in the search shows in one table of a hundred
@given(truth_tables(), thresholds, ratios, st.integers(2, 6))
def test_mining_equals_enumeration(drawn, min_support, support_ratio, max_predicates):
    truths, variables = drawn
    found = mined(truths, variables, min_support, support_ratio, max_predicates)
    wanted = oracle.mine(
        truths, variables, exact(min_support), exact(support_ratio), max_predicates
    )
    assert list(found.rules) == wanted
    assert found.complete_to == max_predicates - 1


@examples(max_examples=300)
@given(truth_tables(), st.integers(0, 40), thresholds, ratios, st.integers(2, 5))
def test_rows_that_do_not_count_refute_rules_but_support_none(
    drawn, n_refuting, min_support, support_ratio, max_predicates
):
    truths, variables = drawn
    n_counted = max(len(truths[0]) - n_refuting, 1)
    counted = [row[:n_counted] for row in truths]
    refuting = [row[n_counted:] or [None] for row in truths]
    own, others = vectors(counted), vectors(refuting)
    true, false = (np.concatenate(pair, axis=1) for pair in zip(own, others, strict=True))
    found = mine(
        true,
        false,
        variables,
        lambda counts: minimum_counts(counts, n_counted, exact(min_support), exact(support_ratio)),
        max_predicates=max_predicates,
        counted=own[0].shape[1],
    )
    held = [
        (set(left), right[0], count)
        for left, right, count in oracle.admitted_rules(
            counted, variables, exact(min_support), exact(support_ratio), max_predicates
        )
        if len(right) == 1
        and not any(
            refuting[right[0]][i] is False and all(refuting[p][i] is True for p in left)
            for i in range(len(refuting[0]))
        )
    ]
    assert list(found.rules) == sorted(
        UnitRule(tuple(sorted(left)), right, count)
        for left, right, count in held
        if not any(other < left and to == right for other, to, _ in held)
    )


@given(truth_tables(max_predicates=8, missing=False), thresholds, ratios, st.integers(2, 5))
def test_a_row_breaks_a_kept_rule_iff_it_breaks_an_admitted_one(
    drawn, min_support, support_ratio, max_predicates
):
    truths, variables = drawn
    arguments = (truths, variables, exact(min_support), exact(support_ratio), max_predicates)
    admitted = oracle.admitted_rules(*arguments)
    kept = mined(truths, variables, min_support, support_ratio, max_predicates).rules
    for bits in range(1 << len(truths)):
        row = [bool(bits >> p & 1) for p in range(len(truths))]
        by_admitted = any(
            all(row[p] for p in left) and not all(row[p] for p in right)
            for left, right, _ in admitted
        )
        by_kept = any(
            all(row[p] for p in rule.antecedent) and not row[rule.consequent] for rule in kept
        )
        assert by_admitted == by_kept


@examples(max_examples=300)
@given(
    truth_tables(max_predicates=9, max_rows=60),
    st.integers(2, 4),
    st.integers(2, 6),
    st.randoms(use_true_random=False),
)
def test_mining_what_one_block_breaks_equals_enumeration(drawn, n_blocks, max_predicates, random):
    truths, variables = drawn
    lengths = [random.randint(0, 2) * 40 + random.randint(1, 30) for _ in range(n_blocks)]
    rows = [random.choices(range(len(truths[0])), k=length) for length in lengths]
    if random.random() < 0.5:  # then the blocks have hardly any rows in common
        rows = [[i for i in own if i % n_blocks == b] or own for b, own in enumerate(rows)]
    truths = [[[row[i] for i in own] for own in rows] for row in truths]
    parts = [vectors([row[b] for row in truths]) for b in range(n_blocks)]
    true, false = (np.concatenate(both, axis=1) for both in zip(*parts, strict=True))
    ends = np.cumsum([part[0].shape[1] for part in parts])
    least = np.array([random.randint(1, 12) for _ in truths])
    wanted = oracle.mine_broken(
        [[cell for own in row for cell in own] for row in truths],
        variables,
        [b for b, own in enumerate(rows) for _ in own],
        least.tolist(),
        max_predicates,
    )
    for n_jobs in (1, 2):
        levels = mine_broken(
            true, false, ends, variables, least, max_predicates=max_predicates, n_jobs=n_jobs
        )
        found = {
            (tuple(sorted(antecedent)), consequent): (count, block)
            for level in levels
            for consequent, count, block, *antecedent in level.tolist()
        }
        assert len(found) == sum(map(len, levels))
        assert found == wanted


@given(truth_tables(max_predicates=8), thresholds, ratios)
def test_threads_change_nothing(drawn, min_support, support_ratio):
    truths, variables = drawn
    one = mined(truths, variables, min_support, support_ratio, n_jobs=1)
    assert mined(truths, variables, min_support, support_ratio, n_jobs=2) == one


@given(truth_tables(), thresholds, ratios, st.integers(1, 60), st.integers(1, 20))
def test_a_budget_stops_between_lengths(drawn, min_support, ratio, max_nodes, max_rules):
    truths, variables = drawn
    full = mined(truths, variables, min_support, ratio)
    part = mined(truths, variables, min_support, ratio, budget=Budget(max_nodes, max_rules))
    assert part.complete_to <= full.complete_to
    upto = [rule for rule in full.rules if len(rule.antecedent) <= part.complete_to]
    assert list(part.rules) == upto
    assert len(part.rules) <= max_rules


def test_a_small_budget_says_so():
    truths = np.random.default_rng(0).random((12, 60)) < 0.6
    truths = [[bool(each) for each in row] for row in truths]
    full = mined(truths, range(12), 0.05)
    part = mined(truths, range(12), 0.05, budget=Budget(max_nodes=300))
    assert 0 < part.complete_to < full.complete_to == 4
    assert part.rules == tuple(
        rule for rule in full.rules if len(rule.antecedent) <= part.complete_to
    )


@given(truth_tables(), thresholds, ratios, st.integers(2, 3))
def test_repeating_all_rows_scales_only_counts(drawn, min_support, support_ratio, times):
    truths, variables = drawn
    once = mined(truths, variables, min_support, support_ratio)
    often = mined([row * times for row in truths], variables, min_support, support_ratio)
    assert often.rules == tuple(
        UnitRule(rule.antecedent, rule.consequent, rule.count * times) for rule in once.rules
    )


def test_progress_reaches_its_end():
    told = []
    truths = [[T] * 3 + [F] * 7, [T] * 5 + [F] * 5]
    mined(truths, [0, 1], advance=lambda done, of: told.append((done, of)))
    assert told
    assert told[-1][0] == told[-1][1]


@given(truth_tables(max_predicates=7, missing=False), thresholds)
def test_without_a_support_ratio_mlxtend_finds_the_same_rules(drawn, min_support):
    pd = pytest.importorskip("pandas")
    patterns = pytest.importorskip("mlxtend.frequent_patterns")
    truths, _ = drawn
    variables = range(len(truths))
    n_rows = len(truths[0])
    frame = pd.DataFrame(np.array(truths).T, columns=list(variables))
    # mlxtend admits support >= its minimum; ours must exceed θ.
    least = int(exact(min_support) * n_rows) + 1
    frequent = patterns.fpgrowth(frame, (least - 0.5) / n_rows, use_colnames=True, max_len=4)
    units = []
    if len(frequent):
        with np.errstate(all="ignore"):
            found = patterns.association_rules(frequent, min_threshold=1 - 1e-9)
        units = [
            (set(left), next(iter(right)), round(support * n_rows))
            for left, right, support in zip(
                found["antecedents"], found["consequents"], found["support"], strict=True
            )
            if len(right) == 1
        ]
    minimal = sorted(
        UnitRule(tuple(sorted(left)), right, count)
        for left, right, count in units
        if not any(other < left and claim == right for other, claim, _ in units)
    )
    assert list(mined(truths, variables, min_support, 0.0, 4).rules) == minimal


@given(st.lists(st.integers(0, 500), max_size=5), st.integers(1, 500), thresholds, ratios)
def test_the_minimum_count_is_the_least_that_exceeds(counts, n_rows, min_support, ratio):
    found = minimum_counts(counts, n_rows, exact(min_support), exact(ratio)).tolist()
    for count, least in zip(counts, found, strict=True):
        bound = max(exact(min_support) * n_rows, exact(ratio) * count)
        assert least - 1 <= bound < least
    assert isinstance(exact(min_support), Fraction)


@examples(max_examples=40)
@given(st.integers(0, 10_000), st.integers(1, 60))
def test_counters_in_slices_hold_how_many_predicates_a_row_meets(seed, n_chosen):
    random = np.random.default_rng(seed)
    truths = random.random((n_chosen, 100)) < random.random((n_chosen, 1))
    mask = random.random(100) < 0.7
    planes = np.zeros((n_chosen.bit_length(), 2), np.uint64)
    count_planes(np.arange(n_chosen, dtype=np.int32), pack(truths), pack(mask[None])[0], planes)
    bits = np.unpackbits(planes.view(np.uint8), axis=1, count=100, bitorder="little")
    found = (bits.astype(np.int64) << np.arange(len(planes))[:, None]).sum(axis=0)
    assert found.tolist() == np.where(mask, truths.sum(axis=0), 0).tolist()
