"""The console in a real Chromium, on a real server: from the token to every tab, at both widths, light and dark."""

import os
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from kindly.budget import count_tokens
from kindly.fetch.browser.executables import find, this_machine
from tests.support.chromium import needs_chromium
from tests.support.docs_site import DocsSite
from tests.support.node_tools import folder
from tests.support.processes import http_server, run_kindly
from tests.support.served_world import BOTH, environment, serper
from tests.support.site import Site, html, running_site

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page, Route

pytestmark = [pytest.mark.anyio, needs_chromium]

AXE = folder() / "node_modules" / "axe-core" / "axe.min.js"
TOKEN = "canary-console-token"
TABS = ("web_search", "get_content", "read_page", "recall", "library", "indexed", "activity")
WITH_DATA = {"library", "indexed", "activity"}
WAIT_MS = 60_000
SECTION = "<h2>Part {0}</h2><p>{1}</p><pre><code>call(part, {0})</code></pre>"
LONG = (
    "<html lang='en'><head><title>Hives and their keepers, a handbook with a rather long name"
    "</title></head><body><main><article><h1>Hives</h1>"
    + "".join(
        SECTION.format(number, "A hive holds its warmth by the bees themselves. " * 12)
        for number in range(12)
    )
    + "</article></main></body></html>"
)
HOSTILE = (
    "<html><head><title>&lt;img src=x onerror=hacked()&gt;</title></head><body><main><article>"
    "<h1>A page about markup</h1><p>Write &lt;img src=x onerror=hacked()&gt; and "
    "&lt;script&gt;hacked()&lt;/script&gt; and see what a careless page makes of it, which is "
    "more than one would like.</p></article></main></body></html>"
)

OVERFLOW = """() => {
  const seen = [];
  for (const one of document.querySelectorAll("body *")) {
    const box = one.getBoundingClientRect();
    if (!box.width || one.closest("svg") || one.tagName === "PRE") continue;
    if (box.right > innerWidth + 1 || box.left < -1) seen.push("outside " + one.outerHTML.slice(0, 80));
    const hides = getComputedStyle(one).overflowX !== "visible" && one.tagName !== "INPUT";
    if (hides && one.scrollWidth > one.clientWidth + 1) seen.push("cut " + one.outerHTML.slice(0, 80));
  }
  return seen;
}"""
OVERLAP = """() => {
  const seen = [];
  const kinds = "button, input, select, textarea, label, h1, h2, h3, dt, dd, th, td, pre, p, summary";
  const words = [...document.querySelectorAll(kinds)]
    .filter((one) => one.getBoundingClientRect().width);
  for (const one of words) for (const other of words) {
    if (one === other || one.contains(other) || other.contains(one)) continue;
    const a = one.getBoundingClientRect(), b = other.getBoundingClientRect();
    const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const tall = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (wide > 1 && tall > 1) seen.push(one.outerHTML.slice(0, 60) + " over " + other.outerHTML.slice(0, 60));
  }
  return seen;
}"""


COLLECTIONS = {
    "now": 1_800_000_000,
    "collections": [
        {
            "collection": "hives@2.0",
            "state": "crawling",
            "pages": 40,
            "left": 160,
            "failed": 3,
            "origin": "https://example.com/" + "hives-" * 40,
            "size_bytes": 123_456,
            "checked_at": "2026-11-01T10:00:00+00:00",
            "note": "Left out: 7 pages of a calendar.",
            "found_by": "sitemap",
            "done": 37,
            "total": 200,
            "running": True,
        }
    ],
}
CHANGES = {
    "changes": {
        "checked": 40,
        "new": ["https://example.com/hives/new"],
        "changed": [
            {
                "url": "https://example.com/hives/1",
                "title": "The hive",
                "before": "2026-01-01T10:00:00+00:00",
                "after": "2026-02-01T10:00:00+00:00",
                "sections": [
                    {
                        "change": "altered",
                        "section": ["The hive", "Warmth"],
                        "diff": "-It is warm.\n+<img src=x>",
                        "link": "https://example.com/hives/1",
                    }
                ],
            }
        ],
    }
}


