"""Attack truism, and print one line per kind: tried, held, failed.

python -m attack                            fixed seeds, and one from the clock
python -m attack --seed 5                   one seed; the same draw every time
python -m attack --kind kills --seed 5 --number 17   one attempt again; its folder is kept
"""

import argparse
import sys
import time

from attack.attempts import Kind, Tally, attack
from attack.kinds import KINDS
from attack.program import Program
from attack.samples import Samples

FIXED = (1,)


def main() -> int:
    """Attack, and return 1 if anything did not hold."""
    parser = argparse.ArgumentParser("attack", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seed", type=int, action="append", help="instead of the usual ones")
    parser.add_argument("--kind", action="append", choices=[kind.name for kind in KINDS])
    parser.add_argument("--number", type=int, help="only the attempt of this number")
    parser.add_argument("--share", type=float, default=1.0, help="of the attempts, such as 0.1")
    asked = parser.parse_args()
    chosen = [kind for kind in KINDS if asked.kind is None or kind.name in asked.kind]
    seeds = asked.seed or [*FIXED, time.time_ns() // 1000 % 10**9]
    failed = False
    with Program() as program:
        samples = Samples(program)
        try:
            for seed in seeds:
                print(f"seed {seed}", flush=True)
                for kind in chosen:
                    numbers = numbers_of(kind, asked.share, asked.number)
                    keep = asked.number is not None
                    tally = attack(kind, seed, numbers, program, samples, keep)
                    failed |= bool(tally.failures)
                    report(tally, seed)
        finally:
            samples.remove()
    return int(failed)


def numbers_of(kind: Kind, share: float, number: int | None) -> range:
    """Return the numbers of the attempts to make."""
    if number is not None:
        return range(number, number + 1)
    return range(max(1, round(kind.n_attempts * share)))


def report(tally: Tally, seed: int) -> None:
    """Print what came of a kind, and how to try again what failed."""
    print(f"  {tally}", flush=True)
    for failure in tally.failures:
        print(f"    --kind {tally.kind} --seed {seed} --number {failure.number}")
        print("      " + failure.reason.replace("\n", "\n      "), flush=True)


if __name__ == "__main__":
    sys.exit(main())
