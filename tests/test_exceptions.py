"""Rules that a few rows break are found exactly, and never in place of rules that none breaks."""

import json
import math
import re

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

import oracle
import truism
from strategies import exact, ratios, thresholds
from test_cli import run, table
from test_holdout import SUPPORT
from test_holdout import mined as learn_columns
from test_sql import scores
from truism.errors import ModelFileError, ParameterError
from truism.export.records import rule_records
from truism.learning.exceptions import Allowance, mine_with_exceptions
from truism.learning.holdout import broken_worths
from truism.learning.mining import UnitRule, minimum_counts
from truism.learning.parts import in_memory
from truism.learning.training import train, train_on_parts
from truism.model.files import decode_model, encode_model
from truism.model.rules import Rule, SoftRule
from truism.model.settings import Settings
from truism.scoring.bits import pack
from truism.scoring.scorer import Scorer
from truism.table.frames import as_table

T, F, N = True, False, None


def mined(
    truths, variables, allowance, min_support=0.1, support_ratio=0.0, max_predicates=5, **options
):
    n_rows = len(truths[0])
    true, false = (
        pack(np.array([[each is wanted for each in row] for row in truths]))
        for wanted in (True, False)
    )
    return mine_with_exceptions(
        true,
        false,
        variables,
        lambda counts: minimum_counts(counts, n_rows, exact(min_support), exact(support_ratio)),
        allowance,
        max_predicates=max_predicates,
        **options,
    )


@st.composite
def worn_tables(draw):
    """Rows of a few kinds, so that they have many rules, with a few cells that are wrong or missing."""
    n, n_rows = draw(st.integers(2, 7)), draw(st.integers(60, 260))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    kinds = random.random((n, draw(st.integers(3, 9)))) < random.uniform(0.3, 0.7, size=(n, 1))
    cells = kinds[:, random.integers(kinds.shape[1], size=n_rows)]
    cells ^= random.random(cells.shape) < draw(st.sampled_from([0.003, 0.01, 0.03]))
    unknown = random.random(cells.shape) < draw(st.sampled_from([0.0, 0.02, 0.1]))
    truths = [
        [None if hole else cell for cell, hole in zip(row, holes, strict=True)]
        for row, holes in zip(cells.tolist(), unknown.tolist(), strict=True)
    ]
    return truths, draw(st.sampled_from([list(range(n)), random.integers(n, size=n).tolist()]))


def test_finds_an_implication_with_one_exception():
    truths = [[T] * 41 + [F] * 59, [F] + [T] * 40 + [F] * 59]
    assert mined(truths, [0, 1], Allowance(rows=1)).rules == (UnitRule((0,), 1, 40, 1),)
    truths[1][1] = False
    assert mined(truths, [0, 1], Allowance(rows=1)).rules == ()
    assert mined(truths, [0, 1], Allowance(rows=2)).rules == (UnitRule((0,), 1, 39, 2),)


def test_a_consequent_that_hardly_ever_fails_makes_no_rule():
    truths = [[T] * 50 + [F] * 50, [F] + [T] * 97 + [F] * 2]
    assert mined(truths, [0, 1], Allowance(rows=1)).rules == ()


@examples(max_examples=200)
@given(
    worn_tables(),
    thresholds,
    ratios,
    st.integers(2, 5),
    st.one_of(st.integers(1, 9), st.sampled_from([0.01, 0.05, 0.1, 0.3])),
)
def test_mining_with_exceptions_equals_enumeration(
    drawn, min_support, support_ratio, max_predicates, allowed
):
    truths, variables = drawn
    part = None if isinstance(allowed, int) else exact(allowed)
    allowance = Allowance(allowed) if part is None else Allowance(0, *part.as_integer_ratio())
    wanted = oracle.mine_with_exceptions(
        truths,
        variables,
        exact(min_support),
        exact(support_ratio),
        max_predicates,
        allowed,
        part,
    )
    found = mined(
        truths, variables, allowance, min_support, support_ratio, max_predicates, n_jobs=2
    )
    assert list(found.rules) == wanted
    assert found.complete_to == max_predicates - 1


def worn_plant(n_rows=4312, wrong=(7, 4000)):
    """A pump and its flow, wrong in two rows, and a level that has nothing to do with them."""
    rng = np.random.default_rng(3)
    on = rng.random(n_rows) < 0.5
    flow = np.where(on, 2.5, 0.0) + rng.normal(0, 0.05, n_rows).round(3)
    flow[[*wrong]] = 2.5 - flow[[*wrong]]
    return {
        "pump": np.where(on, "on", "off").tolist(),
        "flow": flow.tolist(),
        "level": rng.normal(5, 1, n_rows).round(3).tolist(),
    }


