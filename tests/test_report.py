"""What a report says, before it is drawn."""

import base64
import hashlib
import html
import json
import math
import re

import msgspec
import numpy as np
import pytest

from learned import learn
from truism import InvariantRuleDetector, ParameterError
from truism.explaining.checker import Checker
from truism.explaining.clues import Rarity
from truism.explaining.expectations import Beyond, Nearest
from truism.explaining.explanations import Blame
from truism.explaining.incidents import Incident
from truism.model.schema import Schema
from truism.model.wording import lasting
from truism.report import Summary, summarise, to_html, to_json, to_text, write_report
from truism.report.charts import as_json
from truism.report.contents import Span
from truism.report.series import Axis, reduce, runs
from truism.table.frames import as_table

NORMAL = {
    "time": np.datetime64("2024-01-01T10:00") + np.arange(200) * np.timedelta64(60, "s"),
    "pump": ["on"] * 100 + ["off"] * 100,
    "flow": [2.5 + 0.01 * (i % 7) for i in range(100)] + [0.01 * (i % 7) for i in range(100)],
}


def attacked() -> dict[str, object]:
    flow = list(NORMAL["flow"])
    flow[30:40] = [-1.5] * 10
    flow[150] = 1.3
    labels = np.zeros(200, np.int64)
    labels[30:40] = labels[60:65] = 1
    return {**NORMAL, "flow": flow, "label": labels, "note": ["x"] * 200}


@pytest.fixture(scope="module")
def checker() -> Checker:
    return Checker(learn(as_table(NORMAL), min_support=0.1, scoring="paper"))


def summarised(checker, table, *, gap=None, **options):
    """Summarise with another gap than the usual one."""
    return summarise(checker, table, checker.find(table, gap=gap), **options)


@pytest.fixture(scope="module")
def summary(checker) -> Summary:
    return summarised(checker, as_table(attacked()), gap=2, source="a.csv", label="label")


def test_the_verdict_names_the_worst_incident_and_its_time(summary):
    assert summary.verdict == "2 incidents in 3 h 19 min; worst: flow from 10:30 to 10:39."


def test_a_quiet_table_has_a_verdict_too(checker):
    assert summarise(checker, as_table(NORMAL)).verdict == "No incident in 3 h 19 min (200 rows)."


def test_without_times_rows_are_counted(checker):
    table = as_table({name: attacked()[name] for name in ("pump", "flow")})
    assert (
        summarise(checker, table).verdict
        == "2 incidents in 200 rows; worst: flow in rows 30 to 39."
    )


@pytest.mark.parametrize("scoring", ["evidence", "paper"])
def test_a_report_of_either_scoring_tells_each_incident_in_four_parts(scoring):
    model = learn(as_table(NORMAL), min_support=0.1, scoring=scoring)
    told = summarised(Checker(model), as_table(attacked()), source="a.csv", label="label", gap=2)
    page, text = to_html(told), to_text(told)
    worst = told.incidents[0]
    assert (worst.incident.start, worst.incident.end) == (30, 39)
    assert worst.blames[0].variable == "flow"
    for blamed in worst.blames:
        for reason in (blamed.reason, *blamed.related):
            assert reason.expected
            assert reason.found
            assert reason.why
            assert reason.evidence
            assert html.escape(reason.evidence) in page
    assert told.verdict in page
    assert told.verdict in text
    assert msgspec.json.decode(to_json(told), type=Summary) == told


def test_the_picture_has_the_expected_interval_only_where_the_condition_held(summary):
    blamed, condition = summary.incidents[0].blames[0].picture.panels
    assert (blamed.variable, condition.variable) == ("flow", "pump")
    assert condition.says == "pump = on"
    assert len(blamed.broken.x) == 10
    [span] = blamed.band.spans  # the pump is on for the first hundred minutes
    start = NORMAL["time"][0].astype("datetime64[ms]").astype(float)
    assert span == Span(start, start + 100 * 60_000)


def test_a_clue_that_is_no_rule_is_told_and_drawn(checker):
    table = as_table(attacked())
    rare = Rarity("flow", 0.02, Nearest(None, 1.0), Beyond(3, "low"), 1.0, False)
    blame = Blame("flow", 1.0, 1.0, (rare,), 200)
    incident = Incident(41, 49, 9, 45, 2.0, None, None, None, (blame,))
    findings = msgspec.structs.replace(checker.find(table), incidents=(incident,))
    told = summarise(checker, table, findings)
    [panel] = told.incidents[0].blames[0].picture.panels
    assert (panel.band.low, panel.band.high) == (1.0, None)
    assert "3 of 200 training rows were this low" in to_html(told)


