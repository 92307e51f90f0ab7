"""Build the documentation site: ``python docs/site/build.py [OUTPUT]``, or ``make site``.

The pages of ``docs`` are written for GitHub, and the site shows the same files. They are gathered with
the site's own pages and the changelog in one folder beside the output, because Sphinx reads one folder.
"""

import os
import shutil
import sys
from pathlib import Path

from sphinx.cmd.build import main

SITE = Path(__file__).parent
DOCS = SITE.parent
ROOT = DOCS.parent
OURS = ("*.py", "README.md", "site", "__pycache__")  # of docs: no pages


def gather(source: Path) -> None:
    """Put all pages into one new folder, without what examples wrote and printed last time."""
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(DOCS, source, ignore=shutil.ignore_patterns(*OURS), dirs_exist_ok=True)
    shutil.copytree(
        SITE, source, ignore=shutil.ignore_patterns("build.py", "__pycache__"), dirs_exist_ok=True
    )
    shutil.copy2(ROOT / "CHANGELOG.md", source / "changelog.md")
    contributing = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    (source / "contributing.md").write_text(contributing.replace("](docs/", "]("), "utf-8")
    # The map of docs is the first part of the guide; the rest of that page is about the repository.
    table, _, _ = (DOCS / "README.md").read_text("utf-8").partition("\n## ")
    (source / "map.txt").write_text(table.partition("\n")[2], "utf-8")


if __name__ == "__main__":
    output = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "site")
    source = output.with_name(f"{output.name}-source")
    gather(source)
    # Examples call the program of this environment.
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    state = output.with_name(f"{output.name}-state")
    failed = main(["-q", "-W", "--keep-going", "-d", str(state), str(source), str(output)])
    print(f"{output}: {'not complete' if failed else 'open index.html'}")
    sys.exit(failed)
