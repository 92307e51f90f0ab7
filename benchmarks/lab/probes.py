"""Single questions about the default settings, each with its own table.

* ``switched``: how high does a quiet row of the plant score if one actuator breaks a strong rule?
* ``names``: how many rows are reported if every other row has a name never seen before?
* ``rounded``: what changes on BATADAL if the training rows have two decimals, like the test rows?
* ``blame``: which variables are blamed for attacks in a run of the plant that was used for nothing else?
* ``cost``: how long does learning take on the five tables, relative to the paper's scoring at the same θ?
"""

import functools

import numpy as np

from benchmarks import cases
from benchmarks.interpretability import interpret_case
from benchmarks.lab import panel
from benchmarks.metrics import auc, partial_auc
from benchmarks.speed import worked
from truism import InvariantRuleDetector
from truism.learn.rules import usual_support
from truism.model.predicates import OneOf
from truism.plant import simulate
from truism.score.rules import expected_exceptions, rule_worth
from truism.score.scorer import Scorer
from truism.table.frames import as_table

TRAINING_ROWS = (3_000, 6_000, 20_000)
BLAME_SEEDS = (10, 11, 12)
MANY_ROWS = 5_000  # a small table is timed more often


def switched():
    """Rank rows that break one strong rule among normal rows; one row for each actuator."""
    quiet = simulate(6_000, seed=3).columns
    for n_rows in TRAINING_ROWS:
        detector = InvariantRuleDetector().fit(simulate(n_rows, seed=0).columns)
        usual = detector.anomaly_score(quiet)
        scores = np.array([detector.anomaly_score(row)[0] for row in _switch(detector, quiet)])
        ranks = np.array([(usual > score).mean() for score in scores])
        yield (
            f"plant, {n_rows:,} training rows: of {len(scores)} switched rows "
            f"{(scores > -detector.offset_).sum()} are reported, {(ranks <= 0.05).sum()} score higher "
            f"than 95 % of normal rows"
        )


def _switch(detector, quiet):
    """For each actuator, break the strongest rule about it that has one condition."""
    model, scorer, table = detector.model_, Scorer(detector.model_), as_table(quiet)
    n_rows = model.rules.n_rows
    false = {each.predicate: (each.n_false, each.n_episodes) for each in model.rules.predicates}
    claims = [
        (rule_worth(expected_exceptions(rule.count, n_rows, *false[failed])), rule, failed)
        for rule in model.rules
        if len(rule.antecedent) == 1
        for failed in rule.consequents
        if isinstance(failed, OneOf) and len(failed.values) == 1
    ]
    done = set()
    for _, rule, failed in sorted(claims, key=lambda claim: -claim[0]):
        variable = model.schema.variable_of()[failed.variable]
        others = [state for state in variable.values if state not in failed.values]
        rows = np.flatnonzero(scorer.apply(rule, table)[0])
        if failed.variable in done or not others or not len(rows):
            continue
        done.add(failed.variable)
        row = rows[len(rows) // 2]
        plain = {name: values[row : row + 1] for name, values in quiet.items()}
        yield plain | {failed.variable: np.array([others[0]])}


def names():
    """Report how many similar rows are anomalies if a column holds thousands of names."""
    for kind in ("equally likely", "Zipf's"):
        random = np.random.default_rng(0)

        def rows(random=random, kind=kind):
            drawn = random.integers(0, 5_000, 3_000)
            if kind != "equally likely":
                drawn = np.minimum(random.zipf(1.4, 3_000), 10**6)
            states = random.choice(["a", "b"], 3_000)
            return {"id": [f"u{n}" for n in drawn], "g": states, "v": random.normal(size=3_000)}

        detector = InvariantRuleDetector().fit(rows())
        reported = (detector.predict(rows()) == -1).mean()
        yield f"names, {kind}: {100 * reported:.1f} % of other rows are reported"


def rounded():
    """Learn BATADAL from training rows as they are, and with as many decimals as the test rows."""
    train, test, labels = panel.load("batadal")
    for title, rows in (("as they are", train), ("with two decimals", train.round(2))):
        detector = InvariantRuleDetector().fit(rows)
        scores = detector.anomaly_score(test)
        reported = (scores[labels == 0] > -detector.offset_).mean()
        found = f"{auc(labels, scores):.3f}/{partial_auc(labels, scores):.3f}"
        yield f"BATADAL, training rows {title}: {found}, {100 * reported:.1f} % of normal rows"


def blame():
    """Hit@1, Hit@3 and mean reciprocal rank over all attacks of another run of the plant."""
    case = cases.plant_case(BLAME_SEEDS)
    ranks = [each.target_rank for each in interpret_case(case, "truism", {}).findings]
    first = np.mean([rank == 1 for rank in ranks])
    third = np.mean([rank is not None and rank <= 3 for rank in ranks])
    reciprocal = np.mean([0.0 if rank is None else 1 / rank for rank in ranks])
    yield f"plant, seeds {BLAME_SEEDS}: {first:.2f} {third:.2f} {reciprocal:.2f} of {len(ranks)}"


def cost():
    """Processor seconds to fit with default settings and with the paper's scoring, at several θ."""
    for name in panel.FIVE:
        train, _, _ = panel.load(name)
        for min_support in (usual_support(len(train)).value, 0.02, 0.05):
            fit = functools.partial(_fit, train, min_support)
            fit("evidence")  # compiled code is loaded once
            repeat = 9 if len(train) < MANY_ROWS else 3
            by_default, as_paper = (
                worked(functools.partial(fit, scoring), repeat) for scoring in ("evidence", "paper")
            )
            yield (
                f"{name}, θ = {min_support}: {by_default:.3f} s with default scoring, {as_paper:.3f} s with "
                f"the paper's, ratio {by_default / as_paper:.2f}"
            )


def _fit(train, min_support, scoring):
    return InvariantRuleDetector(min_support=min_support, scoring=scoring, n_jobs=1).fit(train)


PROBES = {
    "switched": switched,
    "names": names,
    "rounded": rounded,
    "blame": blame,
    "cost": cost,
}
