"""A file is written as a whole or not at all."""

import os

import pytest

from truism.table.atomic import write_atomically


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")
    write_atomically(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def test_a_device_stays_a_device():
    write_atomically(os.devnull, b"gone")
    assert not os.path.isfile(os.devnull)


def test_a_failure_leaves_the_old_file_and_no_draft(tmp_path, monkeypatch):
    (tmp_path / "model").write_bytes(b"old")

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(tmp_path / "model", b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    assert (tmp_path / "model").read_bytes() == b"old"


def test_a_failure_names_the_file_that_was_asked_for(tmp_path):
    place = str(tmp_path / "no" / "model")
    with pytest.raises(FileNotFoundError) as caught:
        write_atomically(place, b"new")
    assert caught.value.filename == place
