"""The sentence above a report; `test_summarising` has those of whole tables."""

from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st

from truism.explain.findings import gravest
from truism.model.wording import Legend
from truism.show.summarising import say_verdict


class Events(list):
    """Incidents, and their outlines."""

    @property
    def outlines(self):
        return self


def happening(kind, severity, *, is_open=False, story=0, start=2):
    blame = SimpleNamespace(variable="LIT301")
    return SimpleNamespace(
        kind=kind,
        severity=severity,
        start=start,
        first=start,
        end=5,
        series="",
        story=story,
        blames=(blame,),
        is_open=is_open,
    )


def found(incidents, shifts):
    both = {"incidents": Events(incidents), "shifts": Events(shifts)}
    return SimpleNamespace(**both, ordered=True, expected=None)


def test_the_worst_may_be_a_lasting_change():
    def verdict(incidents, shifts):
        axis = SimpleNamespace(unit="row", n_rows=9, lasted=lambda *_: "9 rows")
        legend = Legend(titles={"LIT301": "tank level"})
        axis.when = lambda start, end: f"rows {start} to {end}"
        return say_verdict(axis, found(incidents, shifts), legend)

    shift, incident = happening("shift", 9.0, is_open=True), happening("incident", 2.0)
    assert verdict([incident] * 2, [shift]) == (
        "2 incidents and 1 lasting change in 9 rows, 1 change still standing; "
        "the worst began with tank level in rows 2 to 5."
    )
    assert verdict([], [shift]) == (
        "1 lasting change in 9 rows, 1 change still standing: tank level in rows 2 to 5."
    )
    over = happening("shift", 9.0)
    assert verdict([], [over]) == ("1 lasting change in 9 rows: tank level in rows 2 to 5.")
    assert verdict([], []) == "No incident in 9 rows."


happenings = st.lists(st.tuples(st.floats(0, 9), st.integers(0, 3), st.integers(0, 9)), max_size=6)


@given(incidents=happenings, shifts=happenings, n=st.integers(0, 14))
def test_the_gravest_story_comes_first_and_in_it_what_began_first(incidents, shifts, n):
    def made(kind, some):
        return [happening(kind, severity, story=a, start=b) for severity, a, b in some]

    both = found(made("incident", incidents), made("shift", shifts))
    chosen = [(each.severity, each.story, each.start) for each in gravest(both, 0)]
    assert sorted(chosen) == sorted([*incidents, *shifts]) or not shifts
    assert [each.start for each in gravest(both, n)] == [each[2] for each in chosen][: n or None]
    if shifts:
        told = list(dict.fromkeys(story for _, story, _ in chosen))
        stories = [[each for each in chosen if each[1] == story] for story in told]
        assert chosen == [each for story in stories for each in story]
        worst = [max(severity for severity, *_ in story) for story in stories]
        assert worst == sorted(worst, reverse=True)
        for story in stories:
            assert [start for *_, start in story] == sorted(start for *_, start in story)
