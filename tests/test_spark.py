"""Spark's crew with a stand-in for Spark; ``make test-ecosystem`` does the same with the real one."""

import pickle
import sys
import types

import msgspec
import pyarrow as pa
import pyarrow.feather
import pytest

import truism
import truism.spark
from test_passes import plant_of
from truism.errors import ParameterError, TableError
from truism.estimator import batches as clusters
from truism.learn.batches import Batches
from truism.learn.learn import learn as train
from truism.model.files import encode_model
from truism.model.settings import Settings
from truism.spark import run_on
from truism.table.frames import as_table

N_ROWS, N_SAMPLED = 400, 150


class Frame:
    """Partitions of Arrow batches, with the methods of a Spark DataFrame that are used."""

    def __init__(self, parts, context):
        self.parts, self.context = parts, context

    def mapInArrow(self, work, schema):  # noqa: N802, Spark's own name
        def run():
            for place, part in enumerate(self.parts):
                self.context.place = place
                yield list(work(iter(part)))

        self.context.schema = schema
        return Frame(list(run()), self.context)

    def collect(self):
        return [row for part in self.parts for batch in part for row in batch.to_pylist()]

    def toArrow(self):  # noqa: N802
        return pa.Table.from_batches([batch for part in self.parts for batch in part])

    def orderBy(self, name):  # noqa: N802
        whole = self.toArrow().sort_by(name)
        cut = [whole.slice(0, 130), whole.slice(130, 0), whole.slice(130)]
        return Frame([each.to_batches(max_chunksize=60) for each in cut], self.context)

    def repartition(self, _):
        return self

    def sortWithinPartitions(self, name):  # noqa: N802
        return Frame([self.toArrow().sort_by(name).to_batches()], self.context)

    def persist(self):
        return self

    def unpersist(self):
        return self

    def limit(self, _):
        return self

    @property
    def schema(self):
        return {name: (name, "own") for name in self.columns}

    @property
    def columns(self):
        return self.toArrow().column_names


class Shared:
    def __init__(self, value):
        self._content = pickle.dumps(value)

    @property
    def value(self):
        return pickle.loads(self._content)

    def destroy(self):
        self._content = b""


class Session:
    def __init__(self, context):
        self.context = context
        self.sparkContext = types.SimpleNamespace(broadcast=Shared)

    def range(self, start, end, step, n_parts):
        assert (start, step, n_parts) == (0, 1, end)
        return Frame([[pa.record_batch({"id": [i]})] for i in range(end)], self.context)


@pytest.fixture
def spark(monkeypatch):
    context = types.SimpleNamespace(place=0, schema=None)
    session = Session(context)
    builder = types.SimpleNamespace(getOrCreate=lambda: session)
    task = types.SimpleNamespace(
        get=lambda: types.SimpleNamespace(partitionId=lambda: context.place)
    )
    packing = types.SimpleNamespace(dumps=pickle.dumps, loads=pickle.loads)
    for name, content in {
        "pyspark": {"TaskContext": task},
        "pyspark.serializers": {"CPickleSerializer": lambda: packing},
        "pyspark.sql": {
            "SparkSession": types.SimpleNamespace(builder=builder),
            "DataFrame": Frame,
        },
        "pyspark.sql.types": {
            **{f"{name}Type": lambda name=name: name for name in ("Boolean", "Double", "String")},
            "StructField": lambda name, kind: (name, kind),
            "StructType": lambda fields: fields,
        },
    }.items():
        module = types.ModuleType(name)
        module.__dict__.update(content)
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setitem(train.__kwdefaults__, "n_sampled", N_SAMPLED)
    monkeypatch.setattr(clusters, "BATCH_ROWS", 90)
    return session


def table_of() -> pa.Table:
    return pa.table({"at": list(range(N_ROWS)), **plant_of(N_ROWS)})


def undated(model) -> bytes:
    made = msgspec.structs.replace(model.provenance, created=None)
    return encode_model(msgspec.structs.replace(model, provenance=made))


def test_a_frame_in_the_order_of_a_column_gives_the_model_of_the_table(spark):
    table = table_of()
    frame = Frame([table.slice(200).to_batches(), table.slice(0, 200).to_batches()], spark.context)
    found = truism.spark.learn(frame, order_by="at", delta=True)
    wanted = train(
        as_table(table), Settings(), delta=True, reading=found.reading, n_sampled=N_SAMPLED
    )
    assert undated(found) == undated(wanted)
    with pytest.warns(UserWarning, match="learned as exchangeable rows"):
        assert truism.spark.learn(frame, session=spark).series is None


def test_files_give_the_model_of_the_table(spark, tmp_path):
    pa.feather.write_feather(table_of(), tmp_path / "a.feather", chunksize=50, compression="lz4")
    found = truism.spark.learn(str(tmp_path), session=spark)
    wanted = train(as_table(table_of()), Settings(), reading=found.reading, n_sampled=N_SAMPLED)
    assert undated(found) == undated(wanted)
    with pytest.raises(ParameterError, match="order_by must be absent for files"):
        truism.spark.learn(str(tmp_path), session=spark, order_by="at")


class Gone:
    """A piece whose rows are gone."""

    def __call__(self, _):
        raise TableError("The rows are gone.")


def test_problems_of_executors_are_told(spark):
    jobs = Batches.of([(Gone(), 5), (Gone(), 3)]).jobs
    with pytest.raises(TableError, match="The rows are gone"):
        list(run_on(spark)(jobs, len, 1))


@pytest.mark.parametrize("delta", [False, True])
def test_scores_are_the_same(spark, delta):
    detector = truism.InvariantRuleDetector(delta=delta).fit(plant_of(500))
    table = pa.table({"at": list(range(N_ROWS)), **plant_of(N_ROWS, seed=4)})
    frame = Frame([table.slice(0, 150).to_batches(), table.slice(150).to_batches()], spark.context)
    scored = truism.spark.score(frame, detector, order_by="at" if delta else None, keep=["at"])
    found = scored.toArrow()["score"].to_numpy()
    assert found.tobytes() == detector.anomaly_score(table.drop_columns(["at"])).tobytes()
    excess = [("excess", "Double")] if delta else []
    expected = [("at", "own"), ("score", "Double"), *excess, ("anomaly", "Boolean")]
    assert spark.context.schema == expected
    with pytest.raises(TableError, match="Columns to keep must be in every batch"):
        truism.spark.score(frame, detector, order_by="at", keep=["nothing"])
    if delta:
        with pytest.raises(ParameterError, match="order_by must name the column"):
            truism.spark.score(frame, detector)
