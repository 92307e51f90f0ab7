"""Compiled loops: what is known of their cache, and learning where there can be none."""

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core import caching

import truism
from truism.learn import kernels
from truism.learn.kernels import mining
from truism.score import kernels as scoring
from truism.score.kernels import compiling

PROGRAM = """
import json
from truism.learn import kernels
from truism.learn.learn import learn as train
from truism.model.settings import Settings
from truism.score import kernels as scoring
from truism.table.frames import as_table

before = scoring.can_cache(kernels.__name__), scoring.are_cached(kernels.__name__)
table = as_table({"pump": ["on", "off"] * 50, "flow": [2.5, 0.0] * 50})
model = train(table, Settings(min_support=0.1))
rule = model.rules.sorted_by("chance")[0]
print(json.dumps([*before, str(rule)]))
"""


def test_compiled_loops_are_looked_for_where_numba_puts_them(tmp_path, monkeypatch):
    monkeypatch.setattr(compiling, "cache_folder", lambda _: str(tmp_path))
    for module in kernels.NAMES:
        assert not scoring.are_cached(kernels.__name__)
        version = f"{sys.version_info.major}{sys.version_info.minor}"
        (tmp_path / f"{module}.grow-7.py{version}.nbi").touch()
    assert scoring.are_cached(kernels.__name__)


def test_loops_that_are_loaded_are_in_the_cache():
    kernels.load()
    assert scoring.can_cache(kernels.__name__)
    assert scoring.are_cached(kernels.__name__)


def test_without_a_folder_nothing_is_cached(monkeypatch):
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])
    assert compiling.cache_folder(double) is None
    assert not scoring.can_cache(kernels.__name__)
    assert not scoring.are_cached(kernels.__name__)
    assert compiling.jit(double)(21) == 42


@pytest.mark.slow  # it compiles every loop
def test_where_no_folder_can_be_written_loops_are_compiled_without_a_cache(tmp_path):
    # Whoever runs the tests may write anywhere; nobody makes a folder below a file.
    package = tmp_path / "truism"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(truism.__file__).parent, package, ignore=ignored)
    nowhere = package / "learn" / "kernels" / "__pycache__"
    nowhere.write_text("not a folder")
    places = dict.fromkeys(["HOME", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME"], str(nowhere / "x"))
    places |= {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    # Compiled in haste: it is done once and thrown away; numba warns that haste cannot be cached.
    haste = {"NUMBA_OPT": "0", "PYTHONWARNINGS": "ignore"}
    environment = {**os.environ, **places, **haste, "LOCALAPPDATA": str(nowhere)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == '[false, false, "flow = 0 \\u21d2 pump = off"]\n'
    assert not done.stderr


def double(x):
    return x + x


def test_a_full_disk_is_no_reason_not_to_compile(tmp_path, monkeypatch):
    monkeypatch.setattr(caching.config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compiling, "failures", [])

    def fill_up(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(caching.IndexDataCacheFile, "_save_data", fill_up)
    assert scoring.can_cache(kernels.__name__)
    assert compiling.jit(double)(np.int64(21)) == 42
    assert scoring.why_unkept() == "No space left on device"
    assert not scoring.can_cache(kernels.__name__)


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
def test_a_damaged_cache_is_as_good_as_none(tmp_path, monkeypatch, suffix):
    monkeypatch.setattr(caching.config, "CACHE_DIR", str(tmp_path))
    assert compiling.jit(double)(np.int64(21)) == 42
    (damaged,) = tmp_path.rglob(f"*.{suffix}")
    damaged.write_bytes(b"\x80")
    for n_hits in (0, 1):  # it is not only survived but also mended
        compiled = compiling.jit(double)
        assert compiled(np.int64(21)) == 42
        assert sum(compiled.stats.cache_hits.values()) == n_hits


def test_code_compiled_from_other_sources_is_not_used(tmp_path, monkeypatch):
    monkeypatch.setattr(caching.config, "CACHE_DIR", str(tmp_path))

    def hits():
        compiled = compiling.jit(double)
        compiled(np.int64(21))
        return sum(compiled.stats.cache_hits.values())

    assert [hits(), hits()] == [0, 1]
    monkeypatch.setattr(compiling, "source_digest", lambda _: "other")
    assert [hits(), hits()] == [0, 1]


def visit(word):
    """List the bits of a word, and count them; only loops may call the loops inside."""
    found, left = [0], word
    while left:
        found.append(mining.first_bit(left))
        left = mining.without_first_bit(left)
    return found[1:], mining.popcount(word)


@pytest.mark.parametrize("word", [1, 0b1010, 1 << 63, (1 << 64) - 1])
def test_bits_are_counted_and_visited_from_the_lowest(word):
    wanted = [i for i in range(64) if word >> i & 1]
    assert numba.njit(visit)(np.uint64(word)) == (wanted, len(wanted))
