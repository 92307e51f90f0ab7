"""Variables that died: found from row to row, told as that, and once."""

import itertools

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from learned import learn
from truism.explain.checker import Checker
from truism.explain.clues import Dead
from truism.explain.states import decode_state, encode_state, proceed
from truism.explain.words import join, say, state
from truism.learn.series import find_stretches
from truism.model.acceptances import Acceptance
from truism.model.files import from_file, to_file
from truism.model.predicates import Interval
from truism.model.schema import Categorical, Numeric, Schema
from truism.model.series import LOOKBACK, Memory, Tail
from truism.model.wording import Legend
from truism.score.alignment import Reader
from truism.score.past import TIMES, Stillness, stillness_of
from truism.score.scorer import Scorer
from truism.table.frames import as_table

SCHEMA = Schema(
    (
        Numeric("x", 0.0, 9.0, 5.0, 2.0, 0, (0.25, 3.75), (5, 5)),
        Categorical("u", "text", ("a", "b"), (5, 5), 2),
        Numeric("y", 0.0, 9.0, 5.0, 2.0, 1, (0.0, 3.0), (5, 5)),
    )
)
MEMORY = Memory(
    *(15, 1, 2.0, 1.0, *((0.0,) * 3,) * 3, Tail(1.0, 1.0, 1, 1)),
    longest=(2, 0, 5),
    absent=(0, 7, 1),
    rest=(None, None, None),
)


def readings_of(x, u, y):
    table = as_table({"x": x, "u": u, "y": y})
    columns = [table.column_of()[name] for name in SCHEMA.names]
    return Reader(SCHEMA).read(columns)


def dead_by_rows(values, longest, decimals=0):
    """Count back from every row, with all that came before it."""
    found = []
    for at, value in enumerate(values):
        so_far = values[: at + 1]
        length = next((n for n, each in enumerate(reversed(so_far)) if each != value), at + 1)
        fine = not decimals or any(
            each is not None and round(each, decimals - 1) != each for each in so_far
        )
        found.append(length if value is not None and fine and length > longest else 0)
    return found


def gone_by_rows(values, longest):
    lengths = [
        len(list(itertools.takewhile(lambda each: each is None, reversed(values[: at + 1]))))
        for at in range(len(values))
    ]
    return [length if length > longest else 0 for length in lengths]


def stretched(values):
    """Return values, each many times in a row."""
    some = st.tuples(st.sampled_from(values), st.integers(1, 30))
    return st.lists(some, min_size=1, max_size=6).map(
        lambda pairs: [value for value, n_rows in pairs for _ in range(n_rows)]
    )


@examples(max_examples=150)
@given(
    x=stretched([1.0, 2.5, 3.25, None]),
    u=stretched(["a", "b", None]),
    y=stretched([1.0, 2.0, None]),
    cuts=st.lists(st.integers(0, 60), max_size=4),
    begins=st.sets(st.integers(0, 60), max_size=3),
)
def test_dead_variables_are_those_that_counting_back_finds_in_any_chunks(x, u, y, cuts, begins):
    n_rows = min(map(len, (x, u, y)))
    x, u, y, anew = x[:n_rows], u[:n_rows], y[:n_rows], np.isin(np.arange(n_rows), [*begins])
    stillness = Stillness(SCHEMA, MEMORY)
    readings = readings_of(x, u, y)
    still, found = stillness.begin(), []
    ends = [0, *sorted(min(each, n_rows) for each in cuts), n_rows]
    for start, end in itertools.pairwise(ends):
        part = slice(start, end)
        dead, still = stillness.follow(readings.take(part), still, anew[part])
        found.append(dead)
    dead = np.concatenate(found)
    for start, end in itertools.pairwise([0, *np.flatnonzero(anew).tolist(), n_rows]):
        own = slice(start, end)
        assert dead[own, 0].tolist() == dead_by_rows(x[own], LOOKBACK, 2)
        assert dead[own, 1].tolist() == gone_by_rows(u[own], TIMES * 7)
        same, gone = dead_by_rows(y[own], LOOKBACK), gone_by_rows(y[own], LOOKBACK)
        assert dead[own, 2].tolist() == np.maximum(same, gone).tolist()


def test_what_stood_still_in_training_is_muted_or_infinite_is_never_dead():
    memory = msgspec.structs.replace(MEMORY, longest=(6, 0, 5))
    readings = readings_of([2.5] * 40, ["a"] * 40, [float("inf")] * 40)
    for stillness in (Stillness(SCHEMA, memory), Stillness(SCHEMA, MEMORY, [0])):
        dead, still = stillness.follow(readings, stillness.begin(), np.zeros(40, bool))
        assert not dead.any()
        assert np.isfinite(still.value).all()
    assert stillness_of(SCHEMA, None, []) is None


