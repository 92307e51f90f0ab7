"""Variables then and now: the schema's training statistics beside the columns of a table."""

import itertools

import numpy as np
from numpy.typing import NDArray

from truism.learn.kinds import MAX_HISTOGRAM_BINS
from truism.model.predicates import format_value
from truism.model.schema import Categorical, Numeric, Variable
from truism.score.alignment import MISSING, UNSEEN, codes
from truism.show.contents import Histogram
from truism.table.columns import Column, numbers

N_BINS = 24
MAX_STATES = 12
_REACH = 0.25  # values beyond the training range by more than this share of it go to the outer bin


def histogram(variable: Variable, column: Column) -> Histogram:
    """Return how values are spread in training and here."""
    if isinstance(variable, Categorical):
        return _of_states(variable, codes(variable, column))
    values = numbers(column)
    return _of_numbers(variable, values[np.isfinite(values)])


def extent(variable: Variable, column: Column) -> tuple[str, str]:
    """Say what values were seen in training, and here."""
    if isinstance(variable, Categorical):
        encoded = codes(variable, column)
        present = np.unique(encoded[encoded >= 0]).tolist()
        here = [format_value(variable.values[i]) for i in present]
        n_unseen = int((encoded == UNSEEN).sum())
        if n_unseen:
            here.append(f"unseen in training: {n_unseen:,}")
        return _some([format_value(value) for value in variable.values]), _some(here)
    values = numbers(column)
    known = values[~np.isnan(values)]
    now = f"{short(known.min())} to {short(known.max())}" if len(known) else "nothing"
    return f"{short(variable.low)} to {short(variable.high)}", now


def short(value: float) -> str:
    """Print a number with at most five digits, for people.

    >>> short(0.123456789), short(12345678.0), short(800.0)
    ('0.12346', '12,345,678', '800')
    """
    if np.isfinite(value) and abs(value) >= 1e4 and abs(value) < 1e9:
        return f"{value:,.0f}"
    return f"{value:.5g}".replace("-", "−")


def _some(texts: list[str]) -> str:
    more = [f"… {len(texts) - MAX_STATES:,} more"] if len(texts) > MAX_STATES else []
    return ", ".join([*texts[:MAX_STATES], *more])


def _of_states(variable: Categorical, encoded: NDArray[np.int32]) -> Histogram:
    here = [int((encoded == code).sum()) for code in range(len(variable.values))]
    often = np.argsort(-np.array(variable.counts), kind="stable")[:MAX_STATES].tolist()
    shown = sorted(often)
    labels = [format_value(variable.values[i]) for i in shown]
    then, now = [variable.counts[i] for i in shown], [here[i] for i in shown]
    others = int((encoded != MISSING).sum()) - sum(now)
    rest = sum(variable.counts) - sum(then)
    if others or rest:
        labels, then, now = [*labels, "other"], [*then, rest], [*now, others]
    return Histogram(tuple(labels), _parts(then), _parts(now))


def _of_numbers(variable: Numeric, values: NDArray[np.float64]) -> Histogram:
    low, high = variable.low, variable.high
    reach = (high - low) * _REACH or max(abs(low) * _REACH, 1.0)
    if len(values):
        low, high = (
            max(min(low, values.min()), low - reach),
            min(max(high, values.max()), high + reach),
        )
    if low == high:
        low, high = low - reach, high + reach
    edges = np.linspace(low, high, N_BINS + 1)
    here = np.histogram(np.clip(values, low, high), edges)[0]
    labels = [f"{short(a)} to {short(b)}" for a, b in itertools.pairwise(edges.tolist())]
    return Histogram(tuple(labels), _parts(_rebinned(variable, edges)), _parts(here))


def _rebinned(variable: Numeric, edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """Spread the training bins over other bins; a bin that holds one value stays a point."""
    starts, counts = np.array(variable.edges), np.array(variable.counts, np.float64)
    if len(starts) < MAX_HISTOGRAM_BINS // 2:
        return np.histogram(starts, edges, weights=counts)[0]
    ends = np.append(starts[1:], variable.high)
    known = np.append(0.0, np.cumsum(counts))
    return np.diff(np.interp(edges, np.append(starts, ends[-1]), known))


def _parts(counts: object) -> tuple[float, ...]:
    amounts = np.asarray(counts, np.float64)
    total = amounts.sum()
    return tuple(float(f"{part:.4g}") for part in (amounts / total if total else amounts).tolist())
