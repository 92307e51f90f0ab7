"""
A plant under attack
====================

*Our plant was tampered with last night. What was touched, and when did it begin?*

You need a table of normal operation and the table in question. Here both come from the simulated
water plant that is part of truism: 56 sensors, pumps and valves, one row every ten seconds.
"""

# %%
from truism import InvariantRuleDetector, plot
from truism.plant import schedule, simulate

attacks = schedule(3000, seed=5)
normal = simulate(8000, seed=5).columns
night = simulate(3000, seed=6, attacks=attacks).columns

# %%
# Learn from the normal rows. Times that ascend in equal steps make them a series.
detector = InvariantRuleDetector().fit(normal)
print(detector.rules_.summary(8))

# %%
# Check the night. The gravest story comes first.
findings = detector.check(night)
for incident in [*findings.incidents, *findings.shifts][:2]:
    print(incident, end="\n\n")

# %%
# The score of every row, the threshold, and each incident as a numbered band:
plot.scores(detector, night)

# %%
# The variable that is blamed most, and what was expected of it:
first = [*findings.incidents, *findings.shifts][0]
plot.incident(detector, night, first)

# %%
# What did the attacker really do? The simulation knows; the detector did not.
for attack in attacks:
    start, end = night["time"][[attack.start, attack.end - 1]]
    print(f"{start} to {str(end)[11:]}  {', '.join(attack.targets)}: {attack.description}")
