"""Record anew, and print what differs from what was recorded.

python -m tests.net [NAME ...]
"""

import sys
import tempfile
from pathlib import Path

from tests.net import public
from tests.net.comparing import record
from tests.net.records import ALL, MAKER_OF, PUBLIC


def main() -> int:
    """Record what was named, or all that can be."""
    asked = [MAKER_OF.get(each, each) for each in sys.argv[1:]]
    for each in asked:
        if each not in ALL:
            print(f"Nothing is recorded as {each!r}; there are: {', '.join(ALL)}.")
            return 2
    for name in asked or [each for each in ALL if each not in PUBLIC or public.data()]:
        with tempfile.TemporaryDirectory() as folder:
            found = ALL[name](Path(folder)).items()
        changes = [line for part, facts in found for line in record(part, facts)]
        said = f"{len(changes)} differences" if changes else "as it was"
        print("\n  ".join([f"{name}: {said}", *changes]), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
