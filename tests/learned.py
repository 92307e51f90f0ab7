"""Learning in one call, for tests: settings by name, and what mined rules say of rows."""

import msgspec

from truism.explain.checker import Checker
from truism.learn.kinds import infer_schema
from truism.learn.learn import learn as train
from truism.model.settings import Settings
from truism.score.alignment import align
from truism.score.rules import breaks_any


def learn(table, settings=None, *, n_jobs=1, **changes):
    """Learn from a table with settings that differ from the defaults."""
    return train(table, msgspec.structs.replace(settings or Settings(), **changes), n_jobs=n_jobs)


def infer(table, **settings):
    """Infer the variables of a table, with some settings."""
    return infer_schema(table, Settings(**settings))


def breaks_mined_rule(model, table, n_jobs=1):
    """Tell for each row whether it breaks a rule other than a univariate one."""
    active = msgspec.structs.replace(model.rules, rules=model.active_rules)
    return breaks_any(model.schema, active, align(model.schema, table)[0], n_jobs)


def find_incidents(scorer, table, *, gap=None, threshold=None):
    """Return the incidents and shifts that a scorer finds in a table."""
    model = scorer.model
    if threshold is not None:
        model = model.with_threshold(threshold)
    found = Checker(model, scorer=scorer).find(table, gap=gap)
    return [*found.incidents, *found.shifts]
