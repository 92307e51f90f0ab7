"""Streams: closed, full, broken or slow ones; a code never claims output that was lost."""

import random

from attack.attempts import Bench, Broken, Kind
from attack.program import NOISE, fresh

COMMANDS = (
    ("check today.csv -m m.json", 1),
    ("check today.csv -m m.json --format json", 1),
    ("check normal.csv -m m.json --threshold 1e9", 0),
    ("check today.csv -m m.json --format csv --report r.html", 1),
    ("explain today.csv -m m.json --row 3", 0),
    ("rules m.json --top 0", 0),
    ("export m.json --to json", 0),
    ("look today.csv", 0),
    ("compare m.json other.json", 0),
    ("compare m.json other.json --fail-if lost,new --format json", 1),
    ("status today.csv -m m.json", 3),
    ("status today.csv -m m.json --format json", 3),
    ("accept --when pump=on --mute flow --reason why -m m.json -o n.json", 0),
    ("accept today.csv --rows 0:119 --reason why -m taken.json --dry-run --format json", 0),
    ("learn normal.csv -o n.json", 0),
    ("check second.csv -m m.json --state job.state", 1),
    ("check second.csv -m m.json --state job.state --format events", 1),
    ("check --models first.toml", 1),
    ("calibrate m.json normal.csv", 0),
    ("--help", 0),
    ("check --help", 0),
)
# A way to cut the streams, and whether standard output is lost by it.
WAYS = (
    ("TRUISM >&-", True),
    ("TRUISM >/dev/full", True),
    ("TRUISM >&- 2>&-", True),
    ("TRUISM 2>&- >/dev/null", False),
    ("TRUISM 2>/dev/full >/dev/null", False),
    ("TRUISM <&- >/dev/null", False),
    ("TRUISM </dev/full >/dev/null", False),
    ("TRUISM | true; exit ${PIPESTATUS[0]}", False),
    ("TRUISM | head -c 5 >/dev/null; exit ${PIPESTATUS[0]}", False),
    ("{ TRUISM; } 2>&1 | true; exit ${PIPESTATUS[0]}", False),
    ("TRUISM | (sleep 0.3; cat >/dev/null); exit ${PIPESTATUS[0]}", False),
    ("(ulimit -f 1; trap '' XFSZ; TRUISM >cut; code=$?; exit $code)", None),
)


def attempt(draw: random.Random, bench: Bench) -> None:
    """Run a command with streams that are cut."""
    line, code = draw.choice(COMMANDS)
    way, lost = draw.choice(WAYS)
    bench.samples.copy_to(bench.folder)
    unbuffered = draw.choice(["", "1"])
    ended = fresh(bench.folder, *line.split(), line=way, PYTHONUNBUFFERED=unbuffered)
    allowed = {2} if lost else {code} if lost is False else {code, 2}
    if ended.code not in allowed:
        raise Broken(f"{way}: {ended.code} instead of {allowed}: {ended.said()}")
    if NOISE.search(ended.error):
        raise Broken(f"{way}: noise: {ended.said()}")
    if "cut" in way and ended.code != 2:
        for name in ("one.state", "two.state"):
            (bench.folder / name).unlink(missing_ok=True)
        bench.samples.copy_to(bench.folder)
        whole = fresh(bench.folder, *line.split()).out
        if (bench.folder / "cut").read_bytes() != whole:
            raise Broken(f"{way}: output was lost, and yet exit {ended.code}")


KIND = Kind("streams", 60, attempt)
