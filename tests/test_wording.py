"""Predicates, lists and numbers as a person reads them: short, and never false."""

import json
import unicodedata

import msgspec
import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from strategies import finite
from truism import InvariantRuleDetector, load
from truism.cli import app
from truism.errors import ModelFileError, ParameterError
from truism.export.records import rule_records
from truism.model.files import decode_model, encode_model
from truism.model.predicates import AnyOf, Interval, OneOf, Present, format_value
from truism.model.rules import Rule
from truism.model.wording import (
    Legend,
    brief,
    brief_conditions,
    count,
    exclude,
    lasting,
    legend_of,
    name_some,
    percent,
    same_side,
    shorten,
    visible,
)


def test_durations_are_said_in_their_two_largest_units():
    assert [lasting(s) for s in (0.5, 60, 7000, 86_400, 3e7)] == [
        "0.5 s", "1 min", "1 h 56 min", "1 day", "347 days 5 h",
    ]  # fmt: skip


@given(st.text())
def test_what_is_visible_has_nothing_that_a_terminal_obeys_and_stays_so(text):
    shown = visible(text)
    assert not {unicodedata.category(each) for each in shown} & {"Cc", "Cf", "Cs", "Zl", "Zp"}
    assert visible(shown) == shown
    if text.isascii() and text.isprintable():
        assert shown == text


@given(st.lists(st.text("abc", min_size=1, max_size=3), max_size=12), st.integers(1, 5))
def test_of_some_states_the_first_are_named_and_the_rest_counted(states, most):
    said = name_some(states, most)
    head, _, tail = said.partition(" and ")
    assert head == ", ".join(format_value(each) for each in states[:most])
    assert int(tail.split()[0] if tail else 0) == max(len(states) - most, 0)


def test_few_states_are_printed_as_the_rule_prints_them():
    for predicate in (Interval("X", low=1.0), Present("X"), OneOf("U", tuple("abc"))):
        assert brief(predicate) == str(predicate)
    many = OneOf("U", tuple("abcdefgh"))
    assert len(brief(many)) < len(brief(OneOf("U", tuple("abcdef")))) + len(" and 2 others}")
    joined = " and ".join(
        brief_conditions([AnyOf((OneOf("U", ("a",)), OneOf("V", ("b",)))), Present("X")])
    )
    assert joined.startswith("(U = a or V = b) and ")


@given(finite, st.lists(finite, max_size=4))
def test_a_shortened_number_lies_to_every_bound_as_the_number_does(value, bounds):
    shown = float(shorten(value, same_side(value, bounds)))
    for bound in bounds:
        assert (shown < bound, shown > bound) == (value < bound, value > bound)
    assert shown == value or shown == pytest.approx(value, rel=1e-3)


@given(st.floats(0, 1))
def test_only_nothing_is_printed_as_nothing_and_only_all_as_all(part):
    assert (percent(part) == "0 %") == (part == 0)
    if part < 0.999:
        assert percent(part) != "100 %"


@given(st.integers(0, 10**7))
def test_a_duration_is_the_sum_of_its_units_but_for_what_is_smaller(seconds):
    size = {"day": 86400, "days": 86400, "h": 3600, "min": 60, "s": 1}
    words = lasting(seconds).split()
    pairs = list(zip(words[::2], words[1::2], strict=True)) if seconds else []
    total = sum(float(n) * size[unit] for n, unit in pairs)
    assert len(pairs) <= 2
    assert total <= seconds
    assert seconds - total < max((size[unit] for _, unit in pairs), default=1)


def test_one_thing_is_not_several():
    assert [count(n, "row") for n in (0, 1, 2, 1200)] == ["0 rows", "1 row", "2 rows", "1,200 rows"]
    assert exclude("U", ("a",)) != exclude("U", ("a", "b"))


UNITS, TITLES = {"level": "mm"}, {"level": "feed tank level", "pump": "feed pump"}


def tanks(n_rows, seed=0):
    random = np.random.default_rng(seed)
    on = random.random(n_rows) < 0.5
    return {
        "pump": np.where(on, "on", "off").tolist(),
        "level": (np.where(on, 800.0, 300.0) + random.normal(0, 20, n_rows)).tolist(),
        "heat": random.normal(20, 1, n_rows).tolist(),
    }


