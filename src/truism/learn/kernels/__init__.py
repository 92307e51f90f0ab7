"""The compiled loops of learning; nothing outside `truism.learn` imports them.

- `contexts`: grow the trees of contexts, and sum up their leaves
- `mining`: search for rules, and check them against rows
- `trees`: grow the trees that propose cut-offs

Importing a kernel imports the compiler, so that happens inside the functions that learn.
"""

from truism.score import kernels

NAMES = ("contexts", "mining", "trees")


def load() -> None:
    """Compile the loops on a machine's first use; later processes load them from the cache."""
    kernels.load(__name__)
