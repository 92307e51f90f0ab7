"""Circles of variables that become news by themselves: from the definition, the same in any chunks."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from truism.explaining.culprits import Circles, Warmth, never_warm
from truism.explaining.events import Limits
from truism.model.series import Memory, Tail
from truism.scoring.weighed import Remembered, Weighed

LIMITS = Limits(1.0, 2, 20)


def circles_of(*numbers):
    n = len(numbers)
    return Circles(
        Memory(15, 1, 2.0, 6.0, 1.0, (0.0,) * n, (1.0,) * n, Tail(1.0, 1.0, 1, 1), numbers)
    )


def weighed_of(news):
    """Rows whose whole score is news of the row itself."""
    nothing = np.zeros(news.shape)
    since = nothing.astype(np.int32)
    return Weighed(news, None, Remembered(nothing, news.sum(axis=1), nothing, since))


def found_in(circles, news, before=None, first=0):
    before = never_warm(news.shape[1]) if before is None else before
    weighed, at = weighed_of(news), np.arange(len(news))
    return circles.follow(weighed, at, news.sum(axis=1), first, LIMITS, before)


def oracle(level, limits):
    """Return (row, since, before) of each time that one circle is news for longer than the gap."""
    warm = [t for t in range(len(level)) if level[t] > limits.threshold / 2]
    stretches = []
    for t in warm:
        if stretches and t - stretches[-1][-1] <= limits.gap + 1:
            stretches[-1].append(t)
        else:
            stretches.append([t])
    found = []
    for at, own in enumerate(stretches):
        hot = [t for t in own if level[t] > limits.threshold]
        if len(hot) > limits.gap:
            found.append((hot[limits.gap], own[0], stretches[at - 1][-1] if at else -1))
    return found


@st.composite
def rows(draw):
    n_rows = draw(st.integers(1, 60))
    random = np.random.default_rng(draw(st.integers(0, 1000)))
    stays = np.repeat(
        random.choice([0.0, 0.3, 0.7, 1.2], (n_rows, 3), p=[0.5, 0.1, 0.1, 0.3]), 3, 0
    )
    return stays[: 3 * n_rows : draw(st.integers(1, 3))]


@examples(max_examples=80, deadline=None)
@given(news=rows(), cuts=st.lists(st.integers(0, 180), max_size=5))
def test_newcomers_are_what_the_definition_says_in_any_chunks(news, cuts):
    circles = circles_of(0, 1, 0)
    levels = {(1, 0, 1): news[:, 0] + news[:, 2], (0, 1, 0): news[:, 1]}
    wanted = sorted(
        (*found, members)
        for members, level in levels.items()
        for found in oracle(level.tolist(), LIMITS)
    )
    ends = sorted(min(each, len(news)) for each in cuts)
    for bounds in ([0, len(news)], [0, *ends, len(news)]):
        before, told = None, []
        for start, end in itertools.pairwise(bounds):
            found, before = found_in(circles, news[start:end], before, start)
            told += [
                (row, each.since, each.before, tuple(each.members.tolist()))
                for row, some in found.items()
                for each in some
            ]
        assert sorted(told) == wanted


def test_who_has_a_past_counts_by_what_is_new():
    circles = circles_of(0, 1)
    past, known = np.array([[1.2, 0.0]] * 4), np.array([[0.0, 2.0]] * 4)
    remembered = Remembered(past, np.full(4, 1.7), known, np.zeros((4, 2), np.int32))
    weighed = Weighed(np.array([[1.2, 2.5]] * 4), None, remembered)
    found, warmth = circles.follow(
        weighed, np.arange(4), remembered.news, 10, LIMITS, never_warm(2)
    )
    assert [(row, each.members.tolist()) for row, some in found.items() for each in some] == [
        (12, [1, 0])
    ]
    assert warmth.n_hot.tolist() == [4, 0]


def test_nobody_is_new_in_a_single_circle():
    for circles in (circles_of(0, 0), Circles(circles_of(0, 0).memory)):
        found, warmth = found_in(circles, np.full((9, 2), 3.0))
        assert not found
        assert isinstance(warmth, Warmth)
