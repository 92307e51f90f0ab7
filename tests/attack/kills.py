"""Kills: a command that writes dies at any moment; its outputs are old or new, and the next run works."""

import random
import signal

from attack.attempts import Bench, Broken, Kind
from attack.program import complaint
from attack.samples import WRITINGS
from attack.wholeness import check_outputs, contents

LONGEST = 0.6  # seconds; most commands are done by then


def attempt(draw: random.Random, bench: Bench) -> None:
    """Kill a command after a drawn time, then run it again."""
    writing = draw.choice(WRITINGS)
    bench.samples.copy_to(bench.folder, writing, over=draw.random() < 0.7)
    before = contents(bench.folder)
    arguments = bench.samples.arguments(writing)
    running = bench.program.start(bench.folder, *arguments)
    running.signal_after(draw.random() ** 2 * LONGEST, signal.SIGKILL)
    ended = running.wait()
    if ended.code != -signal.SIGKILL:
        problem = complaint(ended)
        if problem is not None:
            raise Broken(problem)
    check_outputs(bench, writing, before, drafts_allowed=ended.code < 0)
    again = bench.program.run(bench.folder, *arguments)
    # A rule that has been switched off cannot be switched off again.
    done = check_outputs(bench, writing, before, drafts_allowed=False)
    if complaint(again) is not None or not done:
        raise Broken(f"the next run fails: {again.said()}")


KIND = Kind("kills", 150, attempt)
