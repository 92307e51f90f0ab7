"""A model as one SQL statement: which rules rows break, or the paper's score.

A statement is a list of queries, of which each reads the one before it. The first two hold the readings
of all variables, and which numbers are finite; the third the predicates that rules share. A predicate
is true, false or unknown, as in Python: SQL's NULL follows the same logic. NaN, and what the model takes
for a missing value, becomes NULL first; an infinite number is unknown to every predicate but the range
of its variable.

An expression is a tuple of lines, so that lines can be moved to the right although a text in quotes may
run over several; what stands between quotes is never touched.
"""

import functools
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, get_args

import msgspec
import numpy as np

from truism.errors import ParameterError
from truism.export.sql.dialects import LARGEST, Dialect, DialectName, number, words
from truism.model.model import Model
from truism.model.predicates import (
    AnyOf,
    Interval,
    OneOf,
    Predicate,
    Present,
    Range,
    conjunction,
    quote_name,
    variables,
)
from truism.model.rules import Rule
from truism.model.schema import Numeric, Scalar, Schema, Variable
from truism.model.settings import check_whole
from truism.score.rules import MAX_DEGREE, MIN_DEGREE, expected_exceptions, rule_worth

Form = Literal["violations", "paper"]
FORMS: tuple[Form, ...] = get_args(Form)
MAX_RULES = 2000
MAX_BYTES = 900_000  # several warehouses refuse statements of more than a megabyte
MAX_COLUMNS = 1600  # PostgreSQL allows 1,664 columns in a query
# Databases limit how deeply an expression may be nested (DuckDB: 1,000), and a + b + c nests by one
# with every sign; so long sums are sums of shorter ones.
_WIDTH = 50
_RETURNED: dict[Form, tuple[str, ...]] = {
    "violations": ("rule", "expected", "found", "because"),
    "paper": ("score", "anomaly"),
}

Lines = tuple[str, ...]
Query = tuple[str, Lines]
"""What later queries call it, and its lines."""
Escapes = dict[int, str]
NO_ESCAPES: Escapes = {}


class SqlStatement(msgspec.Struct, frozen=True):
    """A statement, and what it does not hold."""

    text: str
    n_rules: int  # rules with a condition; those about one variable alone come on top
    left_out: tuple[str, ...] = ()  # what of the model it does not hold, in sentences


def to_sql(
    model: Model,
    *,
    dialect: DialectName,
    table: str,
    form: Form = "violations",
    keys: Sequence[str] | None = None,
    rules: int = MAX_RULES,
    max_bytes: int = MAX_BYTES,
) -> SqlStatement:
    """Return a model as one SELECT statement.

    Parameters
    ----------
    model
        The model.
    dialect
        The kind of database: ``"duckdb"``, ``"postgres"``, ``"spark"``, ``"bigquery"`` or
        ``"snowflake"``.
    table
        The table to check, as the database writes it: ``readings``, ``plant.readings``.
    form
        ``"violations"``: which rule a row breaks, what was expected and what was found.
        ``"paper"``: the paper's score.
    keys
        Columns of the table that the result keeps, by default the time axis; without one, all
        variables.
    rules
        At most so many rules with a condition, the strongest.
    max_bytes
        At most so much text. The weakest rules that do not fit are left out, and said.

    Examples
    --------
    >>> from truism.model.settings import Settings
    >>> from truism.table.frames import as_table
    >>> from truism.learn.learn import learn
    >>> normal = as_table({"pump": ["on", "off"] * 50, "flow": [2.5, 0.0] * 50})
    >>> model = learn(normal, Settings(min_support=0.1))
    >>> statement = to_sql(model, dialect="duckdb", table="readings")
    >>> "pump = on ⇒ flow = 2.5" in statement.text
    True

    """
    if form not in FORMS:
        raise ParameterError.of("form", f"be one of {', '.join(map(repr, FORMS))}", form)
    wrote = Dialect(dialect)
    chosen = _usual_keys(model, form) if keys is None else _checked(keys, form)
    return write_statement(model, wrote, wrote.table(table), rules, max_bytes, form, chosen)


