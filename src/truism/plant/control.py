"""The controllers: they see the plant only through its reports, as programmable controllers do.

So a false level makes them do the wrong thing to real water, and a false state stops them where a
sequence waits for it.
"""

from typing import Any

from truism.plant.tags import ACTUATOR_OF

Report = dict[str, Any]  # what sensors and actuators report in one row, by tag
Commands = dict[str, bool]
Marks = dict[str, tuple[float, float]]

# A sensor counts as low after it fell below the first mark, until it exceeds the second.
_MARKS = Marks(LIT101=(500, 800), LIT301=(800, 1000), LIT401=(800, 1000), LIT601=(500, 800))
_MARKS |= Marks(LIT602=(500, 800), AIT201=(250, 258), AIT202=(7.4, 7.8), AIT203=(420, 480))
_MARKS |= Marks(AIT402=(225, 275), AIT502=(300, 330), AIT504=(11, 15))
_RESERVE = Marks(LIT101=(250, 350), LIT301=(250, 350), LIT401=(250, 350), LIT601=(200, 300))
_WASH_WATER = Marks(LIT601=(200, 260))
_RETUNED = Marks(LIT301=(600, 800))
# Pumps in pairs, by the first of them, and how many starts it takes until they change places. Pairs
# that start together differ in this: else a pump would always run with the same pump of the other pair.
_PAIRS = {"P101": ("P102", 1), "P201": ("P202", 2), "P203": ("P204", 3), "P205": ("P206", 4)}
_PAIRS |= {"P301": ("P302", 2), "P401": ("P402", 1), "P403": ("P404", 2), "P501": ("P502", 3)}
_LONGEST_RUN, _WASH_ROWS, _RINSE_ROWS = 300, 9, 5


class Lows:
    """Which sensors count as low."""

    def __init__(self, marks: Marks) -> None:
        self.marks, self._low = dict(marks), dict.fromkeys(marks, False)

    def of(self, report: Report) -> dict[str, bool]:
        """Take in a row, and return whether each sensor counts as low."""
        for tag, (low, high) in self.marks.items():
            value = report[tag]
            self._low[tag] = value < low or (self._low[tag] and value <= high)
        return self._low


class Pair:
    """Two pumps that take turns every few starts, or when the leading one does not start."""

    def __init__(self, first: str, second: str, turn: int) -> None:
        self._lead, self._rest, self._turn = first, second, turn
        self._runs, self._idle_rows, self._starts = False, 0, 0

    def run(self, wanted: bool, report: Report, commands: Commands) -> None:
        """Command the pair to run or to rest."""
        if wanted and not self._runs:
            self._starts += 1
            if self._starts > self._turn:
                self._swap()
        elif wanted and report[self._lead] == "off":
            self._idle_rows += 1
            if self._idle_rows == 3:
                self._swap()
        self._runs = commands[self._lead] = wanted

    def _swap(self) -> None:
        self._lead, self._rest = self._rest, self._lead
        self._idle_rows, self._starts = 0, 1


class Controllers:
    """All controllers of the plant."""

    def __init__(self) -> None:
        self._lows, self._reserve, self._wash_water = map(Lows, (_MARKS, _RESERVE, _WASH_WATER))
        self._pairs = {first: Pair(first, *other) for first, other in _PAIRS.items()}
        self._phase, self._rows = "filter", 0

    def retune(self) -> None:
        """Tune the plant anew, as its engineers may: nothing is broken, but LIT301 stays lower."""
        self._lows.marks |= _RETUNED

    def decide(self, report: Report) -> Commands:
        """Command every actuator for the next row."""
        commands = dict.fromkeys(ACTUATOR_OF, False)  # everything rests
        low, short = self._lows.of(report), self._reserve.of(report)
        # Stages 1 and 2: keep the first two tanks filled, and dose what passes between them.
        commands["MV101"] = low["LIT101"]
        commands["MV201"] = wanted = low["LIT301"] and not short["LIT101"]
        flows = report["FIT201"] > 0.5
        self._pairs["P101"].run(wanted and report["MV201"] == "open", report, commands)
        self._pairs["P201"].run(flows and low["AIT201"], report, commands)
        self._pairs["P203"].run(flows and not low["AIT202"], report, commands)
        self._pairs["P205"].run(flows and low["AIT203"], report, commands)
        self._ultrafilter(low["LIT401"], not short["LIT301"], report, commands)
        # Stages 4 and 5: make permeate while its tank needs it. Chlorine destroys membranes, so the
        # high pressure pumps wait until ultraviolet light and bisulphite have removed it; and the
        # permeate goes to the drain until it is clean.
        commands["MV503"] = wanted = low["LIT601"] and not short["LIT401"]
        feeds = wanted and report["MV503"] == "open"
        flows = feeds and report["FIT401"] > 0.5
        is_safe = low["AIT502"] and report["PIT501"] < 340.0
        self._pairs["P401"].run(feeds, report, commands)
        commands["UV401"] = flows
        self._pairs["P403"].run(flows and not low["AIT402"], report, commands)
        self._pairs["P501"].run(flows and is_safe, report, commands)
        commands["MV501"] = wanted and low["AIT504"]
        commands["MV502"] = wanted and not low["AIT504"]
        # Stage 6: keep the service tank filled as long as there is permeate.
        commands["P601"] = low["LIT602"] and not short["LIT601"]
        return commands

    def _ultrafilter(
        self, wanted: bool, has_water: bool, report: Report, commands: Commands
    ) -> None:
        """Stage 3: filter while the next tank needs water; wash and rinse when the filter clogs."""
        has_wash_water = not self._wash_water.of(report)["LIT601"]
        if self._phase == "filter":
            wanted = wanted and has_water
            runs = wanted and report["MV302"] == "open"
            self._rows += runs
            is_clogged = report["DPIT301"] > 21.5 or self._rows > _LONGEST_RUN
            if is_clogged and has_wash_water:
                self._phase, self._rows = "wash", 0
                wanted = runs = False
            commands["MV302"] = wanted
            self._pairs["P301"].run(runs, report, commands)
        elif self._phase == "wash":
            is_over = self._rows >= _WASH_ROWS
            washes = report["MV301"] == "open" and report["MV303"] == "open" and not is_over
            commands["MV301"] = commands["MV303"] = not is_over
            commands["P602"] = washes and has_wash_water
            self._phase, self._rows = ("rinse", 0) if is_over else ("wash", self._rows + washes)
        else:
            is_over = self._rows >= _RINSE_ROWS
            runs = report["MV304"] == "open" and not is_over
            commands["MV304"] = not is_over
            self._pairs["P301"].run(runs and has_water, report, commands)
            self._phase, self._rows = ("filter", 0) if is_over else ("rinse", self._rows + runs)
