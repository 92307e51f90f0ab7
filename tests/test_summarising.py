"""What a report says, before it is drawn."""

from types import SimpleNamespace

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reported
from learned import learn
from reported import NORMAL, attacked, summarised
from truism.explain.checker import Checker
from truism.explain.findings import gravest
from truism.show.contents import Summary
from truism.show.html import to_html
from truism.show.summarising import summarise
from truism.table.frames import as_table
from truism.table.notices import Notice


@pytest.fixture(scope="module")
def checker() -> Checker:
    return reported.checker()


@pytest.fixture(scope="module")
def summary() -> Summary:
    return reported.summary()


def test_the_verdict_is_that_of_the_screen(checker, summary):
    assert summary.verdict == (
        "anomalies: 2 incidents in 3 h 19 min; 11 of 200 rows (5.5 %) score above 0."
    )
    quiet = "clean: none of 200 rows scores above 0."
    assert summarise(checker, as_table(NORMAL)).verdict == quiet


@pytest.mark.parametrize("scoring", ["paper", "evidence"])
def test_a_share_means_the_same_everywhere_on_the_page(scoring):
    options = {} if scoring == "paper" else {"lookback": 0}
    own = Checker(learn(as_table(NORMAL), min_support=0.1, scoring=scoring, **options))
    told = summarised(own, as_table(attacked()), gap=200)
    (card,) = told.incidents
    shares = {each.name: each.share for each in told.variables}
    assert sum(shares.values()) == pytest.approx(1.0)
    for blamed in card.incident.blames:
        assert shares[blamed.variable] == pytest.approx(blamed.share)


def test_without_times_rows_are_counted(checker):
    table = as_table({name: attacked()[name] for name in ("pump", "flow")})
    told = summarised(checker, table, gap=2)
    assert [card.when for card in told.incidents] == ["rows 30 to 39", "row 150"]


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


RECORDS = {"service": ["http", "dns"] * 100, "size": [200.0, 20.0] * 100}
WRONG = {"service": ["ctf"] * 4 + ["http"] * 2, "size": [20.0] * 6}


def records(scoring="evidence"):
    """Return what was learned from rows that are no series."""
    return Checker(learn(as_table(RECORDS), min_support=0.1, scoring=scoring))


def test_rows_that_are_no_series_are_told_by_pattern_and_never_joined_by_a_line():
    told = summarise(records(), as_table(WRONG))
    assert not told.ordered
    assert [(each.n_rows, each.kind) for each in told.patterns] == [(4, "unseen"), (2, "conflict")]
    assert told.n_patterns == 2
    assert not any(picture for card in told.incidents for picture in card.pictures)
    assert told.weaker == ()


def test_what_puts_the_result_in_doubt_is_apart_from_remarks_about_columns(checker):
    model = checker.model
    provenance = msgspec.structs.replace(
        model.provenance,
        support_origin="untried",
        notices=(Notice("states", "Learned as states: 'level'."),),
    )
    doubtful = Checker(msgspec.structs.replace(model, provenance=provenance))
    told = summarise(doubtful, as_table(NORMAL))
    assert told.notices == ("The model was learned from few rows; expect false alarms.",)
    assert any(each.startswith("Learned as states") for each in told.remarks)


def test_a_reason_that_is_not_about_the_peak_says_its_time(checker):
    table = attacked()
    table["flow"][36] = -9.0
    places = [
        place
        for card in summarised(checker, as_table(table), gap=2).incidents
        for place in card.places
        if place
    ]
    assert places
    assert all(place.startswith(" at 1") for place in places)


def test_incidents_without_a_card_are_still_in_the_timeline(checker):
    flow = list(NORMAL["flow"]) * 2
    flow[1:191:2] = [9.0] * 95
    table = as_table({"pump": list(NORMAL["pump"]) * 2, "flow": flow})
    told = summarised(checker, table, gap=0)
    assert (told.n_incidents, len(told.incidents)) == (95, 60)
    assert len(told.weaker) == 35


class Events(list):
    """Incidents, and their outlines."""

    @property
    def outlines(self):
        return self


def happening(kind, severity, *, is_open=False, story=0, start=2):
    blame = SimpleNamespace(variable="LIT301")
    return SimpleNamespace(
        kind=kind,
        severity=severity,
        start=start,
        first=start,
        end=5,
        series="",
        story=story,
        blames=(blame,),
        is_open=is_open,
    )


def found(incidents, shifts):
    both = {"incidents": Events(incidents), "shifts": Events(shifts)}
    return SimpleNamespace(**both, ordered=True, expected=None)


happenings = st.lists(st.tuples(st.floats(0, 9), st.integers(0, 3), st.integers(0, 9)), max_size=6)


@given(incidents=happenings, shifts=happenings, n=st.integers(0, 14))
def test_the_gravest_story_comes_first_and_in_it_what_began_first(incidents, shifts, n):
    def made(kind, some):
        return [happening(kind, severity, story=a, start=b) for severity, a, b in some]

    both = found(made("incident", incidents), made("shift", shifts))
    chosen = [(each.severity, each.story, each.start) for each in gravest(both, 0)]
    assert sorted(chosen) == sorted([*incidents, *shifts]) or not shifts
    assert [each.start for each in gravest(both, n)] == [each[2] for each in chosen][: n or None]
    if shifts:
        told = list(dict.fromkeys(story for _, story, _ in chosen))
        stories = [[each for each in chosen if each[1] == story] for story in told]
        assert chosen == [each for story in stories for each in story]
        worst = [max(severity for severity, *_ in story) for story in stories]
        assert worst == sorted(worst, reverse=True)
        for story in stories:
            assert [start for *_, start in story] == sorted(start for *_, start in story)
