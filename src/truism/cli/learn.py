"""``truism learn``: normal rows in, a model file out, and a summary on the screen."""

from collections.abc import Callable, Sequence
from typing import Any

import click
import msgspec
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from truism.cli.options import (
    LEAST_ROWS,
    Command,
    FileOptions,
    check_output,
    check_suffix,
    check_threshold_options,
    data_argument,
    file_options,
    jobs_option,
    layout_options,
    memory_option,
    read_pairs,
    show_notices,
    size_of,
    threshold_options,
)
from truism.cli.screen import Screen
from truism.errors import ParameterError, TableError
from truism.export.suspects import listed_rows, suspects_as_columns
from truism.learn import kernels
from truism.learn.batches import BATCH_ROWS, Batches
from truism.learn.kinds import infer_schema
from truism.learn.learn import learn as learn_model
from truism.learn.passes import SAMPLE
from truism.model.files import save_model
from truism.model.provenance import now
from truism.model.settings import CUTOFFS, SCORINGS, Settings
from truism.model.wording import Legend, count, legend_of, visible
from truism.review.ledgers import accepted_rows
from truism.review.suspects import Group as Suspected
from truism.review.suspects import Suspects, find_suspects
from truism.show.models import STRONG, say, show_model
from truism.table.columns import join_tables
from truism.table.files import TableRead, open_files, read, read_first
from truism.table.labels import label_notices
from truism.table.layouts import Reading
from truism.table.notices import rows as say_rows
from truism.table.writing import write_table

