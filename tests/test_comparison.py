"""``truism.compare``: rules by id and by shape, incidents by overlap, and which model is better."""

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

import truism
from learned import learn
from strategies import HOSTILE_NAMES, NORMAL, learned, tables
from truism.errors import SchemaError
from truism.model.predicates import Interval, OneOf, Range
from truism.model.rules import PredicateCount, Rule, RuleSet, rule_order
from truism.review.compare import Comparison, weigh_up
from truism.show.comparison import MAX_SHOWN, to_page, to_text
from truism.table.frames import as_table

replace = msgspec.structs.replace
DATA = {**NORMAL, "FIT201": [(2.5 if i % 2 == 0 else 0.0) + 0.01 * (i % 23) for i in range(100)]}
ON, OFF = OneOf("P101", ("on",)), OneOf("P101", ("off",))
AUTO = OneOf("mode", ("auto",))
DAY = np.datetime64("2024-03-01")


@pytest.fixture(scope="module")
def model():
    return learn(as_table(DATA), min_support=0.1)


def flow(low):
    return Interval("FIT201", low=low)


def with_rules(model, *rules):
    """The model with these rules instead of its own."""
    predicates = {each for rule in rules for each in (*rule.antecedent, *rule.consequents)}
    counts = tuple(PredicateCount(each, 50, 50, 50) for each in predicates)
    return replace(model, rules=RuleSet(tuple(sorted(rules, key=rule_order)), 100, counts))


def texts(rules):
    return [rule.text for rule in rules]


def facts(found):
    return {fact.name: (fact.old, fact.new) for fact in found.facts if fact.old != fact.new}


def test_the_date_is_no_difference_and_the_threshold_is(model):
    later = replace(model, provenance=replace(model.provenance, created="2024-05-01"))
    assert truism.compare(model, later).same
    found = truism.compare(model, model.with_threshold(3.5))
    assert not found.same
    assert found.summary == ("The rules are the same.",)
    origin = str(model.limit.origin)
    assert facts(found) == {
        "threshold": (model.threshold, 3.5),
        "threshold_origin": (origin, "set by hand"),
    }


def test_settings_training_rows_and_what_is_usual_are_facts(model):
    other = learn(as_table(DATA).take(slice(0, 80)), min_support=0.2, random_state=3)
    found = facts(truism.compare(model, other))
    assert found["settings_min_support"] == (0.1, 0.2)
    assert found["settings_random_state"] == (0, 3)
    assert found["n_rows"] == (100, 80)
    usual = replace(model, evidence=replace(model.evidence, rarity_unit=77.0))
    assert [*facts(truism.compare(model, usual))] == ["model_id"]


def test_variables_that_differ(model):
    data = {
        "P101": ["on", "idle"] * 50,
        "FIT201": ["a", "b"] * 50,
        "level": [float(i * 7 % 31) for i in range(100)],
    }
    found = truism.compare(model, learn(as_table(data), min_support=0.1))
    assert {each.name: (each.old, each.new) for each in found.variables} == {
        "P101": (("off",), ("idle",)),
        "FIT201": ("numeric", "states (text)"),
        "mode": ("states (text)", None),
        "level": (None, "numeric"),
    }
    assert found.summary[0] == "Variables: 1 added, 1 gone."


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Rule((ON,), (flow(2.0),), 50), Rule((ON,), (flow(2.4),), 40)),
        (Rule((flow(2.0), AUTO), (ON,), 50), Rule((flow(1.0), AUTO), (ON,), 50)),
        (Rule((), (Range("FIT201", 0.0, 3.0),), 100), Rule((), (Range("FIT201", 0.0, 2.0),), 100)),
    ],
)
def test_a_rule_with_other_numbers_stands_beside_the_one_that_it_replaces(model, one, other):
    found = truism.compare(with_rules(model, one), with_rules(model, other)).rules
    assert (found.n_same, found.only_old, found.only_new) == (0, (), ())
    (group,) = found.both
    assert [each.id for each in (*group.old, *group.new)] == [one.id, other.id]


