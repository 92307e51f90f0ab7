"""A model as a Markdown page: for a pull request, a wiki, or a logbook."""

import re
from collections.abc import Iterator

from truism.export.records import RuleRecord, rule_records
from truism.model.model import Model
from truism.model.predicates import conjunction, format_number, format_value, variables
from truism.model.schema import Categorical, Variable
from truism.model.summary import N_STATEMENTS
from truism.model.wording import first_few, visible

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~&])")
_MAX_VALUES = 8


def to_markdown(model: Model) -> str:
    """Return a Markdown page: where the model came from, its variables, and its rules.

    Examples
    --------
    >>> from truism.model.settings import Settings
    >>> from truism.table.frames import as_table
    >>> from truism.learn.learn import learn
    >>> table = as_table({"pump": ["on", "off"] * 50, "flow": [2.5, 0.0] * 50})
    >>> print(to_markdown(learn(table, Settings(min_support=0.1))).splitlines()[2])
    8 rules about 2 variables, learned from 100 rows with truism 0.1.0.

    """
    return "\n".join(_lines(model)) + "\n"


def _lines(model: Model) -> Iterator[str]:
    made = model.provenance
    when = f" on {_escape(made.created)}" if made.created else ""
    yield "# What is always true"
    yield ""
    yield (
        f"{len(model.rules):,} rules about {len(model.schema.variables):,} variables, learned from "
        f"{made.n_rows:,} rows{when} with truism {_escape(made.version)}."
    )
    yield (
        f"No training row breaks a rule, and each rule holds in more than "
        f"{100 * made.min_support:g} % of the rows. Rows that score above "
        f"{format_number(model.threshold)} are anomalies."
    )
    for notice in model.notices:
        yield ""
        yield f"> {_escape(notice)}"
    summary = model.summary(N_STATEMENTS)
    yield from ("", "## In short", "", "| always | rows | rules |", "|---|---:|---|")
    for statement in summary.statements:
        text = _escape(statement.text(model.words))
        yield f"| {text} | {statement.count:,} | {statement.behind} |"
    if summary.constants:
        yield from ("", f"Never changes: {_escape(conjunction(summary.constants))}.")
    yield ""
    yield "≈ marks lines that are joined and rounded from rules; below are the rules that are checked."
    yield from ("", "## Variables", "", "| variable | kind | training values |", "|---|---|---|")
    for variable in model.schema.variables:
        kind = "categorical" if isinstance(variable, Categorical) else "continuous"
        yield f"| {_escape(variable.name)} | {kind} | {_escape(_values(variable))} |"
    yield from ("", "## Rules", "")
    yield "Grouped by the variable in the conclusion; least likely by chance first."
    records = rule_records(model, model.rules.sorted_by("chance"))
    for name in model.schema.names:
        fixing = [record for record in records if _fixes(record, name)]
        yield from ("", f"### {_escape(name)}", "")
        yield from ("| rule | holds | rows | chance |", "|---|---|---:|---:|")
        yield from (_row(record) for record in fixing)
    if model.disabled:
        yield from ("", "## Switched off", "", "| rule | reason | since |", "|---|---|---|")
        for rule in model.disabled:
            yield f"| `{rule.rule_id}` | {_escape(rule.reason)} | {_escape(rule.date or '')} |"
    if model.accepted:
        yield from ("", "## Accepted as normal", "")
        yield from ("| id | about | where | why |", "|---|---|---|---|")
        for accepted in model.accepted:
            about, where = ", ".join(accepted.variables), conjunction(accepted.conditions)
            cells = (f"`{accepted.id}`", *map(_escape, (about, where, accepted.said)))
            yield f"| {' | '.join(cells)} |"


def _fixes(record: RuleRecord, name: str) -> bool:
    """Return whether a rule is listed under a variable: it is, if it claims something about it."""
    return any(name in variables(predicate) for predicate in record.consequents)


def _row(record: RuleRecord) -> str:
    text = _escape(record.text)
    if record.disabled is not None:
        text = f"~~{text}~~"
    return f"| `{record.id}` | {text} | {record.count:,} | {chance(record.log10_chance)} |"


def chance(log10: float) -> str:
    """Print a chance from its logarithm; the chance itself may be too small for a float.

    >>> chance(0.0), chance(-1.3), chance(-512.4)
    ('1', '0.05', '1e-512')
    """
    return f"{10**log10:.2g}" if log10 > -3 else f"1e{round(log10)}"


def _values(variable: Variable) -> str:
    if isinstance(variable, Categorical):
        return first_few([format_value(value) for value in variable.values], _MAX_VALUES)
    return (
        f"{format_number(variable.low)} to {format_number(variable.high)}, mean {variable.mean:.6g}"
    )


def _escape(text: str) -> str:
    """Return text that Markdown shows as it is, in one line, with nothing hidden in it."""
    return _SPECIAL.sub(r"\\\1", visible(" ".join(text.split())))
