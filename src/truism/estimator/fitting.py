"""Learning as the parameters of a detector ask for it: a table goes in, a model comes out."""

from typing import Any

import msgspec

from truism.errors import ParameterError
from truism.estimator.inputs import names_in, settings_of
from truism.learn.learn import learn
from truism.model.model import Model
from truism.model.provenance import now
from truism.model.settings import check_threshold
from truism.model.wording import legend_of
from truism.review.suspects import Suspects, find_suspects
from truism.table.columns import Table, reading_of
from truism.work import Progress, count_threads

NOT_ASKED = "suspects_ is only there after fitting with suspects='find' or suspects='exclude'."


class Fitted(msgspec.Struct, frozen=True, eq=False):
    """What was learned, and the suspects if they were asked for."""

    model: Model
    suspects: Suspects | None


def fit_table(detector: Any, table: Table, progress: Progress) -> Fitted:
    """Learn a model from a table.

    Parameters
    ----------
    detector
        What has the parameters.
    table
        Normal rows.
    progress
        Called with the stage, the amount done, and the total amount.

    """
    if detector.threshold is not None:
        check_threshold(detector.threshold)
    if detector.suspects not in (None, "find", "exclude"):
        raise ParameterError.of("suspects", "be None, 'find' or 'exclude'", detector.suspects)
    legend = legend_of(detector.units, detector.titles, table.names)
    reading = reading_of(table).with_optional(names_in("optional", detector.optional))
    settings, delta = settings_of(detector), bool(detector.delta)
    n_jobs = count_threads(detector.n_jobs)
    suspects = None
    if detector.suspects is not None:
        suspects = find_suspects(table, settings, delta=delta, n_jobs=n_jobs, progress=progress)
    # The model keeps its own threshold, for when the parameter is None again.
    model = learn(
        table,
        settings,
        delta=delta,
        created=now(),
        reading=reading,
        n_jobs=n_jobs,
        progress=progress,
        excluded=suspects.hidden
        if suspects is not None and detector.suspects == "exclude"
        else None,
    )
    return Fitted(msgspec.structs.replace(model, legend=legend), suspects)
