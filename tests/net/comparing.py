"""What was recorded beside what is found now: differences in words, and the files."""

import json
import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "recorded"
TOLERANCE = 1e-6  # relative, of what is no whole number
_NEARLY_NOTHING = 1e-9
_MANY = 30  # differences are shown, and no more
_NOTHING = object()


def rounded(value: Any) -> Any:
    """Return facts as they are written: numbers with nine digits, which is more than is compared."""
    match value:
        case bool() | int() | str() | None:
            return value
        case float():
            return float(f"{value:.9g}") if math.isfinite(value) else str(value)
        case Mapping():
            return {str(name): rounded(each) for name, each in value.items()}
        case list() | tuple():
            return [rounded(each) for each in value]
    return rounded(value.item())  # NumPy's


def differences(name: str, recorded: Any, now: Any) -> list[str]:
    """Say in a line each what is not as it was recorded; an empty list if nothing differs."""
    return [f"{name}: {each}" for each in _differing("", recorded, rounded(now))]


def _differing(place: str, recorded: Any, now: Any) -> Iterator[str]:
    if isinstance(recorded, dict) and isinstance(now, dict):
        for name in [*recorded, *(each for each in now if each not in recorded)]:
            inner = f"{place}.{name}" if place else name
            yield from _differing(inner, recorded.get(name, _NOTHING), now.get(name, _NOTHING))
    elif isinstance(recorded, list) and isinstance(now, list):
        if len(recorded) != len(now):
            yield f"{place} had {len(recorded)} entries, now {len(now)}"
        for i, (one, other) in enumerate(zip(recorded, now, strict=False)):
            yield from _differing(f"{place}[{i}]", one, other)
    elif not _same(recorded, now):
        yield f"{place} was {_shown(recorded)}, now {_shown(now)}"


def _same(recorded: Any, now: Any) -> bool:
    if isinstance(recorded, float) and isinstance(now, float):
        return math.isclose(recorded, now, rel_tol=TOLERANCE, abs_tol=_NEARLY_NOTHING)
    return type(recorded) is type(now) and recorded == now


def _shown(value: Any) -> str:
    return "absent" if value is _NOTHING else json.dumps(value, ensure_ascii=False)


def path_of(name: str) -> Path:
    """Return the file of a record."""
    return FOLDER / f"{name}.json"


def recorded(name: str) -> Any:
    """Return what was recorded under a name; nothing if nothing was."""
    path = path_of(name)
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def compare(name: str, now: Any) -> None:
    """Fail if anything is not as it was recorded, and say what."""
    found = differences(name, recorded(name), now)
    if found:
        more = [f"and {len(found) - _MANY} more"] if len(found) > _MANY else []
        hint = (
            f"If that is on purpose: make net-record (or: python -m tests.net {name}), and say why."
        )
        raise AssertionError(os.linesep.join([*found[:_MANY], *more, hint]))


def record(name: str, now: Any) -> list[str]:
    """Write what is found now, and say what of it is new; what has not changed is left as it is."""
    found = differences(name, recorded(name), now)
    if found:
        FOLDER.mkdir(exist_ok=True)
        text = json.dumps(rounded(now), ensure_ascii=False, indent=1)
        path_of(name).write_text(f"{text}\n", encoding="utf-8")
    return found
