"""A real Dask cluster of two processes: the same model, byte for byte, even if a worker dies."""

import os
import pathlib
import signal
import threading

import msgspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import truism
from test_passes import plant_of
from truism.cli import app
from truism.errors import ParameterError, TableError, TruismError
from truism.estimator import batches as clusters
from truism.learn.batches import Batches, Job
from truism.learn.learn import learn as train
from truism.model.files import encode_model
from truism.model.settings import Settings
from truism.table.files import open_files, read_first
from truism.table.frames import as_table

distributed = pytest.importorskip("distributed", reason="dask is not installed")
dd = pytest.importorskip("dask.dataframe", reason="dask is not installed")
import truism.dask  # noqa: E402
from truism.dask import connect, run_on  # noqa: E402

N_ROWS, N_SAMPLED = 600, 200

# Dask and what it stands on warn about themselves.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, memory_limit=0
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as found,
    ):
        yield found


@pytest.fixture
def small_sample(monkeypatch):
    monkeypatch.setitem(train.__kwdefaults__, "n_sampled", N_SAMPLED)
    monkeypatch.setattr(clusters, "BATCH_ROWS", 100)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    table = pa.table({"at": np.arange(N_ROWS), **plant_of(N_ROWS)})
    for k, (start, end) in enumerate([(0, 250), (250, N_ROWS)]):
        pq.write_table(table.slice(start, end - start), folder / f"{k}.parquet", row_group_size=50)
    return str(folder)


def undated(model) -> bytes:
    made = msgspec.structs.replace(model.provenance, created=None)
    return encode_model(msgspec.structs.replace(model, provenance=made))


def in_one_process(files, **options):
    """Learn from the same files with threads."""
    opened = open_files([files])
    reading = read_first(opened, 0).reading
    parts = Batches.of_files(opened, reading)
    return train(parts, Settings(**options), reading=reading, n_sampled=N_SAMPLED)


def test_files_give_the_same_model_even_if_a_worker_dies(client, files, small_sample):
    wanted = undated(in_one_process(files))
    assert undated(truism.dask.learn(files, client=client)) == wanted
    victim = min(client.run(os.getpid).values())
    killed = []

    def watch(stage, done, _):
        if stage == "verifying pass" and not killed:
            killed.append(victim)
            threading.Timer(0.01 * (done > 0), os.kill, (victim, signal.SIGKILL)).start()

    found = truism.dask.learn(files, client=client, progress=watch)
    assert killed
    assert undated(found) == wanted
    client.wait_for_workers(2)
    assert victim not in client.run(os.getpid).values()


def test_a_frame_in_the_order_of_a_column_gives_the_model_of_the_table(client, small_sample):
    data = {"at": np.arange(N_ROWS).tolist(), **plant_of(N_ROWS)}
    shuffled = pd.DataFrame(data).sample(frac=1, random_state=3)
    frame = dd.from_pandas(shuffled, npartitions=3, sort=False)
    found = truism.dask.learn(frame, order_by="at", client=client, delta=True)
    wanted = train(
        as_table(pd.DataFrame(data)),
        Settings(),
        delta=True,
        reading=found.reading,
        n_sampled=N_SAMPLED,
    )
    assert undated(found) == undated(wanted)


def test_a_frame_without_order_is_learned_as_exchangeable_rows(client, small_sample):
    frame = dd.from_pandas(pd.DataFrame(plant_of(N_ROWS)), npartitions=3)
    with pytest.warns(UserWarning, match="have no order: they are learned as exchangeable rows"):
        model = truism.dask.learn(frame, client=client)
    assert model.series is None
    with pytest.raises(ParameterError, match="order_by"):
        truism.dask.learn(frame, client=client, delta=True)
    with pytest.raises(ParameterError, match="order_by must be absent for files"):
        truism.dask.learn("a.parquet", client=client, order_by="at")


@pytest.mark.parametrize("delta", [False, True])
def test_scores_are_lazy_and_the_same(client, delta):
    detector = truism.InvariantRuleDetector(delta=delta).fit(plant_of(500))
    rows = pd.DataFrame(plant_of(300, seed=5))
    rows.loc[[20, 150], "flow"] = 9.0
    lazy = truism.dask.score(dd.from_pandas(rows, npartitions=4), detector, blames=1, keep=["pump"])
    excess = ["excess"] if delta else []
    assert list(lazy.columns[: 3 + delta]) == ["pump", "score", *excess, "anomaly"]
    found = lazy.compute(scheduler=client)
    assert found["score"].to_numpy().tobytes() == detector.anomaly_score(rows).tobytes()
    assert found.index.tolist() == rows.index.tolist()