@pytest.mark.parametrize("kind", ["numbers", "states"])
def test_values_that_are_missing_only_today_are_drawn(kind):
    a = np.arange(1000.0) % 97
    b = 2 * a if kind == "numbers" else np.where(a > 50, "high", "low")
    checker = Checker(learn(as_table({"a": a, "b": b})))
    for value in (-2.0, 500.0) if kind == "numbers" else ("high", "low", "never"):
        table = as_table({"a": [math.nan] * 2, "b": [value] * 2})
        told = summarise(checker, table)
        assert told.incidents
        assert to_html(told)


def test_rules_say_how_often_they_are_broken_and_where(summary):
    first = summary.rules[0]
    assert first.n_broken > 0
    assert 1 in first.incidents
    assert len(summary.rules) == summary.n_rules


def test_variables_are_compared_with_training(summary):
    flow = next(each for each in summary.variables if each.name == "flow")
    assert (flow.seen_in_training, flow.seen_here) == ("0 to 2.56", "−1.5 to 2.56")
    assert sum(flow.histogram.training) == pytest.approx(1, abs=1e-3)
    assert sum(flow.histogram.here) == pytest.approx(1, abs=1e-3)
    assert flow.share > 0


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
            "Hint: learn again without that column.",
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
        "label must mark some rows and not all, got 'label'.\nHint: all its rows are normal."
    )


def test_reducing_keeps_every_peak_and_every_gap():
    y = np.zeros(100_000)
    y[54_321] = 9.0
    y[10_000:20_000] = np.nan
    line = reduce(np.arange(100_000.0), y, 1000)
    assert len(line.x) == 2000
    assert max(value for value in line.y if value is not None) == 9.0
    assert line.y.count(None) == 200


def test_many_runs_become_few_without_losing_the_ends():
    mask = np.arange(1000) % 2 == 0
    some = runs(mask, most=10)
    assert len(some) == 10
    assert (some[0][0], some[-1][1]) == (0, 998)


def test_much_reported_is_doubted(checker):
    flow = [-1.5] * 50 + NORMAL["flow"][50:]
    told = summarise(checker, as_table({**NORMAL, "flow": flow}))
    assert told.notices[0] == (
        "25 % of all rows are reported: either much is wrong, or what is normal has changed since "
        "the model was learned. If it has changed, learn from newer rows or calibrate the threshold "
        "on them."
    )
    assert told.notices[0] in to_html(told)


def test_times_that_run_backwards_do_not_make_an_axis():
    times = NORMAL["time"][::-1]
    axis = Axis(as_table({"time": times}), Schema((), (), "time"))
    assert axis.unit == "row"


def test_times_with_a_zone_are_said_in_utc():
    times = [f"2026-01-05T07:{minute:02}:00+01:00" for minute in range(10)]
    axis = Axis(as_table({"time": times}), Schema((), (), "time"))
    assert axis.when(3, 3) == "06:03 UTC"
    assert axis.when(3, 8) == "06:03 to 06:08 UTC"


def test_durations_are_said_in_their_two_largest_units():
    assert [lasting(s) for s in (0.5, 60, 7000, 86_400, 3e7)] == [
        "0.5 s", "1 min", "1 h 56 min", "1 day", "347 days 5 h",
    ]  # fmt: skip


def test_page_json_and_text_come_from_the_same_summary(summary, tmp_path):
    for name in ("r.html", "r.json", "r.txt"):
        write_report(tmp_path / name, summary)
    assert msgspec.json.decode((tmp_path / "r.json").read_bytes(), type=Summary) == summary
    assert (tmp_path / "r.txt").read_text() == to_text(summary) == str(summary)
    assert summary.verdict in (tmp_path / "r.html").read_text()
    assert json.loads(to_json(summary))["format"] == "truism-report"


def test_text_has_the_four_parts(summary):
    text = to_text(summary)
    assert "flow" in text
    assert "because pump = on" in text
    assert "1 of 2 labelled segments detected" in text