@pytest.mark.parametrize(
    "other",
    [
        Rule((OFF,), (flow(2.0),), 50),
        Rule((ON,), (Interval("FIT201", high=2.0),), 50),
        Rule((ON,), (Interval("FIT201", 2.0, 3.0),), 50),
        Rule((ON, AUTO), (flow(2.0),), 50),
        Rule((flow(2.0),), (ON,), 50),
    ],
)
def test_rules_about_other_states_sides_or_variables_are_lost_and_new(model, other):
    one = Rule((ON,), (flow(2.0),), 50)
    found = truism.compare(with_rules(model, one), with_rules(model, other)).rules
    assert (found.n_same, texts(found.only_old), texts(found.only_new)) == (
        0,
        [str(one)],
        [str(other)],
    )
    assert found.both == ()


def test_the_same_rule_in_other_rows_is_unchanged(model):
    one, other = Rule((ON,), (flow(2.0),), 50), Rule((ON,), (flow(2.0),), 40)
    found = truism.compare(with_rules(model, one), with_rules(model, other)).rules
    assert (found.n_same, found.only_old, found.only_new, found.both) == (1, (), (), ())


def test_a_rule_that_is_switched_off_is_lost(model):
    rule = model.rules[0]
    edited = model.disable(rule.id, "new pump")
    found = truism.compare(model, edited)
    assert not found.same
    assert [each.id for each in found.rules.only_old] == [rule.id]
    assert found.rules.only_new == ()
    assert facts(found)["rules_switched_off"] == ([], [rule.id])
    assert truism.compare(edited, edited).same


@given(learned())
@settings(max_examples=30)
def test_any_model_against_itself_is_the_same(drawn):
    found = truism.compare(drawn[1], drawn[1])
    assert found.same
    assert found.rules.n_same == len(drawn[1].rules)
    assert (found.variables, facts(found)) == ((), {})


@given(tables(), tables(), st.randoms(use_true_random=False))
@settings(max_examples=30, deadline=None)
def test_swapping_swaps_and_the_order_of_rules_does_not_matter(one, other, random):
    old, new = (learn(as_table(each), min_support=0.2, scoring="paper") for each in (one, other))
    found, back = truism.compare(old, new).rules, truism.compare(new, old).rules
    assert (found.only_new, found.only_old) == (back.only_old, back.only_new)
    assert [(group.old, group.new) for group in found.both] == [
        (group.new, group.old) for group in back.both
    ]
    counted = found.n_same + sum(len(group.old) for group in found.both) + len(found.only_old)
    assert counted == found.n_old == len(old.rules)
    mixed = replace(
        old, rules=replace(old.rules, rules=tuple(random.sample([*old.rules], len(old.rules))))
    )
    assert truism.compare(mixed, new).rules == found


def test_it_is_written_as_json_and_read_back(model):
    found = truism.compare(
        model, with_rules(model.with_threshold(9.0), Rule((ON,), (flow(2.0),), 50))
    )
    assert msgspec.json.decode(msgspec.json.encode(found), type=Comparison) == found


def plant(n_rows=400, wrong=(), **more):
    """A pump and a flow that follows it, two hours between rows."""
    on = np.arange(n_rows) % 10 < 5
    flow = np.where(on, 2.5, 0.0) + 0.01 * (np.arange(n_rows) * 7 % 13)
    flow[list(wrong)] = 2.5 - flow[list(wrong)]
    times = (DAY + np.arange(n_rows) * np.timedelta64(2, "h")).astype("datetime64[us]").tolist()
    pump = np.where(on, "on", "off").tolist()
    return {"time": times, "pump": pump, "flow": flow.tolist(), **more}


@pytest.fixture(scope="module")
def fitted():
    return learn(as_table(plant()), min_support=0.1)


@pytest.fixture(scope="module")
def deaf(fitted):
    return fitted.with_threshold(1e6)


def test_a_model_against_itself_reports_the_same(fitted):
    found = truism.compare(fitted, fitted, plant(wrong=(101, 102, 250)))
    on = found.table
    assert (on.only_old, on.only_new) == ((), ())
    assert [group.old for group in on.both] == [group.new for group in on.both]
    assert (on.n_old, on.n_new, on.n_both, on.n_incidents) == (3, 3, 3, (2, 2))
    quiet = truism.compare(fitted, fitted, plant(n_rows=30))
    assert quiet.summary == ("The models are the same.", "Neither model reports any of 30 rows.")


