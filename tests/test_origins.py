"""Why a threshold is what it is: values that survive a file, and say their numbers."""

import msgspec
import pytest

from truism.model.origins import (
    AnyBrokenRule,
    ByHand,
    Calibrated,
    RateOfIncidents,
    ShareOfRows,
    Threshold,
    ThresholdOrigin,
)
from truism.model.rates import IncidentRate

ORIGINS = [
    (ByHand(), []),
    (AnyBrokenRule(), []),
    (ShareOfRows(0.001, 12_345), ["0.1 %", "12,345"]),
    (RateOfIncidents(IncidentRate(2.0, "week"), 40, 5000), ["2 a week", "5,000"]),
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
