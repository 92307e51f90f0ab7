"""Standard output and standard error that remember why they could not be written, and never fail.

A program that meets a full disk in the middle of a table can neither go on as if nothing had happened
nor stop before its files are written. So whatever is printed passes through an `Outlet`, which writes
all of it or keeps the reason why not; the exit code asks for that reason in the end. A reader that
closes the pipe (``truism rules … | head``) has seen enough, which is no failure.
"""

import io
import os
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO


class Outlet(io.RawIOBase):
    """What stands behind a standard stream while a command runs.

    Parameters
    ----------
    sink
        Where the bytes go; None where the stream was closed before the program began.

    Attributes
    ----------
    problem
        Why some of the output is lost; None if none is, or if its reader wanted no more.

    """

    def __init__(self, sink: Any) -> None:
        self._sink = sink
        self._over = False
        self.problem: str | None = None

    def writable(self) -> bool:
        """Return True."""
        return True

    def isatty(self) -> bool:
        """Return whether somebody watches."""
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
    who closes it wants silence.
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
