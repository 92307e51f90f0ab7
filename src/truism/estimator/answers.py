"""What a fitted detector answers about rows: scores, explanations, incidents, patterns, a report.

Each answer makes rows ready first, with the checker that suits them; whoever mixes this in knows how.
"""

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.errors import ParameterError
from truism.estimator.inputs import as_positions, is_row
from truism.explaining.checker import Checker
from truism.explaining.explanations import Explanations
from truism.explaining.findings import Findings
from truism.explaining.incidents import Incident
from truism.explaining.patterns import Patterns
from truism.incidents.delays import Delays
from truism.incidents.following import Following
from truism.model.stamps import now_here
from truism.table.columns import Table
from truism.table.frames import library_of, to_frame

if TYPE_CHECKING:
    from truism.report import Summary


class Sourced(Following, frozen=True, eq=False):
    """What has to be kept of the rows of a source.

    Parameters
    ----------
    source
        The name of what was checked; None if it has none.

    """

    source: str | None = None

    @classmethod
    def of(cls, following: Following, source: str | None) -> "Sourced":
        """Return what was kept, with the source that it is of."""
        kept = {name: getattr(following, name) for name in Following.__struct_fields__}
        return cls(**kept, source=source)

    def __repr__(self) -> str:
        return super().__repr__().replace("Following", "Sourced", 1)


def _past_of(state: Any, source: str | None) -> tuple[Following | None, str | None]:
    """Return the past of rows, and their source: another source than that of the state has no past."""
    if state is None:
        return None, source
    if not isinstance(state, Following):
        raise ParameterError.of(
            "state", "be the state of earlier findings", state, "hand in findings.state."
        )
    known = state.source if isinstance(state, Sourced) else None
    if source is None or source == known:
        return state, known
    return None, source


