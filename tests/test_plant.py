"""The plant behaves like one, and what is known about its attacks is true."""

import functools
import itertools

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from truism.errors import ParameterError
from truism.plant import (
    ACTUATORS,
    ATTACKS,
    SENSORS,
    STEP_SECONDS,
    Attack,
    Recording,
    schedule,
    simulate,
)
from truism.plant.attacks import Force, Jump, Ramp, Replay, Shift

N_ROWS = 3000
AREA_OF = {"LIT101": 1.5, "LIT301": 1.0, "LIT401": 0.9, "LIT601": 0.7}  # m²
PAIRS = [
    *[("P101", "P102"), ("P201", "P202"), ("P203", "P204"), ("P205", "P206")],
    *[("P301", "P302"), ("P401", "P402"), ("P403", "P404"), ("P501", "P502")],
]

seeds = st.integers(0, 2**32)
few = settings(max_examples=8, deadline=None)


@functools.cache
def normal(seed: int = 0, n_rows: int = N_ROWS) -> Recording:
    return simulate(n_rows, seed=seed)


def attacked(*steps, start: int = 700, n_rows: int = 60) -> Recording:
    targets = tuple(step.target for step in steps)
    attack = Attack(1, "combined", start, start + n_rows, targets, "A test.", steps)
    return simulate(start + n_rows + 40, attacks=[attack])


def equal(one: Recording, other: Recording, rows: slice = slice(None)) -> bool:
    return list(one.columns) == list(other.columns) and all(
        np.array_equal(one.columns[name][rows], other.columns[name][rows]) for name in one.columns
    )


def kept(recording: Recording, valve: str) -> np.ndarray:
    """Rows in which a valve has been in the same end position for a while, up to the next row."""
    states = recording.columns[valve]
    still = np.isin(states, ["open", "closed"])
    for lag in range(1, 5):
        still[lag:] &= states[lag:] == states[:-lag]
    still[:5] = False
    return still


class TestRecording:
    def test_has_a_time_column_and_one_per_tag(self):
        columns = normal().columns
        tags = [sensor.tag for sensor in SENSORS] + [actuator.tag for actuator in ACTUATORS]
        assert list(columns) == ["time", *tags]
        assert all(len(column) == N_ROWS for column in columns.values())

    def test_has_the_size_of_the_testbed_it_stands_for(self):
        assert len(SENSORS) >= 25
        assert len(ACTUATORS) >= 25

    def test_time_goes_on_by_the_step(self):
        time = normal().columns["time"]
        assert time.dtype == np.dtype("datetime64[s]")
        assert set(np.diff(time).astype(int)) == {STEP_SECONDS}

    def test_sensors_are_finite_floats_and_actuators_words(self):
        columns = normal().columns
        for sensor in SENSORS:
            assert columns[sensor.tag].dtype == np.float64
            assert np.isfinite(columns[sensor.tag]).all()
        for actuator in ACTUATORS:
            assert set(columns[actuator.tag]) <= set(actuator.states)
            assert all(type(state) is str for state in columns[actuator.tag])

    @pytest.mark.parametrize("sensor", SENSORS, ids=lambda sensor: sensor.tag)
    def test_a_sensor_has_its_resolution(self, sensor):
        readings = normal().columns[sensor.tag]
        decimals = len(str(sensor.steps)) - 1
        assert [round(x, decimals) for x in readings.tolist()] == readings.tolist()
        assert readings.min() >= sensor.lowest

    def test_nothing_tells_when_an_attack_takes_place(self):
        recording = simulate(900, attacks=schedule(900))
        assert list(recording.columns) == list(normal().columns)