def learned(data, max_exceptions=0, **options):
    return train(as_table(data), Settings(max_exceptions=max_exceptions, **options))


def soft(model):
    return [rule for rule in model.rules if isinstance(rule, SoftRule)]


def test_a_rule_with_exceptions_is_learned_said_and_scored():
    data = worn_plant()
    strict, lenient = (learned(data, k, scoring="paper", min_support=0.1) for k in (0, 2))
    assert not soft(strict)
    assert {rule for rule in lenient.rules if not rule.n_exceptions} == {*strict.rules}
    rules = [rule for rule in soft(lenient) if {*rule.variables} == {"pump", "flow"}]
    assert rules
    assert {rule.n_exceptions for rule in rules} <= {1, 2}
    row = {"pump": ["off", "on"], "flow": [2.51, 2.51], "level": [5.0, 5.0]}
    before, after = (Scorer(model).score(as_table(row)) for model in (strict, lenient))
    assert (after > before).tolist() == [True, False]
    detector = truism.InvariantRuleDetector(max_exceptions=2, scoring="paper", min_support=0.1)
    detector.fit(data)
    said = str(detector.explain(row))
    held = next(rule for rule in rules if f"{rule.rows_in_words} training rows like this" in said)
    plural = "s" if held.n_exceptions > 1 else ""
    assert f"{held.n_exceptions} exception{plural}" in said


def test_exceptions_make_a_rule_worth_less():
    model = learned(worn_plant(), 2)
    rule = next(rule for rule in soft(model) if rule.n_exceptions)
    book = Scorer(model)._rulebook
    at = next(i for i, k in enumerate(book.rule_of) if book.rules[k] == rule)
    counted = {each.predicate: each for each in model.rules.predicates}[rule.consequents[0]]
    known = rule.count + rule.n_exceptions
    share = math.sqrt(counted.n_false * counted.n_episodes) / (counted.n_true + counted.n_false)
    wanted = 0.5 * math.log((1 + known * share) / (1 + rule.n_exceptions))
    assert math.isclose(book.worths[at], wanted)
    assert book.counts[at] == rule.count - rule.n_exceptions
    chance = model.rules.log_chances()
    assert chance(rule) < 0
    assert chance(rule) > chance(Rule(rule.antecedent, rule.consequents, known))


def test_a_model_with_exceptions_is_kept_and_one_without_says_nothing_of_them():
    model = learned(worn_plant(), 0.05)
    assert soft(model)
    text = encode_model(model)
    assert decode_model(text) == model
    assert b'"exceptions"' not in encode_model(learned(worn_plant()))
    assert b"max_exceptions" not in encode_model(learned(worn_plant()))
    assert decode_model(text).exceptions == 0.05
    records = {each.id: each for each in rule_records(model)}
    rule = soft(model)[0]
    assert records[rule.id].exceptions == rule.n_exceptions
    assert records[rule.id].rows_in_words == rule.rows_in_words
    assert rule.to_dict()["exceptions"] == rule.n_exceptions
    assert rule.rows_in_words in repr(rule)
    assert 0 < list(model.rules.to_frame()["exceptions"]).count(0) < len(model.rules)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda rule: rule | {"exceptions": 10**6}, "the exceptions exceed a predicate's failures"),
        (lambda rule: rule | {"exceptions": 0}, "Expected `int` >= 1"),
    ],
)
def test_a_damaged_file_is_refused(change, problem):
    content = msgspec.json.decode(encode_model(learned(worn_plant(), 2)))
    content["rules"] = [change(each) if "exceptions" in each else each for each in content["rules"]]
    content["digest"] = ""
    with pytest.raises(ModelFileError) as caught:
        decode_model(msgspec.json.encode(content))
    assert problem in str(caught.value)


@pytest.mark.parametrize("asked", [-1, 1.0, 1.5, "2", None, True, math.nan])
def test_what_is_no_number_of_rows_and_no_part_is_refused(asked):
    with pytest.raises(ParameterError) as caught:
        Settings(max_exceptions=asked)
    assert str(caught.value) == (
        f"max_exceptions must be a whole number of rows, or a part of them below 1, got {asked!r}."
    )


@pytest.mark.parametrize("max_exceptions", [0, 0.0])
def test_no_exceptions_are_the_default(max_exceptions):
    assert Settings(max_exceptions=max_exceptions) == Settings()


