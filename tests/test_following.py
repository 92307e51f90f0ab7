"""A table followed in one piece, in chunks and row by row; what begins and ends, from the definition."""

import itertools

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

import oracle
from learned import learn
from truism import InvariantRuleDetector, ParameterError
from truism.explain.checker import Checker
from truism.incidents.delays import limits_of
from truism.incidents.deviations import Judge
from truism.incidents.events import ENDED, RISING, Limits, no_rows
from truism.incidents.following import Ready, Run, find_events
from truism.model.series import Memory, Tail
from truism.score.past import recall
from truism.score.rules import habit_worth, worth_of_habit
from truism.score.scorer import Scorer
from truism.table.columns import Table
from truism.table.frames import as_table


def series(n_rows, seed=0, faults=()):
    """Make two variables that follow each other, and a third that goes its own way."""
    random = np.random.default_rng(seed)
    level = np.sin(np.arange(n_rows) / 9) + random.normal(0, 0.1, n_rows)
    data = {
        "level": level,
        "flow": 2 * level + random.normal(0, 0.1, n_rows),
        "heat": random.normal(20, 1, n_rows),
        "pump": np.where(level > 0, "on", "off"),
    }
    for name, start, end, size in faults:
        data[name][start:end] += size
    return {name: values.tolist() for name, values in data.items()}


FAULTS = (("flow", 60, 64, 2.5), ("heat", 150, 350, 6.0), ("flow", 220, 230, -2.0))


@pytest.fixture(scope="module")
def scorer():
    return Scorer(learn(as_table(series(1500)), min_support=0.05, ordered=True))


@pytest.fixture(scope="module")
def table():
    return as_table(series(400, 1, FAULTS))


def described(events):
    """Return all that is known of events, so that equal ones are equal to the bit."""
    found = []
    for each in sorted(events, key=lambda each: (each.series, each.start, each.onset)):
        fields = msgspec.structs.asdict(each)
        del fields["place"], fields["silences"]
        found.append(
            {k: v.tobytes() if isinstance(v, np.ndarray) else v for k, v in fields.items()}
        )
    return found


def pieces(table, cuts):
    ends = [0, *sorted(cuts), table.n_rows]
    return [table.take(slice(*pair)) for pair in itertools.pairwise(ends)]


# --- the loop -------------------------------------------------------------------------------------

STEPS = st.lists(
    st.tuples(
        st.integers(0, 119), st.integers(1, 60), st.integers(0, 2), st.sampled_from([3, 12, 40])
    ),
    max_size=6,
)


def made(seed, steps, missing):
    """Make points and differences of three variables, with steps in them."""
    random = np.random.default_rng(seed)
    points = random.exponential(0.5, (120, 3))
    apart = random.normal(0, 0.5, (120, 3))
    for start, length, i, size in steps:
        points[start : start + length, i] += size
        apart[start : start + length, i] += size / 4
    apart[random.random((120, 3)) < missing] = np.nan
    return points, apart


def memory_of(random):
    usual, highest, stray = random.uniform(0.2, 1.0, (3, 3)).tolist()
    return Memory(
        3,
        1,
        30.0,
        1.0,
        usual,
        [1 + each for each in highest],
        stray,
        Tail(0, 1, 0, 1),
        (0,) * 3,
        (0,) * 3,
        (None,) * 3,
    )


def step(ready, before, points, apart, first=0):
    nothing = np.zeros(points.shape, np.int32)
    rows = np.arange(first, first + len(points))
    known, anew = np.ones(points.shape, np.bool_), np.zeros(len(points), np.bool_)
    run = Run(rows, points, points, nothing, nothing, known, anew)
    present, events, excess = ready.follow("", before, run, apart)
    still = tuple(each for each in events if each.phase != ENDED)
    return msgspec.structs.replace(present, events=still), events, excess


