"""Ray scores batches with a few lines, as docs/scale.md shows them."""

import pyarrow as pa
import pytest
from rows import BROKEN, MODEL, NORMAL

import truism
from truism.score.scorer import Scorer
from truism.table.frames import as_table

ray = pytest.importorskip("ray", reason="ray is not installed")
pytest.importorskip("ray.data", reason="ray.data is not installed")


@pytest.fixture(scope="module", autouse=True)
def local_ray():
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


def test_batches_are_scored_the_same():
    rows = {name: [*NORMAL[name], *BROKEN[name]] for name in NORMAL}
    rows["i"] = list(range(len(rows["pump"])))
    scorer = truism.arrow_scorer(MODEL, keep=["i"], n_jobs=1)

    def score(table: pa.Table) -> pa.Table:
        return pa.Table.from_batches(scorer(table.to_batches()), scorer.schema(table.schema))

    dataset = ray.data.from_arrow(pa.table(rows)).repartition(3)
    scored = dataset.map_batches(score, batch_format="pyarrow", batch_size=40)
    found = {row["i"]: row["score"] for row in scored.take_all()}
    expected = Scorer(MODEL).score(as_table({name: rows[name] for name in NORMAL}))
    assert [found[i] for i in rows["i"]] == expected.tolist()
    print(f"Ray {ray.__version__}: {len(found)} rows, equal bits")
