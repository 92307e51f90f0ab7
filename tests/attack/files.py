"""Odd files on the command line: looked at, learned from and checked, or refused in one sentence."""

import gzip
import os
import random
import sqlite3
from collections.abc import Callable
from pathlib import Path

import duckdb
import openpyxl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as parquet

from attack.attempts import Bench, Broken, Kind
from attack.columns import NAMES, TEXTS, as_arrow, odd_columns
from attack.program import complaint
from truism.errors import TruismError
from truism.model.files import load_model

CANARY = "canary 31415"  # stands in a file that no command is given
CORPUS = Path(__file__).resolve().parents[1] / "data" / "odd"
ENCODINGS = ("utf-8", "utf-8", "utf-8-sig", "utf-16", "latin-1", "utf-32", "cp1252")


def attempt(draw: random.Random, bench: Bench) -> None:
    """Write an odd file, and run commands on it."""
    name = draw.choice(MAKERS)(draw, bench.folder)
    later = draw.choice([name, draw.choice(MAKERS)(draw, bench.folder)])
    options = _options(draw)
    _run(bench, "look", name, *options)
    page = ["--report", "l.html"] if draw.random() < 0.3 else []
    _run(bench, "look", name, "--format", "json", *page)
    if _run(bench, "learn", name, "-o", "m.json", *options) != 0:
        if (bench.folder / "m.json").exists():
            raise Broken("a model was written, and yet the command failed")
        return
    try:
        load_model(bench.folder / "m.json")
    except TruismError as problem:
        raise Broken(f"the model cannot be read again: {problem}") from problem
    if _run(bench, "check", name, "-m", "m.json", "--scores", "s.csv", *options) == 2:
        raise Broken("the table that was learned from is refused")
    _run(bench, "check", later, "-m", "m.json", "--report", "r.html", "--threshold", "0")
    _run(bench, "check", later, "-m", "m.json", "--allow-missing", "--format", "json")
    _run(bench, "status", later, "-m", "m.json")
    _run(bench, "compare", "m.json", "m.json", "--on", later)
    accept = ("accept", later, "-m", "m.json", "-o", "m.json", "--rows", "0:5", "--reason", "why")
    if _run(bench, *accept) == 0 and draw.random() < 0.5:
        _run(bench, "learn", name, "-o", "n.json", "--accepted", "m.accepted.parquet", *options)
    _run(bench, "explain", name, "-m", "m.json", "--row", str(draw.randint(-2, 9)))
    form = draw.choice(["markdown", "json", "dbt", "odcs", "great-expectations"])
    _run(bench, "export", "m.json", "--to", form)
    _run(bench, "rules", "m.json", "--format", draw.choice(["table", "csv", "jsonl"]))


def _options(draw: random.Random) -> list[str]:
    choices = (
        *(
            ["--strict"],
            ["--no-header"],
            ["--decimal", ","],
            ["--missing", "a"],
            ["--delimiter", ";"],
        ),
        *(["--encoding", "latin-1"], ["--time", "time"], ["--zone", "Europe/Vienna"]),
        *(["--every", "10s"], ["--time-format", "day first"], ["--rename", "a=b"]),
    )
    return draw.choice(choices) if draw.random() < 0.3 else []


def _run(bench: Bench, *arguments: str) -> int:
    ended = bench.program.run(bench.folder, *arguments)
    problem = complaint(ended)
    if problem is not None:
        raise Broken(problem)
    if CANARY.encode() in ended.out or CANARY in ended.error:
        raise Broken(f"a file was shown that was not asked for by {ended.said()}")
    drafts = [name for name in os.listdir(bench.folder) if name.endswith(".draft")]
    if drafts:
        raise Broken(f"a draft was left behind by {ended.said()}")
    return ended.code


# --- odd files ---


