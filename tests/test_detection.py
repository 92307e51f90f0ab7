"""With labels: reports say how findings compare with them, as the screen does."""

import pytest

import reported
from reported import NORMAL, attacked
from truism import ParameterError
from truism.explain.checker import Checker
from truism.show.html import to_html
from truism.show.summarising import summarise
from truism.table.frames import as_table


@pytest.fixture(scope="module")
def checker() -> Checker:
    return reported.checker()


def test_a_report_compares_findings_with_labels():
    summary = reported.summary()
    assert summary.labels == (
        "label: 1 of 2 labelled segments found, 1 missed; 1 false in 185 normal rows."
    )
    assert summary.labels in to_html(summary)


def test_without_labels_nothing_is_compared(checker):
    assert summarise(checker, as_table(attacked())).labels == ""


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("nowhere", "label must name a column of the table, got 'nowhere'."),
        (
            "degree",
            "label must name a column of whole numbers, booleans or texts, got 'degree'.\n"
            "Hint: it holds 0.5; 0 means normal, other numbers anomalous.",
        ),
        (
            "flow",
            "label must not be a variable of the model, got 'flow'.\n"
            "Hint: learn again without that column.",
        ),
    ],
)
def test_labels_that_cannot_be_read_are_refused(checker, column, message):
    with pytest.raises(ParameterError) as caught:
        summarise(checker, as_table({**attacked(), "degree": [0.5] * 200}), label=column)
    assert str(caught.value) == message


def test_labels_of_a_quiet_day_are_compared_too(checker):
    told = summarise(checker, as_table({**NORMAL, "label": [0] * 200}), label="label")
    assert (
        told.labels
        == "label: 0 of 0 labelled segments found, 0 missed; 0 false in 200 normal rows."
    )
