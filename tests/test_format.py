"""The shape of a model file: to a file and back is the same model, and references must fit."""

import time

import msgspec
import pytest
from hypothesis import given

from learned import learn
from strategies import NORMAL, ratios, tables, thresholds
from truism.errors import TruismError
from truism.model.files import FORMAT_VERSION, SECTIONS, from_file, to_file
from truism.table.frames import as_table
from truism.table.layouts import ColumnReading, Layout, Reading


@pytest.fixture(scope="module", params=["paper", "evidence"])
def model(request):
    return learn(as_table(NORMAL), min_support=0.1, scoring=request.param)


def test_a_file_gives_back_the_model(model):
    assert from_file(to_file(model)) == model


@given(tables(), thresholds, ratios)
def test_any_model_survives(data, min_support, ratio):
    model = learn(as_table(data), min_support=min_support, support_ratio=ratio)
    assert from_file(to_file(model)) == model


def test_every_predicate_is_written_once_and_rules_refer_to_it(model):
    file = to_file(model)
    listed = [each.predicate for each in file.predicates]
    assert len(set(listed)) == len(listed)
    assert file.format_version == FORMAT_VERSION
    for rule, written in zip(model.rules, file.rules, strict=True):
        assert tuple(listed[i] for i in written.antecedent) == rule.antecedent
        assert tuple(listed[i] for i in written.consequents) == rule.consequents
        assert written.count == rule.count


def test_a_file_lists_the_sections_it_has(model):
    file = to_file(model)
    evidence = {"evidence": SECTIONS["evidence"]}
    assert file.sections == ({} if model.evidence is None else evidence)
    assert (file.evidence is None) == (model.evidence is None)
    reading = Reading(Layout(zone="UTC"), (ColumnReading("U", "text"),))
    known = msgspec.structs.replace(model, reading=reading)
    assert to_file(known).sections == {**file.sections, "reading": SECTIONS["reading"]}
    assert from_file(to_file(known)) == known


@pytest.mark.parametrize(
    ("damage", "where"),
    [
        (lambda file: {"rules": file.rules[::-1]}, "$.rules"),
        (lambda file: {"rules": (*file.rules, file.rules[-1])}, "$.rules"),
        (lambda file: {"sections": {} if file.sections else {"evidence": 1}}, "$.sections"),
        (lambda file: {"sections": {**file.sections, "reading": 1}}, "$.sections"),
        (lambda _: {"reading": Reading()}, "$.sections"),
        (
            lambda file: {
                "sections": {**file.sections, "reading": 1},
                "reading": Reading(columns=(ColumnReading("U", "text"),) * 2),
            },
            "$.reading.columns",
        ),
        (lambda _: {"derived": ("nobody",)}, "$.derived"),
        (lambda file: {"variables": (*file.variables, file.variables[0])}, "$.variables"),
    ],
)
def test_parts_that_do_not_fit_are_refused_and_it_is_said_where(model, damage, where):
    file = to_file(model)
    with pytest.raises(TruismError) as caught:
        from_file(msgspec.structs.replace(file, **damage(file)))
    assert where in str(caught.value)


def test_contexts_are_checked_in_the_same_time_however_many_variables_there_are():
    # Listing the variables anew for each context would take a minute here.
    data = {**NORMAL, "level": [float(i % 17) for i in range(100)]}
    file = to_file(learn(as_table(data), min_support=0.1))
    first, evidence = file.variables[0], file.evidence
    more = tuple(msgspec.structs.replace(first, name=f"n{i}") for i in range(4000))
    several = msgspec.structs.replace(
        evidence,
        contexts=evidence.contexts[:1] * 4000,
        usual=(*evidence.usual, *evidence.usual[:1] * 4000),
    )
    provenance = msgspec.structs.replace(file.provenance, columns=())
    changes = {"variables": (*file.variables, *more), "evidence": several, "provenance": provenance}
    started = time.perf_counter()
    from_file(msgspec.structs.replace(file, **changes))
    assert time.perf_counter() - started < 10
