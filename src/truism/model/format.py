"""The shape of a model file: what it contains, and what must fit together for it to be a `Model`.

A predicate is written once and rules refer to it by number. Parts that only some models have are
sections, which a file lists by name and version, so that a version of truism that does
not know one can say so. `to_file` and `from_file` are inverses. Types, ranges and references are
all checked on reading, and a `ModelFileError` says where one is wrong.
"""

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from truism.errors import ModelFileError
from truism.model.contents import (
    FORMAT_VERSION,
    SECTIONS,
    FileEvidence,
    FilePredicate,
    FileRule,
    ModelFile,
)
from truism.model.evidence import Evidence
from truism.model.model import Model
from truism.model.predicates import (
    AnyOf,
    Interval,
    OneOf,
    Predicate,
    Present,
    Range,
    order,
    variables,
)
from truism.model.rules import PredicateCount, Rule, RuleSet
from truism.model.schema import Categorical, Numeric, Schema
from truism.model.soundness import (
    find_faults,
    find_memory_faults,
    find_unacceptable,
)

MAX_LISTED = 100_000_000  # values that rules may list in all; their text could not be shown anyway
_STEPS = (1e-9, 1e12)  # seconds from row to row: a nanosecond, and more than all of history


def to_file(model: Model) -> ModelFile:
    """Return a model in the shape of a file, without a digest."""
    counted = {each.predicate: each for each in model.rules.predicates}
    univariate = {
        each for rule in model.rules if not rule.antecedent for each in rule.consequents
    } - counted.keys()
    listed = [*counted, *sorted(univariate, key=order)]
    number = {predicate: i for i, predicate in enumerate(listed)}
    return ModelFile(
        format="truism-model",
        format_version=FORMAT_VERSION,
        digest="",
        sections={name: SECTIONS[name] for name in SECTIONS if getattr(model, name) is not None},
        provenance=model.provenance,
        settings=model.settings,
        threshold=model.limit,
        derived=model.derived,
        disabled=model.disabled,
        variables=model.schema.variables,
        left_out=model.schema.left_out,
        time=model.schema.time,
        n_rows=model.rules.n_rows,
        predicates=tuple(
            _counted(counted[each]) if each in counted else FilePredicate(each) for each in listed
        ),
        rules=tuple(
            FileRule(
                tuple(number[each] for each in rule.antecedent),
                tuple(number[each] for each in rule.consequents),
                rule.count,
            )
            for rule in model.rules
        ),
        evidence=None if model.evidence is None else _file_evidence(model.evidence),
        series=model.series,
        reading=model.reading,
        twins=model.twins,
        legend=model.legend,
        accepted=model.accepted,
    )


def _file_evidence(evidence: Evidence) -> FileEvidence:
    return FileEvidence(
        (evidence.contradiction_unit, evidence.rarity_unit),
        evidence.usual,
        evidence.spacings,
        evidence.splits,
        evidence.contexts,
        evidence.grave,
    )


def _counted(counts: PredicateCount) -> FilePredicate:
    return FilePredicate(counts.predicate, counts.n_true, counts.n_false, counts.n_episodes)


def from_file(file: ModelFile) -> Model:
    """Check all parts of a file, and return its model."""
    schema = Schema(file.variables, file.left_out, file.time)
    _check_schema(schema, file)
    _check_predicates(schema, file)
    predicates = [each.predicate for each in file.predicates]
    rules = tuple(_rule(each, i, file, predicates) for i, each in enumerate(file.rules))
    _check_lists(file, predicates)
    _check(_in_order(file, predicates), "rules are not in order", "$.rules")
    counted = tuple(
        PredicateCount(each.predicate, each.n_true, each.n_false, each.n_episodes)
        for each in file.predicates
        if each.n_true is not None
        and each.n_false is not None
        and each.n_episodes is not msgspec.UNSET
    )
    known = {rule.id for rule in rules} if file.disabled else set()
    for i, each in enumerate(file.disabled):
        _check(each.rule_id in known, f"there is no rule {each.rule_id!r}", f"$.disabled[{i}]")
    limit = file.threshold.value
    _check(_finite([limit]) and limit >= 0, "out of range", "$.threshold")
    weighs = file.settings.scoring == "evidence"
    _check((file.evidence is not None) == weighs, "evidence and scoring do not fit", "$.evidence")
    held = {name for name in SECTIONS if getattr(file, name) is not None}
    _check({*file.sections} == held, "sections do not fit", "$.sections")
    _check_accepted(schema, file)
    _check_legend(file)
    _check_twins(schema, file)
    _check_reading(file)
    _check_series(schema, file)
    return Model(
        schema,
        RuleSet(rules, file.n_rows, counted),
        file.settings,
        file.provenance,
        file.threshold,
        file.disabled,
        file.derived,
        _evidence(schema, file),
        file.series,
        file.reading,
        file.twins,
        file.legend,
        file.accepted,
    )


