"""The notebook in docs runs, and what it shows is what it stores."""

import importlib.util
import json
import os
from pathlib import Path

import matplotlib
import pytest

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture(scope="module")
def notebook():
    spec = importlib.util.spec_from_file_location("notebook", DOCS / "notebook.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def kinds(outputs):
    return [sorted(each.get("data", ["text"])) for each in outputs]


def test_the_notebook_runs_and_shows_what_it_stores(notebook):
    matplotlib.use("agg")
    stored = json.loads((DOCS / "start.ipynb").read_text(encoding="utf-8"))
    code = [cell for cell in stored["cells"] if cell["cell_type"] == "code"]
    kept = [cell["outputs"] for cell in code]
    found = notebook.run(stored["cells"])
    # Words and figures change with truism and PyOD; `make docs` stores them anew.
    assert [kinds(each) for each in found] == [kinds(each) for each in kept]
    assert "InvariantRules" in notebook.said(found)[-1][0]


def test_what_the_notebook_stores_is_modest():
    assert os.path.getsize(DOCS / "start.ipynb") < 200_000
