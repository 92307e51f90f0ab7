"""Where a model came from, and what was switched off since."""

import msgspec

from truism.errors import ParameterError
from truism.model.origins import SupportOrigin
from truism.model.schema import Count, Positive, refuse_more
from truism.table.notices import Notice


class Trial(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One value of θ that was tried, and how many held-out rows broke a mined rule.

    Parameters
    ----------
    min_support
        The value.
    n_broken, n_held_out
        Held-out rows that broke a mined rule, and all held-out rows.
    complete_to
        The antecedent length up to which the budget allowed mining; if 0, nothing was mined and
        the trial says nothing.
    """

    min_support: float
    n_broken: Count
    n_held_out: Positive
    complete_to: Count

    def __post_init__(self) -> None:
        refuse_more("n_broken", self.n_broken, self.n_held_out)

    @property
    def rate(self) -> float:
        """The false-positive rate."""
        return self.n_broken / self.n_held_out


class Provenance(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a model came from.

    Parameters
    ----------
    version
        The version of truism that learned it.
    n_rows, n_columns
        The training table's size.
    fingerprint
        A digest of the training values.
    min_support, support_origin
        The θ that was used, and why.
    complete_to
        All rules with up to this many predicates in the antecedent are in the model.
    trials
        The values of θ that were tried.
    notices
        What the user should know, apart from the columns that were left out.
    created
        When, as ISO text; the caller gives it.
    columns
        The training table's columns in its order, with those left out and the time axis.

    """

    version: str
    n_rows: Count
    n_columns: Count
    fingerprint: str
    min_support: float
    complete_to: Count
    support_origin: SupportOrigin
    trials: tuple[Trial, ...] = ()
    notices: tuple[Notice, ...] = ()
    created: str | None = None
    columns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        chosen = self.support_origin in ("fewest", "smallest")
        if chosen and all(each.min_support != self.min_support for each in self.trials):
            raise ParameterError.of("min_support", "be one of the values tried", self.min_support)


class Disabled(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A rule that neither scores nor explains, and why."""

    rule_id: str
    reason: str
    date: str | None = None
