"""Batches of rows, however many there are: scored one after the other, and learned from on a cluster."""

import functools
import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

from truism.errors import ParameterError, TableError, shorten
from truism.estimator.detector import (
    InvariantRuleDetector,
    followed,
    learn_as,
    model_of,
    names_in,
    warn_caller,
)
from truism.explain.checker import Checker
from truism.explain.explanations import blame_kinds, no_blames, write_blames
from truism.incidents.delays import limits_of
from truism.incidents.following import Follower, Following
from truism.learn.batches import BATCH_ROWS, Batches, Run
from truism.model.files import decode_model, encode_model
from truism.model.model import Model
from truism.model.settings import check_whole
from truism.table.columns import Table, reading_of
from truism.table.files import open_files, read_first
from truism.table.frames import as_table
from truism.table.layouts import Layout
from truism.table.writing import ARROW_TYPES, Holds
from truism.work import Progress, count_threads


class Left(msgspec.Struct, frozen=True, eq=False):
    """What batches leave behind for those after them."""

    model: str  # that scored them, by its id: to another one it would mean something else
    following: Following

    @property
    def n_rows(self) -> int:
        """How many rows have come so far."""
        return self.following.n_rows


class ArrowScorer:
    """Scores a stream of Arrow record batches; see `arrow_scorer`.

    It can be pickled, so that clusters can send it to their workers.
    """

    def __init__(self, model: Model, blames: int, keep: Sequence[str], n_jobs: int | None) -> None:
        check_whole("blames", blames, 0)
        self.checker = Checker(model, count_threads(n_jobs))
        self.blames, self.keep, self.n_jobs = blames, names_in("keep", keep), n_jobs

    def __repr__(self) -> str:
        return f"<ArrowScorer of {repr(self.checker.model).strip('<>')}>"

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Score batches one after the other.

        Parameters
        ----------
        batches
            Record batches with the columns that the model needs.

        Yields
        ------
        pyarrow.RecordBatch
            As many rows as came in: the columns to keep, ``score``, ``anomaly``, and the blames.

        """
        for batch, _ in self.follow(batches):
            yield batch

    def follow(
        self, batches: Iterable[Any], state: Left | None = None
    ) -> Iterator[tuple[Any, Left]]:
        """Score batches that go on where others ended.

        Parameters
        ----------
        batches
            Record batches.
        state
            What the last batch before left behind; None if there was none.

        Yields
        ------
        batch, state
            The scored batch, and what it leaves behind for those after it.

        """
        if state is not None and not isinstance(state, Left):
            raise ParameterError.of("state", "be what `follow` yields", type(state).__name__)
        if state is not None and state.model != self._model_id:
            raise ParameterError.of(
                "state",
                f"come from this model, {self._model_id}",
                state.model,
                "begin without a state where a model was learned anew.",
            )
        kept = None if state is None else state.following
        warned: set[tuple[str, ...]] = set()
        for batch in batches:
            if not hasattr(batch, "schema"):
                raise TableError(
                    f"Batches must be Arrow record batches, got {type(batch).__name__}.",
                    "pass an iterable of them, such as table.to_batches().",
                )
            table = followed(as_table(batch), self.checker.model.reading, warned=warned)
            added, kept = self._score(table, kept)
            schema = self.schema(batch.schema)
            arrays = [
                pa.array(added[field.name], field.type)
                if field.name in added
                else batch[field.name]
                for field in schema
            ]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema), Left(self._model_id, kept)

    @functools.cached_property
    def _model_id(self) -> str:
        return self.checker.model.id

    def schema(self, schema: Any) -> Any:
        """Return the Arrow schema of what comes out for batches of a schema."""
        check_kept(schema.names, self.keep, self.added)
        fields = [pa.field(name, ARROW_TYPES[kind]) for name, kind in self.added.items()]
        return pa.schema([*(schema.field(name) for name in self.keep), *fields])

    @property
    def added(self) -> dict[str, Holds]:
        """The columns that come out besides those that are kept, and what they hold."""
        beyond: dict[str, Holds] = {} if self.checker.model.memory is None else {"excess": "number"}
        return {"score": "number", **beyond, "anomaly": "boolean", **blame_kinds(self.blames)}

    def _score(self, table: Table, before: Following | None) -> tuple[dict[str, Any], Following]:
        """Score one batch."""
        checker = self.checker
        table = checker.prepare(table, before)
        scorer, threshold = checker.scorer, checker.model.threshold
        if checker.model.memory is None and not self.blames:
            scores = scorer.score(table, checker.n_jobs)  # looks at equal rows once
            after = checker.pass_by(table, before)
            return {"score": scores, "anomaly": scores > threshold}, after
        limits = limits_of(checker.model, table)
        follower = Follower(scorer, table, limits, before)
        scores, excess = np.empty((2, table.n_rows))
        blamed = no_blames(table.n_rows, self.blames)
        for block, weighed, beyond in follower.follow(checker.n_jobs):
            scores[block], excess[block] = weighed.scores, beyond
            if self.blames:
                rows, above = np.arange(block.start, block.stop), beyond > threshold
                write_blames(blamed, scorer, table, rows, weighed, above, self.blames)
        added = {"score": scores, "excess": excess, "anomaly": excess > threshold}
        kept = {name: added[name] for name in self.added if name in added}
        after = checker.leave(table, follower.following, before)
        return kept | blamed, after

    def __reduce__(self) -> tuple[Any, ...]:
        content = encode_model(self.checker.model)
        return _rebuild, (content, self.blames, self.keep, self.n_jobs)


def check_kept(names: Sequence[str], keep: Sequence[str], added: Collection[str]) -> None:
    """Refuse columns to keep that are not there, are given twice, or are named like added ones."""
    absent = [name for name in keep if name not in names]
    if absent:
        raise TableError(
            f"Columns to keep must be in every batch, got none named {shorten(absent)}."
        )
    repeated = [name for name in dict.fromkeys(keep) if list(keep).count(name) > 1]
    if repeated:
        raise TableError(f"Columns to keep must be distinct, got {shorten(repeated)} twice.")
    twice = [name for name in keep if name in added]
    if twice:
        raise TableError(
            f"Columns to keep must not be named like those that are added, got {shorten(twice)}.",
            "rename them first.",
        )


def _rebuild(content: bytes, blames: int, keep: Sequence[str], n_jobs: int | None) -> ArrowScorer:
    return ArrowScorer(decode_model(content), blames, keep, n_jobs)


def arrow_scorer(
    model: InvariantRuleDetector | Model | str | os.PathLike[str],
    *,
    blames: int = 0,
    keep: Sequence[str] = (),
    n_jobs: int | None = None,
) -> ArrowScorer:
    """Return a function from a stream of Arrow record batches to one with their scores.

    Memory does not grow with the stream, and the scores do not depend on how it is divided: what a
    series has to know of its past is handed on from batch to batch. The result fits Spark's
    ``mapInArrow``, Ray's ``map_batches`` and Dask's ``map_partitions`` with a line each.

    Parameters
    ----------
    model
        A fitted detector, a model, or the name of a model file.
    blames
        How many variables to name for each row, with their shares, and with what was expected and
        found in anomalies.
    keep
        Columns of the batches that come out too.
    n_jobs
        Number of threads; None and -1 use all cores. Results do not depend on it.

    Returns
    -------
    ArrowScorer

    Examples
    --------
    >>> import pyarrow
    >>> detector = InvariantRuleDetector(min_support=0.1)
    >>> detector = detector.fit({"pump": ["on", "off"] * 50, "flow": [2.5, 0.0] * 50})
    >>> rows = pyarrow.record_batch({"pump": ["on", "on"], "flow": [2.5, 0.0]})
    >>> [scored] = arrow_scorer(detector)([rows])
    >>> scored["anomaly"].to_pylist()
    [False, True]

    """
    return ArrowScorer(model_of("model", model), blames, keep, n_jobs)


def read_partition(frame: Any) -> Iterator[Table]:
    """Read a partition of a distributed DataFrame, which a worker has as frames."""
    return map(as_table, frame)


def are_files(rows: Any, order_by: str | None, needed: str) -> bool:
    """Tell files from a distributed DataFrame, which alone can do what is `needed`."""
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
    given = [rows] if isinstance(rows, str | os.PathLike) else rows
    if not given:
        raise ParameterError("rows must name at least one file.")
    time = InvariantRuleDetector(**parameters).time
    files = open_files(
        [os.fspath(place) for place in given], Layout(time=() if time is None else (time,))
    )
    opening = read_first(files, 0)
    batches = Batches.of_files(files, opening.reading, BATCH_ROWS, run)
    detector = InvariantRuleDetector(**parameters | {"time": opening.reading.axis})
    how: dict[str, Any] = {"threshold": detector.threshold, "progress": progress}
    return learn_as(detector, batches, opening.reading, opening.table.names, **how)


def learn_pieces(
    run: Run,
    sizes: Sequence[int],
    opening: Table,
    parameters: dict[str, Any],
    progress: Progress,
    *,
    ordered: bool,
) -> Model:
    """Learn from the partitions of a distributed DataFrame, given their numbers of rows.

    The `opening` rows show what columns hold; `ordered` says whether rows are in the order of a column.
    """
    if not any(sizes):
        raise TableError("The table has no rows.")
    if not ordered:
        for name in ("ordered", "delta", "by"):
            if parameters.get(name):
                raise ParameterError.of(
                    name,
                    "be absent for a distributed DataFrame without a column to order by",
                    parameters[name],
                    "name the column that gives the order of the rows with order_by.",
                )
        warn_caller(
            "The rows of a distributed DataFrame have no order: they are learned as exchangeable rows. "
            "If a column gives their order, name it with order_by."
        )
    detector, batches = (
        InvariantRuleDetector(**parameters),
        Batches.of([(read_partition, size) for size in sizes], run),
    )
    how: dict[str, Any] = {"threshold": detector.threshold, "progress": progress}
    how["shuffled"] = not ordered
    return learn_as(detector, batches, reading_of(opening), opening.names, **how)
