"""What is public is sorted, documented, and light to import."""

import inspect
import json
import subprocess
import sys

import numpy as np
import pytest

import truism
from truism import plot, show
from truism.errors import TruismError
from truism.pyod import InvariantRules


def test_public_names_are_sorted_and_exist():
    assert list(truism.__all__) == sorted(truism.__all__)
    assert dir(truism) == truism.__all__
    for name in truism.__all__:
        assert getattr(truism, name) is not None


DETECTOR = truism.InvariantRuleDetector
PUBLIC = vars(DETECTOR)


def test_public_names_are_those_of_the_design():
    assert set(truism.__all__) == {
        *("InvariantRuleDetector", "arrow_scorer", "compare", "load", "status", "__version__"),
        *("TruismError", "SchemaError", "ParameterError", "TableError", "ModelFileError"),
    }


@pytest.mark.parametrize("name", [name for name in truism.__all__ if name != "__version__"])
def test_public_names_are_documented(name):
    thing = getattr(truism, name)
    assert inspect.getdoc(thing)
    if inspect.isclass(thing) and name == "InvariantRuleDetector":
        for attribute, value in PUBLIC.items():
            if attribute.startswith("_") or not (
                inspect.isfunction(value) or isinstance(value, property)
            ):
                continue
            assert inspect.getdoc(value), attribute


def test_the_detectors_parameters_are_those_of_the_design():
    parameters = inspect.signature(truism.InvariantRuleDetector).parameters
    assert {name: each.default for name, each in parameters.items()} == {
        "min_support": "auto",
        "support_ratio": "auto",
        "max_predicates": "auto",
        "cutoffs": "tree",
        "scoring": "evidence",
        "threshold": None,
        "categorical": (),
        "continuous": (),
        "ignore": (),
        "time": None,
        "delta": False,
        "ordered": False,
        "by": None,
        "lookback": "auto",
        "max_false_incidents": None,
        "optional": (),
        "allow_missing": False,
        "strict": False,
        "units": None,
        "titles": None,
        "suspects": None,
        "random_state": 0,
        "n_jobs": None,
    }


def documented(thing, section="Parameters"):
    """The names that a section of a numpydoc docstring describes, in its order."""
    lines = inspect.getdoc(thing).splitlines()
    starts = [i for i, line in enumerate(lines) if line and set(line) == {"-"}]
    ends = [i - 1 for i in (*starts[1:], len(lines) + 1)]
    sections = {lines[i - 1]: lines[i + 1 : end] for i, end in zip(starts, ends, strict=False)}
    heads = [line for line in sections.get(section, []) if line and not line[0].isspace()]
    return [name.strip().lstrip("*") for head in heads for name in head.split(":")[0].split(",")]


def parameters_of(thing):
    return [name for name in inspect.signature(thing).parameters if name != "self"]


def public_functions(module):
    return [
        value
        for name, value in vars(module).items()
        if inspect.isfunction(value) and value.__module__ == module.__name__ and name[0] != "_"
    ]


METHODS = [
    value
    for name, value in PUBLIC.items()
    if inspect.isfunction(value) and not name.startswith("_")
]
REPORT = [show.summarise, show.to_html, show.write_report]


@pytest.mark.parametrize(
    "thing",
    [DETECTOR, InvariantRules, *public_functions(plot), *REPORT],
    ids=lambda thing: f"{thing.__module__}.{thing.__name__}",
)
def test_the_documented_parameters_are_those_of_the_signature(thing):
    assert documented(thing) == parameters_of(thing)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.__name__)
def test_a_method_documents_all_its_parameters_or_none(method):
    assert documented(method) in ([], parameters_of(method))


def test_the_documented_attributes_are_those_of_a_fitted_detector():
    fitted = DETECTOR(min_support=0.1, suspects="find").fit(
        {"u": ["a", "b"] * 20, "v": ["c", "d"] * 20}
    )
    named = documented(DETECTOR, "Attributes")
    assert named
    for name in named:
        assert hasattr(fitted, name), name
    public = {name for name in vars(fitted) if name.endswith("_") and not name.startswith("_")}
    public |= {
        name for name, value in PUBLIC.items() if isinstance(value, property) and name.endswith("_")
    }
    assert public == set(named)


