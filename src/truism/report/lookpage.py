"""The page of a table at first sight: a `Sight` goes in, one self-contained HTML file comes out.

It has no script and refers to nothing outside itself; a content security policy says so, too.
"""

from truism.report.looks import Sight
from truism.report.pages import policy, template

_WIDTH, _HEIGHT, _GAP = 132, 30, 0.6


def to_page(sight: Sight, source: str, created: str) -> str:
    """Return the page of a table at first sight.

    Parameters
    ----------
    sight
        The table in words.
    source
        Where it came from.
    created
        When the page was made.

    """
    return template("look.html").render(
        sight=sight,
        source=source,
        created=created,
        policy=policy(),
        bars=[_bars(column.bars) for column in sight.columns],
        width=_WIDTH,
        height=_HEIGHT,
    )


def _bars(counts: tuple[int, ...]) -> str:
    """Return the outline of bars, each as high as its share of the highest."""
    width, tallest = _WIDTH / max(len(counts), 1), max(counts, default=1)
    return "".join(
        f"M{i * width:.1f} {_HEIGHT}V{_HEIGHT - 1 - (_HEIGHT - 2) * n / tallest:.1f}"
        f"h{width - _GAP:.1f}V{_HEIGHT}z"
        for i, n in enumerate(counts)
        if n
    )
