"""
A server whose disk fills
=========================

*The disk of a server was full this evening. When could we have known, and what else was wrong?*

A monitoring system keeps one row a minute. The rows here are made: requests follow the hour of the
day, processor and network follow the requests, logs fill the disk until they are rotated, every six
hours.
"""

# %%
import numpy as np
import pandas as pd

from truism import InvariantRuleDetector, plot


def minutes(days, start, seed, rotated_until=None):
    """Return rows of a server; logs are no longer rotated from one minute on."""
    random = np.random.default_rng(seed)
    n = days * 1440
    minute = np.arange(n)
    requests = 600 + 400 * np.sin(2 * np.pi * (minute - 480) / 1440) + random.normal(0, 25, n)
    busy = np.clip(requests / 1200 + random.normal(0, 0.02, n), 0, 1)
    disk = np.empty(n)
    disk[0] = 40
    for i in range(1, n):
        rotate = i % 360 == 0 and (rotated_until is None or i < rotated_until)
        disk[i] = 40 if rotate else min(disk[i - 1] + requests[i] / 24_000, 100)
    full = disk >= 99.9
    return pd.DataFrame(
        {
            "time": pd.Timestamp(start) + pd.to_timedelta(minute, "min"),
            "requests per minute": requests.round(),
            "cpu %": (100 * busy).round(1),
            "sent MB/s": (requests * 0.02 + random.normal(0, 0.3, n)).round(2),
            "disk used %": disk.round(1),
            "written MB/s": np.where(full, 0, (requests / 300 + random.normal(0, 0.1, n)).round(2)),
            "failed per minute": np.where(full, (requests / 3).round(), random.poisson(2, n)),
            "logrotate": np.where(minute % 360 < 2, "running", "waiting"),
        }
    )


normal = minutes(5, "2025-03-03", seed=0)
night = minutes(2, "2025-03-08", seed=1, rotated_until=361)

# %%
# Learn from five quiet days, and check the two days in question. The gravest comes first.
detector = InvariantRuleDetector().fit(normal)
findings = detector.check(night)
reported = [*findings.incidents, *findings.shifts]
for incident in sorted(reported, key=lambda incident: -incident.severity)[:2]:
    print(incident, end="\n\n")
print(f"{len(reported)} in all; {findings.verdict[1]}")

# %%
# When was the disk really full, and when did truism first say something about it?
full = night.loc[night["disk used %"] >= 99.9, "time"].iloc[0]
first = min(
    incident.started for incident in reported if incident.blames[0].variable == "disk used %"
)
print(f"first reported {first}, full {full}: {full - first} before")

# %%
# What was seen: the disk was reported when it left the range of training, more than a day before it
# was full. That writing stopped and requests failed in the end is a second story, with the
# variables that say so.
plot.scores(detector, night)
