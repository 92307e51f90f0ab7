"""The documentation site: every page is in it, its links lead somewhere, and it needs no network."""

import doctest
import re
import subprocess
import sys
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from types import FunctionType
from urllib.parse import unquote, urlsplit

import pytest

import truism
from truism import mlflow, plant

ROOT = Path(__file__).parents[1]
SITE = ROOT / "docs" / "site"
REFERENCE = sorted(SITE.glob("api/*.rst"))
DETECTOR = truism.InvariantRuleDetector
METHODS = [
    name
    for name, value in vars(DETECTOR).items()
    if isinstance(value, FunctionType | property) and name[0] != "_" and "_request" not in name
    if name not in ("adopt", "remember")  # for the modules of truism that make detectors
]
PUBLIC = [
    *(f"truism.{name}" for name in truism.__all__),
    *(f"InvariantRuleDetector.{name}" for name in METHODS),
    *(f"truism.plant.{name}" for name in plant.__all__),
    *(f"truism.mlflow.{name}" for name in mlflow.__all__),
    *(f"truism.plot.{name}" for name in ("scores", "incident", "rule", "blame")),
    *(f"truism.{module}.{name}" for module in ("dask", "spark") for name in ("learn", "score")),
    "truism.pyod.InvariantRules",
]


class Page(HTMLParser):
    """The names that can be linked to, the links, and what a browser loads."""

    def __init__(self, path):
        super().__init__()
        self.names, self.links, self.loads = {""}, [], []
        self.text = ""
        self.feed(path.read_text("utf-8"))

    def handle_data(self, data):
        self.text += data

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.names.add(found.get("id"))
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        elif tag in ("img", "script", "iframe") and found.get("src"):
            self.loads.append(found["src"])
        elif tag == "link" and found.get("rel") in ("stylesheet", "preload", "icon"):
            self.loads.append(found["href"])


SEEN = {  # what the text of an example rests on
    "1_plant": "AIT504: Makes the permeate seem as salty as raw water.",
    "2_server": ": 1 days ",
    "3_network": "scan 60 of 60, theft 5 of 5",
    "4_parts": "reported although right: 0 of 495",
    "5_job": "4 opened, 4 different",
    "6_accept": "remedy: learn",
    "7_large": "1,200,000 rows, 4 variables",
    "8_sql": "200 rules with a condition",
    "9_pyod": "attacked: AIT504",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip("sphinx", reason="make site installs what the site is built with")
    folder = tmp_path_factory.mktemp("built") / "site"
    command = [sys.executable, SITE / "build.py", folder]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return {path.relative_to(folder).as_posix(): Page(path) for path in folder.rglob("*.html")}


@pytest.mark.slow
def test_every_page_is_in_the_site(site):
    pages = {path.stem for path in (ROOT / "docs").glob("*.md")} - {"README"}
    assert sorted(name for name in pages if f"{name}.html" not in site) == []
    examples = {f"gallery/{path.stem}.html" for path in SITE.glob("examples/plot_*.py")}
    assert sorted(examples - {*site}) == []


@pytest.mark.slow
def test_examples_see_what_they_say(site):
    for name, seen in SEEN.items():
        assert seen in site[f"gallery/plot_{name}.html"].text, name
    assert {f"plot_{name}.py" for name in SEEN} == {p.name for p in SITE.glob("examples/plot_*")}


@pytest.mark.slow
def test_links_of_the_site_lead_somewhere(site):
    lost = []
    for name, page in site.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or name == "search.html":
                continue
            to = Path(name).parent / unquote(parts.path) if parts.path else Path(name)
            to = re.sub(r"[^/]+/\.\./", "", to.as_posix())
            if to.endswith(".html") and (
                to not in site or unquote(parts.fragment) not in site[to].names
            ):
                lost.append((name, link))
    assert lost == []


@pytest.mark.slow
def test_the_site_loads_nothing_from_elsewhere(site):
    for name, page in site.items():
        assert [place for place in page.loads if urlsplit(place).netloc] == [], name


def test_the_python_example_for_old_dashboards_runs(capsys):
    (example,) = re.findall(
        r"(?ms)^```python\n(.*?)^```$", (ROOT / "docs/coming-from.md").read_text("utf-8")
    )
    exec(compile(example, "coming-from.md", "exec"), {})
    assert '"prediction": 1' in capsys.readouterr().out


@pytest.mark.parametrize("page", REFERENCE, ids=lambda page: page.stem)
def test_the_examples_of_the_reference_are_true(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    failed, tried = doctest.testfile(str(page), module_relative=False)
    assert (failed, tried > 0) == (0, True)


def test_every_public_name_is_in_the_reference_with_an_example():
    pages = "\n".join(page.read_text("utf-8") for page in REFERENCE)
    code = "\n".join(re.findall(r"(?m)^(?:>>> .*\n(?:.+\n)*|   [^:\s].*\n)", pages))
    for name in PUBLIC:
        last = name.rpartition(".")[2]
        assert re.search(rf"(?m)(:: .*\b{last}$|``.*\b{last}``)", pages), name
        assert last in code, name


def test_what_the_reference_describes_exists():
    for page in REFERENCE:
        text = page.read_text("utf-8")
        for name in re.findall(r"(?m)^\.\. auto(?:class|function|exception):: (truism\..+)$", text):
            module, _, last = name.rpartition(".")
            thing = getattr(import_module(module), last)
            options = re.search(rf"{re.escape(name)}\n   :members: (.+)", text)
            for member in options[1].split(", ") if options else ():
                assert hasattr(thing, member), f"{name}.{member}"
