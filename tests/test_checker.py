"""Findings, and rows that are rounded more than in training."""

import numpy as np

from truism.explaining.checker import Checker
from truism.explaining.findings import find_coarser
from truism.learning.training import train
from truism.model.settings import Settings
from truism.table.frames import as_table


def rounded(table, decimals):
    return as_table({name: np.round(values, decimals) for name, values in table.items()})


def test_rows_that_are_rounded_more_than_in_training_are_told():
    random = np.random.default_rng(0)
    fine = {
        "narrow": 2.97 + random.normal(0, 0.004, 600),
        "wide": random.normal(0, 50, 600),
        "whole": random.integers(0, 90, 600).astype(float),
    }
    model = train(as_table(fine), Settings(min_support=0.1))
    assert find_coarser(model, as_table(fine)) == ()
    # Of the wide one nothing that matters is lost.
    assert find_coarser(model, rounded(fine, 2)) == ("narrow",)
    checker, table = Checker(model), rounded(fine, 2)
    found = checker.find(table)
    assert found.doubts[0] == (
        "Fewer decimals than in training: 'narrow'. Rows may be reported because of rounding alone; "
        "learn from rows with the same rounding."
    )


def test_few_rows_or_values_do_not_tell_rounding():
    fine = {"x": 2.97 + np.random.default_rng(0).normal(0, 0.004, 600)}
    model = train(as_table(fine), Settings(min_support=0.1))
    assert find_coarser(model, as_table({"x": np.round(fine["x"][:50], 2)})) == ()
    assert find_coarser(model, as_table({"x": [3.0] * 500})) == ()
