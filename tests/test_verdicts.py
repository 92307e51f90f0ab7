"""The sentence above a report; `test_summarising` has those of whole tables."""

from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st

from truism.explaining.findings import n_worst
from truism.model.legend import Legend
from truism.report.verdicts import say_verdict


def test_the_worst_may_be_a_lasting_change_that_is_not_number_1():
    def happening(kind, severity):
        blame = SimpleNamespace(variable="LIT301", legend=Legend(titles={"LIT301": "tank level"}))
        return SimpleNamespace(kind=kind, severity=severity, start=2, end=5, blames=(blame,))

    def verdict(incidents, shifts):
        axis = SimpleNamespace(unit="row", n_rows=9, lasted=lambda *_: "9 rows")
        axis.when = lambda start, end: f"rows {start} to {end}"
        found = SimpleNamespace(incidents=incidents, shifts=shifts, ordered=True, expected=None)
        return say_verdict(axis, found)

    shift, incident = happening("shift", 9.0), happening("incident", 2.0)
    assert verdict([incident] * 2, [shift]) == (
        "3 incidents in 9 rows, 1 of them a lasting change; worst: tank level in rows 2 to 5 "
        "(number 3)."
    )
    assert verdict([], [shift]) == (
        "1 incident in 9 rows, a lasting change: tank level in rows 2 to 5."
    )
    assert verdict([incident] * 90, [shift]).endswith("rows 2 to 5 (number 61).")
    assert verdict([], [shift] * 2).endswith("worst: tank level in rows 2 to 5.")
    assert verdict([happening("incident", 10.0)], [shift]).endswith("rows 2 to 5.")


severities = st.lists(st.floats(0, 9), max_size=6).map(lambda some: sorted(some, reverse=True))


@given(incidents=severities, shifts=severities, n=st.integers(1, 14))
def test_the_worst_are_those_of_both_kinds_together(incidents, shifts, n):
    def outlined(some):
        outlines = [SimpleNamespace(severity=each) for each in some]
        return SimpleNamespace(outlines=outlines)

    found = n_worst(SimpleNamespace(incidents=outlined(incidents), shifts=outlined(shifts)), n)
    assert sum(found) == min(n, len(incidents) + len(shifts))
    chosen = sorted([*incidents[: found[0]], *shifts[: found[1]]], reverse=True)
    assert chosen == sorted([*incidents, *shifts], reverse=True)[:n]
