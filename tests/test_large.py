"""Files that need not fit: learned in passes on the command line, and refused when they change."""

import gzip
import json
import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from truism.cli import app
from truism.cli.options import size_of
from truism.errors import ParameterError, TableError
from truism.learn import passes as sampling
from truism.learn.learn import learn
from truism.model.files import load_model, save_model
from truism.table.files import open_files, read_batches, read_first
from truism.table.layouts import Layout
from truism.table.writing import write_table

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
    monkeypatch.setattr("truism.cli.learn.SAMPLE", 200)
    monkeypatch.setitem(learn.__kwdefaults__, "n_sampled", 200)


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


def test_a_limit_that_is_no_size_is_refused_though_small_files_do_not_need_it(tmp_path):
    output = tmp_path / "m.truism.json"
    options = ["-o", str(output), "--memory-limit", "lots"]
    done = CliRunner().invoke(app, ["learn", written(tmp_path / "a", []), *options])
    assert done.exit_code == 2
    assert (
        "--memory-limit must be a size of at least 1 MiB, such as 3GiB, got 'lots'" in done.output
    )
    assert not output.exists()


def test_what_fits_is_one_batch(tmp_path):
    files = open_files([written(tmp_path / "a", [])])
    assert read_first(files, N_ROWS).is_whole
    assert read_first(files, most_values=4 * N_ROWS).is_whole
    first = read_first(files, N_ROWS - 1, n_first=7)
    assert (first.is_whole, first.table.n_rows) == (False, 7)
    assert not read_first(files, most_values=4 * N_ROWS - 1).is_whole


def test_files_of_all_formats_are_read_in_batches(tmp_path, monkeypatch):
    monkeypatch.setattr("truism.table.csv._BLOCK_BYTES", 300)
    table = rows()
    written(tmp_path / "a", [400])
    written(tmp_path / "b", [100], "feather")
    as_csv(tmp_path / "c", table, [], "csv.gz")
    lines = [json.dumps({**row, "time": str(row["time"])}) for row in table.to_pylist()]
    (tmp_path / "d.jsonl").write_text("\n".join(lines))
    for source in "abcd":
        files = open_files([str(next(tmp_path.glob(f"{source}*")))])
        whole = read_first(files)
        sizes, cells = [], []
        for batch in read_batches(files, whole.reading, 64):
            sizes.append(batch.table.n_rows)
            cells += [[c.cell(row) for c in batch.table.columns] for row in range(sizes[-1])]
        assert max(sizes) <= 64
        assert (sum(sizes), files.n_rows) == (N_ROWS, N_ROWS)
        assert cells == [[c.cell(row) for c in whole.table.columns] for row in range(N_ROWS)]
        few = [batch.table for batch in read_batches(files, whole.reading, 500, ["flow"])]
        assert {each.names for each in few} == {("flow",)}


def test_a_file_that_changes_or_disappears_is_named(tmp_path):
    source = written(tmp_path / "a", [400])
    files = open_files([source])
    os.utime(tmp_path / "a" / "001.parquet", ns=(0, 0))
    with pytest.raises(TableError, match=r"001\.parquet' changed while it was read"):
        list(files.batches(100))
    (tmp_path / "a" / "001.parquet").unlink()
    with pytest.raises(TableError, match=r"001\.parquet' disappeared while it was read"):
        list(files.batches(100))


