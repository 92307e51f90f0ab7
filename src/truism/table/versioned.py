"""Files of our own: JSON that says its format, its version and a digest of everything else.

There is one current version of each format; any other one is refused with what to do about it. One
program at a time changes a file, which is written whole or not at all.
"""

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import msgspec

from truism.errors import TruismError, readable
from truism.table.atomic import alone_with, write_atomically

Path = str | os.PathLike[str]
Value = TypeVar("Value")


class FileKind(msgspec.Struct, frozen=True):
    """A kind of file, and what messages say about one."""

    noun: str  # what messages call it
    error: type[TruismError]
    wait: str = "wait until that has finished."  # or what else to do while another program has it

    @contextmanager
    def held(
        self, path: Path, patience: float | None = None, *, create: bool = False
    ) -> Iterator[Callable[[bytes], None]]:
        """Keep other programs from a file, and provide what replaces its content."""
        name = f"The {self.noun} {os.fspath(path)!r}"
        try:
            with alone_with(path, patience, create=create) as unchanged:

                def write(content: bytes) -> None:
                    if not unchanged():
                        raise self.error(
                            f"{name} was changed by another program meanwhile.",
                            "nothing was written; try again.",
                        )
                    write_atomically(path, content)

                yield write
        except BlockingIOError:
            raise self.error(f"{name} is in use by another program.", self.wait) from None


_UNSOUND = (
    TruismError,
    msgspec.MsgspecError,
    ValueError,
    TypeError,
    ArithmeticError,
    RecursionError,
)


class _Header(msgspec.Struct, frozen=True):
    format: str = ""
    format_version: int = 0


class VersionedKind(FileKind, frozen=True, kw_only=True):
    """A kind of JSON file: its format, its current version, and how large one may be."""

    format: str
    version: int
    max_bytes: int
    # what to do about a file of something else, one of another version, and a damaged one
    other: str
    older: str
    damaged: str

    def load(self, path: Path, decode: Callable[[bytes], Value]) -> Value:
        """Read a file, and name it in every error."""
        with readable(f"The {self.noun} {os.fspath(path)!r}", self.error), open(path, "rb") as file:
            content = file.read(self.max_bytes + 1)  # a device has no size, and may have no end
        try:
            return decode(content)
        except self.error as problem:
            raise self.error(f"{problem.message} ({os.fspath(path)})", problem.hint) from None

    def decode(self, content: bytes, convert: Callable[[dict[str, Any]], Value]) -> Value:
        """Convert a content that is of this format and version, sound, and as it was written."""
        if len(content) > self.max_bytes:
            raise self.error(f"A {self.noun} must be at most {self.max_bytes >> 20} MiB, got more.")
        try:
            self._check_header(content)
            read = msgspec.json.decode(content)
            value, digest = convert(read), _digest(read)
        except self.error:
            raise
        except _UNSOUND as problem:
            text = getattr(problem, "message", str(problem)) or type(problem).__name__
            text = text.replace(". - at ", " - at ").rstrip(".")
            raise self.error(f"The {self.noun} is damaged: {text}.", self.damaged) from None
        if digest != read.get("digest"):
            raise self.error(
                f"The {self.noun} was changed after it was written: its digest does not match.",
                self.damaged,
            )
        return value

    def signed(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Return the content of a file with its format, its version and its digest."""
        content = {"format": self.format, "format_version": self.version, **fields}
        return {**content, "digest": _digest(content)}

    def _check_header(self, content: bytes) -> None:
        other = self.error(f"This is not a truism {self.noun}.", self.other)
        try:
            header = msgspec.json.decode(content, type=_Header)
        except (msgspec.MsgspecError, RecursionError, ValueError):
            if content.lstrip().startswith(b"{"):
                raise
            raise other from None
        if header.format != self.format:
            raise other
        if header.format_version != self.version:
            raise self.error(
                f"The {self.noun} has format version {header.format_version}, this truism reads "
                f"{self.version}.",
                self.older,
            )


def _digest(content: dict[str, Any]) -> str:
    """Return a digest of a file's content as it was read, whatever this truism would write."""
    encoded = msgspec.json.encode({**content, "digest": ""})
    return hashlib.blake2b(encoded, digest_size=16).hexdigest()