ODD = {"pump": ["on", "on"], "level": [310.0, 1500.0], "heat": [20.0, 20.0]}


@pytest.fixture(scope="module")
def detectors():
    plain = InvariantRuleDetector(min_support=0.1).fit(tanks(400))
    told = InvariantRuleDetector(min_support=0.1, units=UNITS, titles=TITLES).fit(tanks(400))
    return plain, told


def test_units_and_titles_change_no_rule_no_score_and_no_id(detectors):
    plain, told = detectors
    assert told.model_.id == plain.model_.id
    assert told.rules_ == plain.rules_
    assert told.anomaly_score(ODD).tobytes() == plain.anomaly_score(ODD).tobytes()
    assert [rule.id for rule in told.rules_] == [rule.id for rule in plain.rules_]
    ids = [[each.id for each in which.incidents(ODD)] for which in detectors]
    assert ids[0] == ids[1]


def test_reasons_have_units_and_headings_have_titles(detectors):
    plain, told = detectors
    for row in (0, 1):
        before, after = (each.explain(ODD)[row] for each in detectors)
        for old, new in zip(before.blames, after.blames, strict=True):
            assert new.heading == told.model_.words.heading(new.variable)
            for one, two in zip(old.reasons, new.reasons, strict=True):
                fields = ("expected", "found", "because", "evidence")
                texts = [str(getattr(two, name)).replace(" mm", "") for name in fields]
                assert texts == [str(getattr(one, name)) for name in fields]
                if new.variable == "level" and two.kind in ("outside", "context"):
                    assert two.found.endswith(" mm")
                    assert two.expected.endswith(" mm")
    (level,) = [each for each in told.explain(ODD)[1].to_dict()["blames"] if each["unit"]]
    assert (level["variable"], level["title"], level["unit"]) == ("level", "feed tank level", "mm")
    assert "level (feed tank level)" in str(told.explain(ODD)[1])
    assert "feed tank level" in told.explain(ODD)[1]._repr_html_()
    assert "feed tank level" not in str(plain.explain(ODD)[1])
    assert " mm" in told.incidents(ODD)[0].summary


def test_conditions_and_rules_have_units():
    legend = Legend({"level": "mm"})
    rule = Rule((Interval("level", low=800.0), OneOf("u", ("a",))), (OneOf("pump", ("off",)),), 9)
    assert rule.text(legend) == "level ≥ 800 mm and u = a ⇒ pump = off"
    assert str(rule) == "level ≥ 800 and u = a ⇒ pump = off"


def test_patterns_have_units_and_titles(detectors):
    plain, told = detectors
    said = [each.summary for each in told.patterns(ODD)]
    assert said != [each.summary for each in plain.patterns(ODD)]
    (high,) = (each for each in told.patterns(ODD) if each.kind == "above")
    top = told.model_.schema.variables[told.model_.schema.names.index("level")].high
    assert high.summary == (
        f"feed tank level above everything in training: 1500 mm (at most {top:.1f} mm in training)"
    )
    assert high.examples == "row 1 (1500 mm)"
    gone = told.patterns({**ODD, "level": [None, 800.0]})
    assert "feed tank level is missing, as it never was in training" in {e.summary for e in gone}
    assert {row.found for each in gone if each.kind == "missing" for row in each.worst} == {
        "missing"
    }


def test_a_range_that_is_wider_says_what_training_had(detectors):
    model = detectors[1].model_
    texts = {rule.id: model.text_of(rule) for rule in model.rules if not rule.antecedent}
    (level,) = (text for text in texts.values() if "level ≤" in text)
    variable = model.schema.variables[model.schema.names.index("level")]
    assert level.endswith(f" mm ({variable.low:.4g} to {variable.high:.4g} mm in training)")
    assert not level.startswith("always")
    # Nothing is added to heat: training had all that its rule allows.
    assert any(text.startswith("always ") and "heat ≤" in text for text in texts.values())
    assert "always pump in {off, on}" in texts.values()


