"""Learning in passes: the rows decide what is learned, not how they are divided or how many are held."""

import itertools
import math

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from truism.learn.batches import Batches, merge_all
from truism.learn.holdout import borders, stand_in
from truism.learn.learn import learn as train
from truism.learn.mining import minimum_counts
from truism.learn.passes import SAMPLE, Sample, Verify, count_between
from truism.model.files import encode_model
from truism.model.settings import Settings, exact
from truism.score.scorer import Scorer
from truism.score.truths import Truths, unpack
from truism.table.columns import Table, join_tables
from truism.table.frames import as_table


def plant_of(n_rows: int, seed: int = 0) -> dict[str, list]:
    """Rows of a pump, its flow, a tank, and a valve that is hardly ever stuck."""
    rng = np.random.default_rng(seed)
    on = (np.arange(n_rows) // 7) % 3 > 0
    valve = np.where(np.arange(n_rows) % 97 == 5, "stuck", np.where(on, "open", "shut"))
    flow = np.where(on, 2.5, 0.0) + rng.normal(0, 0.05, n_rows).round(3)
    flow[rng.random(n_rows) < 0.01] = np.nan
    return {
        "pump": np.where(on, "on", "off").tolist(),
        "valve": valve.tolist(),
        "flow": flow.tolist(),
        "level": (np.cumsum(np.where(on, 0.1, -0.2)) % 5).round(3).tolist(),
        "mode": (rng.random(n_rows) < 0.3).tolist(),
    }


class Parts:
    """Rows in parts of any size."""

    def __init__(self, table: Table, ends: list[int]) -> None:
        self.table, self.places = table, [0, *sorted(ends), table.n_rows]

    def __call__(self, _=None):
        for start, end in itertools.pairwise(self.places):
            yield self.table.take(slice(start, end))


def divided(table: Table, ends: list[int]) -> Batches:
    return Batches.of([(Parts(table, ends), table.n_rows)])


def model_bytes(parts: Batches, settings: Settings, **options) -> bytes:
    return encode_model(train(parts, settings, **options))


CASES = {
    "exchangeable": (Settings(), {}),
    "series": (Settings(ordered=True), {}),
    "changes": (Settings(), {"delta": True}),
    "paper": (Settings(scoring="paper", min_support=0.05), {}),
    "by": (Settings(by="valve"), {"delta": True}),
}


@pytest.mark.parametrize("case", CASES)
def test_a_model_does_not_depend_on_how_rows_are_divided(case):
    settings, options = CASES[case]
    table = as_table(plant_of(900))
    wanted = model_bytes(Batches.of_table(table), settings, n_sampled=300, **options)
    for ends in ([1, 2, 450, 450, 899], list(range(0, 900, 64)), list(range(50, 900, 113))):
        found = model_bytes(divided(table, ends), settings, n_sampled=300, n_jobs=2, **options)
        assert found == wanted


def test_a_large_table_goes_the_same_way_where_it_fits():
    table = as_table(plant_of(400))
    wanted = model_bytes(Batches.of_table(table, 77), Settings(), n_sampled=100)
    assert encode_model(train(table, Settings(), n_sampled=100)) == wanted
    assert SAMPLE == 1_000_000


@pytest.mark.parametrize("case", CASES)
def test_a_table_no_larger_than_the_sample_is_learned_as_ever(case):
    settings, options = CASES[case]
    table = as_table(plant_of(300))
    parts = divided(table, [7, 130])
    assert model_bytes(parts, settings, n_sampled=300, **options) == encode_model(
        train(table, settings, **options)
    )


def brute_force(model, table, proposed):
    """Check all proposed rules row by row, and keep the minimal ones that hold and are frequent."""
    predicates = [each.predicate for each in model.rules.predicates]
    column_of = table.column_of()
    columns = [column_of[name] for name in model.schema.names]
    true, false = Truths(model.schema, predicates).evaluate_all(columns)
    holds, fails = unpack(true, table.n_rows), unpack(false, table.n_rows)
    least = minimum_counts(
        holds.sum(axis=1).tolist(),
        table.n_rows,
        exact(model.provenance.min_support),
        exact(model.settings.ratio),
    )
    admitted = {}
    for left, right in proposed:
        held = holds[list(left)].all(axis=0)
        count = int((held & holds[right]).sum())
        if not (held & fails[right]).any() and count >= min(least[[*left, right]]):
            admitted[left, right] = count
    return {
        (left, right): count
        for (left, right), count in admitted.items()
        if not any(set(other) < set(left) and to == right for other, to in admitted)
    }


def units_of(model):
    place = {each.predicate: i for i, each in enumerate(model.rules.predicates)}
    return {
        (tuple(sorted(place[p] for p in rule.antecedent)), place[to]): rule.count
        for rule in model.rules
        if rule.antecedent
        for to in rule.consequents
    }


@examples(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.integers(60, 200), st.integers(300, 900))
def test_every_rule_holds_in_every_row_with_exact_counts(seed, n_sampled, n_rows):
    table = as_table(plant_of(n_rows, seed))
    proposed = set()
    seen = Verify.of

    def note(search, rules, *others):
        proposed.update((rule.antecedent, rule.consequent) for rule in rules)
        return seen(search, rules, *others)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Verify, "of", note)
        model = train(Batches.of_table(table, 128), Settings(), n_sampled=n_sampled)
    found = units_of(model)
    assert found == brute_force(model, table, proposed)
    assert not Scorer(model).count_broken(table)
    for each in model.rules.predicates:
        met, _ = Scorer(model).compare([each.predicate], [], table)
        assert each.n_true == met.sum()


