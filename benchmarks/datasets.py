"""The benchmark tables: a name goes in, a `Dataset` comes out, whatever its source.

Preprocessing is the paper's own (KDD'23, section 6.1): training tables hold no anomalies; test
rows are those marked `in_paper_test`, where anomalies were sampled down to 20 % if there were
more; a column is categorical when it has at most five distinct values in the training table,
except in KDD Cup 99, where the paper uses a fixed list. Neither `label`, `in_paper_test` nor the
time column is a variable.

Other names: `generated-ROWSxCOLUMNS` is a generated, plant-like table (growth curves, smoke runs);
`bundled-TASK` is a table that comes with scikit-learn (`bundled.py`); `binned-NAME` is NAME with every
continuous variable cut into five uniform bins, so that miners can be compared without trees;
`series-NAME` is a table in order of time (`timed.py`);
`whole-NAME` is NAME with every anomaly of the test file, not only those that the paper drew, and with
the names of the attacks; `swat` reads the original files (`swat.py`).
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from benchmarks import bundled, generated, plants, timed

PAPER_TABLES = ("batadal", "kddcup99", "gas_pipeline", "annthyroid", "cardio")
MAX_CATEGORIES = 5
N_BINS = 5
DATA_VARIABLE = "TRUISM_DATA"

_TIME_OF: Mapping[str, str] = {"batadal": "DATETIME"}
_NOT_VARIABLES = ("label", "in_paper_test")
_KDD_CATEGORICAL = ("protocol_type", "service", "flag", "land", "logged_in", "is_guest_login")
_KDD_UNUSED = ("wrong_fragment", "num_outbound_cmds", "is_host_login")


class DataMissingError(Exception):
    """The tables were not found; the text is one sentence for the user."""


@dataclass(frozen=True, slots=True)
class Kinds:
    """Names of the variables by kind; `unused` are constant columns that the paper leaves out."""

    categorical: tuple[str, ...]
    continuous: tuple[str, ...]
    unused: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Dataset:
    """A training table without anomalies, a test table, and the truth about its rows.

    `time` names the time column, which both tables then have in addition to the variables. `attack`
    names the attack of each test row, where that is known. `told` says whether detectors that can
    infer the kinds are given them. `truth` says more about rows that are a series.
    """

    name: str
    train: pa.Table
    test: pa.Table
    label: NDArray[np.int8]
    kinds: Kinds
    time: str | None = None
    attack: NDArray[Any] | None = None
    told: bool = True
    truth: timed.Truth | None = None

    @property
    def variables(self) -> tuple[str, ...]:
        """Every column that is a variable, in table order."""
        return tuple(name for name in self.train.column_names if name != self.time)


def load(name: str, data: Path | None = None) -> Dataset:
    """Load a dataset by name.

    Parameters
    ----------
    name
        One of `PAPER_TABLES`, `swat`, `generated-ROWSxCOLUMNS`, `bundled-TASK`, or `binned-`,
        `whole-` or `series-` and a name.
    data
        Folder of the tables; the environment variable `TRUISM_DATA` when not given.
    """
    if name.startswith("binned-"):
        return _bin(load(name.removeprefix("binned-"), data))
    if name.startswith("generated-"):
        return _generate(name)
    if name.startswith("bundled-"):
        return _unbundle(name)
    if name.startswith("whole-"):
        return _load_parquet(name.removeprefix("whole-"), find_data(data), whole=True)
    if name.startswith(timed.PREFIX):
        return _load_series(name.removeprefix(timed.PREFIX), data)
    if name == "swat":
        from benchmarks import swat

        return swat.load_swat(find_data(data))
    return _load_parquet(name, find_data(data))


def find_data(data: Path | None = None) -> Path:
    """Return the folder of the tables, or raise a `DataMissingError` that says what to do."""
    where = str(data) if data else os.environ.get(DATA_VARIABLE, "")
    if not where:
        raise DataMissingError(
            f"No benchmark tables: set {DATA_VARIABLE} or pass --data with the folder that "
            "holds the Parquet files."
        )
    folder = Path(where)
    if not folder.is_dir():
        raise DataMissingError(f"The folder of benchmark tables {where!r} does not exist.")
    return folder


def available(data: Path) -> tuple[str, ...]:
    """Names of the datasets whose files are in the folder, in the paper's order."""
    from benchmarks import swat

    names = ["swat"] if swat.is_present(data) else []
    names += [name for name in PAPER_TABLES if (data / f"{name}_train.parquet").exists()]
    return tuple(names)


def digest(name: str, data: Path | None) -> str:
    """A short fingerprint of the files behind a dataset, for the cache of results."""
    base = name.removeprefix("binned-").removeprefix("whole-").removeprefix(timed.PREFIX)
    if base.startswith("generated-"):
        return f"generator {generated.REVISION}"
    if base.startswith("bundled-"):
        return f"bundled {bundled.REVISION}, scikit-learn {version('scikit-learn')}"
    if base in plants.TITLES:
        return f"plant {plants.REVISION}"
    folder = find_data(data)
    if base == "swat":
        from benchmarks import swat

        paths = swat.files(folder)
        return ", ".join(f"{path.name}:{path.stat().st_size}" for path in paths)
    total = hashlib.sha256()
    for part in ("train", "test"):
        total.update(_existing(timed.path_of(base, folder, part)).read_bytes())
    return total.hexdigest()[:12]


