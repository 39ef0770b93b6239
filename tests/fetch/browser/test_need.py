from dataclasses import replace
from datetime import UTC, datetime
from time import process_time

import pytest

from kindly.errors import (
    KindlyError,
    NeedsBrowser,
    NoContent,
    PageChallenged,
    PageForbidden,
    PageWalled,
)
from kindly.extract import ExtractOptions
from kindly.extract.document import extract
from kindly.fetch.browser.need import NO_TEXT_REASON, browser_reason, is_certain
from kindly.fetch.browser.page_parts import LOOKED_AT_BYTES
from kindly.models import FetchMethod, How, OutcomeKind, Page
from tests.support.js_pages import JS_PAGES, shell
from tests.support.site import ARTICLE
from tests.support.static_pages import STATIC_PAGES

WORDS = "<p>Bees see ultraviolet light and tell the others by a dance.</p>" * 40
SENTENCE = "Bees see ultraviolet light and tell the others by a dance. "
SCRIPT = "<script type=module src='/app.js'></script>"


def page(html: str | bytes, media_type: str = "text/html") -> Page:
    body = html.encode() if isinstance(html, str) else html
    url = "https://example.com/"
    return Page(url, url, 200, media_type, body, datetime(2026, 1, 1, tzinfo=UTC))


def decided(html: str) -> str | None:
    """The reason that the server finds: the page is extracted first."""
    chars, failure = None, None
    try:
        chars = len(extract(page(html), ExtractOptions()).text)
    except KindlyError as error:
        failure = error
    return browser_reason(page(html), text_chars=chars, failure=failure)


@pytest.mark.parametrize("html", JS_PAGES.values(), ids=JS_PAGES.keys())
def test_page_that_a_script_fills_needs_a_browser(html: str) -> None:
    assert decided(html)


@pytest.mark.parametrize("html", STATIC_PAGES.values(), ids=STATIC_PAGES.keys())
def test_short_page_with_its_text_needs_no_browser(html: str) -> None:
    assert decided(html) is None


def test_only_evidence_of_a_script_that_draws_the_page_is_certain() -> None:
    assert is_certain(browser_reason(page(JS_PAGES["vite react"])) or "")
    assert not is_certain(NO_TEXT_REASON)


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


def test_much_script_beside_a_short_text_is_no_evidence() -> None:
    html = shell(f"<p>{SENTENCE}</p><p>{SENTENCE}</p><script>{'a;' * 20_000}</script>{SCRIPT}")
    assert browser_reason(page(html), text_chars=130) is None


MENU = "".join(f"<a href=/{n}>Chapter {n}</a> " for n in range(20))


@pytest.mark.parametrize(
    ("body", "text_chars"),
    [
        (f"<div id=root></div><div><p>{SENTENCE * 8}</p></div>", 500),
        (f"<nav>{MENU}</nav><main></main><footer><p>{SENTENCE * 12}</p></footer>", 900),
        (f"<div class=menu>{MENU}</div><div id=stage></div>", 300),
        (f"<p>{SENTENCE}</p><ul class=news></ul>", 60),
        ("<div id=root hidden><p>" + SENTENCE * 30 + "</p></div>", 0),
    ],
    ids=[
        "mount beside a paragraph",
        "empty page between a menu and a long footer",
        "only a menu",
        "empty list below an introduction",
        "hidden until a script runs",
    ],
)
def test_little_text_around_the_missing_content_does_not_hide_the_need(
    body: str, text_chars: int
) -> None:
    assert browser_reason(page(shell(body + SCRIPT)), text_chars=text_chars)


@pytest.mark.parametrize(
    ("body", "text_chars"),
    [
        (f"<div id=root></div><div><p>{SENTENCE * 20}</p></div>", 1_200),
        (f"<ul class=news></ul><p>{SENTENCE * 6}</p>", 400),
        (f"<div class=spinner></div><p>{SENTENCE * 6}</p>", 400),
        ("<svg>" * 2_000 + "<p></p>", 900),
    ],
    ids=[
        "mount beside an article",
        "list beside an article",
        "spinner beside an article",
        "text where it is not looked for",
    ],
)
def test_page_with_content_beside_an_empty_element_needs_no_browser(
    body: str, text_chars: int
) -> None:
    assert browser_reason(page(shell(body + SCRIPT)), text_chars=text_chars) is None


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


MOUNT_REASON = "an empty element that a framework renders into"
MAX_CPU_S = 10.0
"""Backtracking would take minutes. CPU time does not depend on the load of the machine."""


@pytest.mark.parametrize(("start", "piece"), HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_repetition_is_judged_in_linear_time(start: str, piece: str) -> None:
    html = f"<script>fetch('/x')</script>{start}{piece * (LOOKED_AT_BYTES // len(piece))}"
    began = process_time()
    reasons = {browser_reason(page(html), text_chars=chars) for chars in (None, 0, 100)}
    assert reasons <= {None, NO_TEXT_REASON, MOUNT_REASON}
    assert process_time() - began < MAX_CPU_S


@pytest.mark.parametrize(
    ("failure", "needs_one"),
    [
        (PageChallenged("A bot check.", url="https://example.com/", status=403), True),
        (NeedsBrowser("No text without JavaScript.", url="https://example.com/"), True),
        (PageWalled("A login.", url="https://example.com/", wall=OutcomeKind.AUTH), False),
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


@pytest.mark.parametrize(
    ("wall", "needs_one"), [(OutcomeKind.BLOCKED, True), (OutcomeKind.AUTH, False)]
)
def test_browser_may_pass_a_bot_check_but_no_login(wall: OutcomeKind, needs_one: bool) -> None:
    failure = PageWalled("A wall.", url="https://example.com/", wall=wall)
    reason = browser_reason(page(JS_PAGES["anubis challenge"]), failure=failure)
    assert (reason is not None) is needs_one
