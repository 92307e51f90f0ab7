"""What an attack is: a kind, of which every attempt is drawn from a seed, and either holds or not."""

import random
import shutil
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from attack.program import Program
from attack.samples import Samples


class Broken(AssertionError):  # noqa: N818
    """A promise that was not kept."""


class Untried(Exception):  # noqa: N818
    """This machine does not allow the attack."""


class Bench(NamedTuple):
    """Where an attempt is made."""

    folder: Path  # empty, and removed afterwards
    program: Program
    samples: Samples


class Kind(NamedTuple):
    """One way to attack.

    Parameters
    ----------
    name
        A noun.
    n_attempts
        How many attempts a whole run makes.
    attempt
        Makes one attempt with what is drawn; raises `Broken` or anything else if it does not hold.

    """

    name: str
    n_attempts: int
    attempt: Callable[[random.Random, Bench], None]


class Failure(NamedTuple):
    """An attempt that did not hold."""

    number: int
    reason: str


class Tally(NamedTuple):
    """What came of the attempts of one kind."""

    kind: str
    n_tried: int
    failures: tuple[Failure, ...]
    untried: str | None
    seconds: float

    def __str__(self) -> str:
        if self.untried is not None and not self.n_tried:
            return f"{self.kind:<14} not tried: {self.untried}"
        n_failed = len(self.failures)
        line = f"{self.kind:<14} {self.n_tried:>6,} tried {self.n_tried - n_failed:>6,} held "
        return f"{line}{n_failed:>4,} failed {self.seconds:>6.0f} s"


def attack(
    kind: Kind, seed: int, numbers: range, program: Program, samples: Samples, keep: bool = False
) -> Tally:
    """Make the attempts of one kind that have these numbers."""
    failures, n_tried, untried = [], 0, None
    started = time.monotonic()
    for number in numbers:
        draw = random.Random(f"{kind.name} {seed} {number}")
        with _folder(keep) as folder:
            try:
                kind.attempt(draw, Bench(folder, program, samples))
            except Untried as reason:
                untried = str(reason)
                continue
            except (KeyboardInterrupt, SystemExit):
                raise
            except BaseException as problem:  # a panic of Polars is no Exception
                failures.append(Failure(number, _reason(problem)))
        n_tried += 1
    return Tally(kind.name, n_tried, tuple(failures), untried, time.monotonic() - started)


def _reason(problem: BaseException) -> str:
    if isinstance(problem, Broken):
        return str(problem)
    return "".join(traceback.format_exception(problem)[-3:]).strip()


@contextmanager
def _folder(keep: bool) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="attack-"))
    try:
        yield folder
    finally:
        if keep:
            print(f"kept: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
