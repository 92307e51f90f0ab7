"""Water, tanks, pipes and machines: positions of the actuators go in, true values come out.

Pumps and valves cause every flow, out of one tank and into another, so levels are the integral of
flows. Quality travels with the water: what enters a pipe or a tank changes its quality in proportion to
the volume. Magnitudes are those of the SWaT testbed: flows in m³/h, levels in mm, pressures in kPa.
"""

from truism.plant.surroundings import Surroundings
from truism.plant.tags import ACTUATOR_OF, ACTUATORS, STEP_SECONDS

_HOURS = STEP_SECONDS / 3600
_SWIFTNESS = 0.8  # share of the way to its new value that a flow covers within a row


class Equipment:
    """The actuators and their positions.

    ``position`` is 0 for closed or off and 1 for open or on; ``states`` is the same in words.
    """

    __slots__ = ("_pace", "position", "states")

    def __init__(self) -> None:
        self._pace = {actuator.tag: 1 / actuator.travel for actuator in ACTUATORS}
        self.position = dict.fromkeys(self._pace, 0.0)
        self.states = {actuator.tag: actuator.resting for actuator in ACTUATORS}

    def obey(self, commands: dict[str, bool]) -> None:
        """Move every actuator towards its command for the length of a row."""
        for tag, position in self.position.items():
            if position != commands[tag]:
                self._move(tag, commands[tag])

    def _move(self, tag: str, wanted: bool) -> None:
        pace = self._pace[tag]
        position = self.position[tag] + (pace if wanted else -pace)
        self.position[tag] = position
        actuator = ACTUATOR_OF[tag]
        if position == wanted:
            self.states[tag] = actuator.acting if wanted else actuator.resting
        else:
            self.states[tag] = "opening" if wanted else "closing"


class Water:
    """The quality of some water; dosing changes nothing else."""

    __slots__ = ("acidity", "conductivity", "hardness", "orp")

    def __init__(self, conductivity: float, acidity: float, orp: float, hardness: float) -> None:
        self.conductivity = conductivity
        self.acidity = acidity
        self.orp = orp
        self.hardness = hardness

    def take_on(self, other: "Water", share: float) -> None:
        """Mix in a share of other water."""
        self.conductivity += share * (other.conductivity - self.conductivity)
        self.acidity += share * (other.acidity - self.acidity)
        self.orp += share * (other.orp - self.orp)
        self.hardness += share * (other.hardness - self.hardness)


class Tank:
    """An upright tank: excess water spills, and only the water it holds can be drawn."""

    __slots__ = ("_area", "_height", "level", "water")

    def __init__(self, area: float, level: float, height: float = 1200.0) -> None:
        self._area = area
        self._height = height
        self.level = level
        self.water = Water(254.0, 7.6, 450.0, 150.0)

    def exchange(self, inflow: float, outflow: float) -> None:
        """Fill and drain for the length of a row."""
        level = self.level + (inflow - outflow) * _HOURS * 1000 / self._area
        self.level = min(max(level, 0.0), self._height)

    def admit(self, water: Water, inflow: float) -> None:
        """Mix water that flows in with the water in the tank."""
        volume = max(self.level, 20.0) * self._area / 1000
        self.water.take_on(water, min(1.0, inflow * _HOURS / volume))

    def offer(self, flow: float) -> float:
        """Limit an outflow to what the tank holds; suction fails over the last 20 mm."""
        return flow if self.level > 20.0 else flow * self.level / 20.0


