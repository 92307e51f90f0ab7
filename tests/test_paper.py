"""The paper's worked examples and algorithms, by number (Feng and Hu, KDD 2023)."""

import math

import numpy as np
import pytest

import oracle
from learned import infer, learn
from strategies import exact
from truism.explain.explanations import explain_rows
from truism.learn.predicates import Exceeds, categories, choose_cuts, intervals
from truism.learn.rules import best_trial
from truism.learn.trees import Bins, Proposal
from truism.model.model import Model
from truism.model.predicates import Interval, OneOf, Present, Range
from truism.model.provenance import Provenance
from truism.model.rules import Rule, RuleSet
from truism.model.settings import Settings
from truism.score.scorer import Scorer
from truism.table.frames import as_table

# The example of section 3: 5≤X1<10, X2≥20.4, U1=0 ⇒ X3<7.1, U2=2
CONDITION = (Interval("X1", 5.0, 10.0), Interval("X2", low=20.4), OneOf("U1", (0,)))
CLAIM = (Interval("X3", high=7.1), OneOf("U2", (2,)))
EXAMPLE = Rule(CONDITION, CLAIM, 30)
PAPER = Settings(min_support=0.1, scoring="paper")


def example_table():
    """Rows of which every one obeys the example, and each part of its condition is needed."""
    rows = []
    for i in range(120):
        x1, x2, u1 = (6.0 + i % 3, 21.0 + i % 4, 0) if i % 4 == 0 else (i % 5, i % 20, i % 3)
        obeys = 5 <= x1 < 10 and x2 >= 20.4 and u1 == 0
        rows.append(
            {
                "X1": float(x1),
                "X2": float(x2),
                "U1": u1,
                "X3": float(i % 7) if obeys else float(i % 30),
                "U2": 2 if obeys else i % 4,
            }
        )
    return {name: [row[name] for row in rows] for name in rows[0]}


def model_of(rules, data, n_rows=120):
    schema = infer(as_table(data))
    provenance = Provenance("0", n_rows, len(data), "", 0.1, 4, "asked")
    return Model(schema, RuleSet(tuple(rules), n_rows), PAPER, provenance)


class TestSection3:
    def test_the_example_is_a_rule(self):
        assert str(EXAMPLE) == "5 ≤ X1 < 10 and X2 ≥ 20.4 and U1 = 0 ⇒ X3 < 7.1 and U2 = 2"
        rows = oracle.rows_of(example_table())
        both = [all(oracle.holds(p, row) for p in CONDITION + CLAIM) for row in rows]
        assert sum(both) == 30
        assert not any(oracle.is_violated(EXAMPLE, row) for row in rows)

    def test_the_minimum_support_is_the_larger_of_theta_and_gamma_times_the_rarest(self):
        truths = [
            [True] * 60 + [False] * 40,
            [True] * 40 + [False] * 60,
            [True] * 40 + [False] * 60,
        ]
        found = oracle.admitted_rules(truths, [0, 1, 2], exact(0.3), exact(0.9), 3)
        assert ((1,), (0,), 40) in found  # 40 > max(30, 0.9 · 40)
        assert not oracle.admitted_rules(truths, [0, 1, 2], exact(0.4), exact(0.9), 3)


class TestAlgorithm1:
    def test_frequent_values_stand_alone_and_rare_ones_are_joined(self):
        data = {"U": ["a"] * 50 + ["b"] * 6 + ["c"] * 6 + ["d"] * 38}
        table = as_table(data)
        found = categories(infer(table), table.columns, Exceeds(exact(0.1), 100))
        assert found == [OneOf("U", ("a",)), OneOf("U", ("d",)), OneOf("U", ("b", "c"))]

    def test_line_16_leaves_nothing_behind(self):
        data = {"U": [f"r{i // 4}" for i in range(20)] + ["z"] * 80}  # five values of four rows
        table = as_table(data)
        found = categories(infer(table), table.columns, Exceeds(exact(0.07), 100))
        joined = [each.values for each in found if len(each.values) > 1]
        assert joined == [("r0", "r1"), ("r2", "r3", "r4")]


class TestAlgorithm2:
    def test_three_cut_offs_give_four_predicates(self):
        assert [str(each) for each in intervals("X", [1.0, 2.0, 3.0])] == [
            "X < 1",
            "1 ≤ X < 2",
            "2 ≤ X < 3",
            "X ≥ 3",
        ]

    def test_figure_1_a_worse_cut_off_must_not_cancel_a_better_ones_predicate(self):
        # A hundred values; the best cut is at 50, the next at 52 leaves two values between them.
        cuts = np.array([30, 50, 52, 70])
        bins = Bins("X", cuts - 1.0, cuts + 0.0, cuts, 100)
        proposals = [Proposal(-q, "X", cut) for q, cut in ((0.9, 1), (0.8, 2), (0.7, 3), (0.6, 0))]
        assert choose_cuts(bins, proposals, Exceeds(exact(0.1), 100)) == [0, 1, 3]

    def test_the_impurity_decrease_is_weighted_by_the_nodes_part_of_all_rows(self):
        splits = oracle.grow_tree({"X": [0.0, 0.0, 1.0, 1.0]}, list("aabb"), False, 1)
        assert [split.gain for split in splits] == [1.0]


