"""Names and states that mean something to templates and databases, through exports for other tools."""

import json
import random
from collections.abc import Callable, Sequence
from typing import Any

import duckdb
import pyarrow as pa
import sqlglot
import yaml
from jinja2.sandbox import SandboxedEnvironment

from attack.attempts import Bench, Broken, Kind
from learned import learn
from truism.errors import ParameterError
from truism.export.contracts import to_dbt, to_great_expectations, to_odcs
from truism.export.sql.dialects import DIALECTS
from truism.export.sql.statements import to_sql
from truism.model.model import Model
from truism.score.scorer import Scorer
from truism.table.frames import as_table

PIECES = (
    *("{%+ endraw %}", "{% endraw +%}", "{%- endraw -%}", "{% raw %}", "{{", "}}", "{%", "%}", "{#"),
    *("{{ 1 / 0 }}", "{{ owned() }}", "{% do owned() %}", "{# x #}", "#}", "{", "}", "{0}", "{}"),
    *("{batch}", "{table}", "{model}", "${HOME}", "${X:-y}", "$", "FROM truism_relation\n", "\r\n"),
    *("FROM t", "\n", "\r"),
    *(":remote", " :remote", "::text", "\\:x", "\\", "%s", "%(x)s", "%", "'", '"', "`", "--", "/*", "*/"),
    *("; DROP TABLE readings; ", "$$", "é", "x", " ", "-", "+", "\t", "\u2028", "\x85"),
)  # fmt: skip


def compare(model: Model, data: dict[str, list[Any]]) -> None:
    """Raise `Broken` unless every export does with the rows what Python does."""
    for dialect in DIALECTS:
        plain = to_sql(model, dialect=dialect, table="readings", rules=50).text
        if rendered(to_dbt(model, dialect=dialect, table="readings")) != plain.removesuffix("\n"):
            raise Broken("Jinja read something of a name or a state")
        sqlglot.parse_one(plain, dialect=dialect, error_level=sqlglot.ErrorLevel.RAISE)
    with duckdb.connect(config={"threads": 1}) as database:
        database.register("readings", pa.table(data))
        wanted = counts(model, data)
        found = database.execute(to_sql(model, dialect="duckdb", table="readings").text).fetchall()
        if len(found) != sum(n for rule, n in wanted.items() if rule != "variables"):
            raise Broken("the statement finds other rows than Python")
        for rule, query in suite_queries(model):
            if len(database.execute(query).fetchall()) != wanted.get(rule, 0):
                raise Broken("Great Expectations would find other rows than Python")
        for rule, query in contract_queries(model):
            if database.execute(query).fetchall() != [(wanted.get(rule, 0),)]:
                raise Broken("a data contract would count other rows than Python")


def rendered(text: str) -> str:
    """Render as dbt does, with functions that name the relation."""

    def owned() -> None:
        raise Broken("a name or a state ran in Jinja")

    extensions = ["jinja2.ext.do", "jinja2.ext.loopcontrols"]
    template = SandboxedEnvironment(extensions=extensions).from_string(text)
    return template.render(
        ref=lambda name: name, source=lambda source, name: f"{source}_{name}", owned=owned
    )


def counts(model: Model, data: dict[str, list[Any]]) -> dict[str, int]:
    """Return how many rows break each rule, and how many break one about one variable alone."""
    found = {"variables": 0}
    for row in Scorer(model).violations(as_table(data)):
        broken = {each.rule for each in row}
        found["variables"] += any(not rule.antecedent for rule in broken)
        for rule in broken:
            found[rule.id] = found.get(rule.id, 0) + 1
    return found


def suite_queries(model: Model, rules: int = 10**6) -> Sequence[tuple[str, str]]:
    """Return the queries of Great Expectations as a database gets them."""
    suite = json.loads(to_great_expectations(model, dialect="duckdb", table="t", rules=rules))
    queries = [
        (each["meta"]["rule"], each["kwargs"]["unexpected_rows_query"].format(batch="readings"))
        for each in suite["expectations"]
    ]
    return [(rule, as_sqlalchemy_reads(query)) for rule, query in queries]


def as_sqlalchemy_reads(query: str) -> str:
    """Return a query as the text of SQLAlchemy; none of it may be a parameter."""
    if ":" in query.replace("\\:", ""):
        raise Broken("SQLAlchemy would read a parameter")
    return query.replace("\\:", ":")


def contract_queries(model: Model, rules: int = 10**6) -> Sequence[tuple[str, str]]:
    """Return the queries of a data contract; none where a brace refuses it."""
    try:
        contract = yaml.safe_load(to_odcs(model, dialect="duckdb", table="readings", rules=rules))
    except ParameterError:
        return []
    (schema,) = contract["schema"]
    quality = schema["quality"]
    texts = [each["name"] for each in schema["properties"]] + [each["query"] for each in quality]
    if any("{" in text for text in texts):
        raise Broken("a data contract has a brace")
    return [(each["name"], each["query"]) for each in quality]


def table_of(draw: Callable[[], str]) -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
    """Return normal rows and others, with drawn names and states."""
    first, second, on, off, odd = (draw() for _ in range(5))
    names = [first, f"{second}2", f"X{first}"]
    states = [f"{on}1", f"{off}2", f"{odd}3"]
    normal = {
        names[0]: states[:2] * 20,
        names[1]: ["high", "low"] * 20,
        names[2]: [2.5, 0.0] * 20,
    }
    rows = {
        names[0]: [states[0], states[1], states[2], None],
        names[1]: ["low", "low", "high", "high"],
        names[2]: [0.0, 0.0, 2.5, None],
    }
    return normal, rows


def attempt(draw: random.Random, bench: Bench) -> None:
    """Learn from columns and states that mean something to other tools, and run what is exported."""

    pieces = PIECES if draw.random() < 0.5 else [each for each in PIECES if "{" not in each]

    def text() -> str:
        return "".join(draw.choices(pieces, k=draw.choice([1, 1, 2, 3, 5]))) + "n"

    normal, rows = table_of(text)
    if len({name.casefold() for name in normal}) == len(normal):
        compare(learn(as_table(normal), min_support=0.1), rows)


KIND = Kind("exports", 60, attempt)
