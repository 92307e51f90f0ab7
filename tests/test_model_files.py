"""A model file gives back the model that was written, or says where it does not."""

import json
import math
import os
import random
import re
import stat
import time
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from learned import learn
from learned import learn as tune
from strategies import HOSTILE_NAMES, NORMAL, ratios, tables, thresholds
from truism.errors import ModelFileError
from truism.explain.investigation import find_clues
from truism.model import files as modelfiles
from truism.model.acceptances import Acceptance
from truism.model.files import (
    decode_model,
    encode_model,
    from_file,
    json_schema,
    load_model,
    save_model,
    to_file,
)
from truism.model.provenance import (
    AnyBrokenRule,
    ByHand,
    Calibrated,
    ShareOfRows,
    Threshold,
)
from truism.model.series import Series
from truism.model.settings import Settings
from truism.model.wording import Legend
from truism.score.scorer import Scorer
from truism.table.atomic import write_atomically
from truism.table.frames import as_table
from truism.table.layouts import ColumnReading, Layout, Reading


def small(scoring="paper"):
    """A model with every kind of predicate, some missing values, and a disabled rule."""
    data = {
        "U": ["r"] * 2 + ["c"] * 38,
        "V": ["d"] * 38 + ["s"] * 2,
        "W": ["x"] * 2 + ["y"] * 36 + ["x"] * 2,
        "X": [float(i % 7) if i % 7 else None for i in range(40)],
        "B": [i % 7 > 3 for i in range(40)],
        "N": [i % 2 for i in range(40)],
    }
    model = learn(
        as_table(data), min_support=0.05, support_ratio=0.5, max_predicates=3, scoring=scoring
    )
    rule = next(rule for rule in model.rules if rule.antecedent)
    return data, model.disable(rule.id, 'too "noisy" 🚰', "2024-01-01").with_threshold(0.25)


DATA, MODEL = small()
CONTENT = encode_model(MODEL)
WEIGHED = small("evidence")[1]
WEIGHED_CONTENT = encode_model(WEIGHED)
EITHER = pytest.mark.parametrize(
    ("model", "written"), [(MODEL, CONTENT), (WEIGHED, WEIGHED_CONTENT)], ids=["paper", "evidence"]
)


@EITHER
def test_a_model_survives_its_file(tmp_path, model, written):
    path = tmp_path / "plant.truism.json"
    save_model(model, path)
    again = load_model(path)
    assert again == model
    assert path.read_bytes() == written
    assert encode_model(again) == path.read_bytes()
    table = as_table({name: column[::-1] for name, column in DATA.items()} | {"W": DATA["W"]})
    assert np.array_equal(Scorer(again).score(table), Scorer(model).score(table))
    assert np.array_equal(Scorer(again).attribute(table), Scorer(model).attribute(table))


@examples(max_examples=40)
@given(tables(max_columns=4), thresholds, ratios, st.sampled_from(["evidence", "paper"]))
def test_any_model_survives_with_the_same_scores_to_the_bit(data, min_support, ratio, scoring):
    options = {"min_support": min_support, "support_ratio": ratio, "scoring": scoring}
    model = learn(as_table(data), **options)
    again = decode_model(encode_model(model))
    assert again == model
    assert [rule.id for rule in again.rules] == [rule.id for rule in model.rules]
    assert [
        [type(v) for v in each.values] for each in again.schema.variables if hasattr(each, "values")
    ] == [
        [type(v) for v in each.values] for each in model.schema.variables if hasattr(each, "values")
    ]
    broken = as_table({name: column[1:] + column[:1] for name, column in data.items()})
    assert np.array_equal(Scorer(again).score(broken), Scorer(model).score(broken))


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_hostile_names_and_states_survive(name):
    data = {name: [name, "b"] * 20, "other": [1.5, 2.5] * 20}
    model = learn(as_table(data), min_support=0.1)
    assert decode_model(encode_model(model)) == model


def test_extreme_numbers_survive():
    largest = 1.7976931348623157e308
    data = {"X": [-largest, largest, 5e-324, 0.1 + 0.2, 1e16, -1 / 3] * 6, "U": ["a", "b"] * 18}
    model = learn(as_table(data), min_support=0.05)
    assert decode_model(encode_model(model)) == model


def test_a_tuned_model_survives_with_its_trials():
    data = {"u": ["a", "b"] * 60, "x": [1.0, 2.0] * 60}
    model = tune(as_table(data), Settings(scoring="paper"))
    assert model.provenance.trials
    assert decode_model(encode_model(model)) == model


