"""State files: a `JobState` goes out as JSON and comes back, or a `StateError` says what is wrong.

Nothing in a file is executed. Types, sizes and ranges are all checked on reading. Who works with a state
file has it locked; a program that dies leaves no lock behind.
"""

import hashlib
import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, get_args, get_origin

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.errors import StateError, TruismError
from truism.explain.states import JobState
from truism.incidents.events import ACTIVE, RISING, STANDING
from truism.incidents.following import Following
from truism.score.past import Latest, Still
from truism.table.atomic import alone_with, write_atomically

FORMAT, VERSION = "truism-state", 4
MAX_BYTES = 64 << 20
MAX_WHOLE = 1 << 53
MOST = 1e50  # far beyond any sum of points, but its square is a number, too
PATIENCE = 10.0  # seconds to wait for another job
_OPEN = (RISING, ACTIVE, STANDING)


class _Header(msgspec.Struct, frozen=True):
    format: str = ""
    format_version: int = 0
    digest: str = ""


def encode_state(state: JobState) -> bytes:
    """Return a state as one line of JSON."""
    # JSON has no word for a number that is missing or infinite; one that is absent counts as missing.
    finite = {
        series: {name: value for name, value in values.items() if math.isfinite(value)}
        for series, values in state.following.previous.items()
    }
    following = msgspec.structs.replace(state.following, previous=finite)
    state = msgspec.structs.replace(state, following=following)
    read = msgspec.json.decode(msgspec.json.encode(state, enc_hook=_as_list))
    content = {"format": FORMAT, "format_version": VERSION, **read}
    encoded = msgspec.json.encode({**content, "digest": _digest(content)}) + b"\n"
    if len(encoded) > MAX_BYTES:
        raise StateError(
            f"A state file must be at most {MAX_BYTES >> 20} MiB, got {len(encoded) / (1 << 20):.1f} MiB "
            f"for {len(state.seen) or len(following.present):,} series.",
            "nothing was written; let go of series sooner with --retain, or check fewer at a time.",
        )
    return encoded


def decode_state(content: bytes) -> JobState:
    """Read what `encode_state` wrote; refuse anything else."""
    _check_header(content)
    try:
        read = msgspec.json.decode(content)
        digest = read.pop("digest")
        del read["format"], read["format_version"]
        state = msgspec.convert(read, JobState, dec_hook=_as_array, str_keys=True)
        _check_numbers(state)
        _check_rows(state.following)
        _check_zones(state)
    except (msgspec.MsgspecError, TruismError, RecursionError) as problem:
        text = getattr(problem, "message", str(problem)) or type(problem).__name__
        raise StateError(f"The state file is damaged: {text.rstrip('.')}.", _ANEW) from None
    except (AttributeError, KeyError, ValueError, TypeError, OverflowError):
        raise StateError("The state file is damaged.", _ANEW) from None
    if digest != _digest(msgspec.json.decode(content)):
        raise StateError(
            "The state file was changed after it was written: its digest does not match.", _ANEW
        )
    return state


_ANEW = "restore it, or remove it to begin anew."


def _digest(content: dict[str, Any]) -> str:
    encoded = msgspec.json.encode({**content, "digest": ""})
    return hashlib.blake2b(encoded, digest_size=16).hexdigest()


