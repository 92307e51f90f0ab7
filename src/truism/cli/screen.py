"""Where output goes: data to standard output, everything else to standard error.

A program that meets a full disk in the middle of a table can neither go on as if nothing had happened
nor stop before its files are written. So whatever is printed passes through an `Outlet`, which writes
all of it or keeps the reason why not. Output that could not be written completely is a failure, whatever
else was found; that a reader closes the pipe (``truism rules … | head``) is none, and must not change
the exit code of ``check``.
"""

import csv
import datetime
import io
import math
import os
import select
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self, TextIO

import msgspec
from rich.console import Console, RenderableType
from rich.text import Text

from truism.model.wording import tame
from truism.score import kernels
from truism.work import Progress, be_silent

FAILED, INTERRUPTED = 2, 130


class Outlet(io.RawIOBase):
    """What stands behind a standard stream while a command runs."""

    def __init__(self, sink: Any) -> None:
        self._sink = sink
        self._over = False
        self.problem: str | None = None

    def writable(self) -> bool:
        """Return True."""
        return True

    def isatty(self) -> bool:
        """Return whether it is a terminal."""
        return self._sink is not None and bool(self._sink.isatty())

    def fileno(self) -> int:
        """Return the number of the file behind the stream."""
        if self._sink is None:
            raise io.UnsupportedOperation("the stream is closed")
        return int(self._sink.fileno())

    def write(self, content: Any) -> int:
        """Write everything, in as many parts as it takes; an unbuffered file takes what it can."""
        left = memoryview(content)
        if self._sink is None and left:
            self._stop("it is closed")
        while left and not self._over:
            try:
                n_written = self._sink.write(left)
                if n_written is None:
                    select.select([], [self._sink], [])
            except BrokenPipeError:
                self._stop(None)
            except OSError as problem:
                self._stop(problem.strerror or str(problem))
            else:
                left = left[n_written or 0 :]
        return len(content)

    def _stop(self, problem: str | None) -> None:
        if not self._over:
            self._over, self.problem = True, problem


@contextmanager
def outlets() -> Iterator[Outlet]:
    """Put outlets behind standard output and standard error, and return the former.

    Standard error has no say in the exit code: what is printed there stands beside the output, and
    closing it asks for silence.
    """
    _occupy()
    before = sys.stdout, sys.stderr
    output, sys.stdout = _through(sys.stdout)
    _, sys.stderr = _through(sys.stderr)
    try:
        yield output
    finally:
        sys.stdout, sys.stderr = before


def _through(stream: TextIO | None) -> tuple[Outlet, Any]:
    """Return an outlet and a text stream that writes through it."""
    if stream is not None and not isinstance(stream, io.TextIOWrapper):
        return Outlet(None), stream  # a notebook's or a test's own: it cannot lose anything
    if stream is None:
        outlet, encoding = Outlet(None), "utf-8"
    else:
        stream.flush()
        outlet, encoding = Outlet(getattr(stream.buffer, "raw", stream.buffer)), stream.encoding
    # Not every terminal can show ≤, and not every name of a file is text.
    return outlet, io.TextIOWrapper(
        io.BufferedWriter(outlet), encoding, "replace", write_through=True
    )


