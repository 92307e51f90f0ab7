"""A file is written as a whole or not at all."""

import errno
import os
import signal
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from truism.table import atomic
from truism.table.atomic import FileWarning, alone_with, write_atomically


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")
    write_atomically(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def test_a_device_stays_a_device():
    write_atomically(os.devnull, b"gone")
    assert not os.path.isfile(os.devnull)


@pytest.mark.parametrize("call", ["replace", "fstat", "fdopen", "fchmod", "fsync"])
def test_a_failure_leaves_the_old_file_and_no_draft(tmp_path, monkeypatch, call):
    (tmp_path / "model").write_bytes(b"old")

    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(os, call, interrupt)
        with pytest.raises(KeyboardInterrupt):
            write_atomically(tmp_path / "model", b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    assert (tmp_path / "model").read_bytes() == b"old"


def test_a_failure_names_the_file_that_was_asked_for(tmp_path):
    place = str(tmp_path / "no" / "model")
    with pytest.raises(FileNotFoundError) as caught:
        write_atomically(place, b"new")
    assert caught.value.filename == place


# --- what a file keeps when it is replaced ---


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o666, 0o755])
def test_a_file_keeps_its_mode(tmp_path, mode):
    place = tmp_path / "model"
    place.write_bytes(b"old")
    place.chmod(mode)
    write_atomically(place, b"new")
    assert (place.read_bytes(), mode_of(place)) == (b"new", mode)


def test_a_draft_is_never_readable_by_more_people_than_the_file(tmp_path, monkeypatch):
    place = tmp_path / "model"
    place.write_bytes(b"old")
    place.chmod(0o600)
    seen = []
    monkeypatch.setattr(os, "fsync", lambda number: seen.append(os.fstat(number).st_mode & 0o777))
    write_atomically(place, b"new")
    assert seen == [0o600]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_a_file_keeps_its_owner(tmp_path):
    place = tmp_path / "model"
    place.write_bytes(b"old")
    os.chown(place, 1234, 4321)
    write_atomically(place, b"new")
    assert (place.stat().st_uid, place.stat().st_gid) == (1234, 4321)


def test_an_owner_that_cannot_be_kept_is_told_and_gives_no_group_more_rights(tmp_path, monkeypatch):
    place = tmp_path / "model"
    place.write_bytes(b"old")
    place.chmod(0o664)

    def refuse(*_):
        raise PermissionError(1, "Operation not permitted")

    real = os.stat

    def foreign(path, **options):
        found = list(real(path, **options))
        if str(path) == str(place):
            found[4:6] = 1234, 4321
        return os.stat_result(found)

    monkeypatch.setattr(os, "fchown", refuse)
    monkeypatch.setattr(os, "stat", foreign)
    with pytest.warns(FileWarning) as caught:
        write_atomically(place, b"new")
    monkeypatch.undo()
    assert [str(each.message) for each in caught] == [
        f"{str(place)!r} has another group than before: only a member of the old one may keep it.",
        f"{str(place)!r} has another owner than before: only root may give files away.",
    ]
    assert mode_of(place) == 0o644


def test_another_name_of_the_same_file_is_told_that_it_keeps_the_old_content(tmp_path):
    place, other = tmp_path / "model", tmp_path / "backup"
    place.write_bytes(b"old")
    os.link(place, other)
    with pytest.warns(FileWarning) as caught:
        write_atomically(place, b"new")
    assert [str(each.message) for each in caught] == [
        f"{str(place)!r} was written anew: its other names (hard links) keep the old content."
    ]
    assert (place.read_bytes(), other.read_bytes()) == (b"new", b"old")


def test_attributes_are_kept(tmp_path):
    place = tmp_path / "model"
    place.write_bytes(b"old")
    try:
        os.setxattr(place, "user.origin", b"plant 7")
    except (AttributeError, OSError):
        pytest.skip("there are no extended attributes here")
    write_atomically(place, b"new")
    assert os.getxattr(place, "user.origin") == b"plant 7"


def test_a_link_to_nothing_makes_its_target(tmp_path):
    (tmp_path / "link").symlink_to("later")
    write_atomically(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "later").read_bytes() == b"new"


def test_links_in_a_circle_stay_as_they_are(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="symbolic links"):
        write_atomically(tmp_path / "a", b"new")
    assert (tmp_path / "a").is_symlink()
    assert (tmp_path / "b").is_symlink()


def test_a_file_that_may_not_be_written_is_not_replaced(tmp_path, monkeypatch):
    place = tmp_path / "model"
    place.write_bytes(b"old")
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write everything
    with pytest.raises(PermissionError) as caught:
        write_atomically(place, b"new")
    assert caught.value.filename == str(place)
    assert place.read_bytes() == b"old"


