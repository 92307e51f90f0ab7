"""Conditions read from text: what rules print comes back, and anything else is refused with its place."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import finite, intervals, names
from truism.errors import ParameterError
from truism.model.parsing import parse_conditions
from truism.model.predicates import AnyOf, Interval, OneOf, conjunction
from truism.model.schema import Categorical, Numeric, Schema
from truism.model.wording import Legend

LEVEL = Numeric("LIT101", 0.0, 900.0, 500.0, 100.0, 0, (0.0,), (9,))
FLOW = Numeric("flow (m3/h)", 0.0, 9.0, 5.0, 1.0, 0, (0.0,), (9,))
VALVE = Categorical("MV101", "text", ("7", "open", "rock and roll", "shut"), (2, 2, 2, 3), 0)
FLAG = Categorical("flag", "boolean", (False, True), (4, 5), 0)
STEP = Categorical("step", "number", (0, 1, 2.5), (3, 3, 3), 0)
SCHEMA = Schema((LEVEL, FLOW, VALVE, FLAG, STEP))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("MV101 = open", [OneOf("MV101", ("open",))]),
        ("MV101=open", [OneOf("MV101", ("open",))]),
        ("  LIT101 ≥ 800 ", [Interval("LIT101", low=800.0)]),
        ("LIT101 >= 8e2", [Interval("LIT101", low=800.0)]),
        ("LIT101 < -1.5", [Interval("LIT101", high=-1.5)]),
        ("3 <= LIT101 < 4", [Interval("LIT101", 3.0, 4.0)]),
        ("MV101 in {open, shut}", [OneOf("MV101", ("open", "shut"))]),
        ('MV101 in {"rock and roll", shut}', [OneOf("MV101", ("rock and roll", "shut"))]),
        ('MV101 = "7"', [OneOf("MV101", ("7",))]),
        ('MV101 = "open"', [OneOf("MV101", ("open",))]),
        ("step in {1, 2.5}", [OneOf("step", (1, 2.5))]),
        ("2 ≤ flow (m3/h) < 3 and flag = true", [Interval("flow (m3/h)", 2, 3), OneOf("flag", (True,))]),
        (
            "(MV101 = open or step = 0) and LIT101 < 3",
            [AnyOf((OneOf("MV101", ("open",)), OneOf("step", (0,)))), Interval("LIT101", high=3.0)],
        ),
        ("MV101 = open or step = 0", [AnyOf((OneOf("MV101", ("open",)), OneOf("step", (0,))))]),
    ],
)  # fmt: skip
def test_a_condition_is_read_as_it_is_printed(text, expected):
    assert list(parse_conditions(text, SCHEMA)) == expected


def test_a_unit_may_follow_a_number():
    legend = Legend({"LIT101": "mm"})
    read = parse_conditions("300 ≤ LIT101 < 400 mm and LIT101 ≥ 3", SCHEMA, legend)
    assert read == (Interval("LIT101", 300.0, 400.0), Interval("LIT101", low=3.0))


START = "when must be a condition such as P101 = on and LIT301 ≥ 800; "


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "when must hold a condition, got ''."),
        (
            "MV102 = open",
            "at character 1, before 'MV102 = open' it lacks the name of a variable, "
            "got 'MV102 = open'.\nHint: did you mean 'MV101'?",
        ),
        (
            "MV101 = opened",
            'at character 9, before \'opened\' it lacks one of the states "7", open, "rock and roll", '
            "shut (did you mean 'open'?), got 'MV101 = opened'.",
        ),
        (
            "MV101 ≥ 3",
            "at character 7, before '≥ 3' it lacks a state of 'MV101', which is no number, "
            "got 'MV101 ≥ 3'.",
        ),
        (
            "LIT101 = 3",
            "at character 10, before '3' it lacks <, ≥ or two bounds: 'LIT101' is a number, "
            "got 'LIT101 = 3'.",
        ),
        (
            "LIT101 ≤ 3",
            "at character 8, before '≤ 3' it lacks one of the signs <, ≥, = and in, or bounds such as "
            "3 ≤ x < 4, "
            "got 'LIT101 ≤ 3'.",
        ),
        (
            "LIT101 < three",
            "at character 10, before 'three' it lacks a number, got 'LIT101 < three'.",
        ),
        (
            "4 ≤ LIT101 < 3",
            "at its end it lacks a lower bound below the upper one, got '4 ≤ LIT101 < 3'.",
        ),
        (
            "MV101 = open and",
            "at its end it lacks the name of a variable, got 'MV101 = open and'.",
        ),
        (
            "MV101 = open; x",
            "at character 13, before '; x' it lacks \"and\", \"or\" or the end, got 'MV101 = open; x'.",
        ),
        (
            "MV101 in {open shut}",
            "at character 16, before 'shut}' it lacks \",\" or \"}\", got 'MV101 in {open shut}'.",
        ),
        (
            'MV101 = "open',
            "at character 9, before '\"open' it lacks the end of a text in quotation marks, "
            "got 'MV101 = \"open'.",
        ),
        (
            "(MV101 = open and step = 0)",
            "at character 1, before '(MV101 = open and st' it lacks the name of a variable, "
            "got '(MV101 = open and step = 0)'.\nHint: did you mean 'MV101'?",
        ),
        (
            "LIT101 < 3 or step = 0",
            "at character 1, before 'LIT101 < 3 or step =' it lacks a state: \"or\" joins no numbers, "
            "got 'LIT101 < 3 or step = 0'.",
        ),
    ],
)
def test_another_text_is_refused_with_the_place(text, message):
    with pytest.raises(ParameterError) as problem:
        parse_conditions(text, SCHEMA)
    assert str(problem.value) == (message if message.startswith("when") else START + message)


def test_a_text_may_be_long_but_not_none():
    with pytest.raises(ParameterError, match=r"when must hold a condition, got None\."):
        parse_conditions(None, SCHEMA)
    assert len(parse_conditions(" and ".join(["step = 0"] * 3000), SCHEMA)) == 3000


STATES = [
    ("boolean", st.booleans()),
    ("number", st.one_of(st.integers(-(2**53), 2**53), finite)),
    ("text", st.text(max_size=8)),
]


@st.composite
def conditions(draw):
    """Draw conditions about variables with any names, and the schema that has these variables."""
    titles = draw(st.lists(names, min_size=1, max_size=5, unique=True))
    variables, some = [], []
    for name in titles:
        if draw(st.booleans()):
            variables.append(Numeric(name, 0.0, 1.0, 0.5, 1.0, 0, (0.0,), (1,)))
            some.append(draw(intervals(st.just(name))))
        else:
            holds, of_one_type = draw(st.sampled_from(STATES))
            known = sorted(draw(st.lists(of_one_type, min_size=1, max_size=4, unique=True)))
            variables.append(Categorical(name, holds, tuple(known), (1,) * len(known), 0))
            chosen = draw(st.lists(st.sampled_from(known), min_size=1, unique_by=repr))
            some.append(OneOf(name, tuple(chosen)))
    sets = [each for each in some if isinstance(each, OneOf)]
    if len(sets) > 1 and draw(st.booleans()):
        some = [each for each in some if each not in sets[:2]] + [AnyOf(tuple(sets[:2]))]
    return tuple(some), Schema(tuple(variables))


@given(conditions())
def test_reading_undoes_printing_whatever_the_names(drawn):
    some, schema = drawn
    read = parse_conditions(conjunction(some), schema)
    assert conjunction(read) == conjunction(some)
    assert read == some


@given(conditions(), st.text(max_size=12), st.integers(0, 40), st.integers(0, 10))
def test_any_other_text_is_read_or_refused_in_a_sentence(drawn, put, at, cut):
    some, schema = drawn
    text = conjunction(some)
    changed = text[:at] + put + text[at + cut :]
    try:
        read = parse_conditions(changed, schema)
    except ParameterError:
        return
    assert parse_conditions(conjunction(read), schema) == read
