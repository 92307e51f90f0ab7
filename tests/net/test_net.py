"""What truism finds from outside is what was recorded; the package says how to record anew."""

import ast
from pathlib import Path

import pytest

import truism
from tests.net import guards, names, public, tables
from tests.net.comparing import FOLDER, compare, differences, recorded, rounded
from tests.net.observing import rules_of, scores_of
from tests.net.program import inside, run
from tests.net.records import MADE, MAKER_OF, PUBLIC
from truism.pyod import InvariantRules

# Of the files of the package, in bytes: it may become smaller, and this with it.
MAX_SIZE = 2_050_000


def compare_all(records):
    """Compare several records, and say all that differs."""
    problems = []
    for name, facts in records.items():
        try:
            compare(name, facts)
        except AssertionError as problem:
            problems.append(str(problem))
    if problems:
        pytest.fail("\n".join(problems), pytrace=False)


@pytest.mark.parametrize("name", MADE)
def test_what_is_found_is_what_was_recorded(name, tmp_path):
    compare_all(MADE[name](tmp_path))


@pytest.mark.parametrize("name", PUBLIC)
def test_what_is_found_in_public_tables_is_what_was_recorded(name, tmp_path):
    if public.data() is None:
        pytest.skip("TRUISM_DATA does not name the folder of the public tables")
    compare_all(PUBLIC[name](tmp_path))


@pytest.mark.parametrize("table", names.TABLES)
def test_ids_are_those_recorded_where_the_model_is(table, tmp_path):
    wanted, now = recorded("ids")[table], names.ids_of(table, tmp_path)
    ids = [*now["incidents"], *now["patterns"]]
    assert len({*ids}) == len(ids)
    if wanted["model"] != now["model"]:
        pytest.skip(
            f"the model of {table!r} has another id: it differs in its last bits, or in form"
        )
    compare("ids", {**recorded("ids"), table: now})


def test_ids_are_the_same_in_another_process_and_others_by_another_name(tmp_path):
    here = names.ids_of("faults", tmp_path)["incidents"]
    assert {*names.ids_elsewhere("faults", tmp_path)} == {*here}
    renamed = names.ids_of("faults", tmp_path, "--name", "tank")["incidents"]
    assert len(renamed) == len(here)
    assert not {*renamed} & {*here}


@pytest.mark.parametrize("name", ["numbers", "states", "missing", "machines"])
def test_python_finds_what_the_command_line_finds(name, tmp_path):
    made = tables.MAKERS[name]()
    tables.write(made.normal, tmp_path / "normal.csv")
    options = names.TABLES.get(name, ())
    with inside(tmp_path):
        assert run("learn", "normal.csv", "-o", "m.json", *options).code == 0
    loaded = truism.load(tmp_path / "m.json")
    parameters = {"by": "machine"} if options else {}
    fitted = truism.InvariantRuleDetector(**parameters).fit(made.normal)
    wrapped = InvariantRules(**parameters).fit(made.normal)
    assert rules_of(fitted) == rules_of(loaded)
    wanted = rounded(scores_of(loaded, made.later))
    assert differences(name, wanted, scores_of(fitted, made.later)) == []
    assert fitted.threshold_ == pytest.approx(loaded.threshold_)
    scores = fitted.anomaly_score(made.later)
    assert (wrapped.predict(made.later) == (fitted.predict(made.later) < 0)).all()
    if name != "machines":  # in a series, predictions are about the excess
        assert (wrapped.predict(made.later) == (scores > fitted.threshold_)).all()


def test_made_faults_are_detected_as_well_as_was_recorded(tmp_path):
    wanted = recorded("guards")["areas"]
    assert guards.areas(tmp_path) == pytest.approx(wanted, abs=guards.AUC_TOLERANCE)


def test_a_command_imports_no_more_than_was_recorded(tmp_path):
    wanted = recorded("guards")["imports"]
    more = {
        command: sorted({*found} - {*wanted[command]})
        for command, found in guards.imports(tmp_path).items()
    }
    assert more == {command: [] for command in wanted}


def test_the_package_is_no_larger_than_it_was():
    package = Path(truism.__file__).parent
    sizes = [
        path.stat().st_size
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    ]
    assert sum(sizes) <= MAX_SIZE


def test_the_net_knows_only_what_is_public():
    public_modules = {"truism", "truism.__main__", "truism.plant", "truism.pyod"}
    for path in Path(__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                assert node.module.split(".")[0] != "truism" or node.module in public_modules
            elif isinstance(node, ast.Import):
                used = {each.name for each in node.names if each.name.startswith("truism")}
                assert used <= public_modules


def test_every_record_belongs_to_something_that_is_compared():
    assert {path.stem for path in FOLDER.glob("*.json")} == {*MAKER_OF}


def test_a_difference_is_said_with_its_place_and_both_values():
    before = {"n": 3, "score": 1.0, "rules": ["a", "b"], "gone": None, "same": 2.0}
    now = {"n": 4, "score": 1.00001, "rules": ["a"], "new": "x", "same": 2.000001}
    assert differences("table", before, now) == [
        "table: n was 3, now 4",
        "table: score was 1.0, now 1.00001",
        "table: rules had 2 entries, now 1",
        "table: gone was null, now absent",
        'table: new was absent, now "x"',
    ]
