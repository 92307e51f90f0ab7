"""A day at a small plant, and the report about it, for the tests of reports and figures."""

import functools

import numpy as np

from learned import learn
from truism.explain.checker import Checker
from truism.learn.learn import learn as train
from truism.model.settings import Settings
from truism.show.summarising import summarise
from truism.table.frames import as_table

NORMAL = {
    "time": np.datetime64("2024-01-01T10:00") + np.arange(200) * np.timedelta64(60, "s"),
    "pump": ["on"] * 100 + ["off"] * 100,
    "flow": [2.5 + 0.01 * (i % 7) for i in range(100)] + [0.01 * (i % 7) for i in range(100)],
}


def attacked():
    """Return the same day with ten rows and one more in which the flow is wrong, and labels."""
    flow = list(NORMAL["flow"])
    flow[30:40] = [-1.5] * 10
    flow[150] = 1.3
    labels = np.zeros(200, np.int64)
    labels[30:40] = labels[60:65] = 1
    return {**NORMAL, "flow": flow, "label": labels, "note": ["x"] * 200}


@functools.cache
def checker():
    """Return what was learned from the normal day."""
    return Checker(learn(as_table(NORMAL), min_support=0.1, scoring="paper"))


def summarised(checker, table, *, gap=None, **options):
    """Summarise with another gap than the usual one."""
    return summarise(checker, table, checker.find(table, gap=gap), **options)


@functools.cache
def summary():
    """Return the report about the other day."""
    return summarised(checker(), as_table(attacked()), gap=2, source="a.csv", label="label")


HOSTILE = "a|b*<i>[x](y)`_"


@functools.cache
def hostile_model():
    """Return a model of a variable whose name is hard to print, with one rule switched off."""
    data = {HOSTILE: ["on", "off"] * 50, "flow": [2.5, 0.0] * 50}
    table = as_table({**data, "id": [f"n{i}" for i in range(100)]})
    model = train(table, Settings(min_support=0.1), created="2024-01-01T00:00:00+00:00")
    return model.disable(model.rules[-1].id, "a | b", "2024-02-03")
