"""Signals: whoever interrupts a command at any moment sees one sentence, and files stay whole."""

import os
import random
import signal
import subprocess
import sys
import time

from attack.attempts import Bench, Broken, Kind
from attack.program import NOISE, complaint
from attack.samples import WRITINGS, contents
from attack.wholeness import check_outputs

ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1)


def attempt(draw: random.Random, bench: Bench) -> None:
    """Interrupt a command, or end it politely."""
    if draw.random() < 0.15:
        first_moments(draw, bench)
        return
    writing = draw.choice(WRITINGS)
    bench.samples.copy_to(bench.folder, writing, over=draw.random() < 0.7)
    before = contents(bench.folder)
    number = draw.choice([signal.SIGINT, signal.SIGINT, *ENDING])
    limits = {"RLIMIT_CORE": 0}
    running = bench.program.start(bench.folder, *bench.samples.arguments(writing), limits=limits)
    running.signal_after(draw.random() ** 2 * 0.6, number)
    if draw.random() < 0.2:
        running.signal_after(draw.random() * 0.05, number)  # impatient people do it again
    ended = running.wait()
    if ended.code < 0 and (number == signal.SIGINT or ended.code != -number):
        raise Broken(f"ended by signal {-ended.code} after {number}")
    # A note that was true before the interruption may stand there.
    said = [each for each in ended.error.strip().split("\n\n") if not each.startswith("Note: ")]
    if ended.code == 130 and "".join(said) not in ("Error: Interrupted.", ""):
        raise Broken(f"more than a sentence: {ended.said()}")
    if ended.code not in (130, -number):
        problem = complaint(ended)
        if problem is not None:
            raise Broken(problem)
    check_outputs(bench, writing, before, drafts_allowed=ended.code < 0)


def first_moments(draw: random.Random, bench: Bench) -> None:
    """Interrupt a Python that is just importing truism."""
    bench.samples.copy_to(bench.folder)
    running = subprocess.Popen(
        [sys.executable, "-m", "truism", "check", "today.csv", "-m", "m.json"],
        cwd=bench.folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONFAULTHANDLER": ""},
    )
    started = time.monotonic()
    until = 0.2 + draw.random() * 1.5
    while time.monotonic() - started < until and running.poll() is None:
        time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    error = running.communicate(timeout=60)[1].decode()
    # What happens before the program's first line is Python's own.
    ours = "truism" in error
    if running.returncode not in (0, 1, 130, -2, 2) or (ours and NOISE.search(error)):
        raise Broken(f"in the first moments: {running.returncode}: {error[-400:]}")


KIND = Kind("signals", 120, attempt)
