"""The ``truism`` command as a whole: its commands, its exit codes, and how failures are shown.

Exit codes: 0 done; 1 ``check`` found anomalies, or ``compare --fail-if`` what it names; 2 bad input,
wrong usage or unwritable output; 3 ``status`` of a stale model; 130 interrupted.
"""

import os
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from types import FrameType
from typing import Any

import click

from truism.cli.screen import FAILED, INTERRUPTED, Screen
from truism.errors import ParameterError, TruismError
from truism.table.atomic import FileWarning
from truism.version import __version__

COMMANDS = {
    "demo": "Simulate a plant, learn from it, attack it, and explain what happened.",
    "plant": "Write the simulated plant's tables, with or without attacks.",
    "look": "Show how a table would be read, before anything is learned.",
    "learn": "Learn what is always true of normal rows.",
    "check": "Score rows, group anomalies into incidents, and explain each.",
    "calibrate": "Choose the threshold from normal rows, and write it into the model.",
    "explain": "Explain one row in full.",
    "rules": "Summarise, list, search and sort rules; switch them on and off.",
    "compare": "Compare two models and their reports.",
    "status": "Find out whether a model still fits: fresh, drifting or stale.",
    "accept": "Accept reported rows as normal, and see what that costs.",
    "export": "Write a model's rules, for people or other programs.",
}
_OPTION_OF = {
    "header": "--header and --no-header",
    "n_rows": "--rows",
    "random_state": "--seed",
    "rule_id": "A rule's id",
}


def option_of(setting: str) -> str:
    """Return the name of a setting on the command line."""
    return _OPTION_OF.get(setting, f"--{setting.replace('_', '-')}")


class App(click.Group):
    """A group that imports commands when they are called, and reports failures in sentences."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names of the commands, in the order in which a new user needs them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import a command."""
        if cmd_name not in COMMANDS:
            return None
        command = getattr(import_module(f"truism.cli.{cmd_name}"), cmd_name)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def main(self, args: Sequence[str] | None = None, **extra: Any) -> Any:  # type: ignore[override]
        """Run, and exit with the right code."""
        arguments = list(sys.argv[1:] if args is None else args)
        with Screen.open() as screen, _noting(screen):
            code = screen.close(self._run(arguments, screen, extra))
        sys.exit(code)

    def _run(self, arguments: list[str], screen: Screen, extra: dict[str, Any]) -> int:
        try:
            extra["standalone_mode"] = False
            code = super().main(arguments, obj=screen, **extra)
        except (click.exceptions.Abort, KeyboardInterrupt):
            screen.fail("Interrupted.")
            return INTERRUPTED
        except click.ClickException as problem:
            problem.show()
            return FAILED
        except Exception as problem:
            if "--debug" in arguments:
                traceback.print_exc()
            screen.fail(*say_problem(problem))
            return FAILED
        return code if isinstance(code, int) else 0


@contextmanager
def _noting(screen: Screen) -> Iterator[None]:
    """Show as notes what the library says of files that it wrote."""
    with warnings.catch_warnings():
        show = warnings.showwarning

        def note(message: Any, category: type[Warning], *where: Any, **more: Any) -> None:
            if issubclass(category, FileWarning):
                screen.note(str(message))
            else:
                show(message, category, *where, **more)

        warnings.simplefilter("always", FileWarning)
        warnings.showwarning = note
        yield


def say_problem(problem: Exception) -> tuple[str, str | None]:
    """Say what went wrong, and what to do about it."""
    match problem:
        case ParameterError(parameter=str(name)):
            return problem.message_about(option_of(name)), problem.advice(option_of)
        case TruismError():
            return problem.message, problem.advice(option_of)
        case OSError():
            reason = problem.strerror or str(problem)
            place = "" if problem.filename is None else f"{str(problem.filename)!r}: "
            return f"{place}{reason.rstrip('.')}.", None
        case MemoryError():
            return "There is not enough memory.", "use fewer rows or columns (--ignore)."
    return (
        f"Internal error: {type(problem).__name__}: {problem}",
        "please report it, with the output of the same command with --debug.",
    )


@click.group(
    "truism",
    cls=App,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="""\b
Try it:
  truism demo

\b
Use it:
  truism look normal.csv
  truism learn normal.csv -o plant.truism.json
  truism check today.csv -m plant.truism.json

\b
Exit codes: 0 done, 1 check found anomalies (or compare what --fail-if names),
2 bad input, usage or output, 3 status of a stale model, 130 interrupted

truism COMMAND --help shows options and examples.""",
)
@click.version_option(__version__, "--version", message="truism %(version)s")
@click.option("--debug", is_flag=True, expose_value=False, help="Show tracebacks of failures.")
def app() -> None:
    """Learn what is always true of your data; see which variable broke it, and why."""


def main() -> None:
    """Run as the program ``truism``."""
    signal.signal(signal.SIGINT, _interrupt)
    app.main(prog_name="truism")


def _interrupt(signum: int, frame: FrameType | None) -> None:  # noqa: ARG001
    """Stop cleanly, but soon: an exception does not reach compiled loops in other threads."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    watchdog = threading.Timer(2.0, _leave)
    watchdog.daemon = True
    watchdog.start()
    raise KeyboardInterrupt


def _leave() -> None:
    if sys.stderr is not None:
        if sys.stderr.isatty():
            sys.stderr.write("\x1b[?25h")  # a progress bar hides the cursor
        sys.stderr.write("\nError: Interrupted.\n")
        sys.stderr.flush()
    os._exit(INTERRUPTED)
