"""The plant with made faults, through the public names: what is reported of their ends, since when."""

import numpy as np
import pytest

from truism import InvariantRuleDetector
from truism.plant import schedule, simulate

SENSORS = ("AIT202", "AIT401", "AIT501", "AIT503")
BEGIN = 1100


@pytest.fixture(scope="module")
def training():
    return simulate(6000, seed=0).columns


@pytest.fixture(scope="module")
def detector(training):
    return InvariantRuleDetector().fit(training)


@pytest.fixture(scope="module")
def normal():
    return simulate(3500, seed=1).columns


def events(detector, normal, sensor, added):
    return detector.incidents({**normal, sensor: normal[sensor] + added})


def led_by(found, sensor):
    return [event for event in found if event.blames[0].variable == sensor]


def test_an_attack_that_is_over_leaves_no_lasting_change():
    """Reported of FIT401: once its change is over, what began meanwhile ends, too."""
    attacks = schedule(4000, seed=6)
    detector = InvariantRuleDetector().fit(simulate(4000, seed=5).columns)
    found = detector.incidents(simulate(4000, seed=6, attacks=attacks).columns)
    changes = [event.start for event in found if event.kind == "shift"]
    assert changes
    for start in changes:
        assert any(attack.start <= start < attack.end for attack in attacks)


@pytest.mark.parametrize("sensor", SENSORS)
def test_a_slow_change_ends_where_its_rows_do(detector, training, normal, sensor):
    rows = np.arange(3500)
    off = np.clip((rows - BEGIN) / 1000, 0, 1) * (rows < 2600) * 8 * training[sensor].std()
    found = led_by(events(detector, normal, sensor, off), sensor)
    (change,) = (event for event in found if event.kind == "shift")
    assert abs(change.end - 2599) <= 15
    assert change.state == "closed"


def test_a_frozen_sensor_stood_still_since_it_froze(detector, normal):
    rows = np.arange(3500)
    frozen = np.where(rows >= BEGIN, normal["AIT202"][BEGIN], normal["AIT202"])
    (change,) = led_by(detector.incidents({**normal, "AIT202": frozen}), "AIT202")
    assert change.stands
    assert change.blames[0].since == BEGIN
    assert change.blames[0].began == normal["time"][BEGIN]
    assert change.summary.startswith("Since 1 Jan 03:03:20 AIT202 stood at ")


def test_the_way_back_is_no_further_return_of_a_fault(detector, training, normal):
    rows = np.arange(3500)
    off = ((rows >= BEGIN) & ((rows - BEGIN) % 720 < 120)) * 8 * training["AIT202"].std()
    found = led_by(events(detector, normal, "AIT202", off), "AIT202")
    found = sorted(found, key=lambda event: event.start)
    begun = [event.nth for event in found if (event.start - BEGIN) % 720 < 60]
    assert begun == [1, 2, 3, 4]
    assert {event.nth for event in found if (event.start - BEGIN) % 720 >= 60} <= {1}
