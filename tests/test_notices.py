"""What the user should know about how a model was learned: values that survive, and say their numbers."""

import msgspec
import pytest

from truism.model.notices import (
    BudgetReached,
    ManyFalseAlarms,
    Notice,
    RowsLeftOut,
    StatesFromNumbers,
    TooFewRows,
)

# Each notice, and what its sentence must name.
NOTICES = [
    (StatesFromNumbers(("P1", "it's")), ["'P1'", '"it\'s"']),
    (BudgetReached(2, 5), ["2", "5"]),
    (TooFewRows(12, 0.32), ["12", "0.32"]),
    (ManyFalseAlarms(0.01, 0.3, 0.025), ["1%", "0.3", "2.5%"]),
    (RowsLeftOut(30, 2_000), ["30", "2,000"]),
]


@pytest.mark.parametrize(("notice", "named"), NOTICES)
def test_a_notice_names_its_numbers_in_a_sentence(notice, named):
    said = str(notice)
    assert said.endswith(".")
    for each in named:
        assert each in said


@pytest.mark.parametrize("notice", [notice for notice, _ in NOTICES])
def test_only_what_makes_false_alarms_likely_is_a_doubt_and_said_in_plain_words(notice):
    if isinstance(notice, TooFewRows | ManyFalseAlarms):
        assert notice.doubt.endswith("expect false alarms.")
        assert "min_support" not in notice.doubt
    else:
        assert notice.doubt is None


@pytest.mark.parametrize("notice", [notice for notice, _ in NOTICES])
def test_a_notice_survives_a_file_as_what_it_is(notice):
    back = msgspec.json.decode(msgspec.json.encode(notice), type=Notice)
    assert (type(back), back) == (type(notice), notice)


def test_of_very_many_columns_a_few_are_named():
    said = str(StatesFromNumbers(tuple(f"column {i}" for i in range(500))))
    assert len(said) < 300
    assert "495 more" in said


def test_a_notice_with_something_else_in_it_is_refused():
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(b'{"type":"rows_left_out","n_rows":1,"of":2,"more":1}', type=Notice)