class Process:
    """The true state of the plant."""

    def __init__(self, start: list[float]) -> None:
        jitter = [10.0 * deviation for deviation in start]
        self._raw_tank = Tank(1.5, 320.0 + jitter[0])
        self._filter_tank = Tank(1.0, 180.0 + jitter[1])
        self._osmosis_tank = Tank(0.9, 150.0 + jitter[2])
        self._permeate_tank = Tank(0.7, 150.0 + jitter[3])
        self._service_tank = Tank(0.5, 650.0 + jitter[4])
        self._raw = Water(245.0, 8.1, 250.0, 150.0)
        self._dosed = Water(250.0, 7.8, 400.0, 150.0)
        self._dechlorinated = Water(254.0, 7.6, 260.0, 150.0)
        self._feed = Water(254.0, 7.6, 260.0, 150.0)
        self._inlet = self._transfer = self._filtered = self._kept = self._backwash = 0.0
        self._lifted = self._permeate = self._reject = self._recycled = 0.0
        self._pressure = self._back_pressure = 0.0
        self._fouling = 0.2
        self._permeate_conductivity = 30.0

    def advance(self, position: dict[str, float], around: Surroundings) -> None:
        """Let the plant work for the length of a row."""
        self._take_in_raw_water(position, around)
        self._dose(position, around)
        self._filter(position, around)
        self._dechlorinate(position)
        self._press_through_membranes(position)
        self._supply_customers(position, around)

    def _take_in_raw_water(self, position: dict[str, float], around: Surroundings) -> None:
        inlet = 3.4 * (1 + 0.025 * around.supply) * position["MV101"]
        self._inlet += _SWIFTNESS * (inlet - self._inlet)
        head = 0.95 + 0.1 * self._raw_tank.level / 1000
        pumped = 2.8 * head * _together(position["P101"], position["P102"]) * position["MV201"]
        self._transfer += _SWIFTNESS * (self._raw_tank.offer(pumped) - self._transfer)
        self._raw_tank.exchange(self._inlet, self._transfer)

    def _dose(self, position: dict[str, float], around: Surroundings) -> None:
        raw, dosed = self._raw, self._dosed
        raw.conductivity = 245.0 + 2.5 * around.conductivity
        raw.acidity = 8.1 + 0.05 * around.acidity
        raw.orp = 250.0 + 10.0 * around.orp
        raw.hardness = 150.0 + 1.5 * around.hardness
        dosed.take_on(raw, self._transfer * _HOURS / 0.06)
        # Each dose pulls towards the strength of its stock, so that dosing into standing water
        # never goes beyond it.
        dosed.conductivity += _strength(position, "P201", "P202", 0.0022) * (
            2000.0 - dosed.conductivity
        )
        dosed.acidity += _strength(position, "P203", "P204", 0.035) * (2.0 - dosed.acidity)
        dosed.orp += _strength(position, "P205", "P206", 0.08) * (900.0 - dosed.orp)
        self._filter_tank.admit(dosed, self._transfer)

    def _filter(self, position: dict[str, float], around: Surroundings) -> None:
        outlet = min(1.0, position["MV302"] + position["MV304"])
        ease = 1 / (1 + 0.12 * self._fouling)
        pumped = 2.65 * ease * _together(position["P301"], position["P302"]) * outlet
        self._filtered += _SWIFTNESS * (self._filter_tank.offer(pumped) - self._filtered)
        washed = 1.8 * position["P602"] * position["MV301"] * position["MV303"]
        self._backwash += _SWIFTNESS * (self._permeate_tank.offer(washed) - self._backwash)
        self._fouling += self._filtered * (1 + 0.12 * around.turbidity) / 370
        self._fouling *= 1 - 0.3 * min(1.5, self._backwash) / 1.5
        self._filter_tank.exchange(self._transfer, self._filtered)
        self._kept = self._filtered * _share(position["MV302"], position["MV304"])
        self._osmosis_tank.admit(self._filter_tank.water, self._kept)

    def _dechlorinate(self, position: dict[str, float]) -> None:
        line, drawn = self._dechlorinated, self._permeate + self._reject
        line.take_on(self._osmosis_tank.water, drawn * _HOURS / 0.08)
        line.orp += 0.035 * position["UV401"] * (150.0 - line.orp)
        line.orp += _strength(position, "P403", "P404", 0.08) * (40.0 - line.orp)
        self._feed.take_on(line, drawn * _HOURS / 0.03)

    def _press_through_membranes(self, position: dict[str, float]) -> None:
        permeate_way = min(1.0, position["MV501"] + position["MV502"])
        reject_way = position["MV503"]
        fed = self._osmosis_tank.offer(_together(position["P401"], position["P402"]))
        boost = _together(position["P501"], position["P502"])
        jam = 1 + 0.35 * (1 - reject_way) + 0.2 * (1 - permeate_way)
        target = fed * (120.0 + 130.0 * boost) * jam + (1 - min(1.0, fed)) * 15.0 * boost
        self._pressure += 0.7 * (target - self._pressure)
        self._permeate = 0.0053 * self._pressure * permeate_way * min(1.0, fed)
        self._reject = 0.0026 * self._pressure * reject_way * min(1.0, fed)
        self._recycled = 0.0012 * self._pressure * boost * min(1.0, fed)
        self._back_pressure = 0.1 * self._pressure * (1 - permeate_way) + 1.8 * self._permeate
        self._osmosis_tank.exchange(self._kept, self._permeate + self._reject)
        self._pass_salt()

    def _pass_salt(self) -> None:
        """Let salt through the membranes: little under pressure, more while they stand idle."""
        if self._permeate > 0.05:
            passage = 0.035 * 250.0 / max(self._pressure, 60.0)
            target, share = passage * self._feed.conductivity, 0.25
        else:
            target, share = 0.2 * self._feed.conductivity, 0.01
        self._permeate_conductivity += share * (target - self._permeate_conductivity)

    def _supply_customers(self, position: dict[str, float], around: Surroundings) -> None:
        stored = self._permeate * _share(position["MV501"], position["MV502"])
        lifted = self._permeate_tank.offer(1.7 * position["P601"])
        self._lifted += _SWIFTNESS * (lifted - self._lifted)
        self._permeate_tank.exchange(stored, self._lifted + self._backwash)
        self._service_tank.exchange(self._lifted, self._service_tank.offer(around.demand))

    def truth(self) -> tuple[float, ...]:
        """Return what each sensor would read if it were perfect, in the order of `SENSORS`."""
        dosed, line, feed = self._dosed, self._dechlorinated, self._feed
        drawn = self._permeate + self._reject
        resistance = 4.9 + 3.8 * self._fouling
        return (
            self._inlet,
            self._raw_tank.level,
            dosed.conductivity,
            dosed.acidity,
            dosed.orp,
            self._transfer,
            resistance * self._filtered - 4.0 * self._backwash,
            self._filtered,
            self._filter_tank.level,
            self._osmosis_tank.water.hardness,
            line.orp,
            drawn,
            self._osmosis_tank.level,
            feed.acidity,
            feed.orp,
            feed.conductivity,
            self._permeate_conductivity,
            drawn,
            self._permeate,
            self._reject,
            self._recycled,
            self._pressure,
            self._back_pressure,
            max(0.0, self._pressure - 28.0 * drawn),
            self._backwash,
            self._lifted,
            self._permeate_tank.level,
            self._service_tank.level,
        )


def _together(duty: float, standby: float) -> float:
    """Return the strength of two pumps on one pipe: the second adds only a quarter."""
    return max(duty, standby) + 0.25 * min(duty, standby)


def _strength(position: dict[str, float], duty: str, standby: str, per_pump: float) -> float:
    return per_pump * (position[duty] + position[standby])


def _share(way: float, other: float) -> float:
    """Return the share of a flow that takes one of two ways."""
    return way / (way + other) if way else 0.0
