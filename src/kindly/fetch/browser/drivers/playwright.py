"""Playwright with an installed Chromium, in a worker process: `python -m kindly.fetch.browser.drivers.playwright`.

The one module that knows Playwright; it translates its exceptions into the worker protocol. Each page has its own
browser context, with no storage, permissions or service workers, and its own credentials for the filtering proxy.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

import anyio
from playwright.async_api import (
    Browser,
    BrowserContext,
    Dialog,
    Download,
    Error,
    FloatRect,
    Page,
    Request,
    Response,
    async_playwright,
)

from kindly.fetch.browser import driver_protocol
from kindly.fetch.browser.driver_worker import Driver, DriverFailed, main
from kindly.fetch.browser.page_scripts import script
from kindly.fetch.browser.page_scripts.screenshot import (
    PAGE_HEIGHT,
    REMOVE,
    SCREENSHOT_WIDTH,
    pictured,
)
from kindly.fetch.browser.settle import Observation, Settling

OBSERVE_S = 0.05
CLOSE_S = 3.0
TRIES = 3
GONE = ("has been closed", "has been disconnected", "Target crashed", "Connection closed")
MOVED = ("Execution context was destroyed", "Cannot find context", "frame was detached")
"""Messages of errors that a navigation during a script causes."""


@asynccontextmanager
async def open_driver(start: driver_protocol.Start) -> AsyncIterator[Driver]:
    """A running Chromium, closed at the end of the block.

    Raises:
        DriverFailed: it did not start.
    """
    async with async_playwright() as playwright:
        try:
            browser = await playwright.chromium.launch(
                executable_path=start.executable,
                args=list(start.flags),
                chromium_sandbox=start.sandbox,
                proxy={"server": start.proxy, "username": "none", "password": "none"},
                handle_sigint=False,
                timeout=start.timeout_s * 1000,
            )
        except Error as error:
            raise DriverFailed(error.message) from error
        try:
            yield PlaywrightDriver(browser, start)
        finally:
            with anyio.move_on_after(CLOSE_S, shield=True):
                await _closed(browser)


async def _closed(thing: Browser | BrowserContext | Page) -> None:
    with suppress(Error):
        await thing.close()


class PlaywrightDriver:
    """A started Chromium."""

    def __init__(self, browser: Browser, start: driver_protocol.Start) -> None:
        self.version = browser.version
        self._browser = browser
        self._start = start
        self._gone = anyio.Event()
        browser.on("disconnected", lambda _: self._gone.set())

    async def gone(self) -> None:
        """Wait until Chromium has ended by itself."""
        await self._gone.wait()

    async def render(
        self, job: driver_protocol.Job
    ) -> driver_protocol.Rendered | driver_protocol.RenderFailed:
        """Render one page in a new browser context."""
        visit = _Visit(job)
        try:
            context = await self._context(job)
            try:
                return await visit.run(context)
            finally:
                with anyio.move_on_after(CLOSE_S, shield=True):
                    await _closed(context)
        except Error as error:
            return visit.failed(error.message)

    async def _context(self, job: driver_protocol.Job) -> BrowserContext:
        return await self._browser.new_context(
            accept_downloads=False,
            service_workers="block",
            permissions=[],
            user_agent=self._start.user_agent,
            locale=self._start.locale,
            proxy={"server": self._start.proxy, "username": job.user, "password": job.password},
        )


@dataclass
class _Visit:
    """The state of one page load. Playwright sets attributes on it, so it has no slots."""

    job: driver_protocol.Job
    pending: int = 0
    status: int = 0
    media_type: str = ""
    at: str = ""
    downloading: bool = False

    async def run(
        self, context: BrowserContext
    ) -> driver_protocol.Rendered | driver_protocol.RenderFailed:
        """Load the page, wait for its content, and take the visible HTML."""
        end_s = anyio.current_time() + self.job.time_s
        page = await context.new_page()
        page.set_default_timeout(self.job.time_s * 1000)
        self._subscribe(context, page)
        response = await page.goto(self.job.url, wait_until="domcontentloaded")
        if self.media_type and not self.media_type.startswith(script.READABLE):
            return self._problem("download")
        await self._settle(page, end_s)
        if self.job.picture and response is not None and page.url.startswith("http"):
            return await self._pictured(page)
        html = await self._take(page)
        if not page.url.startswith(("http://", "https://")) or response is None:
            return self._problem("navigation")
        if not html:
            return self._problem("too_large")
        return driver_protocol.Rendered(self.job.id, page.url, self.status, html)

    async def _pictured(
        self, page: Page
    ) -> driver_protocol.Rendered | driver_protocol.RenderFailed:
        async def capture(height: int) -> bytes:
            clip: FloatRect = {"x": 0, "y": 0, "width": SCREENSHOT_WIDTH, "height": height}
            return await page.screenshot(
                type="png", full_page=True, clip=clip, scale="css", animations="disabled"
            )

        await _evaluate(page, REMOVE, list(script.BANNERS))
        height = int(await _evaluate(page, PAGE_HEIGHT) or 0)
        return await pictured(self.job, page.url, self.status, height, capture)

    def failed(self, message: str) -> driver_protocol.Rendered | driver_protocol.RenderFailed:
        """The answer for an error of Playwright; a status without a body is reported as an error too."""
        if "ERR_HTTP_RESPONSE_CODE_FAILURE" in message:
            return driver_protocol.Rendered(self.job.id, self.at, self.status, "")
        if self.downloading or "Download is starting" in message:
            return self._problem("download")
        if any(words in message for words in GONE):
            return self._problem("gone")
        known = "net::" in message or "Timeout" in message
        code = message.partition("net::")[2].partition(" ")[0]
        return self._problem("navigation" if known else "driver", code)

    def _problem(
        self, problem: driver_protocol.Problem, detail: str = ""
    ) -> driver_protocol.RenderFailed:
        return driver_protocol.RenderFailed(self.job.id, problem, self.at or self.job.url, detail)

    def _subscribe(self, context: BrowserContext, page: Page) -> None:
        page.on("request", self._started)
        page.on("requestfinished", self._finished)
        page.on("requestfailed", self._finished)
        page.on("response", self._response)
        page.on("dialog", _dismiss)
        page.on("download", self._download)
        context.on("page", _closed)

    def _started(self, request: Request) -> None:
        self.pending += 1
        if _is_main(request):
            self.at = request.url

    def _finished(self, request: Request) -> None:
        self.pending -= 1

    def _response(self, response: Response) -> None:
        if _is_main(response.request):
            self.status = response.status
            self.media_type = response.headers.get("content-type", "").strip().lower()

    def _download(self, download: Download) -> None:
        self.downloading = True

    async def _settle(self, page: Page, end_s: float) -> None:
        """Wait until the content is complete, up to the time limit."""
        settling = Settling()
        left_s = end_s - anyio.current_time()
        with anyio.move_on_after(min(self.job.settle_s, left_s)):
            while True:
                began = anyio.current_time()
                chars, complete = await _evaluate(page, script.OBSERVE) or (0, False)
                now = anyio.current_time()
                settling = settling.observe(Observation(now, chars, self.pending, complete))
                if settling.done(now):
                    return
                await anyio.sleep(max(OBSERVE_S, 2 * (now - began)))

    async def _take(self, page: Page) -> str:
        """The visible HTML, empty if it is too long; after a navigation, it is taken again."""
        for _ in range(TRIES):
            taken = await _evaluate(page, script.TAKE, [list(script.BANNERS), self.job.max_chars])
            if taken is not None:
                return str(taken)
            await page.wait_for_load_state("domcontentloaded")
        return ""


async def _evaluate(page: Page, function: str, argument: object = None) -> Any:
    """The result of a script in the page; None if a navigation destroyed its context."""
    try:
        return await page.evaluate(function, argument)
    except Error as error:
        if any(words in error.message for words in MOVED):
            return None
        raise


def _is_main(request: Request) -> bool:
    """Whether the request is for the top-level document."""
    return request.is_navigation_request() and request.frame.parent_frame is None


async def _dismiss(dialog: Dialog) -> None:
    with suppress(Error):
        await dialog.dismiss()


if __name__ == "__main__":  # pragma: no cover - the worker process
    main(open_driver)
