"""The sentence above a report; `test_summarising` has those of whole tables."""

from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st

from truism.explaining.findings import gravest
from truism.model.wording import Legend
from truism.report.verdicts import say_verdict


class Events(list):
    """Incidents, and their outlines."""

    @property
    def outlines(self):
        return self


def happening(kind, severity, *, is_open=False):
    blame = SimpleNamespace(variable="LIT301", legend=Legend(titles={"LIT301": "tank level"}))
    return SimpleNamespace(
        kind=kind, severity=severity, start=2, end=5, first=2, blames=(blame,), is_open=is_open
    )


def found(incidents, shifts):
    both = {"incidents": Events(incidents), "shifts": Events(shifts)}
    return SimpleNamespace(**both, ordered=True, expected=None)


def test_the_worst_may_be_a_lasting_change():
    def verdict(incidents, shifts):
        axis = SimpleNamespace(unit="row", n_rows=9, lasted=lambda *_: "9 rows")
        axis.when = lambda start, end: f"rows {start} to {end}"
        return say_verdict(axis, found(incidents, shifts))

    shift, incident = happening("shift", 9.0, is_open=True), happening("incident", 2.0)
    assert verdict([incident] * 2, [shift]) == (
        "3 incidents in 9 rows, 1 of them still standing; worst: tank level in rows 2 to 5."
    )
    assert verdict([], [shift]) == (
        "1 incident in 9 rows, still standing: tank level in rows 2 to 5."
    )
    over = happening("shift", 9.0)
    assert verdict([], [over]) == "1 incident in 9 rows: tank level in rows 2 to 5."
    assert verdict([], []) == "No incident in 9 rows."


severities = st.lists(st.floats(0, 9), max_size=6).map(lambda some: sorted(some, reverse=True))


@given(incidents=severities, shifts=severities, n=st.integers(0, 14))
def test_the_gravest_are_those_of_both_kinds_together(incidents, shifts, n):
    both = found(
        [happening("incident", each) for each in incidents],
        [happening("shift", each) for each in shifts],
    )
    chosen = [each.severity for each in gravest(both, n)]
    assert chosen == sorted([*incidents, *shifts], reverse=True)[: n or None]
