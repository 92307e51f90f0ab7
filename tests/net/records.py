"""All that is recorded: what observes it, by name, and which records that makes."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from tests.net import public
from tests.net.commands import observe_commands
from tests.net.guards import observe_guards
from tests.net.names import observe_ids
from tests.net.observing import CASES, observe, record_names
from tests.net.oddities import observe_odd_files
from tests.net.public import observe_public

Observer = Callable[[Path], dict[str, Any]]

MADE: Mapping[str, Observer] = {
    **{case.name: partial(observe, case) for case in CASES},
    "odd_files": observe_odd_files,
    "commands": observe_commands,
}
APART: Mapping[str, Observer] = {"ids": observe_ids, "guards": observe_guards}
PUBLIC: Mapping[str, Observer] = {name: partial(observe_public, name) for name in public.TABLES}
ALL = {**MADE, **APART, **PUBLIC}

_SPLIT = {
    **{case.name: record_names(case.name, ordered=case.ordered) for case in CASES},
    **{name: record_names(name, ordered=name in public.IN_ORDER) for name in public.TABLES},
}
# What makes each record.
MAKER_OF: Mapping[str, str] = {record: name for name in ALL for record in _SPLIT.get(name, [name])}
