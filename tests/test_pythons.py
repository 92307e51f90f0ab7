"""Which Pythons the tests run on, and with which dependencies."""

import os
import re
import stat
import subprocess
import sys

import pytest

import pythons


def test_every_version_that_we_say_we_support_is_tried():
    assert pythons.VERSIONS[0] == pythons.PROJECT["requires-python"].removeprefix(">=")
    assert sorted(pythons.VERSIONS) == pythons.VERSIONS
    assert len(pythons.VERSIONS) >= 3


def test_the_oldest_dependencies_are_all_those_that_users_install():
    constraints = dict(each.split("==") for each in pythons.oldest())
    for each in pythons.PROJECT["dependencies"]:
        name, _, version = each.partition(">=")
        assert constraints[name] == version
    assert set(constraints) >= {"pandas", "polars", "duckdb", "matplotlib"}
    assert not {"ruff", "mypy", "pytest"} & set(constraints)


def pretend(place, version):
    """Make a program that says that it is a Python."""
    place.parent.mkdir(parents=True)
    place.write_text(f"#!/bin/sh\necho {version}\n")
    place.chmod(place.stat().st_mode | stat.S_IXUSR)


def test_pythons_of_pyenv_are_found(tmp_path, monkeypatch):
    pretend(tmp_path / "versions" / "3.99.4" / "bin" / "python", "3.99")
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    assert pythons.find_python("3.99") == str(tmp_path / "versions/3.99.4/bin/python")
    assert pythons.find_python(pythons.HERE) == sys.executable
    assert pythons.find_python("3.98") is None


def test_a_shim_that_does_not_run_is_none(tmp_path, monkeypatch):
    shim = tmp_path / "bin" / "python3.99"
    pretend(shim, "3.99")
    shim.write_text("#!/bin/sh\necho not activated >&2; exit 127\n")
    monkeypatch.setenv("PATH", str(shim.parent))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    assert pythons.find_python("3.99") is None


@pytest.mark.parametrize("passes", [True, False])
def test_what_is_missing_is_said_and_what_fails_fails(monkeypatch, capsys, passes):
    asked = []

    def run(name, python, constraints, fast):
        asked.append((name, bool(constraints), fast))
        return "passed (1 s)" if passes or name != "3.98" else "failed (1 s)"

    monkeypatch.setattr(pythons, "VERSIONS", ["3.97", "3.98", "3.99"])
    monkeypatch.setattr(pythons, "OLDEST", "3.97, oldest dependencies")
    monkeypatch.setattr(pythons, "find_python", lambda each: None if each == "3.99" else "python")
    monkeypatch.setattr(pythons, "run", run)
    monkeypatch.setattr(pythons, "HERE", "3.97")
    monkeypatch.setattr(sys, "argv", ["pythons.py", "--fast", "--others"])
    assert pythons.main() == (0 if passes else 1)
    assert asked == [("3.98", False, True), ("3.97, oldest dependencies", True, True)]
    assert capsys.readouterr().out == (
        f"Python 3.98: {'passed' if passes else 'failed'} (1 s)\n"
        "Python 3.99: missing\n"
        "Python 3.97, oldest dependencies: passed (1 s)\n"
    )


@pytest.mark.parametrize(
    ("problem", "said"),
    [
        ("", r"passed \(0 s, after 0 s of setting up\)"),
        ("x\nno route", r"left out: its packages cannot be installed \(no route\)"),
        (
            "ERROR: ResolutionImpossible: for help visit\nno",
            r"failed: its packages contradict each other \(no\)",
        ),
    ],
)
def test_a_python_without_packages_is_left_out_unless_they_contradict_each_other(
    tmp_path, monkeypatch, problem, said
):
    commands = []

    def run(command, **options):
        commands.append(command)
        if "venv" in command:
            os.makedirs(command[-1])
        failed = bool(problem) and "pip" in command
        return subprocess.CompletedProcess(command, int(failed), "", problem)

    monkeypatch.setattr(pythons, "PLACE", tmp_path / "place")
    monkeypatch.setattr(pythons, "find_uv", lambda: None)
    monkeypatch.setattr(pythons.subprocess, "run", run)
    assert re.fullmatch(said, pythons.run("3.97", "python", [], fast=True))
    assert any("pytest" in command for command in commands) == (not problem)
    if not problem:
        assert {"src", "tests/test_cli.py", "near"} <= {*commands[-1]}


def test_whoever_waits_too_long_for_packages_goes_without(monkeypatch):
    monkeypatch.setattr(pythons, "PATIENCE", 0.01)
    with pytest.raises(pythons.Unready, match="it takes too long"):
        pythons.ask(sys.executable, "-c", "import time; time.sleep(60)")


def test_only_files_that_are_near_are_imported_for_the_fast_half():
    from conftest import NEAR

    assert pythons.near_files() == [f"tests/{name}.py" for name in NEAR]


def test_what_runs_on_further_pythons_exists(request):
    from conftest import FAR, NEAR

    for each in (*NEAR, *FAR):
        file, _, name = each.partition("::")
        assert f"def {name}" in (request.path.parent / f"{file}.py").read_text(encoding="utf-8")
    assert {each.partition("::")[0] for each in FAR} <= {*NEAR}
    assert all(re.fullmatch(r"[a-zA-Z].*[^.]", reason) for reason in (NEAR | FAR).values())
