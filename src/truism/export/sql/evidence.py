"""The default score: broken rules, contexts and rarity, variable by variable, and their sum.

One CASE per variable holds the rules about it in falling order of worth: the first arm that fires is the
strongest broken rule.
"""

from truism.export.sql.conditions import Conditions, breach
from truism.export.sql.contexts import Contexts
from truism.export.sql.dialects import number
from truism.export.sql.levels import (
    Column,
    Level,
    Lines,
    Listing,
    chain,
    column,
    indented,
    said,
)
from truism.export.sql.penalties import result
from truism.export.sql.rarities import rare
from truism.export.sql.strength import Selection, describe
from truism.model.evidence import Evidence, Grave
from truism.model.predicates import Predicate, variables
from truism.scoring.limits import is_habit
from truism.scoring.worth import RARITY_WEIGHT, habit_worth

Arm = tuple[float, str, str]
"""What an arm is worth, when it fires, and what the rule says."""


def evidence_score(
    conditions: Conditions,
    selection: Selection,
    evidence: Evidence,
    threshold: float,
    *,
    with_contexts: bool,
) -> tuple[Level | Listing, ...]:
    """Return the levels after the readings."""
    predicates = conditions.predicates(_used(selection))
    arms_of = _arms(conditions, selection)
    worths = [
        Column(_strongest(conditions, arms), f"w{conditions.place_of[name]}", name)
        for name, arms in arms_of.items()
        if arms
    ]
    rarities = rare(conditions, evidence)
    values = conditions.values
    new = (*worths, *rarities.distances)
    weighed = Level("truism_weighed", (*conditions.kept, *values, *new), predicates.name)
    levels: list[Level | Listing] = [predicates, weighed]
    kept = [each.name for each in (*conditions.kept, *new)] + conditions.states
    contradicted: list[str] = []
    if with_contexts and evidence.contexts:
        inner, contradicted = Contexts(conditions, evidence).levels(weighed.name, kept)
        levels += inner
    broken = [each.name for each in worths]
    parts = [
        column(_stronger(f"w{i}" in broken, f"c{i}" in contradicted, i, evidence), f"x{i}", name)
        for name, i in conditions.place_of.items()
        if f"w{i}" in broken or f"c{i}" in contradicted
    ]
    weight = number(RARITY_WEIGHT / evidence.rarity_unit)
    parts += [_scaled(each, weight) for each in rarities.rarities]
    grave = column(_any_grave(evidence.grave, broken), "grave")
    source = levels[-1].name
    levels.append(Level("truism_parts", (*conditions.kept, *parts, grave), source))
    rest = Column(chain("+", [(each.name,) for each in parts]), "rest")
    both = (*conditions.kept, column("grave", "grave"), rest)
    levels.append(Level("truism_rest", both, "truism_parts"))
    total = Column((_lifted(evidence.grave),), "score")
    last = Level("truism_score", (*conditions.kept, total), "truism_rest")
    return (*levels, last, result(conditions, last, threshold))


def _used(selection: Selection) -> list[Predicate]:
    """Return every use of a predicate: a join as consequent stands under each of its variables."""
    found: list[Predicate] = []
    for each in selection.ranked:
        for failed in each.rule.consequents:
            found += (*each.rule.antecedent, failed) * len(variables(failed))
    return found


def _arms(conditions: Conditions, selection: Selection) -> dict[str, list[Arm]]:
    """Return the arms of each variable, in falling order of worth."""
    found: dict[str, list[Arm]] = {name: [] for name in conditions.schema.names}
    for rule in selection.univariate:
        if is_habit(rule):
            failed = rule.consequents[0]
            name = variables(failed)[0]
            broken = breach(conditions.dialect, failed, conditions.value(name))
            found[name].append((habit_worth(rule.count), broken, describe(rule)))
    for each in selection.ranked:
        holds = conditions.all_hold(each.rule.antecedent)
        for failed, worth, text in each.units:
            names = variables(failed)
            broken = f"{holds} AND NOT {conditions.holds(failed)}"
            if worth > 0:
                for name in names:
                    found[name].append((worth / len(names), broken, text))
    return {name: sorted(arms, key=lambda arm: -arm[0]) for name, arms in found.items()}


def _strongest(conditions: Conditions, arms: list[Arm]) -> Lines:
    lines = [said(f"WHEN {broken} THEN {number(worth)}", text) for worth, broken, text in arms]
    return (
        "CASE",
        *indented(lines),
        f"ELSE {conditions.dialect.cast(number(0.0), 'DOUBLE')} END",
    )


def _stronger(broken: bool, contradicted: bool, i: int, evidence: Evidence) -> str:
    """Write the contradiction: contexts or the strongest broken rule, whichever is stronger."""
    unit = number(evidence.contradiction_unit)
    if broken and contradicted:
        return f"GREATEST(w{i}, c{i}) / {unit}"
    return f"{'w' if broken else 'c'}{i} / {unit}"


def _scaled(rarity: Column, weight: str) -> Column:
    *before, last = rarity.lines
    if not before:
        return column(f"{weight} * {last}", rarity.name, rarity.comment)
    first, *rest = before
    return Column((f"{weight} * {first}", *rest, last), rarity.name, rarity.comment)


def _any_grave(grave: Grave | None, worths: list[str]) -> str:
    if grave is None or not worths:
        return "FALSE"
    return " OR ".join(f"{worth} > {number(grave.worth)}" for worth in worths)


def _lifted(grave: Grave | None) -> str:
    """Write the score: a grave broken rule is one more piece of evidence at a right angle."""
    if grave is None:
        return "rest"
    squares = f"POWER(rest, 2) + {number(grave.score**2)}"
    return f"CASE WHEN grave THEN SQRT({squares}) ELSE rest END"
