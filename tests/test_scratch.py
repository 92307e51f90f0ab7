"""Memory that is used again holds what was last asked for, in each thread its own."""

import threading

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from truism.arrays import FRESH, Scratch

SHAPES = st.tuples(st.integers(0, 5), st.integers(0, 5))
DTYPES = st.sampled_from([np.float64, np.float32, np.uint64, np.int32, np.uint8])


@given(st.lists(st.tuples(st.sampled_from("abc"), SHAPES, DTYPES, st.booleans()), max_size=12))
def test_arrays_of_different_names_never_share_memory(asked):
    scratch, last = Scratch(), {}
    for name, shape, dtype, empty in asked:
        found = (scratch.empty if empty else scratch.zeros)(name, shape, dtype)
        assert (found.shape, found.dtype) == (shape, dtype)
        assert found.flags.c_contiguous
        assert found.flags.writeable
        assert empty or not found.any()
        value = len(last) + 1
        found[:] = value
        last[name] = found, value
        for each, wanted in last.values():
            assert (each == wanted).all()


def test_memory_is_used_again_by_its_own_thread_alone():
    scratch, others = Scratch(), []
    first = scratch.zeros("worth", (100,))

    def work():
        others.append(scratch.empty("worth", (100,)))
        others[0][:] = 1

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert not first.any()
    assert not np.shares_memory(first, others[0])
    assert np.shares_memory(first, scratch.empty("worth", (50, 2), np.float32))
    assert not np.shares_memory(first, scratch.empty("worth", (101,)))


def test_fresh_memory_is_never_used_again():
    first, second = (FRESH.zeros("worth", (3,)) for _ in range(2))
    assert not np.shares_memory(first, second)
    assert FRESH.empty("worth", (2, 3), np.uint8).shape == (2, 3)