class TestDeterminism:
    @few
    @given(seed=seeds, n_rows=st.integers(1, 800))
    def test_the_same_seed_gives_the_same_bits(self, seed, n_rows):
        attacks = schedule(n_rows, seed=seed)
        once = simulate(n_rows, seed=seed, attacks=attacks)
        assert equal(once, simulate(n_rows, seed=seed, attacks=attacks))

    @few
    @given(seed=seeds, n_rows=st.integers(1, 700), more=st.integers(0, 300))
    def test_a_longer_run_begins_with_the_shorter_one(self, seed, n_rows, more):
        longer = simulate(n_rows + more, seed=seed)
        assert equal(simulate(n_rows, seed=seed), longer, slice(n_rows))

    def test_a_longer_run_begins_with_the_shorter_one_across_blocks_of_noise(self):
        assert equal(simulate(4000), simulate(4200), slice(4000))

    @few
    @given(seed=seeds, attack=st.sampled_from(ATTACKS), start=st.integers(0, 700))
    def test_an_attack_changes_nothing_before_it_starts(self, seed, attack, start):
        one = simulate(750, seed=seed, attacks=[attack.moved(start)])
        assert equal(one, simulate(750, seed=seed), slice(start))

    @few
    @given(seed=seeds, retuned=st.integers(0, 800))
    def test_retuning_changes_nothing_before_it_takes_place(self, seed, retuned):
        one = simulate(750, seed=seed, retuned=retuned)
        assert equal(one, simulate(750, seed=seed), slice(retuned))

    def test_another_seed_gives_another_run(self):
        assert not equal(normal(0), normal(1))


class TestPhysics:
    @few
    @given(seed=seeds, attack=st.sampled_from(ATTACKS))
    def test_levels_stay_within_their_tanks(self, seed, attack):
        columns = simulate(900, seed=seed, attacks=[attack.moved(500)]).columns
        for sensor in SENSORS:
            if sensor.unit == "mm" and sensor.tag not in attack.targets:
                assert columns[sensor.tag].min() >= 0
                assert columns[sensor.tag].max() <= 1200 + 6 * sensor.noise

    @pytest.mark.parametrize(
        ("level", "inflows", "outflows", "valves"),
        [
            ("LIT101", ["FIT101"], ["FIT201"], []),
            ("LIT301", ["FIT201"], ["FIT301"], []),
            ("LIT401", ["FIT301"], ["FIT401"], ["MV302", "MV304"]),
            ("LIT601", ["FIT502"], ["FIT601", "FIT602"], ["MV501", "MV502"]),
        ],
    )
    def test_a_level_changes_by_what_flows_in_and_out(self, level, inflows, outflows, valves):
        recording = normal()
        columns = recording.columns
        inflow = sum(columns[tag] for tag in inflows)
        if valves:  # what flows in goes to the tank only through the first of the two valves
            inflow = inflow * (columns[valves[0]] == "open")
        net = inflow - sum(columns[tag] for tag in outflows)
        expected = net[1:] * STEP_SECONDS / 3600 * 1000 / AREA_OF[level]
        found = np.diff(columns[level])
        settled = np.ones(len(found), dtype=bool)
        for valve in valves:
            settled &= kept(recording, valve)[1:]
        assert settled.mean() > 0.8
        assert np.abs(found - expected)[settled].max() < 3.5
        assert abs((found - expected)[settled].mean()) < 0.02

    @pytest.mark.parametrize(
        ("flow", "causes"),
        [
            ("FIT101", ["MV101"]),
            ("FIT201", ["MV201"]),
            ("FIT201", ["P101", "P102"]),
            ("FIT301", ["P301", "P302"]),
            ("FIT401", ["P401", "P402"]),
            ("FIT502", ["P401", "P402"]),
            ("FIT503", ["MV503"]),
            ("FIT601", ["P602"]),
            ("FIT602", ["P601"]),
        ],
    )
    def test_without_its_pump_or_valve_nothing_flows(self, flow, causes):
        columns = normal().columns
        idle = np.all([np.isin(columns[tag], ["off", "closed"]) for tag in causes], axis=0)
        for_a_while = idle.copy()
        for lag in range(1, 6):
            for_a_while[lag:] &= idle[:-lag]
        for_a_while[:6] = False
        assert for_a_while.any()
        assert columns[flow][for_a_while].max() < 0.01

    def test_what_enters_the_membranes_leaves_them(self):
        columns = normal().columns
        error = columns["FIT501"] - columns["FIT502"] - columns["FIT503"]
        assert np.abs(error).max() < 0.06

    @pytest.mark.parametrize(
        ("sensor", "pumps", "flow", "direction"),
        [
            ("AIT201", ("P201", "P202"), "FIT201", 1),
            ("AIT202", ("P203", "P204"), "FIT201", -1),
            ("AIT203", ("P205", "P206"), "FIT201", 1),
            ("AIT402", ("P403", "P404"), "FIT401", -1),
        ],
    )
    def test_water_answers_to_dosing(self, sensor, pumps, flow, direction):
        columns = normal().columns
        doses = ((columns[pumps[0]] == "on") | (columns[pumps[1]] == "on"))[1:]
        flows = (columns[flow] > 1.5)[1:]
        change = direction * np.diff(columns[sensor])
        assert change[doses & flows].mean() > 0
        assert change[~doses & flows].mean() < 0

    def test_a_backwash_lowers_the_pressure_over_the_filter(self):
        washes = normal().columns["P602"] == "on"
        pressure = normal().columns["DPIT301"]
        starts = np.flatnonzero(washes[1:] & ~washes[:-1])
        assert len(starts) >= 8
        for start in starts[1:-1]:
            assert pressure[start - 8 : start].max() > 20
            assert pressure[start + 20 : start + 40].max() < 17


