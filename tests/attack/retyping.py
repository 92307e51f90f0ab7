"""Retyping: a later file that holds only some of the values is read as the model says."""

import csv
import random

from attack.attempts import Bench, Broken, Kind
from attack.program import complaint

# What columns hold in all, of which one file may show only a part that looks like something else.
POOLS = (
    ("12", "13", "A7"),
    ("true", "false", "fault"),
    ("06:00", "18:30", "none"),
    ("2024-01-01", "2024-06-01", "unknown"),
    ("1", "2", "3", "x"),
    ("001", "002", "010"),
    ("1.5", "2,5", "off"),
    ("0", "1", ""),
    ("1e3", "2e3", "high"),
    ("NaN", "nan", "ok"),
    ("1", "1.0", "01"),
    ("yes", "no", "n/a"),
    ("-", "--", "+"),
    ("inf", "1", "2"),
    ("0x10", "16", "32"),
    ("", "only"),
    ("5", "7", "9", "11", "13", "15", "17"),
)


def attempt(draw: random.Random, bench: Bench) -> None:
    """Learn from all values, then check each part of the rows by itself: scores must be the same."""
    n_rows = draw.choice([60, 150])
    pools = draw.sample(POOLS, draw.randint(1, 4))
    columns = [[draw.choice(pool) for _ in range(n_rows)] for pool in pools]
    anchor = [draw.choice(["on", "off"]) for _ in range(n_rows)]
    rows = list(zip(anchor, *columns, strict=True))
    names = ["pump", *(f"c{i}" for i in range(len(pools)))]
    delimiter = draw.choice([",", ";", "\t"])

    def write(name: str, some: list[tuple[str, ...]]) -> None:
        with open(bench.folder / name, "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, delimiter=delimiter)
            writer.writerow(names)
            writer.writerows(some)

    write("all.csv", rows)
    learned = bench.program.run(bench.folder, "learn", "all.csv", "-o", "m.json")
    if complaint(learned, (0, 2)):
        raise Broken(complaint(learned, (0, 2)))
    if learned.code == 2:
        return
    whole = _scores(bench, "all.csv")
    column = draw.randrange(len(names))
    for value in sorted({row[column] for row in rows}):
        part = [i for i, row in enumerate(rows) if row[column] == value]
        write("part.csv", [rows[i] for i in part])
        if _scores(bench, "part.csv") != [whole[i] for i in part]:
            raise Broken(f"{names[column]} = {value!r} alone scores otherwise; values {pools}")


def _scores(bench: Bench, name: str) -> list[str]:
    ended = bench.program.run(bench.folder, "check", name, "-m", "m.json", "--scores", "s.csv")
    if complaint(ended, (0, 1)):
        raise Broken(complaint(ended, (0, 1)))
    with open(bench.folder / "s.csv", encoding="utf-8", newline="") as file:
        return [row["score"] for row in csv.DictReader(file)]


KIND = Kind("retyping", 60, attempt)
