"""The compiled loops of learning; nothing outside `truism.learning` imports them.

- `contexts`: grow the trees of contexts, and sum up their leaves
- `antecedents`, `consequents`, `mining`: search for rules
- `verification`: check rules against rows
- `trees`, `splits`: grow the trees that propose cut-offs
- `forest`: grow many of them side by side; compiled only where a wide table needs it
- `surroundings`: measure how empty they are around training values; compiled only there, too
- `bits`, `predicates`: what the searches share
- `prefetch`: how loops ask memory ahead of time

Importing a kernel imports the compiler, so that happens inside the functions that learn.
"""

from truism.scoring import kernels

NAMES = ("antecedents", "consequents", "contexts", "mining", "trees", "verification")


def load() -> None:
    """Compile the loops on a machine's first use; later processes load them from the cache."""
    kernels.load(__name__)
