"""Standard streams that are closed, full or cut: the exit code says what became of the output."""

import io
import os
import resource
import signal
import subprocess
import sys
import threading
import time

import pytest

from learned import learn
from truism.cli.screen import Outlet, Screen, outlets
from truism.model.files import save_model
from truism.table.frames import as_table

CLOSED = "Error: Standard output cannot be written: it is closed.\n"
FULL = "Error: Standard output cannot be written: No space left on device.\n"
BUFFERING = pytest.mark.parametrize("unbuffered", ["", "1"], ids=["buffered", "unbuffered"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("streams")
    data = {"pump": ["on", "off"] * 100, "flow": [2.5, 0.0] * 100}
    save_model(learn(as_table(data), min_support=0.1), place / "m.json")
    (place / "normal.csv").write_text("pump,flow\n" + "on,2.5\noff,0.0\n" * 20)
    (place / "today.csv").write_text("pump,flow\n" + "on,0.0\noff,0.0\n" * 20)
    return place


def shell(folder, line, unbuffered="", **options):
    """Run a line in which TRUISM is the program, as a shell does; return what is seen, and the code."""
    done = subprocess.run(
        ["bash", "-c", line.replace("TRUISM", f"{sys.executable} -m truism")],
        cwd=folder,
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        **options,
    )
    return done.stdout, done.stderr, done.returncode


@pytest.mark.parametrize(
    ("line", "seen"),
    [
        ("TRUISM check normal.csv -m m.json >&-", ("", CLOSED, 2)),
        ("TRUISM check today.csv -m m.json >&-", ("", CLOSED, 2)),
        ("TRUISM check normal.csv -m m.json 2>&- >/dev/null", ("", "", 0)),
        ("TRUISM check today.csv -m m.json 2>&- >/dev/null", ("", "", 1)),
        ("TRUISM check normal.csv -m m.json <&- >&- 2>&-", ("", "", 2)),
        ("TRUISM check no.csv -m m.json 2>&-", ("", "", 2)),
        ("TRUISM chekc 2>&-", ("", "", 2)),
        ("TRUISM check no.csv -m m.json 2>/dev/full", ("", "", 2)),
        ("TRUISM check today.csv -m m.json >/dev/full", ("", FULL, 2)),
        ("TRUISM --help >/dev/full", ("", FULL, 2)),
        ("TRUISM export m.json --to json -o rules.json >&-", ("", "", 0)),
        (
            "TRUISM learn - -o n.json <&-",
            ("", "Error: standard input cannot be read: it is closed.\n", 2),
        ),
    ],
)
def test_a_stream_that_is_closed_or_full(folder, line, seen):
    assert shell(folder, line) == seen


@BUFFERING
@pytest.mark.parametrize(("arguments", "code"), [("--help", 0), ("check today.csv -m m.json", 1)])
def test_a_reader_that_has_seen_enough_changes_nothing(folder, arguments, code, unbuffered):
    line = f"TRUISM {arguments} | true; exit ${{PIPESTATUS[0]}}"
    assert shell(folder, line, unbuffered) == ("", "", code)


@BUFFERING
def test_output_that_is_cut_in_the_middle_is_a_failure(folder, unbuffered):
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    env = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    command = [sys.executable, "-B", "-m", "truism", "export", "m.json", "--to", "json"]
    with open(folder / "cut.json", "wb") as file:
        done = subprocess.run(
            command, cwd=folder, env=env, stdout=file, stderr=subprocess.PIPE, preexec_fn=limit
        )
    assert (folder / "cut.json").stat().st_size == 1000
    assert done.stderr == b"Error: Standard output cannot be written: File too large.\n"
    assert done.returncode == 2


@pytest.mark.parametrize(("code", "seen"), [(0, 2), (1, 2), (2, 2), (3, 2), (130, 130)])
def test_lost_output_is_a_failure_whatever_was_found(code, seen):
    outlet = Outlet(None)
    outlet.write(b"stale")
    assert Screen(outlet).close(code) == seen


class Trickle(io.RawIOBase):
    """A file that takes three bytes at a time."""

    def __init__(self):
        self.taken = b""

    def writable(self):
        return True

    def write(self, content):
        self.taken += bytes(content[:3])
        return min(3, len(content))


def test_an_outlet_writes_everything_in_as_many_parts_as_it_takes():
    slow = Trickle()
    assert Outlet(slow).write(b"one two three") == 13
    assert slow.taken == b"one two three"


def test_an_outlet_waits_for_a_pipe_that_is_full():
    read, write = os.pipe()
    os.set_blocking(write, False)
    content = bytes(1 << 18)
    got = []

    def drain():
        time.sleep(0.05)
        while sum(map(len, got)) < len(content):
            got.append(os.read(read, 1 << 16))

    reader = threading.Thread(target=drain)
    reader.start()
    with open(write, "wb", buffering=0) as sink:
        outlet = Outlet(sink)
        outlet.write(content)
        reader.join()
    os.close(read)
    assert outlet.problem is None
    assert b"".join(got) == content


def test_an_outlet_keeps_the_first_problem_and_goes_on():
    class Full(io.RawIOBase):
        def write(self, _):
            raise OSError(28, "disk full")

    outlet = Outlet(Full())
    assert [outlet.write(b"a"), outlet.write(b"bc")] == [1, 2]
    assert outlet.problem == "disk full"
    assert Outlet(None).problem is None


def test_the_streams_are_put_back(monkeypatch):
    own = io.TextIOWrapper(io.BytesIO(), "ascii")
    monkeypatch.setattr(sys, "stdout", own)
    with outlets() as output:
        assert sys.stdout is not own
        sys.stdout.write("x ≤ 3")
        sys.stdout.buffer.write("≤".encode())
        sys.stdout.flush()
    assert sys.stdout is own
    assert own.buffer.getvalue() == "x ? 3≤".encode()
    assert output.problem is None


def test_a_stream_that_is_no_file_is_left_alone(monkeypatch):
    notebook = io.StringIO()
    monkeypatch.setattr(sys, "stdout", notebook)
    with outlets():
        print("seen")
    assert notebook.getvalue() == "seen\n"
