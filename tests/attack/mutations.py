"""Mutations: a file that truism wrote and somebody damaged or crafted is refused, or works."""

import contextlib
import copy
import io
import json
import math
import random
import warnings
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet

from attack.attempts import Bench, Broken, Kind
from attack.columns import NAMES, as_arrow, odd_columns
from attack.program import complaint
from truism.errors import TruismError
from truism.explain.checker import Checker
from truism.explain.states import decode_state, encode_state, proceed
from truism.model.files import decode_model
from truism.review.ledgers import MARKS, read_ledger
from truism.table import versioned
from truism.table.files import read


class Document(NamedTuple):
    """A kind of file that truism writes and reads again."""

    craft: Callable[[random.Random, bytes], bytes]  # changes what it says; still a file of its kind
    use: Callable[[bytes, Bench], None]  # reads it, and does something with it
    n_files: int = 25  # in an attempt


def _sign(plain: dict[str, Any]) -> None:
    plain["digest"] = versioned._digest(plain)


@lru_cache
def _today(folder: Path) -> Any:
    return read([str(folder / "today.csv")]).table


def _use_model(content: bytes, bench: Bench) -> None:
    model = decode_model(content)
    checker = Checker(model)
    try:
        table = checker.prepare(_today(bench.samples.folder))
    except TruismError:  # it was changed into a model of another table
        return
    found = checker.find(table)
    if not np.isfinite(found.scores).all():
        raise Broken("scores are not finite")
    str(found.incidents)
    str(checker.explain(table, np.arange(3)))


@lru_cache
def _job(folder: Path) -> tuple[Checker, Any]:
    model = decode_model((folder / "m.json").read_bytes())
    return Checker(model), read([str(folder / "second.csv")]).table


def _use_state(content: bytes, bench: Bench) -> None:
    state = decode_state(content)
    checker, table = _job(bench.samples.folder)
    step = proceed(checker, table, state)
    if not np.isfinite(step.findings.scores).all():
        raise Broken("scores are not finite")
    str(step.findings.incidents)
    str(step.changes)
    decode_state(encode_state(step.state))


def _use_ledger(content: bytes, bench: Bench) -> None:
    """Learn with the rows of a ledger, accept another row into it, and take one back."""
    bench.samples.copy_to(bench.folder)
    place = bench.folder / "taken.accepted.parquet"
    for line in (
        "learn today.csv -o out.json --accepted taken.accepted.parquet",
        "accept today.csv --rows OTHER -m taken.json -o taken.json --reason why",
        "accept --undo TAKEN -m taken.json -o taken.json",
    ):
        place.write_bytes(content)
        ended = bench.program.run(bench.folder, *bench.samples.filled(line))
        problem = complaint(ended)
        if problem is not None:
            raise Broken(problem)
        if ended.code == 2 and place.read_bytes() != content:
            raise Broken(f"a ledger was changed, and yet {ended.said()}")
        if ended.code == 0:
            read_ledger(place)


def bent(draw: random.Random, content: bytes) -> bytes:
    """Change bytes: flip, cut, repeat, insert."""
    at, until = sorted(draw.randrange(len(content) + 1) for _ in range(2))
    match draw.randrange(6):
        case 0:
            return content[:at]
        case 1:
            return content[:at] + content[until:]
        case 2:
            return content[:until] + content[at:]
        case 3:
            return content[:at] + bytes(draw.randrange(256) for _ in range(9)) + content[at:]
        case 4:
            return draw.choice([b"", b"\xef\xbb\xbf", b"[" * 10**5, b"null", b"{}"]) + content[:0]
        case _:
            flipped = bytearray(content)
            for _ in range(draw.randint(1, 5)):
                flipped[draw.randrange(len(flipped))] ^= 1 << draw.randrange(8)
            return bytes(flipped)


def crafted(sign: Callable[[dict[str, Any]], None], draw: random.Random, content: bytes) -> bytes:
    """Change values of a JSON document, and sign it anew."""
    plain = json.loads(content)
    for _ in range(draw.choice([1, 1, 1, 2, 5])):
        _alter(draw, plain)
    with contextlib.suppress(ValueError, OverflowError):  # half of a character, a huge number
        sign(plain)
    return json.dumps(plain).encode()


