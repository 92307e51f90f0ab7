"""Reports as files: what the ending of the name asks for, or nothing at all."""

import json

import msgspec
import pytest

import reported
from truism import ParameterError
from truism.show.contents import Summary
from truism.show.summarising import check_ending, render, to_json, write_report


@pytest.fixture(scope="module")
def summary() -> Summary:
    return reported.summary()


def test_page_and_json_come_from_the_same_summary(summary, tmp_path):
    for name in ("r.html", "r.json"):
        write_report(tmp_path / name, summary)
    written = msgspec.json.decode((tmp_path / "r.json").read_bytes(), type=Summary)
    assert to_json(written) == to_json(summary)
    assert summary.verdict in (tmp_path / "r.html").read_text()
    assert json.loads(to_json(summary))["format"] == "truism-report"


def test_a_report_with_an_unknown_ending_is_refused_before_any_work(summary, tmp_path):
    with pytest.raises(ParameterError) as caught:
        write_report(tmp_path / "r.pdf", summary)
    name = str(tmp_path / "r.pdf")
    assert str(caught.value) == (f"The report's name must end in .html or .json, got {name!r}.")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["r.html", "r.HTM", "a.b.json"])
def test_an_ending_is_known_in_any_case(summary, name):
    check_ending(name)
    assert render(name, summary)


@pytest.mark.parametrize("name", ["r", ".html", "r.html.gz", "r.xlsx", "r.txt", ""])
def test_an_ending_that_names_no_form_is_refused(summary, name):
    with pytest.raises(ParameterError):
        check_ending(name)
    with pytest.raises(ParameterError):
        render(name, summary)
