"""``python -m truism``, and the program ``truism``.

The command line is imported only within `main`, so that whoever interrupts it in the first moments
sees a sentence, too.
"""

import gc
import sys


class NoPandas:
    """Hides pandas from Arrow, which would load it to recognise its objects; the program has none."""

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        """Refuse to find pandas, as if it were not installed."""
        if name == "pandas":
            raise ModuleNotFoundError(name=name)


def main() -> None:
    """Run the program."""
    sys.meta_path.insert(0, NoPandas)
    # Rules are many small objects without cycles; to look for some is a tenth of a short check.
    gc.set_threshold(100_000)
    try:
        from truism.cli import main as run

        run()
    except KeyboardInterrupt:
        if sys.stderr is not None:
            sys.stderr.write("Error: Interrupted.\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
