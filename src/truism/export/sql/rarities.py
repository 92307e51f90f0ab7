"""How rare values are in themselves, as columns: `truism.scoring.rarity` in SQL.

The distance to the nearest training values is a line between every two of some points. Where neither of
two neighbouring points is rare nothing between them is, so most of these lines need not be written.
"""

from collections.abc import Iterator

import msgspec
import numpy as np

from truism.export.sql.conditions import Conditions, states
from truism.export.sql.dialects import LARGEST, number
from truism.export.sql.levels import Column, Lines, indented
from truism.model.evidence import Evidence
from truism.model.schema import Categorical, Numeric, Scalar
from truism.scoring.rarity import (
    MAX_RARITY,
    MIN_RARITY,
    STEEPNESS,
    Emptiness,
    rarity,
    state_rarities,
)

FAR = 60.0  # spreads beyond which any number is as rare as can be


class Rare(msgspec.Struct, frozen=True):
    """Columns about rarity, for two levels.

    Parameters
    ----------
    distances
        How far numbers are from training values, in spreads; 0 where they are not rare.
    rarities
        How rare values are, variable by variable; the second level may use the first.

    """

    distances: tuple[Column, ...]
    rarities: tuple[Column, ...]


def rare(conditions: Conditions, evidence: Evidence) -> Rare:
    """Return the columns about rarity; variables of which no value can be rare have none."""
    distances, rarities = [], []
    spacing_of = {each.variable: each for each in evidence.spacings}
    for variable in conditions.schema.variables:
        i = conditions.place_of[variable.name]
        if isinstance(variable, Numeric):
            each = spacing_of[variable.name]
            empty = Emptiness(each.values, each.counts, each.near, each.spread)
            distances.append(Column(_distance(f"v{i}", empty), f"d{i}", variable.name))
            rarities.append(Column((_rarity(f"d{i}"),), f"r{i}", variable.name))
        else:
            lines = _states(conditions, variable, f"v{i}")
            if lines:
                rarities.append(Column(lines, f"r{i}", variable.name))
    return Rare(tuple(distances), tuple(rarities))


def _distance(value: str, empty: Emptiness) -> Lines:
    arms = [
        f"WHEN {value} {sign} {number(bound)} THEN {number(FAR)}" for sign, bound in _far(empty)
    ]
    arms += _lines(value, empty)
    return ("CASE", *indented(arms), f"ELSE {number(0.0)} END")


def _far(empty: Emptiness) -> Iterator[tuple[str, float]]:
    """Return where numbers begin to be as rare as can be, on both sides."""
    away = FAR * empty.spread
    low, high = float(empty.points[0]) - away, float(empty.points[-1]) + away
    yield "<", max(low, -LARGEST)
    yield ">", min(high, LARGEST)


def _lines(value: str, empty: Emptiness) -> Iterator[str]:
    """Return the lines from left to right; stretches without any rare number are one arm."""
    points, distances = empty.points.tolist(), empty.distances.tolist()
    spread = number(empty.spread)
    usual = (rarity(empty.distances, empty.spread) == 0.0).tolist()
    yield (
        f"WHEN {value} < {number(points[0])} "
        f"THEN ({number(distances[0])} + ({number(points[0])} - {value})) / {spread}"
    )
    waiting = False
    for i in range(len(points) - 1):
        if usual[i] and usual[i + 1]:
            waiting = True
            continue
        if waiting:
            yield f"WHEN {value} < {number(points[i])} THEN {number(0.0)}"
            waiting = False
        slope = (distances[i + 1] - distances[i]) / (points[i + 1] - points[i])
        line = f"{number(slope)} * ({value} - {number(points[i])}) + {number(distances[i])}"
        yield f"WHEN {value} < {number(points[i + 1])} THEN ({line}) / {spread}"
    if waiting:
        yield f"WHEN {value} < {number(points[-1])} THEN {number(0.0)}"
    yield (
        f"WHEN {value} >= {number(points[-1])} "
        f"THEN ({number(distances[-1])} + ({value} - {number(points[-1])})) / {spread}"
    )


def _rarity(distance: str) -> str:
    near = f"LEAST({distance}, {number(FAR)})"
    logarithm = f"LN({near} * {number(STEEPNESS)} + {number(1.0)})"
    squared = f"POWER({logarithm}, 2) - {number(MIN_RARITY)}"
    return f"LEAST(GREATEST({squared}, {number(0.0)}), {number(MAX_RARITY)})"


def _states(conditions: Conditions, variable: Categorical, value: str) -> Lines:
    """Write how rare states are; those as rare as an unseen one need not be listed."""
    *of_values, unseen, _ = state_rarities(np.array(variable.counts)).tolist()
    listed: dict[float, list[Scalar]] = {}
    for state, found in zip(variable.values, of_values, strict=True):
        if found != unseen:
            listed.setdefault(found, []).append(state)
    if not listed and unseen == 0.0:
        return ()
    arms = [f"WHEN {value} IS NULL THEN {number(0.0)}"]
    arms += [
        f"WHEN {states(conditions.dialect, value, those)} THEN {number(found)}"
        for found, those in listed.items()
    ]
    return (
        "CASE",
        *indented(arms),
        f"ELSE {number(unseen)} END",
    )
