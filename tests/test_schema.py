"""Variables, and what is remembered of their training values."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truism.model.schema import Categorical, LeftOut, Numeric, Schema, id_of

LEVEL = Numeric("level", 1.0, 3.0, 2.0, 0.5, 0, (1.0, 2.0), (4, 6))
PUMP = Categorical("pump", "text", ("off", "on"), (3, 7), 0)


def test_a_schema_names_its_variables_in_order():
    schema = Schema((LEVEL, PUMP), (LeftOut("id", "text"),), "time")
    assert schema.names == ("level", "pump")
    assert schema.variable_of() == {"level": LEVEL, "pump": PUMP}


@pytest.mark.parametrize(
    ("variable", "varies", "has_spread"),
    [
        (LEVEL, True, True),
        (Numeric("x", 2.0, 2.0, 2.0, 0.0, 0, (2.0,), (10,)), False, False),
        # The standard deviation of neighbouring doubles may round to nothing.
        (Numeric("x", 0.0, 5e-324, 0.0, 0.0, 0, (0.0, 5e-324), (9, 1)), True, False),
        (PUMP, True, True),
        (Categorical("u", "number", (1,), (10,), 0), False, False),
    ],
)
def test_what_varies_and_what_can_be_measured_in_standard_deviations(variable, varies, has_spread):
    assert (variable.varies, variable.has_spread) == (varies, has_spread)


def test_a_column_that_is_left_out_says_which_and_why():
    said = str(LeftOut("it's", "every value is missing"))
    assert repr("it's") in said
    assert "every value is missing" in said


contents = st.lists(st.one_of(st.text(), st.integers(-(2**53), 2**53), st.none()), max_size=4)


@given(contents, contents)
def test_equal_content_has_the_same_name(one, other):
    assert (id_of(one) == id_of(other)) == (one == other)


def test_names_are_short_and_plain():
    assert len(id_of("x")) == 8
    assert id_of("x", 10).isalnum()
    assert id_of("x", 10).islower()
