"""Scores alone are those of all the evidence, to the bit, whatever is left in memory."""

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from strategies import learned
from truism.model.evidence import Grave
from truism.scoring import weigher
from truism.scoring.alignment import align
from truism.scoring.scorer import Scorer
from truism.scoring.scratch import Scratch
from truism.scoring.sums import sum_of_rows
from truism.scoring.worth import add_parts
from truism.table.frames import as_table

models = learned(scoring="evidence", min_rows=12, max_rows=60, min_columns=2)


def mixed(table, share, seed):
    """Return a table in which some rows have every other value from another row."""
    random, rows = np.random.default_rng(seed), np.arange(table.n_rows)
    others = np.where(random.random(len(rows)) < share, random.permutation(rows), rows)
    columns = [
        column.take(others) if place % 2 else column for place, column in enumerate(table.columns)
    ]
    return type(table)(tuple(columns), table.n_rows)


@examples(max_examples=40)
@given(models, st.sampled_from([0.0, 0.1, 1.0]), st.integers(0, 99), st.booleans(), st.booleans())
def test_scores_alone_are_the_sums_of_all_evidence(drawn, share, seed, grave, muted):
    _, model, data = drawn
    if grave:
        evidence = msgspec.structs.replace(model.evidence, grave=Grave(0.01, 5.0))
        model = msgspec.structs.replace(model, evidence=evidence)
    weighs = Scorer(model, model.schema.names[:1] if muted else ())._weigher
    columns, _ = align(model.schema, mixed(as_table(data), share, seed))
    memory = Scratch()
    for many in (0.0, 0.25, 1.0):
        for rows in (slice(None), slice(3, 9), slice(0, 1), slice(2, None)):
            some = [each.take(rows) for each in columns]
            pieces, silenced = weighs.weigh(some, compiled=False)
            wanted = sum_of_rows(add_parts(pieces.contradictions, pieces.rarities, compiled=False))
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(weigher, "_MANY", many)
                assert weighs.score(some, memory).tobytes() == wanted.tobytes()
            assert silenced is None