@given(
    x=stretched([1.0, 2.5, None]),
    u=stretched(["a", "b", None]),
    cut=st.integers(0, 60),
)
def test_the_longest_stretches_of_training_end_where_rows_do_not_follow(x, u, cut):
    n_rows = min(len(x), len(u))
    x, u, cut = x[:n_rows], u[:n_rows], min(cut, n_rows)
    names = ("x", "u", "Δx")
    table = as_table({"x": [np.nan if each is None else each for each in x], "u": u, "Δx": x})
    schema = Schema(
        (*SCHEMA.variables[:2], msgspec.structs.replace(SCHEMA.variables[2], name="Δx"))
    )
    columns = [table.column_of()[name] for name in names]
    runs = [np.arange(cut), np.arange(cut, n_rows)]
    same, absent, rest = find_stretches(schema, columns, runs, 10**6)
    assert rest == (None, None, None)
    groups = [
        (key, len(list(some)))
        for part in (x[:cut], x[cut:])
        for key, some in itertools.groupby(part)
    ]
    assert same[0] == max((n for key, n in groups if key is not None), default=0)
    assert same[1:] == (0, 0)
    assert absent[0] == max((n for key, n in groups if key is None), default=0)
    states = [
        (key, len(list(some)))
        for part in (u[:cut], u[cut:])
        for key, some in itertools.groupby(part)
    ]
    assert absent[1] == max((n for key, n in states if key is None), default=0)


def test_a_number_may_stand_still_where_it_rested_in_training_and_nowhere_else():
    flow = [0.0] * 40 + [2.51, 2.42, 2.42, 2.63] * 5 + [0.0] * 30
    schema = Schema((msgspec.structs.replace(SCHEMA.variables[0], name="flow"),))
    table = as_table({"flow": flow})
    (same, *_), (absent, *_), (rest, *_) = find_stretches(
        schema, [table.column_of()["flow"]], [np.arange(len(flow))], 5
    )
    assert (same, absent, rest) == (2, 0, 0.0)
    memory = msgspec.structs.replace(
        MEMORY,
        usual=(0.0,),
        highest=(0.0,),
        stray=(0.0,),
        longest=(same,),
        absent=(absent,),
        rest=(rest,),
    )
    judge = Stillness(schema, memory)
    today = as_table({"flow": [2.54] + [0.0] * 49 + [2.51] * 30})
    readings = Reader(schema).read([today.column_of()["flow"]])
    dead, _ = judge.follow(readings, judge.begin(), np.zeros(80, np.bool_))
    assert not dead[:50].any()
    assert np.flatnonzero(dead[:, 0])[0] == 50 + LOOKBACK


# --- in a model ---


def series(n_rows, seed, still=(), gone=()):
    """Make numbers of two decimals; `spare` is often missing, and `valve` stands still in training."""
    random = np.random.default_rng(seed)
    level = np.round(np.sin(np.arange(n_rows) / 9) + random.normal(0, 0.1, n_rows), 2)
    spare = np.round(random.normal(50, 1, n_rows), 2)
    spare[random.random(n_rows) < 0.3] = np.nan
    valve = np.resize(np.repeat([4.5, 5.5, 6.25, 5.75, 4.75, 6.5], 40), n_rows)
    heat = np.round(random.normal(20, 1, n_rows), 2)
    data = {"level": level, "spare": spare, "valve": valve, "heat": heat}
    for name, start, end in still:
        data[name][start:end] = data[name][start]
    for name, start, end in gone:
        data[name][start:end] = np.nan
    times = np.datetime64("2024-01-01") + 10 * np.arange(n_rows).astype("timedelta64[s]")
    return {"time": times, **data}


@pytest.fixture(scope="module")
def model():
    return learn(as_table(series(2000, 0)), min_support=0.05)


def test_a_sensor_that_stands_still_is_told_once_and_stays_open(model):
    found = Checker(model).find(as_table(series(900, 1, still=[("heat", 100, 900)])))
    told = [*found.incidents, *found.shifts]
    assert [each.blames[0].variable for each in told] == ["heat"]
    (shift,) = told
    assert shift.ongoing
    assert shift.kind == "shift"
    assert 100 + LOOKBACK <= shift.start < 100 + 2 * LOOKBACK
    first = shift.blames[0].reasons[0]
    assert first.kind == "dead"
    longest = model.memory.longest[model.schema.names.index("heat")]
    assert 1 <= longest <= LOOKBACK / TIMES
    assert first.evidence == f"at most {10 * longest} s in training"
    assert first.found.endswith(" for 2 h 13 min")
    assert found.patterns[0].kind == "dead"
    assert "stands still" in found.patterns[0].summary