@pytest.fixture(scope="module")
def answers():
    """Every object that the package hands out, of a table with a hostile name."""
    name, random = "<b>&", np.random.default_rng(0)
    on = random.random(400) < 0.5
    table = {
        "u": np.where(on, "on", "off"),
        name: np.where(on, 2.5, 0.0) + random.normal(0, 0.01, 400),
    }
    fitted = DETECTOR(ordered=True, suspects="find").fit(table)
    broken = {"u": ["on"] * 60 + ["off"] * 20, name: [2.5] * 50 + [0.0] * 10 + [9.0] + [0.0] * 19}
    findings, explained = fitted.check(broken), fitted.explain(broken)
    offer = fitted.accept(broken, [55], "a <test>", dry_run=True)
    assert len(findings.incidents)
    return [
        *(fitted, fitted.model_, fitted.rules_, fitted.rules_[0], fitted.suspects_),
        *(findings, findings.incidents, findings.incidents[0], findings.shifts, findings.state),
        *(explained, explained[0], explained[0].blames[0]),
        *(fitted.patterns(broken), fitted.patterns(broken)[0], fitted.report(broken)),
        *(offer, offer.acceptance, truism.status(fitted, broken), truism.arrow_scorer(fitted)),
        *(truism.compare(fitted, fitted), truism.compare(fitted, fitted, broken)),
    ]


def test_every_object_says_what_it_is(answers):
    for each in answers:
        said, shown = repr(each), getattr(each, "_repr_html_", each.__str__)()
        assert type(each).__name__ in said
        assert "\n" not in said
        assert len(said) < 250
        assert shown
        assert "<b>&" not in shown or not hasattr(each, "_repr_html_")


def test_an_unknown_name_is_refused():
    with pytest.raises(AttributeError, match=r"^module 'truism' has no attribute 'nothing'$"):
        truism.nothing  # noqa: B018


def test_errors_are_one_tree():
    for name in ("SchemaError", "ParameterError", "TableError", "ModelFileError"):
        assert issubclass(getattr(truism, name), TruismError)
    problem = TruismError("A thing is wrong.", "do it right.")
    assert (str(problem), problem.message, problem.hint) == (
        "A thing is wrong.\nHint: do it right.",
        "A thing is wrong.",
        "do it right.",
    )


def loaded_by(code):
    heavy = ["numba", "sklearn", "pandas", "polars", "jinja2", "scipy", "llvmlite"]
    code = f"{code}\nimport json, sys; print(json.dumps([n for n in {heavy} if n in sys.modules]))"
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True
    )
    return json.loads(ran.stdout)


def test_importing_truism_imports_nothing_heavy():
    assert loaded_by("import truism; truism.__version__; truism.TruismError") == []


@pytest.mark.parametrize("scoring", ["evidence", "paper"])
def test_scoring_from_a_file_needs_nothing_heavy_but_the_compiler(tmp_path, scoring):
    path = tmp_path / "model.json"
    data = {"u": ["a", "b"] * 20, "v": ["c", "d"] * 20}
    truism.InvariantRuleDetector(min_support=0.1, scoring=scoring).fit(data).save(path)
    code = f"""
from truism.explain.explanations import explain_rows
from truism.model.files import load_model
from truism.score.scorer import Scorer
from truism.table.frames import as_table
scorer = Scorer(load_model({str(path)!r}))
row = as_table({{"u": "a", "v": "d"}})
assert scorer.score(row)[0] > scorer.model.threshold
assert explain_rows(scorer, row, [0])
"""
    # PyArrow imports pandas by itself where it is installed, and numba SciPy.
    assert set(loaded_by(code)) <= {"numba", "llvmlite", "scipy", "pandas"}
