"""Rows that lie elsewhere: whoever does the jobs, the model is that of rows held whole, byte for byte."""

import itertools
import pickle

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from test_passes import CASES, plant_of
from truism.errors import TableError
from truism.learn.batches import Batches, Job
from truism.learn.learn import learn as train
from truism.model.files import encode_model
from truism.table.files import open_files, read, read_first
from truism.table.frames import as_table
from truism.table.writing import write_table


class Strangers:
    """Gets jobs and tasks as bytes, and runs them in any order."""

    def __init__(self, random=None):
        self.random = random

    def __call__(self, jobs, task, n_jobs):  # noqa: ARG002
        sent, order, results = pickle.dumps((jobs, task)), list(range(len(jobs))), {}
        if self.random is not None:
            self.random.shuffle(order)
        for at in order:
            known, asked = pickle.loads(sent)
            results[at] = pickle.loads(pickle.dumps(known[at].do(asked)))
        for at, job in enumerate(jobs):
            yield job.first + job.n_rows, results[at]


class Cells:
    """A piece that brings its own rows, in tables of a few."""

    def __init__(self, data, size):
        self.data, self.size = data, size

    def __call__(self, _):
        table = as_table(self.data)
        for start in range(0, table.n_rows, self.size):
            yield table.take(slice(start, start + self.size))


def scattered(run, data, ends):
    n_rows = len(data["pump"])
    places = [0, *sorted(ends), n_rows]
    pieces = []
    for start, end in itertools.pairwise(places):
        cells = {name: values[start:end] for name, values in data.items()}
        pieces.append((Cells(cells, 50), end - start))
    return Batches.of(pieces, run)


@pytest.mark.parametrize("case", CASES)
@examples(max_examples=1, deadline=None)
@given(ends=st.lists(st.integers(0, 400), max_size=5), random=st.randoms(use_true_random=False))
def test_the_model_is_the_same_whoever_does_the_jobs(case, ends, random):
    settings, options = CASES[case]
    data = plant_of(400)
    wanted = train(Batches.of_table(as_table(data)), settings, n_sampled=200, **options)
    parts = scattered(Strangers(random), data, ends)
    assert parts.n_rows == 400
    found = train(parts, settings, n_sampled=200, **options)
    assert encode_model(found) == encode_model(wanted)


def test_few_rows_are_learned_from_whole():
    data, (settings, _) = plant_of(150), CASES["exchangeable"]
    wanted = train(Batches.of_table(as_table(data)), settings)
    found = train(scattered(Strangers(), data, [40]), settings)
    assert encode_model(found) == encode_model(wanted)


def test_rows_that_are_in_no_order_are_no_series():
    data, (settings, options) = plant_of(600), CASES["series"]
    for n_sampled in (200, 1000):
        model = train(
            Batches.of_table(as_table(data)),
            settings,
            n_sampled=n_sampled,
            shuffled=True,
            **options,
        )
        assert model.series is None
        assert model.derived == ()


def test_rows_that_change_are_refused():
    job = Job(Cells(plant_of(20), 7), 0, 21)
    with pytest.raises(TableError, match="had 21 rows at first and 20 when read again"):
        job.do(lambda *_: 1)


@pytest.mark.parametrize("form", ["parquet", "arrow", "csv"])
def test_files_are_divided_among_workers(tmp_path, form):
    table = pa.table(plant_of(700))
    for k, (start, end) in enumerate([(0, 450), (450, 700)]):
        part, place = table.slice(start, end - start), tmp_path / f"{k}.{form}"
        if form == "parquet":
            pq.write_table(part, place, row_group_size=60)
        else:
            write_table(dict(zip(part.column_names, part.columns, strict=True)), place)
    files = open_files([str(tmp_path)])
    reading = read_first(files, 0).reading
    spans = list(files.spans(100))
    assert sum(span.n_rows for span in spans) == 700
    assert len(spans) == (7 if form == "parquet" else 2)
    settings, _ = CASES["series"]
    batches = Batches.of_files(files, reading, 100, Strangers())
    found = train(batches, settings, n_sampled=200, reading=reading)
    whole = Batches.of_table(read([str(tmp_path)]).table)
    wanted = train(whole, settings, n_sampled=200, reading=reading)
    assert encode_model(found) == encode_model(wanted)
