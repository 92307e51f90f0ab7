"""Rules as checks of other tools, from the same statements: dbt, Great Expectations, data contracts.

A dbt test is one statement about all rules. The other two take one query for each rule with a condition,
and one for all rules about one variable alone.

These tools read queries as templates. So names and states never meet them as they are: everything but the
table is escaped character by character, and a data contract, which knows no way to write a
brace, is refused one.
"""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from truism.errors import ParameterError, TruismError
from truism.export.sql.conditions import Conditions, breach
from truism.export.sql.dialects import Dialect, DialectName
from truism.export.sql.levels import (
    NO_ESCAPES,
    Escapes,
    Level,
    Lines,
    bracketed,
    chain,
    column,
    write,
)
from truism.export.sql.statements import Draft, missing_words, refuse_past, usual_keys
from truism.export.sql.strength import strongest
from truism.model.model import Model
from truism.model.predicates import Present, variables
from truism.model.schema import Categorical, Schema, Variable

MAX_CHECKS = 50
# Whatever Jinja reads begins with an opening brace; it also makes a carriage return a line feed.
_FOR_JINJA: Escapes = str.maketrans({"{": '{{ "{" }}', "\r": '{{ "\\r" }}'})
_FOR_FORMAT: Escapes = str.maketrans({"{": "{{", "}": "}}"})
_FOR_SQLALCHEMY: Escapes = str.maketrans({":": "\\:"})  # it takes :x for a parameter


class Check(msgspec.Struct, frozen=True):
    """A query for rows that break something, and what it checks."""

    name: str
    words: str
    conditions: Conditions
    broken: Lines

    def query(self, table: str, *, counted: bool = False, escapes: Escapes = NO_ESCAPES) -> str:
        """Return the query for the rows, or for how many they are; see `write`."""
        readings, numbers = self.conditions.readings()
        columns = (column("COUNT(*)", "n_rows"),) if counted else self.conditions.returned
        last = Level("", columns, numbers.name, condition="\n".join(self.broken))
        return write(self.conditions.dialect, (), table, (readings, numbers, last), escapes)


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
    conditions = Conditions(Dialect(dialect), model.schema, usual_keys(model), missing_words(model))
    draft = Draft(model, conditions, f"{{{{ {relation} }}}}", escapes=_FOR_JINJA)
    return draft.fitting(rules).text


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
    # Great Expectations hands queries to Spark as they are, and to other databases with SQLAlchemy.
    escapes = _FOR_FORMAT if dialect == "spark" else _FOR_FORMAT | _FOR_SQLALCHEMY
    for check in _checks(model, Dialect(dialect), rules):
        query = check.query("{batch}", escapes=escapes)
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
    source = wrote.table(table)
    _refuse_braces(model.schema)
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
            "query": each.query(source, counted=True),
            "mustBe": 0,
        }
        for each in _checks(model, wrote, rules)
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


def _refuse_braces(schema: Schema) -> None:
    states = [v for each in schema.variables if isinstance(each, Categorical) for v in each.values]
    for text in (*schema.names, *states):
        if isinstance(text, str) and "{" in text:
            raise ParameterError(
                f"A data contract cannot hold {text!r}: its tools fill something in at a brace.",
                "export to another tool, or rename it before learning.",
            )


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


def _checks(model: Model, dialect: Dialect, rules: int) -> Iterator[Check]:
    refuse_past(model)
    selection = strongest(model).first(rules)
    if selection.univariate:
        names = {name for rule in selection.univariate for name in rule.variables}
        conditions = _conditions(model, dialect, names)
        broken = []
        for rule in selection.univariate:
            failed = rule.consequents[0]
            broken.append((breach(dialect, failed, conditions.value(variables(failed)[0])),))
        words = "Every variable is as it always was, by itself."
        yield Check("variables", words, conditions, bracketed(chain("OR", broken)))
    for each in selection.ranked:
        conditions = _conditions(model, dialect, {*each.rule.variables})
        holds = conditions.all_hold(each.rule.antecedent)
        claimed = conditions.all_hold(each.rule.consequents)
        yield Check(each.rule.id, each.words, conditions, (f"{holds} AND NOT ({claimed})",))


def _conditions(model: Model, dialect: Dialect, names: set[str]) -> Conditions:
    """Return conditions about some of the variables; a query reads no others."""
    used = tuple(each for each in model.schema.variables if each.name in names)
    time = () if model.schema.time is None else (model.schema.time,)
    keys = (*time, *(each.name for each in used))
    return Conditions(dialect, Schema(used), keys, missing_words(model))
