"""Surroundings: locales, terminals, time zones, rights and flags of Python change no result."""

import os
import random

from attack.attempts import Bench, Broken, Kind
from attack.program import NOISE, Ended, fresh
from attack.samples import contents, masked

# An environment, and whether what is printed for people may look otherwise.
PLAIN: tuple[dict[str, str | None], ...] = (
    {"TERM": "dumb"},
    {"NO_COLOR": "1"},
    {"TERM": None},
    {"HOME": None},
    {"HOME": "/nowhere"},
    {"PYTHONOPTIMIZE": "2"},
    {"PYTHONUNBUFFERED": "1"},
    {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONSAFEPATH": "1"},
    {"PYTHONWARNINGS": "error"},
    {"PYTHONDEVMODE": "1", "PYTHONWARNINGS": "ignore"},
    {"TZ": "Pacific/Chatham"},
    {"TZ": "nonsense"},
    {"LC_ALL": "C.UTF-8", "LANG": "tlh"},
    {"PYTHONHASHSEED": "0"},
    {"FORCE_COLOR": "1", "NO_COLOR": "1"},
    {"TMPDIR": "/nowhere"},
    {"OMP_NUM_THREADS": "0"},
    {"NUMBA_CACHE_DIR": "/proc/nowhere"},
    {"MALLOC_PERTURB_": "165"},
)
OTHER_LOOKS: tuple[dict[str, str | None], ...] = (
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    {"PYTHONIOENCODING": "latin-1"},
    {"PYTHONIOENCODING": "ascii:strict"},
    {"COLUMNS": "1"},
    {"COLUMNS": "0"},
    {"COLUMNS": "x"},
    {"COLUMNS": "100000"},
)
COMMANDS = (
    "check today.csv -m m.json",
    "check today.csv -m m.json --format json",
    "check today.csv -m m.json --format csv --scores out.csv",
    "check today.csv -m m.json --report out.json",
    "explain today.csv -m m.json --row 5",
    "rules m.json --top 3",
    "export m.json --to markdown",
    "look today.csv",
    "compare m.json other.json",
    "compare m.json taken.json --on today.csv --format json",
    "status today.csv -m m.json",
    "status today.csv -m m.json --format json",
    "accept today.csv --rows 0:119 --reason why --who me -m m.json -o out.json",
    "accept today.csv --rows 0:119 --reason why --who me -m m.json --dry-run --format json",
    "learn normal.csv -o out.json",
    "check first.csv -m m.json --state out.state",
    "check first.csv -m m.json --state out.state --format events",
)
LINES = (
    "TRUISM",
    "umask 077; TRUISM",
    "ulimit -n 24; TRUISM",
    "ulimit -s 512; TRUISM",
    'env -u PWD bash -c \'"$PYTHON" -m truism "$@"\' truism "$@"',
)


def attempt(draw: random.Random, bench: Bench) -> None:
    """Run a command here and elsewhere."""
    line = draw.choice(COMMANDS)
    changes = draw.choice([*PLAIN, *OTHER_LOOKS])
    bench.samples.copy_to(bench.folder)
    here = fresh(bench.folder, *line.split())
    files = _written(bench)
    (bench.folder / "out.state").unlink(missing_ok=True)  # or the same rows would be skipped
    way = draw.choice(LINES)
    there = fresh(bench.folder, *line.split(), line=way, **changes)
    what = f"{changes} {way}"
    if there.code != here.code or NOISE.search(there.error):
        raise Broken(f"{what}: exit {here.code} here, there {there.said()}")
    if _written(bench) != files:
        raise Broken(f"{what}: another file was written")
    if (changes in PLAIN or line.endswith("--format json")) and _shown(there) != _shown(here):
        raise Broken(f"{what}: {line} prints something else")


def _shown(ended: Ended) -> bytes:
    return masked(ended.out)


def _written(bench: Bench) -> dict[str, bytes]:
    return {
        name: masked(content)
        for name, content in contents(bench.folder).items()
        if os.path.basename(name).startswith("out")
    }


KIND = Kind("surroundings", 60, attempt)
