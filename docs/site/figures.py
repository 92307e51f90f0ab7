"""Figures in the gallery: what `truism.plot` returns, which is made without pyplot."""

from typing import Any

from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst


def draw(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:  # noqa: ARG001
    """Show the figure that a block of an example ends with."""
    figure = block_vars["example_globals"].get("___")
    if not isinstance(figure, Figure) or hasattr(figure, "drawn"):
        return ""
    figure.drawn = True  # a later block may end without a value of its own
    path = next(block_vars["image_path_iterator"])
    figure.savefig(path, dpi=120)
    return str(figure_rst([path], gallery_conf["src_dir"]))
