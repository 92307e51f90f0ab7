"""Names of columns in files: what is refused, and how they are changed."""

from collections import Counter
from collections.abc import Collection, Sequence

from truism.errors import ParameterError, TableError, did_you_mean, shorten
from truism.table.layouts import Layout


def check_names(names: Sequence[str], hint: str | None = None) -> None:
    """Refuse names that are empty, occur twice, or differ only by case or blanks.

    Parameters
    ----------
    names
        Of all columns.
    hint
        What to do about names that are empty or occur twice, where the file shows that.

    """
    for position, name in enumerate(names):
        if not name:
            raise TableError(
                f"Column names must not be empty, got none for column {position + 1} of {len(names)}.",
                hint
                or "give it a name or remove it; pandas writes its index unless to_csv has index=False.",
            )
    twice = [name for name, n in Counter(names).items() if n > 1]
    if twice:
        places = [str(i) for i, name in enumerate(names, 1) if name == twice[0]]
        if len(places) > 5:
            places[5:] = [f"{len(places) - 5:,} more"]
        also = f", and more than one {shorten(twice[1:])}" if twice[1:] else ""
        raise TableError(
            f"Column names must be distinct, got {twice[0]!r} for columns "
            f"{', '.join(places[:-1])} and {places[-1]}{also}.",
            hint or "rename or drop one of them.",
            see=("header",),
        )
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault("".join(name.split()).casefold(), name)
        if other != name:
            raise TableError(
                f"Column names must differ by more than case and blanks, got {other!r} and {name!r}.",
                "rename or drop one of them.",
                see=("rename",),
            )


def renamed(names: Sequence[str], layout: Layout) -> list[str]:
    """Return the names that columns are to have.

    >>> renamed(["FIT-201", "P101"], Layout(renames=(("FIT-201", "FIT201"),)))
    ['FIT201', 'P101']
    """
    wanted = dict(layout.renames)
    return [name if name not in wanted or wanted[name] in names else wanted[name] for name in names]


def check_renames(names: Sequence[str], layout: Layout, known: Collection[str] = ()) -> None:
    """Refuse to rename what is not there, and to give known columns the names of others.

    Parameters
    ----------
    names
        Of the columns in a file.
    layout
        What was said about it.
    known
        The columns of earlier files.

    """
    for new, old in layout.renames:
        if new in known and old not in known and old in names and new not in names:
            raise ParameterError.of("rename", "be NEW=OLD", f"{new}={old}", f"write {old}={new}.")
        if new not in names and old not in names:
            raise ParameterError.of(
                "rename", "name columns of the table", new, did_you_mean(new, names)
            )


def read_renames(text: str) -> tuple[tuple[str, str], ...]:
    r"""Return the pairs of a mapping, one ``NEW=OLD`` or ``NEW,OLD`` a line.

    >>> read_renames("# since June\nFIT-201=FIT201\n")
    (('FIT-201', 'FIT201'),)
    """
    pairs = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        for sign in ("=", ";", "\t", ","):
            new, found, old = (part.strip() for part in line.partition(sign))
            if found and new and old:
                pairs.append((new, old))
                break
        else:
            raise ParameterError(
                f"A file of new names must hold NEW=OLD in every line, got {line.strip()!r} in line "
                f"{number}."
            )
    return tuple(pairs)
