"""Run the tests on every supported Python that is on this machine, and with the oldest dependencies.

Each Python gets an environment of its own below ``.pythons``, with the newest dependencies; one more has
the oldest that ``pyproject.toml`` allows. Pythons are looked for on the path and among pyenv's. A Python
that is missing, or for which no packages can be had, is said and is no failure: there may be no network.
Requirements that contradict each other are one.

    python tests/pythons.py                  the whole suite on all of them
    python tests/pythons.py --fast           only what is near to Python and to other libraries
    python tests/pythons.py --fast --others  and not again on the Python that this is

uv makes an environment in seconds. Where it is missing, or finds no packages, pip takes its place.
"""

import argparse
import ast
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLACE = ROOT / ".pythons"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
VERSIONS = [
    name.rpartition(" ")[2]
    for name in PROJECT["classifiers"]
    if re.fullmatch(r"Programming Language :: Python :: 3\.\d+", name)
]
OLDEST = f"{VERSIONS[0]}, oldest dependencies"
HERE = "{}.{}".format(*sys.version_info)
# Extras whose oldest versions are tried, too; of the tools for development only those that hold tables.
EXTRAS = ("plot", "excel", "sql")
PATIENCE = 400  # seconds in which an environment must be there
HASTE = {"PIP_DEFAULT_TIMEOUT": "15", "PIP_RETRIES": "1", "UV_HTTP_TIMEOUT": "15"}
CONTRADICTION = "ResolutionImpossible"  # what pip says; without a network it says something else
TABLES = ("openpyxl", "pandas", "polars")


def find_python(version: str) -> str | None:
    """Return an interpreter of a version that really runs; pyenv's shims often do not."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    candidates = [sys.executable, shutil.which(f"python{version}"), shutil.which("python3")]
    candidates += sorted(map(str, pyenv.glob(f"{version}.*/bin/python")), reverse=True)
    for each in candidates:
        if each is not None and version_of(each) == version:
            return each
    return None


def version_of(python: str) -> str | None:
    script = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"
    asked = subprocess.run([python, "-c", script], capture_output=True, text=True, check=False)
    return asked.stdout.strip() if asked.returncode == 0 else None


def oldest() -> list[str]:
    """Return the oldest versions that are allowed, as constraints."""
    optional = PROJECT["optional-dependencies"]
    wanted = [*PROJECT["dependencies"], *(each for name in EXTRAS for each in optional[name])]
    wanted += [each for each in optional["dev"] if each.partition(">=")[0] in TABLES]
    return sorted({each.replace(">=", "==") for each in wanted})


class Unready(Exception):  # noqa: N818
    """An environment that could not be made, and why."""


def prepare(python: str, folder: Path, constraints: list[str]) -> str:
    """Make an environment, unless it is there with the same wishes; return its interpreter."""
    own = str(folder / "bin" / "python")
    wishes = "\n".join([(ROOT / "pyproject.toml").read_text(encoding="utf-8"), *constraints])
    stamp = folder / "wishes"
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wishes:
        return own
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(exist_ok=True)
    limits = folder.parent / f"{folder.name}.constraints"
    limits.write_text("\n".join(constraints), encoding="utf-8")
    target = ["--quiet", "--editable", f"{ROOT}[dev]", "--constraint", str(limits)]
    uv = find_uv()
    try:
        if uv is None:
            raise Unready("there is no uv")
        ask(uv, "venv", "--quiet", "--python", python, str(folder))
        ask(uv, "pip", "install", "--python", own, *target)
    except Unready:
        shutil.rmtree(folder, ignore_errors=True)
        ask(python, "-m", "venv", str(folder))
        install = [own, "-m", "pip", "install", "--disable-pip-version-check", "--prefer-binary"]
        ask(*install, *target)
    stamp.write_text(wishes, encoding="utf-8")
    return own


def find_uv() -> str | None:
    """Return uv, which is among the tools for development."""
    beside = Path(sys.executable).with_name("uv")
    return str(beside) if beside.exists() else shutil.which("uv")


def ask(*command: str) -> None:
    """Run a command that makes an environment, and raise `Unready` if it fails."""
    env = {**os.environ, **HASTE}
    try:
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=env,
            timeout=PATIENCE,
            check=False,
            capture_output=True,
            text=True,
        )
    except subprocess.TimeoutExpired:
        raise Unready("it takes too long") from None
    if done.returncode:
        raise Unready(done.stderr.strip())


def run(name: str, python: str, constraints: list[str], fast: bool) -> str:
    """Run the tests in one environment; return what is to say of it."""
    folder = PLACE / ("oldest" if constraints else name)
    started = time.monotonic()
    print(f"--- Python {name}", flush=True)
    try:
        own = prepare(python, folder, constraints)
    except Unready as reason:
        last = str(reason).rpartition("\n")[2]
        if CONTRADICTION in str(reason):
            return f"failed: its packages contradict each other ({last})"
        return f"left out: its packages cannot be installed ({last})"
    ready = time.monotonic()
    command = [own, "-m", "pytest", "-q", "-n", "auto", "--dist", "worksteal"]
    chosen = ["-m", "near", "src", *near_files()] if fast else ["src", "tests"]
    env = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "numba")}
    if fast:
        env["TRUISM_EXAMPLES"] = "0.1"
    command += ["-p", "no:cacheprovider", *chosen]
    code = subprocess.run(command, cwd=ROOT, env=env, check=False).returncode
    took = f"{time.monotonic() - ready:.0f} s, after {ready - started:.0f} s of setting up"
    return f"{'passed' if code == 0 else 'failed'} ({took})"


def near_files() -> list[str]:
    """Return the files of tests that `conftest.py` calls near, so that no others are imported."""
    tree = ast.parse((ROOT / "tests" / "conftest.py").read_text(encoding="utf-8"))
    (near,) = (
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "NEAR"
    )
    return [f"tests/{name}.py" for name in near]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--fast", action="store_true", help="only what is marked near")
    parser.add_argument("--others", action="store_true", help="not on the Python that this is")
    asked = parser.parse_args()
    results = {}
    for name in (*VERSIONS, OLDEST):
        if asked.others and name == HERE:
            continue
        python = find_python(name[: len(VERSIONS[0])])
        constraints = oldest() if name == OLDEST else []
        results[name] = "missing" if python is None else run(name, python, constraints, asked.fast)
    print("\n".join(f"Python {name}: {said}" for name, said in results.items()))
    return int(any(said.startswith("failed") for said in results.values()))


if __name__ == "__main__":
    sys.exit(main())