def write_statement(
    model: Model,
    dialect: Dialect,
    table: str,
    rules: int,
    max_bytes: int = MAX_BYTES,
    form: Form = "violations",
    keys: Sequence[str] | None = None,
    escapes: Escapes = NO_ESCAPES,
) -> SqlStatement:
    """Write a statement with as many of the strongest rules as fit."""
    check_whole("max_bytes", max_bytes, 1)
    check_whole("rules", rules, 0)
    selection = strongest(model).first(rules)
    conditions = Conditions(model, dialect, model.schema, keys or _usual_keys(model, form))

    def written(n: int) -> SqlStatement:
        part = selection.first(n)
        left_out = tuple(_left_out(model, part, form))
        wanted = _violations if form == "violations" else _penalties
        queries = [*conditions.readings(), *wanted(conditions, part)]
        text = write(dialect, _head(model, part, form, left_out), table, queries, escapes)
        return SqlStatement(text, part.n_rules, left_out)

    whole = written(rules)
    if len(whole.text.encode()) <= max_bytes:
        return whole
    low, high, fitting = 0, selection.n_rules, written(0)
    while low + 1 < high:
        middle = (low + high) // 2
        tried = written(middle)
        if len(tried.text.encode()) <= max_bytes:
            low, fitting = middle, tried
        else:
            high = middle
    n_bytes = len(fitting.text.encode())
    if n_bytes > max_bytes:
        constraint = f"be at least {n_bytes} for a model of this many variables"
        raise ParameterError.of("max_bytes", constraint, max_bytes)
    return fitting


def _checked(keys: Sequence[str], form: Form) -> tuple[str, ...]:
    for key in keys:
        if not isinstance(key, str) or not key:
            raise ParameterError.of("keys", "name columns of the table", key)
        if key.casefold() in _RETURNED[form]:
            taken = ", ".join(_RETURNED[form])
            constraint = f"not be called as a column of the result ({taken})"
            raise ParameterError.of("keys", constraint, key)
    return tuple(dict.fromkeys(keys))


def _usual_keys(model: Model, form: Form) -> tuple[str, ...]:
    """Return the time axis, or all variables; a database has both columns of which an axis was joined."""
    axis, reading = model.schema.time, model.reading
    keys = model.schema.names if axis is None else (axis,)
    if reading is not None and len(reading.layout.time) == 2 and reading.axis == axis:
        keys = reading.layout.time
    return tuple(key for key in keys if key.casefold() not in _RETURNED[form])


def _left_out(model: Model, selection: "Selection", form: Form) -> Iterator[str]:
    rest = selection.n_all - selection.n_rules
    if rest:
        yield f"The {rest:,} weakest of {selection.n_all:,} rules with a condition are left out."
        if form == "paper":
            yield "So a row may score lower than in truism, never higher."
    if model.accepted:
        yield "Acceptances do not apply here: accepted rows count, too."


def _head(model: Model, selection: "Selection", form: Form, left_out: Sequence[str]) -> Lines:
    made = model.provenance
    title = (
        "the rules that rows break" if form == "violations" else "the score of rows as in the paper"
    )
    first = (
        f"{title}, written by truism {made.version} from a model of {made.n_rows:,} rows: "
        f"{selection.n_rules:,} rules with a condition, {len(selection.univariate):,} about one "
        "variable alone."
    )
    return tuple(f"-- {words(line)}" for line in (first, *left_out))


# --- which rules ---


class Selection(msgspec.Struct, frozen=True):
    """The rules of a statement."""

    univariate: tuple[Rule, ...]  # about one variable alone, in the model's order
    conditional: tuple[Rule, ...]  # the others, the strongest first
    n_all: int  # how many others there are

    @property
    def n_rules(self) -> int:
        """How many rules with a condition it holds."""
        return len(self.conditional)

    def first(self, n: int) -> "Selection":
        """Return the selection with at most so many rules, the strongest."""
        return Selection(self.univariate, self.conditional[:n], self.n_all)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """All of its rules."""
        return (*self.univariate, *self.conditional)


