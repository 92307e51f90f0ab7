"""Two models on one table: incidents of one, of the other and of both; rows and days."""

import datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from learned import learn
from truism.errors import SchemaError
from truism.explaining.checker import Checker
from truism.explaining.comparison import Shared, Sighting, compare, compare_on, local_dates, pair_up
from truism.table.frames import as_table

DAY = np.datetime64("2024-03-01")


def plant(n_rows=400, wrong=(), **more):
    """A pump and a flow that follows it, two hours between rows."""
    on = np.arange(n_rows) % 10 < 5
    flow = np.where(on, 2.5, 0.0) + 0.01 * (np.arange(n_rows) * 7 % 13)
    flow[list(wrong)] = 2.5 - flow[list(wrong)]
    times = (DAY + np.arange(n_rows) * np.timedelta64(2, "h")).astype("datetime64[us]").tolist()
    pump = np.where(on, "on", "off").tolist()
    return as_table({"time": times, "pump": pump, "flow": flow.tolist(), **more})


@pytest.fixture(scope="module")
def checker():
    return Checker(learn(plant(), min_support=0.1))


def deaf(checker, threshold=1e6):
    return Checker(checker.model.with_threshold(threshold))


def test_a_model_against_itself_reports_nothing_of_its_own(checker):
    table = plant(wrong=(101, 102, 250))
    found = compare(checker, checker, table)
    assert found.models.same
    on = found.table
    assert (on.only_old, on.only_new) == ((), ())
    assert [(each.old, each.new) for each in on.both] == [(each.new, each.old) for each in on.both]
    assert (on.n_old, on.n_new, on.n_both) == (3, 3, 3)
    assert on.n_incidents == (2, 2)


def test_incidents_of_the_old_model_alone_have_variables_to_blame(checker):
    table = plant(wrong=(101, 102, 250))
    found = compare_on(checker, deaf(checker), table)
    incidents = sorted(checker.find(checker.prepare(table)).incidents, key=lambda each: each.start)
    only_old = sorted(found.only_old, key=lambda each: each.start)
    assert [(each.start, each.end, each.n_rows, each.peak) for each in only_old] == [
        (each.start, each.end, each.n_rows, each.peak) for each in incidents
    ]
    for each, incident in zip(only_old, incidents, strict=True):
        assert each.score == pytest.approx(incident.score)
        assert each.started == str(incident.started)
        assert [of.variable for of in each.blamed] == [of.variable for of in incident.blames]
    assert (found.n_old, found.n_new, found.both, found.only_new) == (3, 0, (), ())
    back = compare_on(deaf(checker), checker, table)
    assert (back.only_new, back.only_old) == (found.only_old, ())


def test_only_the_worst_incidents_are_explained(checker):
    table = plant(wrong=range(3, 400, 12))
    found = compare_on(checker, deaf(checker), table)
    assert len(found.only_old) == 34
    assert [each.blamed is None for each in found.only_old] == [False] * 20 + [True] * 14


def test_days_count_rows_and_incidents(checker):
    found = compare_on(checker, deaf(checker), plant(n_rows=30, wrong=(1, 13, 14)))
    assert [(each.date, each.n_rows, each.n_old, each.n_new) for each in found.days] == [
        ("2024-03-01", 12, 1, 0),
        ("2024-03-02", 12, 2, 0),
        ("2024-03-03", 6, 0, 0),
    ]
    assert [(each.n_incidents_old, each.n_incidents_new) for each in found.days] == [
        (1, 0),
        (1, 0),
        (0, 0),
    ]


def test_without_dates_there_are_no_days(checker):
    table = plant(n_rows=30)
    bare = as_table({"pump": ["on"] * 3, "flow": [2.5] * 3})
    assert compare_on(checker, checker, table).days
    assert compare_on(checker, checker, bare).days == ()


def test_labels_say_which_is_better(checker):
    wrong = [*range(50, 54), *range(120, 124), *range(200, 204), *range(260, 264), *range(330, 334)]
    marks = np.isin(np.arange(400), wrong).astype(int).tolist()
    found = compare_on(deaf(checker), checker, plant(wrong=wrong, attack=marks), "attack")
    told = found.advantage
    assert (told.label, told.n_labelled, told.n_segments) == ("attack", 20, 5)
    assert (told.found.old, told.found.new, told.found.verdict) == (0.0, 1.0, "better")
    assert (told.auc.difference, told.auc.verdict) == (0.0, "same")
    assert found.extra == ()
    assert compare_on(checker, checker, plant(attack=marks)).extra == ("attack",)


def test_a_table_that_lacks_a_column_of_one_model_says_of_which(checker):
    other = Checker(learn(plant(level=[float(i * 7 % 31) for i in range(400)]), min_support=0.1))
    for old, new, which in ((checker, other, "new"), (other, checker, "old")):
        with pytest.raises(SchemaError) as raised:
            compare_on(old, new, plant())
        assert str(raised.value) == (
            f"The {which} model cannot be used on the table. Column 'level' is missing from the "
            f"table to score.\nHint: the model was learned with 3 variables."
        )


def test_dates_are_those_of_the_zone_in_which_times_are_shown():
    zone = datetime.timezone(datetime.timedelta(hours=2))
    late = [datetime.datetime(2024, 3, 1, hour, 30, tzinfo=zone) for hour in (0, 1, 2, 23)]
    column = as_table({"time": late}).columns[0]
    shown = [column.cell(row).date() for row in range(4)]
    assert local_dates(column).tolist() == shown


def spans(ends):
    """Incidents of one model: neither overlapping nor touching."""
    pairs = list(zip(ends[::2], ends[1::2], strict=False))
    return [Sighting(a, b - 1, 1, a, float(a * 7 % 5), None, None) for a, b in pairs]


ends = st.lists(st.integers(0, 40), unique=True, max_size=14).map(sorted).map(spans)


@given(ends, ends)
def test_incidents_are_together_if_a_chain_of_overlaps_connects_them(old, new):
    only_old, only_new, both = pair_up(old, new)
    # Brute force: begin with each incident by itself, and join groups while any two overlap.
    groups = [{(side, each)} for side, some in enumerate((old, new)) for each in some]

    def overlap(one, other):
        return any(a.start <= b.end and b.start <= a.end for _, a in one for _, b in other)

    joined = True
    while joined:
        joined = False
        for one in groups:
            for other in groups:
                if one is not other and overlap(one, other):
                    groups = [each for each in groups if each not in (one, other)] + [one | other]
                    joined = True
                    break
            if joined:
                break
    found = [{(0, each)} for each in only_old] + [{(1, each)} for each in only_new]
    found += [{(0, e) for e in each.old} | {(1, e) for e in each.new} for each in both]
    assert {frozenset(each) for each in found} == {frozenset(each) for each in groups}
    assert [-each.score for each in only_old] == sorted(-each.score for each in only_old)


@given(ends, ends)
def test_swapping_the_models_swaps_their_incidents(old, new):
    only_old, only_new, both = pair_up(old, new)
    back = pair_up(new, old)
    assert (back[1], back[0]) == (only_old, only_new)
    assert set(back[2]) == {Shared(each.new, each.old) for each in both}
