"""The command line under attack: a program that was started once, and is forked for each command.

Starting Python and importing truism takes longer than most commands, and thousands are run. What
depends on the start itself (hash seeds, locales, closed streams) is run with `fresh`.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

PATIENCE = 120.0  # seconds after which a command hangs
NOISE = re.compile(
    r"Traceback|Internal error|Warning: .*\n  |\w+Warning:|Segmentation|Fatal Python"
)


class Ended(NamedTuple):
    """What came of a command."""

    arguments: tuple[str, ...]
    code: int  # negative: the signal that ended it
    out: bytes
    error: str

    def said(self) -> str:
        return f"truism {' '.join(self.arguments)}: exit {self.code}: {self.error[-600:]}"


def complaint(ended: Ended, codes: Sequence[int] = (0, 1, 2, 3)) -> str | None:
    """Return what is wrong with how a command ended, or None.

    Code 1 belongs to ``check`` and ``compare``, 3 to ``status``; 2 comes with one error a machine.
    """
    if NOISE.search(ended.error):
        return f"noise: {ended.said()}"
    own = {"check": 1, "compare": 1, "status": 3}.get("".join(ended.arguments[:1]))
    if ended.code not in codes or (ended.code in (1, 3) and ended.code != own):
        return f"a wrong code: {ended.said()}"
    n_errors = ended.error.count("Error: ")
    if ended.code == 2 and n_errors != 1 and not (n_errors and "--models" in ended.arguments):
        return f"no error or several: {ended.said()}"
    if ended.code == 0 and "Error: " in ended.error:
        return f"an error and yet no failure: {ended.said()}"
    return None


class Running:
    """A command that has been started."""

    def __init__(self, program: "Program", pid: int, arguments: Sequence[str], place: Path) -> None:
        self._program, self.pid, self._place = program, pid, place
        self._arguments = tuple(arguments)

    def wait(self) -> Ended:
        """Wait for its end."""
        watchdog = threading.Timer(PATIENCE, os.kill, (self.pid, 9))
        watchdog.start()
        try:
            code = self._program.ask({"wait": self.pid})
        finally:
            watchdog.cancel()
        out, error = ((self._place / name).read_bytes() for name in ("out", "error"))
        return Ended(self._arguments, code, out, error.decode(errors="replace"))

    def signal_after(self, seconds: float, number: int) -> None:
        """Send a signal, unless it has ended before."""
        time.sleep(seconds)
        os.kill(self.pid, number)  # it is a zombie at least, until somebody waits for it


class Program:
    """The program, ready to be forked."""

    def __init__(self) -> None:
        self._scratch = tempfile.TemporaryDirectory(prefix="attack-streams-")
        self._n_started = 0
        self._started: subprocess.Popen[bytes] | None = None

    @property
    def _parent(self) -> "subprocess.Popen[bytes]":
        if self._started is None:
            self._started = self._start()
        return self._started

    def _start(self) -> "subprocess.Popen[bytes]":
        here = Path(__file__).resolve().parents[1]
        path = os.pathsep.join(filter(None, [str(here), os.environ.get("PYTHONPATH")]))
        return subprocess.Popen(
            [sys.executable, "-m", "attack.parent"],
            env={**os.environ, "PYTHONPATH": path},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._started is not None:
            self._started.stdin.close()
            self._started.wait()
            self._started.stdout.close()
        self._scratch.cleanup()

    def ask(self, wish: Mapping[str, Any]) -> int:
        self._parent.stdin.write(json.dumps(wish).encode() + b"\n")
        self._parent.stdin.flush()
        return int(json.loads(self._parent.stdout.readline()))

    def start(self, folder: Path, *arguments: str, **wishes: Any) -> Running:
        """Start a command in a folder; `attack.parent` says what can be wished."""
        self._n_started += 1
        place = Path(self._scratch.name) / str(self._n_started % 8)
        place.mkdir(exist_ok=True)
        pid = self.ask(
            {
                "arguments": arguments,
                "folder": str(folder),
                "out": str(place / "out"),
                "error": str(place / "error"),
                **wishes,
            }
        )
        return Running(self, pid, arguments, place)

    def run(self, folder: Path, *arguments: str, **wishes: Any) -> Ended:
        """Run a command to its end."""
        return self.start(folder, *arguments, **wishes).wait()


def fresh(folder: Path, *arguments: str, line: str = "TRUISM", **changes: str | None) -> Ended:
    """Run a command in a Python of its own, within a line for the shell, in another environment."""
    env = {name: value for name, value in {**os.environ, **changes}.items() if value is not None}
    command = line.replace("TRUISM", '"$PYTHON" -m truism "$@"')
    done = subprocess.run(
        ["bash", "-c", command, "truism", *arguments],
        cwd=folder,
        env={**env, "PYTHON": sys.executable},
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    error = done.stderr.decode(errors="replace")
    return Ended(tuple(arguments), done.returncode, done.stdout, error)
