"""What differs between two models, in words: sentences, and a section for each kind of difference."""

from collections.abc import Iterable, Sequence
from typing import Any

from truism.model.comparison import (
    Change,
    ClaimChange,
    ClaimRecord,
    ModelComparison,
    RuleChanges,
    StateChange,
    VariableChanges,
)
from truism.model.predicates import format_number, format_value
from truism.model.rules import Rule
from truism.model.wording import count
from truism.report.sections import Section, section

_IN_OVERVIEW = {("threshold", "value"), ("training", "n_rows")}


def model_sections(models: ModelComparison, most: int) -> list[Section]:
    """Return how variables, rules and settings differ, with the first rows of each."""
    return [
        *_variable_sections(models.variables, most),
        *_rule_sections(models.rules, most),
        *_change_sections(models.changes, most),
    ]


def say_models(models: ModelComparison) -> Iterable[str]:
    """Say what differs between the models."""
    if models.same:
        yield "The models are the same."
        return
    found, rules = models.variables, models.rules
    parts = [
        f"{count(n, 'variable')} {what}"
        for n, what in (
            (len(found.added), "added"),
            (len(found.gone), "gone"),
            (len(found.other_kind), "of another kind"),
        )
        if n
    ]
    if parts:
        yield f"{', '.join(parts)}."
    if rules == RuleChanges(rules.n_unchanged):
        yield "The rules are the same."
        return
    yield (
        f"Of {count(models.old.n_claims, 'claim')} of the old model {rules.n_unchanged:,} are "
        f"unchanged, {len(rules.changed):,} changed and {len(rules.gone):,} gone; "
        f"{len(rules.new):,} are new."
    )


def overview(models: ModelComparison) -> Section:
    """Return both models at a glance."""
    rows = []
    for name, title in (
        ("n_rows", "training rows"),
        ("n_variables", "variables"),
        ("n_rules", "rules"),
        ("n_claims", "claims"),
        ("threshold", "threshold φ"),
        ("created", "learned"),
    ):
        then, now = (_plain(getattr(side, name)) for side in (models.old, models.new))
        rows.append((title, _short(name, then), _short(name, now)))
    note = "A rule makes one claim for each of its consequents."
    return Section("Overview", note, ("", "old", "new"), tuple(rows), len(rows))


def _plain(value: Any) -> str:
    """Print a number, a text or a list."""
    match value:
        case None:
            return "–"
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case float():
            return format_number(value)
        case list() | tuple():
            return ", ".join(map(_plain, value)) or "none"
    return str(value)


def _short(name: str, text: str) -> str:
    """Print a moment to the minute, and a digest so far that two can be told apart."""
    length = {"created": 16, "fingerprint": 8, "digest": 8}.get(name)
    return text[:length].replace("T", " ") if name == "created" else text[:length]


def _variable_sections(found: VariableChanges, most: int) -> list[Section]:
    rows = [(name, "added", "", "") for name in found.added]
    rows += [(name, "gone", "", "") for name in found.gone]
    rows += [(each.name, "other kind", each.old, each.new) for each in found.other_kind]
    rows += [(each.name, "other states", *_states(each)) for each in found.other_states]
    return section("Variables", "", ("variable", "change", "old", "new"), rows, most)


def _states(change: StateChange) -> tuple[str, str]:
    gone, new = (", ".join(map(format_value, some)) for some in (change.gone, change.new))
    return (f"only {gone}" if gone else "", f"only {new}" if new else "")


def _rule_sections(rules: RuleChanges, most: int) -> list[Section]:
    moves = [each.move for each in rules.changed]
    note = ", ".join(
        f"{moves.count(move):,} {move}" for move in ("stricter", "looser", "moved") if move in moves
    )
    return [
        *_claims("Rules switched off", "", rules.switched_off, most),
        *_claims("Rules switched on", "", rules.switched_on, most),
        *section(
            f"Rules changed: {count(len(moves), 'claim')}",
            note,
            ("was", "now", ""),
            _changed(rules.changed),
            most,
            stacked=True,
        ),
        *_claims("Rules gone", "still follow from a rule of the new model", rules.gone, most),
        *_claims("New rules", "already followed from a rule of the old model", rules.new, most),
    ]


def _claims(title: str, covered: str, claims: Sequence[ClaimRecord], most: int) -> list[Section]:
    n_covered = sum(each.covered for each in claims)
    note = f"{n_covered:,} {covered}" if n_covered and covered else ""
    rows = [
        (_say_rule(some), f"{some[0].count:,}", some[0].rule)
        for some in _by_rule(claims, lambda each: (each.rule, each.covered))
    ]
    title = f"{title}: {count(len(claims), 'claim')}"
    return section(title, note, ("rule", "rows", "id"), rows, most)


def _changed(changes: Sequence[ClaimChange]) -> list[tuple[str, ...]]:
    """Put the claims of a rule together that became those of another one."""
    return [
        (
            _say_rule([each.old for each in some]),
            _say_rule([each.new for each in some]),
            some[0].move,
        )
        for some in _by_rule(changes, lambda each: (each.old.rule, each.new.rule, each.move))
    ]


def _by_rule(things: Sequence[Any], key: Any) -> list[list[Any]]:
    groups: dict[Any, list[Any]] = {}
    for each in things:
        groups.setdefault(key(each), []).append(each)
    return list(groups.values())


def _say_rule(claims: Sequence[ClaimRecord]) -> str:
    """Print the claims of one rule as a rule."""
    consequents = tuple(dict.fromkeys(each.consequent for each in claims))
    return Rule(claims[0].antecedent, consequents, claims[0].count).text()


def _change_sections(changes: Sequence[Change], most: int) -> list[Section]:
    rows = [
        (
            f"{each.topic}: {each.name.replace('_', ' ')}",
            *(_short(each.name, _plain(value)) for value in (each.old, each.new)),
        )
        for each in changes
        if (each.topic, each.name) not in _IN_OVERVIEW
    ]
    return section("Settings and training", "", ("", "old", "new"), rows, most)
