"""The browser pool: a URL in, a `Page` of visible HTML out, rendered by one warm browser behind the filtering proxy.

Nothing starts before the first page. Each page has its own credentials for the proxy. A browser that died is replaced
at the next call, one that rendered many pages is replaced by a new one, and an idle one is closed; running pages are
never cut off. `launch.py` starts browsers; `need.py` decides whether a page needs one.
"""

import base64
import math
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import cast

import anyio
from anyio.abc import TaskGroup, TaskStatus

from kindly.budget import Deadline
from kindly.clock import Clock
from kindly.concurrency.background_tasks import background_tasks
from kindly.concurrency.cooldown import Cooldown
from kindly.errors import (
    BrowserUnavailable,
    FetchError,
    InputError,
    PageTimeout,
    PageTooLarge,
    PageUnreachable,
    SettingsError,
)
from kindly.fetch.browser import driver_protocol
from kindly.fetch.browser.browser_process import StartError
from kindly.fetch.browser.launch import (
    SEE_DOCTOR,
    Browser,
    BrowserSettings,
    Launch,
    start_failure,
    start_with_retries,
    worker_launch,
)
from kindly.fetch.browser.page_scripts.screenshot import SCREENSHOT_BYTES, SCREENSHOT_WIDTH
from kindly.fetch.browser.proxy import Dial, FilteringProxy, ProxySession, dial_tcp, running_proxy
from kindly.fetch.chain.responses import failure
from kindly.fetch.chain.types import HopReply
from kindly.fetch.guard.guard import Guard
from kindly.frozen import frozen
from kindly.models import FetchMethod, How, Page, Screenshot
from kindly.urls import Url, parse

MARGIN_S = 0.5
"""Kept back from a deadline for handing the page over."""
FAILED_START_S = 30.0
"""How long a browser that did not start in all its attempts is not started again."""
MAX_TIMEOUTS = 2
"""After this many consecutive time-outs, the browser counts as stuck."""


@frozen
class BrowserSeams:
    """Network, browser start and clock, passed in so that tests can replace them."""

    dial: Dial = dial_tcp
    launch: Launch | None = None
    clock: Clock = field(default_factory=Clock)


@dataclass(eq=False, slots=True)
class _RunningBrowser:
    """A started browser and its use."""

    browser: Browser
    used_at_s: float
    """When a page last started or ended."""
    started_pages: int = 0
    running_pages: int = 0
    closing: bool = False

    async def aclose(self) -> None:
        """Close it, once."""
        if not self.closing:
            self.closing = True
            await self.browser.aclose()


