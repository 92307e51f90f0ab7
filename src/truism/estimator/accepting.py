"""Rows that a user of a detector calls normal, and what that costs."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from truism.errors import ParameterError
from truism.estimator.inputs import as_positions
from truism.explaining.accepting import Offer, Terms, offer, offer_by_hand
from truism.explaining.checker import Checker
from truism.explaining.chosen import choose_from
from truism.explaining.incidents import Incident
from truism.incidents.following import Following
from truism.model.model import Model
from truism.model.stamps import today
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
        normal: Any = None,
        history: Any = None,
        dry_run: bool = False,
    ) -> Offer:
        """Call rows normal: evidence such as they show no longer counts in situations like theirs.

        Parameters
        ----------
        X
            The table with the rows.
        rows
            Their positions, a slice, or an incident of `X`.
        reason
            Why they are normal; kept in the model.
        when, mute
            Instead of rows: a condition as rules print it, which may ask for ``hour`` and ``weekday``,
            and the variables that are not judged while it holds, or ``"all"``.
        until
            The last day on which it holds, such as ``"2025-08-31"``.
        who
            Who says so.
        normal
            Rows that are known to be normal; they sharpen the condition.
        history
            Earlier rows; the price says which of their incidents would vanish.
        dry_run
            Whether to leave the detector as it is.

        Returns
        -------
        Offer
            The ``acceptance``, its ``price``, and the ``model`` that has it; it prints.

        """
        terms = Terms(reason, until, who, today())
        table, checker = (None, self._current()) if X is None else self._ready(X)
        others = {
            "normal": None if normal is None else self._ready(normal)[0],
            "history": None if history is None else self._table(history),
        }
        if when is not None:
            if rows is not None:
                raise ParameterError("rows and when must not both be given.")
            names = (mute,) if isinstance(mute, str) else tuple(mute)
            none = np.empty(0, np.int64)
            chosen = None if table is None else choose_from(checker.scorer, table, none)
            made = offer_by_hand(checker, when, names, terms, chosen=chosen, **others)
        elif table is None or rows is None:
            raise ParameterError("Rows of a table, or when and mute, must be given.")
        else:
            still = rows.still if isinstance(rows, Incident) else ()
            positions = _positions(rows, table.n_rows)
            made = offer(checker, table, positions, terms, still=still, **others)
        if not dry_run:
            self.adopt(self.model_.accept(made.acceptance))
        return made

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
