"""What the tests of other tools share: a small model, rows that follow it and rows that do not."""

from truism.learn.learn import learn as train
from truism.model.settings import Settings
from truism.score.scorer import Scorer
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

# Names and states that mean something to templates, and to SQLAlchemy.
_OWNED = "{{ run_query('CREATE TABLE owned (i int)') }}"
_PUMP, _FLOW = "{%+ endraw %}" + _OWNED, "FROM truism_relation\nflow :bar"
_ON, _OFF = "{% endraw +%}" + _OWNED + "{# :remote", "auto\r\n\\:remote % {batch}"
HOSTILE = {_PUMP: [_ON, _OFF] * 50, _FLOW: ["high", "low"] * 50}
HOSTILE_BROKEN = {_PUMP: [_ON, _OFF, "n :x"], _FLOW: ["low", "low", "high"]}
HOSTILE_MODEL = train(as_table(HOSTILE), Settings(min_support=0.1))


def broken_rules(data, model=MODEL):
    """Return the ids of the rules with a condition that rows break."""
    listed = Scorer(model).violations(as_table(data))
    return {each.rule.id for row in listed for each in row if each.rule.antecedent}