def strongest(model: Model) -> Selection:
    """Return the active rules of a model, by what they are worth as evidence when they are broken.

    Refuse a model whose rules look at earlier rows: a statement sees one row at a time.
    """
    if model.derived:
        raise ParameterError(
            f"A statement checks each row by itself, and this model looks at the change of "
            f"{model.derived[0]!r} since the row before.",
            "learn a model without changes since the previous row.",
        )
    conditional = [rule for rule in model.active_rules if rule.antecedent]
    univariate = tuple(rule for rule in model.active_rules if not rule.antecedent)
    counts_of = {
        counted.predicate: (counted.n_true + counted.n_false, counted.n_false, counted.n_episodes)
        for counted in model.rules.predicates
    }
    pairs = [(rule, failed) for rule in conditional for failed in rule.consequents]
    counts = np.array([rule.count for rule, _ in pairs], np.float64)
    known = np.array([counts_of[failed] for _, failed in pairs], np.int64).reshape(-1, 3)
    worths = iter(rule_worth(expected_exceptions(counts, *known.T)).tolist())
    worth_of = [max(next(worths) for _ in rule.consequents) for rule in conditional]
    order = sorted(range(len(conditional)), key=lambda at: -worth_of[at])
    return Selection(univariate, tuple(conditional[at] for at in order), len(conditional))


# --- queries and expressions ---


class Output(msgspec.Struct, frozen=True):
    """An expression, the name of its result, and what it means."""

    lines: Lines
    name: str
    comment: str = ""


def output(expression: str, name: str, comment: str = "") -> Output:
    """Return a column of one line."""
    return Output((expression,), name, comment)


def select(
    columns: Iterable[Output], source: str = "", *, keeps: bool = False, condition: str = ""
) -> Lines:
    """Write a query; without a source, it reads the table. It may keep all columns of its source."""
    items: list[tuple[Lines, str]] = [(("*",), "")] if keeps else []
    for column in columns:
        *before, last = column.lines
        items.append(((*before, f"{last} AS {column.name}"), column.comment))
    found = ["SELECT"]
    for i, ((*before, last), comment) in enumerate(items):
        comma = "," if i < len(items) - 1 else ""
        found += _indented([*before, _said(f"{last}{comma}", comment)])
    found += [f"FROM {source}"] * bool(source) + [f"WHERE {condition}"] * bool(condition)
    return tuple(found)


def _listing(dialect: Dialect, names: Sequence[str], table: Sequence[Sequence[str]]) -> Lines:
    """Write a small table that the statement brings along; BigQuery knows no VALUES."""
    rows = [", ".join(row) for row in table]
    start, row_start, end = "SELECT * FROM (VALUES", "", f") AS given ({', '.join(names)})"
    if dialect.name == "bigquery":
        pairs = zip(table[0], names, strict=True)
        rows[0] = ", ".join(f"{value} AS {name}" for value, name in pairs)
        start, row_start, end = "SELECT * FROM UNNEST([", "STRUCT", "])"
    commas = [*[","] * (len(rows) - 1), ""]
    lines = (f"{row_start}({row}){comma}" for row, comma in zip(rows, commas, strict=True))
    return (start, *_indented(lines), end)


def _indented(lines: Iterable[str]) -> Lines:
    return tuple(f"  {line}" for line in lines)


def _said(line: str, comment: str) -> str:
    """Put a comment behind a line."""
    return f"{line}  -- {words(comment)}" if comment else line


def chain(sign: Literal["+", "||", "OR"], terms: Sequence[Lines]) -> Lines:
    """Join terms with a sign, in brackets, and in brackets of at most fifty.

    >>> chain("+", [("a",), ("b",)])
    ('(', '  a', '  + b', ')')
    """
    if not terms:
        terms = [({"+": "0e0", "||": "''", "OR": "FALSE"}[sign],)]
    while len(terms) > _WIDTH:
        terms = [chain(sign, terms[i : i + _WIDTH]) for i in range(0, len(terms), _WIDTH)]
    lines: list[str] = []
    for i, (first, *rest) in enumerate(terms):
        lines += [first if i == 0 else f"{sign} {first}", *rest]
    return ("(", *_indented(lines), ")")