class TestControl:
    @pytest.mark.parametrize("actuator", ACTUATORS, ids=lambda actuator: actuator.tag)
    def test_an_actuator_takes_all_its_states(self, actuator):
        assert set(normal().columns[actuator.tag]) == set(actuator.states)

    @pytest.mark.parametrize(("one", "other"), PAIRS)
    def test_pumps_of_a_pair_take_turns_and_never_run_together(self, one, other):
        columns = normal().columns
        runs = np.array([columns[one] == "on", columns[other] == "on"])
        assert not runs.all(axis=0).any()
        starts = runs[:, 1:] & ~runs[:, :-1]
        leads = np.argmax(starts[:, starts.any(axis=0)], axis=0)
        turns = np.diff(np.flatnonzero(np.diff(leads)))
        assert len(set(turns)) == 1

    def test_pumps_that_start_together_are_not_always_the_same_two(self):
        columns = normal().columns
        for one, other in itertools.product(("P401", "P402"), ("P501", "P502")):
            assert np.mean((columns[one] == "on") & (columns[other] == "on")) > 0.02

    @pytest.mark.parametrize(
        ("level", "low", "high"),
        [
            *[("LIT101", 500, 800), ("LIT301", 800, 1000), ("LIT401", 800, 1000)],
            *[("LIT601", 500, 800), ("LIT602", 500, 800)],
        ],
    )
    def test_a_tank_cycles_between_its_marks(self, level, low, high):
        readings = normal().columns[level]
        marks = np.where(readings <= low, -1, np.where(readings >= high, 1, 0))
        marks = marks[marks != 0]
        assert np.count_nonzero(np.diff(marks) > 0) >= 5
        assert readings.max() < high + 25

    def test_a_retuned_controller_keeps_one_tank_lower_and_the_others_as_they_were(self):
        before, after = normal(0, 4000).columns, simulate(4000, retuned=1000).columns
        settled = slice(1500, None)
        level = after["LIT301"][settled]
        assert 560 < level.min() < 600 < 800 < level.max() < 825
        for other in ("LIT101", "LIT401", "LIT601", "LIT602"):
            was, is_now = before[other][settled], after[other][settled]
            assert abs(was.min() - is_now.min()) < 10
            assert abs(was.max() - is_now.max()) < 10

    def test_a_recording_begins_when_the_tanks_have_filled(self):
        columns = normal().columns
        for level in ("LIT301", "LIT401", "LIT601"):
            assert columns[level][:30].min() >= columns[level][600:].min()

    def test_normal_rows_of_two_seeds_are_alike(self):
        one, other = normal(1, 9000).columns, normal(2, 9000).columns
        for sensor in SENSORS:
            first, second = one[sensor.tag], other[sensor.tag]
            width = np.ptp(first)
            assert abs(first.mean() - second.mean()) < 0.1 * width
            assert np.mean((second < first.min()) | (second > first.max())) < 0.03
        for actuator in ACTUATORS:
            works = [np.mean(c[actuator.tag] == actuator.acting) for c in (one, other)]
            assert works[0] == pytest.approx(works[1], abs=0.1)


