"""A table followed in one piece, in chunks and row by row; who is to blame, from the definition."""

import itertools

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from learned import learn
from truism import InvariantRuleDetector, ParameterError
from truism.explaining.checker import Checker
from truism.explaining.delays import limits_of
from truism.explaining.following import RISING, find_events
from truism.explaining.tallies import Judge, units_of
from truism.scoring.scorer import Scorer
from truism.scoring.worth import habit_worth, worth_of_habit
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


def described(outlines):
    ordered = sorted(outlines, key=lambda each: (each.series, each.event.start, each.event.kind))
    return [
        (
            *(each.series, each.event, each.tally.first, each.tally.last, each.tally.peak),
            *(each.tally.shares.tobytes(), each.tally.parts.tobytes()),
            *(each.tally.since.tobytes(), each.tally.telling.tobytes()),
            *(each.tally.offsets.tobytes(), each.tally.n_known.tobytes()),
        )
        for each in ordered
    ]


def pieces(table, cuts):
    ends = [0, *sorted(cuts), table.n_rows]
    return [table.take(slice(*pair)) for pair in itertools.pairwise(ends)]


def test_faults_are_found(scorer, table):
    found = find_events(scorer, table, limits_of(scorer.model, table))
    habit = limits_of(scorer.model, table).habit
    assert habit == 12 * scorer.model.memory.lookback
    for each in found.outlines:
        assert (each.event.kind == "shift") == (each.tally.n_rows >= habit)
    assert {each.event.kind for each in found.outlines} == {"incident", "shift"}
    worst = max(found.outlines, key=lambda each: each.event.severity)
    assert scorer.model.schema.names[int(worst.tally.shares.argmax())] == "heat"
    assert 150 <= worst.tally.first <= 152


@examples(max_examples=20, deadline=None)
@given(cuts=st.lists(st.integers(0, 400), max_size=8))
def test_chunks_give_the_same_events_and_blames(scorer, table, cuts):
    limits = limits_of(scorer.model, table)
    whole = find_events(scorer, table, limits)
    kept, closed, scores = None, [], []
    for part in pieces(table, cuts):
        found = find_events(scorer, part, limits, kept)
        closed += [each for each in found.outlines if not each.event.is_open]
        opened = [each for each in found.outlines if each.event.is_open]
        kept = found.following
        scores.append(found.scores)
    assert np.concatenate(scores).tobytes() == whole.scores.tobytes()
    assert described([*closed, *opened]) == described(whole.outlines)
    assert kept.n_rows == table.n_rows


def test_a_change_so_slow_that_it_is_a_habit_before_it_is_news_is_told_once(scorer):
    """Now and then a row is unusual, never for long, and none is news."""
    data, random = series(3000, 1), np.random.default_rng(3)
    creeping = 20 + 2 * np.minimum(np.arange(3000) / 1000, 1) + random.normal(0, 0.3, 3000)
    table = as_table(data | {"heat": creeping.tolist()})
    limits, kept = limits_of(scorer.model, table), None
    (told,) = find_events(scorer, table, limits).outlines
    assert (told.event.kind, told.event.is_habit, told.event.is_open) == ("shift", True, True)
    assert scorer.model.schema.names[int(told.tally.shares.argmax())] == "heat"
    assert told.event.n_rows < told.event.length / 10
    for part in pieces(table, (964, 1400, 1401, 2500)):
        found = find_events(scorer, part, limits, kept)
        kept = found.following
    assert described(found.outlines) == described([told])


APART = (("heat", 100, 150, 6.0), ("flow", 125, 150, 2.5))


@pytest.mark.parametrize("cuts", [(), (101, 126, 131), (128, 135), tuple(range(90, 180))])
def test_a_new_culprit_divides_an_incident_and_a_consequence_does_not(scorer, cuts):
    """Heat has nothing to do with flow and level; those two follow each other."""
    table, kept, found = as_table(series(400, 1, APART)), None, {}
    for part in pieces(table, cuts):
        some = find_events(scorer, part, limits_of(scorer.model, part), kept)
        found |= {each.event.start: each for each in some.outlines}
        kept = some.following
    names = np.array(scorer.model.schema.names)
    first, second = (found[start] for start in sorted(found) if 95 <= start <= 150)
    assert (first.event.is_apart, second.event.is_apart) == (False, True)
    assert 100 <= first.event.start <= 102
    assert 125 <= second.event.start <= 133
    assert second.event.on_top == first.event.start
    assert names[first.tally.shares.argmax()] == "heat"
    assert names[second.tally.shares.argmax()] == "flow"
    assert second.tally.shares[names == "heat"] == 0
    assert not first.tally.shares[np.isin(names, ["flow", "level"])].any()
    whole = find_events(scorer, table, limits_of(scorer.model, table))
    assert described(found.values()) == described(whole.outlines)
    memory = msgspec.structs.replace(scorer.model.memory, circles=())
    known = msgspec.structs.replace(scorer.model.series, memory=memory)
    alone = Scorer(msgspec.structs.replace(scorer.model, series=known))
    undivided = find_events(alone, table, limits_of(alone.model, table)).outlines
    assert not any(each.event.is_apart for each in undivided)


def test_row_by_row_gives_the_same_scores(scorer, table):
    limits = limits_of(scorer.model, table)
    kept, scores = None, []
    for row in range(120):
        found = find_events(scorer, table.take(slice(row, row + 1)), limits, kept)
        kept = found.following
        scores.append(found.scores[0])
    assert np.array(scores).tobytes() == scorer.score(table)[:120].tobytes()


