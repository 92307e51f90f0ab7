"""The page in a real browser."""

import datetime
import itertools
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from browser import browser, skip_without_browser
from learned import learn
from truism.explain.checker import Checker
from truism.show import Summary, summarise, to_html
from truism.table.frames import as_table

skip_without_browser()

HOSTILE = '</script><script>document.title="owned"</script>'
NAMES = (HOSTILE, '"><img src=x onerror=document.title="owned">', "$$\\alpha$$", "{{ 7*7 }}@x")

DRAWN = "html.js #score .x:not([text-anchor])"  # the script has drawn the axis


@pytest.fixture(scope="module")
def chromium():
    with browser() as running:
        yield running


def rows(n_rows: int, seed: int, n_variables: int = 6) -> dict[str, Any]:
    """A pump that decides about flows, with times, in the columns' own hostile names."""
    random = np.random.default_rng(seed)
    pump = np.repeat(random.integers(0, 2, n_rows // 20 + 1), 20)[:n_rows]
    columns: dict[str, Any] = {
        "time": np.datetime64("2024-01-01T00:00:00") + np.arange(n_rows) * np.timedelta64(10, "s"),
        HOSTILE: np.array(["on", "<b>off</b>"])[pump],
    }
    for i in range(n_variables - 1):
        name = NAMES[i + 1] if i + 1 < len(NAMES) else f"flow {i}"
        columns[name] = (1 - pump) * 2.5 + random.normal(0, 0.05, n_rows)
    return columns


FEW = ((300, 40), (900, 10), (1500, 1))
MANY = tuple((start, start % 50 + 1) for start in range(500, 100_000, 400))


def story(
    n_rows: int = 2000, n_variables: int = 6, wrong: Sequence[tuple[int, int]] = FEW
) -> Summary:
    normal = as_table(rows(2000, 0, n_variables))
    now = rows(n_rows, 1, n_variables)
    for start, length in wrong:
        for name in (NAMES[1], NAMES[2]):
            part = now[name][start : start + length]
            part[:] = 2.5 - part
    now["label"] = np.zeros(n_rows, np.int64)
    now["label"][300:340] = now["label"][700:720] = 1
    model = learn(normal, min_support=0.1, scoring="paper").with_threshold(0.1)
    disabled = next(rule for rule in model.rules if rule.antecedent)
    model = model.disable(disabled.id, f"wrong {HOSTILE}")
    checker, table = Checker(model), as_table(now)
    return summarise(checker, table, checker.find(table, gap=5), source=HOSTILE, label="label")


@pytest.fixture(scope="module")
def summary() -> Summary:
    return story()


@pytest.fixture(scope="module")
def place(tmp_path_factory, summary) -> Path:
    path = tmp_path_factory.mktemp("report") / "page.html"
    path.write_text(to_html(summary), encoding="utf-8")
    return path


@pytest.fixture
def page(chromium, place):
    context = chromium.new_context(offline=True, viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.set_default_timeout(5000)
    page.problems = []
    page.on("console", lambda m: m.type in ("error", "warning") and page.problems.append(m.text))
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    page.on("request", lambda r: r.url.startswith("file:") or page.problems.append(r.url))
    page.goto(place.as_uri())
    page.wait_for_selector(DRAWN, state="attached")
    yield page
    assert page.problems == []
    context.close()


def place_of_band(page, number: int) -> tuple[float, float]:
    """Where on the screen an incident lies in the timeline."""
    box = page.locator(f"#score a[href='#incident-{number}']").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + 40


def view(page, chart: str = "#score") -> tuple[float, float]:
    """Which part of its axis a chart shows: the start and the extent."""
    start, _, extent, _ = page.locator(f"{chart} .inside").first.get_attribute("viewBox").split()
    return float(start), float(extent)


def test_the_page_loads_offline_and_its_timeline_has_the_incidents(page):
    verdict = page.locator("h1").text_content()
    assert verdict.startswith("anomalies: 3 incidents in 5 h 33 min")
    assert page.locator("#score .number:visible").all_text_contents() == ["1", "2", "3"]
    assert page.locator("details.card").count() == 3


def test_clicking_an_incident_in_the_timeline_opens_its_card_every_time(page):
    for _ in range(2):
        assert not page.locator("#incident-2").evaluate("card => card.open")
        page.evaluate("scrollTo(0, 0)")
        page.mouse.click(*place_of_band(page, 2))
        page.wait_for_selector("#incident-2[open] .plot")
        page.locator("#incident-2").evaluate("card => { card.open = false; }")


def test_zooming_and_moving_by_buttons_changes_the_view(page):
    before = view(page)
    page.get_by_role("button", name="Zoom in").click()
    assert view(page)[1] == pytest.approx(before[1] / 2)
    middle = view(page)
    page.get_by_role("button", name="Later").click()
    assert view(page)[0] > middle[0]
    page.get_by_role("button", name="Later").click()
    page.get_by_role("button", name="Later").click()
    assert sum(view(page)) == before[1], "there is nothing beyond the end"
    page.get_by_role("button", name="All", exact=True).click()
    assert view(page) == before


def test_the_mouse_zooms_where_it_is_and_drags_without_opening_what_it_drags(page):
    x, y = place_of_band(page, 2)
    page.mouse.move(x, y)
    page.keyboard.down("Control")
    for _ in range(8):
        page.mouse.wheel(0, -100)
    page.keyboard.up("Control")
    page.wait_for_timeout(200)
    assert view(page)[1] < 400
    assert place_of_band(page, 2)[0] == pytest.approx(x, abs=5)
    zoomed = view(page)
    page.mouse.down()
    page.mouse.move(x + 200, y, steps=4)
    page.mouse.up()
    assert view(page)[0] < zoomed[0]
    assert view(page)[1] == pytest.approx(zoomed[1])
    assert page.evaluate("location.hash") == ""


def test_ticks_stay_apart_at_every_zoom(page):
    for _ in range(12):
        boxes = page.locator("#score .x").evaluate_all(
            "all => all.map(each => each.getBoundingClientRect()).map(box => [box.left, box.right])"
        )
        assert 2 <= len(boxes) <= 25
        assert all(right < left for (_, right), (left, _) in itertools.pairwise(boxes))
        page.get_by_role("button", name="Zoom in").click()


def readout(page) -> list[str]:
    return page.locator(".readout:visible span").all_inner_texts()


def test_values_are_read_under_the_mouse_and_by_arrow_keys(page, summary):
    picture = summary.incidents[0].pictures[0]
    chart = page.locator("#incident-1 .chart").first
    chart.scroll_into_view_if_needed()
    box = chart.locator(".plot").first.bounding_box()
    page.mouse.move(box["x"] + 1, box["y"] + 30)
    first = readout(page)
    begun = np.datetime64(int(picture.panels[0].line.x[0]), "ms").item()
    assert first[0] == f"{begun:%Y-%m-%d %H:%M:%S}"
    assert [line.rpartition(": ")[0] for line in first[1:]] == [p.variable for p in picture.panels]
    for panel, line in zip(picture.panels, first[1:], strict=True):
        shown, y = line.rpartition(": ")[2], panel.line.y[0]
        if panel.states:
            assert shown == panel.states[int(y)]
        else:
            assert float(shown.replace("−", "-")) == pytest.approx(y, abs=0.001)
    chart.focus()
    page.keyboard.press("ArrowRight")
    assert readout(page)[0] == f"{begun + datetime.timedelta(seconds=10):%Y-%m-%d %H:%M:%S}"
    before = view(page, "#incident-1")
    page.keyboard.press("+")
    assert view(page, "#incident-1")[1] < before[1]
    page.keyboard.press("0")
    assert view(page, "#incident-1") == before
    page.keyboard.press("Tab")
    assert readout(page) == []


def test_search_variable_and_broken_filter_the_rules(page):
    shown = page.locator("#rule-table tbody tr:visible")
    everything = shown.count()
    page.get_by_role("searchbox").fill("7*7")
    assert 0 < shown.count() < everything
    assert all("7*7" in text for text in shown.all_inner_texts())
    assert page.locator("#rule-count").inner_text().startswith(f"{shown.count()} of ")
    page.get_by_role("searchbox").fill("")
    page.locator("#rule-variable").select_option(label=NAMES[2])
    assert 0 < shown.count() < everything
    page.locator("#rule-variable").select_option(label="all")
    page.get_by_label("broken here").check()
    assert 0 < shown.count() < everything


def test_rules_sort_by_number_and_the_order_is_announced(page):
    head = page.locator("#rule-table th", has_text="training rows")
    head.get_by_role("button").click()
    counts = [
        int(row.replace(",", ""))
        for row in page.locator("#rule-table tbody td:nth-child(3)").all_inner_texts()
    ]
    assert counts == sorted(counts, reverse=True)
    assert head.get_attribute("aria-sort") == "descending"


def test_an_incident_links_to_its_rule_and_back(page):
    page.locator("#rule-search").fill("nothing has this")
    page.locator("#incident-1 .parts a").first.click()
    row = page.locator("tr:target")
    row.wait_for()
    row.locator("a", has_text="1").first.click()
    page.wait_for_selector("#incident-1 > summary:focus")


def test_the_keyboard_alone_reaches_everything_and_opens_a_card(page):
    wanted = page.evaluate(
        """[...document.querySelectorAll('a[href], button, input, select, summary, [tabindex="0"]')]
            .filter(each => each.checkVisibility() && each.tabIndex === 0).length"""
    )
    reached = set()
    for _ in range(wanted + 5):
        page.keyboard.press("Tab")
        reached.add(
            page.evaluate(
                """(() => { const at = document.activeElement;
                window.seen ??= []; if (!window.seen.includes(at)) window.seen.push(at);
                return window.seen.indexOf(at); })()"""
            )
        )
    assert len(reached) >= wanted
    page.locator("#incident-3 > summary").focus()
    page.keyboard.press("Enter")
    assert page.locator("#incident-3").evaluate("card => card.open")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(page, scheme):
    from axe_playwright_python.sync_playwright import Axe

    page.emulate_media(color_scheme=scheme)
    page.locator("#open-all").click()
    page.locator("details.related").evaluate_all(
        "all => all.forEach(each => { each.open = true; })"
    )
    found = Axe().run(page).response["violations"]
    serious = [each for each in found if each["impact"] in ("serious", "critical")]
    assert [(each["id"], each["nodes"][0]["html"][:200]) for each in serious] == []


def test_hostile_names_stay_text(page):
    page.mouse.move(*place_of_band(page, 1))
    title = page.locator("#incident-1 .blame .name").first.inner_text()
    assert title in NAMES[:3]
    assert any(title in line for line in readout(page))
    page.locator("#open-all").click()
    page.wait_for_timeout(300)
    assert page.title().startswith("anomalies: 3 incidents")
    assert page.locator("img").count() == 0
    assert HOSTILE in page.locator(".brand").inner_text()
    assert HOSTILE in page.locator("#variables").inner_text()
    assert HOSTILE in page.locator("tr.off").inner_text()


def test_a_phone_shows_the_page_without_scrolling_sideways(chromium, place):
    phone = chromium.new_page(viewport={"width": 390, "height": 800})
    phone.goto(place.as_uri())
    phone.wait_for_selector(DRAWN, state="attached")
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
    phone.close()


def test_without_javascript_verdict_cards_and_tables_are_there(chromium, place):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(place.as_uri())
    assert page.locator("h1").is_visible()
    assert page.locator("#incident-1 .parts").first.is_visible()
    assert page.locator("#score .curve").is_visible()
    assert page.locator("#score .x").count() == 2
    assert page.locator("#rule-table tbody tr").count() > 3
    assert page.get_by_role("searchbox").count() == 0
    page.locator("#incident-2 > summary").click()
    assert page.locator("#incident-2 .parts").first.is_visible()
    context.close()


def test_a_hundred_thousand_rows_of_sixty_variables_open_quickly_and_stay_small(chromium, tmp_path):
    page = to_html(story(100_000, 60, MANY))
    assert len(page.encode()) < 900_000
    path = tmp_path / "large.html"
    path.write_text(page, encoding="utf-8")
    opened = chromium.new_page()
    begun = time.perf_counter()
    opened.goto(path.as_uri())
    opened.wait_for_selector(DRAWN, state="attached")
    assert time.perf_counter() - begun < 10
    opened.close()