class TestTampering:
    def test_a_jump_is_what_the_controllers_see(self):
        columns = attacked(Jump("LIT101", 100.0)).columns
        assert set(columns["LIT101"][700:760]) == {100.0}
        assert set(columns["MV101"][710:760]) == {"open"}
        assert set(columns["P101"][702:760]) == {"off"}
        assert columns["LIT101"][760] > 100.0

    def test_a_ramp_leaves_the_last_reading_steadily(self):
        readings = attacked(Ramp("LIT301", 1.5)).columns["LIT301"]
        np.testing.assert_allclose(readings[700:760], readings[699] + 1.5 * np.arange(1, 61))

    def test_a_shift_follows_the_water(self):
        recording = attacked(Shift("PIT502", 5.0, 0.1))
        error = recording.columns["PIT502"] - simulate(800).columns["PIT502"]
        np.testing.assert_allclose(error[700:760], 5.0 + 0.1 * np.arange(60), atol=0.011)
        assert not error[760:].any()

    def test_a_freeze_repeats_the_last_reading(self):
        readings = attacked(Replay("LIT602")).columns["LIT602"]
        assert set(readings[700:760]) == {readings[699]}

    def test_a_replay_repeats_the_past(self):
        readings = attacked(Replay("AIT201", 200)).columns["AIT201"]
        assert readings[700:760].tolist() == readings[500:560].tolist()

    def test_a_forced_pump_acts_and_says_so(self):
        columns = attacked(Force("P602", "on"), Force("MV301", "open"), Force("MV303", "open"))
        assert set(columns.columns["P602"][700:760]) == {"on"}
        assert columns.columns["FIT601"][705:760].min() > 1.5

    def test_a_forced_valve_moves_at_its_own_pace(self):
        states = attacked(Force("MV304", "open")).columns["MV304"]
        assert states[699:704].tolist() == ["closed", "opening", "open", "open", "open"]

    def test_a_concealed_actuator_acts_but_does_not_say_so(self):
        columns = attacked(Force("P601", "off"), Replay("P601", 200)).columns
        assert columns["P601"][700:760].tolist() == columns["P601"][500:560].tolist()
        assert columns["FIT602"][705:760].max() == pytest.approx(0.0, abs=0.01)

    def test_the_standby_pump_takes_over_when_the_duty_pump_is_held_off(self):
        columns = simulate(1100, attacks=[ATTACKS[28].moved(700)]).columns
        assert ATTACKS[28].targets == ("P101",)
        assert set(columns["P101"][700:850]) == {"off"}
        assert "on" in columns["P102"][700:850]

    @pytest.mark.parametrize("step", [Ramp("LIT101", 1), Replay("LIT101"), Replay("LIT101", 9)])
    def test_there_is_no_past_to_repeat_in_the_first_row(self, step):
        attack = Attack(1, "freeze", 0, 5, ("LIT101",), "A test.", (step,))
        recording = simulate(5, attacks=[attack])
        assert recording.columns["LIT101"][0] == simulate(1).columns["LIT101"][0]

    def test_a_later_attack_has_the_last_word(self):
        low, high = (
            Attack(1, "jump", 3, 8, ("LIT101",), "A test.", (Jump("LIT101", value),))
            for value in (1.0, 2.0)
        )
        assert set(simulate(9, attacks=[low, high]).columns["LIT101"][3:8]) == {2.0}