def write(
    dialect: Dialect,
    head: Lines,
    table: str,
    queries: Sequence[Query],
    escapes: Escapes = NO_ESCAPES,
) -> str:
    """Write a statement; the first query reads the table, the last one is what it returns.

    Characters before and after the table are escaped, so that the tool that fills in the table reads
    nothing else as its own.
    """
    (name, first), *named, (_, last) = queries
    before = [*head, f"WITH {name} {dialect.opening}", *_indented(first)]
    after: list[str] = []
    for name, query in named:
        after += ["),", f"{name} {dialect.opening}", *_indented(query)]
    after += [")", *last]
    ahead, behind = ("\n".join(lines).translate(escapes) for lines in (before, ["", *after, ""]))
    return f"{ahead}\n  FROM {table}{behind}"


def is_finite(expression: str) -> str:
    """Write that a number is known and finite, whatever a database makes of NaN."""
    return f"{expression} >= {number(-LARGEST)} AND {expression} <= {number(LARGEST)}"


class Conditions:
    """Writes readings and predicates of some variables of a model, and keeps the keys."""

    def __init__(self, model: Model, dialect: Dialect, schema: Schema, keys: Sequence[str]) -> None:
        self.model, self.dialect, self.schema, self.keys = model, dialect, schema, tuple(keys)
        self.place_of = {name: i for i, name in enumerate(schema.names, 1)}
        self._named: dict[Predicate, str] = {}

    @property
    def kept(self) -> list[Output]:
        """The keys, under the names that they have in between."""
        return [output(f"k{i}", f"k{i}") for i in range(1, len(self.keys) + 1)]

    @property
    def returned(self) -> list[Output]:
        """The keys, under their own names."""
        quoted = (self.dialect.identifier(name) for name in self.keys)
        return [output(f"k{i}", name) for i, name in enumerate(quoted, 1)]

    def readings(self) -> list[Query]:
        """Return the first two queries: readings of all variables, and which numbers are finite."""
        name = self.dialect.identifier
        keys = [output(name(key), f"k{i}") for i, key in enumerate(self.keys, 1)]
        values = [
            output(self._reading(variable), f"v{i}")
            for i, variable in enumerate(self.schema.variables, 1)
        ]
        finite = [
            output(f"CASE WHEN {is_finite(f'v{i}')} THEN v{i} END", f"f{i}")
            for i, variable in enumerate(self.schema.variables, 1)
            if isinstance(variable, Numeric)
        ]
        numbers = select(finite, "truism_readings", keeps=True)
        return [("truism_readings", select([*keys, *values])), ("truism_numbers", numbers)]

    def _reading(self, variable: Variable) -> str:
        """Write a column as the type that it was learned as; what stands for missing becomes NULL."""
        reading = self.model.reading
        missing = () if reading is None else reading.layout.missing
        name = self.dialect.identifier(variable.name)
        if isinstance(variable, Numeric) or variable.holds == "number":
            found = self.dialect.without_nan(self.dialect.cast(name, "DOUBLE"))
            absent = [number(value) for value in map(_as_number, missing) if math.isfinite(value)]
        elif variable.holds == "boolean":
            found, absent = self.dialect.cast(name, "BOOLEAN"), []
        else:
            found, absent = self.dialect.cast(name, "TEXT"), [*map(self.dialect.text, missing)]
        return functools.reduce(lambda inner, value: f"NULLIF({inner}, {value})", absent, found)

    def predicates(self, rules: Iterable[Rule]) -> Query:
        """Return the query of predicates; those that rules use most often get a column."""
        uses = Counter(
            predicate for rule in rules for predicate in (*rule.antecedent, *rule.consequents)
        )
        room = max(0, MAX_COLUMNS - len(self.keys) - 2 * len(self.schema.variables))
        often = sorted(uses, key=lambda predicate: -uses[predicate])[:room]
        chosen = {predicate for predicate in often if uses[predicate] > 1}
        named = [predicate for predicate in uses if predicate in chosen]
        self._named = {predicate: f"p{i}" for i, predicate in enumerate(named, 1)}
        columns = (
            output(self._written(predicate), name, str(predicate))
            for predicate, name in self._named.items()
        )
        return ("truism_predicates", select(columns, "truism_numbers", keeps=True))

    def holds(self, predicates: Iterable[Predicate]) -> str:
        """Write that predicates hold: their columns, or the comparisons themselves."""
        return " AND ".join(
            self._named.get(predicate) or f"({self._written(predicate)})"
            for predicate in predicates
        )

    def _written(self, predicate: Predicate) -> str:
        match predicate:
            case Interval(variable, low, high):
                finite = f"f{self.place_of[variable]}"
                bounds = [f"{finite} >= {number(low)}"] if low >= -LARGEST else []
                bounds += [f"{finite} < {number(high)}"] if high <= LARGEST else []
                return " AND ".join(bounds)
            case OneOf(variable, values):
                return self._states(f"v{self.place_of[variable]}", values)
            case AnyOf(parts):
                return " OR ".join(self._written(part) for part in parts)
        raise TypeError(f"{type(predicate).__name__} is not a condition.")

    def breach(self, rule: Rule) -> str:
        """Write that a row breaks a rule about one variable alone."""
        predicate = rule.consequents[0]
        value = f"v{self.place_of[variables(predicate)[0]]}"
        match predicate:
            case Present():
                return f"{value} IS NULL"
            case Range(low=low, high=high):
                return f"({value} < {number(low)} OR {value} > {number(high)})"
            case OneOf(values=values):
                return f"NOT {self._states(value, values)}"
        raise TypeError(f"{type(predicate).__name__} is not what a univariate rule says.")

    def _states(self, expression: str, values: Sequence[Scalar]) -> str:
        written = [self._scalar(value) for value in values]
        if len(written) == 1:
            return f"{expression} = {written[0]}"
        return f"{expression} IN ({', '.join(written)})"

    def _scalar(self, value: Scalar) -> str:
        if isinstance(value, bool):
            return "TRUE" if value else "FALSE"
        return self.dialect.text(value) if isinstance(value, str) else number(value)