def test_incidents_of_one_model_alone_have_variables_to_blame(fitted, deaf):
    table = plant(wrong=(101, 102, 250))
    found = truism.compare(fitted, deaf, table).table
    spans = [(each.start, each.end, each.n_rows) for each in found.only_old]
    assert sorted(spans) == [(101, 102, 2), (250, 250, 1)]
    assert [{of.variable for of in each.blames} for each in found.only_old] == [
        {"flow", "pump"}
    ] * 2
    assert [each.score for each in found.only_old] == sorted(
        (each.score for each in found.only_old), reverse=True
    )
    assert (found.n_old, found.n_new, found.both, found.only_new) == (3, 0, (), ())
    assert truism.compare(deaf, fitted, table).table.only_new == found.only_old


def test_only_the_worst_incidents_are_explained(fitted, deaf):
    found = truism.compare(fitted, deaf, plant(wrong=range(3, 400, 12))).table
    assert [each.blames is None for each in found.only_old] == [False] * 20 + [True] * 14


def test_incidents_of_different_machines_are_not_the_same_though_their_rows_overlap():
    names = ["a", "b"]

    def machines(wrong):
        parts = [plant(wrong=rows) for rows in wrong]
        return {
            "machine": names * 400,
            **{name: [part[name][i] for i in range(400) for part in parts] for name in parts[0]},
        }

    made = learn(as_table(machines([(), ()])), min_support=0.1, by="machine")
    table = machines([(101, 102, 103), (101, 102, 103)])
    found = truism.compare(made, made, table).table
    assert [(group.old[0].series, len(group.old)) for group in found.both] == [("a", 1), ("b", 1)]


WRONG = [*range(50, 54), *range(120, 124), *range(200, 204), *range(260, 264), *range(330, 334)]
MARKS = np.isin(np.arange(400), WRONG).astype(int).tolist()


def test_labels_say_which_is_better(fitted, deaf):
    table = plant(wrong=WRONG, attack=MARKS)
    found = truism.compare(deaf, fitted, table, "attack")
    told = found.table.advantage
    auc, segments, alarms = told.measures
    assert (told.label, told.n_labelled, told.n_segments) == ("attack", 20, 5)
    assert (segments.old, segments.new, segments.verdict) == (0.0, 1.0, "better")
    assert (auc.difference, auc.verdict, alarms.verdict) == (0.0, "same", "same")
    assert found.summary[0] == (
        "By 5 labelled segments: segments found 1.000 instead of 0.000, better; AUC 1.000 instead of "
        "1.000, the same; false alarms 0.000 instead of 0.000, the same."
    )
    assert found.table.extra == ()
    assert truism.compare(fitted, fitted, plant(attack=MARKS)).table.extra == ("attack",)
    few = truism.compare(deaf, fitted, {**table, "attack": [*MARKS[:130], *[0] * 270]}, "attack")
    assert few.summary[0] == (
        "By 2 labelled segments, too few to tell (5 are needed, and as many normal rows): AUC 0.984 "
        "instead of 0.984; segments found 1.000 instead of 0.000; false alarms 0.031 instead of 0.000."
    )


@pytest.mark.parametrize("n_normal", [1, 4])
def test_few_normal_rows_are_too_few(fitted, deaf, n_normal):
    marks = [1, 0] * n_normal + [1] * (400 - 2 * n_normal)
    found = truism.compare(deaf, fitted, plant(attack=marks), "attack").table.advantage
    assert {each.verdict for each in found.measures} == {"too few"}


def test_a_table_that_lacks_a_column_of_one_model_says_of_which(fitted):
    other = learn(as_table(plant(level=[float(i * 7 % 31) for i in range(400)])), min_support=0.1)
    for old, new, which in ((fitted, other, "new"), (other, fitted, "old")):
        with pytest.raises(SchemaError) as raised:
            truism.compare(old, new, plant())
        assert str(raised.value) == (
            f"The {which} model cannot be used on the table. Column 'level' is missing from the "
            f"table to score.\nHint: the model was learned with 3 variables."
        )


def weigh(truth, old, new, threshold=0.5):
    scores = tuple(np.asarray(each, float) for each in (old, new))
    reported = tuple(each > threshold for each in scores)
    return weigh_up("label", np.asarray(truth, bool), scores, reported)


