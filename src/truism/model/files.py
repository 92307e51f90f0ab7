"""Model files: a `Model` goes out as JSON that people can read and git can compare, and comes back.

Nothing in a file is executed. A file is read only when everything in it is right (`truism.model.format`)
and its digest fits, so what is read is the model that was written, or a `ModelFileError` says where it
is not.
"""

import hashlib
import inspect
import os
from pathlib import Path
from typing import Any

import msgspec

from truism.errors import ModelFileError, TruismError
from truism.model.format import ModelFile, from_file, to_file
from truism.model.model import Model
from truism.table.atomic import write_atomically

READABLE = (1, 2)
MAX_BYTES = 256 << 20


class _Header(msgspec.Struct, frozen=True):
    format: str = ""
    format_version: int = 0


def encode_model(model: Model) -> bytes:
    """Write a model as UTF-8 JSON in a stable order, one rule a line."""
    file = to_file(model)
    return _layout(msgspec.structs.replace(file, digest=_digest(file)))


def decode_model(content: bytes) -> Model:
    """Read what `encode_model` wrote; refuse anything else."""
    if len(content) > MAX_BYTES:
        raise ModelFileError(
            f"A model file must be at most {MAX_BYTES >> 20} MiB, got {len(content) >> 20} MiB."
        )
    _check_header(content)
    try:
        file = msgspec.json.decode(content, type=ModelFile)
        model = from_file(file)
        encoded = _digest(file)
    except (msgspec.MsgspecError, TruismError, RecursionError, ValueError) as problem:
        if isinstance(problem, ModelFileError):
            raise
        text = getattr(problem, "message", str(problem)) or type(problem).__name__
        text = text.replace(". - at ", " - at ")
        raise ModelFileError(f"The model file is damaged: {text.rstrip('.')}.") from None
    if encoded != file.digest:
        raise ModelFileError(
            "The model file was changed after it was written: its digest does not fit.",
            "restore it, learn it again, or change rules with truism rules --disable and --enable.",
        )
    return model


def save_model(model: Model, path: str | os.PathLike[str]) -> None:
    """Write a model file; a file that is there survives any failure."""
    write_atomically(path, encode_model(model))


def load_model(path: str | os.PathLike[str]) -> Model:
    """Read a model file."""
    place = Path(path)
    try:
        if place.stat().st_size > MAX_BYTES:
            raise ModelFileError(
                f"A model file must be at most {MAX_BYTES >> 20} MiB, "
                f"got {place.stat().st_size >> 20} MiB in {str(place)!r}."
            )
        content = place.read_bytes()
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise ModelFileError(f"The model file {str(place)!r} cannot be read: {reason}.") from None
    try:
        return decode_model(content)
    except ModelFileError as problem:
        raise ModelFileError(f"{problem.message} ({place})", problem.hint) from None


def json_schema() -> dict[str, Any]:
    """Give the JSON Schema of model files."""
    schema = msgspec.json.schema(ModelFile)
    for part in schema["$defs"].values():  # newer Pythons take the indentation off docstrings
        if "description" in part:
            part["description"] = inspect.cleandoc(part["description"])
    for side in ("low", "high"):  # an open side is absent; JSON has no infinity to default to
        del schema["$defs"]["Interval"]["properties"][side]["default"]
    return schema


_OPTIONAL = ("threshold_meaning", "units", "usual", "grave", "spacings", "splits", "contexts")


def _layout(file: ModelFile) -> bytes:
    """Indent one level, and give every element of a list a line of its own."""
    lines = []
    for name in file.__struct_fields__:
        value = getattr(file, name)
        if name in _OPTIONAL and not value:
            continue
        if isinstance(value, tuple) and value and name != "units":
            items = ",\n".join(f"    {msgspec.json.encode(each).decode()}" for each in value)
            text = f"[\n{items}\n  ]"
        else:
            text = msgspec.json.encode(value).decode()
        lines.append(f'  "{name}": {text}')
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def _digest(file: ModelFile) -> str:
    content = msgspec.json.encode(msgspec.structs.replace(file, digest=""))
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def _not_a_model() -> ModelFileError:
    return ModelFileError(
        "This is not a truism model file.", "write one with truism learn or detector.save."
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
    if header.format_version not in READABLE:
        raise ModelFileError(
            f"The model file has format version {header.format_version}, this truism reads "
            f"{' and '.join(str(each) for each in READABLE)}.",
            "use the version of truism that wrote it, or learn it again.",
        )
