"""Rows accepted as normal: a model and rows go in, an acceptance and its price come out.

The evidence that the rows show is allowed in situations like theirs (`truism.explaining.situations`).
It is allowed of no more variables than it takes to bring each of the rows down to the threshold: by
itself, and in a series also with what the accepted rows leave behind for each other, and what the rows
before them add.
"""

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.errors import ParameterError, did_you_mean
from truism.explaining.checker import Checker
from truism.explaining.chosen import Chosen, choose_from, find_named
from truism.explaining.prices import Price, put_price
from truism.explaining.situations import Situation, Situations
from truism.model.acceptances import (
    Acceptance,
    Allowance,
    Case,
    check_text,
    check_until,
    mute,
    with_clock,
)
from truism.model.model import Model
from truism.model.parsing import parse_conditions
from truism.model.predicates import variables
from truism.model.wording import preformatted, visible
from truism.scoring.scorer import Scorer
from truism.scoring.weighed import Weighed
from truism.table.columns import Table

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]


class Offer(msgspec.Struct, frozen=True, eq=False):
    """An acceptance, what it costs, and the model that has it."""

    acceptance: Acceptance
    price: Price
    model: Model

    def __str__(self) -> str:
        from truism.report.prices import say_offer  # how it reads

        head = f"{self.acceptance.id}  {self.acceptance.said}"
        lines = [f"  {heading:<8}{text}" for heading, text in say_offer(self, self.model)]
        return "\n".join([head, *lines])

    def __repr__(self) -> str:
        return f"<Offer {self.acceptance.id}: {visible(self.acceptance.said)}>"

    def _repr_html_(self) -> str:
        return preformatted(str(self))


class Terms(msgspec.Struct, frozen=True):
    """Why something is accepted, until which day, who says so and when."""

    reason: str
    until: str | None = None
    who: str | None = None
    date: str | None = None

    def sign(self, cases: tuple[Case, ...], n_rows: int) -> Acceptance:
        """Return an acceptance of some cases."""
        reason, until = check_text("reason", self.reason), check_until(self.until)
        return Acceptance(cases, reason, self.who, self.date, until, n_rows)


def offer(
    checker: Checker,
    table: Table,
    rows: Rows,
    terms: Terms,
    *,
    normal: Table | None = None,
    history: Table | None = None,
    still: tuple[str, ...] = (),
) -> Offer:
    """Work out what it takes to accept rows of a prepared table, and what that costs.

    Parameters
    ----------
    checker
        The model.
    table, rows
        A prepared table, and the positions of the rows.
    terms
        Why, until when, who and when.
    normal
        A prepared table of rows that are known to be normal; it sharpens the conditions.
    history
        A table, not prepared, of which the price says which incidents would vanish.
    still
        Variables that stood still for longer than ever in the rows.

    """
    chosen = choose_from(checker.scorer, table, rows, still)
    return offer_chosen(checker, chosen, terms, normal=normal, history=history)


def offer_chosen(
    checker: Checker,
    chosen: Chosen,
    terms: Terms,
    *,
    normal: Table | None = None,
    history: Table | None = None,
) -> Offer:
    """Work out what it takes to accept rows that were chosen; otherwise as `offer`."""
    terms.sign((), 0)
    scorer, model, own = checker.scorer, checker.model, chosen.own
    if not own.n_rows:
        raise ParameterError.of("rows", "name at least one row", [])
    unusual = np.flatnonzero(scorer.weigh_alone(own).scores > _target(model))
    if not len(unusual):
        raise ParameterError(
            "There is nothing to accept: by itself, none of these rows is unusual.",
            "rows after an incident are reported for what it leaves behind: accept its first rows; "
            "a variable that stands still can be muted by a condition.",
        )
    telling = own.take(unusual)
    allowed = _choose(scorer, chosen, unusual)
    names = [model.schema.names[i] for i in allowed]
    around = [each for each in (chosen.around, normal) if each is not None]
    found = Situations(model, around).find(telling, names)
    evidence = _evidence(scorer.strict.weigh_alone(telling))
    # Rows of a situation may be unusual, but less than is reported, and need no allowance.
    cases = [_case(model, each, evidence, allowed) for each in found]
    cases = [case for case in cases if case.allowed]
    made = _offered(checker, terms.sign(tuple(cases), own.n_rows), chosen, normal, history)
    return msgspec.structs.replace(
        made, price=msgspec.structs.replace(made.price, n_unusual=len(unusual))
    )


