"""Pages as a browser shows them: an address in, a `Page` of visible HTML out, from one warm browser behind the proxy.

Nothing is started before the first page. Each page has its own pass through the proxy. A browser that died is replaced
at the next call, one that rendered many pages makes room for a new one, and one that nobody uses is closed; neither
cuts a page off. Which driver runs the browser is a name in a table; whether a page needs one at all is decided in
`need.py`.
"""

import math
import os
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import count
from typing import Literal, Protocol, cast

import anyio
from anyio.abc import TaskGroup, TaskStatus

from kindly.budget import Deadline
from kindly.clock import Clock
from kindly.errors import (
    FetchError,
    InputError,
    PageTimeout,
    PageTooLarge,
    PageUnreachable,
    SettingsError,
)
from kindly.fetch.browser import driver_protocol
from kindly.fetch.browser.browser_process import StartError, start_worker
from kindly.fetch.browser.drivers import DRIVERS
from kindly.fetch.browser.executables import find, this_machine
from kindly.fetch.browser.flags import FLAGS
from kindly.fetch.browser.proxy import (
    Dial,
    FilteringProxy,
    Pass,
    ProxyLimits,
    dial_tcp,
    running_proxy,
)
from kindly.fetch.chain.responses import failure
from kindly.fetch.chain.types import USER_AGENT, HopReply
from kindly.fetch.guard.egress import Egress
from kindly.fetch.guard.guard import Guard
from kindly.models import FetchMethod, How, Page
from kindly.urls import Url, parse

DriverName = Literal["auto", "playwright", "nodriver"]
MARGIN_S = 0.5
"""What is kept of a deadline for handing the page over."""
STRIKES = 2
"""After so many pages in a row that ran out of time, the browser is taken for stuck."""


@dataclass(frozen=True, slots=True)
class BrowserSettings:
    """Which browser, and what a page may cost."""

    driver: DriverName = "auto"
    path: str | None = None
    """The executable; found unless given."""
    attempts: int = 3
    backoff_s: float = 0.5
    """Before the second attempt to start; twice as long before each one after."""
    pages: int = 4
    """At once."""
    start_s: float = 30.0
    settle_s: float = 8.0
    """How long content is waited for, once the document is there."""
    max_chars: int = 8_000_000
    """Of visible HTML."""
    sandbox: bool | None = None
    """Chromium's own sandbox: on, but for root, with whom it does not start."""
    user_agent: str = USER_AGENT
    locale: str = "en-US"
    ca_file: str | None = None
    """Authorities that are trusted beside the usual ones."""
    max_pages: int = 200
    """After so many pages the browser is started anew."""
    idle_s: float = 300.0
    """After so long without a page it is closed."""
    proxy: ProxyLimits = field(default_factory=ProxyLimits)
    egress: Egress = field(default_factory=Egress, repr=False)
    """How the proxy's traffic leaves this machine."""


class Browser(Protocol):
    """A started browser."""

    @property
    def alive(self) -> bool:
        """Whether it can still render."""

    async def render(
        self, job: driver_protocol.Job
    ) -> driver_protocol.Rendered | driver_protocol.RenderFailed:
        """What one page shows."""

    async def aclose(self) -> None:
        """End it, with everything that it started."""


Launch = Callable[[str, TaskGroup], Awaitable[Browser]]
"""Starts a browser whose traffic goes to a proxy; raises `StartError` or `SettingsError`."""


@dataclass(frozen=True, slots=True)
class BrowserSeams:
    """What touches the world, passed in so that tests can stand in for it."""

    dial: Dial = dial_tcp
    launch: Launch | None = None
    clock: Clock = field(default_factory=Clock)


CONNECT_ERRORS: tuple[tuple[re.Pattern[str], bool], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), retryable)
    for pattern, retryable in (
        (r"executable doesn'?t exist|could not find a valid \w+ browser binary", False),
        (r"no usable sandbox|running as root without --no-sandbox", False),
        (r"error while loading shared libraries|host system is missing dependencies", False),
        (r"spawn \S+ (?:ENOENT|EACCES|ENOEXEC)|exec format error", False),
        (r"is not installed|no module named", False),
        (r"missing x server|cannot open display", False),
        (r"failed to connect to (?:the )?browser", True),
        (r"(?:target|page|context|browser)[^\n]*(?:has been|was) closed", True),
        (r"ECONNREFUSED|connection refused|ECONNRESET|connection reset", True),
        (r"timed? ?out|timeout", True),
        (r"devtools (?:endpoint|port|protocol)|websocket|ws endpoint", True),
        (r"singletonlock|profile (?:appears to be )?in use", True),
        (r"ended early|exited early|did exit|process exited|crashed", True),
        (r"EAGAIN|resource temporarily unavailable|cannot allocate memory|ENOMEM", True),
    )
)
"""Words of a start that failed, and whether another attempt may help; the first match decides."""


