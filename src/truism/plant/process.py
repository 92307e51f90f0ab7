"""Water, tanks, pipes and machines, and what comes from outside.

Pumps and valves cause every flow, out of one tank and into another, so levels are the integral of
flows. Quality travels with the water: what enters a pipe or a tank changes its quality in proportion to
the volume. Magnitudes are those of the SWaT testbed: flows in m³/h, levels in mm, pressures in kPa.
"""

import math
from collections.abc import Iterator

import numpy as np

from truism.plant.tags import ACTUATOR_OF, SENSORS, STEP_SECONDS

_HOURS, _DAY = STEP_SECONDS / 3600, 86_400 // STEP_SECONDS
_SWIFTNESS = 0.8  # share of the way to its new value that a flow covers within a row
_CHUNK = 4096  # rows drawn at once: fast, and little memory however long the run
_KEEP = math.exp(-STEP_SECONDS / 1500)  # a deviation lasts for about 25 minutes
_GAIN = math.sqrt(1 - _KEEP**2)
_FURTHEST = 2.0  # standard deviations that an influence may stray


def surround(first: int, n_rows: int, seed: int) -> Iterator[tuple[list[float], list[float]]]:
    """Yield for each row what influences the plant, and the errors of the sensors.

    Influences are the supply of raw water, its salt, acidity, redox potential, hardness and turbidity, in
    standard deviations, and the demand in m³/h. Each wanders about its mean and returns within the hour;
    only demand also depends on the time of day. All come from one stream in the order of the rows, so
    an attacked run has the same random events as the same run without attacks.
    """
    generator = np.random.default_rng(seed)
    states: list[float] = []
    for begin in range(0, n_rows, _CHUNK):
        block = generator.standard_normal((min(_CHUNK, n_rows - begin), 7 + len(SENSORS)))
        for row, numbers in enumerate(block.tolist(), first + begin):
            shocks = numbers[:7]  # the first row is anywhere in the range, not at the mean
            if states:
                shocks = [_KEEP * x + _GAIN * z for x, z in zip(states, shocks, strict=True)]
            states = [min(max(x, -_FURTHEST), _FURTHEST) for x in shocks]
            hour = (
                2 * math.pi * row / _DAY
            )  # as an angle; customers draw most at two times of the day
            rhythm = -0.12 * math.cos(hour) - 0.10 * math.cos(2 * hour)
            demand = 0.8 * (1 + rhythm + 0.06 * states[-1])
            yield [*states[:-1], demand], numbers[7:]


class Water:
    """The quality of some water; dosing changes nothing else."""

    def __init__(self, conductivity: float, acidity: float, orp: float, hardness: float) -> None:
        self.conductivity, self.acidity = conductivity, acidity
        self.orp, self.hardness = orp, hardness

    def take_on(self, other: "Water", share: float) -> None:
        """Mix in a share of other water."""
        self.conductivity += share * (other.conductivity - self.conductivity)
        self.acidity += share * (other.acidity - self.acidity)
        self.orp += share * (other.orp - self.orp)
        self.hardness += share * (other.hardness - self.hardness)


class Tank:
    """An upright tank: excess water spills, and only the water it holds can be drawn."""

    def __init__(self, area: float, level: float) -> None:
        self._area, self.level, self.water = area, level, Water(254.0, 7.6, 450.0, 150.0)

    def exchange(self, inflow: float, outflow: float) -> None:
        """Fill and drain for the length of a row."""
        level = self.level + (inflow - outflow) * _HOURS * 1000 / self._area
        self.level = min(max(level, 0.0), 1200.0)

    def admit(self, water: Water, inflow: float) -> None:
        """Mix water that flows in with the water in the tank."""
        volume = max(self.level, 20.0) * self._area / 1000
        self.water.take_on(water, min(1.0, inflow * _HOURS / volume))

    def offer(self, flow: float) -> float:
        """Limit an outflow to what the tank holds; suction fails over the last 20 mm."""
        return flow if self.level > 20.0 else flow * self.level / 20.0


