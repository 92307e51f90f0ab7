"""
A table of parts
================

*A supplier sent a list of 500 parts. Which entries are wrong, and which field of them?*

There is no time in such a table, and most columns are words. The list is made; five of its entries
carry a mistake that a range check of single columns does not see.
"""

# %%
import numpy as np
import pandas as pd

from truism import InvariantRuleDetector, plot

DENSITY = {"steel": 7.85, "brass": 8.5, "nylon": 1.14}  # g/cm³


def parts(n, seed):
    """Return bushings as the catalogue has them."""
    random = np.random.default_rng(seed)
    material = random.choice([*DENSITY], n, p=[0.5, 0.3, 0.2])
    bore = random.choice([6, 8, 10, 12, 16, 20], n).astype(float)
    outer = bore + np.where(bore < 12, 6, 8)
    length = random.choice([10, 15, 20, 30], n).astype(float)
    volume = np.pi / 4 * (outer**2 - bore**2) * length / 1000
    return pd.DataFrame(
        {
            "material": material,
            "bore mm": bore,
            "outer mm": outer,
            "length mm": length,
            "mass g": (volume * [DENSITY[name] for name in material]).round(1),
            "fit": np.where(bore < 12, "H7", "H8"),
            "coating": np.where(material == "steel", "zinc", "none"),
            "max °C": np.where(material == "nylon", 80, 200),
        }
    )


catalogue, delivered = parts(5000, seed=0), parts(500, seed=1)
delivered.loc[17, "coating"] = "zinc" if delivered.loc[17, "material"] != "steel" else "none"
delivered.loc[101, "fit"] = "H8" if delivered.loc[101, "fit"] == "H7" else "H7"
delivered.loc[240, "max °C"] = 280 - delivered.loc[240, "max °C"]
delivered.loc[333, "outer mm"] += 2
delivered.loc[402, "mass g"] *= 10
wrong = {17: "coating", 101: "fit", 240: "max °C", 333: "outer mm", 402: "mass g"}

# %%
# What is always true of the catalogue:
detector = InvariantRuleDetector().fit(catalogue)
print(detector.rules_.summary(12))

# %%
# And which delivered parts are not like that:
explanations = detector.explain(delivered)
explanations.to_frame()[["row", "variable", "share", "expected", "found", "because"]].head(12)

# %%
# What was seen, for each of the five mistakes:
anomalous = detector.predict(delivered) < 0
for row, column in wrong.items():
    [explanation] = detector.explain(delivered, rows=[row])
    blamed = [blame.variable for blame in explanation.blames]
    place = blamed.index(column) + 1
    print(f"row {row:3}  {column:9}  reported: {anomalous[row]}, place among the blamed: {place}")
others = np.delete(anomalous, [*wrong])
print(f"reported although right: {others.sum()} of {len(others)}")

# %%
# Where the mistake comes second, another field would explain the row as well: if zinc is right, the
# material is wrong.
plot.blame(detector.explain(delivered, rows=[101])[0])