BYTES_PER_VALUE = 200  # held at once for each value of a batch: its copies, truths, and sums
N_GROUPS = 3  # of suspects that are shown


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  truism learn normal.csv -o plant.truism.json
  truism learn 'june/*.parquet' -o plant.truism.json --time timestamp --delta
  truism learn export.csv -o m.truism.json --decimal , --missing Bad
  truism learn july.csv -o plant.truism.json --accepted plant.accepted.parquet
  zcat log.csv.gz | truism learn - -o m.truism.json --ignore batch_id
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
    "--label",
    metavar="COL",
    help="Column that labels anomalous rows: they are not learned, and check compares its findings "
    "with the labels of later files.",
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
@click.option("--ordered", is_flag=True, help="Rows are in order, even if no times show it.")
@click.option(
    "--by", metavar="COL", help="Column that names the series of each row, if there are several."
)
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
@threshold_options
@click.option(
    "--accepted",
    multiple=True,
    metavar="LEDGER",
    help="Ledger of rows accepted as normal, *.accepted.parquet; they are learned, too.",
)
@click.option(
    "--seed",
    metavar="N",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Random seed.",
)
@click.option(
    "--suspects",
    "listed",
    metavar="FILE",
    help="List the training rows that the others contradict most, with reasons, in a .csv or "
    ".parquet file.",
)
@click.option(
    "--exclude",
    metavar="FILE",
    help="Learn without the rows listed in a file, by number (row), by time, or by both.",
)
@click.option(
    "--exclude-suspects",
    is_flag=True,
    help="Find suspects, and learn without those that learning would hide.",
)
@click.option(
    "--units",
    metavar="FILE",
    help="File of units that the model keeps: JSON, or lines such as LIT301,mm.",
)
@click.option(
    "--titles",
    metavar="FILE",
    help="File of titles that the model keeps: JSON, or lines such as LIT301,feed tank level.",
)
@jobs_option
@memory_option
@click.option(
    "--dask",
    metavar="ADDRESS",
    help="Dask scheduler, such as tcp://host:8786, whose workers read large files; all of them must "
    "have access to the files.",
)
@layout_options
@click.pass_obj
def learn(
    screen: Screen,
    /,
    data: tuple[str, ...],
    output: str,
    delta: bool,
    threshold: float | None,
    accepted: tuple[str, ...],
    optional: tuple[str, ...],
    listed: str | None,
    exclude: str | None,
    exclude_suspects: bool,
    jobs: int,
    memory_limit: str | None,
    dask: str | None,
    **options: Any,
) -> None:
    """Learn what is always true of normal rows.

    DATA are files (CSV, Parquet, Feather, Arrow, Excel, SQLite, DuckDB or JSON lines), folders, patterns
    such as 'june/*.csv', or - for standard input; several files are read as one table. Parquet, Arrow
    and CSV files of more than a million rows may be larger than memory. The rows should be normal: what
    never happens in them becomes a rule. The model records how they were read, and later files are read
    in the same way.
    """
    how = file_options(options)
    settings = settings_of(options)
    size_of(memory_limit)  # small files do not need it, but what is no size is a mistake
    check_threshold_options(threshold, options["max_false_incidents"])
    check_output(output, (*data, *accepted))
    if exclude is not None and (exclude_suspects or listed is not None):
        other = "--exclude-suspects" if exclude_suspects else "--suspects"
        raise ParameterError(
            f"--exclude and {other} must not both be given.",
            "a list that you have reviewed replaces new suspects.",
        )
    if listed is not None:
        check_suffix(listed)
        check_output(listed, (*data, *accepted))
    screen.announce_compiling(kernels.__name__)
    with screen.stages() as progress:
        progress("reading", 0, 0)
        opening, parts = read_rows(screen, data, how, memory_limit, jobs, dask)
        named = (settings.label, *settings.ignore, *settings.categorical, *settings.continuous)
        show_notices(screen, label_notices(opening.table, named), how)
        opening = _with_accepted(screen, opening, accepted, large=parts is not None)
        opening = msgspec.structs.replace(opening, reading=opening.reading.with_optional(optional))
        legend, suspects, excluded = _read_legend(options, opening.reading), None, None
        settings = msgspec.structs.replace(settings, time=opening.reading.axis)
        if parts is not None and (exclude or listed or exclude_suspects):
            raise TableError(
                f"Suspects can be found, and rows left out, only in tables of at most {SAMPLE:,} rows.",
                "use a part of the table for that.",
            )
        if exclude is not None:
            rows, time = (
                read([exclude], allow_empty=True).table,
                infer_schema(opening.table, settings).time,
            )
            excluded = listed_rows(rows, exclude, opening.table, time)
        elif listed is not None or exclude_suspects:
            suspects = find_suspects(
                opening.table, settings, delta=delta, n_jobs=jobs, progress=progress
            )
            excluded = suspects.hidden if exclude_suspects else None
        model = learn_model(
            opening.table if parts is None else parts,
            settings,
            delta=delta,
            threshold=threshold,
            created=now(),
            reading=opening.reading,
            n_jobs=jobs,
            progress=progress,
            excluded=excluded,
        )
        model = msgspec.structs.replace(model, legend=legend)
        if suspects is not None and listed is not None:
            write_table(suspects_as_columns(suspects, opening.table), listed)
        save_model(model, output)
    screen.announce_unkept()
    for doubt in model.doubts:
        screen.warn(doubt)
    screen.show(show_model(model, output))
    if suspects is not None:
        screen.show(show_suspects(suspects, listed, excluded=exclude_suspects))


def settings_of(options: dict[str, Any]) -> Settings:
    """Turn options into settings."""
    lookback = options["lookback"]
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
        label=options["label"],
        lookback=int(lookback) if lookback.isdecimal() else lookback,
        max_false_incidents=options["max_false_incidents"],
    )


def _number(
    name: str, options: dict[str, Any], constraint: str, read: Callable[[str], float] = float
) -> Any:
    """Read an option that is a number or "auto"."""
    text = options[name]
    try:
        return text if text == "auto" else read(text)
    except ValueError:
        raise ParameterError.of(name, f"be 'auto' or {constraint}", text) from None