class TestCatalogue:
    def test_has_thirty_attacks_or_more_of_every_kind(self):
        assert len(ATTACKS) >= 30
        kinds = {attack.kind for attack in ATTACKS}
        assert kinds == {"jump", "drift", "freeze", "replay", "override", "combined", "stealthy"}

    def test_numbers_its_attacks(self):
        assert [attack.id for attack in ATTACKS] == list(range(1, len(ATTACKS) + 1))

    @pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: str(attack.id))
    def test_an_attack_says_truly_what_it_targets(self, attack):
        tags = {sensor.tag for sensor in SENSORS} | {actuator.tag for actuator in ACTUATORS}
        assert set(attack.targets) <= tags
        assert set(attack.targets) == {step.target for step in attack.steps}
        assert len(set(attack.targets)) == len(attack.targets)
        assert attack.description.endswith(".")
        assert attack.start == 0

    @pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: str(attack.id))
    def test_an_attack_changes_what_is_recorded(self, attack):
        rows = slice(700, 700 + attack.end)
        assert any(  # a valve that is held closed may happen to be closed all the while
            not equal(simulate(1000, seed=seed, attacks=[attack.moved(700)]), normal(seed), rows)
            for seed in (3, 4, 5)
        )

    def test_survives_json(self):
        text = msgspec.json.encode(ATTACKS)
        assert msgspec.json.decode(text, type=tuple[Attack, ...]) == ATTACKS


class TestSchedule:
    @given(n_rows=st.integers(1, 40_000), seed=seeds)
    @settings(deadline=None)
    def test_attacks_fit_one_after_another(self, n_rows, seed):
        attacks = schedule(n_rows, seed=seed)
        assert attacks
        assert attacks[-1].end <= n_rows
        assert len({attack.id for attack in attacks}) == len(attacks)
        for attack, following in itertools.pairwise(attacks):
            assert following.start - attack.end >= 300

    @given(n_rows=st.integers(960, 40_000), seed=seeds)
    @settings(deadline=None)
    def test_attacks_keep_their_length_where_there_is_room(self, n_rows, seed):
        length_of = {attack.id: attack.end for attack in ATTACKS}
        for attack in schedule(n_rows, seed=seed):
            assert attack.end - attack.start == length_of[attack.id]

    def test_plays_all_attacks_in_a_long_run(self):
        attacks = schedule(25_000)
        assert {attack.id for attack in attacks} == {attack.id for attack in ATTACKS}
        assert attacks[0].start >= 600

    def test_spreads_attacks_over_the_whole_run(self):
        starts = [attack.start for attack in schedule(100_000)]
        assert starts[0] < 20_000
        assert starts[-1] > 80_000

    def test_plays_one_attack_in_a_run_of_a_few_hundred_rows(self):
        (attack,) = schedule(300)
        assert 100 <= attack.start < attack.end <= 300

    def test_the_seed_chooses_the_order(self):
        orders = {tuple(attack.id for attack in schedule(5000, seed=seed)) for seed in range(5)}
        assert len(orders) == 5


class TestMessages:
    @pytest.mark.parametrize("call", [simulate, schedule])
    def test_a_run_has_a_row_at_least(self, call):
        with pytest.raises(ParameterError) as caught:
            call(0)
        assert str(caught.value) == "n_rows must be at least 1, got 0."

    @pytest.mark.parametrize("call", [simulate, schedule])
    def test_a_seed_is_not_negative(self, call):
        with pytest.raises(ParameterError) as caught:
            call(10, seed=-1)
        assert str(caught.value) == "seed must be at least 0, got -1."

    def test_a_plant_is_not_retuned_before_its_first_row(self):
        with pytest.raises(ParameterError) as caught:
            simulate(10, retuned=-1)
        assert str(caught.value) == "retuned must be at least 0, got -1."

    def test_an_attack_ends_after_it_starts(self):
        with pytest.raises(ParameterError) as caught:
            Attack(1, "jump", 5, 5, (), "A test.", ())
        assert str(caught.value) == "start must be from 0 to below end=5, got 5."

    @pytest.mark.parametrize(
        ("step", "message"),
        [
            (Jump("P101", 1.0), "target must be a sensor, got 'P101'."),
            (Replay("P999"), "target must be a sensor, got 'P999'."),
            (
                Force("P101", "open"),
                "Force must name an actuator and an end state, "
                "got Force(target='P101', state='open').",
            ),
        ],
    )
    def test_a_step_fits_its_target(self, step, message):
        with pytest.raises(ParameterError) as caught:
            Attack(1, "jump", 0, 5, (step.target,), "A test.", (step,))
        assert str(caught.value) == message