drawn = st.lists(
    st.tuples(st.booleans(), st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=60
).filter(lambda rows: 0 < sum(row[0] for row in rows) < len(rows))


@given(drawn)
@settings(max_examples=30, deadline=None)
def test_the_measures_are_what_their_names_say_and_swapping_turns_them_round(rows):
    truth, old, new = (np.array(column) for column in zip(*rows, strict=True))
    found, back = weigh(truth, old / 5, new / 5), weigh(truth, new / 5, old / 5)
    auc, segments, alarms = found.measures
    marked = np.flatnonzero(truth)
    parts = np.split(marked, np.flatnonzero(np.diff(marked) > 1) + 1)
    for side, scores in (("old", old / 5), ("new", new / 5)):
        hits = [(scores[part] > 0.5).any() for part in parts]
        assert getattr(auc, side) == pytest.approx(roc_auc_score(truth, scores))
        assert getattr(segments, side) == pytest.approx(np.mean(hits))
        assert getattr(alarms, side) == pytest.approx((scores[~truth] > 0.5).mean())
    opposite = {"better": "worse", "worse": "better"}
    for one, other in zip(found.measures, back.measures, strict=True):
        assert one.difference == pytest.approx(-other.difference)
        assert opposite.get(one.verdict, one.verdict) == other.verdict
    enough = min(len(parts), (~truth).sum()) >= 5
    alike = weigh(truth, old, old)
    assert {each.verdict for each in alike.measures} == {"same" if enough else "too few"}


def series(random, n_rows=4000, n_segments=12, length=40, memory=0.95):
    """Labels in segments, and noise that resembles its neighbours, as scores of a plant do."""
    truth = np.zeros(n_rows, bool)
    for start in np.linspace(100, n_rows - 100, n_segments).astype(int):
        truth[start : start + length] = True

    def noise():
        steps = random.normal(size=n_rows)
        for i in range(1, n_rows):
            steps[i] = memory * steps[i - 1] + np.sqrt(1 - memory**2) * steps[i]
        return steps

    return truth, noise


def test_a_clear_advantage_is_one():
    truth, noise = series(np.random.default_rng(1))
    weak, strong = noise() + 0.3 * truth, noise() + 3.0 * truth
    found = weigh(truth, weak, strong).measures[0]
    assert found.verdict == "better"
    assert 0 < found.low < found.difference < found.high < 1
    assert weigh(truth, weak, strong) == weigh(truth, weak, strong)


@pytest.mark.parametrize("n_segments", [5, 12])
def test_chance_is_seldom_taken_for_an_advantage(n_segments):
    # Two models that are equally good, with noise of their own in neighbouring rows.
    random = np.random.default_rng(0)
    verdicts = []
    for _ in range(40):
        truth, noise = series(random, 2000, n_segments)
        verdicts.append(weigh(truth, noise() + truth, noise() + truth).measures[0].verdict)
    # 2 are promised; 6 or more have a probability of 1 %. Percentiles of 5 segments give 13 % false ones.
    assert sum(verdict != "chance" for verdict in verdicts) < 6


def test_very_many_segments_are_drawn_in_groups():
    truth = np.arange(3000) % 2 == 0
    scores = np.random.default_rng(0).random(3000)
    found = weigh(truth, scores, scores + 0.2 * truth)
    assert (found.n_segments, found.measures[0].verdict) == (1500, "better")
    assert found.measures[1].new == pytest.approx(((scores + 0.2)[truth] > 0.5).mean())


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_hostile_names_cannot_break_out(model, name):
    data = {**DATA, name: [float(i * 7 % 31) for i in range(100)]}
    found = truism.compare(model, learn(as_table(data), min_support=0.1))
    page = to_page(found, name, name)
    assert "<script" not in page
    assert 'href="http' not in page
    assert "\x1b" not in to_text(found, 0)


def test_the_page_refers_to_nothing_and_says_what_it_leaves_out(model):
    found = truism.compare(with_rules(model, Rule((ON,), (AUTO,), 50)), with_rules(model))
    (lost,) = found.rules.only_old
    many = replace(found.rules, only_old=(lost,) * (MAX_SHOWN + 7))
    page = to_page(replace(found, rules=many), "a", "b")
    assert page.count(lost.text) == MAX_SHOWN
    assert "7 more are not shown" in page
    assert "default-src 'none'" in page.replace("&#39;", "'")
    assert "src=" not in page.replace("default-src", "").replace("style-src", "")


def test_a_notebook_shows_the_text(model):
    assert truism.compare(model, model)._repr_html_() == "<pre>The models are the same.\n</pre>"
