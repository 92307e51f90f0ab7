"""Compiled loops: what is known of their cache."""

import sys

import pytest

from truism.learning import kernels


@pytest.mark.parametrize("elsewhere", [True, False])
def test_compiled_loops_are_looked_for_where_numba_puts_them(tmp_path, monkeypatch, elsewhere):
    package = tmp_path / "site-packages" / "kernels"
    monkeypatch.setattr(kernels, "__file__", str(package / "__init__.py"))
    if elsewhere:
        monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
        cache = tmp_path / "cache" / "kernels_0a1b2c"
    else:
        monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
        cache = package / "__pycache__"
    assert not kernels.are_cached()
    cache.mkdir(parents=True)
    for module in kernels.NAMES:
        assert not kernels.are_cached()
        version = f"{sys.version_info.major}{sys.version_info.minor}"
        (cache / f"{module}.grow-7.py{version}.nbi").touch()
    assert kernels.are_cached()
