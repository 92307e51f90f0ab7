"""Bad input: each kind has a defined result or one clear error; nothing warns."""

import datetime
import decimal
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from strategies import HOSTILE_NAMES, finite
from truism import InvariantRuleDetector, SchemaError, TableError, TruismError, load

AT_TENTH = {"min_support": 0.1, "n_jobs": 1}


def fit(data, **parameters):
    return InvariantRuleDetector(**{**AT_TENTH, **parameters}).fit(data)


def refused(error, ask):
    with pytest.raises(error) as caught:
        ask()
    assert isinstance(caught.value, TruismError)
    return str(caught.value)


def mined(detector):
    return [rule for rule in detector.rules_ if rule.antecedent]


# --- tables that cannot be learned from ---


@pytest.mark.parametrize("min_support", [0.1, "auto"])
@pytest.mark.parametrize("n_rows", [0, 1])
def test_an_empty_table_and_one_row(n_rows, min_support):
    noun = "sample" if n_rows == 1 else "samples"
    wanted = f"A table to learn from must have at least 2 rows, got {n_rows} {noun}."
    for data in (
        pd.DataFrame({"x": [1.0] * n_rows}),
        pl.DataFrame({"x": [1.0] * n_rows}),
        pa.table({"x": [1.0] * n_rows}),
        {"x": [1.0] * n_rows},
    ):
        assert refused(TableError, lambda data=data: fit(data, min_support=min_support)) == wanted


def test_no_column():
    wanted = "A table must have at least one column, got 0 feature(s)."
    for data in (pd.DataFrame(index=range(5)), pl.DataFrame(), pa.table({}), {}):
        assert refused(TableError, lambda data=data: fit(data)) == wanted


def test_no_usable_column():
    hint = (
        "\nHint: a rule needs at least one column of states or numbers; name the columns that hold "
        "them."
    )
    days = [datetime.datetime(2024, 1, 1) + datetime.timedelta(days=i) for i in range(20)]
    for data, why in (
        ({"t": days}, ""),
        (
            {"id": [f"row {i}" for i in range(20)]},
            " ('id': text with 20 distinct values in 20 rows)",
        ),
        ({"n": list(range(20))}, " ('n': whole numbers that count the rows)"),
        ({"e": [None] * 20}, " ('e': every value is missing)"),
    ):
        message = refused(TableError, lambda data=data: fit(data))
        assert message == f"No column can be learned from{why}.{hint}"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]),
            "Column names must be distinct, got 'a' for columns 1 and 2.\nHint: rename or drop it.",
        ),
        (
            pa.table([[1, 2], [3, 4]], names=["a", "a"]),
            "Column names must be distinct, got 'a' for columns 1 and 2.\nHint: rename or drop it.",
        ),
        (
            pd.DataFrame([[1, 2], [3, 4]], columns=["a", ""]),
            "Column names must not be empty, got none for column 2 of 2.\nHint: rename or drop it.",
        ),
        (
            pa.table([[1, 2], [3, 4]], names=["a", ""]),
            "Column names must not be empty, got none for column 2 of 2.\nHint: rename or drop it.",
        ),
        (
            pl.DataFrame({"a": [1, 2], "": [3, 4]}),
            "Column names must not be empty, got none for column 2 of 2.\nHint: rename or drop it.",
        ),
        (
            pd.DataFrame([[1, 2], [3, 4]], columns=["a", 7]),
            "Column names must be strings, got 7.\n"
            "Hint: rename them, for instance with frame.columns = frame.columns.astype(str).",
        ),
        (
            {"a": [1, 2], None: [3, 4]},
            "Column names must be strings, got None.\n"
            "Hint: rename them, for instance with frame.columns = frame.columns.astype(str).",
        ),
        (
            pd.DataFrame({"a": [1, "x", 2.5]}),
            "Column 'a' mixes values of different types.\n"
            "Hint: make them one type, for instance with frame['a'].astype(str).",
        ),
        (
            pd.DataFrame({"a": [True, "x", None]}),
            "Column 'a' mixes values of different types.\n"
            "Hint: make them one type, for instance with frame['a'].astype(str).",
        ),
        (
            pd.DataFrame({"x": [*map(float, range(9)), math.inf]}),
            "Column 'x' holds infinity in row 9; training values must be finite.\n"
            "Hint: replace it with a missing value (NaN), or drop the row.",
        ),
        (
            pd.DataFrame({"x": [1.0, -math.inf] * 5}),
            "Column 'x' holds infinity in row 1; training values must be finite.\n"
            "Hint: replace it with a missing value (NaN), or drop the row.",
        ),
    ],
)
def test_tables_that_are_refused_in_training(data, message):
    assert refused(TableError, lambda: fit(data)) == message


