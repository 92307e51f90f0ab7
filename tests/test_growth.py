"""Work grows with the number of states, not with its square: comparisons are counted, not timed."""

import sys
from functools import cache, partial

import msgspec
import numpy as np
import pytest

from learned import learn
from truism.explain.checker import Checker
from truism.model.files import from_file, to_file
from truism.show.summarising import summarise
from truism.table.frames import as_table

FEW, MANY = 150, 600


class Counted(str):
    """A text that counts how often it is compared or hashed."""

    __slots__ = ()
    n_times = 0

    def __eq__(self, other):
        Counted.n_times += 1
        return str.__eq__(self, other)

    def __lt__(self, other):
        Counted.n_times += 1
        return str.__lt__(self, other)

    def __hash__(self):
        Counted.n_times += 1
        return str.__hash__(self)


def counted(value):
    """Return a value whose texts count what is done with them."""
    match value:
        case str():
            return Counted(value)
        case msgspec.Struct():
            names = value.__struct_fields__
            return type(value)(**{each: counted(getattr(value, each)) for each in names})
        case tuple() if type(value) is tuple:
            return tuple(map(counted, value))
        case list():
            return list(map(counted, value))
        case dict():
            return {counted(key): counted(each) for key, each in value.items()}
    return value


def rows(n_states):
    """Return a table with two columns of many states, each of them in two rows."""
    states = [f"s{i}" for i in range(n_states)] * 2
    return {"u": states, "v": states[::-1], "x": (np.arange(2 * n_states) % 10).tolist()}


@cache
def model(n_states):
    return learn(as_table(rows(n_states)), min_support=0.1)


def cost(work):
    """Return how many calls a piece of work takes, and how many comparisons of texts."""
    calls = [0]

    def count(frame, event, argument):
        calls[0] += event.endswith("call")

    Counted.n_times, before = 0, sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return calls[0] + Counted.n_times


def load(n_states):
    file = counted(to_file(model(n_states)))
    return lambda: from_file(file)


def explain(n_states):
    checker = Checker(from_file(counted(to_file(model(n_states)))))
    strange = {"u": ["never", "s1"], "v": ["s2", "never"], "x": [3, 3]}
    table = checker.prepare(as_table(strange))
    return lambda: str(checker.explain(table, np.arange(2)))


def report(n_states):
    checker = Checker(from_file(counted(to_file(model(n_states)))))
    table = checker.prepare(as_table({"u": ["never"] * 3, "v": ["s2"] * 3, "x": [3, 3, 3]}))
    return lambda: summarise(checker, table, checker.find(table), source="t", created="now")


def compare_all(n_states):
    """Ask of each state whether it is among all: what must not happen."""
    states = counted(tuple(rows(n_states)["u"][:n_states]))
    return lambda: [each in states for each in states]


@pytest.mark.parametrize("work", [load, explain, report])
def test_work_grows_no_faster_than_the_number_of_states(work, monkeypatch):
    # Ids are digests of JSON, and its writer knows no texts but Python's own.
    monkeypatch.setattr(msgspec.json, "encode", partial(msgspec.json.encode, enc_hook=str))
    few, many = cost(work(FEW)), cost(work(MANY))
    assert many < few * 1.5 * MANY / FEW


def test_work_that_grows_with_the_square_would_be_seen():
    few, many = cost(compare_all(FEW)), cost(compare_all(MANY))
    assert many > few * 1.5 * MANY / FEW
