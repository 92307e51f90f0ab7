"""
More rows than memory
=====================

*A year of readings does not fit into memory. Can I learn from all of it, and check all of it, and
not from a sample?*

Tables of more than a million rows are learned from in passes: a sample proposes rules, and every
row has its say. The year here is small, 1.2 million rows in twelve files, so that this page is
built in seconds; nothing else is different.
"""

# %%
import json
import subprocess
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet

from truism import load, plot


def month(number, n=100_000):
    """Return readings of a pump, one every five seconds."""
    random = np.random.default_rng(number)
    on = np.repeat(random.random(n // 100) < 0.6, 100)
    flow = np.where(on, 2.5 + random.normal(0, 0.05, n), 0)
    start = np.datetime64("2025-01-01") + np.timedelta64(5 * n * number, "s")
    return {
        "time": start + 5 * np.arange(n).astype("timedelta64[s]"),
        "pump": np.where(on, "on", "off"),
        "flow": flow.round(3),
        "power": (np.where(on, 1.2 + 0.3 * flow, 0.05) + random.normal(0, 0.01, n)).round(3),
        "temperature": (20 + 8 * np.sin(np.arange(n) / 2750) + random.normal(0, 0.2, n)).round(1),
    }


Path("year").mkdir(exist_ok=True)
for number in range(12):
    parquet.write_table(pa.table(month(number)), f"year/{number + 1:02}.parquet")


def run(command):
    """Return what a command prints."""
    return subprocess.run(command, shell=True, capture_output=True, text=True).stdout


# %%
print(run("truism learn 'year/*.parquet' -o year.truism.json --memory-limit 500MiB"))

# %%
# A rule of the model holds in every one of the 1.2 million rows:
detector = load("year.truism.json")
print(detector.rules_.summary(6))

# %%
# Checking reads portion by portion, too. For a minute of the next month the pump is on and nothing
# flows.
following = month(12)
row = int(np.flatnonzero(following["pump"] == "on")[60_000 // 2])
following["flow"][row : row + 12] = 0.0
parquet.write_table(pa.table(following), "january.parquet")
found = run("truism check january.parquet -m year.truism.json --memory-limit 200MiB --format json")
incidents = json.loads(found)["incidents"]
print(f"{len(incidents)} incidents in {len(following['time']):,} rows; the gravest:")
for incident in incidents[:3]:
    print(incident["started"], incident["blames"][0]["variable"], round(incident["score"], 1))

# %%
# What was seen: learning and checking read the files as often as they need to, hold a batch of rows
# at a time, and find what they would find with all rows in memory, to the bit. The page on
# :doc:`scale </scale>` has the figures.
around = {name: column[row - 300 : row + 300] for name, column in following.items()}
plot.scores(detector, around)
