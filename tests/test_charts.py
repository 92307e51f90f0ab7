"""Charts of a report, as Bokeh documents in JSON."""

import json

import pytest

import reported
from truism.report.charts import as_json
from truism.report.contents import Summary


@pytest.fixture(scope="module")
def summary() -> Summary:
    return reported.summary()


def test_chart_data_cannot_end_or_open_a_script():
    hostile = {"</script><!--<script>": ["</SCRIPT >", "&lt;"]}
    assert not set(as_json(hostile)) & set("<>&")
    assert json.loads(as_json(hostile)) == hostile
