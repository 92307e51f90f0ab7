"""``truism export``: a model's rules, for people or other programs."""

from typing import Any

import click

from truism.cli.options import Command, check_output
from truism.cli.screen import Screen
from truism.errors import ParameterError
from truism.export.markdown import to_markdown
from truism.export.records import to_json
from truism.export.sql.dialects import DIALECTS
from truism.export.sql.statements import FORMS, MAX_BYTES, MAX_RULES, to_sql
from truism.model.files import load_model
from truism.model.model import Model
from truism.table.atomic import write_atomically

_OF_STATEMENTS = ("dialect", "table", "form", "keys", "rules", "max_bytes")


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  truism export plant.truism.json --to markdown > rules.md
  truism export plant.truism.json --to json -o rules.json
  truism export plant.truism.json --to sql --dialect postgres --table readings""",
)
@click.argument("place", metavar="MODEL")
@click.option(
    "--to",
    "target",
    type=click.Choice(("markdown", "json", "sql")),
    required=True,
    help="A page for people, every rule in full for programs, or a statement for a database.",
)
@click.option("-o", "--output", metavar="FILE", help="File to write.  [default: standard output]")
@click.option("--dialect", type=click.Choice(DIALECTS), help="The kind of database.")
@click.option("--table", metavar="NAME", help="The table to check, such as plant.readings.")
@click.option(
    "--form",
    type=click.Choice(FORMS),
    help="Which rules rows break, the paper's score, or the default score.  [default: violations]",
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
    help=f"Write at most N rules with a condition, the strongest.  [default: {MAX_RULES}]",
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
    if target != "sql" and given:
        name = next(iter(given))
        raise ParameterError(f"A {target} export takes no {name}.", see=("to",))
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
            raise ParameterError(f"A statement needs a {name}.", see=(name,))
    statement = to_sql(model, **given)
    for notice in statement.left_out:
        screen.note(notice)
    return statement.text.encode()
