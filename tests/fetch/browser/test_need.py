import gzip
import json
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from time import process_time

import pytest

from kindly.errors import KindlyError, NeedsBrowser, NoContent, PageChallenged, PageForbidden
from kindly.fetch.browser.need import LOOKED_AT_BYTES, browser_reason
from kindly.models import FetchMethod, How, Page
from tests.support.js_pages import JS_PAGES, shell
from tests.support.paths import SHARED_DATA
from tests.support.shared_data import needs_shared
from tests.support.site import ARTICLE

DATA = SHARED_DATA / "extract"
WORDS = "<p>Bees see ultraviolet light and tell the others by a dance.</p>" * 40
SCRIPT = "<script type=module src='/app.js'></script>"


def page(html: str | bytes, media_type: str = "text/html") -> Page:
    body = html.encode() if isinstance(html, str) else html
    url = "https://example.com/"
    return Page(url, url, 200, media_type, body, datetime(2026, 1, 1, tzinfo=UTC))


@pytest.mark.parametrize("html", JS_PAGES.values(), ids=JS_PAGES.keys())
def test_page_that_a_script_fills_needs_a_browser(html: str) -> None:
    assert browser_reason(page(html))


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
def test_page_with_its_text_in_the_html_needs_no_browser(html: str) -> None:
    assert browser_reason(page(html)) is None


def test_text_that_is_known_is_not_counted_again() -> None:
    assert browser_reason(page(JS_PAGES["vite react"]), text_chars=5_000) is None
    assert browser_reason(page(JS_PAGES["vite react"]), text_chars=0)


def test_far_more_script_than_text_means_an_app() -> None:
    html = shell("<div>" + "Word " * 100 + "</div><script>" + "a;" * 20_000 + "</script>")
    assert browser_reason(page(html)) == "far more script than text"


def test_only_html_that_was_not_rendered_is_judged() -> None:
    html = JS_PAGES["vite react"]
    assert browser_reason(page(html, "application/json")) is None
    assert browser_reason(page(html, "application/xhtml+xml"))
    assert browser_reason(replace(page(html), how=How(FetchMethod.BROWSER))) is None


def test_unclosed_script_hides_what_follows() -> None:
    assert browser_reason(page(f"<div id=app></div><script>fetch('/a'){WORDS}"))


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
"""Shapes that make a careless pattern backtrack."""


LITTLE_TEXT = "little text, few paragraphs, and scripts"
MAX_CPU_S = 10.0
"""Backtracking would take minutes. CPU time does not depend on the load of the machine."""


@pytest.mark.parametrize(("start", "piece"), HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_repetition_is_judged_in_linear_time(start: str, piece: str) -> None:
    html = f"<script>fetch('/x')</script>{start}{piece * (LOOKED_AT_BYTES // len(piece))}"
    began = process_time()
    assert browser_reason(page(html)) in {None, LITTLE_TEXT}
    assert browser_reason(page(html), text_chars=100) == LITTLE_TEXT
    assert process_time() - began < MAX_CPU_S


@pytest.mark.parametrize(
    ("failure", "needs_one"),
    [
        (PageChallenged("A bot check.", url="https://example.com/", status=403), True),
        (NeedsBrowser("No text without JavaScript.", url="https://example.com/"), True),
        (NoContent("No text.", url="https://example.com/"), False),
        (PageForbidden("Refused.", url="https://example.com/", status=403), False),
        (None, False),
    ],
)
def test_failure_alone_decides_if_a_browser_may_help(
    failure: KindlyError | None, needs_one: bool
) -> None:
    assert (browser_reason(None, failure=failure) is not None) is needs_one


def test_failure_that_a_browser_may_overcome_outweighs_a_page_with_text() -> None:
    failure = NeedsBrowser("No text without JavaScript.", url="https://example.com/")
    assert browser_reason(page(shell(WORDS)), failure=failure)


def test_bytes_beyond_the_limit_change_nothing() -> None:
    html = JS_PAGES["vite react"]
    assert browser_reason(page(html + " " * LOOKED_AT_BYTES + WORDS))


@needs_shared(DATA)
def test_saved_static_pages_need_no_browser() -> None:
    total = needing = 0
    for path in sorted(DATA.glob("*/dev.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in islice(lines, 0, None, 10):
                total += 1
                needing += browser_reason(page(json.loads(line)["html"])) is not None
    assert needing / total < 0.05
