"""Events of a series: as the rules of docs/method.md say, and the same in any chunks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from truism.explaining.events import FADED, Limits, Newcomer, Watch, close, follow

LIMITS = Limits(1.0, 5, 20, 10)


def oracle(scores, news, limits, newcomers=(), fresh=None):
    """Return (start, last) of all events, asked of every row anew with the whole history."""
    fresh = {} if fresh is None else fresh

    def untold(settled, t):
        own = fresh.get(t, [news[t]])
        return sum(new for i, new in enumerate(own) if t not in fresh or i not in settled["told"])

    events = []
    for t in range(len(scores)):
        live = [
            each
            for each in events
            if t - each["last"] <= (FADED * limits.habit if each["habit"] else limits.gap) + 1
        ]
        incident = next((each for each in live if not each["settled"]), None)
        pausing = [each for each in live if each["habit"] and t - each["last"] > limits.gap + 1]
        lasting = [each for each in live if each["settled"] and each not in pausing]
        settled = lasting[-1] if lasting else None
        new = news[t] > limits.threshold
        if not scores[t] > limits.threshold:
            continue
        current = incident or settled
        if current is not None and any(
            each.before < current["start"] and each.since > current["start"] + limits.gap
            for each in dict(newcomers).get(t, ())
        ):
            if incident is not None:
                incident["told"] |= set() if settled is None else settled["told"]
                lasting.append(incident)
            current["settled"], settled = True, current
            incident = {"start": t, "news": t, "last": t, "rows": [], "told": set()}
            incident |= {"on_top": True, "settled": False, "habit": False}
            events.append(incident)
        if new and incident is None:
            if settled is not None and t - settled["news"] <= limits.gap + 1:
                settled["news"] = t
            elif (
                settled is None
                or untold(settled, t) > max(limits.threshold, scores[t] / 3)
                or scores[t] > limits.threshold + max(scores[i] for e in lasting for i in e["rows"])
            ):
                incident = {"start": t, "news": t, "last": t, "rows": []}
                incident |= {
                    "told": set(),
                    "on_top": settled is not None,
                    "settled": False,
                    "habit": False,
                }
                events.append(incident)
        taken = incident is not None and (new or not incident["on_top"])
        if not taken and settled is None:
            told = max((each["last"] for each in events), default=-1)
            own = [t]
            for i in range(t - 1, told, -1):
                if own[0] - i > FADED * limits.habit + 1:
                    break
                if scores[i] > limits.threshold:
                    own.insert(0, i)
            if pausing:
                pausing[0] |= {"last": t, "rows": [*pausing[0]["rows"], t]}
            elif len(own) >= limits.lasting:
                event = {"start": own[0], "news": own[0], "last": t, "rows": own}
                event |= {"told": set()}
                events.append(event | {"on_top": False, "settled": True, "habit": True})
            continue
        if settled is not None and not (settled["habit"] and taken):
            for each in lasting:
                if each is settled or not each["habit"]:
                    each["last"] = t
                    each["rows"].append(t)
        if taken:
            incident["last"] = t
            incident["rows"].append(t)
            incident["news"] = t if new else incident["news"]
            told = {i for i, part in enumerate(fresh.get(t, ())) if part >= news[t] / 5}
            incident["told"] |= told
            if settled is not None:
                settled["told"] |= told
            if t - incident["start"] + 1 >= limits.lasting:
                incident["settled"] = True
                if settled is not None:
                    incident["told"] |= settled["told"]
    return sorted((each["start"], each["last"]) for each in events)


def all_events(followed):
    return [*followed.closed, *followed.watch.events]


@st.composite
def rows(draw):
    stretches = draw(
        st.lists(
            st.tuples(
                st.integers(1, 40),
                st.sampled_from([0.3, 0.9, 1.05, 1.4, 6.0]),
                st.sampled_from([0.2, 0.3, 0.8, 1.0]),
            ),
            min_size=1,
            max_size=12,
        )
    )
    random = np.random.default_rng(draw(st.integers(0, 1000)))
    scores = np.concatenate(
        [level + random.choice([0.0, 0.3]) * random.random(n) for n, level, _ in stretches]
    )
    share = np.concatenate([np.full(n, each) for n, _, each in stretches])
    return scores, scores * share


@examples(max_examples=150, deadline=None)
@given(rows=rows())
def test_events_are_what_the_rules_say(rows):
    followed = follow(*rows, LIMITS, Watch())
    found = sorted((each.start, each.last) for each in all_events(followed))
    assert found == oracle(*rows, LIMITS)


@examples(max_examples=150, deadline=None)
@given(rows=rows(), data=st.data())
def test_newcomers_divide_events_as_the_rules_say(rows, data):
    scores, news = rows
    hot = np.flatnonzero(news > LIMITS.threshold).tolist()
    found = data.draw(st.lists(st.sampled_from(hot), max_size=6)) if hot else []
    newcomers = {
        row: [Newcomer(*data.draw(st.tuples(*[st.integers(-1, row)] * 2)), np.ones(1, int))]
        for row in found
    }
    followed = follow(scores, news, LIMITS, Watch(), newcomers)
    told = sorted((each.start, each.last) for each in all_events(followed))
    assert told == oracle(scores, news, LIMITS, newcomers.items())
    middle = len(scores) // 2
    first = follow(scores[:middle], news[:middle], LIMITS, Watch(), newcomers)
    second = follow(scores[middle:], news[middle:], LIMITS, first.watch, newcomers)
    assert (*first.closed, *second.closed) == followed.closed
    assert second.watch == followed.watch


@examples(max_examples=150, deadline=None)
@given(rows=rows(), data=st.data())
def test_who_was_told_is_no_news_on_top_of_what_is_settled(rows, data):
    scores, news = rows
    patterns = np.array([[1, 0, 0], [0, 1, 0], [0.5, 0.5, 0], [0.0625, 0, 0.9375]])
    chosen = data.draw(st.lists(st.integers(0, 3), min_size=4, max_size=4))
    fresh = {
        row: news[row] * patterns[chosen[row // 7 % 4]]
        for row in np.flatnonzero(news > LIMITS.threshold).tolist()
    }
    followed = follow(scores, news, LIMITS, Watch(), None, fresh)
    told = sorted((each.start, each.last) for each in all_events(followed))
    assert told == oracle(scores, news, LIMITS, fresh=fresh)
    middle = len(scores) // 2
    first = follow(scores[:middle], news[:middle], LIMITS, Watch(), None, fresh)
    second = follow(scores[middle:], news[middle:], LIMITS, first.watch, None, fresh)
    assert (*first.closed, *second.closed) == followed.closed
    assert second.watch == followed.watch


@pytest.mark.parametrize(("who", "is_told"), [(0, False), (1, True), (2, False)])
def test_ups_and_downs_of_those_who_were_told_are_no_incident(who, is_told):
    scores, news = np.full(60, 6.0), np.full(60, 0.5)
    news[:5], news[40] = 6.0, 3.0
    fresh = {row: np.array([4.5, 0.1, 1.4]) for row in range(5)} | {40: 3.0 * np.eye(3)[who]}
    closed = follow(scores, news, LIMITS, Watch(), None, fresh).closed
    assert [each.start for each in closed] == [40] * is_told


def test_a_newcomer_divides_only_what_it_had_no_part_in():
    scores = np.full(30, 2.0)
    new, early, known = (Newcomer(*each, np.ones(1, int)) for each in ((8, -1), (5, -1), (8, 3)))
    for newcomer, is_apart in ((new, True), (early, False), (known, False)):
        watch = follow(scores[:15], scores[:15], LIMITS, Watch(), {13: [newcomer]}).watch
        assert [each.is_apart for each in watch.events] == [True, False][not is_apart :]
    watch = follow(scores[:15], scores[:15], LIMITS, Watch(), {13: [new]}).watch
    assert (watch.incident.start, watch.incident.on_top, watch.settled[0].start) == (13, 0, 0)
    # What a row scores counts once, for who is new.
    assert (watch.settled[0].severity, watch.incident.severity) == (13.0, 2.0)
    alone = follow(scores[:15], scores[:15], Limits(1.0, 5), Watch(), {13: [new]}).watch
    assert not alone.incident.is_apart


@pytest.mark.parametrize(
    ("score", "new", "is_told"), [(6.0, 1.9, False), (6.0, 2.1, True), (7.1, 1.9, True)]
)
def test_ups_and_downs_of_something_settled_are_no_incident(score, new, is_told):
    scores, news = np.full(60, 6.0), np.full(60, 0.5)
    news[:5], scores[40], news[40] = 6.0, score, new
    followed = follow(scores, news, LIMITS, Watch())
    assert followed.watch.settled[0].start == 0
    assert [each.start for each in followed.closed] == [40] * is_told


@examples(max_examples=80, deadline=None)
@given(rows=rows(), cuts=st.lists(st.integers(0, 400), max_size=10))
def test_chunks_give_the_same_events(rows, cuts):
    scores, news = rows
    whole = follow(scores, news, LIMITS, Watch())
    ends = sorted(min(each, len(scores)) for each in cuts)
    watch, closed, rows_of = Watch(), [], {}
    for start, end in zip([0, *ends], [*ends, len(scores)], strict=True):
        part = follow(scores[start:end], news[start:end], LIMITS, watch)
        watch, closed = part.watch, [*closed, *part.closed]
        for event, own in part.rows_of.items():
            rows_of.setdefault(event, []).extend(own)
    assert tuple(closed) == whole.closed
    assert watch == whole.watch
    assert rows_of == whole.rows_of


@examples(max_examples=80, deadline=None)
@given(rows=rows())
def test_what_an_event_says_follows_from_its_rows(rows):
    scores, news = rows
    followed = follow(scores, news, LIMITS, Watch())
    for event in all_events(followed):
        own = followed.rows_of[event.start]
        assert (event.start, event.last, event.n_rows) == (own[0], own[-1], len(own))
        assert event.score == scores[own].max() == scores[event.peak]
        above = [each for each in all_events(followed) if each.on_top == event.start]
        if any(
            each.length >= LIMITS.lasting for each in (*above, event) if each.on_top is not None
        ):
            continue  # the first rows on top count by their news, the others by their scores
        level = scores if event.on_top is None else news
        assert event.severity == pytest.approx(sum(level[own] / LIMITS.threshold - 1))


def test_an_incident_that_lasts_is_settled_and_its_start_stays():
    scores = np.r_[np.zeros(3), np.full(30, 2.0), np.zeros(20)]
    assert follow(scores[:30], scores[:30], LIMITS, Watch()).watch.settled[0].start == 3
    (event,) = follow(scores, scores, LIMITS, Watch()).closed
    assert (event.start, event.last, event.kind) == (3, 32, "incident")
    assert not event.is_open


def test_rows_of_what_is_settled_raise_no_alarm():
    scores = np.full(40, 2.0)
    news = np.r_[np.full(30, 2.0), np.zeros(7), np.full(3, 2.0)]
    watch = follow(scores, news, LIMITS, Watch()).watch
    assert watch.settled[0].start == 0
    assert (watch.incident.start, watch.incident.on_top) == (37, 0)


def test_news_on_top_of_a_shift_is_an_incident_and_so_is_what_follows_later():
    scores = np.full(100, 2.0)
    news = np.r_[np.full(10, 2.0), np.zeros(30), np.full(3, 2.0), np.zeros(57)]
    followed = follow(scores, news, LIMITS, Watch())
    (incident,) = followed.closed
    assert (incident.start, incident.last, incident.kind, incident.on_top) == (
        40,
        42,
        "incident",
        0,
    )
    assert followed.watch.settled[0].start == 0
    assert followed.watch.settled[0].is_open


def test_a_lasting_change_stays_open_below_another_one():
    scores, news = np.full(100, 2.0), np.zeros(100)
    news[:10] = news[40:70] = 2.0
    followed = follow(scores, news, LIMITS, Watch())
    assert not followed.closed
    first, second = followed.watch.settled
    assert (first.start, first.last, second.start, second.last) == (0, 99, 40, 99)
    assert followed.watch.events == (second, first)
    ended = follow(np.zeros(10), np.zeros(10), LIMITS, followed.watch)
    assert [each.start for each in ended.closed] == [0, 40]
    assert not ended.watch.events


def test_nobody_becomes_normal_by_patience():
    scores = np.full(30, 1.5)
    (event,) = all_events(follow(scores, np.zeros(30), LIMITS, Watch()))
    assert (event.start, event.last) == (0, 29)


@pytest.mark.parametrize(("pause", "is_told"), [(40, True), (41, False)])
def test_nobody_becomes_normal_by_showing_up_now_and_then(pause, is_told):
    scores = np.tile(np.r_[np.full(3, 1.5), np.zeros(pause)], 10)
    followed = follow(scores, np.zeros(len(scores)), LIMITS, Watch())
    told = [(each.start, each.n_rows, each.is_open) for each in all_events(followed)]
    assert told == [(0, 30, True)] * is_told


def test_without_shifts_rows_are_only_grouped():
    scores = np.r_[np.full(100, 2.0), np.zeros(7), 2.0, np.zeros(9)]
    found = follow(scores, scores, Limits(1.0, 5), Watch()).closed
    assert [(each.start, each.last, each.kind) for each in found] == [
        (0, 99, "incident"),
        (107, 107, "incident"),
    ]


def test_a_break_closes_what_is_open():
    watch = follow(np.full(30, 2.0), np.full(30, 2.0), LIMITS, Watch()).watch
    ended = close(watch)
    assert [each.kind for each in ended.closed] == ["incident"]
    assert ended.watch == Watch(30)
