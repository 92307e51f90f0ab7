"""``truism learn``: normal rows in, a model file out, and a summary on the screen."""

from collections.abc import Callable
from typing import Any

import click
import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.cli.calibrating import calibrated, calibration_options, check_calibration
from truism.cli.excluding import asked_exclusion, exclude, exclusion_options, write_suspects
from truism.cli.large import dask_option, memory_option, open_large, read_large, size_of
from truism.cli.ledgers import accepted_option, with_accepted
from truism.cli.legends import legend_options, read_legend
from truism.cli.options import (
    Command,
    check_output,
    data_argument,
    jobs_option,
)
from truism.cli.reading import asked, layout_options, read_data
from truism.cli.screen import Screen
from truism.errors import ParameterError
from truism.explaining.checker import Checker
from truism.learning import kernels
from truism.learning.parts import Parts
from truism.learning.training import train, train_on_parts
from truism.model.files import save_model
from truism.model.model import Model
from truism.model.settings import CUTOFFS, SCORINGS, Settings
from truism.model.stamps import now
from truism.report.models import summarise
from truism.report.suspicion import show_suspects
from truism.report.terminal import show_model
from truism.table.files.reading import TableRead
from truism.work import Progress


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  truism learn normal.csv -o plant.truism.json
  truism learn 'june/*.parquet' -o plant.truism.json --time timestamp --delta
  truism learn export.csv -o m.truism.json --decimal , --missing Bad
  truism learn july.csv -o plant.truism.json --accepted plant.accepted.parquet
  zcat log.csv.gz | truism learn - -o m.truism.json --ignore batch_id
  truism learn june.csv -o plant.truism.json \\
      --max-false-positive-rate 0.001 --calibrate july.csv
  truism learn june.csv -o plant.truism.json --suspects suspects.csv
  truism learn june.csv -o plant.truism.json --exclude suspects.csv""",
)
@data_argument
@click.option(
    "-o", "--output", required=True, metavar="FILE", help="The model file to write, *.truism.json."
)
@click.option(
    "--ignore", multiple=True, metavar="COL", help="Column to leave out; may be repeated."
)
@click.option(
    "--categorical", multiple=True, metavar="COL", help="Column of states; may be repeated."
)
@click.option(
    "--continuous", multiple=True, metavar="COL", help="Column of quantities; may be repeated."
)
@click.option(
    "--optional",
    multiple=True,
    metavar="COL",
    help="Column that later files may lack; may be repeated.",
)
@click.option(
    "--delta",
    is_flag=True,
    help="Add ΔX, the change since the previous row, for each continuous variable.",
)
@click.option("--ordered", is_flag=True, help="Rows are in order, even though no times say so.")
@click.option("--by", metavar="COL", help="Column that tells several series in one table apart.")
@click.option(
    "--lookback",
    metavar="auto|N|TIME",
    default="auto",
    show_default=True,
    help="How far back earlier rows of a series count: rows, or a time such as 10min; 0 for none.",
)
@click.option(
    "--min-support",
    metavar="auto|θ",
    default="auto",
    show_default=True,
    help="A rule must hold in more than this share of the rows.",
)
@click.option(
    "--support-ratio",
    metavar="auto|γ",
    default="auto",
    show_default=True,
    help="A rule must hold in more than this share of the rows of its rarest predicate.",
)
@click.option(
    "--max-predicates",
    metavar="auto|N",
    default="auto",
    show_default=True,
    help="Longest rule, counting one consequent; rules with the same antecedent are shown as one.",
)
@click.option(
    "--cutoffs",
    type=click.Choice(CUTOFFS),
    default=Settings().cutoffs,
    show_default=True,
    help="How to choose the cut-offs of continuous variables.",
)
@click.option(
    "--scoring",
    type=click.Choice(SCORINGS),
    default=Settings().scoring,
    show_default=True,
    help="Weigh all evidence, or add up broken rules as in the paper.",
)
@click.option("--threshold", metavar="φ", type=float, help="Report rows that score above φ.")
@calibration_options
@accepted_option
@click.option(
    "--seed",
    metavar="N",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Random seed.",
)
@exclusion_options
@legend_options
@jobs_option
@memory_option
@dask_option
@layout_options
@click.pass_obj
def learn(
    screen: Screen,
    /,
    data: tuple[str, ...],
    output: str,
    delta: bool,
    threshold: float | None,
    max_false_positive_rate: float | None,
    calibration: tuple[str, ...],
    accepted: tuple[str, ...],
    optional: tuple[str, ...],
    jobs: int,
    memory_limit: str | None,
    dask: str | None,
    **options: Any,
) -> None:
    """Learn what is always true of normal rows.

    DATA are files (CSV, Parquet, Feather, Arrow, Excel, SQLite, DuckDB or JSON lines), folders, patterns
    such as 'june/*.csv', or - for standard input; several files are read as one table. Parquet, Arrow
    and CSV files of more than a million rows need not fit into memory. The rows should be normal: what
    never happens in them becomes a rule. The model keeps how they were read, and later files are read
    alike.
    """
    said = asked(options)
    settings = settings_of(options)
    size_of(memory_limit)  # small files do not need it, but what is no size is a mistake
    rate = options["max_false_incidents"]
    check_calibration(threshold, max_false_positive_rate, rate, calibration, data)
    check_output(output, (*data, *calibration, *accepted))
    exclusion = asked_exclusion(options, (*data, *calibration, *accepted))
    screen.announce_compiling(kernels.__name__)
    with screen.stages() as progress:
        progress("reading", 0, 0)
        large = open_large(data, said)
        if large is None:
            found, parts = read_data(screen, data, said), None
            if dask is not None:
                screen.note("the rows are learned from at once; --dask is for larger files.")
        else:
            found, parts = read_large(screen, large, said, memory_limit, jobs, dask)
        found = with_accepted(screen, found, accepted, large=large is not None)
        found = msgspec.structs.replace(found, reading=found.reading.with_optional(optional))
        normal = read_data(screen, calibration, said, found.reading) if calibration else None
        legend = read_legend(options, found.reading)
        excluded = exclude(
            exclusion, found, settings, delta, jobs, progress, is_whole=parts is None
        )
        model = learn_table(found, settings, delta, threshold, jobs, progress, parts, excluded.rows)
        model = msgspec.structs.replace(model, legend=legend)
        if normal is not None:
            progress("calibrating", 0, 0)
            checker = Checker(model, jobs)
            model = calibrated(screen, checker, normal.table, max_false_positive_rate, rate)
        write_suspects(exclusion, excluded, found.table)
        save_model(model, output)
    screen.announce_unkept()
    screen.show(show_model(summarise(model), output))
    if excluded.suspects is not None:
        screen.show(show_suspects(excluded.suspects, exclusion.suspects, excluded=exclusion.own))


def settings_of(options: dict[str, Any]) -> Settings:
    """Turn options into settings."""
    return Settings(
        min_support=_number("min_support", options, "above 0 and below 1"),
        support_ratio=_number("support_ratio", options, "at least 0 and below 1"),
        max_predicates=_number("max_predicates", options, "a whole number of at least 2", int),
        cutoffs=options["cutoffs"],
        scoring=options["scoring"],
        categorical=options["categorical"],
        continuous=options["continuous"],
        ignore=options["ignore"],
        random_state=options["seed"],
        ordered=options["ordered"],
        by=options["by"],
        lookback=_lookback(options["lookback"]),
        max_false_incidents=options["max_false_incidents"],
    )


def _lookback(text: str) -> int | str:
    """Read a number of rows; leave other texts as they are."""
    return int(text) if text.isdecimal() else text


def _number(
    name: str, options: dict[str, Any], constraint: str, read: Callable[[str], float] = float
) -> Any:
    """Read an option that is a number or "auto"."""
    text = options[name]
    try:
        return text if text == "auto" else read(text)
    except ValueError:
        raise ParameterError.of(name, f"be 'auto' or {constraint}", text) from None


def learn_table(
    found: TableRead,
    settings: Settings,
    delta: bool,
    threshold: float | None,
    jobs: int,
    progress: Progress,
    parts: Parts | None = None,
    excluded: NDArray[np.int64] | None = None,
) -> Model:
    """Learn a model from a table without some of its rows, or from parts, and date it."""
    settings = msgspec.structs.replace(settings, time=found.reading.axis)
    options: Any = {
        "delta": delta,
        "threshold": threshold,
        "created": now(),
        "reading": found.reading,
        "n_jobs": jobs,
        "progress": progress,
    }
    if parts is None:
        return train(found.table, settings, excluded=excluded, **options)
    return train_on_parts(parts, settings, **options)
