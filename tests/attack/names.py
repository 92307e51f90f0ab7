"""Hostile names and states through every output, and its pages into a real browser."""

import csv
import io
import json
import random
import re
from collections.abc import Callable
from pathlib import Path

from attack.attempts import Bench, Broken, Kind, Untried
from attack.program import Ended, complaint
from browser import browser, find_browser

PARTS = (
    *(
        "</script><script>document.title='owned'</script>",
        "<img src=x onerror=document.title='owned'>",
    ),
    *(
        '" onmouseover=document.title="owned" x="',
        "<svg onload=document.title='owned'>",
        "<!--",
        "]]>",
    ),
    *(
        "${document.title='owned'}",
        "{{ 7*7 }}",
        "{% x %}",
        "$$\\href{javascript:document.title}{x}$$",
    ),
    *("@{x}{custom}", "@x", "$index", "</style>", "</title>", "&lt;b&gt;", "\\u003cscript\\u003e"),
    *(
        "[x](javascript:document.title='owned')",
        "![x](http://x.invalid/y.png)",
        "|",
        "`",
        "*a*",
        "#",
    ),
    *(
        '=HYPERLINK("http://x")',
        "+1",
        "@SUM(A1)",
        "-2+3",
        "\t=1",
        "\r=1",
        "[bold]x[/bold]",
        ":smile:",
    ),
    *(
        "\x1b]0;owned\x07",
        "\x1b[2J",
        "\x9b31m",
        "\u202e",
        "\u2066",
        "\u2028",
        "\x00",
        "\x7f",
        "a\nb",
    ),
    *(
        "'; drop table x; --",
        '"',
        "'",
        "\\",
        "%s",
        "é",
        "🚰",
        "x" * 400,
        " and ",
        "⇒",
        "javascript:x",
    ),
)
# Characters that change how a terminal or a reader shows others.
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028\u2029]")
FORMULA = re.compile(r"[=@\t\r]|\+(?!\d+\Z)|-(?![\d.])")  # +1 is a number


def attempt(draw: random.Random, bench: Bench) -> None:
    """Learn from columns and states that mean harm, and look at everything that is written."""
    names = _names(draw, 5)
    states = _names(draw, 2)
    _write(draw, bench.folder / "normal.csv", names, states, 200, wrong=False)
    today = draw.choice(
        ["today.csv", "<img src=x onerror=document.title='owned'>.csv".replace("/", "")]
    )
    _write(draw, bench.folder / today, names, states, 60, wrong=True)

    def run(*arguments: str) -> Ended:
        ended = bench.program.run(bench.folder, *arguments)
        problem = complaint(ended, (0, 1, 3))
        if problem is not None:
            raise Broken(problem)
        _check_text(ended.error, "standard error")
        return ended

    run("learn", "normal.csv", "-o", "m.json", "--min-support", "0.1")
    check = ("check", today, "-m", "m.json", "--threshold", "1")
    _check_text(run(*check, "--report", "check.html").out.decode(), "check")
    _check_text(run("rules", "m.json").out.decode(), "rules")
    _check_text(run("look", today, "--report", "look.html").out.decode(), "look")
    _check_text(run("explain", today, "-m", "m.json", "--row", "3").out.decode(), "explain")
    _check_text(run("status", today, "-m", "m.json").out.decode(), "status")
    _check_csv(run(*check, "--format", "csv", "--scores", "scores.csv").out.decode(), "check")
    _check_csv((bench.folder / "scores.csv").read_text("utf-8"), "scores")
    _check_csv(run("rules", "m.json", "--format", "csv").out.decode(), "rules")
    found = json.loads(run(*check, "--format", "json").out)
    blamed = {blame["variable"] for each in found["incidents"] for blame in each["blames"]}
    if not blamed <= set(names):
        raise Broken(f"a name came back otherwise: {blamed - set(names)}")
    markdown = run("export", "m.json", "--to", "markdown").out.decode()
    _check_text(markdown, "markdown")
    if re.search(r"(?<!\\)(<(script|img|svg)|\]\()", markdown):
        raise Broken("Markdown with a tag or a link")
    rule = _an_id(run("rules", "m.json", "--format", "csv"))
    run("rules", "m.json", "--disable", rule, "--reason", draw.choice(PARTS[:8]))
    _accept(draw, today, run)
    compare = ("compare", "m.json", "taken.json", "--on", today)
    _check_text(run(*compare).out.decode(), "compare")
    run(*compare, "--format", "html", "-o", "compare.html")
    look_at([bench.folder / name for name in ("check.html", "look.html", "compare.html")])