# --- drafts ---


@pytest.mark.parametrize("name", ["m" * 250, "ä" * 125, "m" * 255])
def test_a_name_may_be_as_long_as_files_have_them(tmp_path, name):
    for content in (b"old", b"new"):
        write_atomically(tmp_path / name, content)
    assert (tmp_path / name).read_bytes() == b"new"
    assert len(list(tmp_path.iterdir())) == 1


KILLED = """
import os, signal, sys
from truism.table.atomic import write_atomically
os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
write_atomically(sys.argv[1], b"half")
"""


def test_the_next_writer_removes_what_a_killed_one_left(tmp_path):
    place = tmp_path / "model"
    for _ in range(2):
        subprocess.run([sys.executable, "-c", KILLED, str(place)], check=False)
    assert len(list(tmp_path.iterdir())) == 1  # the second removed what the first left
    write_atomically(tmp_path / "model.x", b"another")
    assert len(list(tmp_path.iterdir())) == 2
    write_atomically(place, b"new")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "model.x"]


def test_a_draft_that_is_being_written_and_files_of_others_stay(tmp_path, monkeypatch):
    place = tmp_path / "model"
    mine = [tmp_path / name for name in (".model.draft", ".model.abcdefghi.draft", ".model.a.b")]
    for path in mine:
        path.write_bytes(b"mine")
    real, inner = os.replace, []

    def replace(draft, target):
        if not inner:
            inner.append(draft)
            write_atomically(place, b"first")
            assert os.path.exists(draft)
        real(draft, target)

    monkeypatch.setattr(os, "replace", replace)
    write_atomically(place, b"second")
    assert place.read_bytes() == b"second"
    assert sorted(tmp_path.iterdir()) == sorted([place, *mine])


def test_a_draft_that_another_removes_before_it_is_locked_is_made_again(tmp_path, monkeypatch):
    place = tmp_path / "model"
    real, made = os.open, []

    def snatched(path, *options):
        handle = real(path, *options)
        if not made:
            os.unlink(path)
        made.append(path)
        return handle

    monkeypatch.setattr(os, "open", snatched)
    write_atomically(place, b"new")
    assert place.read_bytes() == b"new"
    assert len(made) == 2


# --- one editor at a time ---


def test_only_one_may_change_a_file_at_a_time(tmp_path):
    place = tmp_path / "model"
    place.write_bytes(b"0")

    def add(_):
        with alone_with(place):
            write_atomically(place, str(int(place.read_bytes()) + 1).encode())

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(add, range(40)))
    assert place.read_bytes() == b"40"


def test_who_waits_too_long_is_told(tmp_path):
    place = tmp_path / "model"
    place.write_bytes(b"x")
    with alone_with(place), pytest.raises(BlockingIOError) as caught:
        alone_with(place, patience=0.1).__enter__()
    assert caught.value.filename == str(place)


def test_a_file_made_for_its_lock_goes_when_it_cannot_be_looked_at(tmp_path, monkeypatch):
    place = tmp_path / "new.state"

    def fails(_):
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fstat", fails)
        with pytest.raises(OSError, match="Input/output"):
            alone_with(place, create=True).__enter__()
    assert not place.exists()
    place.write_text("old")
    with monkeypatch.context() as patch:
        patch.setattr(os, "fstat", fails)
        with pytest.raises(OSError, match="Input/output"):
            alone_with(place, create=True).__enter__()
    assert place.read_text() == "old"
    with alone_with(place, patience=0.1):  # nothing is locked any more
        pass


def test_a_device_or_pipe_is_neither_locked_nor_removed(tmp_path):
    place = tmp_path / "pipe"
    os.mkfifo(place)
    with alone_with(place, patience=0.1, create=True), alone_with(place, patience=0.1, create=True):
        pass
    assert stat.S_ISFIFO(place.stat().st_mode)


def test_a_lock_dies_with_its_owner(tmp_path):
    place = tmp_path / "model"
    place.write_bytes(b"x")
    script = (
        "import os, signal, sys\nfrom truism.table.atomic import alone_with\n"
        "with alone_with(sys.argv[1]): os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", script, str(place)], check=False)
    assert done.returncode == -signal.SIGKILL
    with alone_with(place, patience=0.1):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_without_locks_a_change_by_others_is_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr(atomic, "_can_lock", False)
    place = tmp_path / "model"
    place.write_bytes(b"x")
    with alone_with(place) as unchanged:
        assert unchanged()
        write_atomically(place, b"y")
        assert not unchanged()


def test_the_module_can_be_imported_where_there_are_no_locks():
    script = "import sys; sys.modules['fcntl'] = None\nimport truism.table.atomic"
    subprocess.run([sys.executable, "-c", script], check=True)
