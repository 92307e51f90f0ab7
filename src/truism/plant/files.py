"""The attacked plant as files: the recorded table, and the list of attacks."""

from pathlib import Path
from typing import Literal

import msgspec

from truism.plant.attacks import Attack, schedule
from truism.plant.simulation import simulate
from truism.table.atomic import write_atomically
from truism.table.writing import write_table

TableFormat = Literal["csv", "parquet"]


def write_attacked(
    folder: Path, n_rows: int, *, seed: int, form: TableFormat = "csv", retuned: int | None = None
) -> tuple[Attack, ...]:
    """Write ``attacked`` and ``attacks.json``, with the rows and times of attacks; return these."""
    attacks = schedule(n_rows, seed=seed)
    columns = simulate(n_rows, seed=seed, attacks=attacks, retuned=retuned).columns
    write_table(columns, folder / f"attacked.{form}")
    time = columns["time"]
    listed = [
        {
            "id": attack.id,
            "kind": attack.kind,
            "start": attack.start,
            "end": attack.end,
            "started": str(time[attack.start]).replace("T", " "),
            "ended": str(time[attack.end - 1]).replace("T", " "),
            "targets": attack.targets,
            "description": attack.description,
        }
        for attack in attacks
    ]
    content = msgspec.json.format(msgspec.json.encode(listed), indent=2) + b"\n"
    write_atomically(folder / "attacks.json", content)
    return attacks
