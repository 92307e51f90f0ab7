"""What a report says, before it is drawn."""

import pytest

import reported
from reported import NORMAL, attacked, summarised
from truism.explaining.checker import Checker
from truism.report.contents import Summary
from truism.report.html import to_html
from truism.report.summarising import summarise
from truism.table.frames import as_table


@pytest.fixture(scope="module")
def checker() -> Checker:
    return reported.checker()


@pytest.fixture(scope="module")
def summary() -> Summary:
    return reported.summary()


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


def test_rules_say_how_often_they_are_broken_and_where(summary):
    first = summary.rules[0]
    assert first.n_broken > 0
    assert 1 in first.incidents
    assert len(summary.rules) == summary.n_rules


def test_much_reported_is_doubted(checker):
    flow = [-1.5] * 50 + NORMAL["flow"][50:]
    told = summarise(checker, as_table({**NORMAL, "flow": flow}))
    assert told.notices[0].startswith("25 % of all rows")
    assert told.notices[0] in to_html(told)


def test_incidents_without_a_card_are_still_in_the_timeline(checker):
    flow = list(NORMAL["flow"]) * 2
    flow[1:191:2] = [9.0] * 95
    table = as_table({"pump": list(NORMAL["pump"]) * 2, "flow": flow})
    told = summarised(checker, table, gap=0)
    assert (told.n_incidents, len(told.incidents)) == (95, 60)
    assert len(told.weaker) == 35
