"""
Network records
===============

*We have a day of normal connections. What in today's log is different, and how many kinds of it are
there?*

Connections do not follow each other like the rows of a machine; each stands for itself. The records
here are made, with columns like those of a flow log. Hidden among 3,000 of them are a port scan and
a slow theft of data.
"""

# %%
import numpy as np
import pandas as pd

from truism import InvariantRuleDetector, plot

SERVICES = {  # port, protocol, bytes sent, bytes received, seconds
    "https": (443, "tcp", 900, 24_000, 2.0),
    "dns": (53, "udp", 60, 180, 0.02),
    "ssh": (22, "tcp", 4_000, 9_000, 300.0),
    "mail": (25, "tcp", 15_000, 400, 1.5),
}


def connections(n, seed):
    """Return normal connections."""
    random = np.random.default_rng(seed)
    service = random.choice([*SERVICES], n, p=[0.6, 0.3, 0.04, 0.06])
    usual = pd.DataFrame([SERVICES[name] for name in service])
    amounts = usual[[2, 3, 4]].to_numpy() * random.lognormal(0, 0.4, (n, 3))
    return pd.DataFrame(
        {
            "service": service,
            "port": usual[0].astype(str),
            "protocol": usual[1],
            "state": random.choice(["closed", "reset"], n, p=[0.98, 0.02]),
            "sent": amounts[:, 0].round(),
            "received": amounts[:, 1].round(),
            "seconds": amounts[:, 2].round(3),
        }
    )


normal, today = connections(20_000, seed=0), connections(3000, seed=1)
scan = np.arange(700, 760)
today.loc[scan, ["service", "state"]] = ["other", "no answer"]
today.loc[scan, "port"] = [str(port) for port in range(8000, 8060)]
today.loc[scan, ["sent", "received"]] = [40, 0]
theft = [150, 990, 1500, 2222, 2800]
today.loc[theft, ["service", "port", "protocol"]] = ["dns", "53", "udp"]
today.loc[theft, ["sent", "received", "seconds"]] = [48_000, 120, 9.0]

# %%
detector = InvariantRuleDetector().fit(normal)
print(detector.rules_.summary(8))

# %%
# Patterns group the anomalous rows by what is wrong with them:
patterns = detector.patterns(today)
for pattern in patterns[:4]:
    print(pattern, end="\n\n")

# %%
# One stolen portion in full. Each of its values occurs in training; together they do not.
[explanation] = detector.explain(today, rows=[990])
print(explanation)

# %%
# What was seen: the scan is one pattern of 60 rows, not 60 alarms, and all five rows of the theft
# are another. By default one in a hundred normal rows is reported, too;
# :meth:`~truism.InvariantRuleDetector.calibrate` changes that.
anomalous = detector.predict(today) < 0
print(f"scan {anomalous[scan].sum()} of 60, theft {anomalous[theft].sum()} of 5")
others = np.delete(anomalous, [*scan, *theft])
print(f"others {others.sum()} of {len(others):,}")

# %%
# The blame for one row of the theft:
plot.blame(explanation)
