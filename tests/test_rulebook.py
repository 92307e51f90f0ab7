"""All rules at once: broken where a row-by-row look says so, and never anywhere else."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples

import oracle
from strategies import learned
from truism.learn.kinds import variable_columns
from truism.model.predicates import variables
from truism.model.rules import RuleSet
from truism.score.rules import MAX_WORDS, Rulebook, breaks_any, expected_exceptions, rule_worth
from truism.score.truths import Truths
from truism.table.frames import as_table


def rows_of(data):
    return [dict(zip(data, values, strict=True)) for values in zip(*data.values(), strict=True)]


def broken_units(model, rules, data):
    """Rule, consequent and row of every broken unit rule, as the rulebook says."""
    book = Rulebook(model.schema, rules)
    if not book.predicates:
        return set()
    table = as_table(data)
    true, false = Truths(model.schema, book.predicates).evaluate(
        variable_columns(model.schema, table)
    )
    found = set()
    for consequent, rows, bits in book.violated(true, false, table.n_rows):
        assert consequent.owners == tuple(
            model.schema.names.index(name) for name in variables(consequent.predicate)
        )
        owners = book.rule_of[consequent.units]
        for unit, at in zip(*np.nonzero(bits), strict=True):
            found.add((book.rules[owners[unit]].id, consequent.predicate, int(rows[at])))
        assert bits.any(axis=0).all()
    return found


@pytest.mark.parametrize("most", [1, MAX_WORDS], ids=["in portions", "at once"])
def test_rules_are_broken_where_a_look_at_each_row_says_so(monkeypatch, most):
    monkeypatch.setattr("truism.score.rules.MAX_WORDS", most)

    @examples(max_examples=25)
    @given(learned())
    def check(drawn):
        _, model, data = drawn
        wanted = {
            (rule.id, consequent, i)
            for rule in model.rules if rule.antecedent
            for consequent in rule.consequents
            for i, row in enumerate(rows_of(data))
            if all(oracle.holds(each, row) is True for each in rule.antecedent)
            and oracle.holds(consequent, row) is False
        }  # fmt: skip
        assert broken_units(model, model.rules, data) == wanted

    check()


@examples(max_examples=25)
@given(learned())
def test_a_row_breaks_any_if_it_breaks_one(drawn):
    _, model, data = drawn
    columns = variable_columns(model.schema, as_table(data))
    wanted = [
        any(oracle.is_violated(rule, row) for rule in model.rules if rule.antecedent)
        for row in rows_of(data)
    ]
    for n_jobs in (1, 2):
        assert breaks_any(model.schema, model.rules, columns, n_jobs).tolist() == wanted


@examples(max_examples=25)
@given(learned())
def test_broken_rules_are_summed_as_a_look_at_each_row_says(drawn):
    _, model, data = drawn
    book, rows = Rulebook(model.schema, model.rules), rows_of(data)
    if not book.predicates:
        return
    columns = variable_columns(model.schema, as_table(data))
    truths = Truths(model.schema, book.predicates).evaluate(columns)
    wanted = {}
    for unit, rule in enumerate(book.rules[i] for i in book.rule_of.tolist()):
        (consequent,) = {
            each.predicate
            for each in book._consequents
            if unit in range(len(book.counts))[each.units]
        }
        for row, values in enumerate(rows):
            if (
                all(oracle.holds(each, values) is True for each in rule.antecedent)
                and oracle.holds(consequent, values) is False
            ):
                wanted.setdefault((consequent, row), []).append(unit)
    for compiled in (False, True):
        found = _numbers(book.summed(*truths, len(rows), compiled=compiled))
        assert found == {at: book.counts[units].sum() for at, units in wanted.items()}
        strongest = {at: book.worths[units].max() for at, units in wanted.items()}
        for most in (1, MAX_WORDS):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr("truism.score.rules.MAX_WORDS", most)
                found = list(book.strongest(*truths, len(rows), compiled=compiled))
            assert {at: worth for at, worth in _numbers(found).items() if worth} == {
                at: worth for at, worth in strongest.items() if worth
            }


def _numbers(summed):
    return {
        (consequent.predicate, row): number
        for consequent, rows, numbers in summed
        for row, number in zip(rows.tolist(), numbers.tolist(), strict=True)
    }


@examples(max_examples=25)
@given(learned())
def test_a_unit_rule_is_worth_what_its_counts_say(drawn):
    _, model, _ = drawn
    book = Rulebook(model.schema, model.rules)
    counts_of = {each.predicate: each for each in model.rules.predicates}
    units = [
        (rule.count, counts_of[consequent])
        for rule in book.rules
        for consequent in rule.consequents
    ]
    wanted = [
        rule_worth(
            expected_exceptions(
                np.array(count), np.array(known.n_true + known.n_false),
                np.array(known.n_false), np.array(known.n_episodes),
            )
        )
        for count, known in units
    ]  # fmt: skip
    assert sorted(book.worths.tolist()) == pytest.approx(sorted(map(float, wanted)))


def test_no_rules_are_never_broken(model):
    none = RuleSet((), model.rules.n_rows, ())
    book = Rulebook(model.schema, none)
    assert list(book.violated(np.empty((0, 1), np.uint64), np.empty((0, 1), np.uint64), 5)) == []
    for summed in (book.strongest, book.summed):
        for compiled in (False, True):
            nothing = np.empty((0, 1), np.uint64)
            assert list(summed(nothing, nothing, 5, compiled=compiled)) == []
    assert len(book.worths) == 0
