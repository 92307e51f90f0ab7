"""Two writers: whatever two or three programs do at once, no edit is lost without a word."""

import itertools
import random
from collections.abc import Callable

import pyarrow.parquet as parquet

from attack.attempts import Bench, Broken, Kind
from attack.program import Ended, complaint
from attack.samples import masked, wrong_rows
from truism.errors import ModelFileError
from truism.model.files import decode_model, load_model


def attempt(draw: random.Random, bench: Bench) -> None:
    """Start programs that work on one file at once."""
    bench.samples.copy_to(bench.folder)
    draw.choice(WAYS)(draw, bench)
    if list(bench.folder.glob(".*.draft")):
        raise Broken("a draft was left behind")


def _at_once(bench: Bench, lines: list[str]) -> list[Ended]:
    started = [bench.program.start(bench.folder, *line.split()) for line in lines]
    ended = [each.wait() for each in started]
    for each in ended:
        problem = complaint(each)
        if problem is not None:
            raise Broken(problem)
    return ended


def models(draw: random.Random, bench: Bench) -> None:
    """Change and read one model: every change that was confirmed is kept."""
    ids = draw.sample(bench.samples.rules, draw.randint(2, 4))
    lines = [f"rules m.json --disable {each} --reason why" for each in ids]
    if draw.random() < 0.4:
        lines.append("calibrate m.json normal.csv --max-false-positive-rate 0.05")
    lines += ["check today.csv -m m.json --report r.html"] * draw.choice([0, 0, 1, 2])
    draw.shuffle(lines)
    before = decode_model((bench.samples.folder / "m.json").read_bytes())
    done = [each.arguments for each in _at_once(bench, lines) if each.code != 2]
    written = {each[3] for each in done if each[0] == "rules"}
    try:
        model = load_model(bench.folder / "m.json")
    except ModelFileError as problem:
        raise Broken(f"the model is damaged: {problem}") from problem
    disabled = {each.rule_id for each in model.disabled}
    if disabled != written | {each.rule_id for each in before.disabled}:
        raise Broken(f"written {sorted(written)}, kept {sorted(disabled)}")
    if any(each[0] == "calibrate" for each in done) != (model.limit != before.limit):
        raise Broken(f"the threshold was {before.limit} and is {model.limit} after {done}")
    page = bench.folder / "r.html"
    if page.exists() and not page.read_bytes().rstrip().endswith(b"</html>"):
        raise Broken("the page of two writers is not whole")


def states(draw: random.Random, bench: Bench) -> None:
    """Go on from one state: it is that of the jobs that were confirmed, in some order."""
    lines = [f"check {name}.csv -m m.json --state out.state" for name in ("first", "second")]
    lines += draw.sample(lines, draw.randint(0, 1))
    draw.shuffle(lines)
    done = [" ".join(each.arguments) for each in _at_once(bench, lines) if each.code != 2]
    if not done:
        raise Broken("no job was done")
    found = masked((bench.folder / "out.state").read_bytes())
    for order in sorted(set(itertools.permutations(done))):
        if masked(bench.samples.after(*order, outputs=("out.state",))["out.state"]) == found:
            return
    raise Broken(f"the state is that of no order of {done}")


def ledgers(draw: random.Random, bench: Bench) -> None:
    """Accept rows: the model and its ledger hold all that were confirmed."""
    rows = draw.sample(sorted(wrong_rows(2, 120, 9)), draw.randint(2, 3))
    asked = "accept today.csv -m m.json -o m.json --who me"
    lines = [f"{asked} --rows {row} --reason why-{row}" for row in rows]
    done = {each.arguments[-1] for each in _at_once(bench, lines) if each.code != 2}
    model = load_model(bench.folder / "m.json")
    accepted = {each.reason for each in model.accepted or ()}
    place = bench.folder / "m.accepted.parquet"
    kept = {*parquet.read_table(place).column("truism:reason").to_pylist()} if done else set()
    if accepted != done or not done <= kept:
        raise Broken(f"confirmed {done}, accepted {accepted}, in the ledger {kept}")


# What several programs may work on at once; a further kind of file joins here.
WAYS: tuple[Callable[[random.Random, Bench], None], ...] = (models, states, ledgers)

KIND = Kind("writers", 60, attempt)