def _cells(draw: random.Random) -> list[list[str]]:
    n_columns = draw.choice([1, 2, 3, 5, 5, 40])
    pools = [draw.sample(TEXTS, draw.randint(1, 5)) for _ in range(n_columns)]
    names = [draw.choice(NAMES) for _ in range(n_columns)]
    if draw.random() < 0.7:
        names = [f"{name}{i}" for i, name in enumerate(names)]
    rows = [[draw.choice(pool) for pool in pools] for _ in range(draw.choice([0, 1, 2, 30, 60]))]
    for row in rows:
        row[0] = draw.choice(["on", "off"])
        if n_columns > 2:
            row[1] = f"{draw.gauss(0, 1):.3f}"
    return [names, *rows]


def texts(draw: random.Random, folder: Path) -> str:
    """Write a CSV file with odd cells, in an odd dialect and encoding."""
    delimiter = draw.choice([",", ",", ";", "\t", "|", " "])
    end = draw.choice(["\n", "\r\n", "\r"])
    quote = draw.choice(["always", "needed", "never"])

    def shown(cell: str) -> str:
        if quote == "always" or (quote == "needed" and set(cell) & {delimiter, '"', "\n", "\r"}):
            return '"' + cell.replace('"', '""') + '"'
        return cell

    text = end.join(delimiter.join(map(shown, row)) for row in _cells(draw))
    text += draw.choice(["", end, end * 3, "\x1a", "\x00" * 20])
    content = text.encode(draw.choice(ENCODINGS), errors="replace")
    return _bent(draw, content, folder, draw.choice([".csv", ".csv", ".txt", ".tsv", ".csv.gz"]))


def corpus(draw: random.Random, folder: Path) -> str:
    """Take an odd file that is known, and damage it."""
    source = draw.choice(sorted(path for path in CORPUS.iterdir() if path.suffix != ".json"))
    return _bent(draw, source.read_bytes(), folder, "".join(source.suffixes[-2:]))


def tables(draw: random.Random, folder: Path) -> str:
    """Write a table of odd columns for other programs, and sometimes damage the file."""
    table = as_arrow(draw, odd_columns(draw, draw.choice([0, 1, 30, 60]), draw.randint(1, 5)))
    ending = draw.choice([".parquet", ".feather", ".arrow", ".jsonl", ".sqlite"])
    sink = pa.BufferOutputStream()
    place = folder / f"base{ending}"
    try:
        if ending == ".parquet":
            parquet.write_table(table, sink)
            content = sink.getvalue().to_pybytes()
        elif ending == ".sqlite":
            content = _database(draw, place)
        elif ending == ".jsonl":
            content = _lines(draw)
        else:
            feather.write_feather(table, sink, compression="uncompressed")
            content = sink.getvalue().to_pybytes()
    except (pa.ArrowException, ValueError, TypeError):
        content = b""
    place.unlink(missing_ok=True)
    return _bent(draw, content, folder, ending)


def _database(draw: random.Random, place: Path) -> bytes:
    base = sqlite3.connect(place)
    base.execute('create table "t;""x" (a, "b c" real, c text)')
    values = [None, 1, 2.5, "x", b"\xff", 2**62]
    base.executemany(
        'insert into "t;""x" values (?, ?, ?)',
        [[draw.choice(values) for _ in range(3)] for _ in range(30)],
    )
    base.commit()
    base.close()
    return place.read_bytes()


def _lines(draw: random.Random) -> bytes:
    choices = (
        *('{"a": 1, "b": "x"}', '{"a": 2.5, "b": null}', '{"b": "y"}', '{"a": {"c": [1]}}', "[]"),
        *('{"a": 1, "a": 2}', '{"a": 1e999}', '{"a": "\\ud800"}', "null", "", '{"a": true}', "{"),
    )
    few = draw.sample(choices, draw.randint(1, 4)) + list(choices[:2]) * 3
    return "\n".join(draw.choice(few) for _ in range(40)).encode()


