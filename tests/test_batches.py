"""Streams of Arrow batches: the same scores however they are divided, and nothing but what was asked."""

import itertools
import pickle

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import truism
from truism import InvariantRuleDetector, ParameterError, SchemaError, TableError
from truism.estimator.batches import ArrowScorer

N_ROWS = 400


def rows_of(n_rows: int = N_ROWS, seed: int = 0) -> dict[str, list]:
    rng = np.random.default_rng(seed)
    on = np.arange(n_rows) % 20 < 12
    flow = np.where(on, 2.5, 0.0) + rng.normal(0, 0.02, n_rows)
    level = np.cumsum(np.where(on, 0.1, -0.15)) % 7 + rng.normal(0, 0.01, n_rows)
    return {
        "id": list(range(n_rows)),
        "pump": np.where(on, "on", "off").tolist(),
        "flow": flow.tolist(),
        "level": level.tolist(),
    }


def tampered() -> dict[str, list]:
    table = rows_of(seed=1)
    for row in range(150, 180):
        table["flow"][row] = 1.0
    table["flow"][300], table["level"][301] = None, 99.0
    table["pump"][330] = "stuck"
    return table


@pytest.fixture(scope="module", params=["exchangeable", "series", "changes", "paper"])
def detector(request: pytest.FixtureRequest) -> InvariantRuleDetector:
    options = {
        "exchangeable": {},
        "series": {"ordered": True},
        "changes": {"delta": True},
        "paper": {"scoring": "paper", "min_support": 0.1},
    }[request.param]
    return InvariantRuleDetector(ignore=["id"], **options).fit(rows_of(2000))


def divided(table: dict[str, list], ends: list[int]) -> list[pa.RecordBatch]:
    whole = pa.record_batch(table)
    places = [0, *sorted(ends), whole.num_rows]
    return [whole.slice(a, b - a) for a, b in itertools.pairwise(places)]


@settings(max_examples=25, deadline=None)
@given(ends=st.lists(st.integers(0, N_ROWS), max_size=6))
def test_scores_do_not_depend_on_how_rows_are_divided(detector, ends) -> None:
    table = tampered()
    found = list(truism.arrow_scorer(detector)(divided(table, ends)))
    scores = np.concatenate([each["score"].to_numpy() for each in found])
    marks = np.concatenate([each["anomaly"].to_numpy(zero_copy_only=False) for each in found])
    assert scores.tobytes() == detector.anomaly_score(table).tobytes()
    assert (marks == (detector.predict(table) == -1)).all()
    assert [each.num_rows for each in found] == [each.num_rows for each in divided(table, ends)]


def test_blames_do_not_depend_on_how_rows_are_divided(detector) -> None:
    table = tampered()
    scorer = truism.arrow_scorer(detector, blames=2, keep=["id"])
    once = pa.Table.from_batches(scorer(divided(table, [])))
    often = pa.Table.from_batches(scorer(divided(table, list(range(0, N_ROWS, 7)))))
    assert once.equals(often)
    excess = () if detector.model_.memory is None else ("excess",)
    assert once.column_names == [
        *("id", "score", *excess, "anomaly", "variable_1", "share_1", "expected_1", "found_1"),
        *("variable_2", "share_2", "expected_2", "found_2"),
    ]
    assert once["id"].to_pylist() == table["id"]
    assert once["variable_1"][301].as_py() in ("level", "Δlevel")
    assert once["variable_1"][330].as_py() == "pump"
    assert once["found_1"][330].as_py() == "stuck"
    quiet = [row for row, mark in enumerate(once["anomaly"].to_pylist()) if not mark]
    assert all(once["expected_1"][row].as_py() is None for row in quiet)


def test_a_state_goes_on_where_another_stream_ended() -> None:
    detector = InvariantRuleDetector(ignore=["id"], delta=True).fit(rows_of(2000))
    table, scorer = tampered(), truism.arrow_scorer(detector)
    first, second = divided(table, [165])
    *_, (one, state) = scorer.follow([first])
    [(two, last)] = scorer.follow([second], state)
    together = np.concatenate([one["score"], two["score"]])
    assert together.tobytes() == detector.anomaly_score(table).tobytes()
    assert (state.n_rows, last.n_rows) == (165, N_ROWS)
    [(alone, _)] = scorer.follow([second])
    assert alone["score"].to_pylist() != two["score"].to_pylist()


