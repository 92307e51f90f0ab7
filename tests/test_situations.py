"""What rows have in common and few others have: bounds that hold, and conditions that fit."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
from learned import learn
from strategies import learned
from truism.explaining.situations import COMMON, DEPTH, MOST, Situations
from truism.model.predicates import variables
from truism.table.frames import as_table


@settings(max_examples=25)
@given(learned(scoring="evidence", min_rows=24), st.data())
def test_conditions_hold_in_their_rows_and_bounds_in_training(drawn, data):
    normal, model, strange = drawn
    rows = oracle.rows_of(strange)
    some = data.draw(st.lists(st.integers(0, len(rows) - 1), min_size=1, unique=True))
    chosen = as_table(strange).take(np.array(sorted(some)))
    own = [rows[i] for i in sorted(some)]
    avoided = data.draw(st.lists(st.sampled_from(model.schema.names), unique=True))
    others = [as_table(strange)] if data.draw(st.booleans()) else []
    found = Situations(model, others).find(chosen, avoided)
    assert sorted(i for each in found for i in each.rows.tolist()) == list(range(len(own)))
    assert len(found) <= 2**DEPTH
    training = oracle.rows_of(normal)
    for each in found:
        assert len(each.conditions) <= MOST
        about = [name for condition in each.conditions for name in variables(condition)]
        assert len({*about}) == len(about)
        for i in each.rows.tolist():
            assert all(oracle.holds(condition, own[i]) is True for condition in each.conditions)
        met = [
            row for row in training if all(oracle.holds(c, row) is True for c in each.conditions)
        ]
        assert len(met) <= each.n_training


def test_what_is_common_is_divided_and_wrong_variables_are_avoided():
    normal = as_table(
        {
            "pump": ["on", "off"] * 100,
            "flow": [2.5, 0.0] * 100,
            "shift": ["early"] * 96 + ["late"] * 8 + ["night"] * 96,
        }
    )

    model = learn(normal, min_support=0.02)
    late = as_table({"pump": ["on", "off"], "flow": [0.0, 2.5], "shift": ["late", "late"]})
    [found] = Situations(model).find(late, ["flow", "pump"])
    assert [str(each) for each in found.conditions] == ["shift = late"]
    assert found.n_training == 8
    assert found.share <= COMMON
    mixed = as_table({"pump": ["on", "off"], "flow": [0.0, 2.5], "shift": ["early", "night"]})
    cases = Situations(model, [normal]).find(mixed, ["flow"])
    assert len(cases) > 1
