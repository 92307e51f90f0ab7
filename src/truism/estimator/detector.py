"""The detector as scikit-learn knows detectors: it wraps the functional core and adds nothing to it."""

import datetime
import html
import os
import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import msgspec
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from truism.errors import ParameterError, TableError, shorten
from truism.explain.checker import Checker
from truism.explain.explanations import Explanations
from truism.explain.findings import Findings
from truism.explain.incidents import Incident
from truism.explain.patterns import Patterns
from truism.incidents.delays import Delays
from truism.incidents.following import Following
from truism.learn.batches import Batches
from truism.learn.learn import learn
from truism.model.files import decode_model, encode_model, load_model, save_model
from truism.model.model import Model
from truism.model.provenance import ByHand, now, now_here, today
from truism.model.rules import RuleSet
from truism.model.settings import Settings, check_threshold
from truism.model.wording import legend_of
from truism.review.accept import Named, Offer, offer
from truism.review.compare import Comparison, Source
from truism.review.compare import compare as compare_checkers
from truism.review.status import Status
from truism.review.status import status as find_status
from truism.review.suspects import Suspects, find_suspects
from truism.score.thresholds import adopt, expecting
from truism.table.columns import Table, reading_of, renamed
from truism.table.deltas import delta_name
from truism.table.frames import as_table, has_named_columns, library_of, to_frame
from truism.table.layouts import Reading
from truism.table.notices import refuse_doubts
from truism.table.texts import conform_table
from truism.work import Progress, be_silent, count_threads

if TYPE_CHECKING:
    from truism.show import Summary

EXPECTED_FAILED_CHECKS = {
    "check_outliers_train": (
        "The threshold is set on held-out rows (with paper scoring no training row breaks a rule), "
        "so no training row need be an outlier."
    ),
    "check_outliers_fit_predict": (
        "For the same reason fitting and predicting the same rows may find none."
    ),
}


def _asking(model: Model, max_false_incidents: str | None) -> Model:
    """Return a model that says which rate of incidents its threshold was last asked for."""
    settings = msgspec.structs.replace(model.settings, max_false_incidents=max_false_incidents)
    return msgspec.structs.replace(model, settings=settings)


class Sourced(Following, frozen=True, eq=False):
    """What has to be kept of the rows of a source, which has a name or none."""

    source: str | None = None

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
    before = state.source if isinstance(state, Sourced) else None
    if source is None or source == before:
        return state, before
    return None, source