def test_frames_with_numbers_for_names_are_arrays():
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(50, 2)))
    detector = fit(frame)
    assert detector.n_features_in_ == 2
    assert detector.predict(frame).tolist() == [1] * 50


# --- tables that have a defined result ---


def test_an_all_missing_column_is_left_out_and_noticed():
    for nothing in ([None] * 120, [math.nan] * 120, pd.Series([pd.NA] * 120, dtype="Int64")):
        detector = fit(pd.DataFrame({"u": ["a", "b"] * 60, "e": nothing}))
        assert detector.model_.notices == ("Column 'e' is left out: every value is missing.",)
        assert detector.predict(pd.DataFrame({"u": ["a"], "e": [None]})).tolist() == [1]


@pytest.mark.parametrize("scoring", ["evidence", "paper"])
def test_infinity_is_an_anomaly_when_scored(scoring):
    data = {"x": [float(i % 10) for i in range(50)], "u": ["a", "b"] * 25}
    detector = fit(data, scoring=scoring)
    scores = detector.anomaly_score({"x": [math.inf, -math.inf], "u": ["a", "a"]})
    assert np.isfinite(scores).all()
    assert scores.min() > detector.anomaly_score(data).max()
    assert scoring == "evidence" or scores.tolist() == [1e6, 1e6]
    explained = detector.explain({"x": [math.inf], "u": ["a"]})
    assert "found inf" in str(explained)


def test_a_constant_table():
    detector = fit({"x": [3.0] * 20, "u": ["a"] * 20, "b": [True] * 20})
    assert mined(detector) == []
    assert len(detector.rules_) == 6
    assert detector.predict({"x": [3.0, 3.5], "u": ["a", "a"], "b": [True, True]}).tolist() == [
        1,
        -1,
    ]


def test_all_rows_equal_under_every_setting():
    data = {"x": [3.0] * 40, "y": [1.5] * 40, "u": ["a"] * 40}
    for parameters in (
        {"min_support": "auto"},
        {"cutoffs": "uniform"},
        {"cutoffs": "kmeans"},
        {"continuous": ["x", "y"]},
        {"continuous": ["x", "y"], "cutoffs": "kmeans"},
    ):
        detector = fit(data, **parameters)
        assert mined(detector) == []
        assert detector.predict(data).tolist() == [1] * 40


def test_more_columns_than_rows():
    random = np.random.default_rng(0)
    array = random.normal(size=(12, 60))
    detector = fit(array, min_support=0.2)
    assert detector.n_features_in_ == 60
    assert detector.predict(array).tolist() == [1] * 12


@pytest.mark.parametrize("scoring", ["evidence", "paper"])
def test_ten_thousand_distinct_strings(scoring):
    texts = [f"text {i}" for i in range(10_000)] * 2
    data = {"u": texts, "x": [float(i % 10) for i in range(20_000)], "v": ["a", "b"] * 10_000}
    detector = fit(data, min_support=0.01, scoring=scoring)
    assert "u" in detector.model_.schema.names
    assert (detector.predict({name: col[:100] for name, col in data.items()}) == 1).all()
    assert detector.predict({"u": ["never"], "x": [0.0], "v": ["b"]}).tolist() == [-1]
    unique = fit({"u": texts[:10_000], "v": ["a", "b"] * 5000})
    assert unique.model_.notices == (
        "Column 'u' is left out: text with 10,000 distinct values in 10,000 rows.",
    )


def test_two_rows_are_enough():
    for min_support in (0.1, "auto"):
        detector = fit({"x": [1.0, 2.0], "u": ["a", "b"]}, min_support=min_support)
        assert detector.predict({"x": [1.0], "u": ["a"]}).tolist() == [1]


