"""The source distribution contains what its own tests import, read and follow."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
INCLUDED = [
    each.strip("/") for each in PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
]
ALWAYS = {"pyproject.toml", "README.md", "LICENSE"}  # the build backend adds these by itself
TESTS = sorted(Path(__file__).parent.glob("*.py"))
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))]
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")


def contains(path):
    """Whether a path below the root is part of the distribution."""
    return path in ALWAYS or any(path == each or path.startswith(f"{each}/") for each in INCLUDED)


def imported(tree):
    """Yield the top-level name of every module that is imported, in functions too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.split(".")[0]


def named(tree):
    """Yield every text that is the path of something below the root."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
            plain = len(text) < 200 and re.fullmatch(r"\w[\w./-]*", text)
            if plain and (ROOT / text).exists():
                yield text.rstrip("/")


@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.stem)
def test_what_a_test_imports_or_reads_is_included(path):
    tree = ast.parse(path.read_text("utf-8"))
    for name in imported(tree):
        for place in (name, f"{name}.py"):
            if (ROOT / place).exists():
                assert contains(place), f"{path.name} imports {name}"
    for name in named(tree):
        assert contains(name), f"{path.name} names {name}"


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_what_a_page_links_to_is_included(page):
    for target in LINK.findall(page.read_text("utf-8")):
        place = (page.parent / target).resolve()
        if place.is_relative_to(ROOT) and place.exists():
            name = place.relative_to(ROOT).as_posix()
            assert contains(name), f"{page.name} links to {name}"


def test_what_is_included_is_there_and_named_once():
    assert len(set(INCLUDED)) == len(INCLUDED)
    for name in INCLUDED:
        assert (ROOT / name).exists(), name
    assert contains("src/truism/version.py")
    assert contains("tests/data/model-reading.truism.json")
    assert not contains("source")


def test_folders_on_the_path_of_the_tests_are_included():
    for place in PROJECT["tool"]["pytest"]["ini_options"]["testpaths"]:
        assert contains(place)
    for place in PROJECT["tool"]["pytest"]["ini_options"]["pythonpath"]:
        assert place == "." or contains(place)
