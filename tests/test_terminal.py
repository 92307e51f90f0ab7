"""What a screen shows of models, findings and explanations."""

import io

from rich.console import Console

import reported
from reported import hostile_model
from truism.explain.blames import Blame
from truism.explain.explanations import Explanation
from truism.explain.words import say
from truism.export.records import rule_records
from truism.model.predicates import OneOf
from truism.model.rules import Rule
from truism.model.wording import visible
from truism.score.weighed import Violation
from truism.show.models import N_BEST, show_model, show_rules
from truism.show.terminal import show_explanation, show_findings, verdict
from truism.table.frames import as_table


def broken(name, conditions, penalty):
    failed = OneOf(name, (1,))
    return Violation(Rule(tuple(conditions), (failed,), 9), failed, (0,), penalty)


def blame(name, share):
    return Blame(name, share, share, (say(broken(name, (), share), 9),))


def on_screen(*arguments):
    console = Console(width=78, file=io.StringIO(), color_system=None)
    console.print(show_explanation(*arguments))
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def also_broken(n_others):
    """A variable that breaks a rule that counts, and others that add nothing further."""
    clues = [broken("a", [OneOf(f"c{i}", (1,))], 0.0 if i else 3.0) for i in range(n_others + 1)]
    reasons = tuple(say(clue, 9) for clue in clues)
    row = Explanation(7, None, 3.0, (Blame("a", 1.0, 3.0, reasons),))
    return row, [clue.rule.id for clue in clues]


def test_rules_that_add_nothing_further_are_told_apart():
    row, ids = also_broken(2)
    shown = on_screen(row, 1.0, 8)
    assert shown.pop(5).strip().endswith(":")
    assert shown == [
        "row 7 · score 3 · anomaly (threshold 1)",
        "",
        "a  100 %  expected a = 1, found 0",
        "          because c0 = 1",
        f"          (9 of 9 training rows, no exception) · rule {ids[0]} +3",
        f"          rule {ids[1]}: expected a = 1 because c1 = 1",
        f"          rule {ids[2]}: expected a = 1 because c2 = 1",
    ]


def test_a_screen_names_a_few_of_very_many_rules_that_add_nothing():
    row, _ = also_broken(39)
    assert len(on_screen(row, 1.0, 8)) == 12
    assert on_screen(row, 1.0, 8)[-1].strip() == "and 34 more rules; --format json lists all."
    assert len(row.to_dict()["blames"][0]["reasons"]) == 40


def test_a_screen_shows_what_is_nothing_only_when_all_is_asked_for():
    row = Explanation(0, None, 1.0, (blame("a", 0.6), blame("b", 0.396), blame("c", 0.004)))
    few, every = on_screen(row, 0.5, 8), on_screen(row, 0.5, 0)
    assert not any(line.startswith("c") for line in few)
    assert few[-1] == "1 more variable with 0.4 % of the blame; --top 0 shows all."
    assert any(line.split()[:2] == ["c", "0"] for line in every)


def printed(*parts):
    console = Console(width=400, file=io.StringIO(), color_system=None)
    for part in parts:
        console.print(part)
    return console.file.getvalue()


def test_a_model_is_shown_with_its_variables_rules_and_place():
    model = hostile_model()
    shown = printed(show_model(model, "plant\x1b[31m.json"))
    assert reported.HOSTILE in shown
    assert "Learned as states, because they have few different values: 'flow'." in shown
    assert f"{model.provenance.min_support:g}, {model.provenance.why_support}" in shown
    assert f"{len(model.rules)} rules" in shown
    assert "\x1b" not in shown
    assert "plant\\x1b[31m.json" in shown
    statements = model.summary(N_BEST).statements
    assert statements
    for statement in statements:
        assert visible(statement.text(model.words)) in shown


def test_findings_are_shown_worst_first_and_end_with_the_verdict():
    checker = reported.checker()
    findings = checker.find(as_table(reported.attacked()), gap=2)
    every, one = (printed(*show_findings(findings, top)) for top in (10, 1))
    first, second = (incident.summary for incident in findings.incidents)
    assert every.index(first) < every.index(second)
    assert second not in one
    for shown in (every, one):
        assert shown.rstrip().endswith(verdict(findings).plain.rstrip())


def test_rules_are_listed_with_their_numbers_and_those_that_are_off_say_why():
    records = rule_records(hostile_model())
    shown = printed(show_rules(records, len(records) + 3))
    for record in records:
        [line] = [line for line in shown.splitlines() if line.startswith(record.id)]
        assert record.text in line
        assert f"{record.count}" in line.split()
    assert "2024-02-03: a | b" in shown
    assert f"{len(records)} of {len(records) + 3} rules" in shown
    assert printed(show_rules([], 0)).strip()
