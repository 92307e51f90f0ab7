"""Learning and scoring in Spark: the same passes and the same scores, partition by partition.

    pip install "truism[spark]"

`learn` takes a DataFrame, or files that all executors see; `score` is lazy. Files have an order. The rows
of a DataFrame have one only if a column says so (`order_by`); otherwise they are learned as exchangeable
rows.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from truism.clusters.sparkcrew import SparkCrew
from truism.errors import ParameterError
from truism.estimator.batches import arrow_scorer
from truism.estimator.clusters import (
    are_files,
    check_distributed,
    learn_files,
    learn_pieces,
)
from truism.model.model import Model
from truism.table.batches import check_kept, content_batch
from truism.table.columns import Table
from truism.table.files import OPENING
from truism.table.frames import as_table
from truism.work import Progress, be_silent

__all__ = ["learn", "score"]


class _Partition(msgspec.Struct, frozen=True):
    """A partition of a DataFrame, as batches that the executor reads."""

    def read(self, frame: Any) -> Iterator[Table]:
        return map(as_table, frame)


def learn(
    rows: Any,
    *,
    order_by: str | None = None,
    session: Any = None,
    progress: Progress = be_silent,
    **parameters: Any,
) -> Model:
    """Learn from normal rows in Spark.

    Parameters
    ----------
    rows
        A Spark DataFrame; or a path, folder or pattern, or several, of files that all executors see.
    order_by
        The column that says in which order the rows of a DataFrame are; its values should differ.
        Without it they are learned as exchangeable rows, and a warning says so.
    session
        A `SparkSession`; the active one when absent.
    progress
        Called with the stage, the amount done, and the total amount.
    parameters
        Those of `truism.InvariantRuleDetector`.

    Returns
    -------
    Model
        The same as if one process had learned it.

    """
    from pyspark.sql import SparkSession

    session = SparkSession.builder.getOrCreate() if session is None else session
    if are_files(rows, order_by, "mapInArrow"):
        return learn_files(SparkCrew(session), rows, parameters, progress)
    kept = (rows if order_by is None else rows.orderBy(order_by)).persist()
    try:
        sizes = {
            row["at"]: int(bytes(row["content"]))
            for row in kept.mapInArrow(_count, "at long, content binary").collect()
        }
        pieces, places, first = [], {}, 0
        for place, size in sorted(sizes.items()):
            pieces.append((_Partition(), size))
            if size:
                places[first] = place
            first += size
        return learn_pieces(
            SparkCrew(session, kept, places),
            pieces,
            as_table(kept.limit(OPENING).toArrow()),
            parameters,
            progress,
            ordered=order_by is not None,
        )
    finally:
        kept.unpersist()


def _count(batches: Iterator[Any]) -> Iterator[Any]:
    """Return the number of a partition, and how many rows it has."""
    from pyspark import TaskContext

    context = TaskContext.get()
    n_rows = sum(batch.num_rows for batch in batches)
    if context is not None:
        yield content_batch(context.partitionId(), str(n_rows).encode())


def score(
    rows: Any,
    model: Any,
    *,
    order_by: str | None = None,
    blames: int = 0,
    keep: Sequence[str] = (),
) -> Any:
    """Score the rows of a Spark DataFrame, when its result is asked for.

    Parameters
    ----------
    rows
        A Spark DataFrame.
    order_by
        The column that tells the order of the rows; needed where a row's score depends on those before
        it. They are then scored in one partition.
    model, blames, keep
        As for `truism.arrow_scorer`.

    Returns
    -------
    pyspark.sql.DataFrame
        With the columns to keep, ``score``, ``anomaly``, and the blames; lazy.

    """
    from pyspark.sql.types import BooleanType, DoubleType, StringType, StructField, StructType

    check_distributed(rows, "mapInArrow")
    scorer = arrow_scorer(model, blames=blames, keep=keep, n_jobs=1)
    if scorer.checker.model.memory is not None or scorer.checker.model.derived:
        if order_by is None:
            raise ParameterError.of(
                "order_by",
                "name the column that tells the order of the rows, because scores depend on it",
                order_by,
            )
        rows = rows.repartition(1).sortWithinPartitions(order_by)
    check_kept(rows.columns, scorer.keep, scorer.added)
    types = {"number": DoubleType, "boolean": BooleanType, "text": StringType}
    added = [StructField(name, types[kind]()) for name, kind in scorer.added.items()]
    schema = StructType([*(rows.schema[name] for name in scorer.keep), *added])
    return rows.mapInArrow(lambda batches: scorer(batches), schema)
