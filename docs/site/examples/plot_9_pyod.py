"""
Next to PyOD
============

*Our code uses PyOD. Does truism fit in, and how does it compare on our data?*

``truism.pyod.InvariantRules`` has the names and directions of PyOD's detectors; PyOD itself is not
needed for it. Your data decide which detector is best; here they are those of the simulated plant,
whose attacks are known.
"""

# %%
import numpy as np
import pandas as pd
from pyod.models.ecod import ECOD
from pyod.models.iforest import IForest
from pyod.models.knn import KNN
from sklearn.metrics import roc_auc_score

from truism import plot
from truism.plant import ACTUATORS, schedule, simulate
from truism.pyod import InvariantRules

attacks = schedule(4000, seed=5)
normal = pd.DataFrame(simulate(6000, seed=5).columns)
today = pd.DataFrame(simulate(4000, seed=6, attacks=attacks).columns)
attacked = np.zeros(len(today), bool)
for attack in attacks:
    attacked[attack.start : attack.end] = True

# %%
# PyOD's detectors need numbers on one scale, so states become columns of zeros and ones. truism
# takes the table as it is.
states = [actuator.tag for actuator in ACTUATORS]
both = pd.get_dummies(pd.concat([normal, today]).drop(columns="time"), columns=states).astype(float)
scaled = (both - both[: len(normal)].mean()) / both[: len(normal)].std().replace(0, 1)
before, after = scaled[: len(normal)].to_numpy(), scaled[len(normal) :].to_numpy()

ours = InvariantRules().fit(normal)
scores = {"truism": ours.decision_function(today)}
for detector in (KNN(), IForest(random_state=0), ECOD()):
    scores[type(detector).__name__] = detector.fit(before).decision_function(after)

# %%
pd.DataFrame(
    {
        "AUC": {name: roc_auc_score(attacked, score) for name, score in scores.items()},
        "AUC up to 10 % false alarms": {
            name: roc_auc_score(attacked, score, max_fpr=0.1) for name, score in scores.items()
        },
    }
).round(3)

# %%
# A score is where the others stop. What truism says about the row with the highest one, and what
# was attacked there:
row = int(scores["truism"].argmax())
[explanation] = ours.detector_.explain(today, rows=[row])
print(explanation)
for attack in attacks:
    if attack.start <= row < attack.end:
        print("attacked:", ", ".join(attack.targets))

# %%
# What was seen: one plant and a handful of attacks say little about detectors in general; the
# :doc:`benchmarks </benchmarks>` have 15 detectors on five public tables, and name those on which
# others are ahead.
plot.scores(ours.detector_, today)
