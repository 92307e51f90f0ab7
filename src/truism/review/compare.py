"""Two models compared: their rules, what they report in the same rows, and which of them is better.

Rules are compared by id and then by shape: variables and states in the same places, numbers bounded on
the same sides. Where several rules of each model have one shape, nothing says which became which, so that
they stand beside each other. Incidents are the same if they overlap in time; one may overlap several.

A `Comparison` is what JSON holds; screen and page are made from it.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Generic, Literal, Self, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.errors import SchemaError
from truism.explain.blames import Blame
from truism.explain.checker import Check, Checker
from truism.explain.listings import Incidents
from truism.explain.words import When
from truism.incidents.following import Found
from truism.incidents.outlines import Extent, Grouped
from truism.model.model import Model
from truism.model.predicates import Interval, Predicate, Range
from truism.model.rules import Rule
from truism.model.schema import Categorical, Scalar, Schema, Variable
from truism.model.wording import Printed, count
from truism.table.columns import Table, join_tables
from truism.table.labels import both_kinds, read_labels

N_BLAMED = 3  # variables that are named for an incident
N_EXPLAINED = 20  # incidents of each model alone for which variables are named
OVERVIEW = ("n_rows", "n_variables", "n_rules", "threshold", "created")  # shown even if the same
MEASURES = ("AUC", "segments found", "false alarms")
CONFIDENCE = 0.95
N_DRAWS = 2000
N_BLOCKS = 10  # blocks of normal rows; long ones, since neighbours resemble each other
MAX_PIECES = 500  # labelled segments that are drawn apart; more are drawn with their neighbours
MIN_PIECES = 5
CLEAR = ("better", "worse")  # verdicts that are told first

Verdict = Literal["better", "worse", "same", "chance", "too few"]
_MEANINGS: dict[Verdict, str] = {
    "better": ", better",
    "worse": ", worse",
    "same": ", the same",
    "too few": "",
    "chance": ", no clearer than chance",
}
Thing = TypeVar("Thing")
Groups = Iterable[tuple[list[Thing], list[Thing]]]
_Rows = NDArray[np.int64]


class Both(msgspec.Struct, Generic[Thing], frozen=True):
    """Rules of one shape, or incidents that overlap: those of the old and those of the new model."""

    old: tuple[Thing, ...]
    new: tuple[Thing, ...]


class FactChange(msgspec.Struct, frozen=True):
    """A number, a setting or a fact about the training rows, as plain numbers, texts and lists."""

    name: str
    old: Any
    new: Any


class VariableChange(msgspec.Struct, frozen=True):
    """A variable that differs: its kind, the states that only this model has seen, or null without it."""

    name: str
    old: str | tuple[Scalar, ...] | None
    new: str | tuple[Scalar, ...] | None


class ComparedRule(msgspec.Struct, frozen=True):
    """A rule of one of the models: its id, its text, its training rows, its chance as a logarithm."""

    id: str
    text: str
    count: int
    log10_chance: float


class RuleComparison(msgspec.Struct, frozen=True):
    """How the rules in use differ, those least likely by chance first."""

    n_old: int
    n_new: int
    n_same: int  # with the same id in both
    only_old: tuple[ComparedRule, ...]  # of a shape that the new model lacks
    only_new: tuple[ComparedRule, ...]
    both: tuple[Both[ComparedRule], ...]  # of one shape, with other numbers


class Sighting(msgspec.Struct, frozen=True):
    """An incident as one model reports it; see `truism.explain.incidents.Incident`."""

    start: int
    end: int
    n_rows: int
    peak: int
    score: float
    started: When
    ended: When
    series: str | None = None
    # the variables blamed most, each with its main reason; null where not looked for
    blames: tuple[Blame, ...] | None = None

    @property
    def blamed(self) -> str:
        """The names of the variables blamed most."""
        return ", ".join(blame.variable for blame in self.blames or ())


class Measure(msgspec.Struct, frozen=True):
    """A measure of both models, the difference new less old, its 95 % interval, and the verdict on it.

    Of false alarms, the share of normal rows that are reported, less is better. There is no interval if
    labelled segments are too few; the difference is ``"chance"`` if its interval holds 0.
    """

    name: str
    old: float
    new: float
    difference: float
    low: float | None
    high: float | None
    verdict: Verdict


class Advantage(msgspec.Struct, frozen=True):
    """Which model is better where rows are labelled: the column, its rows and segments, and measures."""

    label: str
    n_labelled: int
    n_segments: int
    measures: tuple[Measure, ...]


class TableComparison(msgspec.Struct, frozen=True):
    """What two models report in one table: rows, and incidents with the worst story first."""

    n_rows: int
    n_old: int  # rows that the old model reports
    n_new: int
    n_both: int
    only_old: tuple[Sighting, ...]  # overlap none of the new model
    only_new: tuple[Sighting, ...]
    both: tuple[Both[Sighting], ...]
    advantage: Advantage | None  # null without labels
    extra: tuple[str, ...]  # columns that neither model uses

    @property
    def n_incidents(self) -> tuple[int, int]:
        """How many incidents the old and the new model report."""
        return (
            len(self.only_old) + sum(len(group.old) for group in self.both),
            len(self.only_new) + sum(len(group.new) for group in self.both),
        )


class Comparison(Printed, msgspec.Struct, frozen=True, tag="truism-comparison", tag_field="format"):
    """What differs between two models and, if there is a table, between what they report in it."""

    same: bool  # whether the models differ in nothing but the date
    summary: tuple[str, ...]  # what matters most, in sentences
    facts: tuple[FactChange, ...]  # both models at a glance, and what else differs
    variables: tuple[VariableChange, ...]
    rules: RuleComparison
    table: TableComparison | None

    def __repr__(self) -> str:
        sides = f"{self.rules.n_old:,} and {self.rules.n_new:,} rules"
        return f"<Comparison of {sides}: {'the same' if self.same else 'they differ'}>"

    def __str__(self) -> str:
        from truism.show.comparison import to_text

        return to_text(self, most=10)


class Source(msgspec.Struct, frozen=True, eq=False):
    """A table that can be read again and again: its number of rows, and what reads it in batches."""

    n_rows: int
    read: Callable[[], Iterable[Table]]


def compare(
    old: Checker, new: Checker, source: Source | None = None, label: str | None = None
) -> Comparison:
    """Compare two models, and what they report in a table; `label` is the column of true anomalies."""
    facts = tuple(_compare_facts(old.model, new.model))
    variables = tuple(_compare_variables(old.model.schema, new.model.schema))
    rules = _compare_rules(old.model, new.model)
    changed = {fact.name for fact in facts if fact.old != fact.new} - {"created"}
    same = not changed and not variables and rules.n_same == rules.n_old == rules.n_new
    reports = None if source is None else _compare_reports(old, new, source, label)
    on_table = () if reports is None else _say_reports(reports)
    summary = (*on_table, *_say_rules(variables, rules))
    if same:
        summary = ("The models are the same.", *on_table)
    return Comparison(same, summary, facts, variables, rules, reports)


def _say_rules(variables: Sequence[VariableChange], rules: RuleComparison) -> Iterable[str]:
    added = sum(change.old is None for change in variables)
    gone = sum(change.new is None for change in variables)
    if added or gone:
        yield f"Variables: {added:,} added, {gone:,} gone."
    if rules.n_same == rules.n_old == rules.n_new:
        yield "The rules are the same."
        return
    then = sum(len(group.old) for group in rules.both)
    now = sum(len(group.new) for group in rules.both)
    yield (
        f"Rules: {rules.n_same:,} unchanged, {then:,} with other numbers ({now:,} in the new model), "
        f"{len(rules.only_old):,} lost, {len(rules.only_new):,} new."
    )


def _say_reports(table: TableComparison) -> tuple[str, ...]:
    labels = () if table.advantage is None else (_say_advantage(table.advantage),)
    then, now = table.n_incidents
    if not then and not now:
        return (*labels, f"Neither model reports any of {count(table.n_rows, 'row')}.")
    return (
        *labels,
        f"Of {count(table.n_rows, 'row')} the old model reports {table.n_old:,} in "
        f"{count(then, 'incident')}, the new one {table.n_new:,} in {count(now, 'incident')}; "
        f"{len(table.only_old):,} of the old model alone, {len(table.only_new):,} of the new one alone.",
    )


def _say_advantage(advantage: Advantage) -> str:
    few = "too few" in {measure.verdict for measure in advantage.measures}
    needed = f", too few to tell ({MIN_PIECES} are needed, and as many normal rows)" if few else ""
    measures = (
        f"{one.name} {one.new:.3f} instead of {one.old:.3f}{_MEANINGS[one.verdict]}"
        for one in sorted(advantage.measures, key=lambda one: one.verdict not in CLEAR)
    )
    return f"By {count(advantage.n_segments, 'labelled segment')}{needed}: {'; '.join(measures)}."


def _compare_facts(old: Model, new: Model) -> Iterable[FactChange]:
    then, now = _facts(old), _facts(new)
    for name in then:
        if name in OVERVIEW or then[name] != now[name]:
            yield FactChange(name, then[name], now[name])


def _facts(model: Model) -> dict[str, Any]:
    """Return what to compare apart from variables and rules, as plain values by name."""
    made = model.provenance
    settings = {
        f"settings_{name}": value for name, value in msgspec.to_builtins(model.settings).items()
    }
    return {
        "n_rows": made.n_rows,
        "n_variables": len(model.schema.variables),
        "n_rules": len(model.active_rules),
        "threshold": model.threshold,
        "created": made.created,
        "threshold_origin": str(model.limit.origin),
        "rules_switched_off": [off.rule_id for off in model.disabled],
        "accepted": [acceptance.said for acceptance in model.accepted or ()],
        **settings,
        "n_columns": made.n_columns,
        "min_support": made.min_support,
        "complete_to": made.complete_to,
        "time": model.schema.time,
        "derived": list(model.derived),
        "fingerprint": made.fingerprint,
        "model_id": model.id,
        "version": made.version,
    }


def _compare_variables(old: Schema, new: Schema) -> Iterable[VariableChange]:
    then, now = old.variable_of(), new.variable_of()
    for name in dict.fromkeys((*old.names, *new.names)):
        one, other = then.get(name), now.get(name)
        kinds = [None if side is None else _kind_of(side) for side in (one, other)]
        if kinds[0] != kinds[1]:
            yield VariableChange(name, kinds[0], kinds[1])
        elif isinstance(one, Categorical) and isinstance(other, Categorical):
            gone = tuple(value for value in one.values if value not in other.values)
            added = tuple(value for value in other.values if value not in one.values)
            if gone or added:
                yield VariableChange(name, gone, added)


def _kind_of(variable: Variable) -> str:
    return f"states ({variable.holds})" if isinstance(variable, Categorical) else "numeric"


def _compare_rules(old: Model, new: Model) -> RuleComparison:
    """Compare the rules that are not switched off."""
    sides = [{rule.id: rule for rule in model.active_rules} for model in (old, new)]
    chances = [model.rules.log_chances() for model in (old, new)]
    n_same = len(sides[0].keys() & sides[1].keys())
    groups: dict[Any, tuple[list[ComparedRule], list[ComparedRule]]] = {}
    for side, model in enumerate((old, new)):
        for name, rule in sides[side].items():
            if name not in sides[1 - side]:
                chance = round(chances[side](rule) / math.log(10), 2) + 0.0
                compared = ComparedRule(name, model.text_of(rule), rule.count, chance)
                groups.setdefault(shape(rule), ([], []))[side].append(compared)
    only_old, only_new, both = _divide(groups.values(), lambda rule: (rule.log10_chance, rule.text))
    return RuleComparison(len(sides[0]), len(sides[1]), n_same, only_old, only_new, both)


def shape(rule: Rule) -> Any:
    """Return what a rule is about: all but its numbers.

    >>> from truism.model.predicates import OneOf
    >>> on = OneOf("P1", ("on",))
    >>> one, other = (Rule((on,), (Interval("F1", low=low),), 9) for low in (2.0, 2.5))
    >>> shape(one) == shape(other), shape(one) == shape(Rule((on,), (Interval("F1", high=2.0),), 9))
    (True, False)
    """
    return frozenset(map(_outline, rule.antecedent)), frozenset(map(_outline, rule.consequents))


def _outline(predicate: Predicate) -> Any:
    match predicate:
        case Interval(variable, low, high):
            return variable, low > -math.inf, high < math.inf
        case Range(variable):
            return variable
    return predicate


def _divide(
    groups: Groups[Thing], rank: Callable[[Thing], Any]
) -> tuple[tuple[Thing, ...], tuple[Thing, ...], tuple[Both[Thing], ...]]:
    """Return what only the old and only the new model has, and what belongs together; best rank first."""
    ordered = [(sorted(old, key=rank), sorted(new, key=rank)) for old, new in groups]
    only_old = sorted((thing for old, new in ordered if not new for thing in old), key=rank)
    only_new = sorted((thing for old, new in ordered if not old for thing in new), key=rank)
    both = [Both(tuple(old), tuple(new)) for old, new in ordered if old and new]
    both.sort(key=lambda group: min(rank(group.old[0]), rank(group.new[0])))
    return tuple(only_old), tuple(only_new), tuple(both)


class Reports:
    """What a model reports in a table that it takes batch by batch."""

    def __init__(self, checker: Checker, n_rows: int) -> None:
        self.checker, self._check = checker, Check(checker, n_rows, patterns=False)
        self._found = list[Found]()

    def prepare(self, table: Table) -> Table:
        """Prepare the next rows."""
        return self.checker.prepare(table, self._check.following)

    def take(self, table: Table) -> None:
        """Take the next rows, prepared."""
        self._found.append(self._check.take(table))

    def close(self) -> Self:
        """Find out what all rows have shown."""
        self.findings = self._check.findings()
        self.scores = np.concatenate([batch.scores for batch in self._found])
        excess = np.concatenate([batch.excess for batch in self._found])
        self.reported = excess > self.checker.model.threshold
        self.places: dict[Sighting, tuple[Incidents, int]] = {
            _sighting(incidents, position, extent): (incidents, position)
            for incidents in (self.findings.incidents, self.findings.shifts)
            for position, extent in enumerate(incidents.outlines.extents())
        }
        return self

    def blame(self, sightings: Sequence[Sighting], most: int) -> tuple[Sighting, ...]:
        """Name the variables to blame for the first of some incidents: that takes longer than scoring."""
        explained = []
        for sighting in sightings[:most]:
            incidents, position = self.places[sighting]
            worst = incidents[position].with_reasons(1).blames[:N_BLAMED]
            explained.append(msgspec.structs.replace(sighting, blames=worst))
        return (*explained, *sightings[most:])


def _sighting(incidents: Incidents, position: int, extent: Extent) -> Sighting:
    grouped = isinstance(incidents.outlines, Grouped)
    started, ended = (incidents.stamp(row).time for row in (extent.first, extent.last))
    return Sighting(
        extent.first,
        extent.last,
        extent.n_rows,
        extent.peak,
        extent.score,
        started,
        ended,
        (incidents.outlines[position].series if grouped else "") or None,
    )


def _compare_reports(
    old: Checker, new: Checker, source: Source, label: str | None
) -> TableComparison:
    then, now = Reports(old, source.n_rows), Reports(new, source.n_rows)
    extra: list[tuple[str, ...]] = []
    labels: list[Table] = []
    for table in source.read():
        if label is not None:
            column = table.column_of().get(label)
            if column is None:
                read_labels(table, label)  # which refuses it
            else:
                labels.append(Table((column,), table.n_rows))
        for which, reports in (("old", then), ("new", now)):
            with _naming(which):
                prepared = reports.prepare(table)
                reports.take(prepared)
            extra.append(reports.checker.extra(prepared))
    truth = None if label is None else both_kinds(read_labels(join_tables(labels), label))
    then.close()
    now.close()
    only_old, only_new, both = _divide(
        overlapping(then.places, now.places), lambda sighting: (-sighting.score, sighting.start)
    )
    advantage = None
    if label is not None and truth is not None:
        advantage = weigh_up(label, truth, (then.scores, now.scores), (then.reported, now.reported))
    unused = {*extra[1]} - {label}
    return TableComparison(
        source.n_rows,
        int(then.reported.sum()),
        int(now.reported.sum()),
        int((then.reported & now.reported).sum()),
        then.blame(only_old, N_EXPLAINED),
        now.blame(only_new, N_EXPLAINED),
        both,
        advantage,
        tuple(name for name in extra[0] if name in unused),
    )


@contextmanager
def _naming(which: str) -> Iterator[None]:
    """Say which of the models a table does not suit."""
    try:
        yield
    except SchemaError as problem:
        raise SchemaError(
            f"The {which} model cannot be used on the table. {problem.message}",
            problem.hint,
            # A comparison needs the columns of both models.
            see=tuple(name for name in problem.see if name != "allow_missing"),
        ) from None


def overlapping(old: Iterable[Sighting], new: Iterable[Sighting]) -> Groups[Sighting]:
    """Return the incidents that a chain of overlaps connects, each chain within one series."""
    sides = [(one.series or "", one.start, one.end, 0, one) for one in old]
    sides += [(one.series or "", one.start, one.end, 1, one) for one in new]
    groups: list[tuple[list[Sighting], list[Sighting]]] = []
    reached = ("", -1)
    for series, start, end, side, sighting in sorted(sides, key=lambda span: span[:4]):
        if (series, start) > reached:
            groups.append(([], []))
        groups[-1][side].append(sighting)
        reached = max(reached, (series, end))
    return groups


def weigh_up(
    label: str,
    truth: NDArray[np.bool_],
    scores: tuple[NDArray[np.float64], NDArray[np.float64]],
    reported: tuple[NDArray[np.bool_], NDArray[np.bool_]],
) -> Advantage:
    """Compare two models on labelled rows.

    Rows of a series resemble their neighbours, and one attack of a thousand rows is one attack. So what
    is drawn again is not rows but pieces of the table: labelled segments, and blocks of normal rows. Both
    models are judged on the same pieces, because what is hard for one is hard for the other. Percentiles
    of few pieces lie too close together; the standard error with Student's quantile does not.
    """
    labelled, normal = np.flatnonzero(truth), np.flatnonzero(~truth)
    segments = np.split(labelled, np.flatnonzero(np.diff(labelled) > 1) + 1)
    pieces = np.array_split(np.arange(len(segments)), min(MAX_PIECES, len(segments)))
    parts = [np.concatenate([segments[i] for i in piece]) for piece in pieces]
    blocks = np.array_split(normal, min(N_BLOCKS, len(normal)))
    hits = np.array(
        [[sum(of[segments[i]].any() for i in piece) for piece in pieces] for of in reported]
    )
    alarms = np.array([[of[rows].sum() for rows in blocks] for of in reported])
    above = np.array([_pairs_above(of, parts, blocks) for of in scores])
    n_rows, n_normal, n_segments = (
        np.array(list(map(len, some)), np.float64) for some in (parts, blocks, pieces)
    )

    def measure(part: _Rows, block: _Rows) -> NDArray[np.float64]:
        """Return the measures of both models, one row each, from some pieces and blocks."""
        pairs = above[:, part[:, None], block].sum(axis=(1, 2))
        n_pairs = n_rows[part].sum() * n_normal[block].sum()
        found = hits[:, part].sum(axis=1) / n_segments[part].sum()
        false = alarms[:, block].sum(axis=1) / n_normal[block].sum()
        return np.stack((pairs / n_pairs, found, false), axis=1)

    every = np.arange(len(parts)), np.arange(len(blocks))
    then, now = measure(*every)
    n, width = min(map(len, every)), np.full(len(MEASURES), np.nan)
    if n >= MIN_PIECES:
        from scipy import stats  # takes half a second to import, and only labels need it

        drawn = stats.bootstrap(
            every,
            lambda *some: np.diff(measure(*some), axis=0)[0],
            n_resamples=N_DRAWS,
            vectorized=False,
            method="percentile",
            rng=0,
        )
        quantile = stats.t.ppf((1 + CONFIDENCE) / 2, n - 1)
        width = quantile * drawn.standard_error * np.sqrt(n / (n - 1))
    pairs = zip(MEASURES, then.tolist(), now.tolist(), width.tolist(), strict=True)
    return Advantage(label, len(labelled), len(segments), tuple(_measure(*pair) for pair in pairs))


def _pairs_above(
    scores: NDArray[np.float64], parts: Sequence[_Rows], blocks: Sequence[_Rows]
) -> NDArray[np.float64]:
    """Count the pairs of rows in which the labelled one scores higher, ties by half: parts × blocks.

    Their share of all pairs is the area under the ROC curve.
    """
    starts = np.cumsum([0, *map(len, parts[:-1])])
    labelled = scores[np.concatenate(parts)]
    above = np.empty((len(parts), len(blocks)))
    for at, rows in enumerate(blocks):
        normal = np.sort(scores[rows])
        below = sum(np.searchsorted(normal, labelled, side) for side in ("left", "right"))
        above[:, at] = np.add.reduceat(below / 2, starts)
    return above


def _measure(name: str, then: float, now: float, width: float) -> Measure:
    difference = now - then
    if math.isnan(width):
        return Measure(name, then, now, difference, None, None, "too few")
    verdict: Verdict = "chance"
    if difference == width == 0:
        verdict = "same"
    elif abs(difference) > width:
        verdict = "better" if (difference > 0) != (name == "false alarms") else "worse"
    return Measure(name, then, now, difference, difference - width, difference + width, verdict)