def test_the_file_is_utf8_json_in_a_stable_order_one_rule_a_line():
    plain = json.loads(CONTENT)
    assert list(plain)[:3] == ["format", "format_version", "digest"]
    assert plain["format"] == "truism-model"
    assert "🚰" in CONTENT.decode("utf-8")
    assert encode_model(MODEL) == CONTENT
    lines = CONTENT.decode().splitlines()
    assert sum(line.startswith('    {"if":') for line in lines) == LAST + 1
    assert CONTENT.endswith(b"\n}\n")


@EITHER
def test_every_predicate_is_written_once_and_rules_refer_to_it(model, written):
    file = to_file(model)
    listed = [each.predicate for each in file.predicates]
    assert len(set(listed)) == len(listed)
    n_alone = len(file.univariate)
    assert file.univariate == model.rules.rules[:n_alone]
    for rule, by_number in zip(model.rules[n_alone:], json.loads(written)["rules"], strict=True):
        assert tuple(listed[i] for i in by_number["if"]) == rule.antecedent
        assert tuple(listed[i] for i in by_number["then"]) == rule.consequents
        assert by_number["count"] == rule.count


def test_a_file_holds_all_that_later_work_needs_without_the_table():
    plain = json.loads(CONTENT)
    assert plain["provenance"]["n_rows"] == 40
    assert plain["disabled"][0]["reason"] == 'too "noisy" 🚰'
    for variable in plain["variables"]:
        assert len(variable["counts"]) <= 255
        assert sum(variable["counts"]) + variable["n_missing"] == 40


def test_the_json_schema_describes_the_file():
    schema = json_schema()
    described = schema["$defs"]["ModelFile"]
    known = msgspec.structs.replace(
        WEIGHED,
        reading=Reading(Layout(decimal=",")),
        series=Series(10.0),
        twins=(("a", "b"),),
        legend=Legend({"a": "mm"}),
        accepted=(Acceptance((), (), "no"),),
    )
    assert set(described["properties"]) == set(json.loads(encode_model(known)))
    assert set(described["required"]) == set(json.loads(CONTENT))
    assert set(json.loads(WEIGHED_CONTENT)) - set(json.loads(CONTENT)) == {"evidence"}


@pytest.mark.parametrize(
    "origin",
    [ByHand(), AnyBrokenRule(), ShareOfRows(0.01, 400), Calibrated(3, 100)],
)
def test_the_origin_of_a_threshold_is_kept(origin):
    model = decode_model(CONTENT).with_threshold(2.5, origin)
    assert decode_model(encode_model(model)).limit == Threshold(2.5, origin)


def test_an_unknown_key_is_refused():
    with pytest.raises(ModelFileError, match="unknown field `wishes`"):
        decode_model(damaged(lambda plain: plain.update(wishes=[])))


def test_the_digest_is_that_of_the_content_as_it_was_read():
    def forget(plain):
        del plain["settings"]["max_rules"]  # a default

    assert decode_model(damaged(forget)) == MODEL


def test_a_committed_file_loads_and_is_written_again_to_the_bit():
    path = Path(__file__).parent / "data" / "model-reading.truism.json"
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


# --- refusals ---


def damaged(change, content=CONTENT):
    """The model file with a change, signed anew so that only the change can be at fault."""
    plain = json.loads(content)
    change(plain)
    plain = modelfiles.FILES.signed(plain)
    return json.dumps(plain).encode()


def setting(*path_and_value):
    *path, value = path_and_value

    def change(plain):
        place = plain
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value

    return change


def numeric():
    return next(i for i, v in enumerate(MODEL.schema.variables) if v.name == "X")


def interval():
    plain = json.loads(CONTENT)
    kinds = [each["predicate"]["type"] for each in plain["predicates"]]
    return kinds.index("interval")


def stepping(step):
    """A series whose rows are so far apart."""

    def change(plain):
        plain["series"] = {"step": step}

    return change


def origin(type_, **numbers):
    return setting("threshold", "origin", {"type": type_, **numbers})


def trial(n_broken, n_held_out, complete_to=2):
    numbers = {"n_broken": n_broken, "n_held_out": n_held_out, "complete_to": complete_to}
    return setting("provenance", "trials", [{"min_support": 0.1, **numbers}])


