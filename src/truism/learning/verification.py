"""Candidate rules checked against all rows: parts of a table go in, counts and exceptions come out."""

from collections.abc import Sequence

import msgspec
import numpy as np

from truism.arrays import Counts
from truism.learning.mining import UnitRule
from truism.scoring.bits import Words
from truism.table.columns import Table, join_tables

N_EXCEPTIONS = 16  # rows kept of those that break a rule
MAX_LOOSE = 1 << 18  # rows that are kept before those that are not needed any more are let go

_NONE = np.iinfo(np.int64).max  # no further exception


class Claims(msgspec.Struct, frozen=True, eq=False):
    """Candidate rules as whole numbers: positions of predicates, antecedents padded with -1."""

    antecedents: Counts
    consequents: Counts

    @classmethod
    def of(cls, rules: Sequence[UnitRule]) -> "Claims":
        """Take candidates as they come from mining; sorted, those with one antecedent are adjacent."""
        longest = max((len(rule.antecedent) for rule in rules), default=1)
        antecedents = np.full((len(rules), longest), -1)
        for k, rule in enumerate(rules):
            antecedents[k, : len(rule.antecedent)] = rule.antecedent
        return cls(antecedents, np.array([rule.consequent for rule in rules], np.int64))


class Verdicts(msgspec.Struct, frozen=True, eq=False):
    """What all rows say about candidate rules.

    Parameters
    ----------
    counts, broken
        Rows that support each rule, and rows that break it.
    exceptions
        The numbers of the first rows that break it, ascending: rules × `N_EXCEPTIONS`.
    tables, numbers
        These rows, in parts, and the numbers of the rows of each part.

    """

    counts: Counts
    broken: Counts
    exceptions: Counts
    tables: tuple[Table, ...]
    numbers: tuple[Counts, ...]

    def __add__(self, other: "Verdicts") -> "Verdicts":
        """Return what these rows followed by others say."""
        both = np.concatenate([self.exceptions, other.exceptions], axis=1)
        merged = Verdicts(
            self.counts + other.counts,
            self.broken + other.broken,
            np.sort(both, axis=1)[:, :N_EXCEPTIONS],
            self.tables + other.tables,
            self.numbers + other.numbers,
        )
        return merged if sum(map(len, merged.numbers)) <= MAX_LOOSE else merged.tidy()

    def tidy(self) -> "Verdicts":
        """Let go of rows that are not among the first exceptions of any rule."""
        table, numbers = join_tables(self.tables), np.concatenate(self.numbers)
        needed = np.flatnonzero(np.isin(numbers, self.exceptions))
        return msgspec.structs.replace(
            self, tables=(table.take(needed),), numbers=(numbers[needed],)
        )


def verify(claims: Claims, table: Table, true: Words, false: Words, first: int) -> Verdicts:
    """Check candidate rules against a part of a table.

    Parameters
    ----------
    claims
        The rules.
    table
        The rows.
    true, false
        In which of them each predicate holds and fails, packed.
    first
        The number of the first row in the whole table.

    """
    from truism.learning.kernels import mining as kernels  # only learning loads compiled code

    n_rules = len(claims.consequents)
    counts, broken = np.zeros((2, n_rules), np.int64)
    exceptions = np.full((n_rules, N_EXCEPTIONS), _NONE)
    if n_rules:
        kernels.verify(
            true, false, claims.antecedents, claims.consequents, first, counts, broken, exceptions
        )
    rows = np.unique(exceptions[exceptions < _NONE])
    return Verdicts(counts, broken, exceptions, (table.take(rows - first),), (rows,))
