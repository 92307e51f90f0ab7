"""The shape of a model file: to a file and back is the same model, and references must fit."""

import time

import msgspec
import pytest
from hypothesis import given

from learned import learn
from strategies import NORMAL, ratios, tables, thresholds
from truism.errors import TruismError
from truism.model.files import FILES, from_file, to_file
from truism.table.frames import as_table
from truism.table.layouts import ColumnReading, Reading


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
    assert file.format_version == FILES.version
    n_alone = len(file.univariate)
    assert file.univariate == model.rules.rules[:n_alone]
    for rule, written in zip(model.rules[n_alone:], file.rules, strict=True):
        assert tuple(listed[i] for i in written.antecedent) == rule.antecedent
        assert tuple(listed[i] for i in written.consequents) == rule.consequents
        assert written.count == rule.count


@pytest.mark.parametrize(
    ("damage", "where"),
    [
        (lambda file: {"univariate": file.univariate * 2}, "$.univariate"),
        (lambda file: {"rules": (*file.rules, file.rules[-1])}, "$.rules"),
        (
            lambda _: {"reading": Reading(columns=(ColumnReading("U", "text"),) * 2)},
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
