"""Tables with attacks whose targets are known, for the interpretability experiment.

SWaT may not be redistributed, so BATADAL's labelled hours and the simulated plant take its place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from benchmarks import datasets
from benchmarks.datasets import Kinds
from truism.plant import schedule, simulate
from truism.table.deltas import delta_name, with_deltas
from truism.table.frames import as_table

PLANT_ROWS = 50_000
PLANT_ATTACKED_ROWS = 50_000
PLANT_QUIET_ROWS = 20_000
PLANT_SEEDS = (0, 1, 2)

# What the organisers said about the labelled hours (batadal.net, questions and answers of
# 14 December 2016): the pumps whose control was inconsistent. Each pump has a flow and a status.
BATADAL_TARGETS = (("PU10", "PU11"), ("PU2",), ("PU2",), ("PU7",), ("PU6", "PU7"))


@dataclass(frozen=True, slots=True)
class Segment:
    """An attack: rows `start` to `stop` (not included) of the test table, and its targets."""

    name: str
    start: int
    stop: int
    targets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """Tables to learn from and to check, and the attacks among the rows to check.

    `quiet` is free of attacks and unseen in training; the share reported is the false-alarm rate.
    """

    name: str
    train: pa.Table
    test: pa.Table
    quiet: pa.Table
    segments: tuple[Segment, ...]
    kinds: Kinds
    time: str | None = None


def find_cases(names: Sequence[str], data: Path | None) -> Iterator[Case]:
    """BATADAL if it is among the names, and the plant, which comes with truism."""
    if "batadal" in names:
        yield batadal_case(data)
    yield plant_case()


def segments_of(label: NDArray[np.int8]) -> list[tuple[int, int]]:
    """Runs of ones as half-open row ranges.

    >>> segments_of(np.array([0, 1, 1, 0, 1], dtype=np.int8))
    [(1, 3), (4, 5)]
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[0], label, [0]]))).tolist()
    return [(start, stop) for start, stop in list(pairwise(edges))[::2]]


def batadal_case(data: Path | None) -> Case:
    """BATADAL's five labelled attacks; the rows before the first one are quiet."""
    dataset = datasets.load("batadal", data)
    ranges = segments_of(dataset.label)
    hours = datasets.column(dataset.test, str(dataset.time))
    segments = tuple(
        Segment(
            name=f"{_day(hours[start])} to {_day(hours[stop - 1])}",
            start=start,
            stop=stop,
            targets=tuple(f"{kind}_{pump}" for pump in pumps for kind in ("F", "S")),
        )
        for (start, stop), pumps in zip(ranges, BATADAL_TARGETS, strict=True)
    )
    return Case(
        name="batadal",
        train=dataset.train,
        test=dataset.test,
        quiet=dataset.test.slice(0, ranges[0][0]),
        segments=segments,
        kinds=dataset.kinds,
        time=dataset.time,
    )


def _day(hour: str) -> str:
    return datetime.strptime(hour.strip(), "%d/%m/%y %H").strftime("%d %b %H:00")


def plant_case(seeds: tuple[int, int, int] = PLANT_SEEDS) -> Case:
    """The simulated plant: one run to learn from, one attacked, one quiet, with different seeds."""
    normal_seed, attacked_seed, quiet_seed = seeds
    attacks = schedule(PLANT_ATTACKED_ROWS, seed=attacked_seed)
    normal = simulate(PLANT_ROWS, seed=normal_seed).columns
    attacked = simulate(PLANT_ATTACKED_ROWS, seed=attacked_seed, attacks=attacks).columns
    quiet = simulate(PLANT_QUIET_ROWS, seed=quiet_seed).columns
    numeric = tuple(name for name, v in normal.items() if v.dtype.kind == "f")
    states = tuple(name for name, v in normal.items() if v.dtype.kind in "OU")
    return Case(
        name="plant",
        train=_with_changes(normal, numeric),
        test=_with_changes(attacked, numeric),
        quiet=_with_changes(quiet, numeric),
        segments=tuple(
            Segment(
                name=f"{attack.id} ({attack.kind})",
                start=attack.start - 1,
                stop=attack.end - 1,
                targets=tuple(attack.targets),
            )
            for attack in attacks
        ),
        kinds=Kinds(states, (*numeric, *(delta_name(name) for name in numeric))),
        time="time",
    )


def _with_changes(columns: dict[str, NDArray[Any]], numeric: Sequence[str]) -> pa.Table:
    """Add each variable's change; drop the first row, whose missing changes no peer can read."""
    changed = with_deltas(as_table(columns), numeric).columns[-len(numeric) :]
    added = {column.name: column.values for column in changed}
    return pa.table(columns | added).slice(1)