def _check_accepted(schema: Schema, file: ModelFile) -> None:
    if file.accepted is not None:
        for problem, where in find_unacceptable(schema, file.accepted):
            _check(False, problem, where)


def _check_legend(file: ModelFile) -> None:
    if file.legend is not None:
        texts = (*file.legend.units.values(), *file.legend.titles.values())
        _check(bool(texts) and all(texts), "a unit or title is empty", "$.legend")


def _check_twins(schema: Schema, file: ModelFile) -> None:
    numeric = {each.name for each in schema.variables if isinstance(each, Numeric)}
    for i, pair in enumerate(file.twins or ()):
        fits = len(set(pair)) == 2 and numeric.issuperset(pair)
        _check(fits, "twins must be two variables with numbers", f"$.twins[{i}]")


def _check_reading(file: ModelFile) -> None:
    names = [] if file.reading is None else [each.name for each in file.reading.columns]
    _check(len(set(names)) == len(names), "a column is listed twice", "$.reading.columns")


def _evidence(schema: Schema, file: ModelFile) -> Evidence | None:
    read = file.evidence
    if read is None:
        return None
    evidence = Evidence(
        read.spacings, read.splits, read.contexts, *read.units, read.usual, read.grave
    )
    for problem, where in find_faults(schema, evidence, file.n_rows):
        _check(False, problem, where.replace("$.", "$.evidence."))
    return evidence


def _check_series(schema: Schema, file: ModelFile) -> None:
    read = file.series
    step = None if read is None else read.step
    _check(step is None or _STEPS[0] <= step <= _STEPS[1], "out of range", "$.series.step")
    if read is not None and read.memory is not None:
        _check(file.evidence is not None, "memory and scoring do not fit", "$.series")
        for problem, where in find_memory_faults(schema, read.memory):
            _check(False, problem, where)


def _check(right: bool, problem: str, where: str) -> None:
    if not right:
        raise ModelFileError(f"The model file is damaged: {problem} - at `{where}`.")


def _finite(numbers: Iterable[float]) -> bool:
    return all(math.isfinite(each) for each in numbers)


def _check_schema(schema: Schema, file: ModelFile) -> None:
    names = schema.names
    _check(len(set(names)) == len(names), "a variable is listed twice", "$.variables")
    for i, each in enumerate(schema.variables):
        where = f"$.variables[{i}]"
        _check(bool(each.name), "a name is empty", where)
        present = file.n_rows - each.n_missing
        _check(0 <= each.n_missing < file.n_rows, "n_missing is out of range", where)
        _check(all(n > 0 for n in each.counts), "a count is not positive", where)
        _check(sum(each.counts) == present, "counts do not add up to the rows", where)
        if isinstance(each, Numeric):
            _check(len(each.edges) == len(each.counts), "edges and counts differ", where)
            _check(
                _finite((each.low, each.high, each.mean, each.std, *each.edges)),
                "a number is not finite",
                where,
            )
            _check(each.low <= each.mean <= each.high and each.std >= 0, "out of range", where)
            ascending = all(a < b for a, b in zip(each.edges, each.edges[1:], strict=False))
            _check(ascending, "edges do not ascend", where)
        else:
            _check(len(each.values) == len(each.counts), "values and counts differ", where)
            kinds: dict[str, Any] = {"text": str, "boolean": bool, "number": (int, float)}
            right = all(
                isinstance(v, kinds[each.holds])
                and (each.holds == "boolean" or not isinstance(v, bool))
                for v in each.values
            )
            _check(right, f"a value is not {each.holds}", where)
            ascending = all(a < b for a, b in zip(each.values, each.values[1:], strict=False))  # type: ignore[operator]
            _check(ascending, "values do not ascend", where)
    columns = file.provenance.columns
    known = not columns or set(names) <= set(columns)
    _check(known, "a variable is not among the columns", "$.provenance.columns")
    _check(len(set(columns)) == len(columns), "a column is listed twice", "$.provenance.columns")
    sources = {*names, *(each.name for each in schema.left_out)}
    _check(set(file.derived) <= sources, "a derived variable is unknown", "$.derived")


