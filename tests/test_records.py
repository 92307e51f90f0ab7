"""Rules as records: everything about each, in the order asked for."""

import pytest

from truism.export.records import rule_records
from truism.learning.training import train
from truism.model.settings import Settings
from truism.table.frames import as_table

HOSTILE = "a|b*<i>[x](y)`_"


@pytest.fixture(scope="module")
def model():
    table = as_table(
        {HOSTILE: ["on", "off"] * 50, "flow": [2.5, 0.0] * 50, "id": [f"n{i}" for i in range(100)]}
    )
    model = train(table, Settings(min_support=0.1), created="2024-01-01T00:00:00+00:00")
    return model.disable(model.rules[-1].id, "a | b", "2024-02-03")


def test_records_know_what_is_switched_off(model):
    records = rule_records(model)
    assert [record.id for record in records] == [rule.id for rule in model.rules]
    assert [record.disabled.reason for record in records if record.disabled] == ["a | b"]
