"""Starting a browser: which driver and executable, with which flags, and whether a failed start is worth a retry."""

import os
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from itertools import count
from typing import Literal, Protocol

from anyio.abc import TaskGroup

from kindly.clock import Clock
from kindly.errors import BrowserUnavailable, SettingsError
from kindly.fetch.browser import advice, driver_protocol
from kindly.fetch.browser.browser_process import StartError, start_worker
from kindly.fetch.browser.drivers import DRIVERS, DriverName, is_installed
from kindly.fetch.browser.executables import find, this_machine
from kindly.fetch.browser.flags import FLAGS, PICTURE_FLAGS
from kindly.fetch.browser.proxy import ProxyLimits
from kindly.fetch.chain.types import USER_AGENT
from kindly.fetch.guard.egress import Egress
from kindly.frozen import frozen

DriverChoice = Literal["auto", DriverName]
SEE_DOCTOR = "Run `kindly doctor` to see why."


@frozen
class BrowserSettings:
    """Which browser to start, and its limits."""

    driver: DriverChoice = "auto"
    path: str | None = None
    """The executable; found automatically by default."""
    attempts: int = 3
    backoff_s: float = 0.5
    """Pause before the second attempt to start; doubled for each further attempt."""
    pages: int = 4
    """Concurrent pages."""
    start_s: float = 30.0
    settle_s: float = 8.0
    """The longest wait for content once the document is loaded."""
    max_chars: int = 8_000_000
    """Of visible HTML."""
    pictures: bool = False
    """Whether it loads images and fonts, for screenshots."""
    sandbox: bool | None = None
    """Chromium's own sandbox. On by default, except for root: Chromium does not start as root with it."""
    user_agent: str = USER_AGENT
    locale: str = "en-US"
    ca_file: str | None = None
    """Certificate authorities that are trusted in addition to the browser's own."""
    max_pages: int = 200
    """The browser is restarted after this many pages."""
    idle_s: float = 60.0
    """The browser is closed after this time without a page."""
    proxy: ProxyLimits = field(default_factory=ProxyLimits)
    egress: Egress = field(default_factory=Egress, repr=False)
    """How the filtering proxy's traffic leaves this machine."""


class Browser(Protocol):
    """A started browser."""

    @property
    def alive(self) -> bool: ...

    async def render(
        self, job: driver_protocol.Job
    ) -> driver_protocol.Rendered | driver_protocol.RenderFailed: ...

    async def aclose(self) -> None:
        """End it with all its processes."""


Launch = Callable[[str, TaskGroup], Awaitable[Browser]]
"""Starts a browser behind the proxy at an address; raises `StartError` or `SettingsError`."""


START_ERRORS: tuple[tuple[re.Pattern[str], bool], ...] = tuple(
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
"""Drivers report a failed start only in words: a pattern, and whether a retry may help. The first match decides."""


def _is_retryable_browser_connect_error(error: Exception) -> bool:
    """Whether another attempt to start the browser may help."""
    if isinstance(error, SettingsError):
        return False
    if isinstance(error, TimeoutError | ConnectionError):
        return True
    text = str(error)
    return next((retry for pattern, retry in START_ERRORS if pattern.search(text)), False)


async def start_with_retries(
    launch: Launch, proxy: str, tasks: TaskGroup, settings: BrowserSettings, clock: Clock
) -> Browser:
    """A started browser; retryable failures are retried with exponential back-off.

    Raises:
        StartError, SettingsError: the last failure; a `StartError` has the number of attempts.
    """
    for attempt in count(1):
        try:
            return await launch(proxy, tasks)
        except StartError as error:
            if attempt >= settings.attempts or not _is_retryable_browser_connect_error(error):
                raise StartError(str(error), attempt) from error
        await clock.sleep(settings.backoff_s * 2 ** (attempt - 1))
    raise AssertionError("unreachable")


def start_failure(error: StartError | SettingsError, url: str) -> BrowserUnavailable:
    """The error for a browser that did not start."""
    if isinstance(error, SettingsError):
        return BrowserUnavailable(error.detail, url=url)
    failed = f"{error.attempts} attempt{'s' if error.attempts != 1 else ''} failed"
    if "no usable sandbox" in str(error).lower():
        failed += ", because its sandbox does not work for this user on this machine"
    return BrowserUnavailable(
        f"The browser did not start: {failed}. {SEE_DOCTOR}", url=url, attempts=error.attempts
    )


def chosen_driver(name: DriverChoice, installed: Callable[[str], bool] = is_installed) -> str:
    """The worker program of the named driver, or of the first installed one.

    Raises:
        SettingsError: its package is missing.
    """
    for driver, (program, package, remedy) in DRIVERS.items():
        if name in {"auto", driver} and installed(package):
            return program
        if name == driver:
            raise SettingsError(f"KINDLY_BROWSER={name} needs a package: {remedy}.")
    raise SettingsError(f"No browser driver is installed: {advice.DRIVER}.")


def what_is_missing(settings: BrowserSettings, environ: Mapping[str, str]) -> str:
    """What must be installed before a browser can start, and how; empty if nothing is missing."""
    missing = []
    try:
        chosen_driver(settings.driver)
    except SettingsError as error:
        missing.append(error.detail)
    try:
        find(this_machine(environ), settings.path)
    except SettingsError as error:
        missing.append(error.detail)
    return " ".join(missing)


def worker_launch(settings: BrowserSettings, environ: Mapping[str, str]) -> Launch:
    """Starts the browser of the settings in a worker process."""

    async def launch(proxy: str, tasks: TaskGroup) -> Browser:
        program = chosen_driver(settings.driver)
        executable = find(this_machine(environ), settings.path)
        sandbox = settings.sandbox
        if sandbox is None:
            sandbox = not hasattr(os, "geteuid") or os.geteuid() != 0
        start = driver_protocol.Start(
            executable=executable.path,
            flags=PICTURE_FLAGS if settings.pictures else FLAGS,
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
