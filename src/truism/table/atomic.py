"""Writing whole files or none: whatever fails, a file that was there before is still there.

The content goes into a draft in the same directory, which then takes the place of the file. So a new
file appears where one was changed; it gets the mode, the owner and the attributes of the old one, and
a `FileWarning` says what could not be kept. A draft is locked as long as its writer lives; one that is
not was left by a program that was killed, and the next writer of the same file removes it.
"""

import errno
import hashlib
import os
import re
import secrets
import stat
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

try:
    import fcntl

    _can_lock = True
except ImportError:  # Windows, which does not remove a file that is open anyway
    _can_lock = False

_MAX_NAME = 100  # bytes of a file's name that its draft repeats; some file systems allow 143 in all
PATIENCE = 10.0  # seconds to wait for another program
_PAUSE = 0.02  # seconds between two attempts to lock
_BINARY = getattr(os, "O_BINARY", 0)


class FileWarning(UserWarning):
    """A file was written, but something about the old one could not be kept."""


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a whole file or none; links are followed, and a device or pipe is simply written to."""
    with replacing(path) as file:
        file.write(content)


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Provide a file to write to, which takes the place of another one if all goes well.

    Links are followed, and a device or pipe is simply written to.
    """
    place = Path(os.path.realpath(path))
    lost: list[str] = []
    try:
        if place.is_symlink():
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        if place.exists() and not place.is_file():
            with place.open("wb") as device:
                yield device
        else:
            with _drafted(place, lost) as draft:
                yield draft
    except OSError as problem:
        named = "" if problem.filename is None else str(problem.filename)
        if problem.errno is None or (
            named not in ("", str(place)) and not named.endswith(".draft")
        ):
            raise
        # Name the file that was asked for, not the draft, which only this module knows.
        raise OSError(problem.errno, problem.strerror, os.fspath(path)) from None
    for loss in lost:
        warnings.warn(f"{str(place)!r} {loss}.", FileWarning, stacklevel=4)


