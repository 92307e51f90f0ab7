"""Draws the report pages that the docs show: ``python docs/screenshots.py`` (or make screenshots).

The plant is simulated; BATADAL is read from the folder that TRUISM_DATA names, and left out when
there is none.
"""

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from truism import InvariantRuleDetector
from truism.plant import schedule, simulate
from truism.show import Summary

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests"))
WIDTH, HEIGHT, MAX_HEIGHT = 1180, 2400, 2400


def plant() -> tuple[InvariantRuleDetector, Any, dict[str, Any]]:
    """Learn several quiet runs, check an attacked one."""
    runs = [simulate(8000, seed=seed).columns for seed in range(4)]
    normal = {name: np.concatenate([run[name] for run in runs]) for name in runs[0]}
    detector = InvariantRuleDetector(min_support=0.05).fit(normal)
    _set_threshold(detector, simulate(8000, seed=5).columns)
    attacks = schedule(4000, seed=6)
    attacked = dict(simulate(4000, seed=6, attacks=attacks).columns)
    attacked["attack"] = np.zeros(4000, np.int64)
    for attack in attacks:
        attacked["attack"][attack.start : attack.end] = 1
    return detector, attacked, {"source": "attacked.csv", "label": "attack", "gap": 12}


def batadal(folder: Path) -> tuple[InvariantRuleDetector, Any, dict[str, Any]]:
    """Learn a quiet year of the water network, check the months with attacks."""

    def read(name: str) -> pa.Table:
        table = pq.read_table(folder / f"batadal_{name}.parquet")
        for i, field in enumerate(table.schema):
            if pa.types.is_floating(field.type):  # the months with attacks have two decimals
                table = table.set_column(i, field.name, pc.round(table[field.name], 2))
        times = pc.strptime(table["DATETIME"].cast(pa.string()), "%d/%m/%y %H", unit="s")
        return table.set_column(0, "DATETIME", times)

    detector = InvariantRuleDetector().fit(read("train"))
    table = read("test").drop_columns(["in_paper_test"])
    return detector, table, {"source": "batadal_test.parquet", "label": "label", "gap": 12}


def _set_threshold(detector: InvariantRuleDetector, quiet: Any) -> None:
    """Let one in a thousand quiet rows, which were not learned from, score above it."""
    detector.threshold = float(f"{np.quantile(detector.anomaly_score(quiet), 0.999):.3g}")


def telling(summary: Summary) -> int:
    """Choose the worst incident that broke a rule with a condition."""
    for card in summary.incidents:
        picture = card.pictures[0]
        if picture is not None and len(picture.panels) > 1:
            return card.number
    return 1


def shoot(page: Path, picture: Path, incident: int) -> None:
    """Photograph the top of a page, with one incident open."""
    from browser import browser

    with browser() as running:
        view = running.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        view.goto(page.as_uri())
        view.wait_for_selector("html.js", state="attached")
        view.evaluate(
            """number => {
                document.getElementById("incident-1").open = false;
                document.getElementById(`incident-${number}`).open = true;
            }""",
            incident,
        )
        view.wait_for_timeout(1500)
        blame = view.locator(f"#incident-{incident} .blame").first
        box = blame.bounding_box()
        height = min(box["y"] + box["height"] + 1, MAX_HEIGHT)
        clip = {"x": 0, "y": 0, "width": WIDTH, "height": height}
        view.screenshot(path=picture, clip=clip, full_page=True)


def main() -> None:
    stories = {"plant": plant}
    folder = os.environ.get("TRUISM_DATA")
    if folder:
        stories["batadal"] = lambda: batadal(Path(folder))
    else:
        print("TRUISM_DATA names no folder: BATADAL is left out")
    for name, story in stories.items():
        detector, table, options = story()
        with tempfile.TemporaryDirectory() as place:
            page = Path(place) / "report.html"
            summary = detector.report(table, page, **options)
            print(summary.verdict)
            shoot(page, HERE / f"report-{name}.png", telling(summary))


if __name__ == "__main__":
    main()