@pytest.mark.parametrize("max_exceptions", [3, 0.05])
def test_learning_in_passes_finds_the_same_rules_where_the_sample_is_everything(max_exceptions):
    data = worn_plant(3000, (7, 1500, 2400))
    settings = Settings(max_exceptions=max_exceptions)
    whole = learned(data, max_exceptions)
    parts = train_on_parts(in_memory(as_table(data)), settings, n_sampled=2999)
    assert soft(whole)
    assert soft(parts)
    for rule in parts.rules:
        rows = oracle.rows_of({name: [*own] for name, own in data.items()})
        if not rule.antecedent:
            continue
        met = [row for row in rows if all(oracle.holds(each, row) for each in rule.antecedent)]
        for failed in rule.consequents:
            truths = [oracle.holds(failed, row) for row in met]
            assert (truths.count(True), truths.count(False)) == (rule.count, rule.n_exceptions)


def test_statements_score_rules_with_exceptions_as_python_does():
    data = worn_plant(600, (7, 400))
    model = learned(data, 2, scoring="paper", min_support=0.1)
    assert soft(model)
    rows = {name: own[:40] for name, own in data.items()} | {"pump": ["off"] * 40}
    expected = Scorer(model).score(as_table(rows))
    np.testing.assert_allclose(scores(model, rows, "paper"), expected, rtol=1e-9, atol=1e-9)


def test_the_command_line_learns_and_lists_rules_with_exceptions(tmp_path):
    data, model = tmp_path / "normal.csv", tmp_path / "m.truism.json"
    data.write_text(table(wrong=(101, 305)))
    out, err, code = run("learn", data, "-o", model, "--max-exceptions", "2")
    assert (err, code) == ("", 0)
    assert "Learned" in out
    out, _, _ = run("rules", model, "--contains", "flow", "--top", "0")
    assert re.search(r"1[0-9]{2} of 20[01] ", out)
    out, _, _ = run("rules", model, "--format", "json")
    assert {each.get("exceptions") for each in json.loads(out)} >= {None, 1}
    out, _, _ = run("rules", model, "--format", "csv")
    assert out.splitlines()[0].endswith(",date,exceptions")
    assert run("compare", model, model, "--fail-if", "new,lost")[2] == 0


def test_the_command_line_refuses_what_is_no_number(tmp_path):
    (tmp_path / "normal.csv").write_text(table())
    out, err, code = run(
        "learn",
        tmp_path / "normal.csv",
        "-o",
        tmp_path / "m.truism.json",
        "--max-exceptions",
        "few",
    )
    assert (out, code) == ("", 2)
    assert err == (
        "Error: --max-exceptions must be a whole number of rows, or a part of them below 1, got 'few'.\n"
    )


@examples(max_examples=25)
@given(worn_tables(), st.integers(2, 4), st.integers(1, 3), st.randoms(use_true_random=False))
def test_held_out_rows_are_judged_by_rules_with_exceptions_of_the_others(
    drawn, n_blocks, rows, random
):
    truths, _ = drawn
    data = {
        f"v{i}": [None if cell is None else "yes" if cell else "no" for cell in row]
        for i, row in enumerate(truths)
    }
    if any(len({*own} - {None}) < 2 for own in data.values()):
        return
    table, strict = learn_columns(data, support_ratio=0.1)
    lenient = msgspec.structs.replace(strict.settings, max_exceptions=rows)
    blocks = np.array([random.randrange(n_blocks) for _ in range(table.n_rows)])
    judged = np.arange(table.n_rows)
    wanted = broken_worths(*strict, blocks, judged, 1)
    found = broken_worths(*strict[:3], lenient, blocks, judged, 1)
    counts = strict.rules.rules.predicates
    predicates = [each.predicate for each in counts]
    cells = oracle.evaluate(predicates, data)
    for block in sorted({*blocks.tolist()}) if len({*blocks.tolist()}) > 1 else ():
        others = np.flatnonzero(blocks != block)
        inside = [[row[i] for i in others] for row in cells]
        group = [strict.schema.names.index(each.variable) for each in predicates]
        for unit in oracle.mine_with_exceptions(
            inside, group, SUPPORT, exact(0.1), strict.settings.longest, rows, None
        ):
            own = inside[unit.consequent]
            n_false, n_known = own.count(False), len(own) - own.count(None)
            of_all = counts[unit.consequent]
            episodes = n_false * (of_all.n_episodes / of_all.n_false)
            known = unit.count + unit.n_exceptions
            expected = known / n_known * math.sqrt(n_false * episodes)
            worth = 0.5 * max(math.log((1 + expected) / (1 + unit.n_exceptions)), 0.0)
            for i in np.flatnonzero(blocks == block):
                met = all(cells[p][i] is True for p in unit.antecedent)
                if met and cells[unit.consequent][i] is False:
                    at = (i, group[unit.consequent])
                    wanted[at] = max(wanted[at], worth)
    assert np.allclose(found, wanted, rtol=1e-9, atol=0)
