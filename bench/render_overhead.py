"""Overhead of rendering: `pool.render` on a warm browser against a bare Playwright script, interleaved.

    python -m bench.render_overhead [--rounds 15]

Both open the same page, whose script fetches its text, in a fresh context of a warm Chromium. The bare script knows the
element to wait for and takes the page's HTML; a second one waits until the network is idle, as a script for any page
does. Traffic goes over loopback. Exits 1 if the ratio to the first script is above the bar; without a browser, it says
why and exits.
"""

import argparse
import os
import statistics
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib.util import find_spec

import anyio
from tests.support.site import Answer, Site, SiteRequest, html, running_site, text

from kindly.budget import Deadline
from kindly.errors import SettingsError
from kindly.fetch.browser.browser_pool import open_browser
from kindly.fetch.browser.executables import find, this_machine
from kindly.fetch.browser.launch import BrowserSettings
from kindly.fetch.guard.guard import Guard, GuardPolicy
from kindly.urls import parse

MAX_RATIO = 1.5
LATENCY_S = 0.1
PARAGRAPH = "<p>Bees see ultraviolet light, so a flower that looks plain to us may carry guides for them.</p>"
SHELL = (
    "<!doctype html><title>Bees</title><p>Loading…</p><script>fetch('/data').then(r => r.text())"
    ".then(t => { document.body.innerHTML = `<main id=done>${t}</main>` })</script>"
)
Render = Callable[[str], Awaitable[str]]


def later(answer: Answer) -> Callable[[SiteRequest, object], Awaitable[Answer]]:
    """The response after a typical delay."""

    async def wait(request: SiteRequest, stream: object) -> Answer:
        await anyio.sleep(LATENCY_S)
        return answer

    return wait


def serve(site: Site) -> str:
    """Add the page to the site; returns its URL."""
    site.add("/data", later(text(PARAGRAPH * 40)))
    return site.add("/js", later(html(SHELL)))


@asynccontextmanager
async def bare(executable: str) -> AsyncIterator[dict[str, Render]]:
    """Two scripts on one warm Chromium."""
    from playwright.async_api import Page, async_playwright

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=executable)

        async def visit(url: str, ready: Callable[[Page], Awaitable[object]]) -> str:
            context = await browser.new_context()
            try:
                page = await context.new_page()
                await page.goto(url, wait_until="domcontentloaded")
                await ready(page)
                return await page.content()
            finally:
                await context.close()

        yield {
            "bare, network idle": lambda url: visit(
                url, lambda page: page.wait_for_load_state("networkidle")
            ),
            "bare, knows the element": lambda url: visit(
                url, lambda page: page.wait_for_selector("#done")
            ),
        }
        await browser.close()


async def measure(executable: str, rounds: int) -> int:
    """Interleave all of them, print the medians, and return 1 if the bar is missed."""
    async with running_site() as site:
        url = serve(site)
        guard = Guard(GuardPolicy(allow_private=(site.host,)))
        async with (
            open_browser(BrowserSettings(), guard, environ=os.environ) as pool,
            bare(executable) as scripts,
        ):

            async def kindly(url: str) -> str:
                return (await pool.render(parse(url), Deadline.after(30))).body.decode()

            renders: dict[str, Render] = {"kindly": kindly, **scripts}
            took: dict[str, list[float]] = {name: [] for name in renders}
            for turn in range(rounds + 2):
                for name, render in renders.items():
                    began = time.perf_counter()
                    assert "ultraviolet" in await render(f"{url}?{turn}")
                    if turn >= 2:
                        took[name].append(time.perf_counter() - began)
    return report(took)


def report(took: dict[str, list[float]]) -> int:
    """Print the medians next to the bar."""
    median = {name: statistics.median(values) for name, values in took.items()}
    for name, value in median.items():
        print(f"{name:28} {value * 1000:6.0f} ms p50")
    ratio = median["kindly"] / median["bare, knows the element"]
    idle = median["kindly"] / median["bare, network idle"]
    print(f"{'ratio':28} {ratio:6.2f}        bar {MAX_RATIO}")
    print(f"{'ratio to network idle':28} {idle:6.2f}")
    return int(ratio > MAX_RATIO)


def main() -> int:
    """Look for a browser and measure."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    if find_spec("playwright") is None:
        print("Skipped: playwright is not installed.")
        return 0
    try:
        executable = find(this_machine(os.environ)).path
    except SettingsError as error:
        print(f"Skipped: {error}")
        return 0
    return anyio.run(measure, executable, rounds)


if __name__ == "__main__":
    sys.exit(main())