def _as_number(word: str) -> float:
    try:
        return float(word.replace(",", "."))
    except ValueError:
        return math.nan


def describe(rule: Rule) -> str:
    """Return what a rule says, with its id and the training rows in which it holds."""
    return f"{rule} [{rule.id}, {rule.count:,} rows]"


# --- which rules rows break ---


def _violations(conditions: Conditions, selection: Selection) -> list[Query]:
    """Return the queries after the readings: a row for each row and each rule that it breaks.

    A text collects the numbers of the broken rules of a row; it is then joined with a small table of all
    rules, which holds what is said about each. Rows that break nothing are gone before that.
    """
    predicates = conditions.predicates(selection.conditional)
    terms: list[Lines] = []
    for n, rule in enumerate(selection.rules, 1):
        broken = conditions.breach(rule) if not rule.antecedent else _broken(conditions, rule)
        terms.append((_said(f"CASE WHEN {broken} THEN ',{n},' ELSE '' END", describe(rule)),))
    values = [output(f"v{i}", f"v{i}") for i in conditions.place_of.values()]
    broken_rules = Output(chain("||", terms), "broken")
    text = conditions.dialect.text
    found = [  # readings with their names, as texts
        output(
            f"{text(f'{quote_name(name)} = ')} || "
            f"COALESCE({conditions.dialect.cast(f'v{i}', 'TEXT')}, {text('missing')})",
            f"s{i}",
        )
        for name, i in conditions.place_of.items()
    ]
    claims = dict.fromkeys(map(_claimed, selection.rules))
    group_of = {names: i for i, names in enumerate(claims, 1)}
    rows = [
        (
            text(f"%,{n},%"),
            text(rule.id),
            str(group_of[_claimed(rule)]),
            text(conjunction(rule.consequents)),
            text(conjunction(rule.antecedent) if rule.antecedent else "always"),
        )
        for n, rule in enumerate(selection.rules, 1)
    ] or [(text(""), text(""), "0", text(""), text(""))]
    arms = []
    for names, i in group_of.items():
        texts = " || ' and ' || ".join(f"s{conditions.place_of[name]}" for name in names)
        arms.append(f"WHEN {i} THEN {texts}")
    about = Output(("CASE about", *_indented(arms), "END") if arms else ("''",), "found")
    before = [output(name, name) for name in ("rule", "expected")]
    returned = [*conditions.returned, *before, about, output("because", "because")]
    names_of_rules = ("pattern", "rule", "about", "expected", "because")
    return [
        predicates,
        ("truism_broken", select([*conditions.kept, *values, broken_rules], predicates[0])),
        ("truism_some", select(found, "truism_broken", keeps=True, condition="broken <> ''")),
        ("truism_rules", _listing(conditions.dialect, names_of_rules, rows)),
        ("", select(returned, "truism_some JOIN truism_rules ON broken LIKE pattern")),
    ]