@examples(max_examples=100, deadline=None)
@given(
    seed=st.integers(0, 9),
    steps=STEPS,
    missing=st.sampled_from([0.0, 0.3]),
    threshold=st.sampled_from([6, 15]),
)
def test_a_series_is_followed_as_its_definition_says(seed, steps, missing, threshold):
    points, apart = made(seed, steps, missing)
    memory = memory_of(np.random.default_rng(seed))
    slow = oracle.Followed(memory, threshold, 2)
    unknown = [[None if np.isnan(x) else x for x in row] for row in apart.tolist()]
    expected = [slow.take(*pair) for pair in zip(points.tolist(), unknown, strict=True)]
    ready = Ready(Limits(threshold, 2, 3), memory, 3)
    _, events, excess = step(ready, no_rows(3, memory), points, apart)
    np.testing.assert_allclose(excess, expected, rtol=1e-9, atol=1e-9)
    found = [
        (event.start, event.latest, event.is_slow, event.since.tolist(), event.telling.tolist())
        for event in events
        if event.phase != RISING
    ]
    assert sorted(found) == slow.events()


@examples(max_examples=50, deadline=None)
@given(seed=st.integers(0, 9), steps=STEPS, cuts=st.lists(st.integers(1, 119), max_size=9))
def test_pieces_of_a_series_give_equal_bits(seed, steps, cuts):
    points, apart = made(seed, steps, 0.1)
    memory = memory_of(np.random.default_rng(seed))
    ready = Ready(Limits(8, 2, 3), memory, 3)
    whole, events, excess = step(ready, no_rows(3, memory), points, apart)
    kept, ended, parts = no_rows(3, memory), [], []
    for start, end in itertools.pairwise([0, *sorted(set(cuts)), 120]):
        kept, some, part = step(ready, kept, points[start:end], apart[start:end], start)
        ended += [each for each in some if each.phase == ENDED]
        parts.append(part)
    assert np.concatenate(parts).tobytes() == excess.tobytes()
    assert described([*ended, *kept.events]) == described(events)
    assert kept.reference.tobytes() == whole.reference.tobytes()


def follow_alone(values, memory=None, threshold=20.0):
    """Follow one variable of which only the root of its points matters; return the events."""
    memory = memory or Memory(
        15, 1, 60.0, 1.0, (1.0,), (2.0,), (0.3,), Tail(0, 1, 0, 1), (0,), (0,), (None,)
    )
    roots = np.array(values, float)[:, None]
    ready = Ready(Limits(threshold, 5, 15), memory, 1)
    _, events, _ = step(ready, no_rows(1, memory), np.minimum(roots, 10.0) ** 2, roots)
    return [each for each in events if each.phase != RISING]


def noise(n_rows, seed=0):
    return np.abs(np.random.default_rng(seed).normal(1, 0.3, n_rows))


def test_a_change_that_lasts_is_one_event_and_what_comes_after_it_another():
    values = noise(900)
    values[200:] += 8
    values[500:510] += 1  # ups and downs of what stands
    (event,) = follow_alone(values)
    assert (event.start, event.is_open, event.kind) == (200, True, "shift")