class TestSection4Part3:
    def test_a_state_never_seen_and_a_number_out_of_range_break_univariate_rules(self):
        data = {"U": ["a", "b"] * 50, "X": [float(i % 10) for i in range(100)]}
        rules = [rule for rule in learn(as_table(data), PAPER).rules if not rule.antecedent]
        mean, std = np.mean(data["X"]), np.std(data["X"])
        assert OneOf("U", ("a", "b")) in [rule.consequents[0] for rule in rules]
        (within,) = [r.consequents[0] for r in rules if isinstance(r.consequents[0], Range)]
        assert within.low == pytest.approx(mean - 3 * std)
        assert within.high == pytest.approx(mean + 3 * std)
        assert sum(isinstance(rule.consequents[0], Present) for rule in rules) == 2


class TestAlgorithm3:
    def test_four_scores_more_than_three_and_a_half_against_below_three(self):
        data = {"X": [float(i % 10) for i in range(40)], "U": ["a", "b"] * 20}
        rule = Rule((OneOf("U", ("a",)),), (Interval("X", high=3.0),), 10)
        scorer = Scorer(model_of([rule], data, 40))
        near, far = scorer.score(as_table({"X": [3.5, 4.0], "U": ["a", "a"]}))
        std = np.std(data["X"])
        assert near == pytest.approx(10 / 40 * 0.5 / std)
        assert far == pytest.approx(10 / 40 * 1.0 / std)

    def test_a_rules_degrees_are_summed_over_its_consequents(self):
        data = example_table()
        scorer = Scorer(model_of([EXAMPLE], data))
        row = {"X1": 7.0, "X2": 22.0, "U1": 0, "X3": 9.1, "U2": 3}
        std = np.std(data["X3"])
        assert scorer.score(as_table(row))[0] == pytest.approx(30 / 120 * (2.0 / std + 1))
        row["U1"] = 1
        assert scorer.score(as_table(row))[0] == 0.0

    def test_a_threshold_of_zero_reports_every_row_that_breaks_a_rule(self):
        data = example_table()
        model = learn(as_table(data), PAPER, min_support=0.05)
        broken = {name: column[5:] + column[:5] for name, column in data.items()}
        broken["X3"] = data["X3"]
        scores = Scorer(model).score(as_table(broken))
        for score, row in zip(scores, oracle.rows_of(broken), strict=True):
            assert (score > 0) == any(oracle.is_violated(rule, row) for rule in model.rules)


class TestSection5Part2:
    def test_the_three_questions_are_answered(self):
        rule = Rule((Interval("X1", 5.0, 10.0), Interval("X2", low=20.4)), (CLAIM[0],), 30)
        scorer = Scorer(model_of([rule], example_table()))
        row = as_table({"X1": 7.0, "X2": 22.0, "U1": 0, "X3": 9.0, "U2": 2})
        (explanation,) = explain_rows(scorer, row, [0])
        (blame,) = explanation.blames
        (reason,) = blame.reasons
        assert blame.variable == "X3"  # which variable is abnormal
        assert (reason.expected, reason.found) == ("X3 < 7.1", "9")  # what should it have been
        assert reason.because == "5 ≤ X1 < 10 and X2 ≥ 20.4"  # why
        assert reason.evidence == "30 of 120 training rows, no exception"


class TestSection6:
    def test_the_ablations_have_five_bins(self):
        data = {"X": np.random.default_rng(0).uniform(size=500).tolist(), "U": ["a", "b"] * 250}
        for cutoffs in ("uniform", "kmeans"):
            model = learn(as_table(data), PAPER, min_support=0.01, cutoffs=cutoffs)
            bins = [p for p in model.rules.predicates if isinstance(p.predicate, Interval)]
            assert len(bins) == 5

    def test_theta_is_the_smallest_of_the_grid_below_one_percent_with_gamma_070(self):
        data = {"u": ["a", "b"] * 500, "v": ["c", "d"] * 500}
        model = learn(as_table(data), Settings(scoring="paper"))
        assert model.settings.ratio == 0.7
        assert model.provenance.min_support == best_trial(model.provenance.trials).value == 0.01
        assert math.isclose(model.provenance.trials[-1].rate, 0.0)
