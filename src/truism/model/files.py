"""Model files: a `Model` as JSON that people can read and git can compare, and back.

A predicate is written once and rules refer to it by number. Parts that only some models have are
sections, which a file lists by name and version, so that a truism that does not know one can say so.

Nothing in a file is executed. It is accepted only if its types, ranges and references are right and its
digest matches. So the result is the model that was written, or a `ModelFileError` that says where it is
not.
"""

import itertools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from truism.errors import ModelFileError, TruismError
from truism.model.acceptances import Acceptance
from truism.model.evidence import LEAF, MAX_CLASSES, Context, Evidence
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
from truism.model.provenance import Disabled, Provenance, Threshold
from truism.model.rules import PredicateCount, Rule, RuleSet
from truism.model.schema import Categorical, Count, LeftOut, Numeric, Positive, Schema, Variable
from truism.model.series import Series
from truism.model.settings import Settings
from truism.model.wording import Legend
from truism.table.atomic import write_atomically
from truism.table.layouts import Reading
from truism.table.versioned import VersionedKind

FORMAT_VERSION: Literal[3] = 3
SECTIONS = {"evidence": 2, "series": 1, "reading": 1, "twins": 1, "legend": 1, "accepted": 1}
"""Optional parts of a file, by name, and the version that this truism writes and reads."""
FILES = VersionedKind(
    "model file",
    ModelFileError,
    format="truism-model",
    version=FORMAT_VERSION,
    max_bytes=256 << 20,
    other="learn a model from normal rows, and save it.",
    older="learn the model again.",
    damaged="restore it, or learn it again; rules can be switched off without editing the file.",
)
MAX_LISTED = 100_000_000  # values that rules may list in all; their text could not be shown anyway
_LISTS = ("variables", "left_out", "disabled", "predicates", "rules", "accepted")
_SECTION_LISTS = {
    "evidence": ("usual", "spacings", "splits", "contexts"),
    "reading": ("columns",),
}


# --- what a file holds ---


class FileRule(
    msgspec.Struct,
    frozen=True,
    rename={"antecedent": "if", "consequents": "then"},
    forbid_unknown_fields=True,
):
    """A rule that refers to predicates by their number in the file's list."""

    antecedent: tuple[Count, ...]
    consequents: Annotated[tuple[Count, ...], Meta(min_length=1)]
    count: Count