LAST = sum(bool(rule.antecedent) for rule in MODEL.rules) - 1
TWICE = msgspec.to_builtins(Reading(columns=(ColumnReading("U", "text"),) * 2))
ALONE, PRESENT = "it is no rule about one variable alone", [{"type": "present", "variable": "U"}]
MOST = 2**53 - 1
REFUSALS = [
    (setting("provenance", "n_rows", -1), "Expected `int` >= 0 - at `$.provenance.n_rows`"),
    (
        setting("provenance", "n_columns", 2**60),
        f"Expected `int` <= {MOST} - at `$.provenance.n_columns`",
    ),
    (
        setting("provenance", "complete_to", -1),
        "Expected `int` >= 0 - at `$.provenance.complete_to`",
    ),
    (trial(0, 0), "Expected `int` >= 1 - at `$.provenance.trials[0].n_held_out`"),
    (trial(5, 4), "n_broken must be at most 4, got 5 - at `$.provenance.trials[0]`"),
    (trial(0, 4, -1), "Expected `int` >= 0 - at `$.provenance.trials[0].complete_to`"),
    (
        origin("calibrated", n_above=0, n_rows=0),
        "Expected `int` >= 1 - at `$.threshold.origin.n_rows`",
    ),
    (
        origin("calibrated", n_above=5, n_rows=4),
        "n_above must be at most 4, got 5 - at `$.threshold.origin`",
    ),
    (
        origin("share_of_rows", max_rate=1.5, n_rows=100),
        "Expected `float` <= 1.0 - at `$.threshold.origin.max_rate`",
    ),
    (
        origin("rate_of_incidents", rate={"count": 0.0, "per": "day"}, n_incidents=1, n_rows=9),
        "Expected `float` > 0.0 - at `$.threshold.origin.rate.count`",
    ),
    (
        origin("rate_of_incidents", rate={"count": 1.0, "per": "day"}, n_incidents=9, n_rows=1),
        "n_incidents must be at most 1, got 9 - at `$.threshold.origin`",
    ),
    *(
        (stepping(step), f"Expected `float` {bound} - at `$.series.step`")
        for step, bound in (
            *((0.0, ">= 1e-09"), (-1.0, ">= 1e-09")),
            *((1e-320, ">= 1e-09"), (1e300, "<= 1000000000000.0")),
        )
    ),
    (setting("threshold", "value", -1.0), "Expected `float` >= 0.0 - at `$.threshold.value`"),
    (setting("threshold", "value", "x"), "Expected `float`, got `str` - at `$.threshold.value`"),
    (setting("n_rows", 0), "Expected `int` >= 1 - at `$.n_rows`"),
    (setting("time", 5), "Expected `str | null`, got `int` - at `$.time`"),
    (setting("surprise", 1), "Object contains unknown field `surprise`"),
    (setting("variables", []), "Expected `array` of length >= 1 - at `$.variables`"),
    (
        setting("variables", 0, "name", ""),
        "Expected `str` of length >= 1 - at `$.variables[0].name`",
    ),
    (setting("variables", 0, "name", "V"), "a variable is listed twice - at `$.variables`"),
    (
        setting("variables", 0, "counts", []),
        "Expected `array` of length >= 1 - at `$.variables[0].counts`",
    ),
    (
        setting("variables", 0, "n_missing", 1),
        "counts do not add up to the rows - at `$.variables[0]`",
    ),
    (
        setting("variables", 0, "counts", [40, 0]),
        "Expected `int` >= 1 - at `$.variables[0].counts[1]`",
    ),
    (setting("variables", 0, "values", ["r", "c"]), "values do not ascend - at `$.variables[0]`"),
    (setting("variables", 0, "values", ["c", 1]), "a value is not text - at `$.variables[0]`"),
    (setting("variables", 0, "values", ["c"]), "values and counts differ - at `$.variables[0]`"),
    (
        setting("variables", numeric(), "edges", [1.0]),
        f"edges and counts differ - at `$.variables[{numeric()}]`",
    ),
    (
        setting("variables", numeric(), "std", -1.0),
        f"Expected `float` >= 0.0 - at `$.variables[{numeric()}].std`",
    ),
    (
        setting("variables", numeric(), "mean", None),
        f"Expected `float`, got `null` - at `$.variables[{numeric()}].mean`",
    ),
    (
        setting("provenance", "columns", ["U"]),
        "a variable is not among the columns - at `$.provenance.columns`",
    ),
    (
        setting("provenance", "columns", [*DATA, "U"]),
        "a column is listed twice - at `$.provenance.columns`",
    ),
    (setting("derived", ["nobody"]), "a derived variable is unknown - at `$.derived`"),
    (
        setting("disabled", 0, "rule_id", "nobody"),
        "there is no rule 'nobody' - at `$.disabled[0]`",
    ),
    (
        setting("predicates", interval(), "predicate", "low", 1e9),
        f"An interval must have low < high, got 1000000000.0 and 1.5 - at "
        f"`$.predicates[{interval()}].predicate`",
    ),
    (
        setting("predicates", interval(), "predicate", "variable", "nobody"),
        f"it does not fit its variable - at `$.predicates[{interval()}]`",
    ),
    (
        setting("predicates", interval(), "predicate", "variable", "U"),
        f"it does not fit its variable - at `$.predicates[{interval()}]`",
    ),
    (
        setting("predicates", 0, "n_true", 0),
        "Expected `int` >= 1 - at `$.predicates[0].n_true`",
    ),
    (setting("predicates", 0, "n_false", 99), "counts are out of range - at `$.predicates[0]`"),
    (
        setting("predicates", 0, "n_episodes", 10**6),
        "counts are out of range - at `$.predicates[0]`",
    ),
    (setting("predicates", 0, "n_episodes", 0), "counts are out of range - at `$.predicates[0]`"),
    (
        lambda plain: plain["predicates"][0].pop("n_episodes"),
        "Object missing required field `n_episodes` - at `$.predicates[0]`",
    ),
    (
        setting("predicates", 1, json.loads(CONTENT)["predicates"][0]),
        "a predicate is listed twice - at `$.predicates`",
    ),
    (setting("rules", LAST, "then", [9999]), f"a predicate is unknown - at `$.rules[{LAST}]`"),
    (setting("rules", LAST, "then", [-1]), f"Expected `int` >= 0 - at `$.rules[{LAST}].then[0]`"),
    (
        setting("rules", LAST, "then", []),
        f"Expected `array` of length >= 1 - at `$.rules[{LAST}].then`",
    ),
    (
        setting("rules", LAST, "count", 41),
        f"the count exceeds a predicate's - at `$.rules[{LAST}]`",
    ),
    (setting("univariate", 0, "count", 41), f"{ALONE} - at `$.univariate[0]`"),
    (setting("univariate", 0, "antecedent", PRESENT), f"{ALONE} - at `$.univariate[0]`"),
    (
        setting("settings", "max_predicates", 1),
        "max_predicates must be a whole number of at least 2, got 1 - at `$.settings`",
    ),
    (
        setting("settings", "min_support", 2.0),
        "min_support must be 'auto' or above 0 and below 1, got 2.0 - at `$.settings`",
    ),
    (
        lambda plain: plain["rules"].append(plain["rules"][-1]),
        "a rule is listed twice - at `$.rules`",
    ),
    (
        lambda plain: plain["univariate"].append(plain["univariate"][0]),
        "a rule is listed twice - at `$.univariate`",
    ),
    (
        lambda plain: plain.update(reading=TWICE),
        "a column is listed twice - at `$.reading.columns`",
    ),
    (lambda plain: plain.pop("rules"), "Object missing required field `rules`"),
]


