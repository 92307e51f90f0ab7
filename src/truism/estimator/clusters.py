"""Learning on a cluster, whichever it is: pieces and parameters go in, a model comes out."""

import os
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from truism.errors import ParameterError, TableError
from truism.estimator.detector import InvariantRuleDetector
from truism.estimator.inputs import names_in, settings_of, warn_caller
from truism.learn.batches import BATCH_ROWS, Batches, Piece, Run
from truism.learn.learn import learn
from truism.model.model import Model
from truism.model.provenance import now
from truism.model.wording import legend_of
from truism.table.columns import Table, reading_of
from truism.table.files import open_files, read_first
from truism.table.frames import as_table
from truism.table.layouts import Layout, Reading
from truism.work import Progress


class Partition(msgspec.Struct, frozen=True):
    """A partition of a distributed DataFrame, as frames that a worker has."""

    def read(self, frame: Any) -> Iterator[Table]:
        """Read the rows."""
        return map(as_table, frame)


def are_files(rows: Any, order_by: str | None, needed: str) -> bool:
    """Tell files from a distributed DataFrame; only the latter needs a column to order by.

    Parameters
    ----------
    rows, order_by
        The rows to learn from, and the column that tells their order.
    needed
        What a distributed DataFrame can do, and no other.

    """
    if not isinstance(rows, str | os.PathLike | Sequence):
        check_distributed(rows, needed)
        return False
    if order_by is not None:
        raise ParameterError("order_by must be absent for files, which have an order.")
    return True


def check_distributed(rows: Any, needed: str) -> None:
    """Refuse what is no distributed DataFrame."""
    if not hasattr(rows, needed):
        raise ParameterError.of(
            "rows",
            "be a distributed DataFrame, or files to learn from",
            type(rows).__name__,
            "truism.InvariantRuleDetector learns from tables in memory, and scores them.",
        )


def learn_files(
    run: Run,
    rows: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    parameters: dict[str, Any],
    progress: Progress,
) -> Model:
    """Learn from files that all workers see."""
    detector = InvariantRuleDetector(**parameters)
    given = [rows] if isinstance(rows, str | os.PathLike) else rows
    sources = [os.fspath(each) for each in given]
    if not sources:
        raise ParameterError("rows must name at least one file.")
    time = detector.time
    layout = Layout(time=() if time is None else (time,))
    files = open_files(sources, layout)
    opening = read_first(files, 0)
    parts = Batches.of_files(files, opening.reading, BATCH_ROWS, run)
    axis = opening.reading.axis
    return _learn(parts, detector, opening.table, opening.reading, progress, time=axis)


def learn_pieces(
    run: Run,
    pieces: Sequence[tuple[Piece, int]],
    opening: Table,
    parameters: dict[str, Any],
    progress: Progress,
    *,
    ordered: bool,
) -> Model:
    """Learn from the partitions of a distributed DataFrame.

    Parameters
    ----------
    run, pieces
        What runs jobs, and the partitions with their numbers of rows.
    opening
        Some of the rows, by which it is seen what columns hold.
    parameters
        Those of the detector.
    progress
        Called with the stage, the amount done, and the total amount.
    ordered
        Whether rows are in the order of a column.

    """
    detector = InvariantRuleDetector(**parameters)
    if not any(n_rows for _, n_rows in pieces):
        raise TableError("The table has no rows.")
    if not ordered:
        for name in ("ordered", "delta", "by"):
            if getattr(detector, name):
                raise ParameterError.of(
                    name,
                    "be absent for a distributed DataFrame without a column to order by",
                    getattr(detector, name),
                    "say with order_by which column tells the order of the rows.",
                )
        warn_caller(
            "The rows of a distributed DataFrame have no order: they are learned as exchangeable rows. "
            "If a column tells their order, name it with order_by."
        )
    parts = Batches.of(pieces, run)
    return _learn(
        parts,
        detector,
        opening,
        reading_of(opening),
        progress,
        time=detector.time,
        shuffled=not ordered,
    )


def _learn(
    rows: Batches,
    detector: InvariantRuleDetector,
    opening: Table,
    reading: Reading,
    progress: Progress,
    *,
    time: str | None,
    shuffled: bool = False,
) -> Model:
    model = learn(
        rows,
        msgspec.structs.replace(settings_of(detector), time=time),
        delta=bool(detector.delta),
        threshold=detector.threshold,
        created=now(),
        reading=reading.with_optional(names_in("optional", detector.optional)),
        progress=progress,
        shuffled=shuffled,
    )
    legend = legend_of(detector.units, detector.titles, opening.names)
    return msgspec.structs.replace(model, legend=legend)
