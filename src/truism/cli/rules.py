"""``truism rules``: sum up, list, search and sort rules; switch them on and off."""

from typing import Any, get_args

import click
import msgspec

from truism.cli.options import Command, Format, check_output, format_option
from truism.cli.screen import Screen
from truism.errors import ParameterError, did_you_mean
from truism.export.records import RuleRecord, rule_records, select
from truism.model.files import edit_model, load_model
from truism.model.model import Model
from truism.model.provenance import today
from truism.model.rules import Order
from truism.model.wording import count
from truism.show.models import FAINT, say, show_pairs, show_rules, show_summary

N_SHOWN = 20
_CSV_NAMES = (
    *("id", "text", "variables", "length", "count", "support", "log10_chance"),
    *("disabled", "reason", "date"),
)


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  truism rules plant.truism.json
  truism rules plant.truism.json --about LIT301 --sort support --top 0
  truism rules plant.truism.json --contains 'P101 = on'
  truism rules plant.truism.json --disable a2jq7xzt --reason 'new pump since June'
  truism rules plant.truism.json --enable a2jq7xzt""",
)
@click.argument("place", metavar="MODEL")
@click.option(
    "--about",
    multiple=True,
    metavar="VAR",
    help="Show only rules about a variable; may be repeated.",
)
@click.option(
    "--contains",
    multiple=True,
    metavar="TEXT",
    help="Show only rules that contain a text; ignores case.",
)
@click.option(
    "--sort",
    type=click.Choice(get_args(Order)),
    help="Order of the rules: least likely by chance, most rows, shortest, or id.  [default: chance]",
)
@click.option(
    "--top",
    metavar="N",
    type=click.IntRange(min=0),
    help="Show the first N rules; 0 shows all.  [default: 20 for table, else all]",
)
@click.option("--disable", multiple=True, metavar="ID", help="Switch a rule off; may be repeated.")
@click.option("--reason", metavar="TEXT", help="Why the rule is switched off; stored in the model.")
@click.option(
    "--enable", multiple=True, metavar="ID", help="Switch a rule back on; may be repeated."
)
@format_option
@click.pass_obj
def rules(
    screen: Screen,
    /,
    place: str,
    about: tuple[str, ...],
    contains: tuple[str, ...],
    sort: Order | None,
    top: int | None,
    disable: tuple[str, ...],
    reason: str | None,
    enable: tuple[str, ...],
    form: Format,
) -> None:
    """Summarise, list, search and sort rules; switch them on and off.

    Without options, shows at most twenty statements. Rules about neighbouring intervals are joined, what
    follows from a line above is left out, and cut-offs are rounded so that each line stays true. Checks
    use the original rules, which the other options list.

    A rule that is switched off no longer scores or explains. It stays in the model file with the
    reason and the date. Its variables can still be reported when their values are rare, or unlike those
    of similar training rows. Longer rules that it made redundant do not come back. The chance of
    a rule is the probability of seeing no exception by luck.
    """
    if (reason is None) != (not disable):
        raise ParameterError(
            "--disable and --reason must be given together.",
            "say why, for those who read the model later.",
        )
    if disable or enable:
        check_output(place)
        model = edit_model(place, lambda model: _edited(model, disable, reason or "", enable))
        for state, ids in (("off", disable), ("on", enable)):
            for rule_id in ids:
                screen.show(say(f"{state}  {rule_id}  {model.rules.find(rule_id)}"))
        return
    model = load_model(place)
    about = tuple(_find_variable(model, name) for name in about)
    in_short = form == "table" and sort is None and top is None and not (about or contains)
    chosen = select(model, about=about, contains=contains, sort=sort or "chance")
    if top is None:
        top = N_SHOWN if form == "table" else 0
    records = rule_records(model, chosen[: top or len(chosen)])
    if form == "table":
        if in_short:
            of_all = f"{count(len(chosen), 'rule')}. ≈ marks what is joined or rounded."
            how = "--about VAR lists the rules behind a line, --top 0 all."
            screen.show(show_summary(model, N_SHOWN), "", say(f"{of_all} {how}", FAINT))
        else:
            screen.show(show_rules(records, len(chosen)))
        if model.accepted:
            lines = [(one.id, one.say(model.schema, model.words)) for one in model.accepted]
            screen.show("", say("Accepted as normal:"), show_pairs(lines))
    elif form == "json":
        screen.write_json(records)
    elif form == "jsonl":
        screen.write_lines(records)
    else:
        screen.write_csv(_CSV_NAMES, [_row(record) for record in records])


def _edited(model: Model, disable: tuple[str, ...], reason: str, enable: tuple[str, ...]) -> Model:
    ids = {rule.id for rule in model.rules}
    off = {entry.rule_id for entry in model.disabled}
    for rule_id in (*disable, *enable):
        if rule_id not in ids:
            raise ParameterError(
                f"The model has no rule with id {rule_id!r}.",
                did_you_mean(rule_id, sorted(ids)) or "truism rules MODEL lists the ids.",
            )
    for rule_id in enable:
        if rule_id not in off:
            raise ParameterError(f"Rule {rule_id!r} is not switched off.")
    for rule_id in disable:
        model = model.disable(rule_id, reason, today())
    for rule_id in enable:
        model = model.enable(rule_id)
    return model


def _find_variable(model: Model, name: str) -> str:
    """Return the variable of a name; its case matters only where another one differs by it alone."""
    names = model.schema.names
    if name in names:
        return name
    alike = [variable for variable in names if variable.casefold() == name.casefold()]
    if len(alike) == 1:
        return alike[0]
    raise ParameterError(
        f"--about must name a variable of the model, got {name!r}.", did_you_mean(name, names)
    )


def _row(record: RuleRecord) -> dict[str, Any]:
    off = record.disabled
    row = msgspec.structs.asdict(record) | {
        "variables": " ".join(record.variables),
        "length": record.length,
        "disabled": off is not None,
        "reason": None if off is None else off.reason,
        "date": None if off is None else off.date,
    }
    return {name: row[name] for name in _CSV_NAMES}
