"""The source distribution contains what its own tests import, read and follow."""

import ast
import re
import tomllib
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
INCLUDED = [
    each.strip("/") for each in PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
]
IGNORED = (ROOT / ".gitignore").read_text("utf-8").split()  # build backends include it, too
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


def source(path, root=ROOT):
    """Whether a path below the root is there, and not what a command made, such as ``demo``."""
    made = any(fnmatch(part + "/", pattern) for part in Path(path).parts for pattern in IGNORED)
    return (root / path).exists() and not made


def named(tree, root=ROOT):
    """Yield every text that is the path of something below the root."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
            if len(text) < 200 and re.fullmatch(r"\w[\w./-]*", text) and source(text, root):
                yield text.rstrip("/")


def test_what_a_test_imports_or_reads_is_included():
    for path in TESTS:
        tree = ast.parse(path.read_text("utf-8"))
        for name in imported(tree):
            for place in filter(source, (name, f"{name}.py")):
                assert contains(place), f"{path.name} imports {name}"
        for name in named(tree):
            assert contains(name), f"{path.name} names {name}"


def test_what_a_page_links_to_is_included():
    for page in PAGES:
        for target in LINK.findall(page.read_text("utf-8")):
            place = (page.parent / target).resolve()
            if place.is_relative_to(ROOT) and place.exists():
                name = place.relative_to(ROOT).as_posix()
                assert contains(name), f"{page.name} links to {name}"


def test_what_commands_leave_in_a_clone_is_no_source(tmp_path):
    for name in ("demo", "docs"):
        (tmp_path / name).mkdir()
    tree = ast.parse("run('demo'); run('demo/'); read('docs'); read('absent')")
    assert [*named(tree, tmp_path)] == ["docs"]


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
