"""Jobs -> runs, each in its own process; finished jobs are not run again.

Finished jobs are appended to a JSON-lines file, the cache, under a key made of everything that the
outcome depends on: job, versions of the packages, revision of the method, a digest of the table, and
for truism a digest of its source. So an interrupted run continues where it stopped, and a changed
library is measured again. The cache is a convenience and not committed; results never depend on it.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import msgspec

from benchmarks import datasets
from benchmarks.methods import METHOD_OF
from benchmarks.results import Job, Outcome, Run, package_version, warn
from benchmarks.worker import Order, measure
from truism.table.atomic import write_atomically

TIMEOUT_SECONDS = 1800.0
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


class Known(msgspec.Struct, frozen=True):
    """A line of the cache file."""

    key: str
    experiment: str
    job: Job
    outcome: Outcome


@dataclass(slots=True)
class Cache:
    """Outcomes by key, kept in a JSON-lines file, or in memory if there is no path."""

    path: Path | None = None
    outcome_of: dict[str, Outcome] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.path is None or not self.path.exists():
            return
        for line in self.path.read_bytes().splitlines():
            known = msgspec.json.decode(line, type=Known)
            self.outcome_of[known.key] = known.outcome

    def compact(self) -> None:
        """Keep only the newest outcome of each job in the file; older versions pile up otherwise."""
        if self.path is None or not self.path.exists():
            return
        newest: dict[Job, bytes] = {}
        for line in self.path.read_bytes().splitlines():
            job = msgspec.json.decode(line, type=Known).job
            newest.pop(job, None)
            newest[job] = line
        write_atomically(self.path, b"".join(line + b"\n" for line in newest.values()))

    def add(self, known: Known) -> None:
        """Keep an outcome, and append it to the file."""
        self.outcome_of[known.key] = known.outcome
        if self.path is not None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab") as file:
                file.write(msgspec.json.encode(known) + b"\n")


@dataclass(frozen=True, slots=True)
class Runner:
    """How jobs are run.

    Parameters
    ----------
    threads
        Cores that each process may use; one by default, so that ratios are fair.
    isolated
        Whether every job gets its own process; in the smoke run they share one.
    """

    data: Path | None
    cache: Cache
    threads: int = 1
    isolated: bool = True
    timeout: float = TIMEOUT_SECONDS

    def run(
        self, experiment: str, jobs: Iterable[Job], *, fresh: bool = False, isolated: bool = True
    ) -> tuple[Run, ...]:
        """Run the jobs.

        Parameters
        ----------
        fresh
            Measure again even if the outcome is known, so that ratios come from one run.
        isolated
            False for experiments that report no time or memory: starting a process would take
            longer than many of their jobs.
        """
        runs = []
        apart = isolated and self.isolated
        for job in jobs:
            key = self._key(job)
            outcome = None if fresh else self.cache.outcome_of.get(key)
            if outcome is None:
                outcome = self._measure_apart(job) if apart else self._measure_here(job)
                _report(experiment, job, outcome)
                if not outcome.error:
                    self.cache.add(Known(key, experiment, job, outcome))
            runs.append(Run(experiment, job, outcome))
        return tuple(runs)

    def _key(self, job: Job) -> str:
        method = METHOD_OF[job.method]
        versions = {name: package_version(name) for name in method.packages}
        if method.role == "ours":
            versions["source"] = _source_digest()
        content = (
            job,
            versions,
            method.revision,
            method.settings,
            datasets.digest(job.dataset, self.data),
            self.threads,
        )
        return hashlib.sha256(msgspec.json.encode(content)).hexdigest()[:24]

    def _measure_here(self, job: Job) -> Outcome:
        try:
            return measure(Order(job, self._folder, warm_up=False))
        except Exception as problem:  # one failing job must not end a run of hours
            return Outcome(error=f"{type(problem).__name__}: {problem}")

    @property
    def _folder(self) -> str | None:
        return None if self.data is None else str(self.data)

    def _measure_apart(self, job: Job) -> Outcome:
        order = msgspec.json.encode(Order(job, self._folder))
        environment = os.environ | {name: str(self.threads) for name in _THREADS}
        started = time.perf_counter()
        try:
            done = subprocess.run(
                [sys.executable, "-m", "benchmarks.worker"],
                input=order,
                capture_output=True,
                env=environment,
                timeout=self.timeout,
                check=False,
            )
        except subprocess.TimeoutExpired:
            seconds = time.perf_counter() - started
            return Outcome(error=f"not finished after {seconds:.0f} s")
        if done.returncode != 0:
            lines = done.stderr.decode(errors="replace").strip().splitlines()
            return Outcome(error=lines[-1] if lines else f"exit code {done.returncode}")
        return msgspec.json.decode(done.stdout, type=Outcome)


@cache
def _source_digest() -> str:
    """Fingerprint of truism's source, since its version stays while it is being changed."""
    spec = find_spec("truism")
    if spec is None or spec.origin is None:
        return "absent"
    total = hashlib.sha256()
    for path in sorted(Path(spec.origin).parent.rglob("*.py")):
        total.update(path.read_bytes())
    return total.hexdigest()[:12]


def _report(experiment: str, job: Job, outcome: Outcome) -> None:
    if outcome.error:
        warn(f"{experiment}: {job}: {outcome.error}")
        return
    scores = (
        ""
        if outcome.auc is None or outcome.pauc is None
        else f"AUC {outcome.auc:.3f} pAUC {outcome.pauc:.3f}, "
    )
    warn(
        f"{experiment}: {job}: {scores}fit {outcome.fit_seconds:.1f} s, "
        f"score {outcome.score_seconds:.1f} s, {outcome.extra_mb:.0f} MB"
    )