def _broken(conditions: Conditions, rule: Rule) -> str:
    """Write that a row breaks a rule with a condition."""
    claimed = conditions.holds(rule.consequents)
    claimed = f"({claimed})" if len(rule.consequents) > 1 else claimed
    return f"{conditions.holds(rule.antecedent)} AND NOT {claimed}"


def _claimed(rule: Rule) -> tuple[str, ...]:
    """Return the variables of which a rule claims something."""
    return tuple(
        dict.fromkeys(name for predicate in rule.consequents for name in variables(predicate))
    )


# --- the paper's score ---


def _penalties(conditions: Conditions, selection: Selection) -> list[Query]:
    """Return the queries after the readings: degrees, and the sum over rules.

    KDD'23, section 5.1, algorithm 3, exact for the rules that are written. A column for each predicate
    that rules claim holds the degree by which a row fails it, 0 if it does not. A rule then adds its
    support times the sum of the degrees of what it claims.
    """
    predicates = conditions.predicates(selection.conditional)
    claimed = dict.fromkeys(
        predicate for rule in selection.conditional for predicate in rule.consequents
    )
    degree_of = {predicate: f"g{i}" for i, predicate in enumerate(claimed, 1)}
    degrees = [
        output(_degree(conditions, predicate), name, str(predicate))
        for predicate, name in degree_of.items()
    ]
    alone, terms = list[Lines](), list[Lines]()
    for rule in selection.univariate:
        arm = f"{conditions.breach(rule)} THEN {_distance(conditions, rule.consequents[0])}"
        alone.append((_said(f"CASE WHEN {arm} ELSE {number(0.0)} END", describe(rule)),))
    for rule in selection.conditional:
        summed = " + ".join(degree_of[predicate] for predicate in rule.consequents)
        summed = f"({summed})" if len(rule.consequents) > 1 else summed
        arm = f"{conditions.holds(rule.antecedent)} THEN {number(rule.count)} * {summed}"
        terms.append((_said(f"CASE WHEN {arm} ELSE {number(0.0)} END", describe(rule)),))
    model = conditions.model
    over = conditions.dialect.cast(number(model.rules.n_rows), "DOUBLE")
    score = Output((*chain("+", terms)[:-1], f") / {over} + alone"), "score")
    # The threshold of another scoring says nothing here; any broken rule does.
    threshold = model.threshold if model.evidence is None else 0.0
    above = output(f"score > {number(threshold)}", "anomaly")
    failing = select([*degrees, Output(chain("+", alone), "alone")], predicates[0], keeps=True)
    returned = [*conditions.returned, output("score", "score"), above]
    return [
        predicates,
        ("truism_degrees", failing),
        ("truism_score", select([*conditions.kept, score], "truism_degrees")),
        ("", select(returned, "truism_score")),
    ]


def _degree(conditions: Conditions, predicate: Predicate) -> str:
    """Write the degree by which a row fails a predicate; 0 if it holds or is unknown."""
    arm = f"NOT {conditions.holds([predicate])} THEN {_distance(conditions, predicate)}"
    return conditions.dialect.cast(f"CASE WHEN {arm} ELSE {number(0.0)} END", "DOUBLE")


def _distance(conditions: Conditions, predicate: Predicate) -> str:
    """Write the degree by which a value lies outside, as `truism.score.rules.degrees` has it.

    PostgreSQL refuses a difference or a quotient that no double can hold. So the farthest numbers are
    compared first, and a distance too small to count is made larger before it is divided.
    """
    if not isinstance(predicate, Interval | Range):
        return number(1.0)
    variable = conditions.schema.variable_of()[predicate.variable]
    assert isinstance(variable, Numeric)
    if variable.std == 0.0:
        return number(1.0)
    kind = "f" if isinstance(predicate, Interval) else "v"
    value, arms = f"{kind}{conditions.place_of[predicate.variable]}", []
    for sign, bound in ((-1, predicate.low), (1, predicate.high)):
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
