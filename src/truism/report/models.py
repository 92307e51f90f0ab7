"""What a person wants to know about a model, as one frozen value from which every form is made."""

from collections import Counter

import msgspec

from truism.learning.support import EVIDENCE_ROWS, MAX_RATE
from truism.model.model import Model
from truism.model.rules import Rule
from truism.model.schema import Categorical, LeftOut, Numeric
from truism.model.wording import percent

N_BEST = 10


class ModelSummary(msgspec.Struct, frozen=True):
    """A model at a glance.

    Parameters
    ----------
    n_rows, n_columns
        The size of the training table, with its derived variables.
    continuous, categorical
        The variables by kind.
    derived
        Variables whose change since the previous row is a variable too.
    time
        The column of times.
    left_out
        Columns that are not variables, and why.
    min_support
        θ.
    why
        Why this θ.
    rules_by_length
        Pairs of a number of predicates and the number of rules with so many; univariate rules
        have one predicate.
    complete_to
        All rules with up to this many predicates in the antecedent are in the model.
    best
        The rules least likely by chance.
    threshold, why_threshold
        Rows that score above it are anomalies, and why it is what it is.
    notices
        What else the reader should know.

    """

    n_rows: int
    n_columns: int
    continuous: tuple[str, ...]
    categorical: tuple[str, ...]
    derived: tuple[str, ...]
    time: str | None
    left_out: tuple[LeftOut, ...]
    min_support: float
    why: str
    rules_by_length: tuple[tuple[int, int], ...]
    complete_to: int
    best: tuple[Rule, ...]
    threshold: float
    why_threshold: str
    notices: tuple[str, ...]

    @property
    def n_rules(self) -> int:
        """The number of rules."""
        return sum(n for _, n in self.rules_by_length)


def summarise(model: Model) -> ModelSummary:
    """Summarise a model."""
    made, schema = model.provenance, model.schema
    mined = [rule for rule in model.rules.sorted_by("chance") if rule.antecedent]
    return ModelSummary(
        made.n_rows,
        made.n_columns,
        tuple(each.name for each in schema.variables if isinstance(each, Numeric)),
        tuple(each.name for each in schema.variables if isinstance(each, Categorical)),
        model.derived,
        schema.time,
        schema.left_out,
        made.min_support,
        why_min_support(model),
        tuple(sorted(Counter(rule.length for rule in model.rules).items())),
        made.complete_to,
        tuple(mined[:N_BEST]),
        model.threshold,
        str(model.limit.origin),
        tuple(map(str, made.notices)),
    )


def why_min_support(model: Model) -> str:
    """Say why θ is what it is."""
    made = model.provenance
    rate_of = {trial.min_support: trial.rate for trial in made.trials}
    match made.support_origin:
        case "asked":
            return "set by hand"
        case "share":
            return "the default"
        case "rows":
            return f"so that every rule holds in at least {EVIDENCE_ROWS} rows"
        case "most":
            return "the largest value, because there are few rows"
        case "untried":
            return "too few rows to choose it"
        case "fewest":
            rate = percent(rate_of[made.min_support])
            return f"the value with the fewest false alarms on held-out rows: {rate}"
    why = (
        f"the smallest value with fewer than {percent(MAX_RATE)} false alarms on held-out rows: "
        f"{percent(rate_of[made.min_support])}"
    )
    smaller = max((each for each in rate_of if each < made.min_support), default=None)
    return why if smaller is None else f"{why}, and {percent(rate_of[smaller])} at {smaller:g}"
