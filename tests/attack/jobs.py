"""Jobs: files whose times are odd, one after the other; no state is written that cannot be read again."""

import datetime
import json
import random
from pathlib import Path

from attack.attempts import Bench, Broken, Kind
from attack.program import complaint
from truism.errors import StateError
from truism.explain.states import read_state

FILLERS = (
    *("0001-01-01 00:00:00", "1601-01-01 00:00:00", "1900-01-01 00:00:00", "1970-01-01 00:00:00"),
    *("2106-02-07 06:28:15", "2255-06-05 23:47:34", "9999-12-31 23:59:59", ""),
)
BEGINS = (
    "2024-03-01 00:00:00",
    "2024-03-31 01:30:00",
    "2024-10-27 01:30:00",
    "1700-01-01 00:00:00",
)
ZONES = ("UTC", "Europe/Vienna", "America/New_York", "-11:30")
STEPS = (10, 60, 60, 3600, 86_400, 4 * 10**8)  # seconds


def attempt(draw: random.Random, bench: Bench) -> None:
    """Check one file after the other, each of them twice."""
    head, *lines = (bench.samples.folder / "today.csv").read_text().splitlines()
    (bench.folder / "m.json").write_bytes((bench.samples.folder / "m.json").read_bytes())
    options = draw.choice([(), ("--zone", draw.choice(ZONES))])
    moment, step = datetime.datetime.fromisoformat(draw.choice(BEGINS)), draw.choice(STEPS)
    suffix = draw.choice(["", "Z", "+02:00"])
    for _ in range(draw.randint(2, 6)):
        rows, silent = [], False
        for _ in range(draw.choice([1, 20, 60])):
            moment += datetime.timedelta(seconds=step)
            odd = draw.random() < 0.03
            time = draw.choice(FILLERS) if odd else f"{moment:%Y-%m-%d %H:%M:%S}"
            silent |= not time
            rows.append(f"{time}{suffix if time else ''},{draw.choice(lines).partition(',')[2]}")
        (bench.folder / "part.csv").write_text("\n".join([head, *rows, ""]))
        code = _check(bench, options)
        if code != 2 and not silent:
            _check(bench, options, again=True)
        if draw.random() < 0.2:  # a clock that steps back, or another zone
            moment -= datetime.timedelta(hours=draw.choice([1, 2, 30]))
            suffix = draw.choice([suffix, "", "Z"])


def _check(bench: Bench, options: tuple[str, ...], *, again: bool = False) -> int:
    line = "check part.csv -m m.json --state a.state --format events"
    ended = bench.program.run(bench.folder, *line.split(), *options)
    problem = complaint(ended, (0, 1, 2))
    if problem is not None:
        raise Broken(problem)
    try:
        read_state(Path(bench.folder / "a.state"))
    except StateError as damaged:
        raise Broken(f"the state cannot be read: {damaged}") from damaged
    if again and b'"opened"' in ended.out:
        opened = [json.loads(each)["started"] for each in ended.out.splitlines()]
        raise Broken(f"rows were checked twice: {opened}")
    if again and ended.code == 2 and "in the future" not in ended.error:
        raise Broken(f"the same file is refused: {ended.said()}")
    return ended.code


KIND = Kind("jobs", 60, attempt)
