"""Model files of former versions are brought up to date, and nothing in them is lost."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from test_model_files import DATA
from truism.model import files as modelfiles
from truism.model.contents import FORMAT_VERSION
from truism.model.files import decode_model, encode_model, load_model
from truism.model.versions import upgrade
from truism.scoring.scorer import Scorer
from truism.table.frames import as_table
from truism.table.layouts import ColumnReading, Layout, Reading

GOLDEN = Path(__file__).parent / "data"


def test_there_is_a_file_of_every_format_version_so_far():
    files = sorted(path.name for path in GOLDEN.glob("model-v*.truism.json"))
    assert files == [f"model-v{each}.truism.json" for each in modelfiles.READABLE]
    assert FORMAT_VERSION in modelfiles.READABLE


def test_a_file_of_version_1_stays_readable():
    model = load_model(GOLDEN / "model-v1.truism.json")
    assert (len(model.rules), len(model.disabled)) == (27, 1)
    assert (model.settings.scoring, model.evidence) == ("paper", None)
    assert not Scorer(model.with_threshold(0.0)).score(as_table(DATA)).any()
    newer = decode_model(encode_model(model))
    assert newer == model
    assert json.loads(encode_model(model))["format_version"] == 3


def test_a_file_of_version_2_stays_readable_with_the_same_scores_to_the_bit():
    path = GOLDEN / "model-v2.truism.json"
    model = load_model(path)
    assert (len(model.rules), len(model.disabled), model.threshold) == (27, 1, 0.25)
    assert model.settings.scoring == "evidence"
    assert model.evidence is not None
    assert len(model.evidence.spacings) == 1
    assert {type(each).__name__ for each in model.evidence.splits} == {"Interval", "OneOf"}
    table = as_table({name: column[::-1] for name, column in DATA.items()} | {"W": DATA["W"]})
    scores, again = Scorer(model).score(table), Scorer(decode_model(encode_model(model)))
    assert scores.max() > 0
    assert np.array_equal(again.score(table), scores)


def content_of(version):
    return json.loads((GOLDEN / f"model-v{version}.truism.json").read_bytes())


@pytest.mark.parametrize("version", [1, 2])
def test_a_former_file_becomes_one_of_version_3_and_loses_nothing(version):
    before, after = content_of(version), upgrade(content_of(version))
    assert after["format_version"] == 3
    moved = {"format_version", "threshold", "threshold_meaning", "provenance"}
    evidence = {"units", "usual", "grave", "spacings", "splits", "contexts"}
    for name in before.keys() - moved - evidence:
        assert after[name] == before[name]
    for name in before.keys() & evidence:
        assert after["evidence"][name] == before[name]
    assert after["provenance"].items() >= before["provenance"].items()
    assert after["threshold"]["value"] == before["threshold"]
    assert after["sections"] == ({"evidence": 1} if version == 2 else {})
    assert set(after) - set(before) == {"sections"} | ({"evidence"} if version == 2 else set())


def test_a_file_of_this_version_or_of_a_later_one_stays_as_it_is():
    for content in (content_of(3), {"format_version": 4, "units": 1}, {}, {"format_version": None}):
        assert upgrade(content) is content


names = st.text(max_size=8).filter(lambda name: name not in content_of(2) and name != "grave")
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@given(st.sampled_from([1, 2]), st.dictionaries(names, anything, max_size=4))
def test_what_is_not_known_survives_to_be_refused_by_name(version, unknown):
    unknown = {
        name: value for name, value in unknown.items() if name not in ("sections", "evidence")
    }
    after = upgrade({**content_of(version), **unknown})
    assert {name: after[name] for name in unknown} == unknown


@given(st.sampled_from([1, 2]), st.dictionaries(st.sampled_from(sorted(content_of(2))), anything))
def test_rubbish_is_upgraded_without_a_failure(version, rubbish):
    after = upgrade({**content_of(version), **rubbish, "format_version": version})
    assert after["format_version"] == 3


@pytest.mark.parametrize(
    ("meaning", "value", "origin"),
    [
        ("", 0.0, {"type": "any_broken_rule"}),
        ("", 2.5, {"type": "told", "text": ""}),
        ("any broken rule", 0.0, {"type": "any_broken_rule"}),
        ("set by hand", 2.5, {"type": "by_hand"}),
        ("because", 2.5, {"type": "told", "text": "because"}),
    ],
)
def test_the_words_about_a_threshold_become_an_origin(meaning, value, origin):
    content = {**content_of(2), "threshold": value, "threshold_meaning": meaning}
    assert upgrade(content)["threshold"] == {"value": value, "origin": origin}


def test_notices_are_kept_in_words_but_for_those_about_what_is_left_out():
    content = content_of(2)
    content["left_out"] = [{"name": "id", "reason": "text"}]
    content["provenance"]["notices"] = ["Column 'id' is left out: text.", "Mind the gap."]
    told = upgrade(content)["provenance"]["notices"]
    assert told == [{"type": "told", "text": "Mind the gap."}]


@pytest.mark.parametrize(
    ("settings", "made", "origin"),
    [
        ({"min_support": 0.05}, {}, "asked"),
        ({"scoring": "evidence"}, {"min_support": 0.01}, "share"),
        ({"scoring": "evidence"}, {"min_support": 0.32}, "most"),
        ({"scoring": "evidence"}, {"min_support": 0.1}, "rows"),
        ({}, {"trials": []}, "untried"),
        ({}, {"trials": [{"min_support": 0.1, "n_broken": 0, "n_held_out": 50}]}, "smallest"),
        ({}, {"trials": [{"min_support": 0.1, "n_broken": 5, "n_held_out": 50}]}, "fewest"),
    ],
)
def test_why_a_support_is_what_it_is_is_found_out(settings, made, origin):
    content = content_of(1)
    content["settings"] = {"min_support": "auto", **settings}
    content["provenance"] |= {"min_support": 0.1, **made}
    assert upgrade(content)["provenance"]["support_origin"] == origin


def test_a_file_that_keeps_how_its_table_was_read_stays_readable():
    path = GOLDEN / "model-reading.truism.json"
    model = load_model(path)
    assert model.reading == Reading(
        Layout(delimiter=";", decimal=",", time=("Datum", "Uhrzeit"), zone="Europe/Vienna"),
        (
            ColumnReading("Datum Uhrzeit", "time", style="day first"),
            ColumnReading("code", "text"),
            ColumnReading("run", "text"),
            ColumnReading("Energie total", "number"),
            ColumnReading("level", "number", words=("Bad",), decimal=","),
        ),
        optional=("run",),
    )
    assert model.derived == ("Energie total",)
    assert model.schema.names == ("code", "run", "level", "ΔEnergie total")
    assert encode_model(model) == path.read_bytes()
