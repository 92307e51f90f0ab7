"""A real PostgreSQL for tests: Debian's or another that is installed, started in a folder of its own."""

import csv
import io
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_FOLDERS = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
_SEARCHED = os.pathsep.join([*map(str, _FOLDERS), os.environ.get("PATH", "")])
REQUIRED = os.environ.get("TRUISM_REQUIRE_POSTGRES") == "1"


def find(program: str) -> str | None:
    return shutil.which(program, path=_SEARCHED)


def skip_without_postgres() -> None:
    """Skip a whole module with one line; with TRUISM_REQUIRE_POSTGRES=1, let its tests fail."""
    if not all(map(find, ("initdb", "pg_ctl", "psql"))) and not REQUIRED:
        pytest.skip("PostgreSQL is not installed: run make postgres", allow_module_level=True)


class Postgres:
    """A running server, reached through a socket in its own folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def run(self, statements: str) -> str:
        """Run statements, and return what they print."""
        arguments = ["-X", "-q", "-v", "ON_ERROR_STOP=1", "-h", str(self._folder), "-U", "truism"]
        done = subprocess.run(
            [str(find("psql")), *arguments, "-d", "postgres"],
            input=statements,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-2000:]
        return done.stdout

    def rows(self, query: str) -> list[dict[str, str]]:
        """Return the rows of a query, as texts."""
        found = self.run(f"COPY (\n{query.rstrip()}\n) TO STDOUT (FORMAT csv, HEADER);")
        return list(csv.DictReader(io.StringIO(found)))


@contextmanager
def postgres() -> Iterator[Postgres]:
    """Start a server, and stop it."""
    assert find("initdb"), "PostgreSQL is not installed, and TRUISM_REQUIRE_POSTGRES asks for it"
    folder = Path(tempfile.mkdtemp(prefix="truism-postgres-"))
    data = folder / "data"
    # The server refuses to run as root; Debian's package brings a user for it.
    as_user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    if as_user:
        shutil.chown(folder, "postgres")
    options = f"-k {folder} -c listen_addresses='' -c fsync=off"

    def call(*command: str) -> None:
        done = subprocess.run(
            [*as_user, *command], cwd="/", capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr

    try:
        settings = ("-U", "truism", "-A", "trust", "-E", "UTF8", "--locale=C")
        call(str(find("initdb")), "-D", str(data), *settings)
        start = ("-w", "-o", options, "-l", str(folder / "log"), "start")
        call(str(find("pg_ctl")), "-D", str(data), *start)
        try:
            yield Postgres(folder)
        finally:
            call(str(find("pg_ctl")), "-D", str(data), "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder)
