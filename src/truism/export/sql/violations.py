"""Which rules rows break: one row of the result for each row and each rule that it breaks.

A text collects the numbers of the broken rules of a row; it is then joined with a small table of all
rules, which holds what is said about each. Rows that break nothing are gone before that.
"""

from truism.export.sql.conditions import Conditions, breach
from truism.export.sql.levels import (
    Column,
    Level,
    Lines,
    Listing,
    bracketed,
    chain,
    column,
    indented,
    said,
)
from truism.export.sql.strength import Ranked, Selection, describe
from truism.model.predicates import conjunction, quote_name, variables
from truism.model.rules import Rule

RETURNED = ("rule", "expected", "found", "because")


def violations(conditions: Conditions, selection: Selection) -> tuple[Level | Listing, ...]:
    """Return the levels after the readings."""
    predicates = conditions.predicates(selection.uses())
    terms = [_univariate(conditions, rule, i) for i, rule in enumerate(selection.univariate, 1)]
    terms += [
        _mined(conditions, each, i)
        for i, each in enumerate(selection.ranked, len(selection.univariate) + 1)
    ]
    text = bracketed(chain("||", terms))
    values = tuple(column(f"v{i}", f"v{i}") for i in conditions.place_of.values())
    broken = Column(text, "broken")
    listed = Level("truism_broken", (*conditions.kept, *values, broken), predicates.name)
    some = Level(
        "truism_some",
        tuple(_found_columns(conditions)),
        listed.name,
        keeps=True,
        condition="broken <> ''",
    )
    rules = _rules(conditions, selection)
    source = f"{some.name} JOIN {rules.name} ON broken LIKE pattern"
    found = Column(_found(conditions, selection), "found")
    own = (column("rule", "rule"), column("expected", "expected"), found)
    columns = (*conditions.returned, *own, column("because", "because"))
    return (predicates, listed, some, rules, Level("", columns, source))


def _univariate(conditions: Conditions, rule: Rule, n: int) -> Lines:
    failed = rule.consequents[0]
    broken = breach(conditions.dialect, failed, conditions.value(variables(failed)[0]))
    return (said(f"CASE WHEN {broken} THEN ',{n},' ELSE '' END", describe(rule)),)


def _mined(conditions: Conditions, ranked: Ranked, n: int) -> Lines:
    holds = conditions.all_hold(ranked.rule.antecedent)
    claimed = conditions.all_hold(ranked.rule.consequents)
    if len(ranked.rule.consequents) > 1:
        claimed = f"({claimed})"
    return (said(f"CASE WHEN {holds} AND NOT {claimed} THEN ',{n},' ELSE '' END", ranked.words),)


def _rules(conditions: Conditions, selection: Selection) -> Listing:
    """Return the table of rules: the pattern that finds a number, and what is said of the rule."""
    text = conditions.dialect.text
    group_of = {names: i for i, names in enumerate(_groups(selection), 1)}
    rows = [
        (
            text(f"%,{n},%"),
            text(rule.id),
            str(group_of[_claimed(rule)]),
            text(conjunction(rule.consequents)),
            text(conjunction(rule.antecedent) if rule.antecedent else "always"),
        )
        for n, rule in enumerate(_every(selection), 1)
    ]
    names = ("pattern", "rule", "about", "expected", "because")
    nothing = (text(""), text(""), "0", text(""), text(""))
    return Listing("truism_rules", names, tuple(rows) or (nothing,))


def _every(selection: Selection) -> list[Rule]:
    return [*selection.univariate, *(each.rule for each in selection.ranked)]


def _claimed(rule: Rule) -> tuple[str, ...]:
    """Return the variables of which a rule claims something."""
    return tuple(dict.fromkeys(name for each in rule.consequents for name in variables(each)))


def _groups(selection: Selection) -> list[tuple[str, ...]]:
    return list(dict.fromkeys(_claimed(rule) for rule in _every(selection)))


def _found_columns(conditions: Conditions) -> list[Column]:
    """Return readings with their names, as texts."""
    text = conditions.dialect.text
    found = []
    for name, i in conditions.place_of.items():
        read = f"COALESCE({conditions.dialect.cast(f'v{i}', 'TEXT')}, {text('missing')})"
        found.append(column(f"{text(f'{quote_name(name)} = ')} || {read}", f"s{i}"))
    return found


def _found(conditions: Conditions, selection: Selection) -> Lines:
    """Write what was found, given which variables a rule is about."""
    groups = _groups(selection)
    if not groups:
        return ("''",)
    arms = []
    for i, names in enumerate(groups, 1):
        texts = " || ' and ' || ".join(f"s{conditions.place_of[name]}" for name in names)
        arms.append(f"WHEN {i} THEN {texts}")
    return ("CASE about", *indented(arms), "END")
