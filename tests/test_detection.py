"""With labels: how well scores tell labelled rows from the others."""

import pytest

import reported
from reported import NORMAL, attacked
from truism import ParameterError
from truism.explaining.checker import Checker
from truism.report.contents import Summary
from truism.report.summarising import summarise
from truism.table.frames import as_table


@pytest.fixture(scope="module")
def checker() -> Checker:
    return reported.checker()


@pytest.fixture(scope="module")
def summary() -> Summary:
    return reported.summary()


def test_labels_give_segments_and_areas(summary):
    found = summary.detection
    assert found.n_labelled == 15
    assert [(each.start, each.end, each.n_reported) for each in found.segments] == [
        (30, 39, 10),
        (60, 64, 0),
    ]
    assert found.n_detected == 1


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("nowhere", "label must name a column of the table, got 'nowhere'."),
        (
            "note",
            "label must name a column of numbers or booleans, got 'note'.\n"
            "Hint: 0 and false mean normal, everything else anomalous.",
        ),
        (
            "degree",
            "label must name a column of whole numbers or booleans, got 'degree'.\n"
            "Hint: it holds 0.5; 0 and false mean normal, everything else anomalous.",
        ),
        (
            "flow",
            "label must not be a variable of the model, got 'flow'.\n"
            "Hint: learn again, and leave that column out.",
        ),
    ],
)
def test_labels_that_cannot_be_read_are_refused(checker, column, message):
    with pytest.raises(ParameterError) as caught:
        summarise(checker, as_table({**attacked(), "degree": [0.5] * 200}), label=column)
    assert str(caught.value) == message


def test_labels_must_mark_some_rows_and_not_all(checker):
    table = as_table({**NORMAL, "label": [0] * 200})
    with pytest.raises(ParameterError) as caught:
        summarise(checker, table, label="label")
    assert str(caught.value) == (
        "label must mark some rows and not all, got 'label'.\nHint: all rows of it are normal."
    )
