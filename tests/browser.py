"""A real browser for tests: Debian's chromium or another that is installed, cut off from the net."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_browser() -> str | None:
    return next(filter(None, map(shutil.which, NAMES)), None)


def skip_without_browser() -> None:
    """Skip a whole module with one line; with TRUISM_REQUIRE_BROWSER=1, let its tests fail."""
    if find_browser() is None and os.environ.get("TRUISM_REQUIRE_BROWSER") != "1":
        pytest.skip("no browser is installed: run make browser", allow_module_level=True)


@contextmanager
def browser() -> Iterator[Any]:
    """Start the browser."""
    from playwright.sync_api import sync_playwright

    path = find_browser()
    assert path is not None, "no browser is installed, and TRUISM_REQUIRE_BROWSER asks for one"
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=FLAGS)
        try:
            yield running
        finally:
            running.close()
