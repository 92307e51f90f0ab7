"""``truism accept``: call reported rows normal, see what that costs, and take it back."""

import getpass
import os
from typing import Any

import click
import numpy as np

from truism.cli.options import (
    Command,
    Form,
    allow_missing_option,
    check_output,
    file_options,
    form_option,
    jobs_option,
    layout_options,
    memory_option,
    model_option,
    size_of,
)
from truism.cli.rows import InputRows
from truism.cli.screen import Screen
from truism.errors import ParameterError
from truism.explain.checker import Check, Checker
from truism.model.files import edit_model, load_model, save_model
from truism.model.model import Model
from truism.model.provenance import today
from truism.review.accept import (
    Named,
    Offer,
    find_named,
    offer,
    say_offer,
    take_rows,
)
from truism.review.compare import Source
from truism.review.ledgers import (
    FILES,
    ledger_beside,
    read_ledger,
    rows_to_add,
    without_id,
    write_ledger,
)
from truism.show.models import say, show_pairs
from truism.table.columns import Table
from truism.work import Progress

_WAYS = ("rows", "incident", "shift", "pattern", "undo")


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  truism accept today.csv --incident k2v7q4zt2c2qunba -m plant.truism.json \\
      -o plant.truism.json --reason 'valve test'
  truism accept today.csv --rows 613:754 -m plant.truism.json \\
      --reason 'valve test' --on june.csv --dry-run
  truism accept -m plant.truism.json -o plant.truism.json \\
      --when 'MV101 = open' --mute LIT101 --reason 'flushing'
  truism accept --undo a2jq7xzt -m plant.truism.json -o plant.truism.json""",
)
@click.argument("data", nargs=-1, metavar="[DATA]...")
@model_option
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="The model file to write; may be the same. Not needed with --dry-run.",
)
@click.option(
    "--rows",
    multiple=True,
    metavar="A:B",
    help="Rows to accept, both ends included, counted from 0 as in check; may be repeated.",
)
@click.option("--incident", metavar="ID", help="Accept the rows of an incident of DATA.")
@click.option("--shift", metavar="ID", help="Accept the rows of a lasting change of DATA.")
@click.option("--pattern", metavar="ID", help="Accept the rows of a pattern of DATA.")
@click.option(
    "--when",
    metavar="CONDITION",
    help="The condition, written as in rules.  [default: what the rows have in common]",
)
@click.option(
    "--mute",
    multiple=True,
    metavar="VAR|all",
    help="Variable that is not judged under it; may be repeated.  [default: those to blame]",
)
@click.option("--undo", metavar="ID", help="Revoke an acceptance, also in the ledger.")
@click.option("--reason", metavar="TEXT", help="Why the rows are normal; kept in the model.")
@click.option("--until", metavar="DATE", help="Last day on which it holds, such as 2025-08-31.")
@click.option("--who", metavar="NAME", help="Who accepts them.  [default: the user's name]")
@click.option(
    "--on",
    "history",
    multiple=True,
    metavar="FILE",
    help="Earlier rows: show which of their incidents would no longer be reported; may be repeated.",
)
@click.option("--name", metavar="NAME", help="The name given to check, for ids of incidents.")
@click.option("--dry-run", is_flag=True, help="Show the price only; write nothing.")
@form_option
@jobs_option
@memory_option
@allow_missing_option
@layout_options
@click.pass_obj
def accept(
    screen: Screen,
    /,
    data: tuple[str, ...],
    place: str,
    output: str | None,
    history: tuple[str, ...],
    dry_run: bool,
    form: Form,
    jobs: int,
    memory_limit: str | None,
    allow_missing: bool,
    **options: Any,
) -> None:
    """Accept reported rows as normal, and see what that costs.

    The blamed variables are no longer judged under a condition: that of the first clue, as far as all of
    the rows satisfy it, or else the range of their values. Nothing else changes. The price is shown
    first: what that silences in DATA, and in the files of --on. The rows are also written to a ledger
    beside the model, *.accepted.parquet; learn --accepted learns them as normal.
    """
    how = file_options(options)
    way = _check(options, data, output, dry_run=dry_run)
    if output is not None:
        check_output(output, (*data, *history))
    if way == "undo":
        _withdraw(screen, place, output, options["undo"], form)
        return
    checker = Checker(load_model(place), jobs).named(options["name"])
    size = size_of(memory_limit)

    with screen.stages() as progress:
        progress("reading", 0, 0)
        held = earlier = named = None
        taken: tuple[Table | None, Table | None] = None, None
        if data:
            held = InputRows(screen, checker, data, how, size=size, allow_missing=allow_missing)
            checker = held.checker
        if history:
            earlier = InputRows(
                screen, checker, history, how, size=size, allow_missing=allow_missing
            )
        if held is not None and way is not None:
            named = _named(held, progress, way, options)
            taken = take_rows(checker.scorer, named, held.prepared(progress))
        progress("accepting", 0, 0)
        made = offer(
            checker,
            taken[1],
            named,
            reason=options["reason"],
            when=options["when"],
            mute=options["mute"],
            until=options["until"],
            who=options["who"] or _user(),
            date=today(),
            here=None if held is None else _source(held, progress),
            history=None if earlier is None else (earlier.checker, _source(earlier, progress)),
        )
    _show(screen, made, form)
    if not dry_run and output is not None:
        _write(screen, place, output, made, taken[0])


def _check(
    options: dict[str, Any], data: tuple[str, ...], output: str | None, *, dry_run: bool
) -> str | None:
    """Refuse options that do not belong together; return the way in which rows are named, if any."""
    ways = [way for way in _WAYS if options[way]]
    by_hand = options["when"] is not None and bool(options["mute"])
    if len(ways) > 1 or not (ways or by_hand):
        raise ParameterError(
            "One of --rows, --incident, --shift, --pattern and --undo must be given, or --when with "
            f"--mute, got {len(ways) or 'none'}."
        )
    way = ways[0] if ways else None
    if output is None and not dry_run:
        raise ParameterError("-o must name the model file to write, unless --dry-run is given.")
    if way != "undo" and options["reason"] is None:
        raise ParameterError(
            "--reason must be given.", "say why the rows are normal, for those who read the model."
        )
    if way not in (None, "undo") and not data:
        raise ParameterError(f"--{way} must be given with DATA, the rows that were checked.")
    return way


def _named(held: InputRows, progress: Progress, way: str, options: dict[str, Any]) -> Named:
    if way != "rows":
        check = Check(held.checker, held.n_rows, patterns=way == "pattern")
        for _ in held.feed(check, progress):
            pass
        return find_named(check.findings(), options[way], way)
    chosen = np.zeros(held.n_rows, np.bool_)
    for text in options["rows"]:
        first, colon, last = text.partition(":")
        ends = (first, last if colon else first)
        if not all(end.strip().isdecimal() for end in ends):
            raise ParameterError.of("rows", "be a row or two rows such as 613:754", text)
        start, end = map(int, ends)
        if not start <= end < held.n_rows:
            constraint = f"lie between 0 and {held.n_rows - 1}, the first row first"
            raise ParameterError.of("rows", constraint, text)
        chosen[start : end + 1] = True
    return Named(np.flatnonzero(chosen))


def _source(rows: InputRows, progress: Progress) -> Source:
    return Source(rows.n_rows, lambda: (table for _, table in rows.prepared(progress)))


def _user() -> str | None:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # no name on this machine
        return None


def _show(screen: Screen, made: Offer, form: Form) -> None:
    if form == "json":
        screen.write_json(
            {
                "format": "truism-acceptance",
                "format_version": 1,
                "id": made.acceptance.id,
                "acceptance": made.acceptance,
                "price": made.price,
                "history": made.history,
            }
        )
    else:
        screen.show(say(f"{made.acceptance.id}  {made.acceptance.said}"))
        screen.show(show_pairs([*say_offer(made)]))
    for warning in made.warnings:
        screen.warn(warning)


def _write(screen: Screen, place: str, output: str, made: Offer, chosen: Table | None) -> None:
    """Write the ledger first: rows that no model has accepted yet do no harm.

    Whoever was killed before the model was written has left rows of this acceptance.
    """
    acceptance, written = made.acceptance, [output]
    ledger, new = ledger_beside(output), None
    if chosen is not None:
        new = rows_to_add(chosen, acceptance)
    with FILES.held(ledger, create=True):
        old = without_id(read_ledger(ledger_beside(place)), acceptance.id)
        if write_ledger(ledger, old, new):
            written.append(str(ledger))
        _save(place, output, lambda model: model.accept(acceptance))
    screen.note(f"written: {', '.join(written)}.")


def _save(place: str, output: str, change: Any) -> Model:
    """Write the changed model: over the old one, or beside it."""
    if os.path.exists(output) and os.path.samefile(place, output):
        return edit_model(place, change)
    model: Model = change(load_model(place))
    save_model(model, output)
    return model


def _withdraw(screen: Screen, place: str, output: str | None, wanted: str, form: Form) -> None:
    model = load_model(place)
    model.withdraw(wanted)
    [gone] = (acceptance for acceptance in model.accepted or () if acceptance.id == wanted)
    if form == "json":
        screen.write_json({"format": "truism-withdrawal", "format_version": 1, "id": wanted})
    else:
        named = gone.name_variables(model.schema)
        screen.show(say(f"withdrawn  {wanted}  {named}, {gone.said}"))
    if output is not None:
        with FILES.held(
            ledger_beside(output), create=True
        ):  # first, too, so that it can be done again
            left = without_id(read_ledger(ledger_beside(place)), wanted)
            write_ledger(ledger_beside(output), left, None)
            _save(place, output, lambda model: model.withdraw(wanted))
