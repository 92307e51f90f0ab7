"""Threads: the same results in the same order, and none started for a small table."""

import threading

import pytest

from truism.threads import threads, worthwhile


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_results_come_in_the_order_of_their_arguments(n_jobs):
    with threads(n_jobs) as spread:
        assert list(spread(lambda a, b: (a, b), range(100), "x" * 100)) == [
            (i, "x") for i in range(100)
        ]


def test_one_job_is_done_by_whoever_asks():
    with threads(1) as spread:
        assert (
            list(spread(lambda _: threading.get_ident(), range(3))) == [threading.get_ident()] * 3
        )
    with threads(2) as spread:
        assert threading.get_ident() not in spread(lambda _: threading.get_ident(), range(3))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_error_reaches_whoever_asks(n_jobs):
    with pytest.raises(ZeroDivisionError), threads(n_jobs) as spread:
        list(spread(lambda x: 1 // x, [1, 0]))


def test_a_small_table_is_not_shared_out():
    assert worthwhile(8, 1_099, 21) == 1
    assert worthwhile(8, 100_000, 65) == 8
    assert worthwhile(1, 100_000, 65) == 1