def test_a_model_keeps_them(detectors, tmp_path):
    plain, told = detectors
    told.save(tmp_path / "told.truism.json")
    again = load(tmp_path / "told.truism.json")
    assert again.model_ == told.model_
    assert again.model_.legend == Legend(UNITS, TITLES)
    assert any(" mm" in each.text for each in rule_records(again.model_))
    plain.save(tmp_path / "plain.truism.json")
    assert "legend" not in json.loads((tmp_path / "plain.truism.json").read_text())


def test_a_file_with_an_empty_unit_is_refused(detectors):
    _, told = detectors
    content = encode_model(msgspec.structs.replace(told.model_, legend=Legend({"level": ""})))
    with pytest.raises(ModelFileError, match=r"length >= 1 - at `\$.legend.units"):
        decode_model(content)


@pytest.mark.parametrize(
    ("units", "problem"),
    [
        ({"flow": "mm"}, "units must name columns of the table, got 'flow'."),
        ({"level": 3}, "units must hold a text for 'level', got 3."),
        ({"level": " "}, "units must hold a text for 'level', got ' '."),
        ({"level": "\ud800"}, r"units must hold valid Unicode for 'level', got '\ud800'."),
        (["mm"], "units must map names of columns to texts, got ['mm']."),
    ],
)
def test_a_wrong_legend_is_refused(units, problem):
    with pytest.raises(ParameterError) as caught:
        legend_of(units, None, ("level",))
    assert caught.value.message == problem
    assert legend_of(None, {}, ("level",)) is None


@pytest.mark.parametrize("form", ["json", "csv"])
def test_the_command_line_reads_files_of_units_and_titles(tmp_path, form):
    rows = tanks(200)
    lines = [",".join(rows), *(",".join(map(str, row)) for row in zip(*rows.values(), strict=True))]
    (tmp_path / "normal.csv").write_text("\n".join(lines))
    for name, texts in (("units", UNITS), ("titles", TITLES)):
        said = json.dumps(texts) if form == "json" else "\n".join(map(",".join, texts.items()))
        (tmp_path / name).write_text(said)
    command = ["learn", str(tmp_path / "normal.csv"), "-o", str(tmp_path / "m.truism.json")]
    command += ["--units", str(tmp_path / "units"), "--titles", str(tmp_path / "titles")]
    assert CliRunner().invoke(app, command).exit_code == 0
    assert load(tmp_path / "m.truism.json").model_.legend == Legend(UNITS, TITLES)


def test_units_that_stand_in_a_file_are_kept(tmp_path):
    rows = tanks(200)
    lines = [",".join(row) for row in zip(*(map(str, each) for each in rows.values()), strict=True)]
    units = ",".join("bar" if each == "heat" else UNITS.get(each, "") for each in rows)
    (tmp_path / "normal.csv").write_text("\n".join([",".join(rows), units, *lines]))
    (tmp_path / "units").write_text("heat,°C")
    command = ["learn", str(tmp_path / "normal.csv"), "-o", str(tmp_path / "m.truism.json")]
    for more, heat in (([], "bar"), (["--units", str(tmp_path / "units")], "°C")):
        assert CliRunner().invoke(app, [*command, *more]).exit_code == 0
        found = load(tmp_path / "m.truism.json").model_.legend
        assert found == Legend({**UNITS, "heat": heat})


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"level", "--units must name a file of pairs"),
        (b"{1", "--units must name a file of pairs"),
        (b"\xff\xfe", "--units must name a file of pairs"),
        (None, "No such file"),
    ],
)
def test_a_file_of_units_that_cannot_be_read_is_named(tmp_path, content, problem):
    (tmp_path / "normal.csv").write_text("level,heat\n" + "1.5,2.5\n2.5,1.5\n" * 20)
    if content is not None:
        (tmp_path / "units").write_bytes(content)
    command = ["learn", str(tmp_path / "normal.csv"), "-o", str(tmp_path / "m.truism.json")]
    found = CliRunner().invoke(app, [*command, "--units", str(tmp_path / "units")])
    assert found.exit_code == 2
    assert problem in " ".join(found.stderr.split())
    assert not (tmp_path / "m.truism.json").exists()
