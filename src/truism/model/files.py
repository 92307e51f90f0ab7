"""Model files: a `Model` as JSON that people can read and git can compare, and back.

A predicate is written once with its counts, and rules refer to it by number. What a model does not have
is absent.

Nothing in a file is executed. It is accepted only if its types, ranges and references are right and its
digest matches. So the result is the model that was written, or a `ModelFileError` that says where it is
not. Values refuse what contradicts itself; what is checked here is that they fit each other.
"""

import math
import os
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from truism.errors import ModelFileError
from truism.model.acceptances import Acceptance
from truism.model.evidence import MAX_CLASSES, Evidence
from truism.model.model import Model
from truism.model.predicates import AnyOf, Interval, OneOf, Predicate, Present, Range
from truism.model.provenance import Disabled, Provenance, Threshold
from truism.model.rules import PredicateCount, Rule, RuleSet
from truism.model.schema import Categorical, Count, LeftOut, Numeric, Positive, Schema, require
from truism.model.series import Series
from truism.model.settings import Settings
from truism.model.wording import Legend
from truism.table.atomic import write_atomically
from truism.table.layouts import Reading
from truism.table.versioned import VersionedKind

FILES = VersionedKind(
    "model file",
    ModelFileError,
    format="truism-model",
    version=4,
    max_bytes=256 << 20,
    other="learn a model from normal rows, and save it.",
    older="learn the model again.",
    damaged="restore it, or learn it again; rules can be switched off without editing the file.",
)
MAX_LISTED = 100_000_000  # values that rules may list in all; their text could not be shown anyway
# What a file holds as a model does.
_ALIKE = (
    *("provenance", "settings", "derived", "disabled"),
    *("evidence", "series", "reading", "twins", "legend", "accepted"),
)


# --- what a file holds ---


class FileRule(
    msgspec.Struct,
    frozen=True,
    rename={"antecedent": "if", "consequents": "then"},
    forbid_unknown_fields=True,
):
    """A rule that refers to predicates by their number in the file's list."""

    antecedent: Annotated[tuple[Count, ...], Meta(min_length=1)]
    consequents: Annotated[tuple[Count, ...], Meta(min_length=1)]
    count: Count


class ModelFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a model file holds, in the order in which it is written; `Model` says what it means."""

    # the name and version of the format
    format: Literal["truism-model"]
    format_version: Literal[4]
    digest: str  # digest of everything else in the file
    provenance: Provenance
    settings: Settings
    threshold: Threshold
    derived: tuple[str, ...]
    disabled: tuple[Disabled, ...]
    # the schema, with each variable's training statistics
    variables: Annotated[tuple[Numeric | Categorical, ...], Meta(min_length=1)]
    left_out: tuple[LeftOut, ...]
    time: str | None
    n_rows: Positive  # training rows
    univariate: tuple[Rule, ...]  # what is always true of each variable alone
    predicates: tuple[PredicateCount, ...]  # every other predicate once
    rules: tuple[FileRule, ...]  # the rules with a condition, in canonical order
    evidence: Evidence | None = None
    series: Series | None = None
    reading: Reading | None = None
    twins: tuple[tuple[str, str], ...] | None = None
    legend: Legend | None = None
    accepted: Annotated[tuple[Acceptance, ...], Meta(min_length=1)] | None = None


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of model files."""
    schema = msgspec.json.schema(ModelFile)
    for side in ("low", "high"):  # an open side is absent; JSON has no infinity to default to
        del schema["$defs"]["Interval"]["properties"][side]["default"]
    return schema


# --- writing and reading ---


def encode_model(model: Model) -> bytes:
    """Return a model as UTF-8 JSON in a stable order, with one rule per line."""
    content = FILES.signed(msgspec.json.decode(msgspec.json.encode(to_file(model))))
    return f"{{\n{_lines(content, 2)}\n}}\n".encode()


def decode_model(content: bytes) -> Model:
    """Read what `encode_model` wrote; refuse anything else."""
    return FILES.decode(content, lambda read: from_file(msgspec.convert(read, ModelFile)))


def save_model(model: Model, path: str | os.PathLike[str]) -> None:
    """Write a model file; an existing file survives any failure."""
    write_atomically(path, encode_model(model))


def load_model(path: str | os.PathLike[str]) -> Model:
    """Read a model file."""
    return FILES.load(path, decode_model)


def edit_model(path: str | os.PathLike[str], change: Callable[[Model], Model]) -> Model:
    """Read a model, change it and write it back while no other program does; return what was written."""
    with FILES.held(path) as write:
        edited = change(load_model(path))
        write(encode_model(edited))
    return edited


