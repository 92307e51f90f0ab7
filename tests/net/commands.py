"""The commands one after the other in one folder: what they answer, and what they refuse."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import truism
from tests.net import tables
from tests.net.observing import digest
from tests.net.program import Answer, inside, run

LINES = 12


def observe_commands(folder: Path) -> dict[str, Any]:
    """Run them, and return what each did by its text."""
    _write_tables(folder)
    answers: dict[str, Any] = {}
    with inside(folder):
        for shown, commands in SHOWN.items():
            for command in commands:
                answers[command] = shown(_run(command))
        answers["a series in two pieces"] = _pieces()
    return {"commands": answers}


# Ids that follow from the last bits of a model (`names`), and numbers with more digits than count.
_IDS = re.compile(r"\b[a-z2-7]{16}\b|(?<=pattern )[a-z2-7]{8}\b")
_DIGITS = re.compile(r"-?\d+\.\d{7,}(e-?\d+)?")
_NOW = re.compile(r"\d{4}-\d\d-\d\dT[\d:]+\+00:00")
_TODAY = re.compile(r"accepted on \d+ \w+ \d{4} by [^:]+:")


def _run(command: str) -> Answer:
    words = command.replace("FIRST_RULE", _first_rule()).split()
    answer = run(*(word.replace("~", " ") for word in words))
    out = _NOW.sub("NOW", _IDS.sub("ID", answer.out)).replace(truism.__version__, "VERSION")
    out = _TODAY.sub("accepted TODAY by USER:", out)
    out = _DIGITS.sub(lambda found: f"{float(found[0]):.6g}", out)
    return Answer(answer.code, out, answer.err)


def _first_rule() -> str:
    model = Path("m.json")
    return truism.load(model).rules_[0].id if model.exists() else ""


def _write_tables(folder: Path) -> None:
    numbers, faults = tables.numbers(), tables.faults()
    tables.write(numbers.normal, folder / "normal.csv")
    later = {**numbers.later, "wrong": [int(each) for each in numbers.wrong]}
    tables.write(later, folder / "later.csv")
    fewer = {name: column for name, column in numbers.later.items() if name != "heat"}
    tables.write(fewer, folder / "fewer.csv")
    tables.write({**numbers.later, "heat": ["warm"] * 250}, folder / "words.csv")
    tables.write({name: [] for name in numbers.later}, folder / "empty.csv")
    tables.write(faults.normal, folder / "series.csv")
    for name, rows in (("piece1", slice(0, 430)), ("piece2", slice(430, 1000))):
        piece = {column: values[rows] for column, values in faults.later.items()}
        tables.write(piece, folder / f"{name}.csv")
    (folder / "broken.json").write_text('{"format": "truism"', encoding="utf-8")


def whole(answer: Answer) -> dict[str, Any]:
    """Record all of an answer."""
    return answer.facts()


def long(answer: Answer) -> dict[str, Any]:
    """Record the length of an answer, its first lines and a digest."""
    facts = answer.facts()
    lines = facts.pop("out")
    return {**facts, "lines": len(lines), "first": lines[:LINES], "all": digest(lines)}


def brief(answer: Answer) -> dict[str, Any]:
    """Record the first line of an answer that is to be told otherwise."""
    facts = answer.facts()
    return {**facts, "out": facts["out"][:1]}


SHOWN: Mapping[Callable[[Answer], dict[str, Any]], Sequence[str]] = {
    whole: (
        "learn normal.csv -o m.json",
        "learn normal.csv -o other.json --ignore count --seed 3",
        "learn normal.csv -o strict.json",
        "calibrate strict.json later.csv --max-false-positive-rate 0.02",
        "learn series.csv -o series.json",
        "rules m.json --top 3",
        "rules m.json --about power --about load --sort support --top 4 --format csv",
        "rules m.json --contains speed~=~1500 --sort length --top 3 --format jsonl",
        "explain later.csv -m m.json --row 196",
        "explain later.csv -m m.json --row 3 --top 2",
        "check later.csv -m m.json --report r.html --label wrong",
        "check normal.csv -m m.json --threshold 1000",
        "check later.csv -m m.json --top 2 --format csv",
        "check fewer.csv -m m.json --allow-missing --top 1",
        "check later.csv -m m.json --mute power --top 1",
        # What is refused
        "nothing",
        "check",
        "learn normal.csv",
        "learn nowhere.csv -o n.json",
        "learn empty.csv -o n.json",
        "learn normal.csv -o nowhere/n.json",
        "learn normal.csv -o n.json --ignore nothing",
        "learn normal.csv -o n.json --by nothing",
        "learn normal.csv -o n.json --time load",
        "learn normal.csv -o n.json --min-support 2",
        "learn normal.csv -o n.json --support-ratio -1",
        "learn normal.csv -o n.json --lookback never",
        "learn normal.csv -o n.json --max-false-incidents often",
        "check later.csv -m nowhere.json",
        "check later.csv -m later.csv",
        "check later.csv -m broken.json",
        "check fewer.csv -m m.json",
        "check words.csv -m m.json",
        "check empty.csv -m m.json",
        "check later.csv -m m.json --report r.html --label load",
        "check later.csv -m m.json --report r.html --label nothing",
        "check later.csv -m m.json --label wrong",
        "check later.csv -m m.json --mute nothing",
        "check later.csv -m m.json --threshold high",
        "check later.csv -m m.json --gap -1",
        "explain later.csv -m m.json --row 250",
        "rules m.json --about nothing",
        "rules m.json --disable nothing --reason none",
        "rules m.json --disable FIRST_RULE",
        "rules m.json --enable FIRST_RULE",
        "export m.json --to nothing",
        "export m.json --to dbt",
        "plant --rows 0 -o plant",
    ),
    long: (
        "rules m.json --format json --top 5",
        "check later.csv -m m.json --top 1 --format jsonl",
        "export m.json --to markdown",
        "export m.json --to json",
        "export m.json --to sql --dialect duckdb --table readings",
        "plant --rows 30 --seed 3 -o plant",
    ),
    # These are to change.
    brief: (
        "calibrate other.json later.csv --max-false-positive-rate 0.05",
        "compare m.json strict.json",
        "compare m.json other.json --on later.csv --fail-if lost",
        "status later.csv -m m.json",
        "accept -m m.json --dry-run",
        "accept later.csv -m m.json --rows 196:196 --reason test --dry-run",
        # From here on, with a rule less
        "rules m.json --disable FIRST_RULE --reason a~test",
        "check later.csv -m m.json",
        "rules m.json --enable FIRST_RULE",
    ),
}


def _pieces() -> dict[str, Any]:
    """Check a series in two pieces with a state, and the second piece again."""
    answers = {}
    ids = set()
    for call, piece in (("first", "piece1"), ("second", "piece2"), ("again", "piece2")):
        asked = f"check {piece}.csv -m series.json --state s.state --name tank --format events"
        answer = run(*asked.split())
        events = [json.loads(line) for line in answer.out.splitlines()]
        ids |= {each["id"] for each in events if each["event"] == "opened"}
        assert all(each["id"] in ids for each in events)  # what is open keeps its id
        told = ("event", "kind", "state", "start", "end", "n_rows", "started", "ended")
        lines = [" ".join(str(each[name]) for name in told) for each in events]
        answers[call] = {**answer.facts(out=False), "events": lines}
    asked = "check piece2.csv -m series.json --state s.state --name other"
    refused = run(*asked.split())
    return {**answers, "of another name": refused.facts()}
