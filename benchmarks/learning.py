"""Learning in one call: settings by name, as benchmarks say them."""

from typing import Any

from truism.learn.learn import learn as train
from truism.model.model import Model
from truism.model.settings import Settings
from truism.table.columns import Table


def learn(table: Table, *, n_jobs: int = 1, **settings: Any) -> Model:
    """Learn from a table with settings that differ from the defaults."""
    return train(table, Settings(**settings), n_jobs=n_jobs)