def _answer_with(data: object) -> "Callable[[Route], Awaitable[None]]":
    """Answers a request of the page with this data."""

    async def answer(route: "Route") -> None:
        await route.fulfill(json=data)

    return answer


@dataclass(frozen=True)
class World:
    """A server with some pages to read, and a browser."""

    address: str
    site: Site
    browser: "Browser"

    @asynccontextmanager
    async def page(self, **options: Any) -> AsyncIterator["Page"]:
        """A new tab without stored data; a request to another origin or a script error fails the test."""
        context = await self.browser.new_context(**options)
        page = await context.new_page()
        page.set_default_timeout(WAIT_MS)
        foreign: list[str] = []
        errors: list[str] = []
        page.on("request", lambda request: foreign.append(request.url))
        page.on("pageerror", lambda error: errors.append(str(error)))
        try:
            with anyio.fail_after(150):
                yield page
            assert errors == []
            assert [url for url in foreign if not url.startswith((self.address, "data:"))] == []
        finally:
            await context.close()

    async def enter(self, page: "Page") -> None:
        """Open the console and give the token."""
        await page.goto(f"{self.address}/console")
        await page.get_by_label("Token", exact=True).fill(TOKEN)
        await page.keyboard.press("Enter")
        await page.locator("#main").wait_for(state="visible")


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """For the whole module, so that one browser serves all its tests."""
    return "asyncio"