def _lines(content: dict[str, Any], indent: int) -> str:
    """Put every value on a line of its own, and so every element of a list of objects."""
    blank, lines = " " * indent, []
    for name, value in content.items():
        text = msgspec.json.encode(value).decode()
        if _lists_objects(value):
            items = ",\n".join(f"{blank}  {msgspec.json.encode(item).decode()}" for item in value)
            text = f"[\n{items}\n{blank}]"
        elif isinstance(value, dict) and any(map(_lists_objects, value.values())):
            text = f"{{\n{_lines(value, indent + 2)}\n{blank}}}"
        lines.append(f'{blank}"{name}": {text}')
    return ",\n".join(lines)


def _lists_objects(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


# --- models as files ---


def to_file(model: Model) -> ModelFile:
    """Return a model in the shape of a file, without a digest."""
    number = {counted.predicate: i for i, counted in enumerate(model.rules.predicates)}
    return ModelFile(
        format="truism-model",
        format_version=4,
        digest="",
        threshold=model.limit,
        variables=model.schema.variables,
        left_out=model.schema.left_out,
        time=model.schema.time,
        n_rows=model.rules.n_rows,
        univariate=tuple(rule for rule in model.rules if not rule.antecedent),
        predicates=model.rules.predicates,
        rules=tuple(
            FileRule(
                tuple(number[predicate] for predicate in rule.antecedent),
                tuple(number[predicate] for predicate in rule.consequents),
                rule.count,
            )
            for rule in model.rules
            if rule.antecedent
        ),
        **{name: getattr(model, name) for name in _ALIKE},
    )


def from_file(file: ModelFile) -> Model:
    """Check that all parts of a file fit each other, and return its model."""
    schema = Schema(file.variables, file.left_out, file.time)
    fits = _fitting(schema)
    _check_schema(schema, file)
    _check_rules(file, fits)
    _check_evidence(schema, file, fits)
    _check_options(schema, file, fits)
    listed = [counted.predicate for counted in file.predicates]
    mined = (
        Rule(
            tuple(listed[i] for i in rule.antecedent),
            tuple(listed[i] for i in rule.consequents),
            rule.count,
        )
        for rule in file.rules
    )
    rules = RuleSet((*file.univariate, *mined), file.n_rows, file.predicates)
    ids = {rule.id for rule in rules} if file.disabled else set()
    for i, off in enumerate(file.disabled):
        _check(off.rule_id in ids, f"there is no rule {off.rule_id!r}", f"$.disabled[{i}]")
    alike = {name: getattr(file, name) for name in _ALIKE}
    return Model(schema, rules, limit=file.threshold, **alike)


# --- what must fit together, beyond types and ranges ---

Fits = Callable[[Predicate], bool]


def _check(right: bool, problem: str, where: str) -> None:
    require(right, f"{problem} - at `{where}`")


def _fitting(schema: Schema) -> Callable[..., bool]:
    """Return whether predicates can be about the variables, with states that training had if asked."""
    variable_of = schema.variable_of()
    states_of = {
        variable.name: {*variable.values}
        for variable in schema.variables
        if isinstance(variable, Categorical)
    }

    def fits(predicate: Predicate, *, seen: bool = True) -> bool:
        if isinstance(predicate, AnyOf):
            return all(fits(part, seen=seen) for part in predicate.parts)
        variable = variable_of.get(predicate.variable)
        if isinstance(predicate, OneOf):
            return (
                isinstance(variable, Categorical)
                and all(map(variable.can_be, predicate.values))
                and (not seen or states_of[variable.name].issuperset(predicate.values))
            )
        kinds = (Numeric, Categorical) if isinstance(predicate, Present) else Numeric
        return isinstance(variable, kinds)

    return fits


def _check_schema(schema: Schema, file: ModelFile) -> None:
    for i, variable in enumerate(schema.variables):
        right = sum(variable.counts) + variable.n_missing == file.n_rows
        _check(right, "counts do not add up to the rows", f"$.variables[{i}]")
    names, columns = {*schema.names}, file.provenance.columns
    _check(len(names) == len(schema.names), "a variable is listed twice", "$.variables")
    listed = not columns or names <= {*columns}
    _check(listed, "a variable is not among the columns", "$.provenance.columns")
    _check(len({*columns}) == len(columns), "a column is listed twice", "$.provenance.columns")
    sources = {*names, *(column.name for column in schema.left_out)}
    _check({*file.derived} <= sources, "a derived variable is unknown", "$.derived")


def _check_rules(file: ModelFile, fits: Fits) -> None:
    """Check rules by the numbers of their predicates, whose texts may be long."""
    for i, rule in enumerate(file.univariate):
        right = not rule.antecedent and len(rule.consequents) == 1 and rule.count <= file.n_rows
        right = right and isinstance(rule.consequents[0], Range | Present | OneOf)
        right = right and fits(rule.consequents[0])
        _check(right, "it is no rule about one variable alone", f"$.univariate[{i}]")
    once = len({*file.univariate}) == len(file.univariate)
    _check(once, "a rule is listed twice", "$.univariate")
    widths = []
    for i, counted in enumerate(file.predicates):
        predicate, n_present = counted.predicate, counted.n_true + counted.n_false
        right = isinstance(predicate, Interval | OneOf | AnyOf) and fits(predicate)
        _check(right, "it does not fit its variable", f"$.predicates[{i}]")
        _check(n_present <= file.n_rows, "counts are out of range", f"$.predicates[{i}]")
        parts = predicate.parts if isinstance(predicate, AnyOf) else (predicate,)
        widths.append(sum(len(part.values) if isinstance(part, OneOf) else 1 for part in parts))
    once = len({counted.predicate for counted in file.predicates}) == len(file.predicates)
    _check(once, "a predicate is listed twice", "$.predicates")
    n_listed = 0
    for i, rule_by_number in enumerate(file.rules):
        numbers = (*rule_by_number.antecedent, *rule_by_number.consequents)
        where = f"$.rules[{i}]"
        _check(max(numbers) < len(widths), "a predicate is unknown", where)
        _check(len({*numbers}) == len(numbers), "a predicate occurs twice", where)
        most = min(file.predicates[number].n_true for number in numbers)
        _check(rule_by_number.count <= most, "the count exceeds a predicate's", where)
        n_listed += sum(widths[number] for number in numbers)
    _check(len({*file.rules}) == len(file.rules), "a rule is listed twice", "$.rules")
    _check(n_listed <= MAX_LISTED, f"they list {n_listed:,} values", "$.rules")


def _check_evidence(schema: Schema, file: ModelFile, fits: Fits) -> None:
    weighs, evidence = file.settings.scoring == "evidence", file.evidence
    _check((evidence is not None) == weighs, "evidence and scoring do not fit", "$.evidence")
    if evidence is None:
        return
    numeric = [one for one in schema.variables if isinstance(one, Numeric)]
    names = [spacing.variable for spacing in evidence.spacings]
    same = names == [variable.name for variable in numeric]
    _check(same, "spacings and numeric variables differ", "$.evidence.spacings")
    for i, (variable, spacing) in enumerate(zip(numeric, evidence.spacings, strict=True)):
        right = sum(spacing.counts) + variable.n_missing == file.n_rows
        _check(right, "counts do not add up to the rows", f"$.evidence.spacings[{i}]")
    for i, split in enumerate(evidence.splits):
        right = fits(split) and (isinstance(split, OneOf) or split.low == -math.inf)
        _check(right, "it does not fit its variable", f"$.evidence.splits[{i}]")
    for i, context in enumerate(evidence.contexts):
        right = sum(context.counts) == file.n_rows and max(context.tree) < len(evidence.splits)
        judged = _judged(schema, context.numbers, Numeric)
        states = _judged(schema, context.states, Categorical)
        right = right and judged is not None and states is not None
        widths = [min(len(variable.counts), MAX_CLASSES) for variable in states or ()]
        leaves = context.state_counts
        right = right and all([len(counts) for counts in leaf] == widths for leaf in leaves)
        _check(right, "it does not fit the variables", f"$.evidence.contexts[{i}]")
    fitting = len(evidence.usual) == len(schema.variables)
    _check(fitting, "it does not fit the variables", "$.evidence.usual")


def _judged(
    schema: Schema, positions: Sequence[int], kind: type[Numeric] | type[Categorical]
) -> list[Numeric | Categorical] | None:
    """Return the variables at some positions; None if one is none, or of another kind."""
    if max(positions, default=0) >= len(schema.variables):
        return None
    found = [schema.variables[i] for i in positions]
    return found if all(isinstance(one, kind) and one.has_spread for one in found) else None


def _check_options(schema: Schema, file: ModelFile, fits: Callable[..., bool]) -> None:
    accepted, kind_of = file.accepted or (), {one.name: type(one) for one in schema.variables}
    once = len({acceptance.id for acceptance in accepted}) == len(accepted)
    _check(once, "an acceptance is listed twice", "$.accepted")
    for i, acceptance in enumerate(accepted):
        names = acceptance.variables
        right = len({*names}) == len(names) and {*names} <= {*schema.names}
        _check(right, "a variable is unknown or listed twice", f"$.accepted[{i}]")
        for one in acceptance.conditions:
            right = fits(one, seen=False)
            _check(right, "a condition does not fit its variable", f"$.accepted[{i}]")
    for i, pair in enumerate(file.twins or ()):
        right = len({*pair}) == 2 and all(kind_of.get(name) is Numeric for name in pair)
        _check(right, "twins must be two variables with numbers", f"$.twins[{i}]")
    columns = [] if file.reading is None else [column.name for column in file.reading.columns]
    _check(len({*columns}) == len(columns), "a column is listed twice", "$.reading.columns")
    memory = None if file.series is None else file.series.memory
    if memory is not None:
        _check(file.evidence is not None, "memory and scoring do not fit", "$.series")
        lengths = {len(values) for values in memory.of_variables().values()}
        _check(
            lengths == {len(schema.variables)}, "it does not fit the variables", "$.series.memory"
        )
