"""Tables whose rows are in order of time: a name leads to its files, its settings, and its truth.

Families are BATADAL, application servers (ASD), a machine tool (causRCA), a drinking water plant
(GECCO), a water testbed (SKAB) and server machines (SMD). All test rows stay, because an order with
holes is none. The simulated plant is beside them (`plants.py`).
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from benchmarks import plants

PREFIX = "series-"
FOLDER = "timed"
CAUSES = "root_causes.csv"
FAMILIES = ("BATADAL", "ASD", "causRCA", "GECCO", "SKAB", "SMD")
TIME_OF: Mapping[str, str] = {"BATADAL": "DATETIME", "GECCO": "time", "SKAB": "datetime"}
BY_OF: Mapping[str, str] = {"causRCA": "run"}
# BATADAL's label marks the hours that operators knew of. The organisers published all seven attack
# windows later (first and last row of the test table).
BATADAL_WINDOWS = (
    (1727, 1776),
    (2027, 2050),
    (2337, 2396),
    (2827, 2920),
    (3497, 3556),
    (3727, 3820),
    (3927, 4036),
)


@dataclass(frozen=True, slots=True)
class Truth:
    """What is known of a test table beyond which rows are anomalous.

    `firsts` are the first rows of its series. `causes` are the variables behind a segment, by its first
    row and the row after its last.
    """

    firsts: tuple[int, ...] = (0,)
    causes: Mapping[tuple[int, int], frozenset[str]] = field(default_factory=dict)


def family_of(name: str) -> str:
    """Return the family of a table; what belongs to none is its own.

    >>> family_of("series-smd_1_6"), family_of("series-plant_retuned")
    ('SMD', 'plant_retuned')
    """
    base = name.removeprefix(PREFIX)
    family = {each.lower(): each for each in FAMILIES}
    return family.get(base.split("_")[0], base)


def settings_of(name: str) -> tuple[tuple[str, bool | str], ...]:
    """Return what the program must be told, because the table does not show it.

    >>> settings_of("series-smd_1_6"), settings_of("series-batadal")
    ((('ordered', True),), ())
    """
    family = family_of(name)
    if family in BY_OF:
        return (("by", BY_OF[family]), ("ordered", True))
    return () if family in TIME_OF else (("ordered", True),)


def tables(data: Path) -> tuple[str, ...]:
    """Return the names of the tables in a folder, by family, and of those made with the plant."""
    names = [path.name.removesuffix("_test.parquet") for path in data.glob("*/*_test.parquet")]
    names = [name for name in names if path_of(name, data, "train").exists()]
    names += ["batadal"] if path_of("batadal", data, "test").exists() else []
    present = [name for name in names if family_of(name) in FAMILIES]
    present.sort(key=lambda name: (FAMILIES.index(family_of(name)), name))
    # A folder without any table is a mistake, which the plant must not hide.
    return tuple(f"{PREFIX}{name}" for name in (*present, *(plants.TITLES if present else ())))


def path_of(name: str, data: Path, part: str) -> Path:
    """Return the file of a table; `part` is train or test."""
    folder = data / FOLDER if family_of(name) in FAMILIES[1:] else data
    return folder / f"{name}_{part}.parquet"


def anomalous(name: str, label: NDArray[np.int8]) -> NDArray[np.int8]:
    """Return 1 for anomalous rows: those labelled, and all of BATADAL's attacks."""
    marked = label.copy()
    for first, last in BATADAL_WINDOWS if name == "batadal" else ():
        marked[first : last + 1] = 1
    return marked


def truth_of(name: str, test: pa.Table, data: Path) -> Truth:
    """Return where the series of a test table begin, and what is known of its segments."""
    by, firsts = BY_OF.get(family_of(name)), (0,)
    if by is not None:
        series = test[by].to_numpy(zero_copy_only=False)
        firsts = (0, *(np.flatnonzero(series[1:] != series[:-1]) + 1).tolist())
    causes = {}
    place = data / FOLDER / CAUSES
    if place.exists():
        with place.open(encoding="utf-8") as lines:
            for line in csv.DictReader(lines):
                if line["table"] == name:
                    segment = int(line["start"]), int(line["end"])
                    causes[segment] = frozenset(line["variables"].split(";"))
    return Truth(firsts, causes)