STRANGE = (
    *(None, True, False, 0, -1, 1, 2, 10**9, 2**63, -(2**63) - 1, 10**30, 0.5, -0.0, 1e308, -1e308),
    *(
        5e-324,
        math.nan,
        math.inf,
        "",
        "a",
        "\x00",
        "\ud800",
        "x" * 10000,
        "2024-13-45",
        [],
        {},
        [[]],
    ),
    *([None], [1, "a"], {"a": 1}, "auto", "P101", "pump", "on", "text", "number", "idna"),
    [f"word {i}" for i in range(40_000)],
)


def _places(plain: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every value below, as what holds it and where."""
    for key, below in plain.items() if isinstance(plain, dict) else enumerate(plain):
        yield plain, key
        if isinstance(below, dict | list):
            yield from _places(below)


def _alter(draw: random.Random, plain: Any) -> None:
    """Change a value somewhere below: few of what is written stand near the top."""
    plain, key = draw.choice(list(_places(plain)))
    below = plain[key]
    match draw.randrange(8):
        case 0:
            del plain[key]
        case 7 if isinstance(below, list):
            plain[key] = below * draw.choice([2, 100, 3000])
        case 1 if isinstance(below, int | float):
            plain[key] = draw.choice([-below, below + 1, below * 1e6, below / 3, below * 2**40])
        case 2 if isinstance(plain, list):
            plain.insert(draw.randrange(len(plain)), below)
        case 3 if isinstance(plain, list):
            draw.shuffle(plain)
        case 4 if isinstance(plain, dict):
            plain[draw.choice(["surprise", *plain])] = draw.choice([*plain.values()])
        case 5 if isinstance(plain, list):
            other = draw.randrange(len(plain))
            plain[key], plain[other] = plain[other], plain[key]
        case _:
            plain[key] = copy.deepcopy(draw.choice(STRANGE))


def recast(draw: random.Random, content: bytes) -> bytes:
    """Change rows, columns, names and types of a table in a Parquet file."""
    table = parquet.read_table(io.BytesIO(content))
    for _ in range(draw.choice([1, 1, 1, 2, 5])):
        table = _other(draw, table)
    sink = pa.BufferOutputStream()
    try:
        parquet.write_table(table, sink)
    except (pa.ArrowException, ValueError):  # Parquet has no such type
        return content
    return sink.getvalue().to_pybytes()


def _other(draw: random.Random, table: pa.Table) -> pa.Table:
    """Return a table that differs in one way."""
    at = draw.randrange(table.num_columns) if table.num_columns else 0
    names = list(table.column_names)
    match draw.randrange(6) if names else 0:
        case 0:
            return table.slice(0, draw.choice([0, 1]))
        case 1:
            return table.remove_column(at)
        case 2:
            names[at] = draw.choice([*NAMES, *MARKS, *names])
            return table.rename_columns(names)
        case 3:
            values = pa.nulls(table.num_rows, draw.choice([pa.null(), table.schema.types[at]]))
        case 4:
            return pa.concat_tables([table] * draw.choice([2, 50]))
        case _:
            values = as_arrow(draw, odd_columns(draw, table.num_rows, 1)).column(0)
    return table.set_column(at, names[at], values)


DOCUMENTS = {
    "job.state": Document(partial(crafted, _sign), _use_state),
    "m.json": Document(partial(crafted, _sign), _use_model),
    "other.json": Document(partial(crafted, _sign), _use_model),
    "taken.accepted.parquet": Document(recast, _use_ledger, n_files=5),
}


def attempt(draw: random.Random, bench: Bench) -> None:
    """Damage a file in some ways, one at a time."""
    name = draw.choice(sorted(DOCUMENTS))
    document = DOCUMENTS[name]
    content = (bench.samples.folder / name).read_bytes()
    for _ in range(document.n_files):
        change = document.craft if draw.random() < 0.7 else bent
        changed = change(draw, content)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                document.use(changed, bench)
            except TruismError as problem:
                if not str(problem).strip():
                    raise Broken("refused without a word") from problem
            except BaseException:
                (bench.folder / name).write_bytes(changed)
                raise


KIND = Kind("mutations", 80, attempt)