def _with_accepted(
    screen: Screen, opening: TableRead, ledgers: tuple[str, ...], *, large: bool
) -> TableRead:
    """Return a table with the rows of ledgers at its end."""
    if ledgers and large:
        raise ParameterError("--accepted needs rows that fit into memory.")
    tables = [opening.table]
    for place in ledgers:
        rows, n_acceptances = accepted_rows(place, opening)
        if not rows.n_rows:  # all that was accepted was taken back
            screen.note(f"no rows are accepted in {place!r}.")
            continue
        of = f"{say_rows(rows.n_rows)} of {count(n_acceptances, 'acceptance')}"
        screen.note(f"{of} {'is' if rows.n_rows == 1 else 'are'} learned as normal.")
        tables.append(rows)
    return msgspec.structs.replace(opening, table=join_tables(tables))


def _read_legend(options: dict[str, Any], reading: Reading) -> Legend | None:
    """Read the files of both options, if they are given; else units are those that the table has."""
    in_table = {
        column.name: column.unit
        for column in reading.columns
        if column.unit and column.kind == "number"
    }
    units, titles = (
        {} if options[name] is None else dict(read_pairs(name, options[name]))
        for name in ("units", "titles")
    )
    return legend_of({**in_table, **units}, titles or None, reading.column_of())


# --- rows larger than the sample ---


def read_rows(
    screen: Screen,
    sources: Sequence[str],
    how: FileOptions,
    limit: str | None,
    jobs: int,
    dask: str | None = None,
) -> tuple[TableRead, Batches | None]:
    """Read all rows at once; of more than the sample the first ones, and all in parts."""
    files = open_files(sources, how.layout)
    opening = read_first(files, SAMPLE)
    show_notices(screen, opening.notices, how)
    if opening.is_whole:
        if dask is not None:
            screen.note("these files need no cluster, so --dask is ignored.")
        return opening, None
    held = size_of(limit) // (BYTES_PER_VALUE * len(opening.table.names) * (jobs + 1))
    n_rows = min(max(held, LEAST_ROWS), BATCH_ROWS)
    if dask is not None:
        from truism.dask import connect, run_on

        client = connect(dask)
        click.get_current_context().call_on_close(client.close)
        return opening, Batches.of_files(files, opening.reading, n_rows, run_on(client))
    return opening, Batches.of_files(files, opening.reading, n_rows)


# --- suspects ---


def show_suspects(suspects: Suspects, place: str | None, *, excluded: bool) -> RenderableType:
    """Show suspects, the worst first.

    `place` is the file in which all are listed; `excluded` says that those that learning would hide
    were left out.
    """
    of = count(suspects.n_rows, "row")
    if not len(suspects.rows):
        return Group(
            "", say(f"No suspects: none of {of} scores far above the threshold of the others.")
        )
    rows, hidden = len(suspects.rows), len(suspects.hidden)
    what = "and were learned as normal"
    if excluded and hidden == rows:
        what = "and were left out"
    elif excluded:
        left = f"{hidden or 'none'} was" if hidden < 2 else f"{hidden:,} were"
        what = f"of which {left} left out, because the others stay unusual when they are learned"
    head = f"{rows:,} of {of} {'is a suspect' if rows == 1 else 'are suspects'}, {what}:"
    parts: list[RenderableType] = ["", Text(head, STRONG)]
    for group in suspects[:N_GROUPS]:
        summary = group.summary or _reason(group)
        parts += [say(str(group)), Padding(say(summary), (0, 0, 0, 2))]
    more = len(suspects) - N_GROUPS
    if more > 0:
        parts.append(say(f"and {count(more, 'other group')} of rows"))
    if place is not None:
        parts.append(Text.assemble("All of them are in ", (visible(place), STRONG), "."))
    return Group(*parts)


def _reason(group: Suspected) -> str:
    """Say what speaks most against the worst row of a group."""
    reason = group.explanation.blames[0].reasons[0]
    because = "" if reason.because is None else f" because {reason.because}"
    return f"expected {reason.expected}, found {reason.found}{because}"
