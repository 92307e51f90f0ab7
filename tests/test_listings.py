"""Lists that make their members when somebody looks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truism.explain.listings import AT_ONCE, Listing


class Tales(Listing[str]):
    n_shown = 2

    def __init__(self, n):
        super().__init__()
        self.n, self.made = n, []

    def __len__(self):
        return self.n

    def _make(self, positions):
        self.made.append(list(positions))
        return [str(each) for each in positions]


BOUND = st.none() | st.integers(-200, 200)
LOOKS = st.lists(
    st.integers(-150, 149) | st.builds(slice, BOUND, BOUND, st.sampled_from([None, 2, -1]))
)


@given(st.integers(0, 150), LOOKS)
def test_it_is_the_same_as_a_tuple_however_it_is_looked_at(n, looks):
    tales, all_of_them = Tales(n), tuple(map(str, range(n)))
    for look in looks:
        if isinstance(look, int) and not -n <= look < n:
            with pytest.raises(IndexError):
                tales[look]
        else:
            assert tales[look] == all_of_them[look]
    assert tales == all_of_them
    assert list(reversed(tales)) == list(reversed(all_of_them))
    assert sorted(each for some in tales.made for each in some) == list(range(n))  # each once
    assert all(some == sorted(some) and len(some) <= AT_ONCE for some in tales.made)


def test_who_looks_at_one_makes_one():
    tales = Tales(1000)
    assert tales[-1] == "999"
    assert tales.made == [[999]]


@pytest.mark.parametrize(
    ("n", "text"), [(0, "none"), (2, "0\n\n1"), (1003, "0\n\n1\n\n… and 1,001 more")]
)
def test_few_are_printed(n, text):
    assert (str(Tales(n)), repr(Tales(n))) == (text, f"<Tales: {n:,}>")
    assert Tales(n)._repr_html_() == f"<pre>{text}</pre>"


def test_it_is_no_other_thing():
    assert Tales(2) != "01x"
    assert Tales(2) != 2