class FilePredicate(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A predicate with its training counts; univariate ones have none."""

    predicate: Predicate
    n_true: Count | None = None
    n_false: Count | None = None
    n_episodes: Count | msgspec.UnsetType = msgspec.UNSET


class ModelFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a model file holds, in the order in which it is written."""

    # the name and version of the format
    format: Literal["truism-model"]
    format_version: Literal[3]
    digest: str  # digest of everything else in the file
    sections: dict[str, int]  # the optional parts that the file has, and the version of each
    provenance: Provenance  # when, from what and by which version of truism the model was learned
    settings: Settings  # how it was learned
    threshold: Threshold  # rows that score above its value are anomalies; its origin says why
    # columns whose change since the previous row is a variable; meters are not variables themselves
    derived: tuple[str, ...]
    disabled: tuple[Disabled, ...]  # rules switched off, and why
    # the schema, with each variable's training statistics
    variables: Annotated[tuple[Numeric | Categorical, ...], Meta(min_length=1)]
    left_out: tuple[LeftOut, ...]
    time: str | None
    n_rows: Positive  # training rows
    predicates: tuple[FilePredicate, ...]  # every predicate once
    rules: tuple[FileRule, ...]  # every rule, in canonical order
    # a section: what is usual beyond the rules, where the scoring asks for it
    evidence: Evidence | None = None
    # a section: what is known about the order of rows, where they are in order
    series: Series | None = None
    # a section: how the training table was read, so that later ones are read alike
    reading: Reading | None = None
    # a section: pairs of numbers that move together
    twins: tuple[tuple[str, str], ...] | None = None
    legend: Legend | None = None  # a section: units and titles of columns, where the user gave any
    # a section: what the user accepted as normal
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
    return _layout(FILES.signed(msgspec.json.decode(msgspec.json.encode(to_file(model)))))


def decode_model(content: bytes) -> Model:
    """Read what `encode_model` wrote; refuse anything else."""

    def convert(read: dict[str, Any]) -> Model:
        _check_versions(msgspec.convert(read.get("sections", {}), dict[str, int]))
        return from_file(msgspec.convert(read, ModelFile))

    return FILES.decode(content, convert)


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


def _layout(content: dict[str, Any]) -> bytes:
    """Indent one level, and put every element of a list on a line of its own."""
    lines = []
    for name, value in content.items():
        if name in _SECTION_LISTS:
            parts = [_entry(key, part, 4, _SECTION_LISTS[name]) for key, part in value.items()]
            lines.append(f'  "{name}": {{\n' + ",\n".join(parts) + "\n  }")
        else:
            lines.append(_entry(name, value, 2, _LISTS))
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def _entry(name: str, value: Any, indent: int, lists: Sequence[str]) -> str:
    blank = " " * indent
    if name in lists and value:
        items = ",\n".join(f"{blank}  {msgspec.json.encode(item).decode()}" for item in value)
        return f'{blank}"{name}": [\n{items}\n{blank}]'
    return f'{blank}"{name}": {msgspec.json.encode(value).decode()}'


def _check_versions(sections: dict[str, int]) -> None:
    for name, version in sections.items():
        if SECTIONS.get(name) != version:
            raise ModelFileError(
                f"The model file has a section {name!r} of version {version}, which this truism does "
                f"not know.",
                FILES.older,
            )


# --- models as files ---


def to_file(model: Model) -> ModelFile:
    """Return a model in the shape of a file, without a digest."""
    counted = {
        one.predicate: FilePredicate(one.predicate, one.n_true, one.n_false, one.n_episodes)
        for one in model.rules.predicates
    }
    univariate = {
        claimed for rule in model.rules if not rule.antecedent for claimed in rule.consequents
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
        predicates=tuple(counted.get(predicate, FilePredicate(predicate)) for predicate in listed),
        rules=tuple(
            FileRule(
                tuple(number[predicate] for predicate in rule.antecedent),
                tuple(number[predicate] for predicate in rule.consequents),
                rule.count,
            )
            for rule in model.rules
        ),
        **{name: getattr(model, name) for name in SECTIONS},
    )


def from_file(file: ModelFile) -> Model:
    """Check all parts of a file, and return its model."""
    schema = Schema(file.variables, file.left_out, file.time)
    _check_schema(schema, file)
    _check_predicates(schema, file)
    rules = _rules(file)
    ids = {rule.id for rule in rules} if file.disabled else set()
    for i, off in enumerate(file.disabled):
        _check(off.rule_id in ids, f"there is no rule {off.rule_id!r}", f"$.disabled[{i}]")
    weighs = file.settings.scoring == "evidence"
    _check((file.evidence is not None) == weighs, "evidence and scoring do not fit", "$.evidence")
    held = {name for name in SECTIONS if getattr(file, name) is not None}
    _check({*file.sections} == held, "sections do not fit", "$.sections")
    _check_evidence(schema, file)
    _check_sections(schema, file)
    counted = tuple(
        PredicateCount(entry.predicate, entry.n_true, entry.n_false, entry.n_episodes)
        for entry in file.predicates
        if entry.n_true is not None
        and entry.n_false is not None
        and entry.n_episodes is not msgspec.UNSET
    )
    return Model(
        schema,
        RuleSet(rules, file.n_rows, counted),
        file.settings,
        file.provenance,
        file.threshold,
        file.disabled,
        file.derived,
        **{name: getattr(file, name) for name in SECTIONS},
    )


# --- what must fit together, beyond types and ranges ---


def _check(right: bool, problem: str, where: str) -> None:
    if not right:
        raise TruismError(f"{problem} - at `{where}`.")


def _ascend(values: Sequence[Any]) -> bool:
    return all(a < b for a, b in itertools.pairwise(values))


def _check_schema(schema: Schema, file: ModelFile) -> None:
    names = schema.names
    _check(len({*names}) == len(names), "a variable is listed twice", "$.variables")
    kinds: dict[str, Any] = {"text": str, "boolean": bool, "number": int | float}
    for i, variable in enumerate(schema.variables):
        where = f"$.variables[{i}]"
        present = file.n_rows - variable.n_missing
        _check(sum(variable.counts) == present, "counts do not add up to the rows", where)
        if isinstance(variable, Numeric):
            same = len(variable.edges) == len(variable.counts)
            _check(same, "edges and counts differ", where)
            _check(variable.low <= variable.mean <= variable.high, "out of range", where)
            _check(_ascend(variable.edges), "edges do not ascend", where)
        else:
            same = len(variable.values) == len(variable.counts)
            _check(same, "values and counts differ", where)
            right = all(
                isinstance(value, kinds[variable.holds])
                and (variable.holds == "boolean" or not isinstance(value, bool))
                for value in variable.values
            )
            _check(right, f"a value is not {variable.holds}", where)
            _check(_ascend(variable.values), "values do not ascend", where)
    columns = file.provenance.columns
    listed = not columns or {*names} <= {*columns}
    _check(listed, "a variable is not among the columns", "$.provenance.columns")
    _check(len({*columns}) == len(columns), "a column is listed twice", "$.provenance.columns")
    sources = {*names, *(column.name for column in schema.left_out)}
    _check({*file.derived} <= sources, "a derived variable is unknown", "$.derived")


def _parts_of(predicates: Sequence[Predicate]) -> Iterator[Interval | OneOf | Range | Present]:
    for predicate in predicates:
        yield from predicate.parts if isinstance(predicate, AnyOf) else (predicate,)


def _check_predicates(schema: Schema, file: ModelFile) -> None:
    variable_of = schema.variable_of()
    states_of = {
        variable.name: {*map(_typed, variable.values)}
        for variable in schema.variables
        if isinstance(variable, Categorical)
    }
    seen = set()
    for i, entry in enumerate(file.predicates):
        where, predicate = f"$.predicates[{i}]", entry.predicate
        _check(predicate not in seen, "a predicate is listed twice", where)
        seen.add(predicate)
        for name in variables(predicate):
            _check(name in variable_of, f"there is no variable {name!r}", where)
        for part in _parts_of([predicate]):
            of = variable_of[part.variable]
            if isinstance(part, OneOf):
                _check(isinstance(of, Categorical), f"{of.name!r} is not categorical", where)
                seen_in_training = {*map(_typed, part.values)} <= states_of.get(of.name, set())
                _check(seen_in_training, "a value is unknown", where)
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


def _typed(value: Any) -> tuple[type, Any]:
    return (type(value), value)


def _rules(file: ModelFile) -> tuple[Rule, ...]:
    """Return rules, checked by the numbers of their predicates, whose texts may be long."""
    predicates = [entry.predicate for entry in file.predicates]
    rules = tuple(_rule(rule, i, file, predicates) for i, rule in enumerate(file.rules))
    _check(len({*file.rules}) == len(file.rules), "a rule is listed twice", "$.rules")
    widths = [
        sum(len(part.values) if isinstance(part, OneOf) else 1 for part in _parts_of([predicate]))
        for predicate in predicates
    ]
    n_listed = sum(widths[i] for rule in file.rules for i in (*rule.antecedent, *rule.consequents))
    _check(n_listed <= MAX_LISTED, f"they list {n_listed:,} values", "$.rules")
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
    in_order = all(one <= following for one, following in itertools.pairwise(keys))
    _check(in_order, "rules are not in order", "$.rules")
    return rules


def _rule(rule: FileRule, position: int, file: ModelFile, predicates: Sequence[Predicate]) -> Rule:
    where = f"$.rules[{position}]"
    indices = (*rule.antecedent, *rule.consequents)
    _check(all(i < len(predicates) for i in indices), "a predicate is unknown", where)
    _check(len({*indices}) == len(indices), "a predicate occurs twice", where)
    _check(rule.count <= file.n_rows, "the count exceeds the rows", where)
    if not rule.antecedent:
        single = len(rule.consequents) == 1 and isinstance(
            predicates[rule.consequents[0]], Range | Present | OneOf
        )
        _check(single, "a univariate rule must have one consequent about one variable", where)
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


def _check_evidence(schema: Schema, file: ModelFile) -> None:
    evidence = file.evidence
    if evidence is None:
        return
    numeric = [variable for variable in schema.variables if isinstance(variable, Numeric)]
    fits = [variable.name for variable in numeric] == [
        spacing.variable for spacing in evidence.spacings
    ]
    _check(fits, "spacings and numeric variables differ", "$.evidence.spacings")
    for i, (variable, spacing) in enumerate(zip(numeric, evidence.spacings, strict=True)):
        fits = len(spacing.values) == len(spacing.counts) and _ascend(spacing.values)
        fits = fits and sum(spacing.counts) == file.n_rows - variable.n_missing
        _check(fits, "values and counts do not fit", f"$.evidence.spacings[{i}]")
    variable_of = schema.variable_of()
    for i, split in enumerate(evidence.splits):
        of = variable_of.get(split.variable)
        if isinstance(split, Interval):
            fits = isinstance(of, Numeric) and split.low == -float("inf")
        else:
            fits = isinstance(of, Categorical) and {*split.values} <= {*of.values}
        _check(fits, "it does not fit its variable", f"$.evidence.splits[{i}]")
    judged: dict[type[Variable], set[int]] = {Numeric: set(), Categorical: set()}
    for i, one in enumerate(schema.variables):
        if one.has_spread:
            judged[type(one)].add(i)
    for i, context in enumerate(evidence.contexts):
        fits = _is_sound(context, schema, judged, len(evidence.splits), file.n_rows)
        _check(fits, "tree and statistics do not fit", f"$.evidence.contexts[{i}]")
    fits = len(evidence.usual) == len(schema.variables)
    _check(fits, "it does not fit the variables", "$.evidence.usual")


def _is_sound(
    context: Context,
    schema: Schema,
    judged: Mapping[type[Variable], set[int]],
    n_splits: int,
    n_rows: int,
) -> bool:
    """Return whether a context has a complete tree, and statistics of the right shape."""
    n_open = 1
    for node in context.tree:
        if node >= n_splits or n_open <= 0:
            return False
        n_open += -1 if node == LEAF else 1
    for positions, kind in ((context.numbers, Numeric), (context.states, Categorical)):
        if not {*positions} <= judged[kind] or len({*positions}) != len(positions):
            return False
    n_leaves, n_numbers = context.tree.count(LEAF), len(context.numbers)
    widths = [min(len(schema.variables[i].counts), MAX_CLASSES) for i in context.states]
    tables = (context.means, context.spreads, *([context.known] if context.known else []))
    return (
        n_open == 0
        and len(context.counts) == n_leaves == len(context.state_counts)
        and all([len(leaf) for leaf in table] == [n_numbers] * n_leaves for table in tables)
        and all([len(states) for states in leaf] == widths for leaf in context.state_counts)
        and sum(context.counts) == n_rows
        and all(n <= n_rows for leaf in context.state_counts for states in leaf for n in states)
        and all(
            n <= n_like
            for leaf, n_like in zip(context.known, context.counts, strict=False)
            for n in leaf
        )
    )


def _check_sections(schema: Schema, file: ModelFile) -> None:
    variable_of = schema.variable_of()
    accepted = file.accepted or ()
    once = len({acceptance.id for acceptance in accepted}) == len(accepted)
    _check(once, "an acceptance is listed twice", "$.accepted")
    for i, acceptance in enumerate(accepted):
        names = acceptance.variables
        fits = len({*names}) == len(names) and {*names} <= {*schema.names}
        _check(fits, "a variable is unknown or listed twice", f"$.accepted[{i}]")
        for part in _parts_of(acceptance.conditions):
            fits = _may_hold(part, variable_of.get(part.variable))
            _check(fits, f"a condition does not fit {part.variable!r}", f"$.accepted[{i}]")
    if file.legend is not None:
        texts = (*file.legend.units.values(), *file.legend.titles.values())
        _check(bool(texts) and all(texts), "a unit or title is empty", "$.legend")
    for i, pair in enumerate(file.twins or ()):
        fits = all(isinstance(variable_of.get(name), Numeric) for name in pair)
        fits = fits and len({*pair}) == 2
        _check(fits, "twins must be two variables with numbers", f"$.twins[{i}]")
    columns = [] if file.reading is None else [column.name for column in file.reading.columns]
    _check(len({*columns}) == len(columns), "a column is listed twice", "$.reading.columns")
    memory = None if file.series is None else file.series.memory
    if memory is not None:
        _check(file.evidence is not None, "memory and scoring do not fit", "$.series")
        lengths = {len(values) for values in memory.of_variables().values()}
        fits = lengths == {len(schema.variables)}
        _check(fits, "it does not fit the variables", "$.series.memory")


def _may_hold(part: Any, variable: Variable | None) -> bool:
    """Return whether a condition can be about a variable; states may be ones that training never had."""
    if isinstance(part, Interval):
        return isinstance(variable, Numeric)
    held = {str: "text", bool: "boolean", int: "number", float: "number"}
    return isinstance(variable, Categorical) and all(
        held[type(value)] == variable.holds for value in part.values
    )