@pytest.mark.parametrize(("change", "problem"), REFUSALS)
def test_a_damaged_file_is_refused_and_the_message_says_where(change, problem):
    with pytest.raises(ModelFileError) as caught:
        decode_model(damaged(change))
    assert caught.value.message == f"The model file is damaged: {problem}."


def first_context(content=WEIGHED_CONTENT):
    """A context that splits, and judges both numbers and states."""
    for i, each in enumerate(json.loads(content)["evidence"]["contexts"]):
        if each["numbers"] and each["states"] and len(each["tree"]) > 1:
            return i
    raise AssertionError("no context splits and judges both")


def altered(*path_and_change):
    """Change a value of the file by a function of it."""
    *path, change = path_and_change

    def alter(plain):
        place = plain
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = change(place[path[-1]])

    return alter


def known(n_rows):
    """Say of how many rows in each leaf the numbers are known."""
    return altered(
        *("evidence", "contexts", C),
        lambda context: context | {"known": [[n_rows] * len(each) for each in context["means"]]},
    )


SPACING, SPLIT = "$.evidence.spacings[0]", "$.evidence.splits[0]"
C = first_context()
CONTEXT = f"$.evidence.contexts[{C}]"
UNFIT, UNFITTING = "tree and statistics do not fit", "it does not fit the variables"
EVIDENCE_REFUSALS = [
    (lambda plain: plain.pop("evidence"), "evidence and scoring do not fit", "$.evidence"),
    (setting("settings", "scoring", "paper"), "evidence and scoring do not fit", "$.evidence"),
    *(
        (setting("evidence", unit, value), "Expected `float` >= 1.0", f"$.evidence.{unit}")
        for unit in ("contradiction_unit", "rarity_unit")
        for value in (0.0, -1.0, 1e-300)
    ),
    (
        setting("evidence", "grave", {"worth": -1.0, "score": 1.0}),
        "Expected `float` >= 0.0",
        "$.evidence.grave.worth",
    ),
    (
        setting("evidence", "grave", {"worth": 1.0, "score": -0.5}),
        "Expected `float` >= 0.0",
        "$.evidence.grave.score",
    ),
    (
        setting("evidence", "rarity_unit", "large"),
        "Expected `float`, got `str`",
        "$.evidence.rarity_unit",
    ),
    (
        setting("evidence", "spacings", []),
        "spacings and numeric variables differ",
        "$.evidence.spacings",
    ),
    (
        setting("evidence", "spacings", 0, "variable", "U"),
        "spacings and numeric variables differ",
        "$.evidence.spacings",
    ),
    (
        altered("evidence", "spacings", 0, "values", lambda v: v[::-1]),
        "values and counts do not fit",
        SPACING,
    ),
    (
        altered("evidence", "spacings", 0, "values", lambda v: v[1:]),
        "values and counts do not fit",
        SPACING,
    ),
    (
        altered("evidence", "spacings", 0, "counts", lambda v: [0, *v[1:]]),
        "Expected `int` >= 1",
        f"{SPACING}.counts[0]",
    ),
    (
        altered("evidence", "spacings", 0, "counts", lambda v: [v[0] + 1, *v[1:]]),
        "counts do not add up to the rows",
        SPACING,
    ),
    (
        lambda plain: plain["evidence"]["spacings"][0].update(values=[], counts=[]),
        "Expected `array` of length >= 1",
        f"{SPACING}.counts",
    ),
    (setting("evidence", "spacings", 0, "near", 0), "Expected `int` >= 1", f"{SPACING}.near"),
    *(
        (
            setting("evidence", "spacings", 0, "spread", spread),
            "Expected `float` > 0.0",
            f"{SPACING}.spread",
        )
        for spread in (0.0, -2.0)
    ),
    (
        setting("evidence", "usual", 0, "spread", 0.0),
        "Expected `float` > 0.0",
        "$.evidence.usual[0].spread",
    ),
    (
        altered("evidence", "usual", lambda v: v[1:]),
        "it does not fit the variables",
        "$.evidence.usual",
    ),
    (setting("evidence", "splits", 0, "variable", "nobody"), "it does not fit its variable", SPLIT),
    (
        setting("evidence", "splits", 0, {"type": "interval", "variable": "U", "high": 3.0}),
        "it does not fit its variable",
        SPLIT,
    ),
    (
        setting(
            "evidence", "splits", 0, {"type": "interval", "variable": "X", "low": 1.0, "high": 3.0}
        ),
        "it does not fit its variable",
        SPLIT,
    ),
    (
        setting("evidence", "splits", 0, {"type": "one_of", "variable": "U", "values": ["never"]}),
        "it does not fit its variable",
        SPLIT,
    ),
    (setting("evidence", "contexts", C, "tree", []), UNFIT, CONTEXT),
    (setting("evidence", "contexts", C, "tree", [-1]), UNFIT, CONTEXT),
    (altered("evidence", "contexts", C, "tree", lambda t: t[:-1]), UNFIT, CONTEXT),
    (altered("evidence", "contexts", C, "tree", lambda t: [*t, -1]), UNFIT, CONTEXT),
    (altered("evidence", "contexts", C, "tree", lambda t: [9999, *t[1:]]), UNFITTING, CONTEXT),
    (
        altered("evidence", "contexts", C, "tree", lambda t: [-2, *t[1:]]),
        "Expected `int` >= -1",
        f"{CONTEXT}.tree[0]",
    ),
    (
        altered("evidence", "contexts", C, "counts", lambda v: [v[0] + 1, *v[1:]]),
        UNFITTING,
        CONTEXT,
    ),
    (
        altered("evidence", "contexts", C, "counts", lambda v: [-v[0], *v[1:]]),
        "Expected `int` >= 0",
        f"{CONTEXT}.counts[0]",
    ),
    (altered("evidence", "contexts", C, "means", lambda v: v[1:]), UNFIT, CONTEXT),
    (altered("evidence", "contexts", C, "means", 0, lambda v: [*v, 0.0]), UNFIT, CONTEXT),
    (
        altered("evidence", "contexts", C, "means", 0, 0, lambda _: 1e308),
        "Expected `float` <= 50.0",
        f"{CONTEXT}.means[0][0]",
    ),
    (
        altered("evidence", "contexts", C, "spreads", 0, 0, lambda _: -1e-300),
        "Expected `float` >= 0.0",
        f"{CONTEXT}.spreads[0][0]",
    ),
    (
        altered("evidence", "contexts", C, "spreads", 0, 0, lambda _: 1e300),
        "Expected `float` <= 100.0",
        f"{CONTEXT}.spreads[0][0]",
    ),
    (setting("evidence", "contexts", C, "known", [[1]]), UNFIT, CONTEXT),
    (known(-1), "Expected `int` >= 0", f"{CONTEXT}.known[0][0]"),
    (known(10**9), UNFIT, CONTEXT),
    (
        altered("evidence", "contexts", C, "state_counts", 0, 0, lambda v: [*v, 1]),
        UNFIT,
        CONTEXT,
    ),
    (
        altered("evidence", "contexts", C, "state_counts", 0, 0, lambda v: [-1, *v[1:]]),
        "Expected `int` >= 0",
        f"{CONTEXT}.state_counts[0][0][0]",
    ),
    (
        altered("evidence", "contexts", C, "state_counts", 0, 0, lambda v: [10**9, *v[1:]]),
        UNFIT,
        CONTEXT,
    ),
    (altered("evidence", "contexts", C, "numbers", lambda v: v * 2), UNFIT, CONTEXT),
    (altered("evidence", "contexts", C, "numbers", lambda _: [0]), UNFIT, CONTEXT),
    (altered("evidence", "contexts", C, "states", lambda v: [99, *v[1:]]), UNFITTING, CONTEXT),
    (
        setting("evidence", "contexts", C, "tree", "x"),
        "Expected `array`, got `str`",
        f"{CONTEXT}.tree",
    ),
    (
        setting("evidence", "contexts", C, "more", 1),
        "Object contains unknown field `more`",
        CONTEXT,
    ),
]


