"""Training rows that the others contradict: found, listed, left out, and named by a list."""

import datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from test_cli import run
from truism import InvariantRuleDetector, load
from truism.cli.learn import show_suspects
from truism.errors import ParameterError, TableError
from truism.export.suspects import listed_rows, suspects_as_columns
from truism.learn.learn import learn as train
from truism.model.settings import Settings
from truism.review.suspects import Suspects, find_suspects
from truism.table.frames import as_table
from truism.table.writing import write_table
from truism.work import be_silent

WRONG = (50, 133, 250, 251, 399)


def rows(n_rows=500, wrong=WRONG, seed=0):
    """Three states, and two numbers that follow from them; some rows have the numbers of another."""
    numbers = np.random.default_rng(seed)
    state = numbers.integers(0, 3, n_rows)
    shown = state.copy()
    shown[list(wrong)] = 0
    state[list(wrong)] = 2
    first = 10.0 * state + numbers.normal(0, 0.5, n_rows)
    return {
        "state": np.array(["low", "middle", "high"], object)[shown],
        "first": np.round(first, 2),
        "second": np.round(first + 3 + numbers.normal(0, 0.3, n_rows), 2),
    }


def series(n_rows=900, wrong=range(600, 625)):
    """A pump that runs for five rows of ten, a flow, a level and the temperature of the pump."""
    numbers = np.random.default_rng(1)
    on = np.arange(n_rows) % 10 < 5
    flow = np.where(on, 2.5, 0.1) + numbers.normal(0, 0.02, n_rows)
    flow[list(wrong)] = np.where(on[list(wrong)], 0.9, 1.6)
    begin = np.datetime64("2024-03-01T00:00:00", "s")
    return {
        "when": begin + np.arange(n_rows) * np.timedelta64(10, "s"),
        "pump": np.where(on, "on", "off").astype(object),
        "flow": np.round(flow, 3),
        "level": np.round(
            500 + 5 * np.sin(np.arange(n_rows) / 9) + numbers.normal(0, 0.1, n_rows), 2
        ),
        "heat": np.round(np.where(on, 60, 40) + numbers.normal(0, 0.5, n_rows), 2),
    }


def suspects_of(columns, settings=None, *, delta=False, n_jobs=1):
    given = Settings() if settings is None else settings
    return find_suspects(as_table(columns), given, delta=delta, n_jobs=n_jobs, progress=be_silent)


@pytest.fixture(scope="module")
def of_rows():
    return suspects_of(rows())


@pytest.fixture(scope="module")
def of_series():
    return suspects_of(series())


def test_rows_that_the_others_contradict_are_suspects(of_rows):
    assert set(WRONG) <= set(of_rows.rows.tolist())
    assert len(of_rows.rows) <= len(WRONG) + 5
    assert sorted(row for group in of_rows for row in group.rows) == of_rows.rows.tolist()
    assert [group.score for group in of_rows] == sorted(
        (group.score for group in of_rows), reverse=True
    )
    assert all(group.score > 3 and group.summary for group in of_rows)
    assert not len(of_rows.hidden), "they are reported even if they are learned"


