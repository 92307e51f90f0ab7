"""Learning and scoring on a Dask cluster: the same passes and the same scores, partition by partition.

    pip install "truism[dask]"

`learn` takes a Dask DataFrame, or files that all workers see; `score` is lazy. Files have an order. The
rows of a DataFrame have one only if a column says so (`order_by`); otherwise they are learned as
exchangeable rows.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from truism.clusters.daskcrew import DaskCrew
from truism.errors import ParameterError, did_you_mean
from truism.estimator.batches import ArrowScorer, Left, arrow_scorer
from truism.estimator.clusters import (
    are_files,
    check_distributed,
    learn_files,
    learn_pieces,
)
from truism.model.model import Model
from truism.table.batches import as_batch, as_frame, empty_like
from truism.table.columns import Table
from truism.table.files import OPENING
from truism.table.frames import as_table
from truism.work import Progress, be_silent

__all__ = ["learn", "score"]


class _Partition(msgspec.Struct, frozen=True):
    """A partition of a DataFrame, which the worker holds."""

    def read(self, frame: Any) -> Iterator[Table]:
        yield as_table(frame)


def learn(
    rows: Any,
    *,
    order_by: str | None = None,
    client: Any = None,
    progress: Progress = be_silent,
    **parameters: Any,
) -> Model:
    """Learn from normal rows on a cluster.

    Parameters
    ----------
    rows
        A Dask DataFrame; or a path, folder or pattern, or several, of files that all workers see.
    order_by
        The column that says in which order the rows of a DataFrame are; its values should differ.
        Without it they are learned as exchangeable rows, and a warning says so.
    client
        A `distributed.Client`; the current one when absent.
    progress
        Called with the stage, the amount done, and the total amount.
    parameters
        Those of `truism.InvariantRuleDetector`.

    Returns
    -------
    Model
        The same as if one process had learned it.

    """
    client = _current_client() if client is None else client
    if are_files(rows, order_by, "to_delayed"):
        return learn_files(DaskCrew(client), rows, parameters, progress)
    with client.as_current():
        return _learn_frame(client, rows, order_by, parameters, progress)


def _current_client() -> Any:
    from distributed import get_client

    try:
        return get_client()
    except ValueError:
        raise ParameterError(
            "client must be given, because there is no current one.",
            "make one with distributed.Client(...).",
        ) from None


def _learn_frame(
    client: Any, rows: Any, order_by: str | None, parameters: dict[str, Any], progress: Progress
) -> Model:
    if order_by is not None:
        if order_by not in rows.columns:
            hint = did_you_mean(order_by, map(str, rows.columns))
            raise ParameterError.of("order_by", "name a column of the DataFrame", order_by, hint)
        rows = rows.sort_values(order_by)
    rows = client.persist(rows)
    partitions = rows.to_delayed()
    sizes = client.gather(client.compute([each.shape[0] for each in partitions]))
    futures, first, frames = client.compute(partitions), 0, {}
    for future, size in zip(futures, sizes, strict=True):
        frames[first] = future
        first += size
    return learn_pieces(
        DaskCrew(client, frames),
        [(_Partition(), size) for size in sizes],
        as_table(rows.head(OPENING, npartitions=-1)),
        parameters,
        progress,
        ordered=order_by is not None,
    )


def score(rows: Any, model: Any, *, blames: int = 0, keep: Sequence[str] = ()) -> Any:
    """Score the rows of a Dask DataFrame, when its result is asked for.

    Parameters
    ----------
    rows
        A Dask DataFrame. Rows of a series must be in order: each partition goes on where the one before
        it ended.
    model, blames, keep
        As for `truism.arrow_scorer`.

    Returns
    -------
    dask.dataframe.DataFrame
        With the columns to keep, ``score``, ``anomaly``, and the blames; lazy.

    """
    import dask
    import dask.dataframe as dd

    check_distributed(rows, "to_delayed")
    scorer = arrow_scorer(model, blames=blames, keep=keep, n_jobs=1)
    meta = empty_like(rows._meta, scorer.schema)
    has_past = scorer.checker.model.memory is not None or bool(scorer.checker.model.derived)
    shared, state, scored = dask.delayed(scorer), None, []
    for part in rows.to_delayed():
        pair = dask.delayed(_follow, nout=2, pure=True)(shared, part, state)
        scored.append(pair[0])
        state = pair[1] if has_past else None
    return dd.from_delayed(scored, meta=meta, verify_meta=False)


def _follow(scorer: ArrowScorer, frame: Any, state: Left | None) -> tuple[Any, Any]:
    [(batch, after)] = scorer.follow([as_batch(frame)], state)
    return as_frame(batch, frame), after