class BrowserPool:
    """Renders a few pages at a time in one browser, which is started when it is first needed."""

    def __init__(
        self,
        settings: BrowserSettings,
        guard: Guard,
        *,
        launch: Launch,
        seams: BrowserSeams,
        tasks: TaskGroup,
    ) -> None:
        self._settings = settings
        self._guard = guard
        self._launch = launch
        self._clock = seams.clock
        self._proxy = FilteringProxy(guard, settings.proxy, seams.dial, settings.egress)
        self._slots = anyio.Semaphore(settings.pages)
        self._starting = anyio.Lock()
        self._ids = count(1)
        self._current: _RunningBrowser | None = None
        self._retired: set[_RunningBrowser] = set()
        """Browsers that get no new page, and are closed after their last one."""
        self._timeouts = 0
        """Consecutive pages that ran out of time."""
        self._start_pause = Cooldown(seams.clock.monotonic)
        self._start_failure: BrowserUnavailable | None = None
        self._tasks = tasks

    async def render(self, url: Url, deadline: Deadline) -> Page:
        """The page as a person sees it, once its content is there.

        Raises:
            FetchError: a leaf with the reason.
        """
        return self._page(await self._in_time(url, deadline), url)

    async def screenshot(self, url: Url, deadline: Deadline) -> Screenshot:
        """A picture of the page, from its top; only in a pool for pictures.

        Raises:
            FetchError: a leaf with the reason.
        """
        return self._screenshot(await self._in_time(url, deadline), url)

    async def _in_time(self, url: Url, deadline: Deadline) -> driver_protocol.Rendered:
        self._guard.check(url)
        try:
            with anyio.fail_after(deadline.remaining_s()):
                async with self._slots:
                    return await self._render(url, deadline)
        except TimeoutError as error:
            if self._current is None:
                raise BrowserUnavailable(
                    f"The browser did not start in time. {SEE_DOCTOR}", url=str(url), attempts=1
                ) from error
            raise PageTimeout(
                f"{url.host} was not rendered by the browser in time.", url=str(url)
            ) from error

    async def release(self) -> None:
        """Close the browser now, if no page uses it."""
        running = self._current
        if running is not None and not running.running_pages:
            self._current = None
            self._retired.add(running)
            self._tasks.start_soon(self._close_retired, running)

    async def aclose(self) -> None:
        """Close all browsers."""
        open_ones = (*self._retired, *filter(None, [self._current]))
        self._retired.clear()
        self._current = None
        for running in open_ones:
            await running.aclose()

    async def _render(self, url: Url, deadline: Deadline) -> driver_protocol.Rendered:
        running = await self._acquire(url)
        try:
            with self._proxy.session() as session:
                answer = await running.browser.render(self._job(url, session, deadline))
        finally:
            self._timeouts = 0 if deadline.remaining_s() else self._timeouts + 1
            self._release(running)
        if isinstance(answer, driver_protocol.Rendered) and answer.status < 400:
            return answer
        raise _proxy_failure(session, answer.url, url) or self._failure(answer, url)

    async def _acquire(self, url: Url) -> _RunningBrowser:
        """The browser for one more page, started if there is none that works."""
        async with self._starting:
            running = self._current
            if running is None or not running.browser.alive or self._timeouts >= MAX_TIMEOUTS:
                running = await self._replaced(url)
            elif running.started_pages >= self._settings.max_pages:
                self._current = None
                self._retired.add(running)
                self._close_if_unused(running)
                running = await self._replaced(url)
            running.started_pages += 1
            running.running_pages += 1
            running.used_at_s = self._clock.monotonic()
            return running

    async def _replaced(self, url: Url) -> _RunningBrowser:
        if self._current is not None:
            old, self._current = self._current, None
            await old.aclose()
        self._timeouts = 0
        if self._start_failure is not None and self._start_pause.is_active:
            raise self._start_failure.replace(url=str(url))
        try:
            browser = await self._started()
        except SettingsError as error:
            raise start_failure(error, str(url)) from error
        except StartError as error:
            self._start_pause.start(FAILED_START_S)
            self._start_failure = start_failure(error, str(url))
            raise self._start_failure from error
        self._current = _RunningBrowser(browser, self._clock.monotonic())
        if math.isfinite(self._settings.idle_s):
            self._tasks.start_soon(self._close_when_idle, self._current)
        return self._current

    def _release(self, running: _RunningBrowser) -> None:
        running.running_pages -= 1
        running.used_at_s = self._clock.monotonic()
        if running in self._retired:
            self._close_if_unused(running)

    def _close_if_unused(self, running: _RunningBrowser) -> None:
        if not running.running_pages:
            self._tasks.start_soon(self._close_retired, running)

    async def _close_retired(self, running: _RunningBrowser) -> None:
        await running.aclose()
        self._retired.discard(running)

    async def _close_when_idle(self, running: _RunningBrowser) -> None:
        wait_s = self._settings.idle_s
        while wait_s > 0:
            await self._clock.sleep(wait_s)
            if running is not self._current:
                return
            unused_s = self._clock.monotonic() - running.used_at_s
            wait_s = self._settings.idle_s - (0.0 if running.running_pages else unused_s)
        self._current = None
        self._retired.add(running)
        await self._close_retired(running)

    async def _started(self) -> Browser:
        if not self._proxy.port:
            await self._tasks.start(self._serve_proxy)
        return await start_with_retries(
            self._launch, self._proxy.server, self._tasks, self._settings, self._clock
        )

    async def _serve_proxy(self, *, task_status: TaskStatus[None]) -> None:
        async with running_proxy(self._proxy):
            task_status.started()
            await anyio.sleep_forever()

    def _job(self, url: Url, session: ProxySession, deadline: Deadline) -> driver_protocol.Job:
        left_s = deadline.remaining_s()
        return driver_protocol.Job(
            id=next(self._ids),
            url=str(url),
            user=session.user,
            password=session.password,
            time_s=max(left_s - MARGIN_S, left_s / 2),
            settle_s=self._settings.settle_s,
            max_chars=self._settings.max_chars,
            picture=self._settings.pictures,
        )

    def _page(self, rendered: driver_protocol.Rendered, url: Url) -> Page:
        return Page(
            url=_final(rendered, url),
            requested_url=str(url),
            status=rendered.status,
            media_type="text/html",
            body=rendered.html.encode("utf-8", "replace"),
            fetched_at=self._clock.now(),
            charset="utf-8",
            how=How(FetchMethod.BROWSER),
        )

    def _screenshot(self, rendered: driver_protocol.Rendered, url: Url) -> Screenshot:
        return Screenshot(
            url=_final(rendered, url),
            png=base64.b64decode(rendered.png),
            width=SCREENSHOT_WIDTH,
            height=rendered.height,
            page_height=rendered.page_height,
            fetched_at=self._clock.now(),
        )

    def _failure(
        self, answer: driver_protocol.Rendered | driver_protocol.RenderFailed, url: Url
    ) -> FetchError:
        """The error for an HTTP status, or for what the driver reports."""
        if isinstance(answer, driver_protocol.Rendered):
            error = failure(HopReply(url, answer.status), self._clock.now())
            return cast("FetchError", error)
        if answer.problem == "too_large" and self._settings.pictures:
            return PageTooLarge(
                f"A screenshot of the page has more than {SCREENSHOT_BYTES:,} bytes.",
                url=str(url),
                limit_bytes=SCREENSHOT_BYTES,
            )
        if answer.problem == "too_large":
            limit = self._settings.max_chars
            return PageTooLarge(
                f"The visible HTML of the page exceeds the limit of {limit} characters.",
                url=str(url),
                limit_bytes=limit,
            )
        return _unreachable(url, SENTENCES[answer.problem])


