"""The scikit-learn face: `InvariantRuleDetector` wraps the functional core and adds nothing to it."""

import datetime
import html
import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Self

import msgspec
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from truism.arguments import (
    as_positions,
    count_threads,
    has_named_columns,
    refuse_file_name,
    renamed,
    warn_caller,
)
from truism.errors import ParameterError, shorten
from truism.explaining.explanations import Explanations
from truism.explaining.incidents import Incident, find_incidents
from truism.learning.learner import fingerprint
from truism.learning.training import train
from truism.model.files import load_model, save_model
from truism.model.model import BY_HAND, Model
from truism.model.rules import RuleSet
from truism.model.settings import Settings, check_threshold
from truism.scoring.alignment import align
from truism.scoring.scorer import Scorer
from truism.scoring.thresholds import calibrate
from truism.table.columns import Table
from truism.table.deltas import delta_name, with_deltas
from truism.table.frames import as_table
from truism.work import Progress, be_silent

if TYPE_CHECKING:
    from truism.report import Summary

EXPECTED_FAILED_CHECKS = {
    "check_outliers_train": (
        "The threshold is set on held-out rows (under paper scoring no training row breaks a rule), "
        "so no training row need be an outlier."
    ),
    "check_outliers_fit_predict": (
        "For the same reason fitting and predicting the same rows may find none."
    ),
}