def test_rules_that_hold_by_chance_in_the_sample_give_way_to_longer_ones():
    rng = np.random.default_rng(1)
    data = {f"s{i}": rng.integers(0, 5, 4000).astype(str).tolist() for i in range(5)}
    both = zip(data["s0"], data["s1"], strict=True)
    data["t"] = ["up" if a == b == "1" else "down" for a, b in both]
    stages = []
    model = train(
        Batches.of_table(as_table(data), 500),
        Settings(),
        n_sampled=25,
        progress=lambda stage, done, _: stages.append(stage) if done == 0 else None,
    )
    assert stages.count("verifying pass") >= 2
    assert not Scorer(model).count_broken(as_table(data))
    assert any("t = down" in str(rule) for rule in model.rules if rule.antecedent)


def test_all_rows_are_in_statistics():
    table = as_table(plant_of(900))
    model = train(Batches.of_table(table, 200), Settings(), n_sampled=200)
    whole = train(table, Settings())
    for own, exactly in zip(model.schema.variables, whole.schema.variables, strict=True):
        assert type(own) is type(exactly)
        assert own.n_missing == exactly.n_missing
        assert sum(own.counts) == sum(exactly.counts)
        if hasattr(own, "low"):
            assert (own.low, own.high) == (exactly.low, exactly.high)
        else:
            assert (own.values, own.counts) == (exactly.values, exactly.counts)
    for spacing, exactly in zip(model.evidence.spacings, whole.evidence.spacings, strict=True):
        assert sum(spacing.counts) == sum(exactly.counts)
        assert spacing.values[:50] == exactly.values[:50]
        assert spacing.values[-50:] == exactly.values[-50:]
    for context in model.evidence.contexts:
        assert sum(context.counts) == 900
    assert model.provenance.n_rows == 900
    assert model.provenance.fingerprint == whole.provenance.fingerprint


def test_numbers_with_few_values_in_the_sample_are_quantities_if_all_rows_have_more():
    data = {"a": [float(i % 2) for i in range(1000)], "b": ["x", "y"] * 500}
    for row in range(3, 1000, 90):
        data["a"][row] = row / 7
    parts = Batches.of_table(as_table(data), 100)
    model = train(parts, Settings(), n_sampled=12)
    assert type(model.schema.variables[0]).__name__ == "Numeric"
    assert model.schema.variables[0].high == pytest.approx(max(data["a"]))


def test_a_table_that_changes_between_passes_is_refused():
    table = as_table(plant_of(400))
    lengths = iter([400, 399])

    class Changing:
        def __call__(self, _):
            yield table.take(slice(0, next(lengths)))

    with pytest.raises(Exception, match="400 rows at first and 399 when read again"):
        train(Batches.of([(Changing(), 400)]), Settings(), n_sampled=50)


@given(st.integers(1, 3000), st.integers(1, 500), st.integers(1, 400))
def test_a_sample_is_chosen_by_number_alone(n_rows, n_sampled, step):
    sample = Sample(n_rows, n_sampled)
    whole = sample.rows(0, n_rows)
    assert len(whole) == min(n_rows, n_sampled) == sample.size
    parts = [sample.rows(i, min(i + step, n_rows)) for i in range(0, n_rows, step)]
    assert np.concatenate(parts).tolist() == whole.tolist()


def test_a_sample_is_spread_evenly():
    counts = np.bincount(Sample(100_000, 10_000).rows(0, 100_000) // 1000, minlength=100)
    assert abs(counts.mean() - 100) < 1e-9
    assert counts.std() < 4 * math.sqrt(90)


@given(st.lists(st.text(max_size=2), min_size=1, max_size=40))
def test_neighbours_are_added_in_order(texts):
    assert merge_all(iter(texts)) == "".join(texts)


@given(st.lists(st.integers(0, 60), max_size=4))
def test_parts_put_together_are_the_table(ends):
    data = {**plant_of(60), "none": [None] * 60}
    table = as_table(data)
    pieces = list(Parts(table, ends)())
    joined = join_tables(pieces)
    for column, whole in zip(joined.columns, table.columns, strict=True):
        cells = [[each.cell(row) for row in range(60)] for each in (column, whole)]
        assert cells[0] == cells[1] or all(
            a == b or (a != a and b != b) for a, b in zip(*cells, strict=True)
        )
    assert msgspec.structs.asdict(joined)["n_rows"] == 60


NUMBERS = st.lists(st.sampled_from([-math.inf, -2.0, -0.0, 0.0, 0.5, 1.0, 3.0, math.inf]))


@given(NUMBERS, st.lists(st.floats(-3, 3), max_size=6, unique=True).map(sorted))
def test_sorted_values_are_counted_as_if_each_were_looked_for(values, cuts):
    for side, other in (("left", "right"), ("right", "left")):
        found = count_between(np.sort(values), np.array(cuts), side)
        wanted = np.bincount(np.searchsorted(cuts, values, other), minlength=len(cuts) + 1)
        assert found.tolist() == wanted.tolist()
    if cuts:
        knots = np.array(cuts)
        found = count_between(np.sort(values), borders(knots), "right")
        owners = stand_in(knots, np.array(values)).tolist()
        assert found.tolist() == [owners.count(i) for i in range(len(knots))]