def _accept(draw: random.Random, today: str, run: Callable[..., Ended]) -> None:
    """Accept rows, for a reason that means harm, too."""
    said = ("--reason", draw.choice(PARTS).replace("\x00", ""), "--who", draw.choice(PARTS[:8]))
    accept = ("accept", today, "-m", "m.json", "-o", "taken.json", "--rows", "0:59", *said)
    _check_text(run(*accept).out.decode(), "accept")
    _check_text(run("rules", "taken.json").out.decode(), "rules with what was accepted")
    learn = ("learn", "normal.csv", "-o", "m.json", "--accepted", "taken.accepted.parquet")
    _check_text(run(*learn, "--min-support", "0.1").out.decode(), "learn")


def _an_id(ended: Ended) -> str:
    return ended.out.decode().splitlines()[1].split(",")[0]


def _names(draw: random.Random, n: int) -> list[str]:
    names: dict[str, None] = {}
    while len(names) < n:
        name = "".join(draw.sample(PARTS, draw.choice([1, 1, 2, 3]))).replace("\x00", "")
        if name.strip() and name.strip() == name:
            names[name] = None
    return list(names)


def _write(
    draw: random.Random, place: Path, names: list[str], states: list[str], n: int, wrong: bool
) -> None:
    with open(place, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerow(names)
        for i in range(n):
            on = draw.random() < 0.5
            odd = wrong and i % 7 == 3
            flows = [f"{(on != odd) * 2.5 + draw.gauss(0, 0.05):.3f}" for _ in names[2:]]
            writer.writerow([states[on], states[on != odd], *flows])


def _check_text(text: str, what: str) -> None:
    unseen = UNSEEN.search(text)
    if unseen:
        raise Broken(f"{what} holds {unseen[0]!r} in {text[max(0, unseen.start() - 40) :][:90]!r}")


def _check_csv(text: str, what: str) -> None:
    for row in csv.reader(io.StringIO(text)):
        for cell in row:
            if FORMULA.match(cell):
                raise Broken(f"{what}: a spreadsheet would run {cell[:60]!r}")


def look_at(pages: list[Path]) -> None:
    """Open pages in a browser that has no network; nothing may run, be fetched or fail."""
    if find_browser() is None:
        raise Untried("there is no browser")
    with browser() as running:
        context = running.new_context(offline=True)
        for place in pages:
            page = context.new_page()
            problems: list[str] = []
            page.on("console", lambda m, p=problems: m.type == "error" and p.append(m.text))
            page.on("pageerror", lambda error, p=problems: p.append(str(error)))
            page.on("dialog", lambda dialog, p=problems: p.append(dialog.message))
            page.on("request", lambda r, p=problems: p.append(r.url) if _outside(r.url) else None)
            page.goto(place.as_uri())
            page.wait_for_timeout(400)
            for element in page.query_selector_all("button, summary")[:20]:
                if element.is_visible():
                    element.click(timeout=2000, force=True, no_wait_after=True)
            page.mouse.move(300, 300)
            page.wait_for_timeout(200)
            if page.title() == "owned" or problems:
                raise Broken(f"{place.name}: {page.title()!r} {problems[:3]}")
            page.close()
        context.close()


def _outside(url: str) -> bool:
    return not url.startswith(("file:", "data:", "blob:", "about:"))


KIND = Kind("names", 8, attempt)