@contextmanager
def _drafted(place: Path, lost: list[str]) -> Iterator[BinaryIO]:
    """Provide the draft of a file; tell in `lost` what of the old file could not be kept."""
    old = os.stat(place) if place.exists() else None
    if old is not None and not os.access(place, os.W_OK):
        raise OSError(errno.EACCES, os.strerror(errno.EACCES))
    _remove_drafts(place)
    handle, draft = _begin(place, 0o666 if old is None else 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            lost += [] if old is None else _keep(handle, place, old)
            yield file
            file.flush()
            os.fsync(handle)
            if not _can_lock:
                file.close()  # Windows does not rename a file that is open
            os.replace(draft, place)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise


# --- what is kept ---


def _keep(handle: int, place: Path, old: os.stat_result) -> list[str]:
    """Make a draft like the file that it will replace; return what could not be kept."""
    lost = []
    mode = stat.S_IMODE(old.st_mode)
    new = os.fstat(handle)
    if new.st_gid != old.st_gid and not _give(handle, -1, old.st_gid):
        lost.append("has another group than before: only a member of the old one may keep it")
        # The new group may do no more than everybody.
        mode = mode & 0o707 | (mode & 0o007) << 3 & mode
    if new.st_uid != old.st_uid and not _give(handle, old.st_uid, -1):
        lost.append("has another owner than before: only root may give files away")
        mode &= 0o777
    if hasattr(os, "fchmod"):
        os.fchmod(handle, mode)
    if not _copy_attributes(handle, place):
        lost.append("has lost extended attributes, which could not be written")
    if old.st_nlink > 1:
        lost.append("was written anew: its other names (hard links) keep the old content")
    return lost


def _give(handle: int, owner: int, group: int) -> bool:
    try:
        os.fchown(handle, owner, group)
    except OSError:
        return False
    return True


def _copy_attributes(handle: int, place: Path) -> bool:
    """Copy extended attributes, access lists among them; return whether all of them could be."""
    if not hasattr(os, "listxattr"):
        return True
    try:
        names = os.listxattr(place)
    except OSError:  # the file system has none
        return True
    for name in names:
        try:
            os.setxattr(handle, name, os.getxattr(place, name))
        except OSError:
            return False
    return True


# --- drafts ---


def _stem(place: Path) -> str:
    """Return how the names of a file's drafts begin."""
    name = os.fsencode(place.name)
    if len(name) <= _MAX_NAME:
        return f".{place.name}."
    return f".{hashlib.blake2b(name, digest_size=16).hexdigest()}."


def _begin(place: Path, mode: int) -> tuple[int, str]:
    """Create and lock a draft."""
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | _BINARY
    while True:
        draft = str(place.with_name(f"{_stem(place)}{secrets.token_hex(4)}.draft"))
        try:
            handle = os.open(draft, flags, mode)
        except FileExistsError:
            continue
        try:
            if _lock(handle) and os.fstat(handle).st_nlink:
                return handle, draft
        except BaseException:
            Path(draft).unlink(missing_ok=True)
            os.close(handle)
            raise
        os.close(handle)  # another writer took it for one that was left


def _remove_drafts(place: Path) -> None:
    """Remove the drafts of this file whose writers are gone."""
    left = re.compile(re.escape(_stem(place)) + "[0-9a-f]{8}\\.draft")
    try:
        names = [name for name in os.listdir(place.parent) if left.fullmatch(name)]
    except OSError:  # a directory that may be written, but not read
        return
    for name in names:
        with suppress(OSError):  # that of another user does no harm; Windows keeps one that is open
            _remove_draft(place.with_name(name))


def _remove_draft(draft: Path) -> None:
    if not _can_lock:
        draft.unlink()
        return
    handle = os.open(draft, os.O_RDWR)
    try:
        if _lock(handle):
            draft.unlink()
    finally:
        os.close(handle)


# --- one at a time ---


def _lock(handle: int) -> bool:
    """Lock an open file for this program; return whether no other one has."""
    if not _can_lock:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # the file system has no locks
        return True
    return True


@contextmanager
def alone_with(
    path: str | os.PathLike[str], patience: float | None = None, *, create: bool = False
) -> Iterator[Callable[[], bool]]:
    """Keep programs that ask for the same from changing a file meanwhile; yield whether it is unchanged.

    The lock is on the file itself, so that a program that dies leaves none behind. A file that is absent,
    a device or may not be written is not locked; with `create` an empty one is made, and removed if it is
    still empty in the end. After `patience` seconds of waiting, ten when absent, a `BlockingIOError` is
    raised.
    """
    place = os.path.realpath(path)
    until = time.monotonic() + (PATIENCE if patience is None else patience)
    taken = _take(place, os.fspath(path), until, create=create)
    try:
        before = _state(place)
        yield lambda: _state(place) == before
    finally:
        if taken is not None:
            if create:
                _remove_empty(place, taken.file)
            os.close(taken.handle)


class _Taken(NamedTuple):
    """A file that is open and locked."""

    handle: int
    file: os.stat_result


def _take(place: str, path: str, until: float, *, create: bool) -> _Taken | None:
    """Open and lock the file that is there when the lock is granted."""
    flags = os.O_RDWR | _BINARY | (os.O_CREAT if create else 0)
    while True:
        try:
            handle = os.open(place, flags, 0o666) if _can_lock else None
        except OSError:
            return None
        if handle is None:
            return None
        mine = _lock(handle)
        try:
            file = os.fstat(handle)
        except OSError:
            os.close(handle)
            if create and mine:
                _remove_empty(place)
            raise
        if not stat.S_ISREG(file.st_mode):  # its size is 0, and it must not be removed
            os.close(handle)
            return None
        if mine and _is_at(place, file):
            return _Taken(handle, file)
        os.close(handle)
        if time.monotonic() > until:
            raise BlockingIOError(errno.EAGAIN, "another program is changing it", path)
        if not mine:
            time.sleep(_PAUSE)


def _is_at(place: str, file: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.stat(place), file)
    except FileNotFoundError:
        return False


def _remove_empty(place: str, file: os.stat_result | None = None) -> None:
    """Remove a file that nothing was written to, if it is still the given one."""
    with suppress(FileNotFoundError):
        file_now = os.stat(place)
        same = file is None or os.path.samestat(file_now, file)
        if same and stat.S_ISREG(file_now.st_mode) and not file_now.st_size:
            os.unlink(place)


def _state(place: str) -> tuple[int, int, int, int] | None:
    try:
        file_now = os.stat(place)
    except OSError:
        return None
    return file_now.st_dev, file_now.st_ino, file_now.st_mtime_ns, file_now.st_size