def test_a_state_of_another_model_is_refused() -> None:
    rows = rows_of(300)
    one, other = (
        truism.arrow_scorer(
            InvariantRuleDetector(ignore=["id"], ordered=True).fit(rows_of(900, seed))
        )
        for seed in (0, 1)
    )
    [(_, state)] = one.follow(divided(rows, []))
    assert len(list(one.follow(divided(rows, []), state))) == 1
    with pytest.raises(ParameterError, match=r"state must come from this model, \w+, got"):
        next(other.follow(divided(rows, []), state))


def test_a_worker_gets_the_same_scorer(detector) -> None:
    scorer = truism.arrow_scorer(detector, blames=1, keep=["id"])
    again = pickle.loads(pickle.dumps(scorer))
    batches = divided(tampered(), [100])
    assert list(again(batches)) == list(scorer(batches))


def test_the_threshold_is_the_one_in_force(detector, tmp_path) -> None:
    detector.save(tmp_path / "m.truism.json")
    batches = divided(tampered(), [])
    from_file = truism.arrow_scorer(str(tmp_path / "m.truism.json"))
    assert list(from_file(batches)) == list(truism.arrow_scorer(detector)(batches))
    strict = truism.load(tmp_path / "m.truism.json").set_params(threshold=1e9)
    [found] = truism.arrow_scorer(strict)(batches)
    assert not any(found["anomaly"].to_pylist())
    assert truism.arrow_scorer(detector.model_).checker.model is detector.model_


def test_nothing_goes_in_and_nothing_comes_out(detector) -> None:
    scorer = truism.arrow_scorer(detector, blames=1)
    assert list(scorer([])) == []
    [found] = scorer([pa.record_batch(rows_of()).slice(0, 0)])
    assert found.num_rows == 0
    assert found.schema == scorer.schema(pa.record_batch(rows_of()).schema)


def test_what_is_wrong_is_said(detector) -> None:
    batch = pa.record_batch(tampered())
    with pytest.raises(TableError, match="none named 'tank'"):
        next(truism.arrow_scorer(detector, keep=["tank"])([batch]))
    with pytest.raises(TableError, match="distinct, got 'id' twice"):
        next(truism.arrow_scorer(detector, keep=["id", "id"])([batch]))
    with pytest.raises(ParameterError, match="keep must be a list of columns, got 'tank'"):
        truism.arrow_scorer(detector, keep="tank")
    for wrong in (batch, pa.table(tampered()), [tampered()]):
        with pytest.raises(TableError, match="Batches must be Arrow record batches, got "):
            next(truism.arrow_scorer(detector)(wrong))
    with pytest.raises(ParameterError, match="state must be what `follow` yields, got 'str'"):
        next(truism.arrow_scorer(detector).follow([batch], "yesterday"))
    named = pa.record_batch({**tampered(), "score": tampered()["id"]})
    with pytest.raises(TableError, match="got 'score'"):
        next(truism.arrow_scorer(detector, keep=["score"])([named]))
    with pytest.raises(SchemaError, match="flow"):
        next(truism.arrow_scorer(detector)([batch.drop_columns(["flow"])]))
    with pytest.raises(ParameterError, match="blames"):
        truism.arrow_scorer(detector, blames=-1)
    with pytest.raises(ParameterError, match="model must be a detector, a model"):
        truism.arrow_scorer(7)


def test_columns_hold_the_first_blames_of_each_row_and_are_empty_where_it_has_fewer(
    detector,
) -> None:
    rows = tampered()
    (scored,) = truism.arrow_scorer(detector, blames=3)([pa.record_batch(rows)])
    found, n_rows = scored.to_pydict(), len(rows["id"])
    explained = detector.explain(rows, range(n_rows))
    assert any(found["anomaly"])
    for row, anomaly, one in zip(range(n_rows), found["anomaly"], explained, strict=True):
        for k in range(3):
            blame = one.blames[k] if k < len(one.blames) else None
            reason = blame.reasons[0] if blame and anomaly else None
            assert found[f"expected_{k + 1}"][row] == (reason and reason.expected)
            assert found[f"found_{k + 1}"][row] == (reason and reason.found)
            if anomaly:  # without reasons, variables are named that only the past speaks against
                assert found[f"variable_{k + 1}"][row] == (blame and blame.variable)
                assert found[f"share_{k + 1}"][row] == (blame and blame.share)


def test_a_schema_is_known_before_the_first_batch(detector) -> None:
    scorer = truism.arrow_scorer(detector, keep=["id"])
    assert isinstance(scorer, ArrowScorer)
    own = pa.record_batch(rows_of()).schema
    excess = [] if detector.model_.memory is None else [("excess", pa.float64())]
    added = [("score", pa.float64()), *excess, ("anomaly", pa.bool_())]
    assert scorer.schema(own) == pa.schema([own.field("id"), *added])