def _bent(draw: random.Random, content: bytes, folder: Path, ending: str) -> str:
    """Write content, sometimes damaged, under a name that may be odd."""
    if content and draw.random() < 0.25:
        at = draw.randrange(len(content))
        middle = bytes(draw.randrange(256) for _ in range(draw.choice([0, 1, 9])))
        content = content[:at] + middle + content[at + draw.choice([0, 1, 50, 10**6]) :]
    if ending == ".csv.gz" and draw.random() < 0.9:
        content = gzip.compress(content)
    name = draw.choice(["t", "t", "t", "a b", "é", "-x", "=1+1", "'", "a\nb", "[x]", "x" * 200])
    name = f"{name}{draw.randrange(10**6)}{ending}"
    (folder / name).write_bytes(content)
    return name if not name.startswith("-") else f"./{name}"


def places(draw: random.Random, folder: Path) -> str:
    """Return what is no ordinary file: a folder, a link that leads nowhere, a device."""
    name = f"place{draw.randrange(10**6)}"
    match draw.randrange(5):
        case 0:
            (folder / name).symlink_to(draw.choice([name, "nowhere"]))
        case 1:
            (folder / name).mkdir()
            for _ in range(draw.randint(0, 3)):
                draw.choice((texts, corpus, tables))(draw, folder / name)
        case 2:
            return draw.choice(["/dev/zero", "/dev/null", "/proc/self/mem", "/dev/full", "."])
        case 3:
            return draw.choice(["-", "", "*.csv", "[", "http://x.invalid/t.csv", "\udcff.csv"])
        case _:
            (folder / f"{name}.csv").write_bytes(b"")
            return f"{name}.csv"
    return name


def asking(draw: random.Random, folder: Path) -> str:
    """Write a file that asks for other files."""
    name = f"today{draw.randrange(10**6)}.csv"
    secret = folder / "secret"
    secret.write_text(f"a,b\n{CANARY},1\n" * 30)
    if draw.random() < 0.3:
        with sqlite3.connect(folder / name) as lite:
            lite.execute("create view v as select load_extension('x'), * from pragma_database_list")
        lite.close()
        return name
    view = draw.choice(["read_csv", "read_text", "glob", "sniff_csv"]) + f"('{secret}')"
    with duckdb.connect(folder / name) as duck:
        duck.execute(f"create view v as select * from {view}")
    return name


def small(draw: random.Random, folder: Path) -> str:
    """Write a small file that would be large once it is read, or takes long to read."""
    name = f"today{draw.randrange(10**6)}.csv"
    size = draw.choice([100, 1_000, 10_000, 100_000])
    match draw.randrange(4):
        case 0:
            opening, closing = draw.choice([('{"y":', "}"), ("[", "]"), ('{"y":[', "]}")])
            text = '{"x": ' + opening * size + "1" + closing * size + "}\n"
            (folder / name).write_text(text * 3)
        case 1:
            book = openpyxl.Workbook()
            book.active.append(["a", "b"])
            book.active.cell(draw.choice([2, 10 * size, 2**20]), draw.choice([2, 999, 2**14]), 1)
            book.save(folder / name)
        case 2:
            n = 100 * min(size, 10_000)
            table = pa.table({"x": ["a" * 10_000, "b"] * (n // 200), "y": [1.0, 2.0] * (n // 200)})
            parquet.write_table(table, folder / name)
        case 3:
            signs = draw.choice(
                ["QUJD", " ", "1,", "1 ", "-", "12:30 ", "a=b ", "aA1", "é", "''", "["]
            )
            long = (signs * size)[:size] + draw.choice(["", "x", "é", "!"])
            first = draw.choice(["a;b", f"{long};b", long])
            rows = "".join(f"{i};{long if i == 30 else draw.random()}\n" for i in range(60))
            text = draw.choice([f"{first}\n{rows}", long])
            (folder / name).write_text(text, draw.choice(["utf-8", "cp1252"]))
    return name


MAKERS: tuple[Callable[[random.Random, Path], str], ...] = (
    *(texts, texts, corpus, tables, places),
    *(asking, small),
)
KIND = Kind("files", 150, attempt)