def offer_by_hand(
    checker: Checker,
    when: str,
    muted: Sequence[str],
    terms: Terms,
    *,
    chosen: Chosen | None = None,
    normal: Table | None = None,
    history: Table | None = None,
) -> Offer:
    """Accept whatever some variables do while a condition holds, and say what that costs.

    Parameters
    ----------
    checker
        The model.
    when
        The condition, as rules print conditions; it may ask for ``hour`` and ``weekday``.
    muted
        Names of variables, or only ``"all"``.
    terms, normal, history
        As for `offer`.
    chosen
        No rows of a table, in which it is only counted in how many rows the condition holds.

    """
    model = checker.model
    conditions = parse_conditions(when, with_clock(model.schema), model.words)
    asked = {name for each in conditions for name in variables(each)}
    if model.schema.time is None and not asked <= {*model.schema.names}:
        constraint = "not ask for the time of rows: the model was learned from rows without times"
        raise ParameterError.of("when", constraint, when)
    names = model.schema.names if tuple(muted) == ("all",) else tuple(dict.fromkeys(muted))
    for name in names:
        if name not in model.schema.names:
            hint = did_you_mean(name, model.schema.names)
            raise ParameterError.of("mute", "name a variable of the model, or all", name, hint)
    if not names:
        raise ParameterError.of("mute", "name a variable of the model, or all", list(names))
    acceptance = terms.sign((mute(conditions, names),), 0)
    return _offered(checker, acceptance, chosen, normal, history)


def rows_of(checker: Checker, table: Table, wanted: str, kind: str) -> Rows:
    """Return the rows of a prepared table that belong to an incident, a lasting change or a pattern.

    Parameters
    ----------
    checker, table
        The model and the rows.
    wanted, kind
        As for `find_named`.

    """
    return find_named(checker.find(table), wanted, kind).within(checker.scorer, table)


def _offered(
    checker: Checker,
    acceptance: Acceptance,
    chosen: Chosen | None,
    normal: Table | None,
    history: Table | None,
) -> Offer:
    """Put a price on an acceptance."""
    model = checker.model.accept(acceptance)
    scorer = checker.scorer.accepting(model.accepted)
    after = Checker(model, checker.n_jobs, scorer, checker.origin)
    price = put_price(checker, after, chosen, acceptance, normal, history)
    return Offer(acceptance, price, model)


def _target(model: Model) -> float:
    """Return the score that no accepted row may exceed by itself."""
    weight = 0.0 if model.memory is None else model.memory.weight
    return model.threshold / (1.0 + weight)


def _evidence(weighed: Weighed) -> Floats:
    """Return what speaks against rows: kinds × rows × variables; rules at most as much as is told."""
    if weighed.pieces is None:
        return np.stack([weighed.parts, np.zeros_like(weighed.parts), np.zeros_like(weighed.parts)])
    pieces = weighed.pieces
    return np.stack([pieces.plain, pieces.in_context, pieces.rarities])


def _choose(scorer: Scorer, chosen: Chosen, unusual: Rows) -> list[int]:
    """Choose the fewest variables, those with most evidence first, so that all rows are usual."""
    own, threshold, known = chosen.own, scorer.model.threshold, scorer.model.accepted or ()
    weighed = scorer.weigh_alone(own).take(unusual)
    evidence = _evidence(scorer.strict.weigh_alone(own))
    total = (weighed.parts * weighed.scores[:, None]).sum(axis=0)
    ranked = np.argsort(-total, kind="stable")
    ranked = ranked[evidence[:, unusual].max(axis=(0, 1))[ranked] > 0]
    every = Situation(np.arange(own.n_rows), (), 0)
    low, high = 0, len(ranked)
    while high - low > 1:  # more variables never raise a score
        middle = (low + high) // 2
        case = _case(scorer.model, every, evidence, ranked[:middle].tolist())
        trial = scorer.accepting((*known, Acceptance((case,), "trial")))
        if (trial.score(own) + chosen.past <= threshold).all():
            high = middle
        else:
            low = middle
    return [int(i) for i in ranked[:high]]


def _case(model: Model, found: Situation, evidence: Floats, allowed: Sequence[int]) -> Case:
    """Allow in a situation what its rows show."""
    most = evidence[:, found.rows].max(axis=1)
    paper = model.evidence is None
    return Case(
        found.conditions,
        tuple(
            Allowance(
                model.schema.names[i],
                float(most[0, i]),
                0.0 if paper else float(most[1, i]),
                0.0 if paper else float(most[2, i]),
            )
            for i in sorted(allowed)
            if most[:, i].any()
        ),
        found.n_training,
    )
