"""Run the notebook ``docs/start.ipynb`` and store what it prints: ``python docs/notebook.py``.

A cell is plain Python: its last expression is shown as text and, where it has a view for notebooks, as
HTML; figures that it leaves open are stored as pictures. No kernel and no server are needed, so the test
that runs the notebook takes seconds.
"""

import ast
import base64
import contextlib
import io
import json
from pathlib import Path
from typing import Any

import matplotlib

PLACE = Path(__file__).with_name("start.ipynb")


def run(cells: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Run the cells of code in order, and return the outputs of each."""
    from matplotlib import pyplot

    shared: dict[str, Any] = {"__name__": "__main__"}
    outputs = []
    with matplotlib.rc_context({"figure.dpi": 60, "savefig.dpi": 60}):
        for cell in (each for each in cells if each["cell_type"] == "code"):
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                value = _value("".join(cell["source"]), shared)
            found = []
            if printed.getvalue():
                found.append(
                    {"output_type": "stream", "name": "stdout", "text": printed.getvalue()}
                )
            pictures = [_picture(pyplot.figure(each)) for each in pyplot.get_fignums()]
            pyplot.close("all")
            if hasattr(value, "savefig"):
                pictures.append(_picture(value))
            elif value is not None:
                found.append(_result(value))
            outputs.append(found + pictures)
    return outputs


def _value(source: str, shared: dict[str, Any]) -> Any:
    """Run a cell, and return the value of its last line if that is an expression."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "start.ipynb", "exec"), shared)
    if last is None:
        return None
    return eval(compile(ast.Expression(last.value), "start.ipynb", "eval"), shared)


def _result(value: Any) -> dict[str, Any]:
    data = {"text/plain": repr(value)}
    view = getattr(value, "_repr_html_", None)
    if view is not None:
        data["text/html"] = view()
    return {
        "output_type": "execute_result",
        "execution_count": None,
        "metadata": {},
        "data": data,
    }


def _picture(figure: Any) -> dict[str, Any]:
    file = io.BytesIO()
    figure.savefig(file, format="png", metadata={"Software": None})
    data = {"image/png": base64.b64encode(file.getvalue()).decode()}
    return {"output_type": "display_data", "metadata": {}, "data": data}


def said(outputs: list[list[dict[str, Any]]]) -> list[list[str]]:
    """Return what cells printed and showed as text; pictures differ from machine to machine."""
    return [
        [each.get("text") or each["data"].get("text/plain", "picture") for each in found]
        for found in outputs
    ]


def fresh() -> dict[str, Any]:
    """Return the notebook with the outputs of this run."""
    book = json.loads(PLACE.read_text(encoding="utf-8"))
    code = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    for number, (cell, found) in enumerate(zip(code, run(book["cells"]), strict=True), 1):
        cell["outputs"], cell["execution_count"] = found, number
        for each in found:
            if "execution_count" in each:
                each["execution_count"] = number
    return book


if __name__ == "__main__":
    matplotlib.use("agg")
    text = json.dumps(fresh(), ensure_ascii=False, indent=1)
    PLACE.write_text(text + "\n", encoding="utf-8")
