import gzip
import json
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice

import pytest

from kindly.fetch.browser.need import LOOKED_AT_BYTES, needs_browser
from kindly.models import Page
from tests.support.js_pages import JS_PAGES, shell
from tests.support.paths import SHARED_DATA
from tests.support.site import ARTICLE

DATA = SHARED_DATA / "extract"
WORDS = "<p>Bees see ultraviolet light and tell the others by a dance.</p>" * 40
SCRIPT = "<script type=module src='/app.js'></script>"


def page(html: str | bytes, media_type: str = "text/html") -> Page:
    body = html.encode() if isinstance(html, str) else html
    url = "https://example.com/"
    return Page(url, url, 200, media_type, body, datetime(2026, 1, 1, tzinfo=UTC))


@pytest.mark.parametrize("html", JS_PAGES.values(), ids=JS_PAGES.keys())
def test_page_that_only_a_script_fills_gets_a_browser(html: str) -> None:
    assert needs_browser(page(html))


@pytest.mark.parametrize(
    "html",
    [
        ARTICLE,
        shell(WORDS),
        shell(f"<div id=root></div>{WORDS}{SCRIPT}"),
        shell(f"<div id='root'>{WORDS}</div>{SCRIPT}"),
        shell(f"<noscript>Please enable JavaScript.</noscript>{WORDS}{SCRIPT}"),
        shell(f"{WORDS}<div class=spinner></div>{SCRIPT}"),
        shell("<p>Short.</p><p>But whole.</p><p>Really.</p><p>Yes.</p><script>let a = 1</script>"),
        shell("<h1>404</h1><p>Loading…</p>"),
        shell("<p>One</p><script>let a = 1</script>"),
        "",
    ],
    ids=[
        "article",
        "long",
        "long beside a mount",
        "server-rendered app",
        "long with a notice",
        "long with a spinner",
        "short but whole",
        "without a script",
        "a script that draws nothing",
        "empty",
    ],
)
def test_page_that_holds_its_text_gets_none(html: str) -> None:
    assert needs_browser(page(html)) is None


def test_text_that_is_known_is_not_counted_again() -> None:
    assert needs_browser(page(JS_PAGES["vite react"]), text_chars=5_000) is None
    assert needs_browser(page(JS_PAGES["vite react"]), text_chars=0)


def test_far_more_script_than_text_is_an_app() -> None:
    html = shell("<div>" + "Word " * 100 + "</div><script>" + "a;" * 20_000 + "</script>")
    assert needs_browser(page(html)) == "far more script than text"


def test_only_html_that_no_browser_made_is_judged() -> None:
    html = JS_PAGES["vite react"]
    assert needs_browser(page(html, "application/json")) is None
    assert needs_browser(page(html, "application/xhtml+xml"))
    assert needs_browser(replace(page(html), how="browser")) is None


def test_unclosed_script_hides_what_follows() -> None:
    assert needs_browser(page(f"<div id=app></div><script>fetch('/a'){WORDS}"))


HOSTILE = {
    "tag openings": ("", "<"),
    "unclosed elements": ("", "<div "),
    "unclosed scripts": ("", "<script>"),
    "empty scripts": ("", "<script></script>"),
    "script attributes": ("<script ", "type="),
    "unclosed typed scripts": ("", "<script type=x "),
    "comment openings": ("", "<!--"),
    "empty comments": ("", "<!---->"),
    "empty paragraphs": ("", "<p> "),
    "paragraph attributes": ("<p ", "x "),
    "bold openings": ("", "<b>"),
    "pieces of words": ("<p>", "<i>a</i> "),
    "classes": ("", "class='a "),
    "classes in both quotes": ("", 'class=""class=\''),
    "data attributes": ("<div ", "data-"),
    "names of mounts in one tag": ("<div ", "id=root "),
    "unclosed mounts": ("", "<div id=root x=y "),
    "mount before blanks": ("<div id=root>", " "),
    "mounts within mounts": ("", "<div id=root>  "),
    "custom elements": ("", "<a-root>"),
    "one endless custom name": ("<", "app-"),
    "one endless short custom name": ("<", "a-"),
    "hyphens before a custom name": ("", "<a-a-a-a-a-app "),
    "bundle names without an end": ("", "main-"),
    "bundle names that end too late": ("", "main." + "x" * 70),
    "template braces": ("", "{{ "),
    "half a request for scripts": ("", "enable "),
    "blanks within a request for scripts": ("enable", " "),
    "half a notice about scripts": ("", "javascript is "),
    "blanks within a notice about scripts": ("javascript is", " "),
    "ends of tags before blanks": ("", ">  "),
    "endless dots of a loading notice": ("<p>loading", "."),
    "calls without brackets": ("", "fetch  "),
    "places without an address": ("", "location "),
    "one endless word": ("", "a"),
}
"""Shapes that make a careless pattern go over the same bytes again and again."""


@pytest.mark.parametrize("text_chars", [None, 100], ids=["counted", "known"])
@pytest.mark.parametrize(("start", "piece"), HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_repetition_is_judged_all_the_same(
    start: str, piece: str, text_chars: int | None
) -> None:
    html = f"<script>fetch('/x')</script>{start}{piece * (LOOKED_AT_BYTES // len(piece))}"
    needs_browser(page(html), text_chars)


def test_what_lies_beyond_what_is_looked_at_changes_nothing() -> None:
    html = JS_PAGES["vite react"]
    assert needs_browser(page(html + " " * LOOKED_AT_BYTES + WORDS))


def test_saved_static_pages_go_without() -> None:
    if not DATA.is_dir():
        pytest.skip("the shared extraction data is not beside this checkout")
    total = needing = 0
    for path in sorted(DATA.glob("*/dev.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in islice(lines, 0, None, 10):
                total += 1
                needing += needs_browser(page(json.loads(line)["html"])) is not None
    assert needing / total < 0.05