@pytest.mark.parametrize(
    "name", [*HOSTILE_NAMES, "and", "or", "", "<=", "≤", "\\", "{}", "%s", "\t"]
)
def test_hostile_states_are_told_apart_and_shown(name):
    detector = fit({"u": [name, "plain"] * 20, "v": ["x", "y"] * 20})
    today = {"u": [name, name, f"{name} ", "never"], "v": ["x", "y", "x", "x"]}
    assert detector.predict(today).tolist() == [1, -1, -1, -1]
    assert str(detector.explain(today))
    assert "<script>" not in detector.explain(today)._repr_html_()
    assert "<script>" not in detector.rules_._repr_html_()
    assert detector.rules_.to_frame().shape[0] == len(detector.rules_)


def test_numbers_that_are_states_and_text_that_looks_like_numbers():
    detector = fit({"u": ["1", "2"] * 20, "n": [1, 2] * 20, "b": [True, False] * 20})
    assert detector.predict({"u": ["1"], "n": [1], "b": [True]}).tolist() == [1]
    assert detector.predict({"u": ["1"], "n": [1.0], "b": [True]}).tolist() == [1]
    assert detector.predict({"u": ["2"], "n": [1], "b": [True]}).tolist() == [-1]


def test_large_whole_numbers_are_told_apart():
    base = 2**60
    detector = fit({"n": [base, base + 1] * 20, "u": ["a", "b"] * 20})
    assert detector.predict({"n": [base + 1], "u": ["a"]}).tolist() == [-1]
    assert detector.predict({"n": [base + 1], "u": ["b"]}).tolist() == [1]


def test_quantities_beyond_what_floats_tell_apart_survive_a_file(tmp_path):
    data = {"n": [2**60 + 3 * i for i in range(300)], "u": ["a", "b"] * 150}
    detector = fit(data)
    detector.save(tmp_path / "model.json")
    assert load(tmp_path / "model.json").model_ == detector.model_


def test_columns_that_cannot_be_read_do_no_harm_where_they_are_not_needed():
    data = {"u": ["a", "b"] * 20, "v": ["x", "y"] * 20, "tags": [["t"]] * 40, "note": [1, "x"] * 20}
    detector = fit(data, ignore=["note"])
    assert detector.model_.schema.names == ("u", "v")
    assert detector.model_.notices[0] == (
        "Column 'tags' is left out: it has values of type list<item: string>, which cannot be read."
    )
    today = {"u": ["a", "a"], "v": ["x", "y"], "tags": [[1], [2]], "note": [b"?", 2.5]}
    assert detector.predict(today).tolist() == [1, -1]


def test_unsigned_numbers_beyond_the_signed_range():
    values = np.array([2**63, 2**64 - 1, 5] * 20, np.uint64)
    detector = fit({"n": values, "u": ["a", "b", "c"] * 20})
    assert detector.predict({"n": values[:3], "u": ["a", "b", "c"]}).tolist() == [1, 1, 1]


def test_decimals_dates_and_durations():
    day = datetime.datetime(2024, 1, 1)
    data = {
        "t": [day + datetime.timedelta(hours=i) for i in range(40)],
        "price": [decimal.Decimal(i % 9) / 4 for i in range(40)],
        "lasts": [datetime.timedelta(seconds=i % 8) for i in range(40)],
    }
    detector = fit(data)
    assert detector.model_.schema.time == "t"
    assert detector.model_.schema.names == ("price", "lasts")
    assert detector.predict(data).tolist() == [1] * 40


@pytest.mark.parametrize("cutoffs", ["tree", "uniform", "kmeans"])
@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1e300, 1.7e308])
def test_the_smallest_and_the_largest_numbers(scale, cutoffs):
    random = np.random.default_rng(0)
    array = np.column_stack([random.uniform(-1, 1, 60) * scale, random.normal(size=60)])
    detector = fit(array, cutoffs=cutoffs)
    assert detector.predict(array).tolist() == [1] * 60
    assert all(str(rule) for rule in detector.rules_)


# --- tables to score ---


