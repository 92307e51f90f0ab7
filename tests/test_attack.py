"""A short draw of every attack, and how attacks are drawn, counted and told."""

import re

import pytest

from attack.__main__ import main, numbers_of
from attack.attempts import Bench, Broken, Kind, Untried, attack
from attack.kinds import KINDS
from attack.program import Ended, Program, complaint
from attack.samples import WRITINGS, Samples, contents
from attack.wholeness import check_outputs
from browser import find_browser

pytestmark = pytest.mark.slow

# How many attempts of each kind the tests make; `make attack` makes hundreds.
SHORT = {
    "tables": 8,
    "files": 2,
    "retyping": 2,
    "mutations": 2,
    "jobs": 3,
    "kills": 5,
    "faults": 6,
    "signals": 4,
    "writers": 2,
    "streams": 1,
    "names": 1,
    "exports": 2,
    "surroundings": 1,
    "determinism": 1,
}


@pytest.fixture(scope="module")
def program():
    with Program() as running:
        yield running


@pytest.fixture(scope="module")
def samples(program):
    made = Samples(program)
    yield made
    made.remove()


@pytest.mark.parametrize("kind", KINDS, ids=[kind.name for kind in KINDS])
def test_a_short_draw_holds(kind, program, samples):
    if kind.name == "names" and find_browser() is None:
        pytest.skip("there is no browser")
    tally = attack(kind, 0, range(SHORT[kind.name]), program, samples)
    assert not tally.failures
    assert tally.n_tried or tally.untried


def test_every_kind_has_a_name_of_its_own_and_a_short_draw():
    assert [kind.name for kind in KINDS] == list(SHORT)
    assert all(SHORT[kind.name] < kind.n_attempts for kind in KINDS)


def drawing(seen):
    return Kind("draws", 10, lambda draw, _: seen.append(draw.random()))


def test_a_draw_follows_from_seed_kind_and_number_alone():
    seen = []
    attack(drawing(seen), 7, range(4), None, None)
    attack(drawing(seen), 7, range(2, 4), None, None)
    assert seen[4:] == seen[2:4]
    attack(drawing(seen), 8, range(2, 3), None, None)
    attack(drawing(seen)._replace(name="others"), 7, range(2, 3), None, None)
    assert len({*seen[:4], *seen[6:]}) == 6


def test_what_does_not_hold_is_counted_and_told():
    def attempt(draw, bench):
        number = numbers.pop(0)
        if number == 1:
            raise Broken("a promise")
        if number == 2:
            raise ZeroDivisionError("any other error")
        if number == 3:
            raise Untried("no root")

    numbers = [0, 1, 2, 3]
    tally = attack(Kind("odd", 4, attempt), 1, range(4), None, None)
    assert (tally.n_tried, tally.untried) == (3, "no root")
    assert [failure.number for failure in tally.failures] == [1, 2]
    assert tally.failures[0].reason == "a promise"
    assert "ZeroDivisionError: any other error" in tally.failures[1].reason
    assert re.sub(" +", " ", str(tally)) == "odd 3 tried 1 held 2 failed 0 s"
    untried = attack(
        Kind("odd", 1, lambda *_: attempt(numbers.append(3), 0)), 1, range(1), None, None
    )
    assert re.sub(" +", " ", str(untried)) == "odd not tried: no root"


def test_what_is_interrupted_stops():
    def attempt(draw, bench):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        attack(Kind("slow", 1, attempt), 1, range(1), None, None)


def test_a_share_of_the_attempts():
    kind = Kind("any", 40, None)
    assert numbers_of(kind, 0.25, None) == range(10)
    assert numbers_of(kind, 0.0, None) == range(1)
    assert numbers_of(kind, 1.0, 17) == range(17, 18)


@pytest.mark.parametrize(
    ("command", "code", "error", "wrong"),
    [
        ("check", 0, "", False),
        ("check", 1, "Note: x.\n", False),
        ("look", 1, "", True),
        ("look", 2, "Error: no.\n", False),
        ("look", 2, "", True),
        ("look", 2, "Error: no.\nError: no.\n", True),
        ("look", 0, "Error: no.\n", True),
        ("look", 2, "Error: Internal error: KeyError\n", True),
        ("look", 0, "x.py:3: RuntimeWarning: divide\n", True),
        ("look", -11, "", True),
        ("look", 70, "", True),
    ],
)
def test_how_a_command_may_end(command, code, error, wrong):
    assert (complaint(Ended((command,), code, b"", error)) is not None) == wrong


@pytest.mark.parametrize(
    "writing", [each for each in WRITINGS if each.name != "demo"], ids=lambda each: each.name
)
def test_what_is_attacked_writes_its_files_and_the_same_again(tmp_path, program, samples, writing):
    samples.copy_to(tmp_path, writing, over=True)
    before = contents(tmp_path)
    for _ in range(2):
        ended = program.run(tmp_path, *samples.arguments(writing))
        assert complaint(ended) is None
        assert check_outputs(
            Bench(tmp_path, program, samples), writing, before, drafts_allowed=False
        )


@pytest.mark.parametrize("damage", ["cut", "other", "draft", "none"])
def test_a_file_that_is_not_whole_is_seen(tmp_path, program, samples, damage):
    writing = next(each for each in WRITINGS if each.name == "markdown")
    samples.copy_to(tmp_path, writing, over=True)
    before = contents(tmp_path)
    assert program.run(tmp_path, *samples.arguments(writing)).code == 0
    bench = Bench(tmp_path, program, samples)
    if damage == "none":
        assert check_outputs(bench, writing, before, drafts_allowed=False)
        return
    if damage == "cut":
        (tmp_path / "out.md").write_bytes((tmp_path / "out.md").read_bytes()[:-1])
    elif damage == "other":
        (tmp_path / "m.json").write_bytes(b"")
    else:
        (tmp_path / ".out.md.0123abcd.draft").touch()
    with pytest.raises(Broken):
        check_outputs(bench, writing, before, drafts_allowed=False)


def test_the_seed_of_the_clock_is_printed_and_a_failure_fails(monkeypatch, capsys):
    def attempt(draw, bench):
        raise Broken("it broke\nbadly")

    monkeypatch.setattr("attack.__main__.KINDS", (Kind("odd", 1, attempt),))
    monkeypatch.setattr("sys.argv", ["attack"])
    assert main() == 1
    said = capsys.readouterr().out
    fixed, clock = re.findall(r"(?m)^seed (\d+)$", said)
    assert fixed == "1"
    assert f"--kind odd --seed {clock} --number 0\n      it broke\n      badly\n" in said
    monkeypatch.setattr("attack.__main__.KINDS", (Kind("odd", 1, lambda *_: None),))
    monkeypatch.setattr("sys.argv", ["attack", "--seed", "5", "--kind", "odd", "--number", "3"])
    assert main() == 0
    said = capsys.readouterr().out
    assert said.startswith("seed 5\nkept: ")
