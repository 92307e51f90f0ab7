"""``python -m truism``, and the program ``truism``.

The command line is imported only within `main`, so that whoever interrupts it in the first moments
sees a sentence, too.
"""

import sys


def main() -> None:
    """Run the program."""
    try:
        from truism.cli import main as run

        run()
    except KeyboardInterrupt:
        if sys.stderr is not None:
            sys.stderr.write("Error: Interrupted.\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