@pytest.mark.parametrize(("change", "problem", "where"), EVIDENCE_REFUSALS)
def test_damaged_evidence_is_refused_and_the_message_says_where(change, problem, where):
    with pytest.raises(ModelFileError) as caught:
        decode_model(damaged(change, WEIGHED_CONTENT))
    assert caught.value.message == f"The model file is damaged: {problem} - at `{where}`."


@pytest.mark.parametrize(
    ("content", "message"),
    [
        *(
            (
                content,
                "This is not a truism model file.\nHint: learn a model from normal rows, and save it.",
            )
            for content in (b"", b"{}", b"[1]", b"time,pump\n")
        ),
        (
            b'{"format": "truism-model", "format_version": 3}',
            "The model file has format version 3, this truism reads 4.\n"
            "Hint: learn the model again.",
        ),
        (
            CONTENT.replace(b'"value":0.25', b'"value":0.5'),
            "The model file was changed after it was written: its digest does not match.\nHint: "
            "restore it, or learn it again; rules can be switched off without editing the file.",
        ),
    ],
)
def test_what_is_no_model_file_is_refused(content, message):
    with pytest.raises(ModelFileError) as caught:
        decode_model(content)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "content",
    [
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"format": "truism-model", "format_version": 4, "x": ' + b"[" * 100_000,
        b'{"format": "truism-model", "format_version": 4, "rules": '
        + b"[" * 5000
        + b"]" * 5000
        + b"}",
        CONTENT.replace(b'"derived": []', b'"derived": ' + b"[" * 3000 + b"]" * 3000),
    ],
    ids=["arrays", "objects", "skipped", "typed", "in a model"],
)
def test_deep_nesting_is_refused(content):
    with pytest.raises(
        ModelFileError, match=r"^(The model file is damaged: |This is not a truism)"
    ):
        decode_model(content)