class Process:
    """The true state of the plant; `start` are standard deviations of the first levels.

    Actuators have a position, 0 for closed or off and 1 for open or on; `states` is it in words.
    """

    def __init__(self, start: list[float]) -> None:
        self._position = dict.fromkeys(ACTUATOR_OF, 0.0)
        self.states = {tag: actuator.resting for tag, actuator in ACTUATOR_OF.items()}
        self._raw_tank = Tank(1.5, 320.0 + 10.0 * start[0])
        self._filter_tank = Tank(1.0, 180.0 + 10.0 * start[1])
        self._osmosis_tank = Tank(0.9, 150.0 + 10.0 * start[2])
        self._permeate_tank = Tank(0.7, 150.0 + 10.0 * start[3])
        self._service_tank = Tank(0.5, 650.0 + 10.0 * start[4])
        self._dosed = Water(250.0, 7.8, 400.0, 150.0)
        self._dechlorinated, self._feed = (Water(254.0, 7.6, 260.0, 150.0) for _ in range(2))
        self._inlet = self._transfer = self._filtered = self._kept = self._backwash = 0.0
        self._lifted = self._permeate = self._reject = self._recycled = 0.0
        self._pressure = self._back_pressure = 0.0
        self._fouling, self._permeate_conductivity = 0.2, 30.0

    def advance(self, commands: dict[str, bool], around: list[float]) -> None:
        """Let the plant work for the length of a row: actuators move, then water does."""
        supply, salt, acid, orp, lime, turbidity, demand = around
        raw = Water(245.0 + 2.5 * salt, 8.1 + 0.05 * acid, 250.0 + 10.0 * orp, 150.0 + 1.5 * lime)
        for tag, position in self._position.items():
            actuator, wanted = ACTUATOR_OF[tag], commands[tag]
            if position != wanted:
                self._position[tag] = position = position + (1 if wanted else -1) / actuator.travel
                halfway = "opening" if wanted else "closing"
                end = actuator.acting if wanted else actuator.resting
                self.states[tag] = end if position == wanted else halfway
        self._take_in(self._position, raw, supply)
        self._filter(self._position, turbidity)
        self._press_through_membranes(self._position)
        self._supply_customers(self._position, demand)

    def _take_in(self, position: dict[str, float], raw: Water, supply: float) -> None:
        """Stages 1 and 2. Each dose pulls towards its stock, so that standing water is not overdosed."""
        inlet = 3.4 * (1 + 0.025 * supply) * position["MV101"]
        self._inlet += _SWIFTNESS * (inlet - self._inlet)
        head = 0.95 + 0.1 * self._raw_tank.level / 1000
        pumped = 2.8 * head * _together(position, "P101", "P102") * position["MV201"]
        self._transfer += _SWIFTNESS * (self._raw_tank.offer(pumped) - self._transfer)
        self._raw_tank.exchange(self._inlet, self._transfer)
        dosed = self._dosed
        dosed.take_on(raw, self._transfer * _HOURS / 0.06)
        salt = 0.0022 * (position["P201"] + position["P202"])
        acid = 0.035 * (position["P203"] + position["P204"])
        chlorine = 0.08 * (position["P205"] + position["P206"])
        dosed.conductivity += salt * (2000.0 - dosed.conductivity)
        dosed.acidity += acid * (2.0 - dosed.acidity)
        dosed.orp += chlorine * (900.0 - dosed.orp)
        self._filter_tank.admit(dosed, self._transfer)

    def _filter(self, position: dict[str, float], turbidity: float) -> None:
        """Stage 3: the filter clogs as water passes, and a wash clears it."""
        outlet = min(1.0, position["MV302"] + position["MV304"])
        ease = 1 / (1 + 0.12 * self._fouling)
        pumped = 2.65 * ease * _together(position, "P301", "P302") * outlet
        self._filtered += _SWIFTNESS * (self._filter_tank.offer(pumped) - self._filtered)
        washed = 1.8 * position["P602"] * position["MV301"] * position["MV303"]
        self._backwash += _SWIFTNESS * (self._permeate_tank.offer(washed) - self._backwash)
        self._fouling += self._filtered * (1 + 0.12 * turbidity) / 370
        self._fouling *= 1 - 0.3 * min(1.5, self._backwash) / 1.5
        self._filter_tank.exchange(self._transfer, self._filtered)
        self._kept = self._filtered * _share(position["MV302"], position["MV304"])
        self._osmosis_tank.admit(self._filter_tank.water, self._kept)

    def _press_through_membranes(self, position: dict[str, float]) -> None:
        """Stages 4 and 5: remove chlorine, and hold salt back; idle membranes let more of it pass."""
        line, drawn = self._dechlorinated, self._permeate + self._reject
        line.take_on(self._osmosis_tank.water, drawn * _HOURS / 0.08)
        bisulphite = 0.08 * (position["P403"] + position["P404"])
        line.orp += 0.035 * position["UV401"] * (150.0 - line.orp)
        line.orp += bisulphite * (40.0 - line.orp)
        self._feed.take_on(line, drawn * _HOURS / 0.03)
        permeate_way, reject_way = (
            min(1.0, position["MV501"] + position["MV502"]),
            position["MV503"],
        )
        fed = self._osmosis_tank.offer(_together(position, "P401", "P402"))
        boost = _together(position, "P501", "P502")
        jam = 1 + 0.35 * (1 - reject_way) + 0.2 * (1 - permeate_way)
        target = fed * (120.0 + 130.0 * boost) * jam + (1 - min(1.0, fed)) * 15.0 * boost
        self._pressure += 0.7 * (target - self._pressure)
        self._permeate = 0.0053 * self._pressure * permeate_way * min(1.0, fed)
        self._reject = 0.0026 * self._pressure * reject_way * min(1.0, fed)
        self._recycled = 0.0012 * self._pressure * boost * min(1.0, fed)
        self._back_pressure = 0.1 * self._pressure * (1 - permeate_way) + 1.8 * self._permeate
        self._osmosis_tank.exchange(self._kept, self._permeate + self._reject)
        passage, share = 0.2, 0.01
        if self._permeate > 0.05:
            passage, share = 0.035 * 250.0 / max(self._pressure, 60.0), 0.25
        salt = passage * self._feed.conductivity
        self._permeate_conductivity += share * (salt - self._permeate_conductivity)

    def _supply_customers(self, position: dict[str, float], demand: float) -> None:
        """Stage 6."""
        stored = self._permeate * _share(position["MV501"], position["MV502"])
        lifted = self._permeate_tank.offer(1.7 * position["P601"])
        self._lifted += _SWIFTNESS * (lifted - self._lifted)
        self._permeate_tank.exchange(stored, self._lifted + self._backwash)
        self._service_tank.exchange(self._lifted, self._service_tank.offer(demand))

    def truth(self) -> tuple[float, ...]:
        """Return what each sensor would read if it were perfect, in the order of `SENSORS`."""
        dosed, line, feed = self._dosed, self._dechlorinated, self._feed
        drawn = self._permeate + self._reject
        over_filter = (4.9 + 3.8 * self._fouling) * self._filtered - 4.0 * self._backwash
        after_membranes = max(0.0, self._pressure - 28.0 * drawn)
        return (
            *(self._inlet, self._raw_tank.level),
            *(dosed.conductivity, dosed.acidity, dosed.orp, self._transfer),
            *(over_filter, self._filtered, self._filter_tank.level),
            *(self._osmosis_tank.water.hardness, line.orp, drawn, self._osmosis_tank.level),
            *(feed.acidity, feed.orp, feed.conductivity, self._permeate_conductivity),
            *(drawn, self._permeate, self._reject, self._recycled),
            *(self._pressure, self._back_pressure, after_membranes),
            *(self._backwash, self._lifted, self._permeate_tank.level, self._service_tank.level),
        )


def _together(position: dict[str, float], duty: str, standby: str) -> float:
    """Return the strength of two pumps on one pipe: the second adds only a quarter."""
    one, other = position[duty], position[standby]
    return max(one, other) + 0.25 * min(one, other)


def _share(way: float, other: float) -> float:
    """Return the share of a flow that takes one of two ways."""
    return way / (way + other) if way else 0.0
