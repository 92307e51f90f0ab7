"""A model at work on tables: every face uses a `Checker`, and none of them computes anything.

`Findings` is all that a screen, a file or a page needs; it is made once.
"""

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.errors import SchemaError, shorten
from truism.explaining.explanations import Explanations
from truism.explaining.incidents import Incident, find_incidents, usual_gap
from truism.explaining.investigation import find_clues
from truism.explaining.reasons import say
from truism.model.model import Model
from truism.model.origins import Threshold
from truism.model.schema import Numeric
from truism.scoring.alignment import align
from truism.scoring.contexts import FLOOR
from truism.scoring.scorer import Scorer
from truism.table.columns import Table, numbers
from truism.table.deltas import delta_name, with_deltas
from truism.table.fingerprint import fingerprint
from truism.work import Advance, stand_still

DOUBTFUL_RATE, MIN_ROWS_TO_DOUBT = 0.2, 100
ROWS_TO_TELL, MIN_VALUES, MAX_DECIMALS = 1000, 3, 9  # to detect rounding
N_BLAMES = 3  # blames written beside the score of a row
_CHUNK = 256


class Findings(msgspec.Struct, frozen=True):
    """What a model finds in a table.

    Parameters
    ----------
    n_rows
        Rows that were checked.
    n_anomalous
        Rows that score above the threshold.
    threshold
        The threshold.
    gap
        How many normal rows may lie between two anomalous rows of one incident.
    incidents
        What happened, worst first.
    extra
        Columns that the model does not know; they were ignored.
    coarser
        Variables that have fewer decimals than in training; see `find_coarser`.

    """

    n_rows: int
    n_anomalous: int
    threshold: float
    gap: int
    incidents: tuple[Incident, ...]
    extra: tuple[str, ...] = ()
    coarser: tuple[str, ...] = ()

    @property
    def rate(self) -> float:
        """The share of the rows that are anomalies."""
        return self.n_anomalous / self.n_rows

    @property
    def doubts(self) -> tuple[str, ...]:
        """Sentences that say why the model may not fit the rows."""
        said = (say_coarser(self.coarser), say_doubt(self.n_anomalous, self.n_rows))
        return tuple(each for each in said if each is not None)


def say_doubt(n_anomalous: int, n_rows: int) -> str | None:
    """Say what else it may mean if a large share of many rows is reported.

    >>> say_doubt(3, 10) is None, say_doubt(5, 200) is None, say_doubt(90, 200)[:25]
    (True, True, '45 % of all rows are repo')
    """
    if n_rows < MIN_ROWS_TO_DOUBT or n_anomalous < DOUBTFUL_RATE * n_rows:
        return None
    return (
        f"{100 * n_anomalous / n_rows:.0f} % of all rows are reported: either much is wrong, or what "
        f"is normal has changed since the model was learned. If it has changed, learn from newer rows "
        f"or calibrate the threshold on them."
    )


