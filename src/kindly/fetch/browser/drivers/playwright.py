"""Playwright with an installed Chromium, in a worker process: `python -m kindly.fetch.browser.drivers.playwright`.

The one place that knows Playwright; its exceptions become words of the wire here. Each page gets a context of its own,
with no storage, no permissions and no service workers, and a pass for the filtering proxy that no other call has.
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
    Page,
    Request,
    Response,
    async_playwright,
)

from kindly.fetch.browser import driver_protocol, script
from kindly.fetch.browser.driver_worker import Driver, DriverFailed, main
from kindly.fetch.browser.settle import Observation, Settling

LOOK_S = 0.05
CLOSE_S = 3.0
TRIES = 3
GONE = ("has been closed", "has been disconnected", "Target crashed", "Connection closed")
MOVED = ("Execution context was destroyed", "Cannot find context", "frame was detached")
"""Words of an error that a navigation under our feet causes."""


@asynccontextmanager
async def open_driver(start: driver_protocol.Start) -> AsyncIterator[Driver]:
    """Chromium, started and at the end closed.

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
        """Returns when Chromium has ended by itself."""
        await self._gone.wait()

    async def render(
        self, job: driver_protocol.Job
    ) -> driver_protocol.Rendered | driver_protocol.RenderFailed:
        """What one page shows, in a context that nothing else was or will be seen in."""
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
    """One page on its way: where it is, and what it waits for. Playwright writes to it, so it has no slots."""

    job: driver_protocol.Job
    pending: int = 0
    status: int = 0
    media_type: str = ""
    at: str = ""
    downloading: bool = False

    async def run(
        self, context: BrowserContext
    ) -> driver_protocol.Rendered | driver_protocol.RenderFailed:
        """Go there, wait for the content, take what is visible."""
        end_s = anyio.current_time() + self.job.time_s
        page = await context.new_page()
        page.set_default_timeout(self.job.time_s * 1000)
        self._watch(context, page)
        response = await page.goto(self.job.url, wait_until="domcontentloaded")
        if self.media_type and not self.media_type.startswith(script.READABLE):
            return self._problem("download")
        await self._settle(page, end_s)
        html = await self._take(page)
        if not page.url.startswith(("http://", "https://")) or response is None:
            return self._problem("navigation")
        if not html:
            return self._problem("too_large")
        return driver_protocol.Rendered(self.job.id, page.url, self.status, html)

    def failed(self, message: str) -> driver_protocol.Rendered | driver_protocol.RenderFailed:
        """What one of Playwright's errors means; a status without a body is one too."""
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

    def _watch(self, context: BrowserContext, page: Page) -> None:
        page.on("request", self._asked)
        page.on("requestfinished", self._answered)
        page.on("requestfailed", self._answered)
        page.on("response", self._response)
        page.on("dialog", _dismiss)
        page.on("download", self._download)
        context.on("page", _closed)

    def _asked(self, request: Request) -> None:
        self.pending += 1
        if _is_main(request):
            self.at = request.url

    def _answered(self, request: Request) -> None:
        self.pending -= 1

    def _response(self, response: Response) -> None:
        if _is_main(response.request):
            self.status = response.status
            self.media_type = response.headers.get("content-type", "").strip().lower()

    def _download(self, download: Download) -> None:
        self.downloading = True

    async def _settle(self, page: Page, end_s: float) -> None:
        """Until the content is there, or its time is up."""
        settling = Settling()
        left_s = end_s - anyio.current_time()
        with anyio.move_on_after(min(self.job.settle_s, left_s)):
            while True:
                began = anyio.current_time()
                chars, complete = await _asked_page(page, script.OBSERVE) or (0, False)
                now = anyio.current_time()
                settling = settling.seeing(Observation(now, chars, self.pending, complete))
                if settling.done(now):
                    return
                await anyio.sleep(max(LOOK_S, 2 * (now - began)))

    async def _take(self, page: Page) -> str:
        """What is visible, empty when it is too long; a page that moves on meanwhile is waited for."""
        for _ in range(TRIES):
            taken = await _asked_page(page, script.TAKE, [list(script.BANNERS), self.job.max_chars])
            if taken is not None:
                return str(taken)
            await page.wait_for_load_state("domcontentloaded")
        return ""


async def _asked_page(page: Page, question: str, argument: object = None) -> Any:
    """What a script says inside the page; nothing when the page moved on under it."""
    try:
        return await page.evaluate(question, argument)
    except Error as error:
        if any(words in error.message for words in MOVED):
            return None
        raise


def _is_main(request: Request) -> bool:
    """Whether it is for the document itself."""
    return request.is_navigation_request() and request.frame.parent_frame is None


async def _dismiss(dialog: Dialog) -> None:
    with suppress(Error):
        await dialog.dismiss()


if __name__ == "__main__":  # pragma: no cover - the worker process
    main(open_driver)
