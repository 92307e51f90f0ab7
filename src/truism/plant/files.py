"""The simulated plant as files: recorded tables, and the list of attacks."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from truism.plant import Attack, Recording, schedule, simulate
from truism.table.atomic import write_atomically
from truism.table.files.writing import write_table

TableFormat = Literal["csv", "parquet"]


def write_plant(
    folder: str | os.PathLike[str],
    n_rows: int,
    *,
    attacks: bool = False,
    seed: int = 0,
    form: TableFormat = "csv",
    retuned: int | None = None,
) -> list[Path]:
    """Simulate the plant, and write ``normal``; with attacks, also ``attacked`` and ``attacks.json``.

    The attacked run is a separate one: its raw water, demand and noise come from the next seed.

    Parameters
    ----------
    folder
        The folder to write to; created if missing.
    n_rows
        Number of rows in each table.
    attacks
        Whether to write an attacked run too.
    seed
        Random seed of the run.
    form
        File format of the tables.
    retuned
        The row from which on a controller is tuned otherwise, in every table; see `simulate`.

    Returns
    -------
    list of Path
        The files that were written.

    """
    place = Path(folder)
    normal = simulate(n_rows, seed=seed, retuned=retuned)
    place.mkdir(parents=True, exist_ok=True)
    files = [place / f"normal.{form}"]
    write_table(normal.columns, files[0])
    if attacks:
        files += write_attacked(place, n_rows, seed=seed + 1, form=form, retuned=retuned)
    return files


def write_attacked(
    place: Path, n_rows: int, *, seed: int, form: TableFormat, retuned: int | None = None
) -> list[Path]:
    """Write one attacked run, and the list of its attacks."""
    played = schedule(n_rows, seed=seed)
    recording = simulate(n_rows, seed=seed, attacks=played, retuned=retuned)
    write_table(recording.columns, place / f"attacked.{form}")
    write_atomically(place / "attacks.json", encode_attacks(played, recording))
    return [place / f"attacked.{form}", place / "attacks.json"]


def encode_attacks(attacks: Sequence[Attack], recording: Recording) -> bytes:
    """Return attacks as JSON: their rows (``start`` included, ``end`` excluded) and their times."""
    times = recording.columns["time"]
    listed: list[dict[str, Any]] = [
        {
            "id": attack.id,
            "kind": attack.kind,
            "start": attack.start,
            "end": attack.end,
            "started": str(times[attack.start]).replace("T", " "),
            "ended": str(times[attack.end - 1]).replace("T", " "),
            "targets": attack.targets,
            "description": attack.description,
        }
        for attack in attacks
    ]
    return msgspec.json.format(msgspec.json.encode(listed), indent=2) + b"\n"
