"""Where a model comes from, and what was switched off since."""

import msgspec
import pytest

from truism.errors import ParameterError
from truism.model.provenance import (
    AnyBrokenRule,
    ByHand,
    Calibrated,
    Disabled,
    Provenance,
    RateOfIncidents,
    ShareOfRows,
    Threshold,
    ThresholdOrigin,
    Trial,
)
from truism.model.settings import IncidentRate
from truism.table.notices import Notice


def test_the_rate_of_a_trial_is_the_part_of_held_out_rows_that_broke_a_rule():
    assert Trial(0.1, 3, 12, 4).rate == 0.25
    assert Trial(0.1, 0, 12, 4).rate == 0.0


@pytest.mark.parametrize(
    "value",
    [
        Provenance("0.1.0", 40, 6, "abc", 0.05, 2, "asked"),
        Provenance(
            "0.1.0", 40, 6, "abc", 0.05, 2, "smallest",
            (Trial(0.05, 1, 20, 2),), (Notice("budget", "No."),), "2024-01-01", ("U",),
        ),
        Disabled("abc", "too noisy"),
        Disabled("abc", "too noisy", "2024-01-01"),
    ],
)  # fmt: skip
def test_it_survives_a_file(value):
    assert msgspec.json.decode(msgspec.json.encode(value), type=type(value)) == value


@pytest.mark.parametrize("origin", ["fewest", "smallest"])
def test_a_support_that_trials_chose_is_one_of_those_tried(origin):
    with pytest.raises(
        ParameterError, match=r"^min_support must be one of the values tried, got 0\.1\.$"
    ):
        Provenance("0.1.0", 40, 6, "abc", 0.1, 2, origin, (Trial(0.05, 1, 20, 2),))


def test_an_origin_that_is_not_known_is_refused():
    plain = msgspec.to_builtins(Provenance("0.1.0", 40, 6, "abc", 0.05, 2, "asked"))
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({**plain, "support_origin": "guessed"}, Provenance)


ORIGINS = [
    (ByHand(), []),
    (AnyBrokenRule(), []),
    (ShareOfRows(0.001, 12_345), ["0.1 %", "12,345"]),
    (RateOfIncidents(IncidentRate(2.0, "week"), 40, 5000), ["2 false incidents a week", "5,000"]),
    (Calibrated(3, 1200), ["3", "1,200", "0.25 %"]),
]


@pytest.mark.parametrize(("origin", "named"), ORIGINS)
def test_an_origin_names_its_numbers(origin, named):
    assert str(origin)
    for each in named:
        assert each in str(origin)


@pytest.mark.parametrize("origin", [origin for origin, _ in ORIGINS])
def test_a_threshold_survives_a_file_with_its_origin(origin):
    threshold = Threshold(2.5, origin)
    back = msgspec.json.decode(msgspec.json.encode(threshold), type=Threshold)
    assert (back, type(back.origin)) == (threshold, type(origin))


def test_no_two_origins_have_the_same_name_or_words():
    kinds = ThresholdOrigin.__args__
    assert {type(origin) for origin, _ in ORIGINS} == set(kinds)
    assert len({kind.__struct_config__.tag for kind in kinds}) == len(kinds)
    assert len({str(origin) for origin, _ in ORIGINS}) == len(kinds)
