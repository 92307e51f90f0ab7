"""SWaT, read from the files that its owners distribute (December 2015), if you have them.

iTrust provides `SWaT_Dataset_Normal_v0` or `_v1` and `SWaT_Dataset_Attack_v0`, as Excel or CSV,
in two styles: with a title row (`P1`, `P2`, ... over the process stages) above the header, or
plain. Names come with stray blanks (` Timestamp`, ` MV101`), labels as `Normal`, `Attack` and
`A ttack`; some CSV exports use semicolons and decimal commas.

The paper's preprocessing (KDD'23, section 6.1) as its row counts imply it: every fifth row,
starting with the first, of the whole files. 496,800 rows (v0) give 99,360 and 449,919 give
89,984, so the start-up phase is not cut off; v1 lacks the first half hour and gives 99,000.
ΔX(t) = X(t+1) − X(t) on the thinned rows for the 25 continuous variables; the last row, which has
no next one, repeats the difference before it. Of the 26 actuators those that never move in
training are dropped, which leaves the paper's 15.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from benchmarks.datasets import DataMissingError, Dataset, Kinds

NAME = "swat"
STEP = 5
LABEL = "Normal/Attack"
TIME = "Timestamp"
STEMS = (("SWaT_Dataset_Normal_v0", "SWaT_Dataset_Normal_v1"), ("SWaT_Dataset_Attack_v0",))
ENDINGS = (".csv", ".xlsx")
_SENSORS = ("FIT", "LIT", "AIT", "PIT", "DPIT")

Columns = dict[str, NDArray[Any]]


def is_present(folder: Path) -> bool:
    """Whether both files are in the folder."""
    return all(_find(folder, stems) is not None for stems in STEMS)


def files(folder: Path) -> tuple[Path, ...]:
    """The normal and the attack file, or an error that names the missing one."""
    found = []
    for stems in STEMS:
        path = _find(folder, stems)
        if path is None:
            raise DataMissingError(
                f"SWaT is not in {str(folder)!r}: {stems[-1]}.csv or .xlsx is missing (available "
                "on request from iTrust, Singapore University of Technology and Design)."
            )
        found.append(path)
    return tuple(found)


def load_swat(folder: Path) -> Dataset:
    """The dataset as the paper prepared it."""
    normal, attack = (_thin(_read(path)) for path in files(folder))
    label = _label(attack)
    variables = [name for name in normal if name not in (TIME, LABEL)]
    sensors = [name for name in variables if name.startswith(_SENSORS)]
    actuators = [
        name for name in variables if name not in sensors and len(np.unique(normal[name])) > 1
    ]
    deltas = tuple(f"Δ{name}" for name in sensors)
    return Dataset(
        name=NAME,
        train=_table(normal, sensors, actuators),
        test=_table(attack, sensors, actuators),
        label=label,
        kinds=Kinds(categorical=tuple(actuators), continuous=(*sensors, *deltas)),
        time=TIME,
    )


def _find(folder: Path, stems: tuple[str, ...]) -> Path | None:
    paths = (folder / f"{stem}{ending}" for stem in stems for ending in ENDINGS)
    return next((path for path in paths if path.exists()), None)


def _read(path: Path) -> Columns:
    """Columns of a file: text for time and label, numbers otherwise."""
    rows = _excel_rows(path) if path.suffix == ".xlsx" else _csv_rows(path)
    start = next((i for i, row in enumerate(rows[:5]) if TIME in row), None)
    if start is None:
        raise DataMissingError(f"{path.name} has no header row with a {TIME!r} column.")
    header, body = rows[start], [row for row in rows[start + 1 :] if any(row)]
    columns: Columns = {}
    for position, name in enumerate(header):
        texts = [row[position] for row in body]
        if name in (TIME, LABEL):
            columns[name] = np.array(texts)
        elif name:
            columns[name] = np.array([float(text.replace(",", ".")) for text in texts])
    return columns


def _csv_rows(path: Path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        sample = file.read(2000)
        file.seek(0)
        delimiter = ";" if sample.count(";") > sample.count(",") else ","
        return [[cell.strip() for cell in row] for row in csv.reader(file, delimiter=delimiter)]


def _excel_rows(path: Path) -> list[list[str]]:
    from openpyxl import load_workbook

    book = load_workbook(path, read_only=True, data_only=True)
    try:
        return [
            ["" if cell is None else str(cell).strip() for cell in row]
            for row in book.worksheets[0].iter_rows(values_only=True)
        ]
    finally:
        book.close()


def _thin(columns: Columns) -> Columns:
    return {name: values[::STEP] for name, values in columns.items()}


def _label(columns: Mapping[str, NDArray[Any]]) -> NDArray[np.int8]:
    """1 for `Attack`, also when misspelt `A ttack`."""
    words = np.array([text.replace(" ", "") for text in columns[LABEL].tolist()])
    unknown = sorted(set(words.tolist()) - {"Normal", "Attack"})
    if unknown:
        raise DataMissingError(f"Column {LABEL!r} of SWaT holds unknown labels: {unknown[:5]!r}.")
    label: NDArray[np.int8] = (words == "Attack").astype(np.int8)
    return label


def _table(columns: Columns, sensors: list[str], actuators: list[str]) -> pa.Table:
    table: dict[str, Any] = {TIME: columns[TIME]}
    table |= {name: columns[name] for name in sensors}
    table |= {f"Δ{name}": _delta(columns[name]) for name in sensors}
    table |= {name: columns[name].astype(np.int64) for name in actuators}
    return pa.table(table)


def _delta(values: NDArray[Any]) -> NDArray[Any]:
    ahead = np.diff(values)
    return np.append(ahead, ahead[-1] if len(ahead) else 0.0)
