"""The documentation site: every page is in it, its links lead somewhere, and it needs no network."""

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).parents[1]
SITE = ROOT / "docs" / "site"


class Page(HTMLParser):
    """The names that can be linked to, the links, and what a browser loads."""

    def __init__(self, path):
        super().__init__()
        self.names, self.links, self.loads = {""}, [], []
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.names.add(found.get("id"))
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        elif tag in ("img", "script", "iframe") and found.get("src"):
            self.loads.append(found["src"])
        elif tag == "link" and found.get("rel") in ("stylesheet", "preload", "icon"):
            self.loads.append(found["href"])


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
