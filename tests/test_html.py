"""The page stands alone and runs nothing but its own scripts."""

import base64
import hashlib
import html
import re

import pytest

import reported
from learned import learn
from reported import NORMAL, attacked, summarised
from truism.explain.checker import Checker
from truism.show.contents import Summary
from truism.show.html import to_html
from truism.show.summarising import summarise
from truism.table.frames import as_table


@pytest.fixture(scope="module")
def checker() -> Checker:
    return reported.checker()


@pytest.fixture(scope="module")
def summary() -> Summary:
    return reported.summary()


def test_the_page_refers_to_nothing_outside_itself(summary):
    page = to_html(summary)
    without_scripts = re.sub(r"<script[^>]*>.*?</script>", "", page, flags=re.S)
    links = re.findall(r"""(?:src|href)\s*=\s*["']?([^"'\s>]+)""", without_scripts)
    assert links
    assert all(link.startswith("#") for link in links)
    assert "<script src" not in page
    targets = set(re.findall(r'\bid="([^"]+)"', without_scripts))
    assert {link[1:] for link in links} <= targets


def test_the_page_allows_only_its_own_script_and_style(summary):
    page = to_html(summary)
    [policy] = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page)
    policy = html.unescape(policy)
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    [script] = re.findall(r"<script[^>]*>(.*?)</script>", page, flags=re.S)
    [style] = re.findall(r"<style>(.*?)</style>", page, flags=re.S)
    for text in (script, style):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    without = page.replace(script, "").replace(style, "")
    assert not re.search(r"<[^>]*\s(style|on\w+)\s*=", without)


def test_rows_that_are_no_series_have_patterns_instead_of_a_timeline():
    data = {"service": ["http", "dns"] * 100, "size": [200.0, 20.0] * 100}
    own = Checker(learn(as_table(data), min_support=0.1))
    wrong = {"service": ["ctf"] * 4 + ["http", "http"], "size": [20.0] * 6}
    page = to_html(summarise(own, as_table(wrong)))
    assert 'id="patterns"' in page
    assert "service never seen in training (ctf)" in page
    assert 'id="timeline"' not in page
    assert 'class="plot' not in page
    assert "Worst rows" in page
    quiet = to_html(summarise(own, as_table(data)))
    assert "None. No row is unusual." in quiet


def test_above_the_incidents_there_is_nothing_of_the_modellers_language(summary):
    page = to_html(summary)
    body = page[page.index("<body>") : page.index('id="incidents-title"')]
    said = re.sub(r"<[^>]*>", "", re.sub(r"(?s)<script.*?</script>", "", body))
    assert "reported above this line" in said
    for word in ("threshold", "θ", "rules about", "support"):
        assert word not in said, word


def test_a_name_that_begins_with_a_word_of_the_page_is_told_apart_from_it():
    names = {"two\nlines": NORMAL["flow"], "because pump": NORMAL["pump"]}
    checker = Checker(learn(as_table(names), min_support=0.1, scoring="paper"))
    table = as_table({**names, "two\nlines": attacked()["flow"]})
    assert "<dd>because pump = on</dd>" in to_html(summarised(checker, table, gap=2))


def test_a_table_of_no_rows_still_gives_a_page(checker):
    table = as_table(NORMAL).take(slice(0, 0))
    told = summarise(checker, table)
    assert told.verdict == "nothing checked: there were no rows to check."
    assert told.verdict in to_html(told)
