"""A report as one frozen value: it survives JSON, and shows itself without the page."""

import msgspec
import pytest

import reported
from truism.show.contents import Summary

replace = msgspec.structs.replace


@pytest.fixture(scope="module")
def summary() -> Summary:
    return reported.summary()


def test_a_summary_survives_json_to_the_last_number(summary):
    content = msgspec.json.encode(summary)
    assert msgspec.json.encode(msgspec.json.decode(content, type=Summary)) == content


def test_a_line_is_printed_for_each_of_the_worst_incidents(summary):
    assert len(str(summary).splitlines()) == 1 + len(summary.incidents)
    many = replace(summary, incidents=summary.incidents[:1] * 15, n_incidents=20)
    assert len(str(many).splitlines()) == 12
    assert str(many).endswith("… and 10 more")
    none = replace(summary, incidents=(), n_incidents=0)
    assert str(none) == summary.verdict


def test_what_is_printed_is_escaped_in_a_notebook(summary):
    page = replace(summary, incidents=(), n_incidents=0, verdict="<b>&")._repr_html_()
    assert page == "<pre>&lt;b&gt;&amp;</pre>"