def limit_size(monkeypatch):
    small = msgspec.structs.replace(modelfiles.FILES, max_bytes=3 << 20)
    monkeypatch.setattr(modelfiles, "FILES", small)


def test_an_oversized_file_is_refused_before_it_is_read(tmp_path, monkeypatch):
    limit_size(monkeypatch)
    with pytest.raises(ModelFileError) as caught:
        decode_model(b" " * (4 << 20))
    assert str(caught.value) == "A model file must be at most 3 MiB, got more."
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(5 << 20)
    with pytest.raises(ModelFileError) as caught:
        load_model(path)
    assert str(caught.value) == f"A model file must be at most 3 MiB, got more. ({path})"


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    missing = tmp_path / "nothing.json"
    with pytest.raises(ModelFileError) as caught:
        load_model(missing)
    assert str(caught.value) == (
        f"The model file {str(missing)!r} cannot be read: No such file or directory."
    )
    with pytest.raises(ModelFileError) as caught:
        load_model(tmp_path)
    assert str(caught.value) == f"The model file {str(tmp_path)!r} cannot be read: Is a directory."
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(ModelFileError) as caught:
        load_model(tmp_path / "empty")
    assert str(caught.value) == (
        f"This is not a truism model file. ({tmp_path / 'empty'})\n"
        "Hint: learn a model from normal rows, and save it."
    )


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="there is no /dev/zero")
def test_a_device_without_end_is_read_no_further_than_a_model_may_be_long(monkeypatch):
    limit_size(monkeypatch)
    with pytest.raises(ModelFileError) as caught:
        load_model("/dev/zero")
    assert str(caught.value) == "A model file must be at most 3 MiB, got more. (/dev/zero)"


