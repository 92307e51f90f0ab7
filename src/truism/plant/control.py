"""The controllers: reported values go in, commands come out.

They see the plant only through its reports, as programmable controllers do. So a false level makes them
do the wrong thing to real water, and a false state stops them where a sequence waits for it.
"""

from truism.plant.tags import ACTUATORS

Readings = dict[str, float]
States = dict[str, str]
Commands = dict[str, bool]

RETUNED_MARKS = 600.0, 800.0  # of LIT301 in mm; 800 and 1,000 before


class Band:
    """A band in which a value counts as low after it fell below ``low``, until it exceeds ``high``."""

    __slots__ = ("_high", "_is_low", "_low")

    def __init__(self, low: float, high: float) -> None:
        self._low = low
        self._high = high
        self._is_low = False

    def is_low(self, value: float) -> bool:
        """Take in a value, and return whether it counts as low."""
        if value < self._low:
            self._is_low = True
        elif value > self._high:
            self._is_low = False
        return self._is_low

    def move(self, low: float, high: float) -> None:
        """Put other marks in place of the present ones; what counts as low stays so until they say."""
        self._low, self._high = low, high


class Pair:
    """Two pumps that take turns every few starts, or when the leading one does not start.

    Pairs that start together differ in the number of starts per turn. Otherwise a pump of one pair
    would always run with the same pump of the other, for no physical reason.
    """

    __slots__ = ("_idle_rows", "_lead", "_rest", "_runs", "_starts", "_turn")

    def __init__(self, first: str, second: str, turn: int) -> None:
        self._lead, self._rest = first, second
        self._runs = False
        self._idle_rows = 0
        self._turn, self._starts = turn, 0

    def run(self, wanted: bool, states: States, commands: Commands) -> None:
        """Command the pair to run or to rest."""
        if wanted and not self._runs:
            self._starts += 1
            if self._starts > self._turn:
                self._swap()
        elif wanted and states[self._lead] == "off":
            self._idle_rows += 1
            if self._idle_rows == 3:
                self._swap()
        self._runs = wanted
        commands[self._lead] = wanted
        commands[self._rest] = False

    def _swap(self) -> None:
        self._lead, self._rest = self._rest, self._lead
        self._idle_rows = 0
        self._starts = 1


class RawWater:
    """Stages 1 and 2: keep the first two tanks filled, and dose what passes between them."""

    def __init__(self) -> None:
        self._raw_level = Band(500.0, 800.0)
        self._raw_reserve = Band(250.0, 350.0)
        self._filter_level = Band(800.0, 1000.0)
        self._conductivity = Band(250.0, 258.0)
        self._acidity = Band(7.4, 7.8)
        self._orp = Band(420.0, 480.0)
        self._transfer = Pair("P101", "P102", turn=1)
        self._salt = Pair("P201", "P202", turn=2)
        self._acid = Pair("P203", "P204", turn=3)
        self._chlorine = Pair("P205", "P206", turn=4)

    def decide(self, readings: Readings, states: States, commands: Commands) -> None:
        """Command the valves and pumps of both stages."""
        level = readings["LIT101"]
        commands["MV101"] = self._raw_level.is_low(level)
        is_short = self._raw_reserve.is_low(level)
        wanted = self._filter_level.is_low(readings["LIT301"]) and not is_short
        commands["MV201"] = wanted
        self._transfer.run(wanted and states["MV201"] == "open", states, commands)
        flows = readings["FIT201"] > 0.5
        salt = self._conductivity.is_low(readings["AIT201"])
        acid = not self._acidity.is_low(readings["AIT202"])
        chlorine = self._orp.is_low(readings["AIT203"])
        self._salt.run(flows and salt, states, commands)
        self._acid.run(flows and acid, states, commands)
        self._chlorine.run(flows and chlorine, states, commands)

    def retune(self) -> None:
        """Keep the tank before the filter lower from now on."""
        self._filter_level.move(*RETUNED_MARKS)


