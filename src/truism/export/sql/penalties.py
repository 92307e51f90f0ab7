"""The paper's score (KDD'23, section 5.1, algorithm 3), exact for the rules that are written.

A column for each predicate that rules claim holds the degree by which a row fails it, 0 if it does not.
A rule then adds its support times the sum of the degrees of what it claims.
"""

import math

from truism.export.sql.conditions import Conditions, breach
from truism.export.sql.dialects import LARGEST, number
from truism.export.sql.levels import (
    Column,
    Level,
    Lines,
    bracketed,
    chain,
    column,
    said,
)
from truism.export.sql.strength import Ranked, Selection, describe
from truism.model.predicates import Interval, Predicate, Range, variables
from truism.model.rules import Rule
from truism.model.schema import Numeric
from truism.score.rules import MAX_DEGREE, MIN_DEGREE


def penalties(
    conditions: Conditions, selection: Selection, n_training: int, threshold: float
) -> tuple[Level, ...]:
    """Return the levels after the readings: degrees, and the sum over rules."""
    predicates = conditions.predicates(selection.uses())
    claimed = list(
        dict.fromkeys(each for ranked in selection.ranked for each in ranked.rule.consequents)
    )
    degree_of = {each: f"g{i}" for i, each in enumerate(claimed, 1)}
    degrees = [
        column(_failed(conditions, each), name, str(each)) for each, name in degree_of.items()
    ]
    alone = Column(
        bracketed(chain("+", [_univariate(conditions, rule) for rule in selection.univariate])),
        "alone",
    )
    failing = Level("truism_degrees", (*degrees, alone), predicates.name, keeps=True)
    terms = [_mined(conditions, each, degree_of) for each in selection.ranked]
    summed = bracketed(chain("+", terms))
    over = conditions.dialect.cast(number(n_training), "DOUBLE")
    score = Column((*summed[:-1], f") / {over} + alone"), "score")
    total = Level("truism_score", (*conditions.kept, score), failing.name)
    above = column(f"score > {number(threshold)}", "anomaly")
    last = Level("", (*conditions.returned, column("score", "score"), above), total.name)
    return (predicates, failing, total, last)


def _univariate(conditions: Conditions, rule: Rule) -> Lines:
    failed = rule.consequents[0]
    value = conditions.value(variables(failed)[0])
    degree = number(1.0)
    if isinstance(failed, Range):
        degree = _degree(conditions, failed.variable, value, failed.low, failed.high)
    broken = breach(conditions.dialect, failed, value)
    return (said(f"CASE WHEN {broken} THEN {degree} ELSE {number(0.0)} END", describe(rule)),)


def _mined(conditions: Conditions, ranked: Ranked, degree_of: dict[Predicate, str]) -> Lines:
    holds = conditions.all_hold(ranked.rule.antecedent)
    degrees = " + ".join(degree_of[each] for each in ranked.rule.consequents)
    if len(ranked.rule.consequents) > 1:
        degrees = f"({degrees})"
    penalty = f"{number(ranked.rule.count)} * {degrees}"
    return (said(f"CASE WHEN {holds} THEN {penalty} ELSE {number(0.0)} END", ranked.words),)


def _failed(conditions: Conditions, predicate: Predicate) -> str:
    """Write the degree by which a row fails a predicate; 0 if it holds or is unknown."""
    degree = number(1.0)
    if isinstance(predicate, Interval):
        value = f"f{conditions.place_of[predicate.variable]}"
        degree = _degree(conditions, predicate.variable, value, predicate.low, predicate.high)
    written = f"CASE WHEN NOT {conditions.holds(predicate)} THEN {degree} ELSE {number(0.0)} END"
    return conditions.dialect.cast(written, "DOUBLE")


def _degree(conditions: Conditions, name: str, value: str, low: float, high: float) -> str:
    """Write the degree by which a number lies outside, as `truism.score.rules.degrees` has it.

    PostgreSQL refuses a difference or a quotient that no double can hold. So the farthest numbers are
    compared first, and a distance too small to count is made larger before it is divided.
    """
    variable = conditions.schema.variable_of()[name]
    assert isinstance(variable, Numeric)
    if variable.std == 0.0:
        return number(1.0)
    arms = []
    for sign, bound in ((-1, low), (1, high)):
        if math.isinf(bound):
            continue
        beyond = "<" if sign < 0 else ">="
        reach = min(MAX_DEGREE * variable.std, LARGEST)
        far = min(max(bound + sign * reach, -LARGEST), LARGEST)
        arms.append(f"WHEN {value} {beyond[0]} {number(far)} THEN {number(MAX_DEGREE)}")
        distance = f"{number(bound)} - {value}" if sign < 0 else f"{value} - {number(bound)}"
        counted = f"GREATEST({distance}, {number(MIN_DEGREE * variable.std)})"
        clipped = f"LEAST({counted} / {number(variable.std)}, {number(MAX_DEGREE)})"
        arms.append(f"WHEN {value} {beyond} {number(bound)} THEN {clipped}")
    return f"CASE {' '.join(arms)} END"