def _occupy() -> None:
    """Take the numbers of closed standard streams, lest a file that is opened gets one of them."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


class Screen:
    """The output of a command."""

    def __init__(self, output: Outlet) -> None:
        self._output = output

    @classmethod
    @contextmanager
    def open(cls) -> Iterator[Self]:
        """Provide a screen on standard output and standard error."""
        with outlets() as output:
            yield cls(output)

    def show(self, *parts: RenderableType) -> None:
        """Print for people."""
        for part in parts:
            self._write(_render(part, sys.stdout))

    def write(self, content: bytes | str) -> None:
        """Print for programs, always as UTF-8."""
        data = content.encode() if isinstance(content, str) else content
        buffer = getattr(sys.stdout, "buffer", None)
        if buffer is None:
            self._write(data.decode())
            return
        buffer.write(data)
        buffer.flush()

    def write_json(self, value: Any) -> None:
        """Print one JSON document."""
        self.write(msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n")

    def write_lines(self, values: Sequence[Any]) -> None:
        """Print one JSON document per line."""
        self.write(b"".join(msgspec.json.encode(value) + b"\n" for value in values))

    def write_csv(self, names: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
        """Print a table as CSV, without anything that a spreadsheet would run."""
        sheet = _Sheet()
        writer = csv.DictWriter(sheet, names)
        writer.writeheader()
        writer.writerows({name: tame(value) for name, value in row.items()} for row in rows)
        self.write(sheet.getvalue())

    def announce_compiling(self, package: str, names: Sequence[str] | None = None) -> None:
        """Print why compiling the loops of a package, some or all, takes time, if it will."""
        if not kernels.can_cache(package):
            self.note(
                "code is compiled again each time, because no cache can be written; set NUMBA_CACHE_DIR "
                "to a folder that can be written to."
            )
        elif not kernels.are_cached(package, names):
            self.note("the first run compiles code; this takes about ten seconds, once.")

    def announce_unkept(self) -> None:
        """Print why compiling will take time again, if it will although there was a cache."""
        why = kernels.why_unkept()
        if why is not None:
            self.note(
                f"compiled code could not be kept ({why}), so the next run compiles it again; set "
                "NUMBA_CACHE_DIR to a folder with room for it."
            )

    def note(self, text: str) -> None:
        """Print a note for people, apart from the data."""
        _print_error(Text.assemble(("Note: ", "bold yellow"), _plain(text)))

    def warn(self, text: str) -> None:
        """Print a note that must not be overlooked."""
        _print_error(Text.assemble(("Warning: ", "bold red"), _plain(text)))

    def fail(self, message: str, hint: str | None = None) -> None:
        """Print what is wrong, and what to do about it."""
        _print_error(Text.assemble(("Error: ", "bold red"), _plain(message)))
        if hint is not None:
            _print_error(Text.assemble(("Hint: ", "bold"), _plain(hint)))

    @contextmanager
    def stages(self) -> Iterator[Progress]:
        """Draw progress on standard error, if that is a terminal."""
        if not sys.stderr.isatty():
            yield be_silent
            return
        from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bars

        columns = (
            TextColumn("  {task.description:<21}"),
            BarColumn(10),
            TaskProgressColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[amount]}"),
        )
        with Bars(*columns, console=_console(sys.stderr, sys.stderr), transient=True) as bars:
            yield _Stages(bars)

    @property
    def is_lost(self) -> bool:
        """Whether some of the output could not be written."""
        sys.stdout.flush()
        return self._output.problem is not None

    def close(self, code: int) -> int:
        """Return the exit code: that of the command, unless some of its output is lost."""
        sys.stdout.flush()
        if self._output.problem is None:
            return code
        self.fail(f"Standard output cannot be written: {self._output.problem}.")
        return code if code == INTERRUPTED else FAILED

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()


class _Sheet(io.StringIO):
    """A table as CSV with an ordinary end of each line; what would end one is quoted by then."""

    def write(self, text: str, /) -> int:
        return super().write(text.removesuffix("\r\n") + "\n")


class _Stages:
    """One bar per stage, and per pass; a stage of unknown length is done when the next one begins."""

    def __init__(self, bars: Any) -> None:
        self._bars = bars
        self._task_of: dict[str, Any] = {}
        self._n_passes: dict[str, int] = {}
        self._endless: Any = None

    def __call__(self, stage: str, done: int, of: int) -> None:
        if stage.endswith("pass"):
            self._n_passes[stage] = self._n_passes.get(stage, 0) + (done == 0)
            stage = number_pass(stage, self._n_passes[stage])
        if stage not in self._task_of:
            self._finish()
            task = self._bars.add_task(stage, total=None, amount="")
            self._task_of[stage] = self._endless = task
        if of > 1 or done:
            task = self._task_of[stage]
            self._bars.update(task, completed=done, total=of)
            bar = next(bar for bar in self._bars.tasks if bar.id == task)
            self._bars.update(task, amount=say_amount(stage, done, of, bar.time_remaining))
            if self._endless == task:
                self._endless = None

    def _finish(self) -> None:
        if self._endless is not None:
            self._bars.update(self._endless, total=1, completed=1)


def number_pass(stage: str, n: int) -> str:
    """Return what a pass is called if it is not the first of its kind.

    >>> number_pass("verifying pass", 1), number_pass("verifying pass", 2)
    ('verifying pass', 'verifying pass 2')
    """
    return stage if n <= 1 else f"{stage} {n}"


def say_amount(stage: str, done: int, of: int, seconds: float | None) -> str:
    """Say how many rows are done, if rows are counted, and how long the others will take.

    >>> say_amount("first pass", 200_000, 1_000_000, 75.2), say_amount("mining", 3, 4, None)
    ('0:01:16 left, 200,000 of 1,000,000 rows', '')
    """
    rows = f"{done:,} of {of:,} rows" if "pass" in stage or stage == "scoring" else ""
    if seconds is None or done >= of:
        return rows
    left = f"{datetime.timedelta(seconds=math.ceil(seconds))} left"
    return f"{left}, {rows}" if rows else left


def _plain(text: str) -> str:
    from truism.model.wording import visible

    return "\n".join(visible(line) for line in text.splitlines())


def _print_error(text: Text) -> None:
    stream = sys.stderr
    with _console(io.StringIO(), stream) as console:
        with console.capture() as captured:
            console.print(text, soft_wrap=True)
        stream.write(captured.get())
        stream.flush()


def _render(part: RenderableType, stream: TextIO) -> str:
    console = _console(io.StringIO(), stream)
    with console.capture() as captured:
        # print() would join texts and ignore that one must not wrap.
        console.print(part, soft_wrap=isinstance(part, Text) and bool(part.no_wrap))
    # Cells are padded with blanks, which do not belong in a file or a comparison.
    return "".join(line.rstrip() + "\n" for line in captured.get().splitlines())


def _console(file: TextIO, like: TextIO) -> Console:
    """Return a console that writes to one file as if it were another."""
    watched = like.isatty()
    return Console(
        file=file,
        force_terminal=watched,
        color_system="auto" if watched and not os.environ.get("NO_COLOR") else None,
        no_color=bool(os.environ.get("NO_COLOR")),
        width=shutil.get_terminal_size((80, 24)).columns,
        markup=False,
        emoji=False,
        highlight=False,
    )
