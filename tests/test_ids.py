"""Names follow from content, and from nothing else."""

from hypothesis import given
from hypothesis import strategies as st

from truism.model.ids import id_of

contents = st.lists(st.one_of(st.text(), st.integers(-(2**53), 2**53), st.none()), max_size=4)


@given(contents, contents)
def test_equal_content_has_the_same_name(one, other):
    assert (id_of(one) == id_of(other)) == (one == other)


def test_names_are_short_and_plain():
    assert len(id_of("x")) == 8
    assert id_of("x", 10).isalnum()
    assert id_of("x", 10).islower()
