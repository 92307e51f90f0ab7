"""Several machines in one call: a file that lists them goes in, one check after the other comes out."""

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta
from rich.text import Text

from truism.cli.app import say_problem
from truism.cli.checking import Wanted, run
from truism.cli.options import check_output
from truism.cli.screen import Screen
from truism.errors import ParameterError, TruismError, shorten
from truism.model.wording import count, visible
from truism.report.terminal import BAD, GOOD, STRONG

MAX_BYTES = 1 << 20
_STREAMS = ("table", "jsonl", "events")
_Text = Annotated[str, Meta(min_length=1)]


class Machine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One machine: its name, its model, its tables, and the state of its job."""

    name: _Text
    model: _Text
    data: _Text | Annotated[tuple[_Text, ...], Meta(min_length=1)]
    state: _Text | None = None


class _Machines(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    machine: Annotated[tuple[Machine, ...], Meta(min_length=1)]


def read_machines(place: str) -> tuple[Machine, ...]:
    """Read a list of machines; paths in it begin where the file is."""
    try:
        with Path(place).open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise TruismError(f"The list of machines {place!r} cannot be read: {reason}.") from None
    try:
        if len(content) > MAX_BYTES:
            raise ValueError("it is too large")
        found = msgspec.convert(tomllib.loads(content.decode()), _Machines).machine
    except (msgspec.ValidationError, ValueError, RecursionError) as problem:
        raise TruismError(
            f"The list of machines {place!r} cannot be read: {str(problem).rstrip('.')}.",
            "each machine needs [[machine]], name, model and data; state is optional.",
        ) from None
    _check_distinct("name", [each.name for each in found], place)
    _check_distinct("state", [each.state for each in found if each.state], place)
    folder = Path(place).parent
    return tuple(
        Machine(
            each.name,
            str(folder / each.model),
            tuple(str(folder / one) for one in _listed(each.data)),
            None if each.state is None else str(folder / each.state),
        )
        for each in found
    )


def _listed(data: str | tuple[str, ...]) -> tuple[str, ...]:
    return (data,) if isinstance(data, str) else data


def _check_distinct(what: str, values: Sequence[str], place: str) -> None:
    twice = sorted({each for each in values if values.count(each) > 1})
    if twice:
        raise TruismError(f"The list of machines {place!r} has a {what} twice: {shorten(twice)}.")


def check_machines(screen: Screen, place: str, wanted: Wanted) -> int:
    """Check one machine after the other, whether or not one fails; say in the end how they are."""
    _refuse(wanted)
    machines = read_machines(place)
    codes = {}
    for machine in machines:
        if wanted.form == "table":
            screen.show(Text(visible(machine.name), STRONG))
        try:
            codes[machine.name] = _check_one(screen, machine, wanted)
        except (TruismError, OSError, MemoryError) as problem:
            message, hint = say_problem(problem)
            screen.fail(f"{machine.name}: {message}", hint)
            codes[machine.name] = 2
        if wanted.form == "table":
            screen.show("")
    summary = _summary(codes)
    if wanted.form == "table":
        screen.show(summary)
    else:
        screen.note(summary.plain)
    return max(codes.values())


def _check_one(screen: Screen, machine: Machine, wanted: Wanted) -> int:
    data = _listed(machine.data)
    if machine.state is not None:
        check_output(machine.state, (*data, machine.model))
    return run(
        screen,
        msgspec.structs.replace(
            wanted,
            name=machine.name,
            place=machine.model,
            data=data,
            state_place=machine.state,
        ),
    )


def _refuse(wanted: Wanted) -> None:
    """Refuse options that say for one machine what the list says for each."""
    given = {
        "DATA": wanted.data,
        "--model": wanted.place,
        "--state": wanted.state_place,
        "--name": wanted.name,
        "--scores": wanted.scores_place,
        "--report": wanted.report_place,
        "--label": wanted.label,
        "--calibrate": wanted.calibration,
    }
    for option, value in given.items():
        if value:
            raise ParameterError(f"--models and {option} must not both be given.")
    if wanted.form not in _STREAMS:
        raise ParameterError(
            f"--format must be {', '.join(_STREAMS[:-1])} or {_STREAMS[-1]} with --models, "
            f"got {wanted.form!r}."
        )


def _summary(codes: dict[str, int]) -> Text:
    """Say in one line how all machines are."""
    named = {code: [name for name, own in codes.items() if own == code] for code in (1, 2)}
    text = Text(f"{count(len(codes), 'machine')}: ")
    text.append(f"{len(codes) - len(named[1]) - len(named[2]):,} without anomalies", GOOD)
    for code, words in ((1, "with anomalies"), (2, "not checked")):
        if named[code]:
            names = shorten(tuple(map(visible, named[code])))
            text.append(f", {len(named[code]):,} {words} ({names})", BAD)
    return text.append(".")
