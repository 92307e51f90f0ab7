"""The process that is forked for each command: everything is imported and compiled already.

It reads wishes from standard input, one JSON value a line, and answers each with a number: the pid of
a command that was started, or the code of one that was waited for.
"""

import errno
import json
import os
import resource
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

# Calls that change files, and can fail.
FAULTY = ("open", "fsync", "replace", "fchmod", "fchown", "fstat", "listdir", "setxattr")


def main() -> None:
    """Serve until standard input ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    warm()
    for line in sys.stdin:
        wish = json.loads(line)
        if "wait" in wish:
            answer = os.waitstatus_to_exitcode(os.waitpid(wish["wait"], 0)[1])
        else:
            answer = os.fork()
            if answer == 0:
                become(wish)
        answers.write(f"{answer}\n")
        answers.flush()


def warm() -> None:
    """Import and compile what commands need, by running some."""
    from truism.plant import simulate
    from truism.table.writing import write_table

    shrink()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        write_table(simulate(60, seed=0).columns, place / "normal.csv")
        quiet = os.open(os.devnull, os.O_WRONLY)
        before = os.dup(2)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        for line in (
            "learn normal.csv -o m.json --jobs 1 --min-support 0.2",
            "check normal.csv -m m.json --report r.html --scores s.parquet --jobs 1 --threshold 0",
            "look normal.csv --report l.html",
            "explain normal.csv -m m.json --row 0",
            "rules m.json",
            "export m.json --to markdown",
            "compare m.json m.json --format html -o c.html",
            "status normal.csv -m m.json",
            "accept normal.csv --rows 0:9 -m m.json --reason why -o m.json",
            "--help",
        ):
            run(line.split(), place)
        os.dup2(before, 1)
        os.dup2(before, 2)
        os.close(quiet)
        os.close(before)


def shrink() -> None:
    """Let the demo simulate less, and files count as large that are not."""
    from truism.cli import demo, learn, rows

    rows.BYTES_WHOLE, rows.LEAST_ROWS = 1_024, 64
    demo.N_ROWS, demo.N_ATTACKED, learn.SAMPLE = 1_200, 400, 300
    learn.learn_model.__kwdefaults__["n_sampled"] = 200


def run(arguments: list[str], folder: Path) -> int:
    """Run a command in this process; return its code."""
    from truism.__main__ import main as truism

    os.chdir(folder)
    sys.argv = ["truism", *arguments]
    try:
        truism()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        os.chdir("/")
    return 0


def become(wish: dict[str, Any]) -> NoReturn:
    """Become the command: with its own streams, environment, limits, rights and faults."""
    code = 70
    try:
        code = _become(wish)
    except KeyboardInterrupt:  # before the program could know of it
        code = 130
    finally:
        os._exit(code)


def _become(wish: dict[str, Any]) -> int:
    os.setsid()
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    for number, name in ((1, "out"), (2, "error")):
        os.dup2(os.open(wish[name], flags, 0o666), number)
    os.dup2(os.open(wish.get("in", os.devnull), os.O_RDONLY), 0)
    sys.stdin, sys.stdout, sys.stderr = (
        open(number, mode, encoding="utf-8", closefd=False)  # noqa: SIM115
        for number, mode in enumerate(("r", "w", "w"))
    )
    os.environ.update(wish.get("environment", {}))
    os.umask(wish.get("umask", 0o022))
    os.chdir(wish["folder"])
    for name, most in wish.get("limits", {}).items():
        resource.setrlimit(getattr(resource, name), (most, most))
    if wish.get("nobody"):
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
    if "fault" in wish:
        break_call(**wish["fault"])
    signal.signal(signal.SIGINT, signal.default_int_handler)
    return run(wish["arguments"], Path(wish["folder"]))


def break_call(number: int, reason: str) -> None:
    """Let the call of this number among those that change files fail."""
    left = [number]

    def breaking(call: Callable[..., Any]) -> Callable[..., Any]:
        def called(*arguments: Any, **options: Any) -> Any:
            writes = call.__name__ != "open" or arguments[1] & os.O_CREAT
            left[0] -= bool(writes)
            if writes and left[0] == 0:
                code = getattr(errno, reason)
                raise OSError(code, os.strerror(code))
            return call(*arguments, **options)

        return called

    for name in FAULTY:
        setattr(os, name, breaking(getattr(os, name)))


if __name__ == "__main__":
    main()
