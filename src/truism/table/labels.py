"""Columns that say which rows are anomalous: no variables, but what findings are compared with.

Learned as a variable, a label makes every anomaly look found: "ATT_FLAG was 1, which no training row
had". 0, false and words such as "normal" mean normal; what is missing or a number of nines, such as -999,
is unknown, and everything else is anomalous.
"""

import re
from collections.abc import Collection, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.arrays import Mask
from truism.errors import ParameterError, did_you_mean
from truism.table.columns import Column, Table
from truism.table.notices import Notice, count

NORMAL = {"", "0", "no", "n", "none", "false", "normal", "ok", "good", "benign", "healthy"}
MAX_VALUES = 5  # that a column may have which looks like a label
_NINES = re.compile(r"-9{2,}")
_HUMP = re.compile(r"([a-z])([A-Z])")  # where one word of isAttack ends and the next begins
_WORD = re.compile(r"[a-z]+")
_LABELS = {
    *("anomaly", "anomalies", "anomalous", "outlier", "outliers", "label", "labels", "changepoint"),
    *("attack", "attacks", "att", "intrusion", "malicious", "fraud", "fraudulent"),
}
_WHOLE_NAMES = {"class", "target", "fault", "faulty", "is_fault", "is_faulty", "ground_truth"}


class Labels(msgspec.Struct, frozen=True, eq=False):
    """What a column says of each row: that it is anomalous, or that nobody knows."""

    name: str
    anomalous: Mask
    unknown: Mask

    @property
    def tell_apart(self) -> bool:
        """Whether some rows are anomalous, and some are normal."""
        return bool(self.anomalous.any() and not (self.anomalous | self.unknown).all())


def read_labels(table: Table, label: str) -> Labels:
    """Read a column of labels."""
    column = table.column_of().get(label)
    if column is None:
        hint = did_you_mean(label, table.names)
        raise ParameterError.of("label", "name a column of the table", label, hint)
    if column.kind not in ("number", "boolean", "text"):
        raise ParameterError.of("label", "name a column of numbers, booleans or texts", label)
    if column.kind == "number" and (parts := column.present[column.present % 1 != 0]).size:
        constraint = "name a column of whole numbers, booleans or texts"
        hint = f"it holds {parts[0]:g}; 0 means normal, other numbers anomalous."
        raise ParameterError.of("label", constraint, label, hint)
    anomalous, unknown = np.zeros((2, table.n_rows), np.bool_)
    unknown[:] = True
    anomalous[column.rows], unknown[column.rows] = _judged(column)
    return Labels(label, anomalous, unknown)


def _judged(column: Column) -> tuple[Mask, Mask]:
    """Return for each value that is present whether it means anomalous, or unknown."""
    if column.kind == "boolean":
        return column.present.astype(np.bool_), np.zeros(len(column.present), np.bool_)
    if column.kind == "text":
        texts = [text.strip().casefold().rstrip(".") for text in column.categories]
        wrong = np.array([text not in NORMAL for text in texts], np.bool_)
        return wrong[column.present], np.zeros(len(column.present), np.bool_)
    nines = np.array(
        [bool(_NINES.fullmatch(f"{value:.0f}")) for value in np.unique(column.present)]
    )
    unknown = np.isin(column.present, np.unique(column.present)[nines])
    return (column.present != 0) & ~unknown, unknown


def both_kinds(labels: Labels) -> Mask:
    """Return which rows are anomalous, where some are and some are not."""
    if not labels.tell_apart:
        lacking = "known to be normal" if labels.anomalous.any() else "anomalous"
        hint = f"none of its rows is {lacking}."
        raise ParameterError.of("label", "mark some rows and not all", labels.name, hint)
    return labels.anomalous


def label_notices(table: Table, named: Collection[str | None]) -> tuple[Notice, ...]:
    """Warn of columns that look like labels, by their names and values, and were not named."""
    return tuple(
        Notice(
            "label_like",
            f"Column {column.name!r} looks like a label, not like a variable: learned, it would make "
            "anomalies look found. Name it as the label, or as a variable",
            (column.name,),
            doubtful=True,
            see=("label", "categorical"),
        )
        for column in table.columns
        if column.name not in named and _looks_like_label(column)
    )


def _looks_like_label(column: Column) -> bool:
    """Return whether a column has the name of a label, and what it marks is absent or rare.

    >>> from truism.table.frames import as_table
    >>> table = as_table({"ATT_FLAG": [0, 0, 0], "isAttack": [0, 1, 0], "attenuation": [0, 1, 0]})
    >>> [_looks_like_label(column) for column in table.columns]
    [True, True, False]
    """
    words = {*_WORD.findall(_HUMP.sub(r"\1 \2", column.name).casefold())}
    if not words & _LABELS and column.name.casefold() not in _WHOLE_NAMES:
        return False
    if column.kind not in ("number", "boolean", "text") or not len(column.present):
        return False
    values = np.unique(column.present)
    if len(values) > MAX_VALUES or (column.kind == "number" and (values % 1 != 0).any()):
        return False
    return bool(2 * _judged(column)[0].sum() < len(column.present))


def compare(labels: Labels, starts: Sequence[int], *, gap: int | None) -> str:
    """Say how many labelled segments events find, how many they miss, and how many events are false.

    A segment is found if an event begins in it, or up to `gap` rows before. Without a gap, each row
    stands for itself. Where labels are unknown, nothing is false.
    """
    begun: NDArray[np.int64] = np.asarray(starts, np.int64)
    edges = np.diff(np.concatenate([[False], labels.anomalous, [False]]).astype(np.int8))
    first, last = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1) - 1
    if gap is None:
        first = last = np.flatnonzero(labels.anomalous)
    segment = np.searchsorted(last, begun)
    inside = segment < len(first)
    inside[inside] = begun[inside] >= first[segment[inside]] - (gap or 0)
    n_found, noun = len(np.unique(segment[inside])), "row" if gap is None else "segment"
    text = (
        f"{n_found:,} of {count(len(first), f'labelled {noun}')} found, "
        f"{len(first) - n_found:,} missed"
    )
    n_normal = int((~labels.anomalous & ~labels.unknown).sum())
    if n_normal:
        n_false = int((~inside & ~labels.unknown[begun]).sum())
        text += f"; {n_false:,} false in {count(n_normal, 'normal row')}"
    if labels.unknown.any():
        text += f"; {count(int(labels.unknown.sum()), 'row')} without a label"
    return f"{labels.name}: {text}."
