"""``truism export``: a model's rules, for people or other programs."""

import click

from truism.cli.options import Command, check_output
from truism.cli.screen import Screen
from truism.export.markdown import to_markdown
from truism.export.records import to_json
from truism.model.files import load_model
from truism.table.atomic import write_atomically


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  truism export plant.truism.json --to markdown > rules.md
  truism export plant.truism.json --to json -o rules.json""",
)
@click.argument("place", metavar="MODEL")
@click.option(
    "--to",
    "form",
    type=click.Choice(("markdown", "json")),
    required=True,
    help="A page for people, or every rule in full for programs.",
)
@click.option("-o", "--output", metavar="FILE", help="File to write.  [default: standard output]")
@click.pass_obj
def export(screen: Screen, /, place: str, form: str, output: str | None) -> None:
    """Write a model's rules, for people or other programs."""
    if output is not None:
        check_output(output, (place,))
    model = load_model(place)
    content = to_markdown(model).encode() if form == "markdown" else to_json(model)
    if output is None:
        screen.write(content)
    else:
        write_atomically(output, content)