def test_text_spells_out_what_a_terminal_would_obey(summary):
    hostile = msgspec.structs.replace(summary, verdict="1 incident: \x1b[31mred")
    assert to_text(hostile).startswith("1 incident: \\x1b[31mred\n")


def test_incidents_without_a_card_are_still_in_the_timeline(checker):
    flow = list(NORMAL["flow"]) * 2
    flow[1:191:2] = [9.0] * 95
    table = as_table({"pump": list(NORMAL["pump"]) * 2, "flow": flow})
    told = summarised(checker, table, gap=0)
    assert (told.n_incidents, len(told.incidents)) == (95, 60)
    assert len(told.weaker) == 35


def test_a_report_with_an_unknown_ending_is_refused_before_any_work(summary, tmp_path):
    with pytest.raises(ParameterError) as caught:
        write_report(tmp_path / "r.pdf", summary)
    name = str(tmp_path / "r.pdf")
    assert str(caught.value) == (
        f"The report's name must end in .html, .json or .txt, got {name!r}."
    )
    assert list(tmp_path.iterdir()) == []


def test_the_page_refers_to_nothing_outside_itself(summary):
    page = to_html(summary)
    without_scripts = re.sub(r"<script[^>]*>.*?</script>", "", page, flags=re.S)
    links = re.findall(r"""(?:src|href)\s*=\s*["']?([^"'\s>]+)""", without_scripts)
    assert links
    assert all(link.startswith("#") for link in links)
    assert "<script src" not in page
    targets = set(re.findall(r'\bid="([^"]+)"', without_scripts))
    assert {link[1:] for link in links} <= targets


def test_chart_data_cannot_end_or_open_a_script():
    hostile = {"</script><!--<script>": ["</SCRIPT >", "&lt;"]}
    assert not set(as_json(hostile)) & set("<>&")
    assert json.loads(as_json(hostile)) == hostile


def test_the_page_allows_only_its_own_scripts(summary):
    page = to_html(summary)
    [policy] = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page)
    policy = html.unescape(policy)
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe-eval" not in policy
    assert "'unsafe-inline'" not in policy.split(";")[1]
    for script in re.findall(r"<script>(.*?)</script>", page, flags=re.S):
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy


def test_a_table_of_no_rows_still_gives_a_page(checker):
    table = as_table(NORMAL).take(slice(0, 0))
    told = summarise(checker, table)
    assert told.verdict == "No incident in 0 rows."
    assert told.verdict in to_html(told)


def test_the_detector_writes_the_report(tmp_path):
    detector = InvariantRuleDetector(min_support=0.1).fit(NORMAL)
    table = attacked()
    del table["note"]
    told = detector.report(table, tmp_path / "r.html", gap=2, label="label")
    assert told.verdict in (tmp_path / "r.html").read_text()
    assert told.verdict in told._repr_html_()


def test_another_time_column_can_be_named():
    detector = InvariantRuleDetector(min_support=0.1, ignore=["time"], scoring="paper").fit(NORMAL)
    table = {**attacked(), "seen": NORMAL["time"] + np.timedelta64(5, "h")}
    del table["note"], table["label"]
    assert "from 15:30 to 15:39" in detector.report(table, time="seen", gap=2).verdict
    del table["seen"]
    with pytest.raises(ParameterError) as caught:
        detector.report(table, time="never")
    assert str(caught.value) == "time must name a column of the table, got 'never'."


def test_a_rule_is_applied_as_it_is_scored(checker):
    table = as_table(attacked())
    counts = checker.scorer.count_broken(table)
    for rule in checker.model.rules:
        _, broken = checker.scorer.apply(rule, table)
        assert int(broken.sum()) == counts.get(rule, 0)


def test_in_plain_text_a_name_with_a_line_break_stays_on_its_line():
    names = {"two\nlines": NORMAL["flow"], "because pump": NORMAL["pump"]}
    checker = Checker(learn(as_table(names), min_support=0.1, scoring="paper"))
    table = as_table({**names, "two\nlines": attacked()["flow"]})
    summary = summarised(checker, table, gap=2)
    lines = to_text(summary).splitlines()
    assert any(line.startswith(r"   two\nlines  ") for line in lines)
    assert not any(line.startswith("lines") for line in lines)
    # The word in front of a condition is no part of it, nor of a name that begins with it.
    assert "<dd>because pump = on</dd>" in to_html(summary)