def test_blame_is_what_its_definition_says(scorer, table):
    assert len(set(scorer.model.memory.circles)) == 2
    limits = limits_of(scorer.model, table)
    found = find_events(scorer, table, limits)
    weighed = scorer.weigh(table)
    units, news = units_of(scorer.model), weighed.news
    evidence = weighed.pieces.plain + weighed.pieces.rarities
    lookback = scorer.model.memory.lookback
    for outline in found.outlines:
        event = outline.event
        if event.on_top is not None:
            continue
        onset = event.start
        while onset > 0 and news[onset - 1] > RISING * limits.threshold:
            onset -= 1
        if event.start - onset >= limits.lasting:
            continue
        unusual = np.flatnonzero(found.scores > limits.threshold)
        own = [r for r in unusual.tolist() if event.start <= r <= event.last]
        own = [r for r in own if r < event.start + limits.lasting]
        blame = np.zeros(len(units))
        for row in (*range(onset, event.start), *own):
            far = np.sqrt(np.maximum(evidence[row] / units - 1, 0))
            blame += lookback / (row - onset + lookback) * far
        np.testing.assert_allclose(outline.tally.shares, blame / blame.sum(), rtol=1e-9)


def test_how_far_a_variable_lies_off_is_what_its_definition_says(scorer, table):
    found = find_events(scorer, table, limits_of(scorer.model, table))
    weighed = scorer.weigh(table)
    shift = next(each for each in found.outlines if each.event.kind == "shift")
    heat = scorer.model.schema.names.index("heat")
    place = scorer.prepared.reader.numbers.index(heat)
    unusual = np.flatnonzero(found.scores > scorer.model.threshold)
    rows = [row for row in unusual.tolist() if shift.event.start <= row <= shift.event.last]
    off = []
    for row in rows:
        means, weights = [], []
        for context, leaf in zip(
            scorer.model.evidence.contexts, weighed.pieces.leaves[:, row], strict=True
        ):
            if heat in context.numbers:
                at = context.numbers.index(heat)
                n, spread = context.counts[leaf], context.spreads[leaf][at]
                means.append(context.means[leaf][at])
                weights.append(1 / ((spread**2 * n + 3) / (n + 3) + 0.05**2))
        expected = np.average(means, weights=weights)
        off.append(weighed.pieces.readings.standard[row, place] - expected)
    assert shift.tally.offsets[heat] == pytest.approx(np.mean(off), rel=1e-4)
    # The fault adds 6 to a variable whose standard deviation is about 1.
    assert 5 < np.mean(off) < 7


def test_times_of_what_began_in_an_earlier_table_are_known(scorer):
    begin = np.datetime64("2024-01-01T00:00:00", "us")
    times = begin + np.arange(1500) * np.timedelta64(10, "s")
    checker = Checker(learn(as_table({"t": times, **series(1500)}), min_support=0.05))
    table = as_table({"t": times[:400], **series(400, 1, FAULTS)})
    whole = checker.find(table)
    first, kept = checker.follow(table.take(slice(0, 200)))
    second, kept = checker.follow(table.take(slice(200, 400)), kept)
    assert any(each.ongoing for each in (*first.incidents, *first.shifts))
    worst, same = whole.shifts[0], second.shifts[0]
    assert same.started == worst.started < times[200].item()
    assert [each.began for each in same.blames] == [each.began for each in worst.blames]
    assert same.onsets == worst.onsets
    assert same.summary[:18] == worst.summary[:18]


def test_an_incident_of_one_row_has_the_shares_of_the_row():
    rows = series(800)
    model = learn(as_table(rows), min_support=0.05)
    checker = Checker(model)
    odd = {name: values[:30] for name, values in rows.items()}
    odd["flow"] = [*odd["flow"][:10], 40.0, *odd["flow"][11:]]
    table = as_table(odd)
    incident = next(each for each in checker.find(table, gap=0).incidents if each.start == 10)
    (row,) = checker.explain(table, np.array([10]))
    shares = {each.variable: each.share for each in row.blames}
    assert incident.end == 10
    for blame in incident.blames:
        assert blame.share == pytest.approx(shares[blame.variable])


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
    assert found.outlines == ()
    assert len(found.scores) == 0


def test_deviations_of_papers_scoring_are_shares():
    rows = series(300)
    scorer = Scorer(learn(as_table(rows), min_support=0.1, scoring="paper"))
    weighed = scorer.weigh(as_table(series(50, 1, (("flow", 5, 9, 9.0),))))
    far = Judge(scorer.model).deviations(weighed, np.arange(50))
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
    dead = [each for each in found.outlines if each.tally.last >= 100]
    assert len(dead) == 1
    outline = dead[0]
    assert outline.event.kind == ("shift" if n_dead > 60 else "incident")
    assert outline.tally.first <= 104
    assert outline.tally.last == 100 + n_dead - 1
    unusual = found.scores[104 : 100 + n_dead] > scorer.model.threshold
    assert unusual.all()
    heat = scorer.model.schema.names.index("heat")
    assert outline.tally.shares.argmax() == heat
    scores, before = [], None
    for part in pieces(table, [37, 101, 130]):
        some = find_events(scorer, part, limits_of(scorer.model, part), before)
        scores.append(some.scores)
        before = some.following
    assert np.concatenate(scores).tobytes() == found.scores.tobytes()


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
    longest = max(found.outlines, key=lambda each: each.tally.n_rows)
    assert longest.event.kind == "shift"
    assert longest.tally.telling[heat] == 270
    # Only the first rows count for blame.
    assert longest.tally.since[heat] < 110
