"""``truism accept`` and ``detector.accept``: the guarantee, and whole output."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import truism
from learned import learn
from strategies import learned
from test_cli import run, table
from truism.errors import ParameterError, TableError
from truism.explain.blames import Spared, say_spared
from truism.explain.checker import Checker
from truism.export.sql.statements import to_sql
from truism.model.acceptances import Acceptance
from truism.model.files import decode_model, encode_model, load_model
from truism.model.predicates import OneOf
from truism.plant import simulate
from truism.review import ledgers
from truism.review.accept import N_RANGES, Offer, find_named, offer
from truism.review.compare import Source
from truism.review.ledgers import ledger_beside, read_ledger, rows_to_add
from truism.show import to_html
from truism.table import atomic
from truism.table.frames import as_table


def accepted(checker, rows, when=None, mute=()):
    """Return an acceptance of prepared rows."""
    return offer(checker, rows, reason="valve test", when=when, mute=mute).acceptance


@pytest.mark.parametrize("scoring", ["evidence", "paper"])
@settings(max_examples=20)
@given(data=st.data())
def test_accepted_rows_score_at_most_the_threshold_by_themselves(scoring, data):
    _, model, strange = data.draw(learned(scoring=scoring, min_rows=24))
    limit = data.draw(st.sampled_from([0.0, 0.5, 2.0, model.threshold]))
    checker = Checker(model.with_threshold(limit))
    table = as_table(strange)
    for _ in range(2):  # the second time, something is accepted already
        scores = checker.scorer.weigh_alone(table).scores
        some = data.draw(st.lists(st.integers(0, table.n_rows - 1), min_size=1, unique=True))
        rows = np.array(sorted(some), np.int64)
        if (scores[rows] <= limit).all():
            with pytest.raises(ParameterError, match="There is nothing to accept"):
                accepted(checker, table.take(rows))
            return
        try:
            made = accepted(checker, table.take(rows))
        except ParameterError:
            with pytest.raises(ParameterError, match="No condition bounds what these rows show"):
                accepted(checker, table.take(rows))
            return
        checker = checker.accepting(made)
        assert decode_model(encode_model(checker.model)) == checker.model
        assert (checker.scorer.weigh_alone(table.take(rows)).scores <= limit).all()
        fresh = Checker(checker.model).scorer.weigh_alone(table).scores
        np.testing.assert_array_equal(fresh, checker.scorer.weigh_alone(table).scores)


@settings(max_examples=20)
@given(data=st.data())
def test_a_price_counts_what_two_checks_differ_in(data):
    _, model, strange = data.draw(learned(scoring="evidence", min_rows=24))
    checker, table = Checker(model), as_table(strange)
    predicates = [each.predicate for each in model.rules.predicates]
    if not predicates:
        return
    when, mute = str(data.draw(st.sampled_from(predicates))), model.schema.names[:1]
    cut = data.draw(st.integers(0, table.n_rows - 1))
    parts = [table.take(slice(0, cut)), table.take(slice(cut, table.n_rows))]
    made, other = (
        offer(checker, reason="test", when=when, mute=mute, here=Source(table.n_rows, read))
        for read in (lambda: parts, lambda: [table])
    )
    assert made.price == other.price
    after, price = checker.accepting(made.acceptance), made.price
    assert price.n_applied == after.scorer.tolerance.find(table).sum()
    above = [(each.score(table) > model.threshold).sum() for each in (checker, after)]
    assert (price.n_anomalous, price.n_silenced) == (above[0], above[0] - above[1])
    assert (price.n_incidents, price.n_gone) == (price.n_anomalous, price.n_silenced)


def test_in_a_series_accepted_rows_leave_nothing_behind_that_is_reported():
    normal = as_table({"pump": ["on", "off"] * 200, "flow": [2.5, 0.0] * 200})
    model = learn(normal, min_support=0.1, ordered=True)
    wrong = [2.5, 0.0] * 10 + [0.0] * 20 + [2.5, 0.0] * 10
    table = as_table({"pump": ["on", "off"] * 30, "flow": wrong})
    checker = Checker(model)
    assert len(checker.find(table).incidents) + len(checker.find(table).shifts) == 1
    made = accepted(checker, table.take(np.arange(20, 40)))
    assert {*made.variables} == {"pump", "flow"}
    assert [str(each) for each in made.conditions] == ["flow = 0", "pump = on"]
    assert Checker(checker.model.accept(made)).anomalous(table).tolist() == []


def test_the_condition_is_that_of_the_first_clue_and_bounded_by_ranges(place):
    checker, today = Checker(load_model("m.truism.json")), table_of("today.csv")
    made = accepted(checker, today.take(np.array([40, 42])))
    shared, *ranges = made.conditions
    assert str(shared) == "pump = on"
    assert 0 < len(ranges) <= N_RANGES
    assert str(ranges[0]) == "-0.006 ≤ flow < 0.006"
    mixed = accepted(checker, today.take(np.arange(40, 46)))
    assert shared not in mixed.conditions, "it does not hold in all of them"
    assert [
        str(each) for each in accepted(checker, today.take(np.array([40])), "pump = on").conditions
    ] == ["pump = on"]
    assert accepted(checker, today.take(np.array([40])), None, ["flow"]).variables == ("flow",)
    with pytest.raises(ParameterError, match="when must hold in one of the unusual rows"):
        accepted(checker, today.take(np.array([40])), "pump = off")


def test_what_nothing_bounds_is_refused(place):
    checker = Checker(load_model("m.truism.json"))
    nothing = {name: [None, None] for name in ("pump", "flow")}
    rows = as_table({"time": [None, None], **nothing, "level": [504, 503]})
    with pytest.raises(ParameterError, match="No condition bounds what these rows show"):
        accepted(checker, rows, None, ["flow", "pump"])


@pytest.fixture(scope="module")
def plant():
    detector = truism.InvariantRuleDetector(max_false_incidents="20/1000rows", time="time")
    return detector.fit(simulate(4000, seed=1).columns).model_


@pytest.mark.parametrize("seed", [11, 12])
def test_an_incident_that_was_accepted_is_not_told_again(plant, seed):
    checker = Checker(plant)
    table = checker.prepare(as_table(simulate(2500, seed=seed).columns))
    found = checker.find(table).incidents
    assert found
    for incident in found[:3]:
        named = find_named(checker.find(table), incident.id, "incident")
        rows = table.take(named.within(checker.scorer, table))
        here = Source(table.n_rows, lambda: [table])
        made = offer(checker, rows, named, reason="no fault", here=here)
        assert made.price.n_left == 0
        again = checker.accepting(made.acceptance).find(table)
        told = [*again.incidents.outlines[:], *again.shifts.outlines[:]]
        rows = range(incident.start, incident.end + 1)
        assert not any(each.first in rows or each.last in rows for each in told)


ROWS = {*range(40, 46)}


@pytest.fixture(scope="module")
def ready(tmp_path_factory):
    folder = tmp_path_factory.mktemp("accept")
    (folder / "normal.csv").write_text(table())
    (folder / "today.csv").write_text(table(wrong=ROWS))
    (folder / "june.csv").write_text(table(wrong={*range(40, 43), 101, 103, 205}))
    (folder / "hidden.csv").write_text(table(wrong={*range(40, 43)}))
    _, err, code = run(
        *("learn", folder / "normal.csv", "-o", folder / "m.truism.json", "--lookback", "0")
    )
    assert code == 0, err
    return folder


@pytest.fixture
def place(ready, tmp_path, monkeypatch):
    for each in ready.iterdir():
        (tmp_path / each.name).write_bytes(each.read_bytes())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("truism.cli.accept.today", lambda: "2025-08-03")
    monkeypatch.setattr("truism.cli.accept._user", lambda: "ana")
    return tmp_path


def accept(*arguments):
    return run("accept", *arguments, "-m", "m.truism.json")


def test_accepting_rows_shows_the_price_and_writes_model_and_ledger(place):
    out, err, code = accept(
        *("today.csv", "--rows", "40:44", "--reason", "valve test", "-o", "n.truism.json"),
        *("--on", "june.csv"),
    )
    assert (out, code) == (PRICE, 0)
    assert err == "Note: written: n.truism.json, n.accepted.parquet.\n"
    [accepted] = load_model("n.truism.json").accepted
    assert (accepted.who, accepted.date, accepted.n_rows) == ("ana", "2025-08-03", 5)
    ledger = read_ledger("n.accepted.parquet")
    assert ledger.column("truism:id").to_pylist() == [accepted.id] * 5
    columns = [name for name in ledger.column_names if not name.startswith("truism:")]
    assert columns == ["time", "pump", "flow", "level"]
    assert run("check", "hidden.csv", "-m", "n.truism.json")[2] == 0
    assert run("check", "hidden.csv", "-m", "m.truism.json")[2] == 1
    assert run("check", "today.csv", "-m", "m.truism.json")[2] == 1


def test_a_price_above_a_tenth_of_the_rows_is_loud(place):
    how = ("--when", "pump = on", "--mute", "flow", "--reason", "no", "--dry-run")
    assert accept("june.csv", *how)[1] == (
        "Warning: flow would no longer be judged in 50 % of these rows: accept fewer rows, or on a "
        "narrower condition.\n"
    )


def test_a_ledger_that_another_program_changes_is_waited_for(place, monkeypatch):
    monkeypatch.setattr(atomic, "PATIENCE", 0.0)
    asked = ("today.csv", "--rows", "40:44", "--reason", "valve test", "-o", "n.truism.json")
    with ledgers.FILES.held("n.accepted.parquet", create=True):
        assert read_ledger("n.accepted.parquet") is None, "it is empty as yet"
        assert accept(*asked)[1:] == (
            "Error: The ledger 'n.accepted.parquet' is in use by another program.\n"
            "Hint: wait until that has finished.\n",
            2,
        )
    assert not Path("n.accepted.parquet").exists()
    assert not Path("n.truism.json").exists()
    assert accept(*asked)[2] == 0


PRICE = """\
mmwjsbn6  accepted on 3 Aug 2025 by ana: valve test
  muted    pump, flow
  where    pump = on and -0.006 ≤ flow < 0.006
  here     it applies in 5 of 400 rows (1.2 %); none of 1 incident and 5 of 6
           anomalous rows would no longer be reported
  history  it applies in 5 of 400 rows (1.2 %); 2 of 3 incidents and 5 of 6
           anomalous rows would no longer be reported
           rows 40 to 42, 2024-03-01 00:06:40: flow, pump
           rows 101 to 103, 2024-03-01 00:16:50: flow, pump
