"""With the compiler switched off, the loops run as plain Python, and learn the same to the byte."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from learned import learn
from truism.learn import contexts, trees
from truism.model.files import encode_model
from truism.table.frames import as_table

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
PROGRAM = "import json, sys, test_jit_off; print(json.dumps(test_jit_off.learned(sys.argv[1])))"


def mixed_table():
    """States and numbers that depend on each other, with missing values."""
    random = np.random.default_rng(1)
    level = random.normal(size=150)
    flow = np.round(level + 0.2 * random.normal(size=150), 1)
    flow[::17] = np.nan
    valve = np.where(level > 0.5, "open", np.where(level < -1, "shut", "half"))
    pump = [None if i % 19 == 7 else bool(each > 0) for i, each in enumerate(level)]
    return as_table({"level": level, "flow": flow, "valve": valve.tolist(), "pump": pump})


def many_bins():
    """More different numbers than one byte can tell apart."""
    random = np.random.default_rng(2)
    x = random.normal(size=280)
    return as_table({"x": x, "y": x + random.normal(size=280)})


def many_states():
    """More states than are counted one by one, and no number at all."""
    random = np.random.default_rng(3)
    batch = random.integers(0, 40, 300)
    return as_table({"batch": [f"b{i}" for i in batch], "line": (batch % 3).tolist()})


EXAMPLES = {
    "mixed": (mixed_table, {"min_support": 0.05}, {}),
    "mixed, longer rules": (mixed_table, {"min_support": 0.1, "max_predicates": 4}, {}),
    "classes counted by sorting": (mixed_table, {"min_support": 0.05}, {(trees, "MAX_TABLE"): 0}),
    "contexts grown on few rows": (
        mixed_table,
        {"min_support": 0.1},
        {(contexts, "MAX_FIT_ROWS"): 60, (contexts, "MAX_REMEMBERED"): 0},
    ),
    "a series": (many_bins, {"min_support": 0.05, "ordered": True}, {}),
    "two bytes a bin": (many_bins, {"min_support": 0.005}, {}),
    "many states": (many_states, {"min_support": 0.01}, {}),
}


def learned(name):
    """Return the model file that is learned from an example."""
    table, settings, limits = EXAMPLES[name]
    with pytest.MonkeyPatch.context() as patch:
        for (module, limit), value in limits.items():
            patch.setattr(module, limit, value)
        return encode_model(learn(table(), **settings)).decode()


def learned_without_compiler(name):
    """Return what plain Python learns; there, a sum that overflows is an error."""
    path = os.pathsep.join([str(HERE), *sys.path])
    done = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-c", PROGRAM, name],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": path},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_same_is_learned_without_the_compiler(name):
    assert learned_without_compiler(name) == learned(name)