def test_partitions_are_scored_with_a_few_lines(client):
    detector = truism.InvariantRuleDetector().fit(plant_of(500))
    scorer = truism.arrow_scorer(detector, n_jobs=1)

    def score(table: pa.Table) -> pa.Table:
        return pa.Table.from_batches(scorer(table.to_batches()), scorer.schema(table.schema))

    rows = pd.DataFrame(plant_of(300, seed=5))
    scored = dd.from_pandas(rows, npartitions=3).map_partitions(
        lambda part: score(pa.Table.from_pandas(part)).to_pandas(),
        meta={"score": float, "anomaly": bool},
    )
    found = scored.compute(scheduler=client)
    assert found["score"].to_numpy().tobytes() == detector.anomaly_score(rows).tobytes()


def test_problems_of_workers_are_told(client, tmp_path, small_sample):
    texts = [f"{i / 7:.3f} m" for i in range(400)] + [f"word {i}" for i in range(400)]
    pq.write_table(pa.table({"a": texts, "b": range(800)}), tmp_path / "a.parquet")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("truism.table.files.OPENING", 300)
        with pytest.raises(TableError, match="column 'a' must hold a number"):
            truism.dask.learn(str(tmp_path), client=client)


def test_workers_may_work_in_another_folder(client, files, small_sample, monkeypatch):
    folder = os.path.dirname(files)
    here = os.path.basename(files)
    monkeypatch.chdir(folder)  # the workers stay where they were started
    assert undated(truism.dask.learn(here, client=client)) == undated(in_one_process(files))
    found = truism.dask.learn(
        [pathlib.Path(here) / "0.parquet", f"{here}/1.parquet"], client=client
    )
    assert undated(found) == undated(in_one_process(files))


def test_what_cannot_be_learned_from_is_refused(client):
    frame = pd.DataFrame(plant_of(30))
    for call in (truism.dask.learn, lambda rows, client: truism.dask.score(rows, client)):
        with pytest.raises(ParameterError, match="rows must be a distributed DataFrame"):
            call(frame, client=client)
    with pytest.raises(ParameterError, match="rows must name at least one file"):
        truism.dask.learn([], client=client)
    with pytest.raises(TableError, match="The table has no rows"):
        truism.dask.learn(dd.from_pandas(frame[:0], npartitions=1), client=client)
    with pytest.raises(ParameterError, match="client must be given"):
        truism.dask.learn("files")


def test_a_cluster_that_is_lost_is_told_in_a_sentence(client):
    gone = client.submit(pow, 2, 3)
    gone.cancel()
    job = Job(None, 0, 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(client, "submit", lambda *_, **__: gone)
        with pytest.raises(TruismError, match="The Dask cluster was lost before all rows"):
            list(run_on(client)([job], len, 1))


def test_the_command_line_uses_a_cluster(client, files, tmp_path, monkeypatch):
    monkeypatch.setattr("truism.cli.learn.SAMPLE", N_SAMPLED)
    monkeypatch.setitem(train.__kwdefaults__, "n_sampled", N_SAMPLED)
    address, output = client.scheduler.address, tmp_path / "m.truism.json"
    done = CliRunner().invoke(app, ["learn", files, "-o", str(output), "--dask", address])
    assert done.exit_code == 0, done.output
    wanted = in_one_process(files)
    assert truism.load(output).model_.rules == wanted.rules


def test_a_table_that_is_learned_from_at_once_needs_no_cluster(files, tmp_path):
    output = tmp_path / "m.truism.json"
    done = CliRunner().invoke(app, ["learn", files, "-o", str(output), "--dask", "tcp://none:1"])
    assert done.exit_code == 0, done.output
    assert "these files need no cluster, so --dask is ignored." in done.output


def test_a_scheduler_that_does_not_answer_is_refused(monkeypatch):
    def refuse(*_, **__):
        raise OSError("Timed out\nmore")

    monkeypatch.setattr(distributed, "Client", refuse)
    with pytest.raises(ParameterError, match="dask must be the address of a scheduler") as caught:
        connect("tcp://nowhere:1")
    assert "it does not answer: Timed out" in str(caught.value)


def test_what_is_no_address_is_refused_before_anybody_is_called(monkeypatch):
    monkeypatch.setattr(distributed, "Client", None)
    with pytest.raises(ParameterError, match="dask must be the address of a scheduler"):
        connect("nonsense")