def _check_lists(file: ModelFile, predicates: Sequence[Predicate]) -> None:
    """Check rules by their numbers: comparing predicates would take their whole text each time."""
    _check(len(set(file.rules)) == len(file.rules), "a rule is listed twice", "$.rules")
    widths = [_width(each) for each in predicates]
    n_listed = sum(widths[i] for rule in file.rules for i in (*rule.antecedent, *rule.consequents))
    _check(n_listed <= MAX_LISTED, f"they list {n_listed:,} values", "$.rules")


def _width(predicate: Predicate) -> int:
    match predicate:
        case OneOf(_, values):
            return len(values)
        case AnyOf(parts):
            return sum(len(part.values) for part in parts)
    return 1


def _check_predicates(schema: Schema, file: ModelFile) -> None:
    variable_of = schema.variable_of()
    states_of = {
        each.name: set(map(_typed, each.values))
        for each in schema.variables
        if isinstance(each, Categorical)
    }
    seen = set()
    for i, entry in enumerate(file.predicates):
        where = f"$.predicates[{i}]"
        each = entry.predicate
        _check(each not in seen, "a predicate is listed twice", where)
        seen.add(each)
        for name in variables(each):
            _check(name in variable_of, f"there is no variable {name!r}", where)
        for part in each.parts if isinstance(each, AnyOf) else (each,):
            of = variable_of[part.variable]
            if isinstance(part, OneOf):
                _check(isinstance(of, Categorical), f"{of.name!r} is not categorical", where)
                states = states_of.get(of.name, set())
                _check({_typed(v) for v in part.values} <= states, "a value is unknown", where)
            elif isinstance(part, Interval | Range):
                _check(isinstance(of, Numeric), f"{of.name!r} is not numeric", where)
        if entry.n_true is None or entry.n_false is None or entry.n_episodes is msgspec.UNSET:
            none = entry.n_true is entry.n_false and entry.n_episodes is msgspec.UNSET
            _check(none, "a count is missing", where)
        else:
            _check(
                entry.n_true >= 1
                and entry.n_true + entry.n_false <= file.n_rows
                and min(entry.n_false, 1) <= entry.n_episodes <= entry.n_false,
                "counts are out of range",
                where,
            )


def _in_order(file: ModelFile, predicates: list[Predicate]) -> bool:
    """Return whether rules are in canonical order; predicates are compared by their ranks."""
    arranged = sorted(range(len(predicates)), key=lambda i: order(predicates[i]))
    rank_of = {position: rank for rank, position in enumerate(arranged)}
    keys = [
        (
            len(rule.antecedent),
            [rank_of[i] for i in rule.antecedent],
            [rank_of[i] for i in rule.consequents],
        )
        for rule in file.rules
    ]
    return all(one <= next_one for one, next_one in itertools.pairwise(keys))


def _typed(value: Any) -> tuple[type, Any]:
    return (type(value), value)


def _rule(rule: FileRule, position: int, file: ModelFile, predicates: list[Predicate]) -> Rule:
    where = f"$.rules[{position}]"
    indices = (*rule.antecedent, *rule.consequents)
    _check(all(i < len(predicates) for i in indices), "a predicate is unknown", where)
    _check(len(set(indices)) == len(indices), "a predicate occurs twice", where)
    _check(rule.count <= file.n_rows, "the count exceeds the rows", where)
    univariate = not rule.antecedent
    if univariate:
        single = len(rule.consequents) == 1 and isinstance(
            predicates[rule.consequents[0]], Range | Present | OneOf
        )
        _check(single, "a univariate rule must say one thing of one variable", where)
    else:
        for i in indices:
            counted = file.predicates[i].n_true
            _check(counted is not None, "a predicate has no counts", where)
            _check(rule.count <= (counted or 0), "the count exceeds a predicate's", where)
            mined = isinstance(predicates[i], Interval | OneOf | AnyOf)
            _check(mined, "a predicate belongs to univariate rules only", where)
    antecedent = tuple(predicates[i] for i in rule.antecedent)
    consequents = tuple(predicates[i] for i in rule.consequents)
    return Rule(antecedent, consequents, rule.count)
