"""Files that need not fit: learned in passes on the command line, and refused when they change."""

import json
import os

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from truism.cli import app, large
from truism.errors import ParameterError, TableError
from truism.learning import training
from truism.table.files.columnar import open_columnar
from truism.table.files.reading import read_opening
from truism.table.layouts import Layout

N_ROWS = 900


def rows() -> pa.Table:
    rng = np.random.default_rng(0)
    on = np.arange(N_ROWS) % 20 < 12
    return pa.table(
        {
            "time": np.datetime64("2026-01-01", "s") + 60 * np.arange(N_ROWS),
            "pump": np.where(on, "on", "off"),
            "flow": (np.where(on, 2.5, 0.0) + rng.normal(0, 0.02, N_ROWS)).round(3),
            "total": np.cumsum(on).astype(np.int64),
        }
    )


@pytest.fixture
def small_sample(monkeypatch):
    monkeypatch.setattr(large, "SAMPLE", 200)
    whole = training.train_on_parts
    monkeypatch.setattr(
        "truism.cli.learn.train_on_parts",
        lambda parts, settings, **options: whole(parts, settings, n_sampled=200, **options),
    )


def written(folder, ends, form="parquet"):
    folder.mkdir()
    table, places = rows(), [0, *ends, N_ROWS]
    for k in range(len(places) - 1):
        part = table.slice(places[k], places[k + 1] - places[k])
        if form == "parquet":
            pq.write_table(part, folder / f"{k:03}.parquet", row_group_size=50)
        else:
            pa.feather.write_feather(part, folder / f"{k:03}.feather", chunksize=60)
    return str(folder)


def learned(source, output, *options):
    done = CliRunner().invoke(app, ["learn", source, "-o", str(output), *options])
    assert done.exit_code == 0, done.output
    content = json.loads(output.read_text("utf-8"))
    for key in ("digest", "created"):
        content.pop(key, None)
        content.get("provenance", {}).pop(key, None)
    return content


def test_files_batches_and_limits_change_nothing(tmp_path, small_sample):
    one = learned(written(tmp_path / "a", []), tmp_path / "a.truism.json")
    for k, (ends, form, options) in enumerate(
        [
            ([100, 450], "parquet", ["--memory-limit", "1MiB", "--jobs", "1"]),
            ([1, 899], "feather", ["--jobs", "2"]),
        ]
    ):
        source = written(tmp_path / f"b{k}", ends, form)
        assert learned(source, tmp_path / f"{k}.truism.json", *options) == one


def test_small_files_are_read_whole(tmp_path):
    assert large.open_large([written(tmp_path / "a", [])]) is None


def test_other_files_are_not_opened(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    assert open_columnar([str(tmp_path / "a.csv")]) is None
    assert open_columnar(["-"]) is None
    assert open_columnar([str(tmp_path / "nothing.parquet")]) is None


def test_a_file_that_changes_or_disappears_is_named(tmp_path):
    source = written(tmp_path / "a", [400])
    files = open_columnar([source])
    os.utime(tmp_path / "a" / "001.parquet", ns=(0, 0))
    with pytest.raises(TableError, match=r"001\.parquet' changed while it was read"):
        list(files.batches(100))
    (tmp_path / "a" / "001.parquet").unlink()
    with pytest.raises(TableError, match=r"001\.parquet' disappeared while it was read"):
        list(files.batches(100))


def test_damaged_files_and_other_columns_are_named(tmp_path):
    source = written(tmp_path / "a", [400])
    (tmp_path / "a" / "000.parquet").write_bytes(b"PAR1 and nothing else")
    with pytest.raises(TableError, match=r"000\.parquet'.*damaged or not a table"):
        open_columnar([source])
    pq.write_table(rows().drop_columns(["flow"]), tmp_path / "a" / "000.parquet")
    with pytest.raises(TableError, match="adds 'flow'"):
        open_columnar([source])


def test_types_that_all_files_share_are_taken(tmp_path):
    source = written(tmp_path / "a", [400])
    table = rows().slice(400)
    whole = table.set_column(2, "flow", table["flow"].cast(pa.float32()))
    pq.write_table(whole, tmp_path / "a" / "001.parquet")
    files = open_columnar([source])
    assert files.schema.field("flow").type == pa.float64()
    assert sum(batch.num_rows for batch in files.batches(64)) == N_ROWS
    texts = table.set_column(2, "flow", pa.array(["x"] * len(table)))
    pq.write_table(texts, tmp_path / "a" / "001.parquet")
    assert open_columnar([source]) is None


def test_the_opening_decides_how_rows_are_read(tmp_path):
    files = open_columnar([written(tmp_path / "a", [])])
    found = read_opening(files, Layout(renames=(("pump", "P101"),)), 100)
    assert found.table.n_rows == 100
    assert found.table.columns[0].kind == "time"
    assert "P101" in found.table.names
    with pytest.raises(TableError, match="batch by batch"):
        read_opening(files, Layout(every="10s"))


@pytest.mark.parametrize("text", ["much", "3 pints", "-1GiB", "10"])
def test_a_size_that_is_none_is_refused(text):
    with pytest.raises(ParameterError, match="memory_limit must be a size"):
        large.size_of(text)


def test_where_the_machine_does_not_tell_a_gibibyte_is_taken(monkeypatch):
    monkeypatch.delattr(os, "sysconf")
    assert large.size_of(None) == 1 << 30


def test_half_of_the_memory_is_the_default():
    assert large.size_of(None) > 1 << 20
    assert large.size_of("1.5 GiB") == 3 << 29