class Answers:
    """The methods that ask a fitted model about rows."""

    _columns: tuple[str, ...]
    _library: str | None = None  # of the table that was learned from

    if TYPE_CHECKING:

        def _ready(
            self,
            X: Any,  # noqa: N803
            known: Iterable[str] = (),
            before: Following | None = None,
        ) -> tuple[Table, Checker]: ...

        def _current(self) -> Checker: ...

    @property
    def threshold_(self) -> float:
        """The threshold in force: rows above it are anomalies, by their excess if they are a series."""
        return self._current().model.threshold

    @property
    def offset_(self) -> float:
        """The negated threshold."""
        return -self.threshold_

    def anomaly_score(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """Score every row by how unusual it is against what was learned; higher is worse."""
        table, checker = self._ready(X)
        return checker.score(table)

    def _excess(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """Return what is compared with the threshold: the excess of a series, else the score."""
        table, checker = self._ready(X)
        return checker.excess(table)

    def score_samples(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """Score every row as scikit-learn does: lower is worse."""
        return -self.anomaly_score(X)

    def decision_function(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """Return the threshold minus the excess of each row of a series, or minus its score.

        The excess is how far the evidence against a row is beyond what it has been like lately.
        Anomalies are below 0.
        """
        return -self._excess(X) - self.offset_

    def predict(self, X: Any) -> NDArray[np.int64]:  # noqa: N803
        """Return 1 for normal rows and -1 for anomalies."""
        return np.where(self.decision_function(X) < 0, -1, 1)

    def attribute(self, X: Any, as_frame: bool = False) -> Any:  # noqa: N803
        """Attribute each score to columns: one row per row, columns as in ``feature_names_in_``.

        Parameters
        ----------
        X
            Rows in order of time.
        as_frame
            Whether to return a dataframe with the names of the columns, of the same library and
            with the same index as `X`; otherwise a NumPy array.

        Returns
        -------
        array or dataframe
            Each row sums to its `anomaly_score`; columns that are not variables get 0.

        """
        table, checker = self._ready(X)
        found = checker.attribute(table, self._columns)
        if not as_frame:
            return found
        columns = {name: found[:, i] for i, name in enumerate(self._columns)}
        library = library_of(X)
        like = X if library is not None and getattr(X, "ndim", 2) == 2 else None
        return to_frame(columns, library or self._library, like)

    def explain(self, X: Any, rows: Sequence[int] | None = None) -> Explanations:  # noqa: N803
        """Explain the rows above the threshold, or the rows you name.

        Parameters
        ----------
        X
            Rows in order of time; or one row, as a Series or a dict, which is explained whatever it
            scores.
        rows
            Positions of the rows to explain, counted from 0, whatever they score.

        Returns
        -------
        Explanations
            A sequence with ``to_frame()`` and ``to_dict()``; it shows in notebooks.

        """
        table, checker = self._ready(X)
        if rows is None and is_row(X):
            rows = [0]
        if rows is None:
            chosen = checker.anomalous(table)
        else:
            chosen = as_positions(rows, table.n_rows)
        return checker.explain(table, chosen).in_frames_of(library_of(X) or self._library)

    def check(
        self,
        X: Any,  # noqa: N803
        state: Following | None = None,
        *,
        source: str | None = None,
        on_delay: int | str = 0,
        off_delay: int | str = 0,
    ) -> Findings:
        """Find what is unusual in rows, and go on where earlier rows ended.

        Parameters
        ----------
        X
            Rows in order of time.
        state
            The ``state`` of the findings in the rows before these; None if there are none. Rows in
            one piece, in chunks or one by one then have the same scores and incidents. Every row is
            checked: what was seen before is not skipped.
        source
            What is checked, for example a machine; part of every id. Absent, it is that of `state`;
            another one has no past, and begins anew.
        on_delay
            Tell only what lasts so long: a number of rows, or a duration such as ``"5min"``.
        off_delay
            What returns within this time is still the same incident.

        Returns
        -------
        Findings
            ``incidents``, ``shifts``, ``scores`` and the next ``state``.

        """
        before, source = _past_of(state, source)
        table, checker = self._ready(X, before=before)
        delays = Delays(on_delay, off_delay)
        findings = checker.named(source).find(table, before, delays=delays)
        return msgspec.structs.replace(findings, state=Sourced.of(findings.state, source))

    def incidents(self, X: Any, gap: int | None = None) -> list[Incident]:  # noqa: N803
        """Group the rows above the threshold into incidents, the worst story first.

        Parameters
        ----------
        X
            Rows in order of time.
        gap
            How many normal rows may lie between two anomalous rows of one incident; absent, a
            minute of them, or five if that is more. Rows that are no series stand for themselves
            unless it is given.

        """
        table, checker = self._ready(X)
        findings = checker.find(table, gap=gap)
        return [*findings.incidents, *findings.shifts]

    def patterns(self, X: Any) -> Patterns:  # noqa: N803
        """Group the rows above the threshold by what is wrong with them, most rows first.

        Rows with the same culprit and the same kind of reason form a pattern. Where rows are no
        series, this says more than incidents, which are then single rows. Each pattern is looked into
        when it is looked at.
        """
        table, checker = self._ready(X)
        return checker.find(table).patterns

    def report(
        self,
        X: Any,  # noqa: N803
        path: str | os.PathLike[str] | None = None,
        time: str | None = None,
        *,
        gap: int | None = None,
        label: str | None = None,
        source: str | None = None,
    ) -> "Summary":
        """Summarise what happened in a table, and write the page that shows it.

        Parameters
        ----------
        X
            Rows in order of time.
        path
            The file to write; its ending decides the form: ``.html`` or ``.json``.
        time
            The column of times, if not the same as in training.
        gap
            How many normal rows may lie between two anomalous rows of one incident; absent, a
            minute of them, or five if that is more.
        label
            The column of labels: 0 and false mean normal, everything else anomalous.
        source
            Where the rows came from, in words.

        Returns
        -------
        Summary
            The content of the report; it shows in notebooks.

        """
        from truism.report import summarise, write_report
        from truism.report.output import check_ending

        if path is not None:
            check_ending(path)
        table, checker = self._ready(X, known=[n for n in (label, time) if n is not None])
        if time is not None:
            if time not in table.names:
                raise ParameterError.of("time", "name a column of the table", time)
            checker = checker.timed(time)
        summary = summarise(
            checker,
            table,
            checker.find(table, gap=gap),
            source=source,
            label=label,
            created=now_here(),
        )
        if path is not None:
            write_report(path, summary)
        return summary