def test_no_count_exceeds_what_floats_hold_exactly():
    for content in (
        damaged(setting("n_rows", 2**63)),
        damaged(setting("provenance", "n_rows", 2**63)),
        damaged(setting("rules", 0, "count", 2**63)),
    ):
        with pytest.raises(ModelFileError, match="damaged"):
            decode_model(content)


def crafted(n_states, n_rules):
    """A file of many rules that all end in one predicate of many states."""
    plain = json.loads(CONTENT)
    states = [f"{i:06}" for i in range(n_states)]
    others = [f"{i:03}" for i in range(200)]
    each = n_states // 200
    wide, narrow = (dict(variable) for variable in plain["variables"][:2])
    wide |= {"values": states, "counts": [1] * n_states, "n_missing": 0}
    narrow |= {"values": others, "counts": [each] * 200, "n_missing": 0}
    ends = {"predicate": {"type": "one_of", "variable": wide["name"], "values": states}}
    ends |= {"n_true": n_states, "n_false": 0, "n_episodes": 0}
    starts = [
        {
            "predicate": {"type": "one_of", "variable": narrow["name"], "values": [value]},
            "n_true": each,
            "n_false": n_states - each,
            "n_episodes": 1,
        }
        for value in others
    ]
    pairs = [(i, j) for i in range(1, 200) for j in range(i + 1, 201)][:n_rules]
    changes = {
        "n_rows": n_states,
        "derived": [],
        "variables": [wide, narrow],
        "provenance": {**plain["provenance"], "columns": [], "n_rows": n_states},
        "univariate": [],
        "predicates": [ends, *starts],
        "rules": [{"if": list(pair), "then": [0], "count": 1} for pair in pairs],
        "disabled": [],
    }
    return damaged(lambda plain: plain.update(changes))


def test_rules_are_compared_by_number_not_by_their_text():
    # Comparing 15,000 rules value by value takes a minute; reading them takes half a second.
    started = time.perf_counter()
    decode_model(crafted(4000, 15_000))
    assert time.perf_counter() - started < 10


def test_rules_that_list_more_than_anybody_could_read_are_refused():
    with pytest.raises(ModelFileError) as caught:
        decode_model(crafted(40_000, 15_000))
    assert caught.value.message == (
        "The model file is damaged: they list 600,030,000 values - at `$.rules`."
    )


def test_contexts_are_checked_in_the_same_time_however_many_variables_there_are():
    # Listing the variables anew for each context would take a minute here.
    data = {**NORMAL, "level": [float(i % 17) for i in range(100)]}
    file = to_file(learn(as_table(data), min_support=0.1))
    first, evidence = file.variables[0], file.evidence
    more = tuple(msgspec.structs.replace(first, name=f"n{i}") for i in range(4000))
    several = msgspec.structs.replace(
        evidence,
        contexts=evidence.contexts[:1] * 4000,
        usual=(*evidence.usual, *evidence.usual[:1] * 4000),
    )
    provenance = msgspec.structs.replace(file.provenance, columns=())
    changes = {"variables": (*file.variables, *more), "evidence": several, "provenance": provenance}
    started = time.perf_counter()
    from_file(msgspec.structs.replace(file, **changes))
    assert time.perf_counter() - started < 10


# --- mutations ---

TOKENS = [
    *(b"null", b"true", b"-1", b"1e999", b"1e400", b"0", b'""', b"[]", b"{}", b"NaN", b"Infinity"),
    *(b"99999999999999999999999", b"-0.0", b'"\\ud800"', b"\xff", b"\x00", b",", b":", b"[", b"}"),
]


def mutations(content, n, seed):
    """Random edits of bytes, tokens, lines and JSON values."""
    source = random.Random(seed)
    spots = [match.span() for match in re.finditer(rb'-?\d+(\.\d+)?|"[^"]*"|null', content)]
    lines = content.splitlines(keepends=True)
    for _ in range(n):
        kind = source.randrange(6)
        at = source.randrange(len(content))
        if kind == 0:
            yield content[:at] + bytes([source.randrange(256)]) + content[at + 1 :]
        elif kind == 1:
            yield content[:at] + content[at + source.randrange(1, 9) :]
        elif kind == 2:
            yield content[:at] + source.choice(TOKENS) + content[at:]
        elif kind == 3:
            start, end = source.choice(spots)
            yield content[:start] + source.choice(TOKENS) + content[end:]
        elif kind == 4:
            (a, b), (c, d) = sorted(source.sample(spots, 2))
            yield content[:a] + content[c:d] + content[b:c] + content[a:b] + content[d:]
        else:
            some = list(lines)
            one, other = source.randrange(len(some)), source.randrange(len(some))
            if source.random() < 0.5:
                some[one], some[other] = some[other], some[one]
            else:
                some.insert(one, some[other])
            yield b"".join(some)