class InvariantRuleDetector(OutlierMixin, BaseEstimator):  # type: ignore[misc]
    """Learns what is always true of normal rows; detects and explains rows that break it.

    The method of Feng and Hu, "Learning Invariant Rules from Data for Interpretable Anomaly
    Detection" (KDD 2023).

    Parameters
    ----------
    min_support
        θ: a rule must hold in more than this share of the training rows. ``"auto"`` is 1 %, or 12
        rows if that is more; with ``scoring="paper"``, the smallest value for which fewer than
        1 % of held-out rows break a rule.
    support_ratio
        γ: a rule must hold in more than this share of the rows of its rarest predicate.
        ``"auto"`` is 0.1, and 0.7 with ``scoring="paper"``.
    max_predicates
        The longest rule, counting one consequent; rules with the same antecedent are shown as one.
        ``"auto"`` is 3, and 5 with ``scoring="paper"``.
    cutoffs
        Where cut-offs of continuous variables come from: ``"tree"``, ``"uniform"``, ``"kmeans"``.
    scoring
        How to score a row: ``"evidence"`` weighs broken rules, values that are unusual given the
        other variables, and values that are rare in themselves; ``"paper"`` adds up broken rules
        as in the paper.
    threshold
        Rows that score above it are anomalies. None takes the default of the scoring: for
        ``"evidence"``, a value that 1 % of the training rows exceed when held out, and for a
        series what `max_false_incidents` says; for ``"paper"``, 0.0, that is any broken rule. May
        be changed after fitting.
    categorical, continuous, ignore
        Columns whose kind you set yourself.
    time
        The column of times. By default, the first column of dates, or the index of a dataframe
        if it holds dates; if there are no dates, the first text column in which every value is
        ISO 8601.
    delta
        Whether to add ``ΔX``, the change since the previous row, for each continuous variable; for
        rows in order of time. `attribute` counts what ``ΔX`` does under ``X``.
    ordered
        Whether rows are in order even though no times say so. Times that ascend in equal steps, and
        ``delta``, say it too. Rows that are in order are a series, rows that are not are
        exchangeable.
    by
        The column that tells several series in one table apart.
    lookback
        For a series, how far back evidence of earlier rows adds to that of a row: a number of rows,
        or a duration such as ``"10min"``; 0 judges every row by itself. ``"auto"`` is 15 rows.
    max_false_incidents
        For a series, how many incidents of normal rows you can live with, such as ``"1/day"``,
        ``"2/week"`` or ``"1/1000rows"``; it sets the threshold. None is one a day, or one per 1,000
        rows if a day has fewer rows or is unknown. May be changed after fitting.
    optional
        Columns that later tables may lack; everything that needs them is then unknown, with a
        warning.
    allow_missing
        Whether later tables may lack any columns. May be changed after fitting.
    strict
        Whether later tables are refused where they can only be read with doubts, instead of a
        warning. May be changed after fitting.
    units, titles
        What columns are measured in, such as ``{"LIT301": "mm"}``, and what readers call them, such as
        ``{"LIT301": "feed tank level"}``; explanations show both, and nothing else depends on them.
    suspects
        ``"find"`` lists the training rows that the others contradict most (`suspects_`), ``"exclude"``
        learns without those that learning would hide (`suspects_.hidden`); None does not look for any,
        which takes a third of the time.
    random_state
        Random seed, for the split that chooses θ, the choice of variables for contexts, and the
        samples that find suspects.
    n_jobs
        Number of threads; None and -1 use all cores. Results do not depend on it.

    Attributes
    ----------
    model_ : Model
        Everything that was learned, as one immutable value.
    rules_ : RuleSet
        The rules.
    suspects_ : Suspects
        The training rows that the others contradict most, if `suspects` asked for them.
    n_features_in_, feature_names_in_
        As in scikit-learn; the names are those of the columns of the training table.
    threshold_
        The threshold in force: the parameter's or, if that is None, what was learned or calibrated.
        For a series it is about the excess, else about the score.
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
                 because flow = 0 (or flow is wrong)
                 (50 of 100 training rows, no exception)
    flow   50 %  expected flow = 2.5, found 0
                 because pump = on (or pump is wrong)
                 (50 of 100 training rows, no exception)
    """

    _columns: tuple[str, ...]
    _library: str | None = None  # of the table that was learned from

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
        ordered: bool = False,
        by: str | None = None,
        lookback: int | str = "auto",
        max_false_incidents: str | None = None,
        optional: Sequence[str] = (),
        allow_missing: bool = False,
        strict: bool = False,
        units: Mapping[str, str] | None = None,
        titles: Mapping[str, str] | None = None,
        suspects: str | None = None,
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
        self.ordered = ordered
        self.by = by
        self.lookback = lookback
        self.max_false_incidents = max_false_incidents
        self.optional = optional
        self.allow_missing = allow_missing
        self.strict = strict
        self.units = units
        self.titles = titles
        self.suspects = suspects
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None, progress: Progress = be_silent) -> Self:  # noqa: ARG002, N803
        """Learn from normal rows.

        Parameters
        ----------
        X
            A table of normal rows: any dataframe, array or dict of columns.
        y
            Ignored; exists for scikit-learn.
        progress
            Called with the stage, the amount done, and the total amount.

        Returns
        -------
        self

        """
        table = self._table(X, reset=True)
        if self.threshold is not None:
            check_threshold(self.threshold)
        if self.suspects not in (None, "find", "exclude"):
            raise ParameterError.of("suspects", "be None, 'find' or 'exclude'", self.suspects)
        how: dict[str, Any] = {"n_jobs": count_threads(self.n_jobs), "progress": progress}
        suspects = hidden = None
        if self.suspects is not None:
            suspects = find_suspects(table, settings_of(self), delta=bool(self.delta), **how)
            hidden = suspects.hidden if self.suspects == "exclude" else None
        # The model keeps its own threshold, for when the parameter is None again.
        model = learn_as(self, table, reading_of(table), table.names, excluded=hidden, **how)
        self._suspects, self._library = suspects, library_of(X)
        return self.adopt(model)

    @property
    def threshold_(self) -> float:
        """The threshold in force: rows above it are anomalies, by their excess if they are a series."""
        return self._current().model.threshold

    @property
    def offset_(self) -> float:
        """The negated threshold."""
        return -self.threshold_

    def anomaly_score(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """Score every row by how unusual it is against what was learned; higher is worse.

        Scores never adapt. For a series it is the excess that is compared with the threshold, see
        `decision_function`.
        """
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
        """Return 1 for normal rows and -1 for anomalies, whose `decision_function` is below 0."""
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
        shares = checker.attribute(table, self._columns)
        if not as_frame:
            return shares
        columns = {name: shares[:, i] for i, name in enumerate(self._columns)}
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
        return checker.explain(table, chosen, library_of(X) or self._library)

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
            Name of the source, for example a machine; part of every id. Absent, it is that of `state`;
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
        kept = {name: getattr(findings.state, name) for name in Following.__struct_fields__}
        return msgspec.structs.replace(findings, state=Sourced(**kept, source=source))

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
        from truism.show import summarise, write_report
        from truism.show.summarising import check_ending

        if path is not None:
            check_ending(path)
        table, checker = self._ready(X, expected=[n for n in (label, time) if n is not None])
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

    def calibrate(
        self,
        X: Any,  # noqa: N803
        max_false_positive_rate: float | None = None,
        max_false_incidents: str | None = None,
    ) -> Self:
        """Choose the threshold on normal rows that were not learned from.

        Parameters
        ----------
        X
            Such rows.
        max_false_positive_rate
            The share of them that may be reported; the lowest threshold of three digits is chosen
            for which they are not more. The default for rows that are exchangeable is 1 %.
        max_false_incidents
            How many incidents they may form, such as ``"1/day"``. The default for a series is the
            detector's own `max_false_incidents`.

        Returns
        -------
        self
            With `threshold` None, so that the calibrated one is used.

        """
        table, checker = self._ready(X)
        if self._checker.learned_from(table):
            warn_caller("The rows to calibrate on are the training rows; use other rows.")
        rate = max_false_incidents
        if rate is None and max_false_positive_rate is None and checker.model.memory is not None:
            rate = self.max_false_incidents or "auto"
        model = checker.calibrate(table, max_false_positive_rate, rate)
        if checker.needed != self._checker.needed:  # the rules about absent columns stay
            model = adopt(self._checker.model, model)
        self.threshold = None
        return self.adopt(_asking(model, self.max_false_incidents))

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
        table, checker = (None, self._current()) if X is None else self._ready(X)
        named = here = there = None
        if table is not None:
            here = _source(table)
            if rows is not None:
                named = Named(np.unique(_positions(rows, table.n_rows)))
        if history is not None:
            earlier, its_checker = self._ready(history)
            there = its_checker, _source(earlier)
        made = offer(
            checker,
            None if table is None or named is None else table.take(named.numbers),
            named,
            reason=reason,
            when=when,
            mute=(mute,) if isinstance(mute, str) else tuple(mute),
            until=until,
            who=who,
            date=today(),
            here=here,
            history=there,
        )
        if not dry_run:
            self.adopt(self.model_.accept(made.acceptance))
        return made

    def withdraw(self, acceptance_id: str) -> Self:
        """Take an acceptance back."""
        return self.adopt(self._current().model.withdraw(acceptance_id))

    def disable_rule(self, rule_id: str, reason: str) -> Self:
        """Switch a rule off, so that it no longer scores or explains.

        More specific rules that it made redundant do not come back.
        """
        check_is_fitted(self)
        return self.adopt(self.model_.disable(rule_id, reason, today()))

    def enable_rule(self, rule_id: str) -> Self:
        """Switch a disabled rule back on."""
        check_is_fitted(self)
        return self.adopt(self.model_.enable(rule_id))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a JSON file, which `truism.load` reads."""
        save_model(self._current().model, path)

    @property
    def rules_(self) -> RuleSet:
        """The rules that were learned."""
        check_is_fitted(self)
        return self.model_.rules.in_frames_of(self._library)

    @property
    def suspects_(self) -> Suspects:
        """The training rows that the others contradict most."""
        suspects: Suspects | None = getattr(self, "_suspects", None)
        if suspects is None:
            raise AttributeError(
                "suspects_ is only there after fitting with suspects='find' or suspects='exclude'."
            )
        return suspects

    def adopt(self, model: Model) -> Self:
        """Use a model as if it had been learned here."""
        self.model_ = model
        self._checker = Checker(model)
        return self

    def _current(self) -> Checker:
        """Return the checker, with the threshold and the threads that the user has set since."""
        check_is_fitted(self)
        model = self.model_
        if self.threshold is not None:
            model = model.with_threshold(self.threshold)
        elif self.max_false_incidents != model.settings.max_false_incidents:
            model = _asking(expecting(model, self.max_false_incidents), self.max_false_incidents)
        return Checker(model, count_threads(self.n_jobs), self._checker.scorer)

    def _table(self, X: Any, *, reset: bool = False) -> Table:  # noqa: N803
        """Read a table; only arrays and lists need scikit-learn's checks."""
        refuse_path(X)
        if isinstance(X, Table | dict) or has_named_columns(X):
            table = as_table(X)
            if reset:
                names = tuple(column.name for column in table.columns if not column.index)
                self.remember(names, named=True)
        else:
            checked = check_shape(self, X, reset=reset)
            # scikit-learn checks, and warns about missing names, but it drops masks.
            table = as_table(X if isinstance(X, np.ma.MaskedArray) else checked)
            if reset:
                self.remember(table.names, named=False)
            else:
                table = renamed(table, self._columns)
        return table

    def _ready(
        self,
        X: Any,  # noqa: N803
        expected: Iterable[str] = (),
        before: Following | None = None,
    ) -> tuple[Table, Checker]:
        """Read as the training table was read, and return the checker that suits the table, too.

        Variables that are derived from others are added, and there are warnings about the rest.
        """
        check_is_fitted(self)
        table = self._table(one_row(X, self.model_.schema.time))
        table = followed(table, self.model_.reading, strict=bool(self.strict))
        checker, doubt = self._current().suited(table, allow_missing=bool(self.allow_missing))
        if doubt is not None:
            warn_caller(doubt)
        prepared = checker.prepare(table, before)
        unknown = tuple(name for name in checker.extra(prepared) if name not in expected)
        if unknown:
            warn_caller(
                f"Columns that were not in the training table are ignored: {shorten(unknown)}."
            )
        return prepared, checker

    def remember(self, names: tuple[str, ...], *, named: bool) -> None:
        """Keep the names of the columns that were learned from."""
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
            f"min_support {made.min_support:g}, threshold {self.threshold_:g}</p>"
            + "".join(f"<p>{html.escape(notice)}</p>" for notice in self.model_.notices)
            + self.rules_._repr_html_()
        )

    def __getstate__(self) -> dict[str, Any]:
        """Return what pickle, joblib and skops keep: parameters, and the content of the model file."""
        state: dict[str, Any] = {**super().__getstate__()}
        if state.pop("_checker", None) is not None:
            state["model_"] = encode_model(state["model_"])
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "model_" in state:
            self.adopt(decode_model(state["model_"]))


