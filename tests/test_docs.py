"""The documentation says what the program does; ``python docs/generate.py`` makes it so."""

import re
import runpy
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from test_layers import ROOMS
from truism.model.files import ModelFile
from truism.model.predicates import AnyOf, Interval, OneOf, Present, Range

ROOT = Path(__file__).parents[1]
generate = runpy.run_path(str(ROOT / "docs" / "generate.py"), run_name="generate")


def read(name):
    return (ROOT / name).read_text("utf-8")


def test_the_page_of_commands_is_fresh():
    assert read("docs/cli.md") == generate["cli_page"]()


def test_the_schemas_are_fresh():
    for name, content in generate["schemas"]().items():
        assert read(name) == content


@pytest.mark.parametrize("name", generate["TRANSCRIPTS"])
def test_commands_run_and_transcripts_are_fresh(name):
    page = read(name)
    assert "$ truism " in page
    assert generate["transcript"](page) == page


@pytest.mark.parametrize("name", ["README.md", "docs/tutorial.md"])
def test_a_new_user_is_told_to_look_first(name):
    page = read(name)
    assert page.index("$ truism look") < page.index("$ truism learn")
    assert "`truism look` is the first command to run on a" in page


def test_the_detectors_of_the_first_page_are_as_measured():
    page = read("README.md")
    assert "| truism (default) |" in page
    assert generate["with_detectors"](page) == page


def test_the_python_example_runs(tmp_path, monkeypatch, capsys):
    (example,) = re.findall(r"(?ms)^```python\n(.*?)^```$", read("README.md"))
    assert len([line for line in example.splitlines() if line]) <= 15
    monkeypatch.chdir(tmp_path)
    exec(compile(example, "README.md", "exec"), {})
    assert "training rows" in capsys.readouterr().out
    assert (tmp_path / "plant.truism.json").exists()


def test_the_first_page_lists_the_extras():
    extras = tomllib.loads(read("pyproject.toml"))["project"]["optional-dependencies"]
    assert [name for name in extras if f"`{name}`" not in read("README.md")] == []


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
@pytest.mark.parametrize(("target", "extra"), [("demo", ""), ("test", "[dev]")])
def test_a_command_installs_only_what_it_needs(target, extra, tmp_path):
    command = ["make", "--dry-run", target, f"VENV={tmp_path / 'new'}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert {*re.findall(r"install --quiet -e '?\.([^\s']*)", done.stdout)} == {"", extra}


def test_the_order_of_rooms_is_that_of_the_layers():
    page = read("CONTRIBUTING.md")
    places = [page.index(f"`{room}`") for room in ROOMS[1:-1]]
    assert places == sorted(places)


def test_every_key_of_the_model_file_is_described():
    page = read("docs/model-file.md")
    for key in ModelFile.__struct_fields__:
        assert f"| `{key}` |" in page
    for predicate in (AnyOf, Interval, OneOf, Present, Range):
        assert f"| `{predicate.__struct_config__.tag}` |" in page


def test_modules_and_tests_that_pages_name_exist():
    rooms = "|".join(ROOMS[1:-1])
    for page in (ROOT / "docs").glob("*.md"):
        for path in re.findall(rf"`((?:{rooms})/[a-z_/]+\.py)`", page.read_text("utf-8")):
            assert (ROOT / "src" / "truism" / path).exists(), (page.name, path)
        for path in re.findall(r"`(test_[a-z_]+\.py)`", page.read_text("utf-8")):
            assert (ROOT / "tests" / path).exists(), (page.name, path)


@pytest.mark.parametrize("name", ["README.md", *(f"docs/{p.name}" for p in ROOT.glob("docs/*.md"))])
def test_links_lead_somewhere(name):
    for target in re.findall(r"\]\(([^)#:]+)\)", read(name)):
        assert ((ROOT / name).parent / target).exists(), target
