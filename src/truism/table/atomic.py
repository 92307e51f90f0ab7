"""Writing whole files or none: whatever fails, a file that was there before is still there."""

import os
import tempfile
from pathlib import Path


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a whole file or none; links are followed, and a device or pipe is simply written to."""
    place = Path(os.path.realpath(path))
    if place.exists() and not place.is_file():
        place.write_bytes(content)
        return
    try:
        _replace(place, content)
    except OSError as problem:
        if problem.errno is None:
            raise
        # Name the file that was asked for, not the draft, which nobody knows.
        raise OSError(problem.errno, problem.strerror, str(path)) from None


def _replace(place: Path, content: bytes) -> None:
    handle, draft = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(draft, 0o666 & ~umask)
        os.replace(draft, place)
    except BaseException:
        os.unlink(draft)
        raise
