"""A model as a Markdown page that no name can break."""

import pytest

from truism.export.markdown import to_markdown
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


def test_markdown_shows_names_as_they_are(model):
    page = to_markdown(model)
    assert r"### a\|b\*\<i\>\[x\](y)\`\_" in page
    assert r"a \| b" in page
    assert all(line.count(" | ") >= 2 for line in page.splitlines() if line.startswith("| "))