def _existing(path: Path) -> Path:
    if not path.exists():
        raise DataMissingError(f"The benchmark table {path.name!r} is not in {str(path.parent)!r}.")
    return path


def _load_parquet(name: str, folder: Path, *, whole: bool = False) -> Dataset:
    train = pq.read_table(_existing(folder / f"{name}_train.parquet"))
    test = pq.read_table(_existing(folder / f"{name}_test.parquet"))
    attack = None
    if whole:
        meta = pq.read_table(_existing(folder / f"{name}_test_meta.parquet"))
        attack = meta["attack_type"].to_numpy(zero_copy_only=False).astype(str)
    else:
        test = test.filter(test["in_paper_test"])
    label = test["label"].to_numpy().astype(np.int8)
    test = test.drop_columns([*_NOT_VARIABLES])
    train, test = _unify(train, test)
    time = _TIME_OF.get(name)
    title = f"whole-{name}" if whole else name
    return Dataset(title, train, test, label, _kinds(name, train, time), time, attack)


def _load_series(name: str, data: Path | None) -> Dataset:
    """Load a table with all its test rows, in order; detectors must infer the kinds."""
    title = f"{timed.PREFIX}{name}"
    if name.startswith("generated-"):
        return replace(_generate(name), name=title, told=False, truth=timed.Truth())
    if name in plants.TITLES:
        train, test = pa.table(plants.learned()), pa.table(plants.normal(name))
        label, truth, family = np.zeros(test.num_rows, np.int8), timed.Truth(), ""
    else:
        folder = find_data(data)
        train, test = (
            pq.read_table(_existing(timed.path_of(name, folder, part)))
            for part in ("train", "test")
        )
        label = timed.anomalous(name, test["label"].to_numpy().astype(np.int8))
        test = test.drop_columns([each for each in _NOT_VARIABLES if each in test.column_names])
        train, test = _unify(train, test)
        truth, family = timed.truth_of(name, test, folder), timed.family_of(name)
    time = timed.TIME_OF.get(family)
    kinds = _kinds(name, train, time, timed.BY_OF.get(family))
    return Dataset(title, train, test, label, kinds, time, told=False, truth=truth)


def _unify(train: pa.Table, test: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Give both tables the same column types, so that 1 and 1.0 are one category."""
    fields = []
    for name in train.column_names:
        ours, theirs = train.schema.field(name).type, test.schema.field(name).type
        if ours != theirs:
            floating = pa.types.is_floating(ours) or pa.types.is_floating(theirs)
            ours = pa.float64() if floating else pa.int64()
        fields.append(pa.field(name, ours))
    schema = pa.schema(fields)
    return train.select(schema.names).cast(schema), test.select(schema.names).cast(schema)


def _kinds(name: str, train: pa.Table, *beside: str | None) -> Kinds:
    """Tell the variables of a table apart; `beside` are columns that are none."""
    variables = [column for column in train.column_names if column not in beside]
    if name == "kddcup99":
        rest = [v for v in variables if v not in _KDD_CATEGORICAL and v not in _KDD_UNUSED]
        return Kinds(_KDD_CATEGORICAL, tuple(rest), _KDD_UNUSED)
    few = {
        v
        for v in variables
        if pa.types.is_large_string(train.schema.field(v).type)
        or pc.count_distinct(train[v]).as_py() <= MAX_CATEGORIES
    }
    return Kinds(
        categorical=tuple(v for v in variables if v in few),
        continuous=tuple(v for v in variables if v not in few),
    )


def _generate(name: str) -> Dataset:
    n_rows, n_columns = (int(part) for part in name.removeprefix("generated-").split("x"))
    made = generated.make(n_rows, n_columns)
    return Dataset(
        name, made.train, made.test, made.label, Kinds(made.categorical, made.continuous)
    )


def _unbundle(name: str) -> Dataset:
    """All columns are numbers; detectors must infer their kinds."""
    task = bundled.make(name.removeprefix("bundled-"))
    kinds = Kinds((), tuple(task.train.column_names))
    return Dataset(name, task.train, task.test, task.label, kinds, told=False)


def _bin(dataset: Dataset) -> Dataset:
    """Cut every continuous variable into five uniform bins; the result is all categorical."""
    train, test = {}, {}
    for name in dataset.variables:
        ours, theirs = column(dataset.train, name), column(dataset.test, name)
        if name in dataset.kinds.continuous:
            edges = np.linspace(ours.min(), ours.max(), N_BINS + 1)[1:-1]
            ours, theirs = np.digitize(ours, edges), np.digitize(theirs, edges)
        train[name], test[name] = ours.astype(str), theirs.astype(str)
    return Dataset(
        f"binned-{dataset.name}",
        pa.table(train),
        pa.table(test),
        dataset.label,
        Kinds(categorical=dataset.variables, continuous=()),
    )


def column(table: pa.Table, name: str) -> NDArray[Any]:
    """One column as a NumPy array."""
    values: NDArray[Any] = table[name].to_numpy()
    return values
