"""
A false alarm, and what to do about it
======================================

*The plant was retuned, and what is normal now is reported. May I silence that, what would it cost,
and when must I learn again?*

From one day on the tank of LIT301 is filled from 600 mm on, not from 800 mm. That is no fault;
training just never had it.
"""

# %%
import truism
from truism import InvariantRuleDetector, plot
from truism.plant import simulate

detector = InvariantRuleDetector().fit(simulate(4000, seed=5).columns)
today = simulate(3000, seed=7, retuned=500).columns

alarm = detector.incidents(today)[0]
print(alarm)

# %%
# Accepting it means: on this condition these variables are no longer judged. The price comes first;
# ``dry_run`` leaves the detector as it is.
offer = detector.accept(today, alarm, "LIT301 is filled from 600 mm", dry_run=True)
print(offer)
for warning in offer.warnings:
    print(warning)

# %%
# You can give the condition and the variables yourself. An acceptance can expire, and can be
# withdrawn.
offer = detector.accept(
    today, alarm, "filled from 600 mm", when="600 ≤ LIT301 < 800", mute="LIT301", until="2024-01-31"
)
print(
    offer.acceptance, f"{offer.price.n_gone} of {offer.price.n_incidents} incidents would be gone"
)
print("left:", detector.incidents(today))

# %%
# Does the model still fit at all?
status = truism.status(detector, today)
print(status)
print("remedy:", status.remedy)

# %%
# It does not, so learn from rows as they are now, and compare the two models.
newer = InvariantRuleDetector().fit(simulate(4000, seed=11, retuned=0).columns)
print(truism.status(newer, simulate(2000, seed=12, retuned=0).columns))
comparison = truism.compare(detector, newer, today)
print("incidents, old and new model:", comparison.table.n_incidents)

# %%
# What was seen: accepting bridges the days until there are rows to learn from, at the price of not
# judging LIT301 in most of them. The status said that the model no longer fits, and what to do
# about it; the new model reports none of this.
plot.scores(newer, today)
