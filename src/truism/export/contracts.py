"""Rules as checks of other tools, from the same statements: dbt, Great Expectations, data contracts.

A dbt test is one statement about all rules. The other two take one query for each rule with a condition,
and one for all rules about one variable alone.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from truism.errors import ParameterError, TruismError
from truism.export.sql.conditions import Conditions, breach
from truism.export.sql.dialects import Dialect, DialectName
from truism.export.sql.levels import Level, bracketed, chain, column, write
from truism.export.sql.statements import refuse_past, to_sql
from truism.export.sql.strength import Selection, describe, strongest
from truism.model.model import Model
from truism.model.predicates import Present, variables
from truism.model.rules import Rule
from truism.model.schema import Categorical, Schema, Variable

MAX_CHECKS = 50
_RELATION = "truism_relation"
_RAW_END = re.compile(r"\{%-?\s*endraw\s*-?%\}")


class Check(msgspec.Struct, frozen=True):
    """A query that returns rows that break something, and what it checks."""

    name: str
    words: str
    query: str


def to_dbt(model: Model, *, dialect: DialectName, table: str, rules: int = MAX_CHECKS) -> str:
    """Return a singular test for dbt: it fails if a row breaks a rule.

    Parameters
    ----------
    model
        The model.
    dialect
        The kind of database that dbt uses.
    table
        The dbt model to test, or a source and its table with a dot between them.
    rules
        At most so many rules with a condition, the strongest.

    """
    if not isinstance(table, str) or not re.fullmatch(r"\w+(\.\w+)?", table):
        raise ParameterError.of("table", "be a dbt model, or a source and its table", table)
    source, _, name = table.rpartition(".")
    relation = f"source('{source}', '{name}')" if source else f"ref('{name}')"
    text = to_sql(model, dialect=dialect, table=_RELATION, rules=rules).text
    before, after = text.split(f"FROM {_RELATION}\n", 1)
    return f"{_raw(before)}FROM {{{{ {relation} }}}}\n{_raw(after)}\n"


def _raw(text: str) -> str:
    """Keep dbt from reading braces in names and states as its own."""
    pieces = _RAW_END.split(text)
    ends = [f"{{{{ {json.dumps(each)} }}}}" for each in _RAW_END.findall(text)]
    found = f"{{% raw %}}{pieces[0]}{{% endraw %}}"
    for end, piece in zip(ends, pieces[1:], strict=True):
        found += f"{end}{{% raw %}}{piece}{{% endraw %}}"
    return found


def to_great_expectations(
    model: Model, *, dialect: DialectName, table: str, rules: int = MAX_CHECKS
) -> bytes:
    """Return an expectation suite for Great Expectations, as JSON.

    Parameters
    ----------
    model
        The model.
    dialect
        The kind of database.
    table
        What the suite is called after; the queries ask the batch that they are given.
    rules
        At most so many rules with a condition, the strongest.

    """
    found = []
    for check in _checks(model, Dialect(dialect), _RELATION, rules, counted=False):
        # The query is filled in with str.format: braces in names must be doubled.
        query = check.query.replace("{", "{{").replace("}", "}}")
        query = query.replace(f"FROM {_RELATION}\n", "FROM {batch}\n")
        found.append(
            {
                "type": "unexpected_rows_expectation",
                "kwargs": {"unexpected_rows_query": query, "description": check.words},
                "meta": {"rule": check.name},
            }
        )
    suite = {"name": f"truism {table}", "expectations": found, "meta": _made(model)}
    return msgspec.json.format(msgspec.json.encode(suite), indent=2) + b"\n"


def to_odcs(model: Model, *, dialect: DialectName, table: str, rules: int = MAX_CHECKS) -> bytes:
    """Return a data contract after the Open Data Contract Standard, as YAML.

    Parameters
    ----------
    model
        The model.
    dialect
        The kind of database.
    table
        The table, as the database writes it.
    rules
        At most so many rules with a condition, the strongest.

    """
    wrote = Dialect(dialect)
    checks = _checks(model, wrote, wrote.table(table), rules, counted=True)
    required = {
        each.variable
        for rule in model.active_rules
        for each in rule.consequents
        if isinstance(each, Present)
    }
    properties = [
        {
            "name": each.name,
            "logicalType": _logical_type(each),
            **_physical_type(each, dialect),
            "required": each.name in required,
        }
        for each in model.schema.variables
    ]
    quality = [
        {
            "name": each.name,
            "description": each.words,
            "type": "sql",
            "query": each.query,
            "mustBe": 0,
        }
        for each in checks
    ]
    contract = {
        "apiVersion": "v3.0.2",
        "kind": "DataContract",
        "id": f"truism-{model.provenance.fingerprint}",
        "name": table,
        "version": "1.0.0",
        "status": "active",
        "schema": [
            {
                "name": table,
                "physicalName": table,
                "physicalType": "table",
                "properties": properties,
                "quality": quality,
            }
        ],
        "customProperties": [
            {"property": name, "value": value} for name, value in _made(model).items()
        ],
    }
    try:
        return msgspec.yaml.encode(contract)
    except ImportError:
        raise TruismError(
            "Writing YAML needs PyYAML, which is not installed.", "pip install 'truism[sql]'."
        ) from None


def _logical_type(variable: Variable) -> str:
    if not isinstance(variable, Categorical):
        return "number"
    return {"text": "string", "boolean": "boolean", "number": "number"}[variable.holds]


def _physical_type(variable: Variable, dialect: DialectName) -> dict[str, str]:
    """Return the type of numbers in files, which datacontract-cli would round to three decimals."""
    is_number = not isinstance(variable, Categorical)
    return {"physicalType": "DOUBLE"} if is_number and dialect == "duckdb" else {}


def _made(model: Model) -> dict[str, Any]:
    return {"truism": model.provenance.version, "training_rows": model.provenance.n_rows}


def _checks(
    model: Model, dialect: Dialect, table: str, rules: int, *, counted: bool
) -> Iterator[Check]:
    refuse_past(model)
    selection = strongest(model).first(rules)
    if selection.univariate:
        yield _about_one_variable(model, dialect, table, selection, counted)
    for each in selection.ranked:
        names = {*each.rule.variables}
        conditions = _conditions(model, dialect, names)
        holds = conditions.all_hold(each.rule.antecedent)
        claimed = conditions.all_hold(each.rule.consequents)
        query = _query(conditions, table, (f"{holds} AND NOT ({claimed})",), counted)
        yield Check(each.rule.id, describe(each.rule), query)


def _about_one_variable(
    model: Model, dialect: Dialect, table: str, selection: Selection, counted: bool
) -> Check:
    rules: Sequence[Rule] = selection.univariate
    names = {name for rule in rules for name in rule.variables}
    conditions = _conditions(model, dialect, names)
    broken = []
    for rule in rules:
        failed = rule.consequents[0]
        broken.append((breach(dialect, failed, conditions.value(variables(failed)[0])),))
    query = _query(conditions, table, bracketed(chain("OR", broken)), counted)
    return Check("variables", "Every variable is as it always was, by itself.", query)


def _conditions(model: Model, dialect: Dialect, names: set[str]) -> Conditions:
    """Return conditions about some of the variables; a query reads no others."""
    used = tuple(each for each in model.schema.variables if each.name in names)
    time = () if model.schema.time is None else (model.schema.time,)
    return Conditions(dialect, Schema(used), (*time, *(each.name for each in used)))


def _query(conditions: Conditions, table: str, condition: Sequence[str], counted: bool) -> str:
    readings, numbers = conditions.readings(table)
    columns = (column("COUNT(*)", "n_rows"),) if counted else conditions.returned
    last = Level("", columns, numbers.name, condition="\n".join(condition))
    return write(conditions.dialect, (), (readings, numbers, last))
