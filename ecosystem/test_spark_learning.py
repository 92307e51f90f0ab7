"""Spark learns and scores with the same passes: models equal to those of one process, byte for byte."""

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import truism
import truism.dask
import truism.spark
from truism.errors import ParameterError, TableError
from truism.estimator import batches as clusters
from truism.learn.batches import Batches
from truism.learn.learn import learn as train
from truism.model.files import encode_model
from truism.model.settings import Settings
from truism.plant import simulate
from truism.table.files import open_files, read_first
from truism.table.frames import as_table

N_ROWS, N_SAMPLED = 3000, 1000
TAGS = ("time", "FIT101", "LIT101", "MV101", "P101", "FIT201", "LIT301")


@pytest.fixture(scope="module")
def plant():
    columns = simulate(N_ROWS, seed=1).columns
    return pa.table({name: columns[name] for name in TAGS if name in columns})


@pytest.fixture(autouse=True)
def small_sample(monkeypatch):
    monkeypatch.setitem(train.__kwdefaults__, "n_sampled", N_SAMPLED)
    monkeypatch.setattr(clusters, "BATCH_ROWS", 700)


@pytest.fixture
def files(plant, tmp_path):
    for k, (start, end) in enumerate([(0, 1100), (1100, N_ROWS)]):
        part = plant.slice(start, end - start)
        pq.write_table(part, tmp_path / f"{k}.parquet", row_group_size=500)
    return str(tmp_path)


def undated(model):
    made = msgspec.structs.replace(model.provenance, created=None)
    return encode_model(msgspec.structs.replace(model, provenance=made))


def in_one_process(files):
    opened = open_files([files])
    reading = read_first(opened, 0).reading
    parts = Batches.of_files(opened, reading)
    return train(parts, Settings(), reading=reading, n_sampled=N_SAMPLED)


def test_all_drivers_give_the_same_model(spark, files, plant):
    found = truism.spark.learn(files, session=spark)
    in_memory = train(as_table(plant), Settings(), reading=found.reading, n_sampled=N_SAMPLED)
    drivers = {"in memory": in_memory, "files": in_one_process(files)}
    distributed = pytest.importorskip("distributed", reason="dask is not installed")
    with distributed.Client(processes=False, n_workers=2, dashboard_address=None) as client:
        drivers["Dask"] = truism.dask.learn(files, client=client)
    for driver, model in drivers.items():
        assert undated(model) == undated(found), driver
    print(
        f"Spark {spark.version}: {N_ROWS:,} rows of files, {len(found.rules):,} rules, "
        f"equal bytes with {', '.join(drivers)}"
    )


def test_a_frame_in_the_order_of_a_column_gives_the_model_of_the_table(spark, plant):
    frame = spark.createDataFrame(plant.to_pandas()).repartition(3)
    found = truism.spark.learn(frame, session=spark, order_by="time", delta=True)
    wanted = train(
        as_table(plant), Settings(), delta=True, reading=found.reading, n_sampled=N_SAMPLED
    )
    assert undated(found) == undated(wanted)
    print(f"Spark {spark.version}: a DataFrame ordered by a column, equal bytes")


def test_a_frame_without_order_is_learned_as_exchangeable_rows(spark, plant):
    frame = spark.createDataFrame(plant.to_pandas()).repartition(2)
    with pytest.warns(UserWarning, match="learned as exchangeable rows"):
        model = truism.spark.learn(frame, session=spark)
    assert model.series is None
    with pytest.raises(ParameterError, match="order_by"):
        truism.spark.learn(frame, session=spark, delta=True)


@pytest.mark.parametrize("delta", [False, True])
def test_scores_are_lazy_and_the_same(spark, plant, delta):
    detector = truism.InvariantRuleDetector(delta=delta, lookback="auto" if delta else 0).fit(plant)
    rows = simulate(500, seed=2).columns
    rows = pa.table({name: rows[name] for name in plant.column_names})
    frame = spark.createDataFrame(rows.to_pandas()).repartition(2)
    lazy = truism.spark.score(
        frame, detector, order_by="time" if delta else None, blames=1, keep=["time"]
    )
    found = lazy.toPandas().sort_values("time")
    assert found["score"].to_numpy().tobytes() == detector.anomaly_score(rows).tobytes()
    if delta:
        with pytest.raises(ParameterError, match="order_by must name the column"):
            truism.spark.score(frame, detector)


def test_partitions_are_scored_with_one_line(spark, plant):
    detector = truism.InvariantRuleDetector(lookback=0).fit(plant)
    scorer = truism.arrow_scorer(detector, keep=["LIT101"], n_jobs=1)
    frame = spark.createDataFrame(plant.slice(0, 500).to_pandas()).coalesce(1)
    found = frame.mapInArrow(scorer, "LIT101 double, score double, anomaly boolean").toPandas()
    expected = detector.anomaly_score(plant.slice(0, 500))
    assert found["score"].to_numpy().tobytes() == expected.tobytes()


def test_problems_of_executors_are_told(spark, tmp_path, monkeypatch):
    texts = [f"{i / 7:.3f} m" for i in range(1000)] + [f"word {i}" for i in range(1000)]
    pq.write_table(pa.table({"a": texts, "b": range(2000)}), tmp_path / "a.parquet")
    monkeypatch.setattr("truism.table.files.OPENING", 800)
    with pytest.raises(TableError, match="column 'a' must hold a number"):
        truism.spark.learn(str(tmp_path), session=spark)