def _as_list(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise NotImplementedError


def _as_array(wanted: Any, value: Any) -> NDArray[Any]:
    """Read a list of numbers as an array of the type that its field has."""
    if get_origin(wanted) is not np.ndarray:
        raise NotImplementedError
    if not isinstance(value, list):
        raise ValueError("Expected numbers")
    kind = np.dtype(get_args(get_args(wanted)[1])[0])
    whole = kind.kind == "i"
    for each in value:
        number = isinstance(each, int if whole else (int, float)) and not isinstance(each, bool)
        if not number or not (abs(each) <= MAX_WHOLE if whole else math.isfinite(each)):
            raise ValueError("Expected numbers")
    return np.array(value, kind)


def _check_numbers(state: JobState) -> None:
    """Refuse lists that do not have one number for each variable, and numbers that no sum reaches."""
    if len(set(state.variables)) != len(state.variables):
        raise StateError("a variable is listed twice")
    shape = (len(state.variables),)
    for place, each in _numbers((state.following.present, state.following.scoring)):
        if np.shape(each) not in (shape, ()):
            raise StateError("a list does not fit the variables")
        most = MAX_WHOLE if isinstance(each, int) else MOST
        if place is not Still and np.abs(np.asarray(each, float)).max(initial=0.0) > most:
            raise StateError("a number is too large")


def _numbers(value: Any, place: type | None = None) -> Iterator[tuple[type | None, Any]]:
    """Yield all numbers and lists of them in a value, and what they are a part of."""
    match value:
        case np.ndarray() | int() | float():
            yield place, value
        case msgspec.Struct():
            for name in value.__struct_fields__:
                if not isinstance(value, Latest) or name != "time":
                    yield from _numbers(getattr(value, name), type(value))
        case dict() | tuple():
            for each in value.values() if isinstance(value, dict) else value:
                yield from _numbers(each, place)


def _check_rows(following: Following) -> None:
    """Refuse numbers of rows that cannot be, and parts that do not belong together."""
    if not 0 <= following.n_rows <= MAX_WHOLE:
        raise StateError("a number of rows is too large, or below 0")
    for name, present in following.present.items():
        if not 0 <= present.n_rows <= following.n_rows:
            raise StateError("a series does not fit the rows")
        for event in present.events:
            ends = sorted((event.alarm, event.latest))
            rows = (0, event.onset, event.start, *ends, present.n_rows - 1)
            told = event.telling_rows | event.marked_rows
            if (
                event.series != name
                or list(rows) != sorted(rows)
                or event.phase not in _OPEN
                or not told <= following.kept.keys()
            ):
                raise StateError("what is open does not fit its rows")
    if any(not 0 <= row < following.n_rows for row in following.kept):
        raise StateError("a row that is kept does not fit the rows")


def _check_zones(state: JobState) -> None:
    """Refuse moments with a zone beside others without one."""
    moments = (
        each.stamp for each in state.following.kept.values() if each.stamp.moment is not None
    )
    if any(each.zoned != state.zoned for each in moments):
        raise StateError("a time has another zone than others")


def _check_header(content: bytes) -> None:
    try:
        header = msgspec.json.decode(content, type=_Header)
    except (msgspec.MsgspecError, RecursionError):
        header = _Header()
        if content.lstrip().startswith(b"{"):
            raise StateError("The state file is damaged: it is not JSON.", _ANEW) from None
    if header.format != FORMAT:
        raise StateError("This is not a truism state file.", "name another file for the state.")
    if header.format_version != VERSION:
        raise StateError(
            f"The state file has format version {header.format_version}, this truism reads {VERSION}.",
            "remove it to begin anew.",
        )


def read_state(path: str | os.PathLike[str]) -> JobState | None:
    """Read a state file; None if it is absent or empty."""
    place = Path(path)
    try:
        with place.open("rb") as file:  # a device has no size, and may have no end
            content = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise StateError(f"The state file {str(place)!r} cannot be read: {reason}.") from None
    if len(content) > MAX_BYTES:
        raise StateError(f"A state file must be at most {MAX_BYTES >> 20} MiB. ({place})")
    if not content:
        return None
    try:
        return decode_state(content)
    except StateError as problem:
        raise StateError(f"{problem.message} ({place})", problem.hint) from None


@contextmanager
def working_on(
    path: str | os.PathLike[str], patience: float | None = None
) -> Iterator[tuple[JobState | None, Callable[[JobState], None]]]:
    """Read a state, keep others from it, and let it be written in the end.

    Parameters
    ----------
    path
        The state file.
    patience
        Seconds to wait for another job that has it; ten when absent.

    Yields
    ------
    state, write
        What was there, and how to replace it.

    """
    try:
        with alone_with(path, PATIENCE if patience is None else patience, create=True) as unchanged:
            state = read_state(path)

            def write(after: JobState) -> None:
                if not unchanged():
                    raise StateError(
                        f"The state file {os.fspath(path)!r} was changed by another program meanwhile.",
                        "nothing was written; check again.",
                    )
                write_atomically(path, encode_state(after))

            yield state, write
    except BlockingIOError:
        raise StateError(
            f"The state file {os.fspath(path)!r} is in use by another job.",
            "wait until that has finished, or use one state for each source.",
        ) from None
