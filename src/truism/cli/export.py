"""``truism export``: a model's rules, for people or other programs."""

from typing import Any

import click

from truism.cli.options import Command, check_output
from truism.cli.screen import Screen
from truism.errors import ParameterError
from truism.export.contracts import MAX_CHECKS, to_dbt, to_great_expectations, to_odcs
from truism.export.markdown import to_markdown
from truism.export.records import to_json
from truism.export.sql.dialects import DIALECTS
from truism.export.sql.statements import FORMS, MAX_BYTES, MAX_RULES, to_sql
from truism.model.files import load_model
from truism.model.model import Model
from truism.table.atomic import write_atomically

_OF_STATEMENTS = ("dialect", "table", "form", "keys", "rules", "max_bytes")
_OF_CONTRACTS = ("dialect", "table", "rules")
_OPTIONS_OF: dict[str, tuple[str, ...]] = {
    "markdown": (),
    "json": (),
    "sql": _OF_STATEMENTS,
    "dbt": _OF_CONTRACTS,
    "great-expectations": _OF_CONTRACTS,
    "odcs": _OF_CONTRACTS,
}


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  truism export plant.truism.json --to markdown > rules.md
  truism export plant.truism.json --to json -o rules.json
  truism export plant.truism.json --to sql --dialect postgres --table readings
  truism export plant.truism.json --to dbt --dialect duckdb --table readings""",
)
@click.argument("place", metavar="MODEL")
@click.option(
    "--to",
    "target",
    type=click.Choice(tuple(_OPTIONS_OF)),
    required=True,
    help="A page for people, every rule in full for programs, a statement for a database, or checks "
    "for a tool.",
)
@click.option("-o", "--output", metavar="FILE", help="File to write.  [default: standard output]")
@click.option("--dialect", type=click.Choice(DIALECTS), help="The kind of database.")
@click.option("--table", metavar="NAME", help="The table to check, such as plant.readings.")
@click.option(
    "--form",
    type=click.Choice(FORMS),
    help="Which rules rows break, or the paper's score.  [default: violations]",
)
@click.option(
    "--key",
    "keys",
    multiple=True,
    metavar="COLUMN",
    help="Column that the result keeps; may be repeated.  "
    "[default: the time axis, or all variables]",
)
@click.option(
    "--rules",
    type=click.IntRange(min=0),
    metavar="N",
    help="Write at most N rules with a condition, the strongest.  "
    f"[default: {MAX_RULES}; {MAX_CHECKS} for a tool]",
)
@click.option(
    "--max-bytes",
    type=click.IntRange(min=1),
    metavar="N",
    help=f"Length of the statement; what does not fit is left out.  [default: {MAX_BYTES}]",
)
@click.pass_obj
def export(screen: Screen, /, place: str, target: str, output: str | None, **options: Any) -> None:
    """Write a model's rules, for people or other programs."""
    if output is not None:
        check_output(output, (place,))
    given = {name: options[name] for name in _OF_STATEMENTS if options[name] not in (None, ())}
    for name in given:
        if name not in _OPTIONS_OF[target]:
            raise ParameterError(f"An export to {target} takes no {name}.", see=("to",))
    model = load_model(place)
    content = _content(screen, model, target, given)
    if output is None:
        screen.write(content)
    else:
        write_atomically(output, content)


def _content(screen: Screen, model: Model, target: str, given: dict[str, Any]) -> bytes:
    if target == "markdown":
        return to_markdown(model).encode()
    if target == "json":
        return to_json(model)
    for name in ("dialect", "table"):
        if name not in given:
            raise ParameterError(f"An export to {target} needs a {name}.", see=(name,))
    match target:
        case "dbt":
            return to_dbt(model, **given).encode()
        case "great-expectations":
            return to_great_expectations(model, **given)
        case "odcs":
            return to_odcs(model, **given)
    statement = to_sql(model, **given)
    for notice in statement.left_out:
        screen.note(notice)
    return statement.text.encode()