def test_a_missing_column_at_scoring():
    detector = fit({"FIT201": [1.0, 2.0] * 20, "P101": ["on", "off"] * 20})
    assert refused(SchemaError, lambda: detector.predict({"FIT-201": [1.0], "P101": ["on"]})) == (
        "Column 'FIT201' is missing from the table to score.\n"
        "Hint: the model was learned with 2 variables; did you mean 'FIT-201'?"
    )


def test_a_column_whose_kind_changed():
    detector = fit({"x": [float(i % 9) for i in range(40)], "u": ["a", "b"] * 20})
    assert refused(SchemaError, lambda: detector.predict({"x": ["high"], "u": ["a"]})) == (
        "Column 'x' must hold a number in row 0, got 'high'.\n"
        "Hint: convert the column, or learn the model again."
    )
    assert refused(SchemaError, lambda: detector.predict({"x": [1.0], "u": [3.5]})) == (
        "Column 'u' must hold text in row 0, got '3.5'.\n"
        "Hint: convert the column, or learn the model again."
    )
    assert detector.predict({"x": [1.0], "u": [3]}).tolist() == [-1]  # whole numbers are states


def test_times_with_a_gap_where_numbers_were_learned():
    detector = fit({"x": [float(i % 9) for i in range(40)], "u": ["a", "b"] * 20})
    times = [None, datetime.datetime(2024, 1, 1)]
    assert refused(SchemaError, lambda: detector.predict({"x": times, "u": ["a", "a"]})) == (
        "Column 'x' must hold a number in row 1, got '2024-01-01 00:00:00'.\n"
        "Hint: convert the column, or learn the model again."
    )


@pytest.mark.parametrize("make", [pl.DataFrame, pl.LazyFrame], ids=["eager", "lazy"])
def test_a_name_with_a_character_that_ends_texts_elsewhere(make):
    data = {"x\x00y": [float(i % 9) for i in range(40)], "u": ["a", "b"] * 20}
    detector = fit(make(data))
    assert detector.model_.schema.names == ("x\x00y", "u")
    assert detector.predict(make(data)).tolist() == [1] * 40


def test_a_table_without_rows_at_scoring():
    detector = fit(pd.DataFrame({"x": [float(i % 9) for i in range(40)], "u": ["a", "b"] * 20}))
    empty = pd.DataFrame({"x": pd.Series([], dtype=float), "u": pd.Series([], dtype=object)})
    assert detector.predict(empty).shape == (0,)
    assert detector.attribute(empty).shape == (0, 2)
    assert len(detector.explain(empty)) == 0


@pytest.mark.parametrize("scoring", ["evidence", "paper"])
def test_a_row_of_nothing_but_missing_values(scoring):
    data = {"x": [float(i % 9) for i in range(40)], "u": ["a", "b"] * 20}
    detector = fit(data, scoring=scoring)
    missing = {"x": [None], "u": [None]}
    assert detector.predict(missing).tolist() == [-1]
    assert scoring == "evidence" or detector.anomaly_score(missing).tolist() == [2.0]


# --- anything at all ---

anything = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=4),
    finite,
    st.binary(max_size=3),
    st.dates(),
    st.decimals(allow_nan=False, allow_infinity=False, places=2),
)
SCORINGS = st.sampled_from(["evidence", "paper"])
cells = st.one_of(
    st.lists(anything, min_size=6, max_size=6),
    st.lists(st.floats(), min_size=6, max_size=6),
    st.lists(st.one_of(st.none(), st.text(max_size=3)), min_size=6, max_size=6),
    st.lists(st.one_of(st.none(), st.integers(0, 3)), min_size=6, max_size=6),
)


@examples(max_examples=150)
@given(st.dictionaries(st.text(max_size=4), cells, max_size=3), SCORINGS)
def test_any_dict_is_learned_from_or_refused_in_our_own_words(data, scoring):
    try:
        detector = fit(data, scoring=scoring)
    except TruismError as problem:
        message = str(problem)
    else:
        message = "learned"
        scores = detector.anomaly_score(data)
        assert np.isfinite(scores).all()
        assert scoring == "evidence" or not scores.any()
        assert str(detector.rules_)
    assert message
