"""Where a model comes from, and what was switched off since."""

import msgspec
import pytest

from truism.errors import ParameterError
from truism.model.provenance import Disabled, Provenance, Trial
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
