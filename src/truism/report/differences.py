"""What differs between two models, in words: a `Comparison` goes in, `Differences` come out.

Screen, page and plain text are made from the same `Differences`; JSON is the `Comparison` itself.
"""

import msgspec

from truism.explaining.comparison import Comparison
from truism.report.changes import model_sections, overview, say_models
from truism.report.outcomes import say_table, table_sections
from truism.report.sections import Section


class Differences(msgspec.Struct, frozen=True):
    """What differs between two models, in words.

    Parameters
    ----------
    old, new
        What the models are called.
    same
        Whether nothing differs.
    said
        What matters most, in sentences.
    sections
        The details; kinds without any are left out.

    """

    old: str
    new: str
    same: bool
    said: tuple[str, ...]
    sections: tuple[Section, ...]


def describe(
    comparison: Comparison, old: str = "old model", new: str = "new model", most: int = 0
) -> Differences:
    """Put a comparison into words.

    Parameters
    ----------
    comparison
        What differs.
    old, new
        What the models are called.
    most
        How many rows of each section to keep; 0 keeps all.

    Returns
    -------
    Differences

    """
    models, table = comparison.models, comparison.table
    sections: list[Section] = []
    if not comparison.same:
        sections = [
            overview(models),
            *([] if table is None else table_sections(table, most)),
            *model_sections(models, most),
        ]
    said = [() if table is None else tuple(say_table(table)), tuple(say_models(models))]
    if comparison.same:
        said.reverse()
    return Differences(old, new, comparison.same, (*said[0], *said[1]), tuple(sections))
