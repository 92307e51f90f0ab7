"""What is added around learning: the threshold that was asked for, and what compiling needs."""

import sys

import pytest

from truism import training
from truism.errors import ParameterError
from truism.model import Settings
from truism.table import as_table
from truism.training import is_compiled, train


def test_a_bad_threshold_is_refused_before_learning():
    told = []
    table = as_table({"u": ["a", "b"] * 20})
    with pytest.raises(ParameterError, match=r"^threshold must be a finite number of at least 0"):
        train(table, Settings(), threshold=-1, progress=lambda *news: told.append(news))
    assert told == []


@pytest.mark.parametrize("elsewhere", [True, False])
def test_compiled_loops_are_looked_for_where_numba_puts_them(tmp_path, monkeypatch, elsewhere):
    package = tmp_path / "site-packages" / "truism"
    monkeypatch.setattr(training, "__file__", str(package / "training.py"))
    if elsewhere:
        monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
        cache = tmp_path / "cache" / "truism_0a1b2c"
    else:
        monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
        cache = package / "__pycache__"
    assert not is_compiled()
    cache.mkdir(parents=True)
    for module in ("_context_kernels", "_mining_kernels", "_tree_kernels"):
        assert not is_compiled()
        version = f"{sys.version_info.major}{sys.version_info.minor}"
        (cache / f"{module}.grow-7.py{version}.nbi").touch()
    assert is_compiled()
