"""``truism demo``: simulate a plant, learn from it, attack it, check it, and compare with the truth."""

import os
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from truism.cli.check import write_page
from truism.cli.options import Command, jobs_option
from truism.cli.screen import Screen
from truism.explain.checker import Checker
from truism.explain.findings import Findings, gravest
from truism.explain.incidents import Incident
from truism.learn import kernels
from truism.learn.learn import learn as learn_model
from truism.model.files import save_model
from truism.model.model import Model
from truism.model.provenance import now
from truism.model.settings import Settings
from truism.model.wording import count, visible
from truism.plant import STEP_SECONDS, Attack, Recording, simulate
from truism.plant.files import write_attacked
from truism.show.looks import blocks
from truism.show.models import BAD, FAINT, GOOD, STRONG, say
from truism.show.terminal import show_incident, verdict
from truism.table.columns import Table
from truism.table.files import read
from truism.table.writing import write_table
from truism.work import Progress

N_RUNS, N_ROWS, N_ATTACKED = 4, 3000, 3600
MAX_RATE = "1/day"
N_SHOWN = 3
QUIET, ATTACKED = "quiet.csv", "attacked.csv"
MODEL, REPORT = "plant.truism.json", "report.html"
AFTERMATH = 60  # rows after an attack in which its effects may still show
_CHART_WIDTH = 60


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  truism demo
  truism demo somewhere/else --seed 24""",
)
@click.argument("folder", metavar="[DIR]", default="demo")
@click.option(
    "--seed",
    metavar="N",
    type=click.IntRange(min=N_RUNS + 1),  # the smaller ones are learned from
    default=5,
    show_default=True,
    help="Seed of the attacked run. Smaller seeds are taken by the normal runs.",
)
@jobs_option
@click.pass_obj
def demo(screen: Screen, /, folder: str, seed: int, jobs: int) -> None:
    """Simulate a plant, learn from it, attack it, and explain what happened.

    The files are kept in DIR (by default "demo"), so that you can continue with them.
    """
    began = time.monotonic()
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    with screen.stages() as progress:
        recorded = simulate_runs(place, progress)
    screen.show(_title(1, "A water treatment plant at work"), _show_plant(recorded), "")
    screen.announce_compiling(kernels.__name__)
    with screen.stages() as progress:
        progress("reading", 0, 0)
        opening = read([str(path) for path in _normal_runs(place)])
        model = learn_model(
            opening.table,
            Settings(),
            created=now(),
            reading=opening.reading,
            n_jobs=jobs,
            progress=progress,
        )
    screen.show(_title(2, "What is always true of it"), _show_model(model), "")
    with screen.stages() as progress:
        progress("attacking", 0, 0)
        attacks = write_attacked(place, N_ATTACKED, seed=seed)
        progress("checking", 0, 0)
        model, findings = check_runs(place, model, jobs)
    screen.show(_title(3, "Someone attacks it"), _show_attacks(attacks), "")
    screen.show(_title(4, "What truism found"), _show_threshold(model))
    screen.show(Padding(verdict(findings), (0, 0, 0, 3)), "", _chart(attacks, findings), "")
    for number, incident in enumerate(gravest(findings, 0)[:N_SHOWN], 1):
        screen.show(show_incident(incident, number), _show_truth(incident, attacks), "")
    screen.show(_show_result(attacks, findings), "")
    screen.show(_title(5, "Your turn"), *_next_steps(place, findings))
    screen.show("", Text(f"This took {time.monotonic() - began:.0f} seconds.", FAINT))


def _normal_runs(place: Path) -> list[Path]:
    return [place / f"normal-{i}.csv" for i in range(1, N_RUNS + 1)]


def simulate_runs(place: Path, progress: Progress) -> Recording:
    """Write the normal runs, and return the first one."""
    recordings = []
    for number, path in enumerate([*_normal_runs(place), place / QUIET]):
        progress("simulating", number, N_RUNS + 1)
        recordings.append(simulate(N_ROWS, seed=number))
        write_table(recordings[-1].columns, path)
    return recordings[0]


def check_runs(place: Path, model: Model, jobs: int) -> tuple[Model, Findings]:
    """Choose the threshold on a quiet run, save the model, and check the attacked run."""
    checker = Checker(model, jobs)

    def prepared(path: Path) -> Table:
        return checker.prepare(read([str(path)], reading=model.reading).table)

    quiet = prepared(place / QUIET)
    checker = Checker(checker.calibrate(quiet, None, MAX_RATE), jobs, checker.scorer)
    save_model(checker.model, place / MODEL)
    attacked = prepared(place / ATTACKED)
    findings = checker.find(attacked)
    write_page(str(place / REPORT), checker, attacked, findings, [ATTACKED])
    return checker.model, findings


def involved(incident: Incident, attacks: Sequence[Attack]) -> list[Attack]:
    """Return the attacks that overlap an incident, aftermath included."""
    return [
        attack
        for attack in attacks
        if incident.start < attack.end + AFTERMATH and incident.end >= attack.start
    ]


def _title(number: int, text: str) -> RenderableType:
    return Text.assemble((f"{number}  ", FAINT), (text, STRONG))


def _show_plant(recording: Recording) -> RenderableType:
    hours = N_ROWS * STEP_SECONDS / 3600
    lines: list[RenderableType] = [
        f"{N_RUNS} normal runs of {hours:.0f} hours, {len(recording.columns) - 1} sensors, pumps and "
        f"valves, a row every {STEP_SECONDS} seconds. The first hours of one:",
        "",
    ]
    for tag in ("LIT101", "FIT201", "LIT301", "DPIT301"):
        values = [float(value) for value in recording.columns[tag][600:1200]]
        lines.append(Text.assemble(f"{tag:>8}  ", (_spark(values), "cyan")))
    return Padding(Group(*lines), (0, 0, 0, 3))


def _spark(values: Sequence[float]) -> str:
    """Draw values as a row of bars."""
    low, high = min(values), max(values)
    step = len(values) / _CHART_WIDTH
    sampled = [values[int(i * step)] for i in range(_CHART_WIDTH)]
    return blocks([1 + int(7.999 * (value - low) / (high - low or 1.0)) for value in sampled])


def _show_model(model: Model) -> RenderableType:
    lines: list[RenderableType] = [
        f"{count(len(model.rules), 'rule')} hold in all {count(model.rules.n_rows, 'row')}. "
        f"For instance:",
        "",
    ]
    lines += [say(str(statement)) for statement in model.summary(N_SHOWN).statements]
    return Padding(Group(*lines), (0, 0, 0, 3))


def _show_attacks(attacks: Sequence[Attack]) -> RenderableType:
    return Padding(
        f"Another run plays {count(len(attacks), 'attack')} on sensors, pumps and valves. "
        f"truism is not told when or where.",
        (0, 0, 0, 3),
    )


def _show_threshold(model: Model) -> RenderableType:
    return Padding(
        f"In another normal run, about one incident a day scores above {model.threshold:.3g}. Rows of "
        "the attacked run that score higher are reported:",
        (0, 0, 1, 3),
    )


def _chart(attacks: Sequence[Attack], findings: Findings) -> RenderableType:
    """Draw the attacks and the incidents over time."""

    def line(spans: Sequence[tuple[int, int]]) -> str:
        scale = _CHART_WIDTH / findings.n_rows
        marks = ["·"] * _CHART_WIDTH
        for start, end in spans:
            for i in range(int(start * scale), int((end - 1) * scale) + 1):
                marks[i] = "█"
        return "".join(marks)

    truth = line([(attack.start, attack.end) for attack in attacks])
    reported = line([(incident.start, incident.end + 1) for incident in gravest(findings, 0)])
    return Padding(
        Group(
            Text.assemble("attacks    ", (truth, BAD)),
            Text.assemble("incidents  ", (reported, "yellow")),
        ),
        (0, 0, 0, 3),
    )


def _show_truth(incident: Incident, attacks: Sequence[Attack]) -> RenderableType:
    guilty = involved(incident, attacks)
    if not guilty:
        return Padding(Text("✘ truth: no attack at that time", BAD), (0, 0, 0, 3))
    blamed = [blame.variable for blame in incident.blames[:3]]
    lines = []
    for attack in guilty:
        right = any(target in blamed for target in attack.targets)
        mark = ("✔ truth: ", GOOD) if right else ("~ truth: ", "yellow")
        what = f"{attack.description} ({', '.join(attack.targets)}, rows {attack.start}–{attack.end - 1})"
        lines.append(Text.assemble(mark, what))
    return Padding(Group(*lines), (0, 0, 0, 3))


def _show_result(attacks: Sequence[Attack], findings: Findings) -> RenderableType:
    seen, named = 0, 0
    for attack in attacks:
        incidents = [
            incident for incident in gravest(findings, 0) if attack in involved(incident, attacks)
        ]
        blamed = {blame.variable for incident in incidents for blame in incident.blames[:3]}
        seen += bool(incidents)
        named += any(target in blamed for target in attack.targets)
    false = sum(not involved(incident, attacks) for incident in gravest(findings, 0))
    return Text.assemble(
        (f"{seen} of {count(len(attacks), 'attack')}", STRONG),
        f" detected, {named} with a target among the first three blamed variables; ",
        f"{count(false, 'incident')} without an attack.",
    )


def _next_steps(place: Path, findings: Findings) -> list[RenderableType]:
    model, attacked = place / MODEL, place / ATTACKED
    row = next((incident.peak for incident in gravest(findings, 0)), 0)
    truism = _program()
    steps = [
        ("the same as a page: open it in a browser", str(place / REPORT)),
        ("everything it found", f"{truism} check {attacked} -m {model} --top 0"),
        ("one row in full", f"{truism} explain {attacked} -m {model} --row {row}"),
        ("what it knows about a pump", f"{truism} rules {model} --about P101"),
        ("the truth", f"cat {place / 'attacks.json'}"),
        ("your own data", f"{truism} learn normal.csv -o my.truism.json"),
    ]
    lines: list[RenderableType] = [f"   The files are in {place}."]
    for what, how in steps:
        # A command that wraps over two lines cannot be copied.
        whole = Text(f"   {visible(how)}", no_wrap=True)
        lines += ["", Text(f"   # {what}", FAINT), whole]
    return lines


def _program() -> str:
    """Return how to call truism from here; after ``make demo`` it is not on the path."""
    program = Path(sys.executable).with_name("truism")
    if shutil.which("truism") or not program.exists():
        return "truism"
    return os.path.relpath(program) if program.is_relative_to(Path.cwd()) else str(program)