def _source(table: Table) -> Source:
    return Source(table.n_rows, lambda: [table])


def _positions(rows: Any, n_rows: int) -> NDArray[np.int64]:
    match rows:
        case Incident():
            return np.arange(rows.onset, min(rows.end + 1, n_rows))
        case slice():
            return np.arange(n_rows)[rows]
    return as_positions(rows, n_rows)


# --- what callers hand in ---


_OUR_SIDE = {"truism", "sklearn"}


def settings_of(detector: Any) -> Settings:
    """Return a detector's parameters as settings; learning refuses what is wrong with them."""

    def plain(value: Any) -> Any:
        return value.item() if isinstance(value, np.generic) else value

    names = [name for name in Settings.__struct_fields__ if hasattr(detector, name)]
    values = {name: plain(getattr(detector, name)) for name in names}
    for name in ("categorical", "continuous", "ignore"):
        if isinstance(values[name], Iterable) and not isinstance(values[name], str):
            values[name] = tuple(values[name])
    return Settings(**values)


def learn_as(
    detector: Any, rows: Table | Batches, reading: Reading, names: Sequence[str], **how: Any
) -> Model:
    """Learn from rows with a detector's parameters; `names` are those of all columns."""
    legend = legend_of(detector.units, detector.titles, names)
    reading = reading.with_optional(names_in("optional", detector.optional))
    how |= {"delta": bool(detector.delta), "created": now(), "reading": reading}
    model = learn(rows, settings_of(detector), **how)
    return msgspec.structs.replace(model, legend=legend)