"""


def test_a_dry_run_writes_nothing_and_json_has_everything(place):
    before = {each.name for each in place.iterdir()}
    out, err, code = accept(
        *("today.csv", "--rows", "40:45", "--reason", "valve test", "--dry-run"),
        *("--format", "json", "--on", "hidden.csv", "--until", "2025-08-31"),
    )
    read = json.loads(out)
    assert code == 0
    assert read["acceptance"]["until"] == "2025-08-31"
    assert read["history"]["n_incidents"] == read["history"]["n_gone"] == 1
    assert read["price"]["n_rows"] == 400
    assert err.count("Warning: ") == 2
    assert {each.name for each in place.iterdir()} == before


@pytest.mark.parametrize("kind", ["incident", "pattern"])
def test_what_a_check_shows_can_be_accepted_by_its_id_and_taken_back(place, kind):
    shown = ("--patterns",) if kind == "pattern" else ()
    out = run("check", "today.csv", "-m", "m.truism.json", "--format", "json", *shown)[0]
    wanted = json.loads(out)[f"{kind}s"][0]["id"]
    more = ("--reason", "valve test", "-o", "m.truism.json")
    assert accept("today.csv", f"--{kind}", wanted, *more)[2] == 0
    [accepted] = load_model("m.truism.json").accepted
    assert run("check", "today.csv", "-m", "m.truism.json")[2] == 0
    out, err, code = accept("--undo", accepted.id, "-o", "m.truism.json")
    named = ", ".join(accepted.variables)
    said = f"withdrawn  {accepted.id}  {named}, accepted on 3 Aug 2025 by ana: valve test\n"
    assert (out, err, code) == (said, "", 0)
    assert load_model("m.truism.json").accepted is None
    assert read_ledger("m.accepted.parquet").num_rows == 0
    assert run("check", "today.csv", "-m", "m.truism.json")[2] == 1


@pytest.mark.parametrize("step", ["write_ledger", "_save"])
@pytest.mark.parametrize("way", ["accept", "undo"])
def test_a_command_that_died_while_it_wrote_is_run_again(place, monkeypatch, way, step):
    rows = ("today.csv", "--rows", "40:45", "--reason", "valve test", "-o", "m.truism.json")
    command, left = rows, 6
    if way == "undo":
        assert accept(*rows)[2] == 0
        [accepted] = load_model("m.truism.json").accepted
        command, left = ("--undo", accepted.id, "-o", "m.truism.json"), 0

    def die(*_):
        raise KeyboardInterrupt

    before = load_model("m.truism.json")
    with monkeypatch.context() as patched:
        patched.setattr(f"truism.cli.accept.{step}", die)
        assert accept(*command)[2] == 130
    assert load_model("m.truism.json") == before
    assert accept(*command)[2] == 0
    assert read_ledger("m.accepted.parquet").num_rows == left
    assert len(load_model("m.truism.json").accepted or ()) == left // 6


def test_a_whitelist_of_ones_own(place):
    out, err, code = accept(
        *("--when", "pump = on and level >= 0", "--mute", "flow", "--reason", "new pump"),
        *("-o", "n.truism.json"),
    )
    said = (
        "w2vwxnwt  accepted on 3 Aug 2025 by ana: new pump\n"
        "  muted  flow\n"
        "  where  pump = on and level ≥ 0\n"
    )
    assert (out[8:], err, code) == (said[8:], "Note: written: n.truism.json.\n", 0)
    out, _, _ = accept("--when", "pump = on", "--mute", "all", "--reason", "stopped", "--dry-run")
    assert out.splitlines()[1:] == ["  muted  all variables", "  where  pump = on"]


def test_accepted_rows_are_learned_for_good(place):
    done = ("--reason", "valve test", "-o", "n.truism.json")
    assert accept("today.csv", "--rows", "40:45", *done)[2] == 0
    learn_again = ("learn", "normal.csv", "-o", "again.json", "--lookback", "0")
    _, err, code = run(*learn_again, "--accepted", "n.accepted.parquet")
    assert (err, code) == ("Note: 6 rows of 1 acceptance are learned as normal.\n", 0)
    assert load_model("again.json").provenance.n_rows == 406
    [accepted] = load_model("n.truism.json").accepted
    undone = ("--undo", accepted.id, "-m", "n.truism.json", "-o", "o.truism.json")
    assert run("accept", *undone)[2] == 0
    _, err, code = run(*learn_again, "--accepted", "o.accepted.parquet")
    assert (err, code) == ("Note: no rows are accepted in 'o.accepted.parquet'.\n", 0)
    assert load_model("again.json").provenance.n_rows == 400
    assert run(*learn_again, "--accepted", "nothing.parquet")[1:] == (
        "Error: There is no ledger 'nothing.parquet'.\n",
        2,
    )
    pq.write_table(pa.table({"pump": ["on"]}), "other.parquet")
    assert run(*learn_again, "--accepted", "other.parquet")[1] == (
        "Error: 'other.parquet' is no ledger of accepted rows: it lacks column 'truism:id'.\n"
    )
    ledger = read_ledger("n.accepted.parquet").drop_columns(["level"])
    pq.write_table(ledger, "less.parquet")
    assert run(*learn_again, "--accepted", "less.parquet")[1] == (
        "Error: The ledger 'less.parquet' lacks 'level'.\nHint: learn from rows with its columns.\n"
    )
    Path("bad.parquet").write_text("no")
    assert "cannot be read as a ledger" in run(*learn_again, "--accepted", "bad.parquet")[1]


REASON = ("--reason", "valve test")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["today.csv", *REASON, "--dry-run"],
            "One of --rows, --incident, --shift, --pattern and --undo must be given, or --when with "
            "--mute, got none.",
        ),
        (
            ["today.csv", *REASON, "--dry-run", "--rows", "1", "--undo", "x"],
            "One of --rows, --incident, --shift, --pattern and --undo must be given, or --when with "
            "--mute, got 2.",
        ),
        (
            ["today.csv", *REASON, "--rows", "1"],
            "-o must name the model file to write, unless --dry-run is given.",
        ),
        (
            ["today.csv", "--rows", "1", "--dry-run"],
            "--reason must be given.\nHint: say why the rows are normal, for those who read the model.",
        ),
        (
            ["--rows", "1", *REASON, "--dry-run"],
            "--rows must be given with DATA, the rows that were checked.",
        ),
        (
            ["--when", "pump = on", *REASON, "--dry-run"],
            "One of --rows, --incident, --shift, --pattern and --undo must be given, or --when with "
            "--mute, got none.",
        ),
        (
            ["today.csv", "--rows", "7:x", *REASON, "--dry-run"],
            "--rows must be a row or two rows such as 613:754, got '7:x'.",
        ),
        (
            ["today.csv", "--rows", "7:400", *REASON, "--dry-run"],
            "--rows must lie between 0 and 399, the first row first, got '7:400'.",
        ),
        (
            ["today.csv", "--rows", "9:7", *REASON, "--dry-run"],
            "--rows must lie between 0 and 399, the first row first, got '9:7'.",
        ),
        (
            ["today.csv", "--rows", "1", *REASON, "--dry-run"],
            "There is nothing to accept: none of these rows is unusual by itself.\nHint: rows may "
            "be reported because of the rows before them: accept the first rows of the incident; a "
            "variable that stands still can be muted under a condition.",
        ),
        (
            ["today.csv", "--incident", "x", *REASON, "--dry-run"],
            "--incident must be an id that a check of the same rows with the same model shows, got 'x'.",
        ),
        (
            ["today.csv", "--pattern", "x", *REASON, "--dry-run"],
            "--pattern must be an id that a check of the same rows with the same model shows, got 'x'.",
        ),
        (
            ["today.csv", "--rows", "40", "--reason", " ", "--dry-run"],
            "--reason must say why these rows are normal, got ' '.",
        ),
        (
            ["today.csv", "--rows", "40", *REASON, "--until", "soon", "--dry-run"],
            "--until must be a date such as 2025-08-31, got 'soon'.",
        ),
        (
            ["--when", "pump = on", "--mute", "flw", *REASON, "--dry-run"],
            "--mute must name a variable of the model, or all, got 'flw'.\n"
            "Hint: did you mean 'flow'?",
        ),
        (
            ["--when", "pump = of", "--mute", "flow", *REASON, "--dry-run"],
            "--when must be a condition such as P101 = on and LIT301 ≥ 800; at character 8, before "
            "'of' it lacks one of the states off, on (did you mean 'off'?), got 'pump = of'.",
        ),
        (["--undo", "x", "-o", "n.json"], "--undo must be the id of an acceptance, got 'x'.\n"
         "Hint: nothing is accepted in this model."),
    ],
)  # fmt: skip
def test_what_cannot_be_accepted_is_refused_in_a_sentence(place, arguments, said):
    before = {each.name for each in place.iterdir()}
    assert accept(*arguments) == ("", f"Error: {said}\n", 2)
    assert {each.name for each in place.iterdir()} == before


def test_a_detector_accepts_rows_and_takes_it_back(place):
    detector = truism.load("m.truism.json")
    today = table_of("today.csv")
    [incident, *_] = detector.incidents(today)
    tried = detector.accept(today, slice(40, 46), "valve test", dry_run=True)
    assert isinstance(tried, Offer)
    assert detector.predict(today).min() == -1
    made = detector.accept(today, incident, "valve test", history=today)
    assert str(made).splitlines()[0].endswith(": valve test")
    assert made.price == made.history
    assert (made.price.n_incidents, made.price.n_gone) == (1, 1)
    assert detector.predict(today).min() == 1
    batches = pyarrow.csv.read_csv("today.csv").to_batches()
    [scored] = truism.arrow_scorer(detector)(batches)
    assert scored["score"].to_pylist() == detector.anomaly_score(today).tolist()
    assert not any(scored["anomaly"].to_pylist())
    detector.withdraw(made.acceptance.id)
    [scored] = truism.arrow_scorer(detector)(batches)
    assert any(scored["anomaly"].to_pylist())
    assert detector.predict(today).min() == -1
    detector.accept(when="level >= 0", mute="all", reason="stopped")
    assert detector.predict(today).min() == 1
    with pytest.raises(ParameterError, match="Rows of a table, or when and mute, must be given"):
        detector.accept(today, reason="no")
    with pytest.raises(ParameterError, match="Rows of a table, or when and mute, must be given"):
        detector.accept(when="pump = on", reason="no")
    with pytest.raises(ParameterError, match="name at least one row"):
        detector.accept(today, [], reason="no")


def table_of(name):
    from truism.table.files import read

    return read([name]).table


def test_series_are_accepted_apart():
    normal = {
        "unit": ["a", "b"] * 100,
        "pump": ["on", "on", "off", "off"] * 50,
        "flow": [2.5, 2.5, 0.0, 0.0] * 50,
    }
    model = learn(as_table(normal), min_support=0.1, by="unit", ordered=True)
    wrong = {
        **normal,
        "flow": [0.0 if 80 <= i < 100 and i % 2 else v for i, v in enumerate(normal["flow"])],
    }
    checker, rows = Checker(model), as_table(wrong)
    found = checker.find(rows)
    events = found.incidents if found.incidents else found.shifts
    chosen = find_named(checker.find(rows), events[0].id, "incident").within(checker.scorer, rows)
    assert len(chosen) > 0
    assert {wrong["unit"][row] for row in chosen} == {"b"}


def test_columns_that_a_ledger_needs_itself_are_refused():
    with pytest.raises(TableError, match="Column 'truism:id' has a name that ledgers"):
        rows_to_add(as_table({"truism:id": ["a"]}), Acceptance((), (), ""))
    assert str(ledger_beside("a/plant.truism.json")) == "a/plant.accepted.parquet"


def test_statements_say_that_they_do_not_know_of_it():
    model = learn(as_table({"pump": ["on", "off"] * 50, "flow": [2.5, 0.0] * 50}), min_support=0.1)
    conditions = (OneOf("pump", ("on",)),)
    made = model.accept(Acceptance(("flow",), conditions, "valve test"))
    said = "Acceptances do not apply here: accepted rows count, too."
    assert to_sql(made, table="t", dialect="duckdb").left_out == (said,)
    assert to_sql(model, table="t", dialect="duckdb").left_out == ()


def test_rules_explanations_and_the_page_show_what_was_accepted(place):
    done = ("--reason", "valve test", "-o", "n.truism.json", "--until", "2100-01-01")
    assert accept("today.csv", "--rows", "40:44", *done)[2] == 0
    [accepted] = load_model("n.truism.json").accepted
    out = run("rules", "n.truism.json", "--top", "1")[0]
    assert out.splitlines()[-3:] == [
        "Accepted as normal:",
        f"  {accepted.id}  pump, flow where pump = on and -0.006 ≤ flow < 0.006; accepted on 3",
        "            Aug 2025 by ana: valve test (until 1 Jan 2100)",
    ]
    listed = json.loads(run("rules", "n.truism.json", "--format", "json")[0])
    noted = {name for each in listed if "accepted" in each for name in each["variables"]}
    assert noted >= {"flow", "pump"}
    assert {each for rule in listed for each in rule.get("accepted", ())} == {
        f"{accepted.id}: {accepted.said}"
    }
    out = run("compare", "m.truism.json", "n.truism.json", "--format", "json")[0]
    assert accepted.said in out
    out = run("explain", "today.csv", "-m", "n.truism.json", "--row", "41")[0]
    said = "accepted on 3 Aug 2025 by ana: valve test (until 1 Jan 2100)"
    assert said in " ".join(out.split())
    read = json.loads(
        run("explain", "today.csv", "-m", "n.truism.json", "--row", "41", "--format", "json")[0]
    )
    [told] = read["accepted"]
    assert (told["id"], told["said"], {*told["variables"]}) == (accepted.id, said, {"flow", "pump"})
    detector, today = truism.load("n.truism.json"), table_of("today.csv")
    [explained] = detector.explain(today, [41])
    assert str(explained).splitlines()[-1].startswith(said)
    assert detector.explain(today, [3])[0].accepted == ()
    assert run("check", "june.csv", "-m", "m.truism.json", "--report", "page.html")[2] == 1
    page = Path("page.html").read_text()
    assert "If this is normal: <code>truism accept DATA --incident " in page
    run("check", "june.csv", "-m", "n.truism.json", "--report", "page.html")
    assert said in Path("page.html").read_text()


SPARED = (
    "Some evidence against pump does not count in 3 rows (accepted on 3 Aug 2025 by ana: valve "
    "test <b>)."
)


def test_an_incident_says_once_what_of_it_was_accepted(place):
    how = ("--when", "flow < 1", "--mute", "pump", "--reason", "valve test <b>")
    assert accept(*how, "-o", "n.truism.json")[2] == 0
    [accepted] = load_model("n.truism.json").accepted
    check = ("check", "june.csv", "-m", "n.truism.json")
    out = run(*check, "--top", "1", "--report", "page.html")[0]
    assert out == INCIDENT_WITH_ACCEPTANCE
    assert SPARED.replace("<b>", "&lt;b&gt;") in Path("page.html").read_text()
    first, second, third = json.loads(run(*check, "--format", "json")[0])["incidents"]
    assert [each["n_rows"] for each in (first, second, third)] == [3, 2, 1]
    assert first["spared"] == SPARED
    assert third["spared"] == "", "the condition does not hold there"
    [told] = first["accepted"]
    assert told.pop("points") == pytest.approx(8.24, abs=0.01)
    assert told == {
        "id": accepted.id,
        "said": accepted.said,
        "variables": ["pump"],
        "n_rows": 3,
    }
    detector, june = truism.load("n.truism.json"), table_of("june.csv")
    incident = detector.incidents(june)[0]
    assert str(incident).splitlines()[-1] == SPARED
    assert "valve test &lt;b&gt;)." in incident._repr_html_()
    assert incident.to_dict()["spared"] == SPARED
    summary = detector.report(june, "other.html")
    assert SPARED.replace("<b>", "&lt;b&gt;") in to_html(summary)
    assert (
        run("accept", "--undo", accepted.id, "-m", "n.truism.json", "-o", "n.truism.json")[2] == 0
    )
    assert "accepted" not in run(*check, "--top", "1")[0]
    [first, *_] = json.loads(run(*check, "--format", "json")[0])["incidents"]
    assert (first["spared"], first["accepted"]) == ("", [])


INCIDENT_WITH_ACCEPTANCE = """\
1  flow read 0 instead of about 2.559 while pump was on.
   2024-03-01 00:06:40 · 20 s · 3 rows · peak 13.4 at 00:06:40 · 1 more like it:
   1 Mar 00:16:50
   Some evidence against pump does not count in 3 rows (accepted on 3 Aug 2025
   by ana: valve test <b>).
   flow  100 %  expected flow ≥ 2.484, found 0
                because pump = on
                (on average 2.559 ± 0.038 in the 200 of 400 training rows like
                this)

1 more; --top 0 shows all.
Percentages are shares of the blame. An incident may contain up to 6 normal
rows; --gap changes that.
anomalies: 3 incidents in 1 h 6 min; 6 of 400 rows (1.5 %) score above 0.777.
"""


def test_many_variables_and_several_acceptances_are_said_in_one_sentence():
    many = Spared("a", "accepted: one", ("v", "w", "x", "y", "z"), 1.0, 12)
    other = Spared("b", "accepted: two", ("u",), 1.0, 1)
    assert say_spared([], 5) == ""
    assert say_spared([other], 1) == "Some evidence against u does not count (accepted: two)."
    assert say_spared([many, other], 40) == (
        "Some evidence against v, w, x and 2 others does not count in 12 rows (accepted: one); "
        "some evidence against u does not count in 1 row (accepted: two)."
    )