def find_coarser(model: Model, table: Table) -> tuple[str, ...]:
    """Return the variables that have fewer decimals than in training, where it matters.

    If a historian rounds, or an export for people does, rows differ from what was learned by rounding
    alone. A model cannot know that, but many rows together show it.
    """
    if table.n_rows < MIN_ROWS_TO_DOUBT:
        return ()
    some = slice(None, None, max(1, table.n_rows // ROWS_TO_TELL))
    column_of = table.column_of()
    coarser = []
    for variable in model.schema.variables:
        column = column_of.get(variable.name)
        if not isinstance(variable, Numeric) or column is None or column.kind != "number":
            continue
        values = numbers(column.take(some))
        values = np.unique(values[np.isfinite(values)])
        if len(values) < MIN_VALUES:
            continue
        now, then = _decimals(values), _decimals(np.array(variable.edges))
        if now < then and 10.0**-now > FLOOR * variable.std:
            coarser.append(variable.name)
    return tuple(coarser)


def _decimals(values: NDArray[np.float64]) -> int:
    """Return how many decimals values have, up to `MAX_DECIMALS`."""
    return next(
        (d for d in range(MAX_DECIMALS) if np.array_equal(np.round(values, d), values)),
        MAX_DECIMALS,
    )


def say_coarser(names: Sequence[str]) -> str | None:
    """Say what it may mean that variables have fewer decimals than in training.

    >>> say_coarser(["P_J280"])[:42]
    "Fewer decimals than in training: 'P_J280'."
    """
    if not names:
        return None
    return (
        f"Fewer decimals than in training: {shorten(tuple(names))}. Rows may be reported "
        f"because of rounding alone; learn from rows with the same rounding."
    )


class Checker:
    """A model ready to check tables that have the training table's columns.

    Parameters
    ----------
    model
        The model.
    n_jobs
        Number of threads; results do not depend on it.
    scorer
        A scorer of the same model, if there is one; its threshold may differ.

    Examples
    --------
    >>> from truism.learning.training import train
    >>> from truism.model.settings import Settings
    >>> from truism.table.frames import as_table
    >>> normal = as_table({"pump": ["on", "off"] * 50, "flow": [2.5, 0.0] * 50})
    >>> checker = Checker(train(normal, Settings(min_support=0.1)))
    >>> table = checker.prepare(as_table({"pump": ["on", "on"], "flow": [2.5, 0.0]}))
    >>> checker.find(table).incidents[0].blames[0].variable
    'pump'

    """

    def __init__(self, model: Model, n_jobs: int = 1, scorer: Scorer | None = None) -> None:
        self.scorer = Scorer(model) if scorer is None else scorer
        self.model = model
        self.n_jobs = n_jobs

    def at(self, limit: Threshold) -> "Checker":
        """Return a checker with another threshold, which shares the scorer."""
        model = msgspec.structs.replace(self.model, limit=limit)
        return Checker(model, self.n_jobs, self.scorer)

    def learned_from(self, table: Table) -> bool:
        """Return whether a prepared table holds the rows that the model was learned from."""
        found = fingerprint(table, ordered=bool(self.model.derived))
        return found == self.model.provenance.fingerprint

    def prepare(self, table: Table) -> Table:
        """Add the variables that the model derives from others, and refuse a table that does not fit."""
        _refuse_text_for_numbers(self.model, table)
        return with_deltas(table, self.model.derived)

    def extra(self, table: Table) -> tuple[str, ...]:
        """Return the columns of a prepared table that the model does not know; they are ignored."""
        return align(self.model.schema, table)[1]

    def score(self, table: Table) -> NDArray[np.float64]:
        """Score every row of a prepared table."""
        return self.scorer.score(table, self.n_jobs)

    def attribute(self, table: Table, names: Sequence[str]) -> NDArray[np.float64]:
        """Attribute each row's score to columns: rows × `names`, the training table's columns.

        What ``ΔX`` does is attributed to ``X``; columns that are not variables get 0.
        """
        parts = self.scorer.attribute(table, self.n_jobs)
        position = {name: i for i, name in enumerate(names)}
        source_of = {delta_name(name): name for name in self.model.derived}
        found = np.zeros((table.n_rows, len(names)))
        for i, name in enumerate(self.model.schema.names):
            found[:, position[source_of.get(name, name)]] += parts[:, i]
        return found

    def explain(self, table: Table, rows: NDArray[np.int64]) -> Explanations:
        """Explain rows of a prepared table, whatever they score."""
        return Explanations(self.scorer, table, rows)

    def anomalous(self, table: Table) -> NDArray[np.int64]:
        """Return the rows of a prepared table that score above the threshold."""
        return np.flatnonzero(self.score(table) > self.model.threshold)

    def find(
        self, table: Table, scores: NDArray[np.float64] | None = None, *, gap: int | None = None
    ) -> Findings:
        """Group the anomalous rows of a prepared table into incidents, and explain them.

        Parameters
        ----------
        table
            A prepared table.
        scores
            Its scores, if they are already known.
        gap
            Normal rows allowed within an incident; `usual_gap` when absent.

        """
        scores = self.score(table) if scores is None else scores
        gap = usual_gap(self.model.schema, table) if gap is None else gap
        threshold = self.model.threshold
        incidents = find_incidents(self.scorer, table, scores, gap=gap, threshold=threshold)
        return Findings(
            table.n_rows,
            int((scores > threshold).sum()),
            threshold,
            gap,
            tuple(incidents),
            self.extra(table),
            find_coarser(self.model, table),
        )

    def tabulate(
        self, table: Table, scores: NDArray[np.float64], advance: Advance = stand_still
    ) -> dict[str, Any]:
        """Return the score and blames of every row as columns.

        Rows that score above 0 have their first three variables and shares; rows above the threshold
        also have what was expected and found.
        """
        # As in the table: joining the scores with their rows needs the same values.
        time = table.column_of().get(self.model.schema.time or "")
        columns: dict[str, Any] = {"row": np.arange(table.n_rows)}
        if time is not None:
            columns[time.name if time.name not in _OWN_NAMES else "time"] = [
                time.cell(row) for row in range(table.n_rows)
            ]
        columns |= {"score": scores, "anomaly": scores > self.model.threshold}
        lists: list[dict[str, list[Any]]] = [
            {name: [None] * table.n_rows for name in _BLAME_NAMES} for _ in range(N_BLAMES)
        ]
        rows = np.flatnonzero(scores > 0)
        for start in range(0, len(rows), _CHUNK):
            advance(start, len(rows))
            self._blame(table, scores, rows[start : start + _CHUNK], lists)
        for rank, blame in enumerate(lists, 1):
            columns |= {f"{name}_{rank}": values for name, values in blame.items()}
        return columns

    def _blame(
        self,
        table: Table,
        scores: NDArray[np.float64],
        rows: NDArray[np.int64],
        lists: Sequence[dict[str, list[Any]]],
    ) -> None:
        """Fill in the blames of some rows."""
        part = table.take(rows)
        weighed = self.scorer.weigh(part)
        above = np.flatnonzero(scores[rows] > self.model.threshold)
        told = find_clues(self.scorer, part.take(above), weighed.take(above))
        clues_at = dict(zip(above.tolist(), told, strict=True))
        names = self.model.schema.names
        order = np.argsort(-weighed.parts, axis=1, kind="stable")[:, : len(lists)]
        for at, row in enumerate(rows.tolist()):
            for i, of in zip(order[at].tolist(), lists, strict=False):
                if weighed.parts[at, i] <= 0:
                    break
                of["variable"][row] = names[i]
                of["share"][row] = float(weighed.parts[at, i] / scores[row])
                if at in clues_at:
                    reason = say(clues_at[at][names[i]][0], self.scorer.n_training)
                    of["expected"][row], of["found"][row] = reason.expected, reason.found


def _refuse_text_for_numbers(model: Model, table: Table) -> None:
    """Refuse text in a column of numbers, and name it; historians write "Bad" and the like."""
    column_of = table.column_of()
    for variable in model.schema.variables:
        column = column_of.get(variable.name)
        if isinstance(variable, Numeric) and column is not None and column.kind == "text":
            wrong = {code for code, text in enumerate(column.categories) if not _is_number(text)}
            row = next((row for row, code in enumerate(column.values) if code in wrong), 0)
            raise SchemaError(
                f"Column {column.name!r} held numbers when the model was learned, "
                f"got {column.cell(row)!r} in row {row}.",
                "convert it, or read it as missing.",
                see=("missing",),
            )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


_BLAME_NAMES = ("variable", "share", "expected", "found")
_OWN_NAMES = {"row", "score", "anomaly"} | {
    f"{name}_{rank}" for name in _BLAME_NAMES for rank in range(1, N_BLAMES + 1)
}
