"""Rows that a user of a detector calls normal, and what that costs."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from truism.estimator.inputs import as_positions
from truism.explaining.checker import Checker
from truism.explaining.incidents import Incident
from truism.incidents.following import Following
from truism.model.acceptances import Acceptance, check_text, check_until
from truism.model.model import Model
from truism.model.stamps import today
from truism.review.accept import Offer, price_of, propose
from truism.table.columns import Table


class Accepting:
    """The methods that call rows normal, and take that back."""

    model_: Model

    if TYPE_CHECKING:

        def _ready(
            self,
            X: Any,  # noqa: N803
            known: Iterable[str] = (),
            before: Following | None = None,
        ) -> tuple[Table, Checker]: ...

        def _table(self, X: Any, *, reset: bool = False) -> Table: ...  # noqa: N803

        def _current(self) -> Checker: ...

        def adopt(self, model: Model) -> Self: ...  # noqa: D102

    def accept(
        self,
        X: Any = None,  # noqa: N803
        rows: Sequence[int] | slice | Incident | None = None,
        reason: str = "",
        *,
        when: str | None = None,
        mute: str | Sequence[str] = (),
        until: str | None = None,
        who: str | None = None,
        history: Any = None,
        dry_run: bool = False,
    ) -> Offer:
        """Call rows normal: some variables are no longer judged while a condition holds.

        Parameters
        ----------
        X
            The table with the rows.
        rows
            Their positions, a slice, or an incident of `X`.
        reason
            Why they are normal; kept in the model.
        when
            The condition, as rules print it. By default that of the first clue against the rows, as
            far as all of them satisfy it, or else the range of their values.
        mute
            The variables, or ``"all"``; by default those to blame for the rows. With `when`, rows
            are not needed.
        until
            The last day on which it holds, such as ``"2025-08-31"``.
        who
            Who says so.
        history
            Earlier rows, of which it is said what would be silenced, as of those of `X`.
        dry_run
            Whether to leave the detector as it is.

        Returns
        -------
        Offer
            The ``acceptance``, its ``price`` in `X`, that in the ``history``, and the ``model`` that has
            it; it prints.

        """
        reason, until = check_text("reason", reason), check_until(until)
        table, checker = (None, self._current()) if X is None else self._ready(X)
        chosen = None
        if table is not None and rows is not None:
            chosen = table.take(_positions(rows, table.n_rows))
        names = (mute,) if isinstance(mute, str) else tuple(mute)
        muted, conditions = propose(checker, chosen, when, names)
        n_rows = 0 if chosen is None else chosen.n_rows
        acceptance = Acceptance(muted, conditions, reason, who, today(), until, n_rows)
        model = checker.model.accept(acceptance)
        here = None if table is None else price_of(checker, acceptance, table.n_rows, [table])
        there = None
        if history is not None:
            earlier, its_checker = self._ready(history)
            there = price_of(its_checker, acceptance, earlier.n_rows, [earlier])
        if not dry_run:
            self.adopt(self.model_.accept(acceptance))
        return Offer(acceptance, model, here, there)

    def withdraw(self, acceptance_id: str) -> Self:
        """Take an acceptance back."""
        return self.adopt(self._current().model.withdraw(acceptance_id))


def _positions(rows: Any, n_rows: int) -> NDArray[np.int64]:
    match rows:
        case Incident():
            return np.arange(rows.onset, min(rows.end + 1, n_rows))
        case slice():
            return np.arange(n_rows)[rows]
    return as_positions(rows, n_rows)
