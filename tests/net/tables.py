"""Small tables that are the same on every machine: drawn as whole numbers, written as decimals.

Each has normal rows to learn from and later rows to check, of which some are wrong on purpose.
"""

import csv
import datetime
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

Columns = Mapping[str, list[Any]]


@dataclass(frozen=True)
class Table:
    """Columns to learn from, columns to check, and for each row to check whether it is wrong."""

    normal: Columns
    later: Columns
    wrong: list[bool]


class Draw:
    """Numbers drawn with a seed; only whole ones, so that no machine rounds them differently."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)

    def whole(self, low: int, high: int, n: int) -> list[int]:
        """Draw `n` numbers from `low` to `high`."""
        return self._random.integers(low, high, n, endpoint=True).tolist()

    def bell(self, width: int, n: int) -> list[int]:
        """Draw `n` numbers about 0, most of them near it."""
        parts = [self.whole(-width, width, n) for _ in range(4)]
        return [sum(each) // 2 for each in zip(*parts, strict=True)]

    def share(self, percent: int, n: int) -> list[bool]:
        """Draw `n` truths, of which about so many percent are true."""
        return [each < percent for each in self.whole(0, 99, n)]


def numbers() -> Table:
    """Quantities of which some follow others, and rows in which they no longer do."""

    def draw(n: int, seed: int, percent: int) -> tuple[Columns, list[bool]]:
        random, wrong = Draw(seed), Draw(seed + 1).share(percent, n)
        load = random.whole(100, 900, n)
        noise, other = random.bell(20, n), random.whole(100, 900, n)
        power = [(other[i] if wrong[i] else load[i]) * 2 + each for i, each in enumerate(noise)]
        heat = [300 + (each if each > 500 else 0) + random.bell(5, 1)[0] for each in load]
        speed = [1500 if each < 300 else 3000 for each in load]
        return {
            "load": [each / 10 for each in load],
            "power": [each / 100 for each in power],
            "heat": [each / 10 for each in heat],
            "speed": speed,
            "hum": [each / 1000 for each in random.bell(400, n)],
            "count": random.whole(0, 12, n),
        }, wrong

    return Table(draw(600, 1, 0)[0], *draw(250, 3, 12))


def states() -> Table:
    """Texts, truths and few numbers; wrong rows break what one says of another, or hold new states."""

    def draw(n: int, seed: int, percent: int) -> tuple[Columns, list[bool]]:
        random, wrong = Draw(seed), Draw(seed + 1).share(percent, n)
        mode = random.whole(0, 3, n)
        site = random.whole(0, 4, n)
        recipe = [each + 4 * (i % 2) for i, each in enumerate(mode)]
        pump = [(each in (1, 2)) != wrong[i] for i, each in enumerate(mode)]
        kinds = ["off", "fill", "run", "drain"]
        return {
            "mode": ["manual" if wrong[i] and i % 3 == 0 else kinds[m] for i, m in enumerate(mode)],
            "site": [f"site {'ABCDE'[each]}" for each in site],
            "recipe": [f"R{each}" for each in recipe],
            "pump": pump,
            "valve": [0 if each == 0 else 2 if each == 3 else 1 for each in mode],
            "shift": [("early", "late", "night")[each] for each in random.whole(0, 2, n)],
            "grade": [("A", "B")[each in (2, 4)] for each in site],
        }, wrong

    return Table(draw(800, 11, 0)[0], *draw(240, 13, 10))


def missing() -> Table:
    """Numbers and states with holes; one column is absent for whole stretches, another nearly always."""

    def draw(n: int, seed: int, percent: int) -> tuple[Columns, list[bool]]:
        random, wrong = Draw(seed), Draw(seed + 1).share(percent, n)
        on = random.share(60, n)
        flow = [
            240 + each if running != wrong[i] else abs(each) // 4
            for i, (running, each) in enumerate(zip(on, random.bell(10, n), strict=True))
        ]
        level = random.whole(2000, 8000, n)
        columns: dict[str, list[Any]] = {
            "pump": ["on" if each else "off" for each in on],
            "flow": [each / 100 for each in flow],
            "level": [each / 10 for each in level],
            "pressure": [(200 if each else 50) / 10 + i % 7 / 10 for i, each in enumerate(on)],
            "alarm": ["high" if each > 7000 else "none" for each in level],
        }
        holes = {name: random.share(8, n) for name in columns}
        filled = {
            name: [None if hole else value for value, hole in zip(column, holes[name], strict=True)]
            for name, column in columns.items()
        }
        filled["pressure"] = [
            None if i % 100 >= 80 else value for i, value in enumerate(filled["pressure"])
        ]
        filled["sample"] = [i / 10 if i % 60 == 0 else None for i in range(n)]
        return filled, wrong

    return Table(draw(700, 21, 0)[0], *draw(240, 23, 12))


def wide() -> Table:
    """More columns than fit on a screen: groups of four that move together."""

    def draw(n: int, seed: int, percent: int) -> tuple[Columns, list[bool]]:
        random, wrong = Draw(seed), Draw(seed + 1).share(percent, n)
        columns: dict[str, list[Any]] = {}
        for group in range(18):
            base = random.whole(0, 999, n)
            swapped = random.whole(0, 999, n)
            columns[f"G{group:02}A"] = [each / 10 for each in base]
            columns[f"G{group:02}B"] = [
                (swapped[i] if wrong[i] and (i + group) % 5 == 0 else each) / 5 + extra / 100
                for i, (each, extra) in enumerate(zip(base, random.bell(60, n), strict=True))
            ]
            columns[f"G{group:02}C"] = [int(each > 600) for each in base]
            columns[f"G{group:02}D"] = ["low" if each < 250 else "high" for each in base]
        return columns, wrong

    return Table(draw(320, 31, 0)[0], *draw(160, 33, 30))


def texts() -> Table:
    """Mostly words: ids, notes, many cities; few columns that anything can be learned of."""
    words = [
        *("pump", "valve", "seal", "motor", "checked"),
        *("replaced", "leaking", "noisy", "fine", "again"),
    ]

    def draw(n: int, seed: int, percent: int) -> tuple[Columns, list[bool]]:
        random, wrong = Draw(seed), Draw(seed + 1).share(percent, n)
        city = random.whole(0, 59, n)
        notes = [random.whole(0, 9, 5) for _ in range(n)]
        return {
            "order": [f"A-{seed * 1000 + i:06}" for i in range(n)],
            "note": [" ".join(words[each] for each in note) for note in notes],
            "city": [f"City {each:02}" for each in city],
            "country": [("DE", "AT", "CH")[(each + wrong[i]) % 3] for i, each in enumerate(city)],
            "currency": [("EUR", "EUR", "CHF")[each % 3] for each in city],
            "priority": [("low", "high")[each == 0] for each in random.whole(0, 5, n)],
            "price": [f"{each / 100:.2f}" for each in random.whole(500, 9900, n)],
            "tags": [f"{each % 4};{each % 3}" for each in city],
        }, wrong

    return Table(draw(500, 41, 0)[0], *draw(150, 43, 15))


START = datetime.datetime(2024, 3, 1)


def clock(seconds: int) -> str:
    """Return the time so many seconds after the start."""
    return (START + datetime.timedelta(seconds=seconds)).isoformat(" ")


def tank(n: int, seed: int, faults: Mapping[str, range] | None = None) -> dict[str, list[Any]]:
    """Return a tank that a pump fills and a drain empties, with faults in ranges of rows.

    ``jump`` adds to the level that is read, ``stuck`` keeps the flow that is read, ``drift`` lets the
    temperature rise, ``silent`` stops the pump, but says that it runs.
    """
    random, faults = Draw(seed), faults or {}
    level, running, temperature = 500, True, 2000
    flow_noise, level_noise, warmth = (random.bell(width, n) for width in (8, 3, 6))
    rows: dict[str, list[Any]] = {"pump": [], "flow": [], "level": [], "temp": [], "drain": []}
    flow = 0
    for i in range(n):
        drains = (i // 90) % 3 == 2
        running = running if 300 <= level <= 700 else level < 300
        inflow = 12 if running and i not in faults.get("silent", ()) else 0
        level += inflow - 5 - 4 * drains
        temperature += (2000 + 300 * running - temperature) // 20
        if i not in faults.get("stuck", ()):
            flow = 20 * inflow + (flow_noise[i] if inflow else 0)
        jump = 180 if i in faults.get("jump", ()) else 0
        drift = 12 * (i - faults["drift"].start) if i in faults.get("drift", ()) else 0
        rows["pump"].append("on" if running else "off")
        rows["flow"].append(flow / 100)
        rows["level"].append((level * 10 + level_noise[i] + jump * 10) / 10)
        rows["temp"].append((temperature + warmth[i] + drift) / 100)
        rows["drain"].append(int(drains))
    return rows


FAULTS = {
    "jump": range(150, 190),
    "stuck": range(400, 470),
    "drift": range(600, 680),
    "silent": range(820, 850),
}


def _wrong(n: int, faults: Mapping[str, range]) -> list[bool]:
    return [any(i in rows for rows in faults.values()) for i in range(n)]


def faults() -> Table:
    """A series, and a later one in which four things go wrong."""

    def timed(n: int, begin: int, columns: Columns) -> Columns:
        return {"time": [clock(begin + 10 * i) for i in range(n)], **columns}

    return Table(
        timed(1500, 0, tank(1500, 51)),
        timed(1000, 20_000, tank(1000, 52, FAULTS)),
        _wrong(1000, FAULTS),
    )


def gaps() -> Table:
    """A series that stops for hours, repeats a time and leaves rows out; the later one, too."""

    def timed(n: int, begin: int, columns: Columns, kept: list[int]) -> Columns:
        times = [begin + 60 * i + 7200 * (i // 300) for i in range(n)]
        times[40] = times[39]
        whole = {"time": [clock(each) for each in times], **columns}
        return {name: [column[i] for i in kept] for name, column in whole.items()}

    usual = {"jump": range(200, 230), "drift": range(500, 560)}
    some = [i for i in range(1200) if i % 211 < 195]
    later = [i for i in range(700) if i % 97 < 93]
    wrong = _wrong(700, usual)
    return Table(
        timed(1200, 0, tank(1200, 61), some),
        timed(700, 200_000, tank(700, 62, usual), later),
        [wrong[i] for i in later],
    )


def machines() -> Table:
    """Three machines in one table, row by row in turn; the second goes wrong, then the third."""

    def mixed(n: int, begin: int, series: list[Columns]) -> Columns:
        times = [clock(begin + 30 * i) for i in range(n)]
        columns: dict[str, list[Any]] = {
            "time": [each for each in times for _ in series],
            "machine": [f"M{which + 1}" for _ in times for which in range(len(series))],
        }
        for name in series[0]:
            columns[name] = [each[name][i] for i in range(n) for each in series]
        return columns

    late: list[Mapping[str, range]] = [
        {},
        {"jump": range(100, 130)},
        {"stuck": range(60, 120), "drift": range(200, 260)},
    ]
    later = [tank(300, 75 + i, each) for i, each in enumerate(late)]
    return Table(
        mixed(500, 0, [tank(500, 71 + i) for i in range(3)]),
        mixed(300, 50_000, later),
        [any(i in rows for rows in each.values()) for i in range(300) for each in late],
    )


def plant() -> Table:
    """The simulated plant, and attacks on it."""
    from truism.plant import schedule, simulate

    attacks = schedule(1500, seed=5)
    attacked = simulate(1500, seed=1005, attacks=attacks)
    wrong = [any(each.start <= i < each.end for each in attacks) for i in range(1500)]
    return Table(_plain(simulate(2000, seed=5).columns), _plain(attacked.columns), wrong)


def _plain(columns: Mapping[str, Any]) -> Columns:
    return {name: [_cell(each) for each in column] for name, column in columns.items()}


def _cell(value: Any) -> Any:
    return (
        str(value) if isinstance(value, np.datetime64) else getattr(value, "item", lambda: value)()
    )


MAKERS: Mapping[str, Callable[[], Table]] = {
    each.__name__: each
    for each in (numbers, states, missing, wide, texts, faults, gaps, machines, plant)
}


def write(columns: Columns, path: Path) -> None:
    """Write a CSV file; what is missing is empty, and truths are small words."""
    rows = zip(*columns.values(), strict=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        sheet = csv.writer(file, lineterminator="\n")
        sheet.writerow(columns)
        sheet.writerows(
            [str(each).lower() if isinstance(each, bool) else each for each in row] for row in rows
        )
