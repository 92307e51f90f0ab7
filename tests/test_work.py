"""Threads: the same results in the same order, and none started for what takes no time."""

import threading
import time

import pytest

from truism import work as module
from truism.work import read_ahead, share_out, threads, work_ahead


@pytest.mark.parametrize("patience", [0.0, 60.0])
@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_results_come_in_the_order_of_their_arguments(n_jobs, patience, monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", patience)
    expected = [(i, "x") for i in range(100)]
    assert list(share_out(n_jobs, lambda a, b: (a, b), range(100), "x" * 100)) == expected
    assert list(share_out(n_jobs, abs, [])) == []
    with threads(n_jobs) as spread:
        assert list(spread(lambda a, b: (a, b), range(100), "x" * 100)) == expected


def workers(n_jobs, work):
    def one(_):
        work()
        return threading.get_ident()

    return list(share_out(n_jobs, one, range(6)))


def test_others_help_only_when_it_takes_long(monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", 60.0)
    own = threading.get_ident()
    assert workers(4, lambda: None) == [own] * 6
    monkeypatch.setattr(module, "PATIENCE", 0.001)
    assert own not in workers(2, lambda: time.sleep(0.002))[1:]
    assert workers(1, lambda: time.sleep(0.002)) == [own] * 6


@pytest.mark.parametrize("patience", [0.0, 60.0])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_error_reaches_whoever_asks(n_jobs, patience, monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", patience)
    with pytest.raises(ZeroDivisionError):
        list(share_out(n_jobs, lambda x: 1 // x, [1, 2, 0]))


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_working_ahead_keeps_the_order_and_stays_near_the_reader(n_jobs):
    begun = []

    def work(item):
        begun.append(item)
        return 2 * item

    results = work_ahead(n_jobs, work, range(50))
    assert next(results) == 0
    assert len(begun) <= 2 * n_jobs + 1
    assert list(results) == [2 * item for item in range(1, 50)]
    with pytest.raises(ZeroDivisionError):
        list(work_ahead(n_jobs, lambda x: 1 // x, [1, 2, 0, 4]))


def test_the_next_item_is_read_while_one_is_used():
    read, go_on = [], threading.Event()

    def items():
        for item in range(5):
            read.append(item)
            if item == 1:
                go_on.set()
            yield item

    found = read_ahead(items())
    assert next(found) == 0
    assert go_on.wait(60)  # nobody has asked for it yet
    assert len(read) == 2
    assert list(found) == [1, 2, 3, 4]
    assert list(read_ahead([])) == []


def test_reading_ahead_ends_with_its_reader_and_tells_what_went_wrong():
    closed = []

    def items():
        try:
            yield from range(100)
        finally:
            closed.append(True)

    found = read_ahead(items())
    assert next(found) == 0
    found.close()
    assert closed == [True]
    found = read_ahead(1 // x for x in (1, 2, 0, 4))
    assert [next(found), next(found)] == [1, 0]
    with pytest.raises(ZeroDivisionError):
        next(found)