def one_row(X: Any, time: str | None = None) -> Any:  # noqa: N803
    """Return a row of a dataframe, a Series with names, as a dict; anything else as it is.

    What an index of times said is the Series' own name, and goes to the column of times.
    """
    names = getattr(X, "index", None)
    if names is None or getattr(X, "ndim", 0) != 1 or not hasattr(names, "tolist"):
        return X
    if not len(X) or not all(isinstance(name, str) for name in names):
        return X
    row = dict(zip(names, X.tolist(), strict=True))
    if len(row) < len(X):
        raise TableError("The names of a row must be distinct, got some of them twice.")
    if time is not None and time not in row and isinstance(X.name, datetime.datetime):
        row[time] = X.name
    return row


def is_row(X: Any) -> bool:  # noqa: N803
    """Return whether something is one row: a Series with names, or a dict of single values."""
    row = one_row(X)
    return isinstance(row, dict) and all(
        isinstance(value, str) or not hasattr(value, "__len__") for value in row.values()
    )


def check_shape(detector: Any, X: Any, *, reset: bool) -> Any:  # noqa: N803
    """Let scikit-learn check rows without named columns; that sparse ones become dense is no news."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "pandas.DataFrame with sparse columns")
        return validate_data(
            detector, X, reset=reset, dtype=None, ensure_all_finite=False, ensure_min_samples=1
        )


def refuse_path(X: Any) -> None:  # noqa: N803
    """Raise an error if a table is given as the name of a file."""
    if isinstance(X, str | os.PathLike):
        raise TableError(
            f"X must be a table, not the name of a file, got {os.fspath(X)!r}.",
            "read it first, for example with pandas.read_csv or polars.read_parquet.",
        )


def followed(
    table: Table,
    reading: Reading | None,
    *,
    strict: bool = False,
    warned: set[tuple[str, ...]] | None = None,
) -> Table:
    """Return a table read as the one that was learned; warn about, or refuse, what is in doubt.

    Of parts of one table, `said` is what was warned about in earlier parts, which is not said again.
    """
    if reading is None:
        return table
    table, notices = conform_table(table, reading)
    if strict:
        refuse_doubts(notices)
    for notice in notices:
        about = (notice.code, *notice.columns)
        if notice.code == "column_converted" or (warned is not None and about in warned):
            continue
        if warned is not None:
            warned.add(about)
        warn_caller(str(notice))
    return table


def names_in(parameter: str, given: Any) -> tuple[str, ...]:
    """Return a parameter that lists columns."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ParameterError.of(parameter, "be a list of columns", given)
    return tuple(given)


