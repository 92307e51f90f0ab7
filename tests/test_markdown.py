"""A model as a Markdown page that no name can break."""

import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import settings as examples

from learned import learn
from reported import hostile_model
from strategies import names
from truism.export.markdown import chance, to_markdown
from truism.export.records import rule_records
from truism.model.acceptances import Acceptance
from truism.model.predicates import OneOf
from truism.table.frames import as_table


@pytest.fixture(scope="module")
def model():
    return hostile_model()


def test_markdown_shows_names_as_they_are(model):
    page = to_markdown(model)
    assert r"### a\|b\*\<i\>\[x\](y)\`\_" in page
    assert r"a \| b" in page
    assert all(line.count(" | ") >= 2 for line in page.splitlines() if line.startswith("| "))


@examples(max_examples=25)
@given(names)
def test_no_name_breaks_a_table_or_makes_a_heading(name):
    model = learn(as_table({name: ["on", "off"] * 20, "X" + name: [1, 2] * 20}), min_support=0.1)
    lines = to_markdown(model).splitlines()
    for line in lines:
        if line.startswith("|") and not line.startswith("|---"):
            n_columns = len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) - 1
            assert n_columns in (3, 4), line
    assert sum(line.startswith("### ") for line in lines) == 2
    assert sum(line.startswith("## ") for line in lines) == 3


def test_every_rule_stands_under_each_variable_that_it_claims_something_of(model):
    page = to_markdown(model)
    for record in rule_records(model):
        assert page.count(f"| `{record.id}` |") >= len(record.consequents)
    off = [record.id for record in rule_records(model) if record.disabled]
    assert all(re.search(rf"`{each}` \| ~~.*~~", page) for each in off)


def test_what_was_accepted_is_listed(model):
    name = model.schema.names[0]
    condition = OneOf("P101", ("on",))
    some = Acceptance((name,), (condition,), "a|b *test*", date="2025-08-03")
    page = to_markdown(msgspec.structs.replace(model, accepted=(some,)))
    *_, heading, _, _, _, line = page.splitlines()
    assert heading == "## Accepted as normal"
    assert line.startswith(f"| `{some.id}` | ")
    assert line.endswith(r"| P101 = on | accepted on 3 Aug 2025: a\|b \*test\* |")
    assert "## Accepted" not in to_markdown(model)


@pytest.mark.parametrize(
    ("log10", "said"), [(0.0, "1"), (-2.0, "0.01"), (-3.0, "1e-3"), (-400.6, "1e-401")]
)
def test_a_chance_that_no_float_can_hold_is_said(log10, said):
    assert chance(log10) == said


def test_what_a_file_says_of_itself_cannot_break_the_page(model):
    hostile = "<b>[x](y)|&lt;\n# big"
    made = msgspec.structs.replace(model.provenance, created=hostile, version=hostile)
    off = tuple(msgspec.structs.replace(each, date=hostile) for each in model.disabled)
    page = to_markdown(msgspec.structs.replace(model, provenance=made, disabled=off))
    assert "<b>" not in page
    assert "\n# big" not in page
    assert page.count(r"\<b\>\[x\](y)\|\&lt; \# big") == 3


def test_nothing_is_hidden_on_the_page():
    name = "a\x1b[31m\u202eb\u200b"
    model = learn(as_table({name: ["on", "off"] * 20, "x": [1, 2] * 20}), min_support=0.1)
    page = to_markdown(model)
    assert not set(page) & set("\x1b\u202e\u200b")
    assert r"\\u202eb" in page
