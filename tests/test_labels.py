"""Columns of labels: what is not normal is anomalous, and nothing of it is learned."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from test_cli import run
from truism.errors import ParameterError
from truism.table.frames import as_table
from truism.table.labels import Labels, both_kinds, compare, label_notices, read_labels


@pytest.mark.parametrize(
    ("column", "anomalous", "unknown"),
    [
        ([0, 2, None, 1], [0, 1, 0, 1], [0, 0, 1, 0]),
        ([False, True, None, True], [0, 1, 0, 1], [0, 0, 1, 0]),
        ([0.0, -1.0, np.nan, -999], [0, 1, 0, 0], [0, 0, 1, 1]),
        (["Normal", "Attack", "normal.", "smurf."], [0, 1, 0, 1], [0, 0, 0, 0]),
    ],
)
def test_everything_that_is_not_normal_or_unknown_marks_a_row(column, anomalous, unknown):
    labels = read_labels(as_table({"attack": column}), "attack")
    assert labels.anomalous.astype(int).tolist() == anomalous
    assert labels.unknown.astype(int).tolist() == unknown


def refused(columns, label="attack"):
    with pytest.raises(ParameterError) as raised:
        both_kinds(read_labels(as_table(columns), label))
    return str(raised.value)


def test_a_column_that_cannot_be_labels_is_refused():
    assert refused({"attack": [0, 1]}, "atack") == (
        "label must name a column of the table, got 'atack'.\nHint: did you mean 'attack'?"
    )
    assert refused({"attack": [0, 0.5]}) == (
        "label must name a column of whole numbers, booleans or texts, got 'attack'.\n"
        "Hint: it holds 0.5; 0 means normal, other numbers anomalous."
    )
    assert refused({"attack": [0, -999]}) == (
        "label must mark some rows and not all, got 'attack'.\nHint: none of its rows is anomalous."
    )


@pytest.mark.parametrize(
    ("name", "values", "is_like"),
    [
        ("ATT_FLAG", [0, 0, 0, 0], True),
        ("anomaly", [0, 0, 1, 0], True),
        ("changepoint", [0.0, 0.0, 1.0, 0.0], True),
        ("isAttack", [False, False, True, False], True),
        ("Normal/Attack", ["Normal", "Normal", "Normal", "Attack"], True),
        ("label", [0, 1, 1, 1], False),  # mostly set
        ("attack", [0.5, 1.5, 2.5, 3.5], False),
        ("attenuation", [0, 0, 1, 0], False),
        ("is_guest_login", [0, 0, 1, 0], False),
        ("class", [0, 0, 1, 0], True),
        ("classes", [0, 0, 1, 0], False),
    ],
)
def test_columns_that_look_like_labels_are_found(name, values, is_like):
    table = as_table({name: values, "flow": [1.0, 2.0, 3.0, 4.0]})
    assert [notice.columns for notice in label_notices(table, ())] == [(name,)] * is_like
    assert label_notices(table, (name,)) == ()


@examples(max_examples=100)
@given(
    st.lists(st.sampled_from([-1, 0, 1]), min_size=1, max_size=30),
    st.lists(st.integers(0, 29), unique=True),
    st.integers(0, 3),
)
def test_segments_are_counted_as_their_definition_says(marks, starts, gap):
    marks = np.array(marks)
    starts = sorted(start for start in starts if start < len(marks))
    labels = Labels("attack", marks > 0, marks < 0)
    segments, begins = [], []
    for row, mark in enumerate(marks):
        if mark > 0 and (row == 0 or marks[row - 1] <= 0):
            segments.append([])
        if mark > 0:
            segments[-1].append(row)
    free = []
    for start in starts:
        reach = [i for i, rows in enumerate(segments) if start <= rows[-1]]
        if reach and start >= segments[reach[0]][0] - gap:
            begins.append(reach[0])
        elif marks[start] >= 0:
            free.append(start)
    n_found, n_normal = len(set(begins)), int((marks == 0).sum())
    noun = "segment" if len(segments) == 1 else "segments"
    expected = f"attack: {n_found} of {len(segments)} labelled {noun} found, "
    expected += f"{len(segments) - n_found} missed"
    said = compare(labels, starts, gap=gap)
    assert said.startswith(expected)
    if n_normal:
        rows = "row" if n_normal == 1 else "rows"
        assert f"; {len(free)} false in {n_normal} normal {rows}" in said


def series(n_rows, seed, attacks=()):
    random = np.random.default_rng(seed)
    flow = random.normal(5, 0.1, n_rows)
    flags = np.zeros(n_rows, np.int64)
    for start in attacks:
        flow[start : start + 20] = 9
        flags[start : start + 20] = 1
    lines = (f"{f:.3f},{2 * f:.3f},{flag}" for f, flag in zip(flow, flags, strict=True))
    return "\n".join(["flow,pressure,ATT_FLAG", *lines]) + "\n"


def test_a_label_is_not_learned_and_tells_how_well_a_check_did(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "normal.csv").write_text(series(600, 0, attacks=(300,)))
    (tmp_path / "today.csv").write_text(series(600, 1, attacks=(200, 400)))
    loud = (
        "Warning: Column 'ATT_FLAG' looks like a label, not like a variable: learned, it would make "
        "anomalies look found. Name it as the label, or as a variable; see --label and --categorical."
    )
    out, err, code = run("look", "normal.csv")
    assert (code, " ".join(out.split()).count("looks like a label")) == (0, 1)
    out, err, code = run("learn", "normal.csv", "-o", "m.json", "--ordered")
    assert (code, loud in err) == (0, True)
    out, err, code = run("learn", "normal.csv", "-o", "m.json", "--ordered", "--strict")
    assert (code, err.splitlines()[-1]) == (2, "Hint: see --label and --categorical.")
    learning = ("learn", "normal.csv", "-o", "m.json", "--ordered", "--strict")
    out, err, code = run(*learning, "--label", "ATT_FLAG")
    assert (code, "looks like" in err) == (0, False)
    assert "left out     ATT_FLAG: says which rows are anomalous" in out
    assert "20 of 600 rows were left out" in out
    out, err, code = run("check", "today.csv", "-m", "m.json")
    assert (code, out.splitlines()[-1]) == (
        1,
        "ATT_FLAG: 2 of 2 labelled segments found, 0 missed; 0 false in 560 normal rows.",
    )
    assert "do not know" not in err
    out, err, code = run("check", "today.csv", "-m", "m.json", "--label", "flow")
    assert (code, err.splitlines()[0]) == (
        2,
        "Error: --label must not be a variable of the model, got 'flow'.",
    )
