"""What a model file holds, as types; `truism.model.format` turns models into it and back.

A predicate is written once and rules refer to it by number. Parts that only some models have are
sections, which a file lists by name and version, so that a truism that does not know one can say so.
"""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from truism.model.acceptances import Acceptance
from truism.model.evidence import MAX_CONTEXTS, Context, Grave, Spacing, Usual
from truism.model.predicates import Interval, OneOf, Predicate
from truism.model.provenance import Disabled, Provenance, Threshold
from truism.model.schema import Categorical, Count, LeftOut, Numeric, Positive
from truism.model.series import Series
from truism.model.settings import Settings
from truism.model.wording import Legend
from truism.table.layouts import Reading

FORMAT_VERSION: Literal[3] = 3
SECTIONS = {
    "evidence": 1,
    "series": 1,
    "reading": 1,
    "twins": 1,
    "legend": 1,
    "accepted": 1,
}
"""Optional parts of a file, by name, and the version that this truism writes and reads."""


class FileRule(
    msgspec.Struct,
    frozen=True,
    rename={"antecedent": "if", "consequents": "then"},
    forbid_unknown_fields=True,
):
    """A rule that refers to predicates by their number in the file's list."""

    antecedent: tuple[Count, ...]
    consequents: Annotated[tuple[Count, ...], Meta(min_length=1)]
    count: Count


class FilePredicate(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A predicate with its training counts; univariate ones have none."""

    predicate: Predicate
    n_true: Count | None = None
    n_false: Count | None = None
    n_episodes: Count | msgspec.UnsetType = msgspec.UNSET


class FileEvidence(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The evidence beyond the rules; units are those of contradictions and of rarity."""

    units: tuple[float, float]
    usual: tuple[Usual, ...]
    spacings: tuple[Spacing, ...]
    splits: tuple[Interval | OneOf, ...]
    contexts: Annotated[tuple[Context, ...], Meta(max_length=MAX_CONTEXTS)]
    grave: Grave | None = None


class ModelFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a model file holds, in the order in which it is written.

    Parameters
    ----------
    format, format_version
        The name and version of the format.
    digest
        Digest of everything else in the file.
    sections
        The optional parts that the file has, and the version of each.
    provenance
        When, from what and by which version of truism the model was learned.
    settings
        How it was learned.
    threshold
        Rows that score above its value are anomalies; its origin says why.
    derived
        Columns whose change since the previous row is a variable; meters are not variables themselves.
    disabled
        Rules switched off, and why.
    variables, left_out, time
        The schema, with each variable's training statistics.
    n_rows
        Training rows.
    predicates
        Every predicate once.
    rules
        Every rule, in canonical order.
    evidence
        A section: what is usual beyond the rules, where the scoring asks for it.
    series
        A section: what is known about the order of rows, where they are in order.
    reading
        A section: how the training table was read, so that later ones are read alike.
    twins
        A section: pairs of numbers that move together.
    legend
        A section: units and titles of columns, where the user gave any.
    accepted
        A section: what the user accepted as normal.

    """

    format: Literal["truism-model"]
    format_version: Literal[3]
    digest: str
    sections: dict[str, int]
    provenance: Provenance
    settings: Settings
    threshold: Threshold
    derived: tuple[str, ...]
    disabled: tuple[Disabled, ...]
    variables: Annotated[tuple[Numeric | Categorical, ...], Meta(min_length=1)]
    left_out: tuple[LeftOut, ...]
    time: str | None
    n_rows: Positive
    predicates: tuple[FilePredicate, ...]
    rules: tuple[FileRule, ...]
    evidence: FileEvidence | None = None
    series: Series | None = None
    reading: Reading | None = None
    twins: tuple[tuple[str, str], ...] | None = None
    legend: Legend | None = None
    accepted: tuple[Acceptance, ...] | None = None