def _is_retryable_browser_connect_error(error: Exception) -> bool:
    """Whether starting the browser once more may help."""
    if isinstance(error, SettingsError):
        return False
    if isinstance(error, TimeoutError | ConnectionError):
        return True
    text = str(error)
    return next((retry for pattern, retry in CONNECT_ERRORS if pattern.search(text)), False)


@dataclass(eq=False, slots=True)
class _Held:
    """A browser that runs, and how much it was used."""

    browser: Browser
    used_s: float
    """When a page last began or ended."""
    begun: int = 0
    running: int = 0
    closing: bool = False

    async def aclose(self) -> None:
        """End it, once."""
        if not self.closing:
            self.closing = True
            await self.browser.aclose()


class BrowserPool:
    """Renders pages, a few at a time, in one browser that is started when it is first needed."""

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
        self._held: _Held | None = None
        self._retired: set[_Held] = set()
        """Browsers that get no new page, and end with their last one."""
        self._strikes = 0
        self._tasks = tasks

    async def render(self, url: Url, deadline: Deadline) -> Page:
        """The page as a person would see it, once its content is there.

        Raises:
            FetchError: a leaf that says why it cannot be had.
        """
        self._guard.check(url)
        try:
            with anyio.fail_after(deadline.remaining_s()):
                async with self._slots:
                    return await self._render(url, deadline)
        except TimeoutError as error:
            raise PageTimeout(
                f"{url.host} was not rendered by the browser in time.", url=str(url)
            ) from error

    async def aclose(self) -> None:
        """End the browser."""
        open_ones = (*self._retired, *filter(None, [self._held]))
        self._retired.clear()
        self._held = None
        for held in open_ones:
            await held.aclose()

    async def _render(self, url: Url, deadline: Deadline) -> Page:
        held = await self._ready(url)
        try:
            with self._proxy.admit() as admitted:
                answer = await held.browser.render(self._job(url, admitted, deadline))
        finally:
            self._strikes = 0 if deadline.remaining_s() else self._strikes + 1
            self._ended(held)
        if isinstance(answer, driver_protocol.Rendered) and answer.status < 400:
            return self._page(answer, url)
        raise _known_failure(admitted, answer.url, url) or self._leaf(answer, url)

    async def _ready(self, url: Url) -> _Held:
        """The browser, started if there is none that works, and taken for one page."""
        async with self._starting:
            held = self._held
            if held is None or not held.browser.alive or self._strikes >= STRIKES:
                held = await self._replaced(url)
            elif held.begun >= self._settings.max_pages:
                self._held = None
                self._retired.add(held)
                self._close_if_done(held)
                held = await self._replaced(url)
            held.begun += 1
            held.running += 1
            held.used_s = self._clock.monotonic()
            return held

    async def _replaced(self, url: Url) -> _Held:
        if self._held is not None:
            held, self._held = self._held, None
            await held.aclose()
        self._strikes = 0
        try:
            browser = await self._started()
        except (StartError, SettingsError) as error:
            raise PageUnreachable(_start_sentence(error), url=str(url)) from error
        self._held = _Held(browser, self._clock.monotonic())
        if math.isfinite(self._settings.idle_s):
            self._tasks.start_soon(self._close_when_idle, self._held)
        return self._held

    def _ended(self, held: _Held) -> None:
        """One page less."""
        held.running -= 1
        held.used_s = self._clock.monotonic()
        if held in self._retired:
            self._close_if_done(held)

    def _close_if_done(self, held: _Held) -> None:
        if not held.running:
            self._tasks.start_soon(self._close_retired, held)

    async def _close_retired(self, held: _Held) -> None:
        await held.aclose()
        self._retired.discard(held)

    async def _close_when_idle(self, held: _Held) -> None:
        wait_s = self._settings.idle_s
        while wait_s > 0:
            await self._clock.sleep(wait_s)
            if held is not self._held:
                return
            idle_s = 0.0 if held.running else self._clock.monotonic() - held.used_s
            wait_s = self._settings.idle_s - idle_s
        self._held = None
        self._retired.add(held)
        await self._close_retired(held)

    async def _started(self) -> Browser:
        """A new browser; an attempt that may succeed later is made again, each time after twice as long."""
        if not self._proxy.port:
            await self._tasks.start(self._serve_proxy)
        for attempt in range(1, self._settings.attempts):
            try:
                return await self._launch(self._proxy.server, self._tasks)
            except StartError as error:
                if not _is_retryable_browser_connect_error(error):
                    raise
            await self._clock.sleep(self._settings.backoff_s * 2 ** (attempt - 1))
        return await self._launch(self._proxy.server, self._tasks)

    async def _serve_proxy(self, *, task_status: TaskStatus[None]) -> None:
        async with running_proxy(self._proxy):
            task_status.started()
            await anyio.sleep_forever()

    def _job(self, url: Url, admitted: Pass, deadline: Deadline) -> driver_protocol.Job:
        left_s = deadline.remaining_s()
        return driver_protocol.Job(
            id=next(self._ids),
            url=str(url),
            user=admitted.user,
            password=admitted.password,
            time_s=max(left_s - MARGIN_S, left_s / 2),
            settle_s=self._settings.settle_s,
            max_chars=self._settings.max_chars,
        )

    def _page(self, rendered: driver_protocol.Rendered, url: Url) -> Page:
        try:
            final = parse(rendered.url)
        except InputError as error:
            raise _unreachable(url, "ended at an address that may not be fetched") from error
        return Page(
            url=str(final),
            requested_url=str(url),
            status=rendered.status,
            media_type="text/html",
            body=rendered.html.encode("utf-8", "replace"),
            fetched_at=self._clock.now(),
            charset="utf-8",
            how=How(FetchMethod.BROWSER),
        )

    def _leaf(
        self, answer: driver_protocol.Rendered | driver_protocol.RenderFailed, url: Url
    ) -> FetchError:
        """What a page that shows nothing is for the caller."""
        if isinstance(answer, driver_protocol.Rendered):
            leaf = failure(HopReply(url, answer.status), self._clock.now())
            return cast("FetchError", leaf)
        if answer.problem == "too_large":
            limit = self._settings.max_chars
            return PageTooLarge("The page shows too much text.", url=str(url), limit_bytes=limit)
        return _unreachable(url, SENTENCES[answer.problem])