def test_what_is_muted_on_a_condition_does_not_die_where_it_holds(model):
    table = as_table(series(900, 1, still=[("heat", 100, 350), ("level", 500, 700)]))
    checker, middle = Checker(model), model.schema.variable_of()["level"].mean
    accepting = checker.accepting(
        Acceptance(("heat",), (Interval("level", high=middle),), "cleaning")
    )
    found = accepting.find(accepting.prepare(table))
    assert "level" in {each.blames[0].variable for each in (*found.incidents, *found.shifts)}
    dead = accepting.scorer.weigh(table, np.arange(900)).remembered.dead
    high = table.column_of()["level"].values >= middle
    places = [model.schema.names.index(name) for name in ("heat", "level")]
    plain = checker.scorer.weigh(table, np.arange(900)).remembered.dead
    assert np.array_equal(dead[:, places[0]], np.where(high, plain[:, places[0]], 0))
    assert np.array_equal(dead[:, places[1]], plain[:, places[1]])
    assert plain[:, places[0]].any()


def test_an_incident_says_that_a_sensor_died_and_rows_do_so_too(model):
    table = as_table(series(300, 1, still=[("heat", 100, 160)], gone=[("spare", 200, 290)]))
    checker = Checker(model)
    found = checker.find(table)
    by_name = {each.blames[0].variable: each for each in (*found.incidents, *found.shifts)}
    assert " heat stood at " in by_name["heat"].summary
    assert by_name["heat"].summary.endswith("for 10 min, in training for at most 20 s.")
    assert "spare was missing for 15 min 20 s, in training for" in by_name["spare"].summary
    explained = checker.explain(table, np.array([110, 140, 280]))
    kinds = {
        (each.row, blame.variable): blame.reasons[0].kind
        for each in explained
        for blame in each.blames
    }
    assert kinds.get((110, "heat")) != "dead"
    assert kinds[140, "heat"] == "dead"
    assert kinds[280, "spare"] == "dead"
    parts = checker.scorer.attribute(table)
    assert (parts.sum(axis=1) == pytest.approx(checker.score(table))) is True
    assert parts[140, model.schema.names.index("heat")] >= model.memory.cap


def test_nothing_dies_in_normal_rows_nor_what_stood_still_in_training(model):
    table = as_table(series(600, 2, still=[("valve", 100, 500)]))
    nothing = (0,) * len(model.schema.names)
    memory = msgspec.structs.replace(model.memory, longest=nothing, absent=nothing)
    ignorant = msgspec.structs.replace(
        model, series=msgspec.structs.replace(model.series, memory=memory)
    )
    assert Scorer(model).score(table).tobytes() == Scorer(ignorant).score(table).tobytes()
    assert ignorant.id != model.id
    rounded = series(600, 2)
    rounded["heat"] = np.round(rounded["heat"] / 10)
    table = as_table(rounded)
    assert Scorer(model).score(table).tobytes() == Scorer(ignorant).score(table).tobytes()


def test_a_job_tells_the_same_of_a_sensor_that_died(model):
    table = as_table(series(420, 1, still=[("heat", 100, 400)]))
    checker = Checker(model)
    (whole,) = [each for each in checker.find(table).incidents if each.n_rows > 50] or [
        *checker.find(table).shifts
    ]
    kept, last, scores = None, {}, []
    for start in range(0, 420, 30):
        step = proceed(checker, table.take(slice(start, start + 30)), kept)
        kept = decode_state(encode_state(step.state))
        scores.append(step.findings.scores)
        last |= {each.id: each.incident for each in step.changes}
    assert np.concatenate(scores).tobytes() == checker.score(table).tobytes()
    assert last[whole.id].to_dict() == whole.to_dict()


def test_a_model_keeps_how_long_values_stood_still(model):
    assert from_file(to_file(model)).memory == model.memory
    fewer = model.without(("level",)).memory
    assert fewer.longest == model.memory.longest[1:]
    assert fewer.absent == model.memory.absent[1:]
    assert model.memory.absent[0] == 0 < model.memory.absent[1]
    assert model.memory.longest[2] >= 40


def test_what_died_is_said_with_units_and_in_rows_where_there_is_no_time():
    legend = Legend(units={"x": "mm"}, titles={})
    stuck = Dead("x", 4.21, 150, 5, None, 2.0)
    assert join([state("x", stuck, legend)]) == (
        "x stood at 4.21 mm for 150 rows, in training for at most 5 rows"
    )
    assert say(stuck, 1000, legend=legend).lines() == (
        "expected x to change, found 4.21 mm for 150 rows",
        "whatever the other variables are",
        "(at most 5 rows in training)",
    )
    gone = Dead("x", None, 150, 5, 60.0, 2.0)
    assert join([state("x", gone)]) == "x was missing for 2 h 30 min, in training for at most 5 min"
    assert say(gone, 1000).lines()[0] == "expected x to come back, found missing for 2 h 30 min"