@pytest.fixture(scope="module")
async def world(
    anyio_backend: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[World]:
    from playwright.async_api import async_playwright

    data = tmp_path_factory.mktemp("console")
    async with running_site() as site, async_playwright() as driver:
        site.add("/long", html(LONG))
        site.add("/hostile", html(HOSTILE))
        site.add("/serper/search", serper([site.url("/article"), site.url("/long")]))
        environ = environment(site, data, **BOTH, KINDLY_HTTP_TOKEN=TOKEN)
        made = await run_kindly(environ, "index", DocsSite(site, 3).start, "--name", "docs@1.0")
        assert made.code == 0, made.err
        path = find(this_machine(os.environ)).path
        browser = await driver.chromium.launch(executable_path=path)
        try:
            with http_server(environ) as address:
                yield World(address.removesuffix("/mcp"), site, browser)
        finally:
            await browser.close()


async def run(page: "Page", tool: str, **values: str) -> str:
    """Fill in a tool's form, submit it with Enter, and give the text that a model would get."""
    await page.locator(f"#tab-{tool}").click()
    for name, value in values.items():
        await page.locator(f"#{tool}-{name}").fill(value)
    await page.keyboard.press("Enter")
    shown = page.locator(f"#panel-{tool} pre")
    await page.locator(f"#panel-{tool} button[type=submit]:enabled").wait_for()
    return (await shown.text_content()) or ""


async def test_the_token_is_asked_for_once_in_a_tab(world: World) -> None:
    async with world.page() as page:
        await page.goto(f"{world.address}/console")
        await page.get_by_label("Token", exact=True).fill("not-the-token")
        await page.keyboard.press("Enter")
        await page.get_by_role("alert").get_by_text("not accepted").wait_for()
        await page.get_by_label("Token", exact=True).fill(TOKEN)
        await page.get_by_role("button", name="Open the console").click()
        await page.get_by_role("tab", name="web_search").wait_for()
        await page.reload()
        await page.get_by_role("tab", name="web_search").wait_for()
        assert not await page.get_by_label("Token", exact=True).is_visible()
        await page.get_by_role("button", name="Forget token").click()
        await page.get_by_label("Token", exact=True).wait_for()
        assert await page.evaluate("sessionStorage.length") == 0
        assert TOKEN not in await page.content()


async def test_every_tool_shows_what_a_model_would_get_with_its_tokens(world: World) -> None:
    long = world.site.url("/long")
    async with world.page() as page:
        await world.enter(page)
        found = await run(page, "web_search", query="how do bees find flowers")
        read = await run(page, "get_content", url=long)
        asked = await run(page, "read_page", url=long, question="what holds the warmth of a hive?")
        recalled = await run(page, "recall", question="ultraviolet light")
        told = await page.locator("#panel-recall button[aria-pressed=true]").text_content()
        await page.locator("#panel-recall button", has_text="Data").click()
        data = await page.locator("#panel-recall pre").text_content()
    assert "ultraviolet" in found
    assert "<<<web-page" in found
    assert "# Hives" in read
    assert "by the bees themselves" in asked
    assert "ultraviolet" in recalled
    assert told == f"Text · {count_tokens(recalled):,} tokens"
    assert data is not None
    assert data.startswith('{\n  "findings"')


async def test_two_questions_go_on_two_lines_and_a_failure_is_shown_as_one(world: World) -> None:
    async with world.page() as page:
        await world.enter(page)
        await page.locator("#tab-recall").click()
        await page.locator("#recall-question").focus()
        await page.keyboard.type("hive")
        await page.keyboard.press("Shift+Enter")
        await page.keyboard.type("flower")
        await page.keyboard.press("Enter")
        called = await page.locator("#panel-recall code").text_content()
        await run(page, "get_content", url=world.site.url("/status/404"))
        failed = await page.locator("#panel-get_content .bad").text_content()
    assert called == 'recall({"question":["hive","flower"]})'
    assert failed == "failed"


async def test_tabs_are_walked_with_the_arrow_keys(world: World) -> None:
    async with world.page() as page:
        await world.enter(page)
        await page.locator("#tab-web_search").focus()
        walked = []
        for key in ("ArrowRight", "ArrowRight", "ArrowLeft", "End", "ArrowRight", "ArrowLeft"):
            await page.keyboard.press(key)
            walked.append(await page.evaluate("document.activeElement.textContent"))
        outline = await page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        await page.keyboard.press("Home")
        await page.keyboard.press("Tab")
        inside = await page.evaluate("document.activeElement.id")
    assert walked == [
        "get_content",
        "read_page",
        "get_content",
        "Activity",
        "web_search",
        "Activity",
    ]
    assert outline == "solid"
    assert inside == "web_search-query"


async def test_page_text_is_never_markup(world: World) -> None:
    async with world.page() as page:
        await world.enter(page)
        text = await run(page, "get_content", url=world.site.url("/hostile"))
        await page.locator("#tab-library").click()
        entry = page.locator(".pages button", has_text="onerror")
        await entry.click()
        await page.locator("#panel-library pre").first.wait_for()
        heading = await page.locator("#panel-library h2").last.text_content()
        made = await page.locator("img, iframe, body script:not(:last-child)").count()
    assert "<script>hacked()</script>" in text.replace("\\", "")
    assert heading == "<img src=x onerror=hacked()>"
    assert made == 0


async def test_the_library_is_browsed(world: World) -> None:
    async with world.page() as page:
        await world.enter(page)
        await run(page, "get_content", url=world.site.url("/long"))
        await page.locator("#tab-library").click()
        await page.get_by_label("Filter").fill("keepers")
        await page.locator(".pages button").first.click()
        await page.get_by_role("heading", name="Hives and their keepers").wait_for()
        chunks = await page.locator("#panel-library pre").count()
        await page.keyboard.press("Enter")
        back = await page.evaluate("document.activeElement.id")
    assert chunks > 1
    assert back == "filter"


async def test_a_collection_is_asked_and_compared(world: World) -> None:
    async with world.page() as page:
        await world.enter(page)
        await page.locator("#tab-indexed").click()
        entry = page.locator("#panel-indexed .pages button")
        await entry.wait_for()
        listed = await entry.inner_text()
        await entry.click()
        await page.get_by_label("Ask this collection").fill("What is widget 2 about?")
        await page.keyboard.press("Enter")
        passage = page.locator("#panel-indexed pre").first
        await passage.wait_for()
        found = await passage.inner_text()
        await page.get_by_role("button", name="Show changes").click()
        await page.get_by_text("0 of 4 pages changed.").wait_for()
        await page.get_by_role("button", name="Back to the collections").click()
        back = await page.evaluate("document.activeElement.id")
    assert listed.startswith("docs@1.0")
    assert "4 pages" in listed
    assert "checked" in listed
    assert "Page 2 is about widget 2" in found
    assert back == "tab-indexed"


async def test_changes_of_a_collection_and_its_progress_are_shown(world: World) -> None:
    async with world.page() as page:
        await page.route("**/console/api/collections", _answer_with(COLLECTIONS))
        await page.route("**/console/api/changes?*", _answer_with(CHANGES))
        await world.enter(page)
        await page.locator("#tab-indexed").click()
        entry = page.locator("#panel-indexed .pages button")
        await entry.wait_for()
        listed = await entry.inner_text()
        meter = await entry.locator("svg").get_attribute("aria-label")
        await entry.click()
        await page.get_by_label("What changed since").fill("2026-01-31")
        await page.keyboard.press("Enter")
        diff = page.locator("#panel-indexed pre")
        await diff.wait_for()
        shown = await page.locator("#panel-indexed").inner_text()
        overflow = await page.evaluate(OVERFLOW)
    assert "being indexed: 40 of 200 pages" in listed
    assert meter == "Progress of hives@2.0"
    assert "altered The hive › Warmth" in shown
    assert "+<img src=x>" in shown
    assert "1 of 40 pages changed, 1 are new." in shown
    assert overflow == []


async def test_activity_is_drawn_live_and_names_no_question(world: World) -> None:
    question = "a question that is private"
    async with world.page() as page:
        await world.enter(page)
        await run(page, "recall", question=question)
        await page.locator("#tab-activity").click()
        await page.locator("#panel-activity svg[role=img] rect.b-ok").first.wait_for()
        first = await page.locator("#panel-activity tbody tr").first.text_content()
        before = int(await page.locator(".tile dd").first.inner_text())
        async with page.expect_response(re.compile("/console/api/call")):
            await page.evaluate(
                """token => fetch("/console/api/call", { method: "POST",
                   headers: { Authorization: "Bearer " + token, "Content-Type": "application/json" },
                   body: JSON.stringify({ tool: "recall", arguments: { question: "hive" } }) })""",
                TOKEN,
            )
        await page.wait_for_function(
            "n => Number(document.querySelector('.tile dd').textContent) > n", arg=before
        )
        shown = await page.locator("#panel-activity").inner_text()
    assert first is not None
    assert re.match(r"\d\d:\d\d:\d\drecallok", first)
    assert "serper" in shown
    assert question not in shown


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (400, "dark")])
async def test_nothing_overlaps_or_is_cut(world: World, width: int, scheme: str) -> None:
    long = world.site.url("/long")
    viewport = {"width": width, "height": 900}
    async with world.page(viewport=viewport, color_scheme=scheme) as page:
        await world.enter(page)
        await run(page, "web_search", query="how do bees find flowers")
        await run(page, "get_content", url=long)
        await run(page, "read_page", url=long, question="what holds the warmth of a hive?")
        await run(page, "recall", question="ultraviolet light")
        for tab in TABS:
            await page.locator(f"#tab-{tab}").click()
            for options in await page.locator(f"#panel-{tab} summary").all():
                await options.click()
            if tab in WITH_DATA:
                await page.locator(f"#panel-{tab} :is(.pages button, .tile)").first.wait_for()
            assert await page.evaluate(OVERFLOW) == [], tab
            assert await page.evaluate(OVERLAP) == [], tab


@pytest.mark.skipif(
    not AXE.is_file(), reason="axe-core is not here; `make conformance` installs it"
)
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_nothing(world: World, scheme: str) -> None:
    async with world.page(color_scheme=scheme) as page:
        await page.goto(f"{world.address}/console")
        await page.get_by_label("Token", exact=True).wait_for()
        await page.evaluate(await anyio.Path(AXE).read_text(encoding="utf-8"))
        problems = await page.evaluate("axe.run()")
        assert [one["id"] for one in problems["violations"]] == []
        await page.get_by_label("Token", exact=True).fill(TOKEN)
        await page.keyboard.press("Enter")
        await run(page, "web_search", query="how do bees find flowers")
        await run(page, "get_content", url=world.site.url("/status/404"))
        for tab in TABS:
            await page.locator(f"#tab-{tab}").click()
            if tab in WITH_DATA:
                await page.locator(f"#panel-{tab} :is(.pages button, .tile)").first.wait_for()
            problems = await page.evaluate("axe.run()")
            assert [(one["id"], one["impact"]) for one in problems["violations"]] == [], tab
            assert len(problems["passes"]) > 10
