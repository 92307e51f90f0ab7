"""Numbers that move together in training."""

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from learned import learn
from truism.errors import ModelFileError
from truism.learn import twins
from truism.learn.kinds import infer_schema, variable_columns
from truism.learn.twins import MIN_ROWS, correlate, find_twins, pairs_above
from truism.model.files import load_model, save_model
from truism.model.settings import Settings
from truism.table.frames import as_table


def rows(n_rows=400, seed=0):
    random = np.random.default_rng(seed)
    level = random.normal(0, 1, n_rows)
    return {
        "flow": (2 * level + random.normal(0, 0.1, n_rows)).tolist(),
        "level": level.tolist(),
        "empty": (-level + random.normal(0, 0.3, n_rows)).tolist(),
        "heat": random.normal(20, 1, n_rows).tolist(),
        "pump": np.where(level > 0, "on", "off").tolist(),
    }


def twins_of(data):
    table = as_table(data)
    schema = infer_schema(table, Settings())
    return find_twins(schema, variable_columns(schema, table))


def test_twins_are_found_closest_first():
    assert twins_of(rows()) == (("flow", "level"), ("level", "empty"), ("flow", "empty"))


def test_none_where_nothing_moves_together():
    assert twins_of({"heat": rows()["heat"], "level": rows()["level"]}) is None
    assert twins_of({"heat": rows()["heat"], "pump": rows()["pump"]}) is None


def test_a_model_keeps_them(tmp_path):
    model = learn(as_table(rows()), min_support=0.05)
    assert model.twins[0] == ("flow", "level")
    save_model(model, tmp_path / "m.json")
    assert load_model(tmp_path / "m.json") == model


@examples(max_examples=30)
@given(seed=st.integers(0, 10_000), holes=st.floats(0, 0.4))
def test_a_correlation_is_that_of_the_rows_in_which_both_are_known(seed, holes):
    random = np.random.default_rng(seed)
    values = random.normal(0, 1, (120, 3)) @ random.normal(0, 1, (3, 4))
    values[random.random(values.shape) < holes] = np.nan
    found = correlate(values)
    for i in range(4):
        for j in range(4):
            both = np.isfinite(values[:, i]) & np.isfinite(values[:, j])
            if both.sum() < MIN_ROWS:
                assert found[i, j] == 0
                continue
            wanted = np.corrcoef(values[both, i], values[both, j])[0, 1]
            assert abs(found[i, j] - wanted) < 2e-6


@pytest.mark.parametrize("pair", [("flow", "flow"), ("flow", "pump"), ("flow", "nobody")])
def test_a_file_with_twins_that_cannot_be_is_refused(tmp_path, pair):
    model = learn(as_table(rows()), min_support=0.05, scoring="paper")
    save_model(msgspec.structs.replace(model, twins=(pair,)), tmp_path / "m.json")
    with pytest.raises(ModelFileError, match="twins must be two variables with numbers"):
        load_model(tmp_path / "m.json")


@pytest.mark.parametrize("at_once", [1, 3, 7, 100])
@pytest.mark.parametrize("with_gaps", [0, 1, 9, 20])
def test_pairs_are_the_same_however_many_columns_are_taken_at_a_time(
    at_once, with_gaps, monkeypatch
):
    random = np.random.default_rng(2)
    values = random.normal(size=(60, 3))[:, np.arange(20) % 3] + random.normal(size=(60, 20)) / 2
    values[:, 4] = 3.0  # never varies
    gaps = random.permutation(20)[:with_gaps]
    values[:, gaps] = np.where(random.random((60, with_gaps)) < 0.1, np.nan, values[:, gaps])
    every = np.abs(correlate(values))
    wanted = [(a, b) for a in range(20) for b in range(a + 1, 20) if every[a, b] > 0.7]
    monkeypatch.setattr(twins, "MAX_COLUMNS", at_once)
    first, second, closeness = pairs_above(0.7, values)
    assert list(zip(first.tolist(), second.tolist(), strict=True)) == wanted
    assert closeness.tolist() == [every[pair] for pair in wanted]
    assert 0 < len(wanted) < 190


def test_too_few_rows_have_no_pairs():
    values = np.arange(MIN_ROWS, dtype=np.float64)[:, None] * [1.0, 2.0]
    assert [each.tolist() for each in pairs_above(0.7, values)] == [[0], [1], [1.0]]
    assert [each.tolist() for each in pairs_above(0.7, values[1:])] == [[], [], []]
