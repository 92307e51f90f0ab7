"""What the user should know about how a model was learned, as values that print as sentences."""

import msgspec

from truism.errors import shorten


class _Learned(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What all notices about learning have in common."""

    @property
    def doubt(self) -> str | None:
        """What it means for what is found, in plain words; None if nothing."""
        return None


class StatesFromNumbers(_Learned, frozen=True, tag="states", forbid_unknown_fields=True):
    """Numbers with a fraction that were learned as states, because they have few different values."""

    variables: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"Learned as states, because they have few different values: {shorten(self.variables)}. "
            f"If one is a quantity, declare it continuous."
        )


class BudgetReached(_Learned, frozen=True, tag="budget", forbid_unknown_fields=True):
    """The search stopped before the longest rules."""

    complete_to: int
    longest: int

    def __str__(self) -> str:
        return (
            f"The search budget was reached: rules with up to {self.complete_to} of "
            f"{self.longest} conditions are complete, longer ones are missing."
        )


class TooFewRows(_Learned, frozen=True, tag="too_few_rows", forbid_unknown_fields=True):
    """There were too few rows to choose θ."""

    least: int
    taken: float

    @property
    def doubt(self) -> str | None:
        """What it means for what is found, in plain words."""
        return "The model was learned from few rows; expect false alarms."

    def __str__(self) -> str:
        return (
            f"There are too few rows to choose min_support (a rule could hold in fewer than "
            f"{self.least} rows); {self.taken} was used."
        )


class ManyFalseAlarms(_Learned, frozen=True, tag="false_alarms", forbid_unknown_fields=True):
    """No θ keeps the false alarms on held-out rows rare."""

    max_rate: float
    taken: float
    rate: float

    @property
    def doubt(self) -> str | None:
        """What it means for what is found, in plain words."""
        return (
            f"About {self.rate:.0%} of normal rows that are new to the model break a rule; expect "
            f"false alarms."
        )

    def __str__(self) -> str:
        return (
            f"No min_support keeps the false-positive rate on held-out rows below "
            f"{self.max_rate:.0%}; {self.taken} was used, with {self.rate:.1%}."
        )


class RowsLeftOut(_Learned, frozen=True, tag="rows_left_out", forbid_unknown_fields=True):
    """Rows of the training table that were not learned from, because they may be anomalies."""

    n_rows: int
    of: int

    def __str__(self) -> str:
        return f"{self.n_rows:,} of {self.of:,} rows were left out, because they may be anomalies."


Notice = StatesFromNumbers | BudgetReached | TooFewRows | ManyFalseAlarms | RowsLeftOut
