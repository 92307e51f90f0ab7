"""Command line: `python -m benchmarks run | smoke | compare | page | reading`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from benchmarks import datasets, results, timed
from benchmarks.datasets import DataMissingError
from benchmarks.experiments import EXPERIMENTS, Plan, run_all, usable_methods
from benchmarks.methods import DETECTORS
from benchmarks.results import Results, warn
from benchmarks.runner import Cache, Runner

BAD_INPUT = 2
CACHE = Path(".cache/benchmarks.jsonl")  # ignored by git
SMOKE_TABLE = "generated-600x8"
SMOKE_EXPERIMENTS = ("table1", "table2", "grid", "series", "speed")


class UsageError(Exception):
    """An option that cannot be used; the text is one sentence for the user."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return the exit code: 0, or 2 for bad input."""
    options = _parser().parse_args(arguments)
    try:
        options.command(options)
    except (DataMissingError, UsageError) as problem:
        warn(str(problem))
        return BAD_INPUT
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    commands = parser.add_subparsers(required=True)

    run = commands.add_parser("run", help="measure, and write the results as JSON lines")
    run.add_argument("--only", help=f"experiments, comma-separated: {','.join(EXPERIMENTS)}")
    run.add_argument("--methods", help="methods, comma-separated (default: all that can run)")
    run.add_argument("--datasets", help="datasets, comma-separated (default: all that are present)")
    run.add_argument(
        "--data", type=Path, help="folder that holds the tables (default: $TRUISM_DATA)"
    )
    run.add_argument("--out", type=Path, default=results.MEASURED)
    run.add_argument("--cache", type=Path, default=CACHE, help="finished jobs, to resume from")
    run.add_argument("--threads", type=int, default=1, help="cores that each method may use")
    run.add_argument("--timeout", type=float, default=1800.0, help="seconds that a job may take")
    run.set_defaults(command=_run)

    smoke = commands.add_parser("smoke", help="check that the harness works, in under a minute")
    smoke.add_argument("--data", type=Path)
    smoke.set_defaults(command=_smoke)

    compare = commands.add_parser("compare", help="list what changed between two results files")
    compare.add_argument("old", type=Path)
    compare.add_argument("new", type=Path)
    compare.set_defaults(command=_compare)

    page = commands.add_parser("page", help="write the page from the results")
    page.add_argument("--results", type=Path, default=results.MEASURED)
    page.add_argument("--out", type=Path, default=Path("docs/benchmarks.md"))
    page.set_defaults(command=_page)

    reading = commands.add_parser(
        "reading", help="write twelve incidents for readers who do not know the answers"
    )
    reading.add_argument("--data", type=Path)
    reading.add_argument("--out", type=Path, required=True, help="folder to write them to")
    reading.set_defaults(command=_reading)
    return parser


def _run(options: argparse.Namespace) -> None:
    from benchmarks.sections.series import series as in_order_of_time

    data = datasets.find_data(options.data)
    experiments = _chosen(options.only, tuple(EXPERIMENTS), "experiment")
    known = tuple(method.name for method in DETECTORS)
    methods = usable_methods(_chosen(options.methods, known, "method"))
    in_order = timed.tables(data)
    known = (*datasets.available(data), *in_order)
    names = _chosen(options.datasets, known, "dataset")
    series = tuple(name for name in names if name in in_order)
    names = tuple(name for name in names if name not in in_order)
    if not names and not series:
        raise DataMissingError(f"No benchmark table is in {str(data)!r}.")
    runner = Runner(data, Cache(options.cache), options.threads, timeout=options.timeout)
    measured = run_all(Plan(runner, names, methods, series), experiments)
    new = Results(results.environment(), measured.shapes, measured.runs, measured.interpretations)
    shown = in_order_of_time(new)
    if options.out.exists():
        in_full = () if options.methods or options.datasets else experiments
        new = results.merge(_read(options.out), new, in_full)
    results.write(new, options.out)
    runner.cache.compact()
    if shown is not None:
        print(shown.text)
    print(f"Wrote {len(measured.runs)} runs to {options.out}.")


def _smoke(options: argparse.Namespace) -> None:
    """Run every detector that needs no torch on a small table, in this process."""
    from benchmarks.pages import render

    methods = tuple(
        replace(method, seeds=method.seeds[:1])
        for method in usable_methods()
        if not method.needs_torch
    )
    runner = Runner(options.data, Cache(), isolated=False)
    table = _smoke_table(options.data)
    plan = Plan(runner, (table,), methods, (f"{timed.PREFIX}{SMOKE_TABLE}",))
    measured = run_all(plan, SMOKE_EXPERIMENTS)
    found = Results(results.environment(), measured.shapes, measured.runs)
    print(render(found).text)


def _smoke_table(data: Path | None) -> str:
    """Return the smallest real table if it is present, else a generated one."""
    try:
        names = datasets.available(datasets.find_data(data))
    except DataMissingError:
        names = ()
    return "cardio" if "cardio" in names else SMOKE_TABLE


def _compare(options: argparse.Namespace) -> None:
    lines = list(results.compare(_read(options.old), _read(options.new)))
    print("\n".join(lines) if lines else "nothing changed")


def _page(options: argparse.Namespace) -> None:
    from benchmarks.pages import render

    page = render(_read(options.results), figures=options.out.stem)
    page.write(options.out)
    print(f"Wrote {options.out} and {len(page.figures)} figures.")


def _reading(options: argparse.Namespace) -> None:
    from benchmarks.reading import write_test

    n_written = write_test(datasets.find_data(options.data), options.out)
    print(f"Wrote {n_written} incidents to {options.out / 'incidents'}, and answers apart.")


def _read(path: Path) -> Results:
    if not path.exists():
        raise UsageError(f"The results file {str(path)!r} does not exist.")
    try:
        return results.read(path)
    except (ValueError, msgspec.DecodeError):
        raise UsageError(
            f"{str(path)!r} is not a results file of format {results.FORMAT}."
        ) from None


def _split(text: str | None) -> list[str]:
    return [part.strip() for part in text.split(",")] if text else []


def _chosen(text: str | None, known: tuple[str, ...], what: str) -> tuple[str, ...]:
    names = tuple(_split(text)) or known
    unknown = [name for name in names if name not in known]
    if unknown:
        raise UsageError(f"{what} must be one of {', '.join(known)}, got {unknown[0]!r}.")
    return names


if __name__ == "__main__":
    sys.exit(main())
