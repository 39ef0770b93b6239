import gzip
import json
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

import pytest

from kindly.fetch.need import needs_browser
from kindly.models import Page
from tests.fetch.js_pages import JS_PAGES, shell
from tests.site import ARTICLE

DATA = Path(__file__).parents[2] / "../shared/data/extract"
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


@pytest.mark.parametrize("piece", ["<", "<div ", "<script>", "<!--", "<p> ", "class='", "<a-root>"])
def test_hostile_repetition_is_judged_all_the_same(piece: str) -> None:
    needs_browser(page("<script></script>" + piece * 50_000))


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