CHANGES = {
    "changed": lambda place: os.utime(place, ns=(0, 0)),
    "disappeared": lambda place: place.unlink(),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_file_that_changes_between_passes_is_refused_and_nothing_is_written(
    tmp_path, small_sample, monkeypatch, what
):
    source, done = written(tmp_path / "a", [400]), []
    first = sampling.total_up

    def total_up(table, at, **options):
        done.append(at)
        if at + table.n_rows == N_ROWS:
            CHANGES[what](tmp_path / "a" / "000.parquet")
        return first(table, at, **options)

    monkeypatch.setattr(sampling, "total_up", total_up)
    output = tmp_path / "m.truism.json"
    found = CliRunner().invoke(app, ["learn", source, "-o", str(output), "--jobs", "1"])
    assert done
    assert found.exit_code == 2
    assert f"000.parquet' {what} while it was read" in " ".join(found.stderr.split())
    assert [each.name for each in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize("command", ["learn", "check"])
def test_interrupting_leaves_nothing_behind(tmp_path, command):
    """Ctrl-C in the verifying pass, and while scores are written."""
    source = written(tmp_path / "a", [400])
    model = tmp_path / "m.truism.json"
    setting = "truism.learn.passes.Verify._recount"
    arguments = ["learn", source, "-o", str(model)]
    if command == "check":
        CliRunner().invoke(app, arguments)
        setting = "truism.explain.checker.Check.findings"
        scores = str(tmp_path / "scores.parquet")
        arguments = ["check", source, "-m", str(model), "--scores", scores]
        arguments += ["--memory-limit", "1MiB"]
    before = sorted(each.name for each in tmp_path.iterdir())
    script = f"""
import os, signal, sys, tempfile, time
from unittest import mock
from truism.cli import learn, main, rows
learn.SAMPLE, rows.BYTES_WHOLE = 200, 1 << 20
learn.learn_model.__kwdefaults__["n_sampled"] = 200
interrupt = lambda *_: (os.kill(os.getpid(), signal.SIGINT), time.sleep(30))
sys.argv = ["truism", *{arguments!r}]
with mock.patch({setting!r}, interrupt):
    main()
"""
    folder = tmp_path / "temporary"
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr.endswith("Error: Interrupted.\n")
    assert not list(folder.iterdir())
    folder.rmdir()
    assert sorted(each.name for each in tmp_path.iterdir()) == before


def test_damaged_files_and_other_columns_are_named(tmp_path):
    source = written(tmp_path / "a", [400])
    (tmp_path / "a" / "000.parquet").write_bytes(b"PAR1 and nothing else")
    with pytest.raises(TableError, match=r"000\.parquet'.*damaged or not a table"):
        open_files([source]).n_rows  # noqa: B018
    pq.write_table(rows().drop_columns(["flow"]), tmp_path / "a" / "000.parquet")
    with pytest.raises(TableError, match="adds 'flow'"):
        open_files([source]).n_rows  # noqa: B018


def test_files_may_hold_a_column_in_several_types(tmp_path):
    source = written(tmp_path / "a", [400])
    table = rows().slice(400)
    for kind in (pa.float32(), pa.string()):
        other = table.set_column(2, "flow", table["flow"].cast(kind))
        pq.write_table(other, tmp_path / "a" / "001.parquet")
        files = open_files([source])
        reading = read_first(files, 0, n_first=100).reading
        found = [
            batch.table.column_of()["flow"]
            for batch in read_batches(files, reading, 64, closed=True)
        ]
        assert {each.kind for each in found} == {"number"}
        values = np.concatenate([each.values for each in found])
        np.testing.assert_allclose(values, rows()["flow"].to_numpy(), rtol=1e-6)


def test_the_first_rows_decide_how_all_are_read(tmp_path):
    source = written(tmp_path / "a", [])
    found = read_first(open_files([source], Layout(renames=(("pump", "P101"),))), 0, n_first=100)
    assert found.table.n_rows == 100
    assert found.table.columns[0].kind == "time"
    assert "P101" in found.table.names
    with pytest.raises(TableError, match="batch by batch"):
        read_first(open_files([source], Layout(every="10s")), 0)


@pytest.mark.parametrize("text", ["much", "3 pints", "-1GiB", "10"])
def test_a_size_that_is_none_is_refused(text):
    with pytest.raises(ParameterError, match="memory_limit must be a size"):
        size_of(text)


def test_where_the_machine_does_not_tell_a_gibibyte_is_taken(monkeypatch):
    monkeypatch.delattr(os, "sysconf")
    assert size_of(None) == 1 << 30


def test_half_of_the_memory_is_the_default():
    assert size_of(None) > 1 << 20
    assert size_of("1.5 GiB") == 3 << 29


# --- checked in portions ---


def later() -> pa.Table:
    """Rows in which something is wrong: a stretch, single rows, and a value that is missing."""
    table = rows().to_pydict()
    for row in (*range(300, 340), 700, 703):
        table["flow"][row] = 9.0
    table["pump"][500] = "stuck"
    table["flow"][600] = None
    return pa.table(table, rows().schema).append_column("remark", pa.array(["x"] * N_ROWS))


@pytest.fixture(scope="module", params=["series", "exchangeable"])
def model(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    pq.write_table(rows(), folder / "normal.parquet")
    options = (
        ["--ordered"] if request.param == "series" else ["--ignore", "time", "--ignore", "total"]
    )
    output = folder / "m.truism.json"
    done = CliRunner().invoke(
        app, ["learn", str(folder / "normal.parquet"), "-o", str(output), *options]
    )
    assert done.exit_code == 0, done.output
    return str(output)


@pytest.fixture
def files_beyond(tmp_path):
    folder, table = tmp_path / "data", later()
    folder.mkdir()
    for k, (start, end) in enumerate([(0, 333), (333, 334), (334, N_ROWS)]):
        part = table.slice(start, end - start)
        pq.write_table(part, folder / f"{k}.parquet", row_group_size=50)
    return str(folder)


def checked(source, model, *options):
    done = CliRunner().invoke(app, ["check", source, "-m", model, *options])
    assert done.exit_code == 1, done.output
    return done.stdout


@pytest.fixture
def in_portions(monkeypatch):
    def switch():
        monkeypatch.setattr("truism.cli.rows.BYTES_WHOLE", 1 << 40)
        monkeypatch.setattr("truism.cli.rows.MOST_ROWS", 64)
        monkeypatch.setattr("truism.cli.rows.LEAST_ROWS", 64)

    return switch


FORMS = [
    (),
    ("--top", "1", "--patterns"),
    ("--format", "json"),
    ("--format", "csv"),
    ("--format", "events"),
    ("--gap", "3", "--min-rows", "2", "--format", "jsonl"),
    ("--threshold", "2.5", "--mute", "pump"),
]


def test_the_output_is_that_of_a_table_held_whole(files_beyond, model, in_portions):
    whole = [checked(files_beyond, model, *options) for options in FORMS]
    in_portions()
    for options, expected in zip(FORMS, whole, strict=True):
        assert checked(files_beyond, model, *options) == expected


def drifted(table: pa.Table, change: str) -> pa.Table:
    """Return rows of which something differs from training in several portions."""
    if change == "scaled":
        flow = pa.compute.multiply(table["flow"], 1.4)
        return table.set_column(table.column_names.index("flow"), "flow", flow)
    if change == "unseen":
        pump = pa.array(["auto" if row % 7 == 0 else "on" for row in range(table.num_rows)])
        return table.set_column(table.column_names.index("pump"), "pump", pump)
    return table.drop_columns([change] if change in table.column_names else table.column_names[:4])


@pytest.mark.parametrize("change", ["nothing", "scaled", "unseen", "flow", "all"])
def test_a_status_is_that_of_a_table_held_whole(model, in_portions, monkeypatch, tmp_path, change):
    folder, table = tmp_path / "data", later()
    folder.mkdir()
    if change != "nothing":
        table = drifted(table, change)
    pq.write_table(table.slice(0, 500), folder / "0.parquet")
    pq.write_table(table.slice(500), folder / "1.parquet")

    def asked(*options):
        done = CliRunner().invoke(app, ["status", str(folder), "-m", model, *options])
        assert done.exit_code in (0, 3), done.output
        return done.exit_code, done.stdout, done.stderr

    forms = [(), ("--format", "json")]
    whole = [asked(*options) for options in forms]
    in_portions()
    assert [asked(*options) for options in forms] == whole
    monkeypatch.setattr("truism.cli.rows.MOST_ROWS", 200)
    monkeypatch.setattr("truism.cli.rows.LEAST_ROWS", 200)
    assert [asked(*options) for options in forms] == whole
    bad = CliRunner().invoke(app, ["status", str(folder), "-m", model, "--memory-limit", "1"])
    assert bad.exit_code == 2
    assert bad.stderr == (
        "Error: --memory-limit must be a size of at least 1 MiB, such as 3GiB, got '1'.\n"
    )


def test_a_comparison_is_that_of_a_table_held_whole(files_beyond, model, in_portions, tmp_path):
    strict = tmp_path / "strict.json"
    save_model(load_model(model).with_threshold(0.5 * load_model(model).threshold), strict)

    def compared():
        asked = ["compare", model, str(strict), "--on", files_beyond, "--format", "json"]
        done = CliRunner().invoke(app, asked)
        assert done.exit_code == 0, done.output
        return done.stdout

    whole = compared()
    assert json.loads(whole)["table"]["both"]
    in_portions()
    assert compared() == whole


@pytest.fixture
def accepted(files_beyond, model, tmp_path, monkeypatch):
    monkeypatch.setattr("truism.cli.accept.today", lambda: "2025-08-03")
    place = tmp_path / "n.truism.json"

    def accept(*options):
        arguments = [
            files_beyond,
            "-m",
            model,
            "-o",
            str(place),
            "--reason",
            "test",
            "--who",
            "ana",
        ]
        done = CliRunner().invoke(app, ["accept", *arguments, *options])
        if done.exit_code:
            return done.exit_code, done.stderr
        ledger = tmp_path / "n.accepted.parquet"
        rows = pq.read_table(ledger).to_pydict() if ledger.exists() else None
        written = place.read_bytes()
        for each in (place, ledger):
            each.unlink(missing_ok=True)
        return done.stdout, written, rows

    return accept


def test_rows_are_accepted_as_in_a_table_held_whole(
    files_beyond, model, accepted, in_portions, monkeypatch
):
    found = json.loads(checked(files_beyond, model, "--format", "json", "--patterns"))
    ways = [
        ("--rows", "300:339"),
        ("--rows", "330:334", "--rows", "700", "--format", "json"),
        ("--incident", found["incidents"][0]["id"]),
        ("--pattern", found["patterns"][0]["id"]),
        ("--when", "pump = on", "--mute", "flow"),
        ("--rows", "5:3"),
        ("--rows", "10"),
        ("--incident", "nobody"),
    ]
    whole = [accepted(*way) for way in ways]
    history = accepted(*ways[0], "--on", files_beyond)
    assert [len(each) for each in whole] == [3, 3, 3, 3, 3, 2, 2, 2]
    in_portions()
    assert [accepted(*way) for way in ways] == whole
    monkeypatch.setattr("truism.cli.rows.MOST_ROWS", 200)
    assert accepted(*ways[0]) == whole[0]
    assert accepted(*ways[0], "--on", files_beyond) == history


def test_changes_go_on_from_portion_to_portion_when_rows_are_accepted(
    files_beyond, tmp_path, accepted, in_portions, monkeypatch
):
    place = tmp_path / "d.truism.json"
    source = written(tmp_path / "normal", [])
    learned(source, place, "--ordered", "--delta")
    way = ("-m", str(place), "--rows", "300", "--mute", "Δflow", "--format", "json")
    whole = accepted(*way)
    assert "Δ" in whole[0]
    in_portions()
    assert accepted(*way) == whole


@pytest.mark.parametrize("ending", ["parquet", "csv", "feather", "csv.gz"])
def test_scores_are_written_in_parts(files_beyond, model, in_portions, tmp_path, ending):
    whole, parts = (tmp_path / f"{name}.{ending}" for name in ("whole", "parts"))
    checked(files_beyond, model, "--scores", str(whole))
    in_portions()
    checked(files_beyond, model, "--scores", str(parts))
    if ending == "csv":
        assert parts.read_bytes() == whole.read_bytes()
    elif ending == "parquet":
        assert pq.read_table(parts).equals(pq.read_table(whole))
        assert pq.read_metadata(parts).num_row_groups > 10
    elif ending == "feather":
        assert pa.feather.read_table(parts).equals(pa.feather.read_table(whole))
    else:
        assert gzip.decompress(parts.read_bytes()) == gzip.decompress(whole.read_bytes())


def test_what_needs_all_rows_is_refused(files_beyond, model, in_portions, tmp_path):
    in_portions()
    for option, name in (("--report", "r.html"), ("--state", "s.state")):
        done = CliRunner().invoke(
            app, ["check", files_beyond, "-m", model, option, str(tmp_path / name)]
        )
        assert done.exit_code == 2
        assert f"Error: {option} needs all rows at once: 900 rows take about" in done.stderr
        assert "raise --memory-limit" in done.stderr
        assert not (tmp_path / name).exists()


def test_bad_rows_leave_no_scores_behind(model, in_portions, tmp_path):
    table = later()
    texts = [str(each) for each in table["flow"].to_pylist()]
    texts[600:] = [f"word {row}" for row in range(600, N_ROWS)]
    place = tmp_path / "data" / "a.parquet"
    place.parent.mkdir()
    pq.write_table(table.set_column(2, "flow", pa.array(texts)), place)
    in_portions()
    done = CliRunner().invoke(
        app, ["check", str(place), "-m", model, "--scores", str(tmp_path / "s.csv")]
    )
    assert done.exit_code == 2
    assert "a.parquet', row 600: column 'flow' must hold a number, got 'word 600'." in done.stderr
    assert os.listdir(tmp_path) == ["data"]


def test_columns_may_be_absent_extra_or_renamed(files_beyond, model, in_portions):
    cases = (("--ignore", "flow"), ("--rename", "remark=note", "--zone", "UTC"))
    runs = [["check", files_beyond, "-m", model, *options] for options in cases]
    whole = [CliRunner().invoke(app, each) for each in runs]
    assert "columns that the model does not know are ignored" in whole[0].stderr
    in_portions()
    for each, expected in zip(runs, whole, strict=True):
        done = CliRunner().invoke(app, each)
        assert (done.stdout, done.exit_code) == (expected.stdout, expected.exit_code)
        assert done.stderr.splitlines()[-1:] == expected.stderr.splitlines()[-1:]


def test_missing_columns_are_named(model, in_portions, tmp_path):
    pq.write_table(later().drop_columns(["flow"]), tmp_path / "a.parquet")
    in_portions()
    done = CliRunner().invoke(app, ["check", str(tmp_path / "a.parquet"), "-m", model])
    assert done.exit_code == 2
    assert "Column 'flow' is missing from the table to score." in done.stderr


def test_the_first_large_check_says_that_it_compiles(files_beyond, model, in_portions, monkeypatch):
    in_portions()
    monkeypatch.setattr("truism.score.kernels.are_cached", lambda *_: False)
    done = CliRunner().invoke(app, ["check", files_beyond, "-m", model])
    assert "the first run compiles code" in done.stderr


# --- CSV files ---


def as_csv(folder, table, ends, ending="csv"):
    folder.mkdir()
    places = [0, *ends, table.num_rows]
    for k in range(len(places) - 1):
        part = table.slice(places[k], places[k + 1] - places[k])
        write_table(
            dict(zip(part.column_names, part.columns, strict=True)), folder / f"{k}.{ending}"
        )
    return str(folder)


@pytest.fixture
def csv_in_batches(monkeypatch):
    """Read blocks of a few lines, and decide from all rows how columns are read."""
    monkeypatch.setattr("truism.table.csv._BLOCK_BYTES", 2000)


def test_csv_files_are_learned_from_in_batches(tmp_path, small_sample, csv_in_batches, monkeypatch):
    whole_folder = as_csv(tmp_path / "a", rows(), [])
    in_batches = learned(whole_folder, tmp_path / "a.truism.json")
    assert (
        learned(as_csv(tmp_path / "b", rows(), [1, 450]), tmp_path / "b.truism.json") == in_batches
    )
    zipped = as_csv(tmp_path / "c", rows(), [300], "csv.gz")
    assert learned(zipped, tmp_path / "c.truism.json", "--memory-limit", "1MiB") == in_batches
    monkeypatch.setattr("truism.cli.learn.SAMPLE", N_ROWS)
    assert learned(whole_folder, tmp_path / "d.truism.json") == in_batches


def test_what_the_first_rows_do_not_show_is_refused(tmp_path, small_sample, monkeypatch):
    monkeypatch.setattr("truism.table.files.OPENING", 300)
    for word in ("Bad", "1,5x"):
        texts = [f"{each} m" for each in rows()["flow"].to_pylist()]
        texts[800:830] = [word] * 30
        odd = rows().set_column(2, "flow", pa.array(texts))
        source = as_csv(tmp_path / word.replace(",", ""), odd, [])
        done = CliRunner().invoke(app, ["learn", source, "-o", str(tmp_path / "m.truism.json")])
        assert done.exit_code == 2
        assert (
            "0.csv', line 802: column 'flow' must hold a number as in the first rows, which decide "
            f"how files are read, got {word!r}."
        ) in done.stderr
        assert not (tmp_path / "m.truism.json").exists()


def test_csv_files_are_checked_in_portions(model, in_portions, csv_in_batches, tmp_path):
    source = as_csv(tmp_path / "data", later(), [333, 334])
    whole = [checked(source, model, *options) for options in FORMS[:3]]
    in_portions()
    for options, expected in zip(FORMS, whole, strict=False):
        assert checked(source, model, *options) == expected


def test_whole_numbers_are_the_same_beside_fractions_and_in_portions_without(
    model, in_portions, tmp_path
):
    table = later()
    texts = [f"{flow or 0:.0f}" for flow in table["flow"].to_pylist()]
    texts[10] = "2.5"
    source = as_csv(tmp_path / "data", table.set_column(2, "flow", pa.array(texts)), [])
    whole = checked(source, model, "--format", "json")
    in_portions()
    assert checked(source, model, "--format", "json") == whole


def test_a_bad_cell_of_a_csv_file_is_named_by_its_line(
    model, in_portions, csv_in_batches, tmp_path
):
    table = later()
    texts = [str(each) for each in table["flow"].to_pylist()]
    texts[600:] = [f"word {row}" for row in range(600, N_ROWS)]
    source = as_csv(tmp_path / "data", table.set_column(2, "flow", pa.array(texts)), [])
    in_portions()
    done = CliRunner().invoke(app, ["check", source, "-m", model])
    assert done.exit_code == 2
    assert "0.csv', line 602: column 'flow' must hold a number, got 'word 600'." in done.stderr


def test_ragged_files_are_named_and_empty_ones_add_nothing(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n1,2,3\n")
    with pytest.raises(TableError, match=r"a\.csv', line 3: the number of fields"):
        open_files([str(tmp_path)]).n_rows  # noqa: B018
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    (tmp_path / "b.csv").write_text("a,b\n1,x\n")
    (tmp_path / "c.csv").write_text("a,b\n")
    (tmp_path / "d.csv").write_text("")
    files = open_files([str(tmp_path)])
    assert files.n_rows == 2
    batches = [part.frame["b"].to_pylist() for part in files.batches(10) if part.frame.num_rows]
    assert batches == [["2"], ["x"]]


def test_a_column_that_begins_empty_is_refused_when_it_holds_something(tmp_path):
    lines = ["a,b", *[",1"] * 5, *["x,2"] * 5]
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
    files = open_files([str(tmp_path)])
    reading = read_first(files, 0, n_first=4).reading
    message = "line 7: column 'a' must hold no value as in the first rows, .*, got 'x'"
    with pytest.raises(TableError, match=message):
        list(read_batches(files, reading, 3, closed=True))


def test_names_that_a_columnar_file_holds_twice_are_refused_in_one_sentence(tmp_path):
    table = pa.Table.from_arrays([pa.array([1.0, 2.0]), pa.array([3.0, 4.0])], names=["a", "a"])
    pyarrow.feather.write_feather(table, tmp_path / "t.feather")
    place, model = str(tmp_path / "t.feather"), str(tmp_path / "m.json")
    ended = CliRunner().invoke(app, ["learn", place, "-o", model])
    assert (ended.exit_code, os.path.exists(model)) == (2, False)
    assert "'a'" in ended.stderr
    assert "Internal" not in ended.stderr
