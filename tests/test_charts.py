"""Charts of a report, as Bokeh documents in JSON."""

import json

import msgspec
import numpy as np
import pytest

import reported
from truism.report.charts import arrays, as_json, ends, roc, timeline
from truism.report.contents import Line, Summary


@pytest.fixture(scope="module")
def summary() -> Summary:
    return reported.summary()


def test_chart_data_cannot_end_or_open_a_script():
    hostile = {"</script><!--<script>": ["</SCRIPT >", "&lt;"]}
    assert not set(as_json(hostile)) & set("<>&")
    assert json.loads(as_json(hostile)) == hostile


def models(chart, kind):
    """All Bokeh models of a kind in a chart, wherever they are, as plain attributes."""

    def visit(node):
        if isinstance(node, dict):
            if node.get("name") == kind and node.get("type") == "object":
                yield node.get("attributes", {})
            for each in node.values():
                yield from visit(each)
        elif isinstance(node, list):
            for each in node:
                yield from visit(each)

    return list(visit(json.loads(chart)))


def test_the_timeline_has_a_band_for_each_incident_and_the_threshold(summary):
    chart = timeline(summary)
    [rule] = models(chart, "Span")
    assert rule["location"] == summary.threshold
    [incidents] = [
        each for each in models(chart, "ColumnDataSource") if each.get("name") == "incidents"
    ]
    data = dict(incidents["data"]["entries"])
    assert data["number"] == [str(card.number) for card in summary.incidents]
    assert data["title"] == [card.title for card in summary.incidents]


def test_the_curve_marks_the_region_of_few_false_positives(summary):
    boxes = models(roc(summary.detection), "BoxAnnotation")
    [box] = [each for each in boxes if each.get("left") == 0]
    assert (box["left"], box["right"]) == (0, summary.detection.max_false_positive_rate)


def test_charts_of_strange_numbers_are_drawn(summary):
    for y in ((), (0.0,) * 3, (None,) * 3, (1e-9, 1e9, 1.0)):
        line = Line(tuple(map(float, range(len(y)))), y)
        strange = msgspec.structs.replace(summary, scores=line, unit="row")
        assert models(timeline(strange), "ColumnDataSource")


def test_an_axis_never_begins_where_it_ends():
    assert ends(np.array([3.0, 7.0])) == (3.0, 7.0)
    for x in ([], [3.0], [3.0, 3.0]):
        first, last = ends(np.array(x))
        assert first < last


def test_missing_values_are_nan_in_arrays():
    x, y = arrays(Line((1.0, 2.0), (None, 5.0)))
    assert x.tolist() == [1.0, 2.0]
    assert y.tolist() == pytest.approx([np.nan, 5.0], nan_ok=True)