def test_more_of_the_same_and_the_way_back_begin_events_of_their_own():
    values = noise(1200)
    values[200:] += 8
    values[500:] += 8  # evidence is as high as it can be
    values[800:] -= 16
    first, *others = follow_alone(values)
    assert (first.start, first.latest) == (200, 799)
    assert [each.start // 10 for each in others] == [50, 80]
    assert not first.lately.any()
    assert np.ravel([each.lately for each in others]) == pytest.approx([9, 17], abs=0.5)


def test_an_event_ends_when_its_variable_is_back_and_the_next_one_is_as_new_as_the_first():
    values = noise(1500)
    for start in range(200, 1500, 150):
        values[start : start + 60] += 7
    events = follow_alone(values)
    assert [each.start for each in events] == list(range(200, 1500, 150))
    assert all(each.length <= 61 for each in events)


def test_a_slow_drift_is_a_lasting_change_before_it_has_come_far():
    values = noise(3000) + np.clip((np.arange(3000) - 500) / 2000 * 9, 0, 9)
    (event,) = follow_alone(values)
    assert (event.is_slow, event.kind, event.is_open) == (True, "shift", True)
    assert event.start < 2500


def test_a_few_high_rows_do_not_hide_what_follows():
    values = noise(600)
    values[200:203] += 8
    values[240:300] += 6
    assert [each.start for each in follow_alone(values)] == [200, 240]


def test_what_differs_from_the_first_row_on_begins_there():
    (event,) = follow_alone(noise(300) + 8)
    assert (event.start, event.kind, event.is_open) == (0, "shift", True)


# --- tables ---------------------------------------------------------------------------------------


def test_faults_are_found(scorer, table):
    found = find_events(scorer, table, limits_of(scorer.model, table))
    names = scorer.model.schema.names
    worst = max(found.events, key=lambda each: each.severity)
    assert names[int(worst.shares.argmax())] == "heat"
    assert (worst.first, worst.kind) == (150, "shift")
    assert 349 <= worst.last < 380  # what it left behind fades
    flow = [each.first for each in found.events if names[int(each.shares.argmax())] == "flow"]
    assert flow == [60, 220]


@examples(max_examples=20, deadline=None)
@given(cuts=st.lists(st.integers(0, 400), max_size=8))
def test_chunks_give_the_same_events_and_blames(scorer, table, cuts):
    limits = limits_of(scorer.model, table)
    whole = find_events(scorer, table, limits)
    kept, ended, scores, excess = None, [], [], []
    for part in pieces(table, cuts):
        found = find_events(scorer, part, limits, kept)
        ended += [each for each in found.events if not each.is_open]
        opened = [each for each in found.events if each.is_open]
        kept = found.following
        scores.append(found.scores)
        excess.append(found.excess)
    assert np.concatenate(scores).tobytes() == whole.scores.tobytes()
    assert np.concatenate(excess).tobytes() == whole.excess.tobytes()
    assert described([*ended, *opened]) == described(whole.events)
    assert kept.n_rows == table.n_rows


def test_row_by_row_gives_the_same_scores(scorer, table):
    limits = limits_of(scorer.model, table)
    kept, scores = None, []
    for row in range(120):
        found = find_events(scorer, table.take(slice(row, row + 1)), limits, kept)
        kept = found.following
        scores.append(found.scores[0])
    assert np.array(scores).tobytes() == scorer.score(table)[:120].tobytes()


def test_times_of_what_began_in_an_earlier_table_are_known(scorer):
    begin = np.datetime64("2024-01-01T00:00:00", "us")
    times = begin + np.arange(1500) * np.timedelta64(10, "s")
    checker = Checker(learn(as_table({"t": times, **series(1500)}), min_support=0.05))
    table = as_table({"t": times[:400], **series(400, 1, FAULTS)})
    whole = checker.find(table)
    first = checker.find(table.take(slice(0, 200)))
    second = checker.find(table.take(slice(200, 400)), first.state)
    assert any(each.ongoing for each in (*first.incidents, *first.shifts))
    worst, same = whole.shifts[0], second.shifts[0]
    assert same.started == worst.started < times[200].item()
    assert [each.began for each in same.blames] == [each.began for each in worst.blames]
    assert same.summary[:18] == worst.summary[:18]


def test_an_incident_of_one_row_blames_what_its_row_blames():
    rows = series(800)
    checker = Checker(learn(as_table(rows), min_support=0.05, lookback=0, ordered=True))
    odd = {name: values[:30] for name, values in rows.items()}
    odd["flow"] = [*odd["flow"][:10], 40.0, *odd["flow"][11:]]
    table = as_table(odd)
    incident = next(each for each in checker.find(table, gap=0).incidents if each.start == 10)
    (row,) = checker.explain(table, np.array([10]))
    assert incident.end == 10
    assert incident.blames[0].variable == row.blames[0].variable == "flow"


def test_several_series_are_followed_apart():
    a, b = series(700, 2), series(700, 3)
    both = {
        "machine": [name for _ in range(700) for name in ("a", "b")],
        **{key: [v for pair in zip(a[key], b[key], strict=True) for v in pair] for key in a},
    }
    model = learn(as_table(both), min_support=0.05, by="machine")
    assert "machine" not in model.schema.names
    checker = Checker(model)
    today_a, today_b = series(200, 4, (("flow", 50, 60, 3.0),)), series(200, 5)
    mixed = {
        "machine": [name for _ in range(200) for name in ("a", "b")],
        **{
            key: [v for pair in zip(today_a[key], today_b[key], strict=True) for v in pair]
            for key in today_a
        },
    }
    stacked = {
        "machine": ["a"] * 200 + ["b"] * 200,
        **{key: [*today_a[key], *today_b[key]] for key in today_a},
    }
    one, other = (checker.score(as_table(each)) for each in (mixed, stacked))
    assert one[::2].tobytes() == other[:200].tobytes()
    assert one[1::2].tobytes() == other[200:].tobytes()
    found = checker.find(as_table(mixed))
    worst = found.incidents[0]
    assert worst.series == "a"
    assert 100 <= worst.start <= 104


def test_a_gap_in_time_begins_anew():
    begin = np.datetime64("2024-01-01T00:00:00", "us")
    times = begin + np.arange(1500) * np.timedelta64(10, "s")
    rows = series(1500)
    model = learn(as_table({"t": times, **rows}), min_support=0.05)
    assert model.series.step == 10.0
    scorer = Scorer(model)
    today = series(200, 1, (("flow", 90, 120, 2.0),))
    steps = np.full(200, 10)
    steps[100] = 51
    gap = as_table({"t": begin + np.cumsum(steps).astype("timedelta64[s]"), **today})
    parts = [
        as_table({"t": times[:100], **{k: v[i : i + 100] for k, v in today.items()}})
        for i in (0, 100)
    ]
    alone = np.concatenate([scorer.score(each) for each in parts])
    assert scorer.score(gap).tobytes() == alone.tobytes()
    steps[100] = 50
    none = as_table({"t": begin + np.cumsum(steps).astype("timedelta64[s]"), **today})
    assert scorer.score(none)[100] != alone[100]


def test_without_a_past_rows_score_as_exchangeable_ones():
    rows = series(800)
    begin = np.datetime64("2024-01-01T00:00:00", "us")
    times = begin + np.arange(800) * np.timedelta64(10, "s")
    plain = learn(as_table(rows), min_support=0.05)
    ordered = learn(as_table({"t": times, **rows}), min_support=0.05, lookback=0)
    today = series(100, 1, FAULTS[:1])
    one = Scorer(plain).score(as_table(today))
    other = Scorer(ordered).score(as_table({"t": times[:100], **today}))
    assert one.tobytes() == other.tobytes()
    assert ordered.limit == plain.limit
    assert ordered.series is not None
    assert plain.series is None


def test_another_source_has_no_past():
    detector = InvariantRuleDetector(min_support=0.05, ordered=True).fit(series(1000))
    today = series(300, 1, FAULTS[:1])
    early, late = ({name: each[part] for name, each in today.items()} for part in _HALVES)
    before = detector.check(early, source="A").state
    alone = detector.check(late).scores.tobytes()
    going_on = detector.check(late, before, source="A")
    assert going_on.scores.tobytes() != alone
    assert detector.check(late, before, source="B").scores.tobytes() == alone
    assert detector.check(late, detector.check(early).state, source="B").state.n_rows == 150
    unsaid = detector.check(late, before)
    assert unsaid.scores.tobytes() == going_on.scores.tobytes()
    assert [each.id for each in unsaid.incidents] == [each.id for each in going_on.incidents]
    assert unsaid.state.source == "A"


_HALVES = (slice(0, 150), slice(150, 300))


def test_a_state_is_the_state_of_findings():
    with pytest.raises(ParameterError) as caught:
        InvariantRuleDetector(min_support=0.1).fit(series(100)).check(series(10), "x")
    assert str(caught.value) == (
        "state must be the state of earlier findings, got 'x'.\nHint: hand in findings.state."
    )


def test_nothing_deviates_in_an_empty_table(scorer):
    empty = as_table(series(5)).take(slice(0, 0))
    assert isinstance(empty, Table)
    found = find_events(scorer, empty, limits_of(scorer.model, empty))
    assert found.events == ()
    assert len(found.scores) == 0


def test_deviations_of_papers_scoring_are_shares():
    rows = series(300)
    scorer = Scorer(learn(as_table(rows), min_support=0.1, scoring="paper"))
    weighed = scorer.weigh(as_table(series(50, 1, (("flow", 5, 9, 9.0),))))
    far = Judge(scorer.model).deviations(weighed)
    broken = weighed.scores > 0
    np.testing.assert_allclose(far[broken].sum(axis=1), 1.0)
    assert not far[~broken].any()


@pytest.mark.parametrize("by", [None, "machine"])
def test_a_detector_goes_on_where_it_stopped(by):
    rows = series(1000)
    today = series(300, 1, FAULTS[:1])
    for data, n_rows in ((rows, 1000), (today, 300)):
        data["machine"] = ["a", "b"] * (n_rows // 2)
    options = {"ignore": ["machine"]} if by is None else {"by": by}
    detector = InvariantRuleDetector(min_support=0.05, delta=True, **options).fit(rows)
    whole = detector.check(today, source="pump 1")
    state, scores, found = None, [], []
    for start, end in ((0, 7), (7, 61), (61, 62), (62, 300)):
        piece = {name: values[start:end] for name, values in today.items()}
        part = detector.check(piece, state, source="pump 1")
        state = part.state
        scores.append(part.scores)
        found += [each for each in (*part.incidents, *part.shifts) if not each.ongoing]
    assert np.concatenate(scores).tobytes() == whole.scores.tobytes()
    ended = [each for each in (*whole.incidents, *whole.shifts) if not each.ongoing]
    assert {(each.id, each.start, each.end, each.severity) for each in found} == {
        (each.id, each.start, each.end, each.severity) for each in ended
    }
    assert found
    assert {each.id for each in ended}.isdisjoint(
        each.id for each in detector.check(today).incidents
    )


@pytest.mark.parametrize("n_dead", [30, 200])
def test_a_sensor_that_is_missing_is_reported_once_and_for_as_long_as_it_lasts(scorer, n_dead):
    """Training never lacked a value, so that no threshold has counted what one adds."""
    data = series(400, 1)
    data["heat"][100 : 100 + n_dead] = [None] * n_dead
    table = as_table(data)
    found = find_events(scorer, table, limits_of(scorer.model, table))
    (event,) = (each for each in found.events if each.first < 100 + n_dead and each.last >= 100)
    assert event.kind == ("shift" if n_dead > 60 else "incident")
    assert 100 <= event.first <= 104
    assert event.last >= 100 + n_dead - 1
    assert event.shares.argmax() == scorer.model.schema.names.index("heat")


def test_a_missing_value_weighs_what_its_rule_does_where_rows_have_no_past(scorer):
    present = next(rule for rule in scorer.model.rules if str(rule) == "always heat is present")
    assert worth_of_habit(scorer.model, present) >= habit_worth(present.count)
    evidence = msgspec.structs.replace(scorer.model.evidence, contradiction_unit=100.0)
    wide = msgspec.structs.replace(scorer.model, evidence=evidence)
    assert worth_of_habit(wide, present) == 100 * wide.memory.cap > habit_worth(present.count)
    alone = msgspec.structs.replace(wide, series=msgspec.structs.replace(wide.series, memory=None))
    assert worth_of_habit(alone, present) == habit_worth(present.count)


def test_a_variable_is_told_by_the_row_that_tells_most_however_late_it_comes(scorer):
    table = as_table(series(400, 1, (("heat", 100, 300, 6.0), ("heat", 270, 271, 30.0))))
    found = find_events(scorer, table, limits_of(scorer.model, table))
    heat = scorer.model.schema.names.index("heat")
    longest = max(found.events, key=lambda each: each.n_rows)
    assert longest.kind == "shift"
    assert longest.telling[heat] == 270
    assert longest.since[heat] < 110


def test_rows_far_apart_are_followed_at_once_and_each_begins_anew(monkeypatch):
    begin = np.datetime64("2024-01-01T00:00:00", "us")
    times = begin + np.arange(1500) * np.timedelta64(10, "s")
    scorer = Scorer(learn(as_table({"t": times, **series(1500)}), min_support=0.05))
    later = begin + np.arange(400) * np.timedelta64(60, "s")
    table = as_table({"t": later, **series(400, 1, FAULTS)})
    calls = []

    def counted(memory, evidence, *others):
        calls.append(len(evidence))
        return recall(memory, evidence, *others)

    monkeypatch.setattr("truism.score.past.recall", counted)
    scores = scorer.score(table)
    assert calls == [400]
    alone = [scorer.score(table.take(slice(row, row + 1)))[0] for row in range(140, 160)]
    assert scores[140:160].tobytes() == np.array(alone).tobytes()