SENTENCES: Mapping[driver_protocol.Problem, str] = {
    "navigation": "could not be opened by the browser",
    "download": "sent the browser a file to save instead of a page",
    "too_large": "shows too much text",
    "gone": "could not be rendered: the browser crashed, and starts again with the next page",
    "driver": "could not be rendered by the browser",
}


def _final(rendered: driver_protocol.Rendered, url: Url) -> str:
    """The address that the browser ended at."""
    try:
        return str(parse(rendered.url))
    except InputError as error:
        raise _unreachable(url, "redirects to an address that may not be fetched") from error


def _unreachable(url: Url, why: str) -> PageUnreachable:
    return PageUnreachable(f"{url.host} {why}.", url=str(url))


def _proxy_failure(session: ProxySession, at: str, url: Url) -> FetchError | None:
    """The proxy's own error for a URL: it is more exact than what the browser saw."""
    known = session.failures.get(_authority(at)) or session.failures.get((url.host, url.port))
    return None if known is None else known.replace(url=str(url))


def _authority(text: str) -> tuple[str, int]:
    try:
        url = parse(text)
    except InputError:
        return "", 0
    return url.host, url.port


@asynccontextmanager
async def open_browser(
    settings: BrowserSettings,
    guard: Guard,
    *,
    environ: Mapping[str, str],
    seams: BrowserSeams | None = None,
) -> AsyncIterator[BrowserPool]:
    """A pool for the duration of the block; nothing starts before its first page, and no process is left at the end."""
    seams = seams or BrowserSeams()
    launch = seams.launch or worker_launch(settings, environ)
    async with background_tasks() as tasks:
        pool = BrowserPool(settings, guard, launch=launch, seams=seams, tasks=tasks)
        try:
            yield pool
        finally:
            await pool.aclose()