class Ultrafiltration:
    """Stage 3: filter while the next tank needs water; wash and rinse when the filter clogs."""

    _longest_run = 300
    _wash_rows = 9
    _rinse_rows = 5

    def __init__(self) -> None:
        self._level = Band(800.0, 1000.0)
        self._reserve = Band(250.0, 350.0)
        self._wash_water = Band(200.0, 260.0)
        self._pumps = Pair("P301", "P302", turn=2)
        self._phase = "filter"
        self._rows = 0

    def decide(self, readings: Readings, states: States, commands: Commands) -> None:
        """Command the valves and pumps for filtering, washing and rinsing."""
        wanted = self._level.is_low(readings["LIT401"])
        is_short = self._reserve.is_low(readings["LIT301"])
        has_wash_water = not self._wash_water.is_low(readings["LIT601"])
        if self._phase == "filter":
            self._filter(wanted and not is_short, has_wash_water, readings, states, commands)
        elif self._phase == "wash":
            self._wash(has_wash_water, states, commands)
        else:
            self._rinse(not is_short, states, commands)

    def _filter(
        self,
        wanted: bool,
        has_wash_water: bool,
        readings: Readings,
        states: States,
        commands: Commands,
    ) -> None:
        runs = wanted and states["MV302"] == "open"
        self._rows += runs
        is_clogged = readings["DPIT301"] > 21.5 or self._rows > self._longest_run
        if is_clogged and has_wash_water:
            self._enter("wash")
            wanted = runs = False
        commands["MV302"] = wanted
        self._pumps.run(runs, states, commands)

    def _wash(self, has_wash_water: bool, states: States, commands: Commands) -> None:
        is_over = self._rows >= self._wash_rows
        can_wash = states["MV301"] == "open" and states["MV303"] == "open" and not is_over
        commands["MV301"] = commands["MV303"] = not is_over
        commands["P602"] = can_wash and has_wash_water
        self._rows += can_wash
        if is_over:
            self._enter("rinse")

    def _rinse(self, has_water: bool, states: States, commands: Commands) -> None:
        is_over = self._rows >= self._rinse_rows
        runs = states["MV304"] == "open" and not is_over
        commands["MV304"] = not is_over
        self._pumps.run(runs and has_water, states, commands)
        self._rows += runs
        if is_over:
            self._enter("filter")

    def _enter(self, phase: str) -> None:
        self._phase = phase
        self._rows = 0


class ReverseOsmosis:
    """Stages 4 and 5: make permeate while its tank needs it.

    Chlorine destroys membranes, so the high pressure pumps wait until ultraviolet light and bisulphite
    have removed it; and the permeate goes to the drain until it is clean.
    """

    def __init__(self) -> None:
        self._level = Band(500.0, 800.0)
        self._reserve = Band(250.0, 350.0)
        self._chlorine = Band(225.0, 275.0)
        self._harm = Band(300.0, 330.0)
        self._salinity = Band(11.0, 15.0)
        self._feed = Pair("P401", "P402", turn=1)
        self._bisulphite = Pair("P403", "P404", turn=2)
        self._boost = Pair("P501", "P502", turn=3)

    def decide(self, readings: Readings, states: States, commands: Commands) -> None:
        """Command dechlorination, pumps and the valves around the membranes."""
        wanted = self._level.is_low(readings["LIT601"])
        wanted = not self._reserve.is_low(readings["LIT401"]) and wanted
        commands["MV503"] = wanted
        feeds = wanted and states["MV503"] == "open"
        self._feed.run(feeds, states, commands)
        flows = readings["FIT401"] > 0.5
        commands["UV401"] = feeds and flows
        has_chlorine = not self._chlorine.is_low(readings["AIT402"])
        self._bisulphite.run(feeds and flows and has_chlorine, states, commands)
        is_safe = self._harm.is_low(readings["AIT502"]) and readings["PIT501"] < 340.0
        self._boost.run(feeds and flows and is_safe, states, commands)
        is_clean = self._salinity.is_low(readings["AIT504"])
        commands["MV501"] = wanted and is_clean
        commands["MV502"] = wanted and not is_clean


class Supply:
    """Stage 6: keep the service tank filled as long as there is permeate."""

    def __init__(self) -> None:
        self._level = Band(500.0, 800.0)
        self._reserve = Band(200.0, 300.0)

    def decide(self, readings: Readings, commands: Commands) -> None:
        """Command the pump that lifts permeate into the service tank."""
        is_short = self._reserve.is_low(readings["LIT601"])
        commands["P601"] = self._level.is_low(readings["LIT602"]) and not is_short


class Controllers:
    """All controllers of the plant."""

    def __init__(self) -> None:
        self._raw_water = RawWater()
        self._ultrafiltration = Ultrafiltration()
        self._reverse_osmosis = ReverseOsmosis()
        self._supply = Supply()

    def decide(self, readings: Readings, states: States) -> Commands:
        """Command every actuator for the next row."""
        commands = rest()
        self._raw_water.decide(readings, states, commands)
        self._ultrafiltration.decide(readings, states, commands)
        self._reverse_osmosis.decide(readings, states, commands)
        self._supply.decide(readings, commands)
        return commands

    def retune(self) -> None:
        """Tune the plant anew, as its engineers may: nothing is broken, but LIT301 stays lower."""
        self._raw_water.retune()


def rest() -> Commands:
    """Command everything to rest, as before the first row."""
    return dict.fromkeys(_TAGS, False)


_TAGS = tuple(actuator.tag for actuator in ACTUATORS)