def as_positions(rows: Any, n_rows: int) -> NDArray[np.int64]:
    """Return positions of rows as an array; refuse masks and rows that do not exist."""
    if isinstance(rows, int | np.integer):
        raise ParameterError.of(
            "rows", "be a list of positions", rows, f"write rows=[{int(rows)}]."
        )
    for row in rows:
        if isinstance(row, bool | np.bool_):
            raise ParameterError.of(
                "rows",
                "be positions",
                bool(row),
                "numpy.flatnonzero(mask) gives the positions where a mask is true.",
            )
        if not isinstance(row, int | np.integer) or not 0 <= row < n_rows:
            shown = row.item() if isinstance(row, np.generic) else row
            raise ParameterError.of(
                "rows",
                f"be positions from 0 to {n_rows - 1}",
                shown,
                "positions count the rows of the table, whatever its index says.",
            )
    return np.array(list(rows), np.int64)


def warn_caller(message: str) -> None:
    """Warn, and point at the line of the user's code that called truism."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and frame.f_globals["__name__"].split(".")[0] in _OUR_SIDE:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, stacklevel=level)


# --- whatever holds a model ---


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
    detector = InvariantRuleDetector(
        threshold=model.threshold if isinstance(model.limit.origin, ByHand) else None,
        delta=any(name in model.schema.names for name in model.derived),
        optional=() if model.reading is None else model.reading.optional,
    )
    for name in detector.get_params():
        if hasattr(model.settings, name):
            setattr(detector, name, getattr(model.settings, name))
    made_here = {delta_name(variable) for variable in model.derived}
    columns = model.provenance.columns or model.schema.names
    names = tuple(name for name in columns if name not in made_here)
    detector.remember(names, named=names != tuple(f"x{i}" for i in range(len(names))))
    return detector.adopt(model)


def model_of(name: str, given: Any) -> Model:
    """Return the model of a detector, with the threshold in force, of a file, or the model itself."""
    match given:
        case InvariantRuleDetector():
            return given._current().model
        case Model():
            return given
        case str() | os.PathLike():
            return load_model(given)
    constraint = "be a detector, a model or the name of a model file"
    raise ParameterError.of(name, constraint, type(given).__name__)


def compare(
    old: InvariantRuleDetector | Model | str | os.PathLike[str],
    new: InvariantRuleDetector | Model | str | os.PathLike[str],
    table: Any = None,
    label: str | None = None,
) -> Comparison:
    """Compare two models and, if there is a table, what they report in it.

    Parameters
    ----------
    old, new
        Fitted detectors, models, or names of model files.
    table
        Rows that both can check: any dataframe or dict of columns.
    label
        The column of `table` that marks true anomalies: 0 and false mean normal.

    Returns
    -------
    Comparison
        It prints; `rules`, `variables` and `facts` hold what differs between the models, `table` what
        differs between their reports.

    Examples
    --------
    >>> normal = {"pump": ["on", "off"] * 50, "flow": [2.5, 0.0] * 50}
    >>> detector = InvariantRuleDetector(min_support=0.1).fit(normal)
    >>> compare(detector, detector).same
    True

    """
    checkers = [_checker(name, given) for name, given in (("old", old), ("new", new))]
    if label is not None and table is None:
        raise ParameterError.of("label", "be None where there is no table", label)
    refuse_path(table)
    source = None
    if table is not None:
        rows = as_table(table)
        source = Source(rows.n_rows, lambda: [rows])
    return compare_checkers(checkers[0], checkers[1], source, label)


def _checker(name: str, given: Any) -> Checker:
    n_jobs = given.n_jobs if isinstance(given, InvariantRuleDetector) else None
    return Checker(model_of(name, given), count_threads(n_jobs))


def status(model: InvariantRuleDetector | Model | str | os.PathLike[str], table: Any) -> Status:
    """Find out whether a model still fits: fresh, drifting or stale.

    Parameters
    ----------
    model
        A fitted detector, a model, or the name of a model file.
    table
        Recent rows, a day or a week of them: any dataframe or dict of columns.

    Returns
    -------
    Status
        It prints; `signs` says why, as effect sizes, and `remedy` what to do.

    Examples
    --------
    >>> normal = {"pump": ["on", "off"] * 50, "flow": [2.5, 0.0] * 50}
    >>> detector = InvariantRuleDetector(min_support=0.1).fit(normal)
    >>> status(detector, normal).verdict
    'fresh'

    """
    refuse_path(table)
    learned = model_of("model", model)
    return find_status(Checker(learned), as_table(table, learned.reading))
