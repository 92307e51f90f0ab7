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
from truism.export.sql.dialects import Dialect, DialectName
from truism.export.sql.statements import (
    NO_ESCAPES,
    Conditions,
    Escapes,
    chain,
    describe,
    output,
    select,
    strongest,
    write,
    write_statement,
)
from truism.model.model import Model
from truism.model.predicates import Present
from truism.model.schema import Categorical, Schema, Variable

MAX_CHECKS = 50
# Whatever Jinja reads begins with an opening brace; it also makes a carriage return a line feed.
_FOR_JINJA: Escapes = str.maketrans({"{": '{{ "{" }}', "\r": '{{ "\\r" }}'})
_FOR_FORMAT: Escapes = str.maketrans({"{": "{{", "}": "}}"})
_FOR_SQLALCHEMY: Escapes = str.maketrans({":": "\\:"})  # it takes :x for a parameter


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
    table = f"{{{{ {relation} }}}}"
    return write_statement(model, Dialect(dialect), table, rules, escapes=_FOR_JINJA).text


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
    # Great Expectations hands queries to Spark as they are, and to other databases with SQLAlchemy.
    escapes = _FOR_FORMAT if dialect == "spark" else _FOR_FORMAT | _FOR_SQLALCHEMY
    expectations = [
        {
            "type": "unexpected_rows_expectation",
            "kwargs": {"unexpected_rows_query": check.query, "description": check.words},
            "meta": {"rule": check.name},
        }
        for check in _checks(model, Dialect(dialect), rules, "{batch}", escapes=escapes)
    ]
    suite = {"name": f"truism {table}", "expectations": expectations, "meta": _made(model)}
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
        predicate.variable
        for rule in model.active_rules
        for predicate in rule.consequents
        if isinstance(predicate, Present)
    }
    properties = [
        {
            "name": variable.name,
            "logicalType": _logical_type(variable),
            **_physical_type(variable, dialect),
            "required": variable.name in required,
        }
        for variable in model.schema.variables
    ]
    quality = [
        {
            "name": check.name,
            "description": check.words,
            "type": "sql",
            "query": check.query,
            "mustBe": 0,
        }
        for check in _checks(model, wrote, rules, source, counted=True)
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
    states = [
        v
        for variable in schema.variables
        if isinstance(variable, Categorical)
        for v in variable.values
    ]
    for text in (*schema.names, *states):
        if isinstance(text, str) and "{" in text:
            raise ParameterError(
                f"A data contract cannot hold {text!r}: its tools take braces for placeholders.",
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


class RowCheck(msgspec.Struct, frozen=True):
    """A query for rows that break something, and what it checks."""

    name: str
    words: str
    query: str


def _checks(
    model: Model,
    dialect: Dialect,
    rules: int,
    table: str,
    *,
    counted: bool = False,
    escapes: Escapes = NO_ESCAPES,
) -> Iterator[RowCheck]:
    """Yield a query for each rule with a condition, and one for all others; see `write`."""
    selection = strongest(model).first(rules)
    time = () if model.schema.time is None else (model.schema.time,)

    def conditions(names: set[str]) -> Conditions:
        """Return conditions about some of the variables; a query reads no others."""
        used = tuple(variable for variable in model.schema.variables if variable.name in names)
        return Conditions(
            model, dialect, Schema(used), (*time, *(variable.name for variable in used))
        )

    def query(about: Conditions, broken: str) -> str:
        columns = [output("COUNT(*)", "n_rows")] if counted else about.returned
        last = select(columns, "truism_numbers", condition=broken)
        return write(dialect, (), table, [*about.readings(), ("", last)], escapes)

    if selection.univariate:
        about = conditions({name for rule in selection.univariate for name in rule.variables})
        broken = chain("OR", [(about.breach(rule),) for rule in selection.univariate])
        words = "Every variable by itself is as in training."
        yield RowCheck("variables", words, query(about, "\n".join(broken)))
    for rule in selection.conditional:
        about = conditions({*rule.variables})
        condition = f"{about.holds(rule.antecedent)} AND NOT ({about.holds(rule.consequents)})"
        yield RowCheck(rule.id, describe(rule), query(about, condition))