@EITHER
@pytest.mark.parametrize("seed", range(4))
def test_ten_thousand_mutations_give_an_equal_model_or_a_clean_error(seed, model, written):
    # 2 × 4 × 1,500 edits of the file as it is: mostly syntax, types and the digest.
    for content in mutations(written, 1500, seed):
        try:
            again = decode_model(content)
        except ModelFileError:
            continue
        assert again == model


def json_values(plain, path=()):
    if isinstance(plain, dict):
        for key, value in plain.items():
            yield from json_values(value, (*path, key))
    elif isinstance(plain, list):
        for key, value in enumerate(plain):
            yield from json_values(value, (*path, key))
    if path:
        yield path


@EITHER
@pytest.mark.parametrize("seed", range(4))
def test_mutated_values_under_a_fitting_digest_give_a_model_that_works_or_a_clean_error(
    seed, model, written
):
    # A forger can sign anew; what is then read must still be a model that scores and explains.
    source = random.Random(seed)
    paths = list(json_values(json.loads(written)))
    pool = [
        None,
        True,
        -1,
        0,
        1,
        39,
        40,
        41,
        2**70,
        1e308,
        -1e308,
        0.5,
        "",
        "U",
        "X",
        "c",
        [],
        {},
        [0],
        [1, 2],
    ]
    table = as_table({name: column[::-1] for name, column in DATA.items()})
    for _ in range(400):
        path, value = source.choice(paths), source.choice(pool)
        try:
            model = decode_model(damaged(setting(*path, value), written))
        except ModelFileError:
            continue
        scorer = Scorer(model)
        try:
            scores = scorer.score(table)
        except ValueError:
            continue  # the mutated schema does not fit this table any more
        assert np.isfinite(scores).all()
        assert (scores >= 0).all()
        find_clues(scorer, table)
        assert str(model.rules)
        assert decode_model(encode_model(model)) == model


@pytest.fixture(scope="module")
def of_a_series():
    rows = {**DATA, "time": np.datetime64("2026-01-01", "s") + np.arange(len(DATA["X"]))}
    return encode_model(learn(as_table(rows), Settings(min_support=0.1, ordered=True)))


MEMORY = ("series", "memory")


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        ((*MEMORY, "weight"), 1e308, "Expected `float` <= 1000000000000.0"),
        ((*MEMORY, "cap"), -1.0, "Expected `float` >= 0.0"),
        ((*MEMORY, "usual", 0), 1e308, "Expected `float` <= 1000000000000.0"),
        ((*MEMORY, "lookback"), 0, "Expected `int` >= 1"),
        (("evidence", "contexts"), 3000, "Expected `array` of length <= 500"),
    ],
)
def test_numbers_beyond_all_that_is_learned_are_refused(of_a_series, path, value, problem):
    def change(plain):
        more = plain["evidence"]["contexts"] * value if path[-1] == "contexts" else value
        setting(*path, more)(plain)

    with pytest.raises(ModelFileError) as caught:
        decode_model(damaged(change, of_a_series))
    where = "".join(f"[{each}]" if isinstance(each, int) else f".{each}" for each in path)
    assert caught.value.message == f"The model file is damaged: {problem} - at `${where}`."


# --- writing ---


def test_a_file_that_is_there_survives_a_failure(tmp_path, monkeypatch):
    path = tmp_path / "plant.json"
    path.write_bytes(b"precious")

    def fail(*_):
        raise OSError(28, "disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        save_model(MODEL, path)
    assert path.read_bytes() == b"precious"
    assert [each.name for each in tmp_path.iterdir()] == ["plant.json"]


def test_a_written_file_has_the_usual_rights(tmp_path):
    write_atomically(tmp_path / "a", b"x")
    (tmp_path / "b").write_bytes(b"x")
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == stat.S_IMODE(
        (tmp_path / "b").stat().st_mode
    )


def test_a_threshold_that_json_cannot_hold_never_reaches_a_file():
    with pytest.raises(ValueError, match="threshold"):
        MODEL.with_threshold(math.inf)


@given(st.binary(max_size=200))
def test_random_bytes_are_refused_cleanly(content):
    with pytest.raises(ModelFileError):
        decode_model(content)
