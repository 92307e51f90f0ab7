"""Tables whose rows are in order of time: `series-NAME` goes in, a `Dataset` with its truth comes out.

Families are BATADAL, server machines (SMD), application servers (ASD) and a water testbed (SKAB); the
gas pipeline, whose anomalies are mostly single rows, keeps us from winning by averages alone. All test
rows stay, because an order with holes is none; what counts is said by a `Truth`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

PREFIX = "series-"
FOLDER = "timed"
FAMILIES = ("BATADAL", "SMD", "ASD", "SKAB")
GAS = "gas pipeline"
TIME_OF: Mapping[str, str] = {"BATADAL": "DATETIME", "SKAB": "datetime"}
# BATADAL's label marks the hours that operators knew of. The organisers published all seven attack
# windows later (first and last row of the test table): their other rows are not normal either.
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
    """What counts in a table of a series, row by row.

    `normal` rows are neither labelled nor within a window of which the label marks only a part.
    `compared` rows are those that AUC compares, as in table 2.
    """

    normal: NDArray[np.bool_]
    compared: NDArray[np.bool_]


def family_of(name: str) -> str:
    """Return the family of a table.

    >>> family_of("series-smd_1_6"), family_of("series-generated-600x8")
    ('SMD', 'generated-600x8')
    """
    base = name.removeprefix(PREFIX)
    known = {"gas_pipeline": GAS, "batadal": "BATADAL"}
    group = base.split("_")[0].upper()
    return known.get(base, group if group in FAMILIES else base)


def tables(data: Path) -> tuple[str, ...]:
    """Return the names of the tables in a folder, by family."""
    names = [path.name.removesuffix("_test.parquet") for path in data.glob("*/*_test.parquet")]
    names = [name for name in names if (data / FOLDER / f"{name}_train.parquet").exists()]
    names += [name for name in ("batadal", "gas_pipeline") if path_of(name, data, "test").exists()]
    order = (*FAMILIES, GAS)
    kept = [name for name in names if family_of(name) in order]
    return tuple(
        f"{PREFIX}{name}" for name in sorted(kept, key=lambda n: (order.index(family_of(n)), n))
    )


def path_of(name: str, data: Path, part: str) -> Path:
    """Return the file of a table; `part` is train or test."""
    folder = data / FOLDER if name.split("_")[0].upper() in FAMILIES[1:] else data
    return folder / f"{name}_{part}.parquet"


def truth_of(name: str, label: NDArray[np.int8], drawn: NDArray[np.bool_]) -> Truth:
    """Return what counts in a table; `drawn` are the rows of the paper's test table."""
    normal = label == 0
    if name == "batadal":
        for first, last in BATADAL_WINDOWS:
            normal[first : last + 1] = False
    return Truth(normal, drawn)