class InvariantRuleDetector(OutlierMixin, BaseEstimator):  # type: ignore[misc]
    """Learns what is always true of normal rows; detects and explains rows that break it.

    The method of Feng and Hu, "Learning Invariant Rules from Data for Interpretable Anomaly
    Detection" (KDD 2023).

    Parameters
    ----------
    min_support
        θ: a rule holds in more than this part of the training rows; ``"auto"`` takes 1 %, or 12
        rows if that is more, and with ``scoring="paper"`` the smallest value for which fewer than
        1 % of held-out rows break a rule.
    support_ratio
        γ: a rule holds in more than this part of the rows of its rarest predicate; ``"auto"`` is
        0.1, and 0.7 with ``scoring="paper"``.
    max_predicates
        The longest rule, counting one consequent; rules with the same antecedent are shown as one.
        ``"auto"`` is 3, and 5 with ``scoring="paper"``.
    cutoffs
        Where cut-offs of continuous variables come from: ``"tree"``, ``"uniform"``, ``"kmeans"``.
    scoring
        How a row becomes a score: ``"evidence"`` weighs broken rules, values that are unusual when
        others are as they are, and values that are rare by themselves; ``"paper"`` sums the broken
        rules as the paper does.
    threshold
        Rows that score above it are anomalies; None takes the default of the scoring: for
        ``"evidence"`` what 1 % of the training rows exceed when the others judge them, for
        ``"paper"`` 0.0, any broken rule. May be changed after fitting.
    categorical, continuous, ignore
        Columns whose kind is not to be inferred.
    time
        The column that says when; without it the first column of dates is taken, or the index of
        a dataframe if it holds dates, and without dates the first text of which every value is
        ISO 8601.
    delta
        Whether to add ``ΔX``, the change since the previous row, for each continuous variable; for
        rows in order of time. What ``ΔX`` does is said of ``X`` in `attribute`.
    random_state
        Seed of the split that chooses θ, and of the choice of variables for contexts.
    n_jobs
        Threads; None and -1 take all cores. Results do not depend on it.

    Attributes
    ----------
    model_ : Model
        All that was learned, as one immutable value.
    rules_ : RuleSet
        The rules.
    n_features_in_, feature_names_in_
        As in scikit-learn; the names are those of the columns of the training table.
    offset_
        The negated threshold.

    Examples
    --------
    >>> normal = {"pump": ["on", "off"] * 50, "flow": [2.5, 0.0] * 50}
    >>> detector = InvariantRuleDetector(min_support=0.1).fit(normal)
    >>> detector.predict({"pump": ["on", "on"], "flow": [2.5, 0.0]}).tolist()
    [1, -1]
    >>> print(detector.explain({"pump": ["on", "on"], "flow": [2.5, 0.0]}))
    row 1, score 8.87
    pump   50 %  expected pump = off, found on
                 because flow = 0
                 (50 of 100 training rows, no exception)
    flow   50 %  expected flow = 2.5, found 0
                 because pump = on
                 (50 of 100 training rows, no exception)
    """

    def __init__(
        self,
        min_support: float | str = "auto",
        support_ratio: float | str = "auto",
        max_predicates: int | str = "auto",
        cutoffs: str = "tree",
        scoring: str = "evidence",
        threshold: float | None = None,
        categorical: Sequence[str] = (),
        continuous: Sequence[str] = (),
        ignore: Sequence[str] = (),
        time: str | None = None,
        delta: bool = False,
        random_state: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.min_support = min_support
        self.support_ratio = support_ratio
        self.max_predicates = max_predicates
        self.cutoffs = cutoffs
        self.scoring = scoring
        self.threshold = threshold
        self.categorical = categorical
        self.continuous = continuous
        self.ignore = ignore
        self.time = time
        self.delta = delta
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None, progress: Progress = be_silent) -> Self:  # noqa: ARG002, N803
        """Learn from normal rows.

        Parameters
        ----------
        X
            A table of normal rows: any dataframe, array or dict of columns.
        y
            Ignored; there for scikit-learn.
        progress
            Called with the stage, how much of it is done, and of how much.

        Returns
        -------
        self

        """
        table = self._table(X, reset=True)
        if self.threshold is not None:
            check_threshold(self.threshold)
        # The model keeps its own threshold, for when the parameter is None again.
        model = train(
            table,
            self._settings(),
            delta=bool(self.delta),
            created=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            n_jobs=self._n_jobs(),
            progress=progress,
        )
        return self._adopt(model)

    def calibrate(self, X: Any, max_false_positive_rate: float = 0.01) -> Self:  # noqa: N803
        """Choose the lowest threshold of three digits that at most a part of normal rows exceeds.

        Parameters
        ----------
        X
            Normal rows, other than those that were learned from.
        max_false_positive_rate
            The part of them that may be reported.

        Returns
        -------
        self
            With `threshold` None, so that the calibrated one is in force.

        """
        table = self._table(X)
        model = self.model_
        if fingerprint(table) == model.provenance.fingerprint:
            warn_caller("The rows to calibrate on are those that were learned from; take others.")
        chosen = calibrate(self._scored(table), max_false_positive_rate)
        self.threshold = None
        return self._adopt(model.with_threshold(chosen.threshold, chosen.meaning))

    def anomaly_score(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """Score every row; higher is worse."""
        return self._scored(self._table(X))

    def score_samples(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """Score every row, scikit-learn's way: lower is worse."""
        return -self.anomaly_score(X)

    def decision_function(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """Score every row so that anomalies are below 0."""
        scores = self.score_samples(X)
        return scores - self.offset_

    def predict(self, X: Any) -> NDArray[np.int64]:  # noqa: N803
        """Tell normal rows (1) from anomalies (-1)."""
        return np.where(self.decision_function(X) < 0, -1, 1)

    def attribute(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """Attribute each score to columns: rows × columns as in ``feature_names_in_``.

        Each row sums to its `anomaly_score`; columns that are no variables get 0.
        """
        table = self._table(X)
        parts = self._scorer.attribute(table, self._n_jobs())
        position = {name: i for i, name in enumerate(self._columns)}
        spread = np.zeros((table.n_rows, len(self._columns)))
        source_of = {delta_name(name): name for name in self.model_.derived}
        for i, name in enumerate(self.model_.schema.names):
            spread[:, position[source_of.get(name, name)]] += parts[:, i]
        return spread

    def explain(self, X: Any, rows: Sequence[int] | None = None) -> Explanations:  # noqa: N803
        """Explain the rows above the threshold, or other ones.

        Parameters
        ----------
        X
            Rows in order of time.
        rows
            Positions of the rows to explain, whatever they score, counted from 0.

        Returns
        -------
        Explanations
            A sequence with ``to_frame()`` and ``to_dict()``; it prints, and shows in notebooks.

        """
        table = self._table(X)
        if rows is None:
            chosen = np.flatnonzero(self._scored(table) > self._current().threshold)
        else:
            chosen = as_positions(rows, table.n_rows)
        return Explanations(self._scorer, table, chosen)

    def incidents(self, X: Any, gap: int | None = None) -> list[Incident]:  # noqa: N803
        """Group the rows above the threshold into incidents, worst first.

        Parameters
        ----------
        X
            Rows in order of time.
        gap
            How many normal rows may lie between two anomalous rows of one incident; absent, a
            minute of them, or five if that is more.

        """
        table = self._table(X)
        threshold = self._current().threshold
        return find_incidents(
            self._scorer, table, self._scored(table), gap=gap, threshold=threshold
        )

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
        """Tell what happened in a table, and write the page that shows it.

        Parameters
        ----------
        X
            Rows in order of time.
        path
            A file to write, whose ending says in which form: ``.html``, ``.json`` or ``.txt``.
        time
            The column that says when, if it is another one than in training.
        gap
            How many normal rows may lie between two anomalous rows of one incident; absent, a
            minute of them, or five if that is more.
        label
            A column of labels: 0 and false mean normal, everything else anomalous.
        source
            Where the rows came from, in words.

        Returns
        -------
        Summary
            The content of the report; it prints, and shows in notebooks.

        """
        from truism.report import summarise, write_report
        from truism.report.output import check_ending

        if path is not None:
            check_ending(path)
        table = self._table(X, known=[name for name in (label, time) if name is not None])
        model, scorer = self._current(), self._scorer
        if time is not None:
            if time not in table.names:
                raise ParameterError(f"time must name a column of the table, got {time!r}.")
            schema = msgspec.structs.replace(model.schema, time=time)
            scorer = Scorer(msgspec.structs.replace(model, schema=schema))
        summary = summarise(
            scorer,
            table,
            scores=self._scored(table),
            gap=gap,
            threshold=model.threshold,
            source=source,
            label=label,
            created=datetime.datetime.now().astimezone().strftime("%Y-%m-%d %H:%M"),
        )
        if path is not None:
            write_report(path, summary)
        return summary

    def disable_rule(self, rule_id: str, reason: str) -> Self:
        """Switch a rule off; it neither scores nor explains any more.

        More specific rules that it made redundant do not come back.
        """
        check_is_fitted(self)
        today = datetime.datetime.now(datetime.UTC).date().isoformat()
        return self._adopt(self.model_.disable(rule_id, reason, today))

    def enable_rule(self, rule_id: str) -> Self:
        """Switch a disabled rule on again."""
        check_is_fitted(self)
        return self._adopt(self.model_.enable(rule_id))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a JSON file, which `truism.load` reads."""
        save_model(self._current(), path)

    @property
    def offset_(self) -> float:
        """The negated threshold."""
        return -self._current().threshold

    @property
    def rules_(self) -> RuleSet:
        """The rules that were learned."""
        check_is_fitted(self)
        return self.model_.rules

    def _adopt(self, model: Model) -> Self:
        self.model_ = model
        self._scorer = Scorer(model)
        return self

    def _current(self) -> Model:
        """Give the model with the threshold that the user has set since."""
        check_is_fitted(self)
        return self.model_ if self.threshold is None else self.model_.with_threshold(self.threshold)

    def _settings(self) -> Settings:
        def plain(value: Any) -> Any:
            return value.item() if isinstance(value, np.generic) else value

        names = ("min_support", "support_ratio", "max_predicates", "cutoffs", "scoring")
        values = {name: plain(getattr(self, name)) for name in (*names, "time", "random_state")}
        for name in ("categorical", "continuous", "ignore"):
            given = getattr(self, name)
            listed = isinstance(given, Iterable) and not isinstance(given, str)
            values[name] = tuple(given) if listed else given  # refused when the kinds are inferred
        return Settings(**values)

    def _n_jobs(self) -> int:
        return count_threads(self.n_jobs)

    def _scored(self, table: Table) -> NDArray[np.float64]:
        return self._scorer.score(table, self._n_jobs())

    def _table(self, X: Any, *, reset: bool = False, known: Iterable[str] = ()) -> Table:  # noqa: N803
        """Read a table; arrays and lists go through scikit-learn's checks, frames do not need to."""
        if not reset:
            check_is_fitted(self)
        refuse_file_name(X)
        if isinstance(X, Table | dict) or has_named_columns(X):
            table = as_table(X)
            if reset:
                own = tuple(column.name for column in table.columns if not column.index)
                self._remember(own, named=True)
        else:
            checked = validate_data(
                self, X, reset=reset, dtype=None, ensure_all_finite=False, ensure_min_samples=1
            )
            # scikit-learn checks, and warns of missing names, but it forgets what is masked.
            table = as_table(X if isinstance(X, np.ma.MaskedArray) else checked)
            if reset:
                self._remember(table.names, named=False)
            else:
                table = renamed(table, self._columns)
        return table if reset else self._prepared(table, known)

    def _prepared(self, table: Table, known: Iterable[str]) -> Table:
        """Add derived variables, and say which columns are not looked at."""
        prepared = with_deltas(table, self.model_.derived)
        _, extra = align(self.model_.schema, prepared)
        unknown = tuple(name for name in extra if name not in known)
        if unknown:
            warn_caller(f"Columns that were not there in training are ignored: {shorten(unknown)}.")
        return prepared

    def _remember(self, names: tuple[str, ...], *, named: bool) -> None:
        self._columns = names
        self.n_features_in_ = len(names)
        if named:
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def _repr_html_inner(self) -> str:
        if not hasattr(self, "model_"):
            return super()._repr_html_inner()  # type: ignore[no-any-return]
        made = self.model_.provenance
        return (
            f"<p><b>InvariantRuleDetector</b> of {len(self.model_.schema.variables)} variables, "
            f"min_support {made.min_support:g}, threshold {self._current().threshold:g}</p>"
            + "".join(f"<p>{html.escape(each)}</p>" for each in made.notices)
            + self.rules_._repr_html_()
        )


def load(path: str | os.PathLike[str]) -> InvariantRuleDetector:
    """Read a model file as a fitted detector.

    Parameters
    ----------
    path
        A file that ``detector.save`` or ``truism learn`` wrote.

    Returns
    -------
    InvariantRuleDetector

    """
    model = load_model(path)
    chosen = model.settings
    detector = InvariantRuleDetector(
        min_support=chosen.min_support,
        support_ratio=chosen.support_ratio,
        max_predicates=chosen.max_predicates,
        cutoffs=chosen.cutoffs,
        scoring=chosen.scoring,
        threshold=model.threshold if model.threshold_meaning == BY_HAND else None,
        categorical=chosen.categorical,
        continuous=chosen.continuous,
        ignore=chosen.ignore,
        time=chosen.time,
        delta=bool(model.derived),
        random_state=chosen.random_state,
    )
    made_here = {delta_name(variable) for variable in model.derived}
    known = model.provenance.columns or model.schema.names
    names = tuple(name for name in known if name not in made_here)
    detector._remember(names, named=names != tuple(f"x{i}" for i in range(len(names))))
    return detector._adopt(model)