def kinds(n_rows=4000, n_wrong=40):
    """Rows of which some are a kind of their own: far from all others, and alike."""
    columns, numbers = rows(n_rows, ()), np.random.default_rng(3)
    for k in range(4):
        columns[f"more {k}"] = np.round(
            (k + 1) * columns["first"] + numbers.normal(0, 1, n_rows), 2
        )
    wrong = np.arange(n_wrong) * (n_rows // n_wrong) + 5
    for name in columns.keys() - {"state"}:
        columns[name][wrong] = -20.0
    columns["state"][wrong] = "high"
    return columns, wrong


def test_only_suspects_that_learning_would_hide_are_left_out():
    columns, wrong = kinds()
    detector = InvariantRuleDetector(suspects="exclude").fit(columns)
    found = detector.suspects_
    assert {*wrong.tolist()} <= {*found.hidden.tolist()} <= {*found.rows.tolist()}
    assert len(found.rows) <= len(wrong) + 3
    assert detector.model_.provenance.n_rows == 4000 - len(found.hidden)
    again = {name: values[wrong] for name, values in columns.items()}
    assert (detector.predict(again) == -1).all()
    assert (InvariantRuleDetector().fit(columns).predict(again) == 1).all(), "they were hidden"


def test_an_incident_in_a_series_is_one_group(of_series):
    (group,) = of_series
    assert 600 <= group.rows[0] < group.rows[-1] <= 640
    assert group.explanation.blames[0].variable == "flow"
    assert group.started == datetime.datetime(2024, 3, 1, 1, 40) + datetime.timedelta(
        seconds=10 * (group.rows[0] - 600)
    )


def test_clean_tables_have_few_suspects_or_none():
    assert len(suspects_of(rows(wrong=())).rows) <= 5
    assert not len(suspects_of(series(wrong=()))[:])


def test_few_rows_have_none():
    found = suspects_of(rows(99, wrong=(5,)))
    assert (len(found), found.rows.tolist(), str(found)) == (0, [], "none")


def test_suspects_depend_on_the_table_alone(of_rows, of_series):
    assert suspects_of(rows(), n_jobs=2).rows.tolist() == of_rows.rows.tolist()
    assert suspects_of(series(), n_jobs=2).rows.tolist() == of_series.rows.tolist()


def test_the_scoring_of_the_model_does_not_matter(of_rows):
    assert suspects_of(rows(), Settings(scoring="paper")).rows.tolist() == of_rows.rows.tolist()


def test_columns_that_a_sample_may_lack_and_changes_are_no_obstacle():
    columns = rows()
    rare = np.full(500, np.nan)
    rare[7] = 1.0
    found = suspects_of({**columns, "rare": rare}, Settings(continuous=("rare",)))
    assert set(WRONG) <= set(found.rows.tolist())
    changing = suspects_of(series(), Settings(lookback=0), delta=True)
    assert set(changing.rows.tolist()) <= set(range(595, 640))


def test_what_is_said_of_suspects(of_rows, of_series):
    assert repr(of_rows) == f"<Suspects: {len(of_rows.rows)} of 500 rows>"
    group = of_series[0]
    assert str(group).startswith(f"{len(group.rows)} rows, {group.rows[0]} to {group.rows[-1]} (20")
    assert str(of_series).startswith(f"{group}\nrow {group.explanation.row} (2024-03-01 01:")


def test_learning_without_rows_is_learning_from_the_others():
    columns = rows()
    keep = np.delete(np.arange(500), WRONG)
    others = train(as_table({name: of[keep] for name, of in columns.items()}), Settings())
    model = train(as_table(columns), Settings(), excluded=np.array(WRONG))
    assert model.rules == others.rules
    assert model.evidence == others.evidence
    assert model.threshold == others.threshold
    assert list(map(str, model.notices)) == [
        *map(str, others.notices),
        "5 of 500 rows were left out, because they may be anomalies.",
    ]


def test_what_changed_since_a_row_that_is_left_out_is_missing():
    table = as_table({"x": [float(i * i) for i in range(60)], "by": ["a", "b"] * 30})
    learned = train(
        table,
        Settings(by="by", ordered=True),
        delta=True,
        n_jobs=1,
        progress=be_silent,
        excluded=np.array([0, 10, 11, 59]),
    )
    change = next(each for each in learned.schema.variables if each.name == "Δx")
    # One less than 56 rows for each of two beginnings, and for each of two gaps.
    assert change.n_missing == 4


def test_a_table_that_is_learned_in_passes_is_refused():
    with pytest.raises(TableError) as caught:
        train(as_table(rows()), Settings(), n_sampled=400, excluded=np.array([1]))
    assert str(caught.value) == (
        "Rows can be left out of tables of at most 400 rows, got 500.\n"
        "Hint: drop them from the table before learning."
    )


class TestDetector:
    def test_finds_suspects_and_learns_without_them(self, of_rows):
        finding = InvariantRuleDetector(suspects="find").fit(rows())
        assert finding.suspects_.rows.tolist() == of_rows.rows.tolist()
        assert finding.model_.provenance.n_rows == 500
        without = InvariantRuleDetector(suspects="exclude").fit(rows())
        assert without.suspects_.rows.tolist() == of_rows.rows.tolist()
        assert without.model_.provenance.n_rows == 500 - len(of_rows.hidden)

    def test_has_none_that_nobody_asked_for(self):
        detector = InvariantRuleDetector().fit(rows())
        with pytest.raises(AttributeError, match="only there after fitting with suspects='find'"):
            _ = detector.suspects_
        with pytest.raises(ParameterError) as caught:
            InvariantRuleDetector(suspects="drop").fit(rows())
        assert str(caught.value) == "suspects must be None, 'find' or 'exclude', got 'drop'."


class TestLists:
    def test_a_list_of_suspects_names_them(self, of_rows, of_series):
        for found, columns in ((of_rows, rows()), (of_series, series())):
            table = as_table(columns)
            listed = as_table(suspects_as_columns(found, table))
            assert np.array_equal(listed_rows(listed, "s.csv", table, found.time), found.rows)

    @given(chosen=st.sets(st.integers(0, 29), min_size=1), zoned=st.booleans())
    def test_rows_are_named_by_number_by_time_or_by_both(self, chosen, zoned):
        zone = datetime.UTC if zoned else None
        begin = datetime.datetime(2024, 1, 1, tzinfo=zone)
        times = [begin + datetime.timedelta(minutes=i) for i in range(30)]
        table = as_table({"at": times, "x": list(range(30))})
        named = {"row": sorted(chosen), "at": [times[row] for row in sorted(chosen)]}
        for names in (["row"], ["at"], ["row", "at"]):
            listed = as_table({name: named[name] for name in names})
            assert listed_rows(listed, "s.csv", table, "at").tolist() == sorted(chosen)

    @pytest.mark.parametrize(
        ("listed", "said"),
        [
            ({"line": [1]}, "'s.csv' has no column 'row' or 'when', so it names no rows."),
            ({"row": [1.5]}, "'s.csv' must have whole numbers in 'row', got 1.5."),
            ({"row": ["one"]}, "'s.csv' must have whole numbers in 'row', got 'one'."),
            ({"row": [1, None]}, "'s.csv' must have whole numbers in 'row', got nothing."),
            (
                {"row": [900]},
                "'s.csv' names row 900, which a table of 900 rows does not have.\n"
                "Hint: rows are counted from 0; the list must be of the same files.",
            ),
            (
                {"when": [datetime.datetime(2023, 1, 1)]},
                "'s.csv' names 2023-01-01 00:00:00, which is no time of the table.\n"
                "Hint: the list must be of the same files.",
            ),
            (
                {"row": [1], "when": [datetime.datetime(2024, 3, 1)]},
                "'s.csv' says that row 1 was at 2024-03-01 00:00:00, but in the table it was at "
                "2024-03-01 00:00:10.\nHint: the list must be of the same files.",
            ),
        ],
    )
    def test_a_list_that_does_not_fit_is_refused(self, listed, said):
        with pytest.raises(TableError) as caught:
            listed_rows(as_table(listed), "s.csv", as_table(series()), "when")
        assert str(caught.value) == said

    def test_a_table_without_times_has_only_numbers(self):
        with pytest.raises(TableError, match=r"'s\.csv' has no column 'row', so it names no"):
            listed_rows(as_table({"line": [1]}), "s.csv", as_table(rows()), None)


SHOWN = """\
The model is in m.truism.json.

28 of 900 rows are suspects, and were learned as normal:
28 rows, 600 to 627 (2024-03-01 01:40:00 to 2024-03-01 01:44:30), 17.5 times the
threshold
  expected flow < 0.158, found 1.6 because pump = off
All of them are in s.csv.
"""


class TestCommands:
    @pytest.fixture(autouse=True)
    def place(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        write_table(series(), "series.csv")
        write_table(rows(), "rows.csv")
        return tmp_path

    def test_suspects_are_listed_looked_through_and_left_out(self, place, of_series):
        out, err, code = run("learn", "series.csv", "-o", "m.truism.json", "--suspects", "s.csv")
        assert (err, code) == ("", 0)
        n_rows = len(of_series.rows)
        assert out[out.index("The model is in") :] == SHOWN
        lines = (place / "s.csv").read_text().splitlines()
        assert lines[0] == (
            '"row","when","group","score","hidden","variable","expected","found","because",'
            '"evidence"'
        )
        assert len(lines) == n_rows + 1
        (place / "s.csv").write_text("\n".join(lines[:11]) + "\n")
        out, err, code = run("learn", "series.csv", "-o", "n.truism.json", "--exclude", "s.csv")
        assert (err, code) == ("", 0)
        assert "note         10 of 900 rows were left out, because they may be anomalies.\n" in out
        assert load("n.truism.json").model_.provenance.n_rows == 890

    def test_one_command_leaves_suspects_out(self, of_rows, of_series):
        out, err, code = run("learn", "series.csv", "-o", "m.truism.json", "--exclude-suspects")
        assert (err, code) == ("", 0)
        assert f"{len(of_series.rows)} of 900 rows are suspects, and were left out:\n" in out
        assert load("m.truism.json").model_.provenance.n_rows == 900 - len(of_series.rows)
        out, err, code = run("learn", "rows.csv", "-o", "m.truism.json", "--exclude-suspects")
        assert (err, code) == ("", 0)
        said = (
            f"{len(of_rows.rows)} of 500 rows are suspects, of which none was left out, because the "
            "others stay unusual when they are learned:"
        )
        assert said in " ".join(out.split())
        assert load("m.truism.json").model_.provenance.n_rows == 500

    def test_a_table_without_suspects_has_an_empty_list(self, place):
        write_table(series(wrong=()), "clean.csv")
        out, _, _ = run("learn", "clean.csv", "-o", "m.truism.json", "--suspects", "s.csv")
        assert out.endswith(
            "\nNo suspects: none of 900 rows scores far above the threshold of the others.\n"
        )
        out, err, code = run("learn", "clean.csv", "-o", "n.truism.json", "--exclude", "s.csv")
        assert (err, code) == ("", 0)
        models = [(place / f"{name}.truism.json").read_text() for name in "mn"]
        assert models[0].split('"rules"')[1] == models[1].split('"rules"')[1]

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            (
                ["--exclude", "s.csv", "--exclude-suspects"],
                "--exclude and --exclude-suspects must not both be given.\n"
                "Hint: a list that you have reviewed replaces new suspects.\n",
            ),
            (
                ["--exclude", "s.csv", "--suspects", "t.csv"],
                "--exclude and --suspects must not both be given.\n"
                "Hint: a list that you have reviewed replaces new suspects.\n",
            ),
            (
                ["--suspects", "t.txt"],
                "'t.txt' must end in .csv, .csv.gz, .parquet, .feather or .arrow.\n"
                "Hint: the ending decides the file format.\n",
            ),
            (
                ["--suspects", "rows.csv"],
                "'rows.csv' is both input and output.\n"
                "Hint: write to another file; inputs are never overwritten.\n",
            ),
            (["--exclude", "no.csv"], "'no.csv' cannot be read: No such file or directory.\n"),
            (
                ["--exclude", "series.csv"],
                "'series.csv' has no column 'row', so it names no rows.\n",
            ),
        ],
    )
    def test_what_cannot_be_done_is_said_in_a_sentence(self, place, options, said):
        before = sorted(place.iterdir())
        assert run("learn", "rows.csv", "-o", "m.truism.json", *options) == (
            *("", f"Error: {said}", 2),
        )
        assert sorted(place.iterdir()) == before


def test_many_groups_are_not_all_shown(of_rows):
    many = Suspects(of_rows.rows, 500, [of_rows[0]] * 5, None)
    shown = [str(each) for each in show_suspects(many, "s.csv", excluded=True).renderables]
    assert shown[1] == "5 of 500 rows are suspects, and were left out:"
    assert shown[-2:] == ["and 2 other groups of rows", "All of them are in s.csv."]
    for n_hidden, said in ((1, "1 was"), (3, "3 were")):
        some = Suspects(of_rows.rows, 500, [of_rows[0]], None, of_rows.rows[:n_hidden])
        shown = [str(each) for each in show_suspects(some, None, excluded=True).renderables]
        assert shown[1] == (
            f"5 of 500 rows are suspects, of which {said} left out, because the others stay "
            "unusual when they are learned:"
        )
        listed = suspects_as_columns(some, as_table(rows()))
        assert listed["hidden"].count("yes") == n_hidden
