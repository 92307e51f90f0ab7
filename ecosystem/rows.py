"""What the tests of other tools share: a small model, rows that follow it and rows that do not."""

from truism.learning.training import train
from truism.model.settings import Settings
from truism.scoring.scorer import Scorer
from truism.table.frames import as_table

NORMAL = {
    "pump": ["on", "off"] * 50,
    "flow": [2.5 + i % 7 / 50 if i % 2 == 0 else i % 5 / 100 for i in range(100)],
    "auto": [i % 4 != 0 for i in range(100)],
}
BROKEN = {
    "pump": ["on", "on", "never", None, "off"],
    "flow": [2.5, 0.01, 2.5, 0.01, None],
    "auto": [True, False, True, True, True],
}
MODEL = train(as_table(NORMAL), Settings(min_support=0.1))


def broken_rules(data):
    """Return the ids of the rules with a condition that rows break."""
    listed = Scorer(MODEL).violations(as_table(data))
    return {each.rule.id for row in listed for each in row if each.rule.antecedent}
