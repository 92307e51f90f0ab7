"""Model files: a `Model` goes out as JSON that people can read and git can compare, and comes back.

Nothing in a file is executed. A file is accepted only if everything in it is right
(`truism.model.format`) and its digest matches. So the result is the model that was written, or a
`ModelFileError` that says where it is not.
"""

import hashlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from truism.errors import ModelFileError, TruismError
from truism.model.contents import FORMAT_VERSION, SECTIONS, ModelFile
from truism.model.format import from_file, to_file
from truism.model.model import Model
from truism.table.atomic import alone_with, write_atomically

MAX_BYTES = 256 << 20
_LISTS = ("variables", "left_out", "disabled", "predicates", "rules", "accepted")
_SECTION_LISTS = {
    "evidence": ("usual", "spacings", "splits", "contexts"),
    "reading": ("columns",),
}


class _Header(msgspec.Struct, frozen=True):
    format: str = ""
    format_version: int = 0
    sections: dict[str, int] = {}


def encode_model(model: Model) -> bytes:
    """Return a model as UTF-8 JSON in a stable order, with one rule per line."""
    content = msgspec.json.decode(msgspec.json.encode(to_file(model)))
    content["digest"] = _digest(content)
    return _layout(content)


def decode_model(content: bytes) -> Model:
    """Read what `encode_model` wrote; refuse anything else."""
    if len(content) > MAX_BYTES:
        raise ModelFileError(
            f"A model file must be at most {MAX_BYTES >> 20} MiB, got {len(content) >> 20} MiB."
        )
    _check_header(content)
    try:
        read = msgspec.json.decode(content)
        file = msgspec.convert(read, ModelFile)
        model = from_file(file)
        digest = _digest(read)
    except (msgspec.MsgspecError, TruismError, RecursionError, ValueError, TypeError) as problem:
        if isinstance(problem, ModelFileError):
            raise
        text = getattr(problem, "message", str(problem)) or type(problem).__name__
        text = text.replace(". - at ", " - at ")
        raise ModelFileError(f"The model file is damaged: {text.rstrip('.')}.") from None
    if digest != file.digest:
        raise ModelFileError(
            "The model file was changed after it was written: its digest does not match.",
            "restore it, or learn it again; rules can be switched off without editing the file.",
        )
    return model


def save_model(model: Model, path: str | os.PathLike[str]) -> None:
    """Write a model file; an existing file survives any failure."""
    write_atomically(path, encode_model(model))


def load_model(path: str | os.PathLike[str]) -> Model:
    """Read a model file."""
    place = Path(path)
    try:
        size = place.stat().st_size
        with place.open("rb") as file:  # a device has no size, and may have no end
            content = b"" if size > MAX_BYTES else file.read(MAX_BYTES + 1)
        if size > MAX_BYTES or len(content) > MAX_BYTES:
            found = f"{size >> 20} MiB" if size else "more"
            raise ModelFileError(
                f"A model file must be at most {MAX_BYTES >> 20} MiB, got {found} in {str(place)!r}."
            )
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise ModelFileError(f"The model file {str(place)!r} cannot be read: {reason}.") from None
    try:
        return decode_model(content)
    except ModelFileError as problem:
        raise ModelFileError(f"{problem.message} ({place})", problem.hint) from None


def edit_model(path: str | os.PathLike[str], change: Callable[[Model], Model]) -> Model:
    """Read a model, change it and write it back, and let nobody else do so meanwhile.

    Parameters
    ----------
    path
        The model file.
    change
        What to do with the model; if it fails, the file stays as it is.

    Returns
    -------
    edited
        The model that was written.

    """
    try:
        with alone_with(path) as unchanged:
            edited = change(load_model(path))
            if not unchanged():
                raise ModelFileError(
                    f"The model file {os.fspath(path)!r} was changed by another program meanwhile.",
                    "nothing was written; try again.",
                )
            save_model(edited, path)
    except BlockingIOError:
        raise ModelFileError(
            f"The model file {os.fspath(path)!r} is being changed by another program.",
            "try again when that has finished.",
        ) from None
    return edited


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of model files."""
    schema = msgspec.json.schema(ModelFile)
    for side in ("low", "high"):  # an open side is absent; JSON has no infinity to default to
        del schema["$defs"]["Interval"]["properties"][side]["default"]
    return schema


def _layout(content: dict[str, Any]) -> bytes:
    """Indent one level, and put every element of a list on a line of its own."""
    lines = []
    for name, value in content.items():
        if name in _SECTION_LISTS:
            parts = [_entry(key, each, 4, _SECTION_LISTS[name]) for key, each in value.items()]
            lines.append(f'  "{name}": {{\n' + ",\n".join(parts) + "\n  }")
        else:
            lines.append(_entry(name, value, 2, _LISTS))
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def _entry(name: str, value: Any, indent: int, lists: Sequence[str]) -> str:
    blank = " " * indent
    if name in lists and value:
        items = ",\n".join(f"{blank}  {msgspec.json.encode(each).decode()}" for each in value)
        return f'{blank}"{name}": [\n{items}\n{blank}]'
    return f'{blank}"{name}": {msgspec.json.encode(value).decode()}'


def _digest(content: dict[str, Any]) -> str:
    """Return a digest of a file's content as it was read, whatever this truism would write."""
    encoded = msgspec.json.encode({**content, "digest": ""})
    return hashlib.blake2b(encoded, digest_size=16).hexdigest()


def _not_a_model() -> ModelFileError:
    return ModelFileError(
        "This is not a truism model file.", "learn a model from normal rows, and save it."
    )


def _check_header(content: bytes) -> None:
    try:
        header = msgspec.json.decode(content, type=_Header)
    except (msgspec.MsgspecError, RecursionError, ValueError) as problem:
        if not content.lstrip().startswith(b"{"):
            raise _not_a_model() from None
        raise ModelFileError(f"The model file is damaged: {str(problem).rstrip('.')}.") from None
    if header.format != "truism-model":
        raise _not_a_model()
    if header.format_version != FORMAT_VERSION:
        raise ModelFileError(
            f"The model file has format version {header.format_version}, this truism reads "
            f"{FORMAT_VERSION}.",
            "learn the model again.",
        )
    for name, version in header.sections.items():
        if SECTIONS.get(name) != version:
            raise ModelFileError(
                f"The model file has a section {name!r} of version {version}, which this truism does "
                f"not know.",
                "learn the model again.",
            )
