"""Two writers: whatever two or three programs do at once, no edit is lost without a word."""

import random

from attack.attempts import Bench, Broken, Kind
from attack.program import complaint
from truism.errors import ModelFileError
from truism.model.files import decode_model, load_model


def attempt(draw: random.Random, bench: Bench) -> None:
    """Start writers and readers of one model at once."""
    bench.samples.copy_to(bench.folder)
    ids = draw.sample(bench.samples.rules, draw.randint(2, 4))
    commands = [["rules", "m.json", "--disable", each, "--reason", "why"] for each in ids]
    if draw.random() < 0.4:
        commands.append(["check", "today.csv", "-m", "m.json", "--report", "r.html"])
    if draw.random() < 0.3:
        commands.append(["check", "today.csv", "-m", "m.json", "--report", "r.html"])
    draw.shuffle(commands)
    started = [bench.program.start(bench.folder, *command) for command in commands]
    before = (bench.samples.folder / "m.json").read_bytes()
    ended = [each.wait() for each in started]
    for each in ended:
        problem = complaint(each)
        if problem is not None:
            raise Broken(problem)
    written = {
        each.arguments[3] for each in ended if each.arguments[0] == "rules" and not each.code
    }
    try:
        model = load_model(bench.folder / "m.json")
    except ModelFileError as problem:
        raise Broken(f"the model is damaged: {problem}") from problem
    disabled = {each.rule_id for each in model.disabled}
    if disabled != written | {each.rule_id for each in decode_model(before).disabled}:
        raise Broken(f"written {sorted(written)}, kept {sorted(disabled)}")
    page = bench.folder / "r.html"
    if page.exists() and not page.read_bytes().rstrip().endswith(b"</html>"):
        raise Broken("the page of two writers is not whole")
    if list(bench.folder.glob(".*.draft")):
        raise Broken("a draft was left behind")


KIND = Kind("writers", 60, attempt)
