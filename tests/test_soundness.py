"""Evidence that was learned has no faults; evidence that was damaged has one, and it is said where."""

import math
import time

import msgspec
import pytest
from hypothesis import given

from learned import learn
from strategies import NORMAL, tables
from truism.model.evidence import Grave
from truism.model.predicates import Interval, OneOf
from truism.model.schema import Numeric
from truism.model.soundness import find_faults
from truism.table.frames import as_table

replace = msgspec.structs.replace


@pytest.fixture(scope="module")
def model():
    data = {**NORMAL, "level": [float(i % 17) for i in range(100)]}
    return learn(as_table(data), min_support=0.1)


def places(model, evidence):
    found = find_faults(model.schema, evidence, model.provenance.n_rows)
    return [where for _, where in found]


@given(tables(min_rows=4))
def test_what_was_learned_is_sound(data):
    model = learn(as_table(data), min_support=0.1)
    assert places(model, model.evidence) == []


def first(evidence, name, **changes):
    """The same evidence with another first spacing, context or usual."""
    head, *tail = getattr(evidence, name)
    return {name: (replace(head, **changes), *tail)}


@pytest.mark.parametrize(
    ("damage", "where"),
    [
        (lambda _: {"spacings": ()}, "$.spacings"),
        (lambda e: first(e, "spacings", values=e.spacings[0].values[::-1]), "$.spacings[0]"),
        (lambda e: first(e, "spacings", counts=e.spacings[0].counts[:-1]), "$.spacings[0]"),
        (lambda e: first(e, "spacings", near=0), "$.spacings[0]"),
        (lambda e: first(e, "spacings", near=2**70), "$.spacings[0]"),
        (lambda e: first(e, "spacings", spread=math.inf), "$.spacings[0]"),
        (lambda e: {"splits": (*e.splits, OneOf("P101", ("never",)))}, "$.splits[{n}]"),
        (lambda e: {"splits": (*e.splits, Interval("P101", high=1.0))}, "$.splits[{n}]"),
        (lambda e: {"splits": (*e.splits, Interval("level", low=1.0))}, "$.splits[{n}]"),
        (lambda e: first(e, "contexts", tree=e.contexts[0].tree[:-1]), "$.contexts[0]"),
        (lambda e: first(e, "contexts", tree=(*e.contexts[0].tree, -1)), "$.contexts[0]"),
        (lambda e: first(e, "contexts", tree=(10**6, -1, -1)), "$.contexts[0]"),
        (lambda e: first(e, "contexts", counts=e.contexts[0].counts[:-1]), "$.contexts[0]"),
        (
            lambda e: first(e, "contexts", counts=(10**6, *e.contexts[0].counts[1:])),
            "$.contexts[0]",
        ),
        (lambda e: {"usual": e.usual[:-1]}, "$.usual"),
        (lambda e: first(e, "usual", spread=0.0), "$.usual"),
        (lambda _: {"rarity_unit": 0.0}, "$.units"),
        (lambda _: {"contradiction_unit": math.inf}, "$.units"),
        (lambda _: {"grave": Grave(-1.0, 1.0)}, "$.grave"),
        (lambda _: {"grave": Grave(1.0, math.inf)}, "$.grave"),
    ],
)
def test_damage_is_found_where_it_is(model, damage, where):
    evidence = replace(model.evidence, **damage(model.evidence))
    assert set(places(model, evidence)) == {where.format(n=len(model.evidence.splits))}


def test_contexts_are_checked_in_the_same_time_however_many_variables_there_are(model):
    # Listing the variables anew for each context would take a minute here.
    more = tuple(replace(model.schema.variables[0], name=f"n{i}") for i in range(4000))
    schema = replace(model.schema, variables=(*model.schema.variables, *more))
    contexts = model.evidence.contexts[:1] * 4000
    usual = model.evidence.usual[:1] * len(schema.variables)
    numeric = [each.name for each in schema.variables if isinstance(each, Numeric)]
    spacings = tuple(replace(model.evidence.spacings[0], variable=name) for name in numeric)
    evidence = replace(model.evidence, contexts=contexts, usual=usual, spacings=spacings)
    started = time.perf_counter()
    assert list(find_faults(schema, evidence, model.provenance.n_rows)) == []
    assert time.perf_counter() - started < 10
