"""A report as one frozen value: it survives JSON, and shows itself without the page."""

import msgspec
import pytest

import reported
from truism.show.contents import Detection, Segment, Summary

replace = msgspec.structs.replace


@pytest.fixture(scope="module")
def summary() -> Summary:
    return reported.summary()


def test_a_summary_survives_json_to_the_last_number(summary):
    content = msgspec.json.encode(summary)
    assert msgspec.json.encode(msgspec.json.decode(content, type=Summary)) == content


def test_a_segment_is_detected_if_one_of_its_rows_is_reported():
    segments = tuple(
        Segment("then", i, i + 1, n, i if n else None) for i, n in enumerate((0, 1, 2))
    )
    found = Detection("label", 6, 0.5, 0.5, 0.1, (0.0, 1.0), (0.0, 1.0), 0.0, 0.5, segments)
    assert found.n_detected == 2


def test_a_notebook_shows_a_row_for_each_of_the_worst_incidents(summary):
    page = summary._repr_html_()
    assert page.count("<tr>") == 1 + len(summary.incidents)
    many = replace(summary, incidents=summary.incidents[:1] * 15, n_incidents=20)
    assert many._repr_html_().count("<tr>") == 11
    assert "10 more" in many._repr_html_()
    none = replace(summary, incidents=(), n_incidents=0)
    assert "<table" not in none._repr_html_()


def test_names_are_escaped_in_a_notebook(summary):
    card = replace(summary.incidents[0], title="<i>x</i>")
    page = replace(summary, incidents=(card,), n_incidents=1, verdict="<b>&")._repr_html_()
    assert "<i>" not in page
    assert "&lt;b&gt;&amp;" in page
