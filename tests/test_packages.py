"""Packages work where nothing else is installed, and those who describe them agree."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import truism
from pythons import Unready, ask, find_uv

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def read(name):
    return (ROOT / name).read_text("utf-8")


def test_the_citation_and_the_recipe_have_the_version_of_the_package():
    assert f"\nversion: {truism.__version__}\n" in read("CITATION.cff")
    assert f'version = "{truism.__version__}"' in read("contrib/conda/meta.yaml")


def test_the_recipe_needs_what_the_package_needs():
    run = read("contrib/conda/meta.yaml").partition("  run:\n")[2].partition("\n\n")[0]
    needed = {line.replace(" ", "") for line in re.findall(r"- (.*)", run)}
    assert needed == {*PROJECT["dependencies"], f"python{PROJECT['requires-python']}"}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("built")
    uv = find_uv()
    if uv is None:
        pytest.skip("there is no uv")
    try:
        ask(uv, "pip", "install", "--target", str(folder / "probe"), "hatchling")
    except Unready:
        pytest.skip("no packages can be had")
    ask(uv, "build", "--out-dir", str(folder), str(ROOT))
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("ending", [".whl", ".tar.gz"])
def test_a_package_works_in_an_empty_environment(built, ending, tmp_path):
    [package] = built.glob(f"truism-*{ending}")
    folder = tmp_path / "env"
    ask(find_uv(), "venv", "--python", sys.executable, str(folder))
    ask(find_uv(), "pip", "install", "--python", str(folder / "bin" / "python"), str(package))

    def call(*arguments):
        command = [folder / "bin" / "truism", *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode < 2, done.stderr
        return done.stdout

    assert truism.__version__ in call("--version")
    call("plant", "--rows", "1500", "--attacks", "--seed", "5", "-o", "plant")
    assert call("learn", "plant/normal.csv", "-o", "model.truism.json").startswith("Learned")
    last = call("check", "plant/attacked.csv", "-m", "model.truism.json", "--report", "page.html")
    assert "\nanomalies: " in last
    assert (tmp_path / "page.html").stat().st_size > 10_000


@pytest.mark.slow
def test_the_container_runs():
    docker = shutil.which("docker")
    if docker is None or subprocess.run([docker, "info"], capture_output=True).returncode:
        pytest.skip("there is no engine for containers")
    subprocess.run([docker, "build", "--tag", "truism-test", ROOT], check=True)
    printed = subprocess.run(
        [docker, "run", "--rm", "truism-test", "--version"], capture_output=True
    )
    assert truism.__version__ in printed.stdout.decode()