SENTENCES: Mapping[driver_protocol.Problem, str] = {
    "navigation": "could not be opened by the browser",
    "download": "gave the browser a file to save instead of a page",
    "too_large": "shows too much text",
    "gone": "could not be rendered: the browser broke down, and will be started again",
    "driver": "could not be rendered by the browser",
}


def _unreachable(url: Url, why: str) -> PageUnreachable:
    return PageUnreachable(f"{url.host} {why}.", url=str(url))


def _known_failure(admitted: Pass, at: str, url: Url) -> FetchError | None:
    """What the proxy knows of an address that was not had: it knows best."""
    known = admitted.failures.get(_authority(at)) or admitted.failures.get((url.host, url.port))
    if known is not None:
        known.url = str(url)
    return known


def _authority(text: str) -> tuple[str, int]:
    try:
        url = parse(text)
    except InputError:
        return "", 0
    return url.host, url.port


def _start_sentence(error: Exception) -> str:
    if isinstance(error, SettingsError):
        return f"The page needs a browser. {error.detail}"
    if "no usable sandbox" in str(error).lower():
        return "The browser did not start: its sandbox does not work for this user on this machine."
    return "The browser did not start; KINDLY_BROWSER_PATH can name another one."


def chosen_driver(
    name: DriverName, installed: Callable[[str], bool] = lambda package: bool(find_spec(package))
) -> str:
    """The program of the driver to use: the named one, or the first whose package is installed.

    Raises:
        SettingsError: its package is missing.
    """
    for driver, (program, package, remedy) in DRIVERS.items():
        if name in {"auto", driver} and installed(package):
            return program
        if name == driver:
            raise SettingsError(f"KINDLY_BROWSER={name} needs a package: {remedy}.")
    raise SettingsError(f"No browser driver is installed: {DRIVERS['playwright'].remedy}.")


def worker_launch(settings: BrowserSettings, environ: Mapping[str, str]) -> Launch:
    """Starts the browser that the settings mean, in a worker process."""

    async def launch(proxy: str, tasks: TaskGroup) -> Browser:
        program = chosen_driver(settings.driver)
        executable = find(this_machine(environ), settings.path)
        sandbox = settings.sandbox
        if sandbox is None:
            sandbox = not hasattr(os, "geteuid") or os.geteuid() != 0
        start = driver_protocol.Start(
            executable=executable.path,
            flags=FLAGS,
            proxy=proxy,
            profile_root=executable.profile_root or environ.get("TMPDIR", ""),
            sandbox=sandbox,
            user_agent=settings.user_agent,
            locale=settings.locale,
            timeout_s=settings.start_s,
            ca_file="" if executable.profile_root else settings.ca_file or "",
        )
        return await start_worker(program, start, environ, tasks)

    return launch


@asynccontextmanager
async def open_browser(
    settings: BrowserSettings,
    guard: Guard,
    *,
    environ: Mapping[str, str],
    seams: BrowserSeams | None = None,
) -> AsyncIterator[BrowserPool]:
    """A pool for as long as the block runs; nothing starts before its first page, nothing is left at the end."""
    seams = seams or BrowserSeams()
    launch = seams.launch or worker_launch(settings, environ)
    tasks = anyio.create_task_group()
    await tasks.__aenter__()
    pool = BrowserPool(settings, guard, launch=launch, seams=seams, tasks=tasks)
    try:
        yield pool
    finally:
        # Left by hand, so that what the block raises is not wrapped in a group.
        await pool.aclose()
        tasks.cancel_scope.cancel()
        await tasks.__aexit__(None, None, None)
