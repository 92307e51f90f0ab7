"""Files one below the other: parts of a table go in, one Arrow table comes out.

If files disagree about what a column holds, the column is read again as the texts that the files contain,
and all of them together decide.
"""

from collections.abc import Sequence

import pyarrow as pa

from truism.errors import TableError, shorten
from truism.table.files.sources import Part, naming
from truism.table.layouts import Layout


def stack(parts: Sequence[Part], layout: Layout) -> pa.Table:
    """Put files one below the other; a column that they disagree about becomes text."""
    first = parts[0].frame
    for part in parts[1:]:
        with naming(part.place):
            check_same_columns(parts[0].name, first.column_names, part.frame.column_names)
    frames = [part.frame.select(first.column_names) for part in parts]
    written_out = write_out([frame.schema for frame in frames])
    frames = [_as_in(schema, frame) for frame, schema in zip(frames, written_out, strict=True)]
    differing = find_differing([frame.schema for frame in frames])
    if differing:
        frames = [
            _with_texts(part, frame, differing, layout)
            for part, frame in zip(parts, frames, strict=True)
        ]
    return _concatenated(parts, frames)


def _as_in(schema: pa.Schema, frame: pa.Table) -> pa.Table:
    """Return a table whose columns have the types of a schema."""
    for place, field in enumerate(schema):
        if frame.schema.field(place).type != field.type:
            frame = frame.set_column(place, field, frame.column(place).cast(field.type))
    return frame


def write_out(schemas: Sequence[pa.Schema]) -> list[pa.Schema]:
    """Return types without lists of texts that only some of the files have, or have in another form.

    >>> listed, plain = pa.dictionary(pa.int8(), pa.string()), pa.string()
    >>> [each.field("x").type for each in write_out([pa.schema({"x": t}) for t in (listed, plain)])]
    [DataType(string), DataType(string)]
    """
    mixed = {
        name for name in schemas[0].names if len({each.field(name).type for each in schemas}) > 1
    }

    def written(field: pa.Field) -> pa.Field:
        listed = field.name in mixed and pa.types.is_dictionary(field.type)
        if not listed or _family(field.type.value_type) != "text":
            return field
        return field.with_type(field.type.value_type)

    return [pa.schema(map(written, each), each.metadata) for each in schemas]


def find_differing(schemas: Sequence[pa.Schema]) -> list[str]:
    """Return the columns about which files disagree."""
    return [
        name
        for name in schemas[0].names
        if len({_family(each.field(name).type) for each in schemas} - {"empty"}) > 1
    ]


def _family(kind: pa.DataType) -> str:
    """Return what types can be put one below the other without another look."""
    if pa.types.is_null(kind):
        return "empty"
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return "number"
    if pa.types.is_timestamp(kind):
        return "time" if kind.tz is None else "zoned time"
    if pa.types.is_date(kind):
        return "time"
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return "text"
    return str(kind)


def _with_texts(part: Part, frame: pa.Table, names: Sequence[str], layout: Layout) -> pa.Table:
    """Read columns again as the texts that stand in a CSV file; whole numbers elsewhere are exact."""
    guessed = [
        name for name in names if _family(frame.schema.field(name).type) not in ("text", "empty")
    ]
    if not guessed:
        return frame
    if part.dialect is None:
        guessed = [name for name in guessed if pa.types.is_integer(frame.schema.field(name).type)]
        texts = pa.table({name: frame.column(name).cast(pa.string()) for name in guessed})
    else:
        texts = part.as_texts(guessed, layout)
    for name in guessed:
        frame = frame.set_column(frame.column_names.index(name), name, texts.column(name))
    return frame


def _concatenated(parts: Sequence[Part], frames: Sequence[pa.Table]) -> pa.Table:
    try:
        return pa.concat_tables(frames, promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        pass
    for name in frames[0].column_names:
        known = frames[0].schema.field(name).type
        for part, frame in zip(parts[1:], frames[1:], strict=True):
            found = frame.schema.field(name).type
            try:
                schemas = [pa.schema([(name, known)]), pa.schema([(name, found)])]
                known = pa.unify_schemas(schemas, promote_options="permissive").field(name).type
            except (pa.ArrowInvalid, pa.ArrowTypeError):
                raise TableError(
                    f"Column {name!r} holds {found} in {part.name} and {known} in the files before it.",
                    "columns must hold the same kind of values in every file.",
                ) from None
    raise AssertionError("some column must be in the way")


def check_same_columns(first: str, known: Sequence[str], found: Sequence[str]) -> None:
    """Refuse a file whose columns are not those of the first one, whose name is given."""
    lacks = [name for name in known if name not in found]
    adds = [name for name in found if name not in known]
    if not lacks and not adds:
        return
    parts = [f"lacks {shorten(lacks)}"] * bool(lacks) + [f"adds {shorten(adds)}"] * bool(adds)
    raise TableError(
        f"The columns differ from those of {first}: it {' and '.join(parts)}.",
        "files that are read as one table must have the same columns.",
    )
