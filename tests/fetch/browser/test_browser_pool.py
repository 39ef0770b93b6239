"""The browser pool with fake browsers."""

import base64
import math
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
import anyio.lowlevel
import pytest
from anyio.abc import TaskGroup

from kindly.budget import Deadline
from kindly.clock import Clock
from kindly.errors import (
    AddressRefused,
    BrowserUnavailable,
    FetchError,
    PageForbidden,
    PageNotFound,
    PageTimeout,
    PageTooLarge,
    PageUnreachable,
    SettingsError,
)
from kindly.fetch.browser import driver_protocol
from kindly.fetch.browser.browser_pool import (
    FAILED_START_S,
    MAX_TIMEOUTS,
    BrowserPool,
    BrowserSeams,
    open_browser,
)
from kindly.fetch.browser.browser_process import StartError
from kindly.fetch.browser.launch import Browser, BrowserSettings
from kindly.fetch.browser.page_scripts.screenshot import SCREENSHOT_WIDTH
from kindly.fetch.guard.guard import Guard, GuardPolicy
from kindly.models import FetchMethod, How, Page, Screenshot
from kindly.urls import parse
from tests.support.fetch_fakes import PUBLIC, START, FakeResolver, FakeTime

pytestmark = pytest.mark.anyio

URL = parse("http://pub.example.com/a")
Answer = Callable[[driver_protocol.Job], driver_protocol.Rendered | driver_protocol.RenderFailed]


def shown(job: driver_protocol.Job) -> driver_protocol.Rendered:
    return driver_protocol.Rendered(job.id, "http://pub.example.com/b", 200, "<p>Grüße</p>")


@dataclass
class FakeBrowser:
    """Answers each job from a function; without a result, the job hangs."""

    answer: Callable[
        [driver_protocol.Job], driver_protocol.Rendered | driver_protocol.RenderFailed | None
    ] = shown
    gate: anyio.Event | None = None
    """Pages wait for it, if there is one."""
    alive: bool = True
    closed: bool = False
    at_once: int = 0
    most_at_once: int = 0

    async def render(
        self, job: driver_protocol.Job
    ) -> driver_protocol.Rendered | driver_protocol.RenderFailed:
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            await anyio.lowlevel.checkpoint()
            if self.gate is not None:
                await self.gate.wait()
            assert not self.closed
            answer = self.answer(job)
            if answer is None:
                await anyio.sleep_forever()
            return answer or driver_protocol.RenderFailed(job.id, "gone", "")
        finally:
            self.at_once -= 1

    async def aclose(self) -> None:
        self.closed = True
        self.alive = False


@dataclass
class FakeLaunch:
    """Starts the given browsers one after the other; the last one repeats."""

    steps: list[FakeBrowser | Exception]
    proxies: list[str] = field(default_factory=list)

    async def __call__(self, proxy: str, tasks: TaskGroup) -> FakeBrowser:
        step = self.steps[min(len(self.proxies), len(self.steps) - 1)]
        self.proxies.append(proxy)
        if isinstance(step, Exception):
            raise step
        return step


@dataclass
class HandTime:
    """A clock that a test moves; sleepers wake when it has moved far enough."""

    now_s: float = 0.0
    sleepers: list[tuple[float, anyio.Event]] = field(default_factory=list)

    async def sleep(self, seconds: float) -> None:
        woken = anyio.Event()
        self.sleepers.append((self.now_s + seconds, woken))
        await woken.wait()

    async def move(self, seconds: float) -> None:
        self.now_s += seconds
        for until_s, woken in self.sleepers:
            if until_s <= self.now_s:
                woken.set()
        await anyio.wait_all_tasks_blocked()

    @property
    def clock(self) -> Clock:
        return Clock(monotonic=lambda: self.now_s, sleep=self.sleep)


@asynccontextmanager
async def pool(
    *steps: FakeBrowser | Exception,
    time: "FakeTime | HandTime | None" = None,
    pages: int = 4,
    attempts: int = 3,
    max_pages: int = 200,
    idle_s: float = math.inf,
) -> AsyncIterator[tuple[BrowserPool, FakeLaunch]]:
    launch = FakeLaunch(list(steps))
    seams = BrowserSeams(launch=launch, clock=(time or FakeTime()).clock)
    settings = BrowserSettings(pages=pages, attempts=attempts, max_pages=max_pages, idle_s=idle_s)
    guard = Guard(GuardPolicy(), FakeResolver({"pub.example.com": [[PUBLIC]]}))
    with anyio.fail_after(120):
        async with open_browser(settings, guard, environ={}, seams=seams) as opened:
            yield opened, launch


async def rendered(at: BrowserPool, url: str = str(URL), within_s: float = 5) -> Page:
    return await at.render(parse(url), Deadline.after(within_s))


async def test_page_has_its_requested_and_its_final_url() -> None:
    async with pool(FakeBrowser()) as (at, _):
        page = await rendered(at)
    assert page == Page(
        url="http://pub.example.com/b",
        requested_url="http://pub.example.com/a",
        status=200,
        media_type="text/html",
        body="<p>Grüße</p>".encode(),
        fetched_at=START,
        charset="utf-8",
        how=How(FetchMethod.BROWSER),
    )


async def test_a_screenshot_says_how_much_of_the_page_it_shows() -> None:
    def taken(job: driver_protocol.Job) -> driver_protocol.Rendered:
        png = base64.b64encode(b"PNG").decode()
        return driver_protocol.Rendered(job.id, "http://pub.example.com/b", 200, "", png, 640, 900)

    async with pool(FakeBrowser(taken)) as (at, _):
        shot = await at.screenshot(URL, Deadline.after(5))
    assert shot == Screenshot("http://pub.example.com/b", b"PNG", SCREENSHOT_WIDTH, 640, 900, START)


async def test_a_screenshot_that_is_too_large_names_its_own_limit() -> None:
    seams = BrowserSeams(
        launch=FakeLaunch(
            [FakeBrowser(lambda job: driver_protocol.RenderFailed(job.id, "too_large", job.url))]
        )
    )
    guard = Guard(GuardPolicy(), FakeResolver({"pub.example.com": [[PUBLIC]]}))
    settings = BrowserSettings(pictures=True)
    with anyio.fail_after(120):
        async with open_browser(settings, guard, environ={}, seams=seams) as at:
            with pytest.raises(PageTooLarge, match=r"more than 700,000 bytes"):
                await at.screenshot(URL, Deadline.after(60))


async def test_nothing_starts_before_the_first_page_and_one_browser_serves_all() -> None:
    browser = FakeBrowser()
    async with pool(browser) as (at, launch):
        assert launch.proxies == []
        await rendered(at)
        await rendered(at)
        assert len(launch.proxies) == 1
        assert launch.proxies[0].startswith("http://127.0.0.1:")
    assert browser.closed


async def test_refused_address_starts_nothing() -> None:
    async with pool(FakeBrowser()) as (at, launch):
        with pytest.raises(AddressRefused):
            await rendered(at, "http://10.0.0.1/")
    assert launch.proxies == []


async def test_concurrent_pages_are_limited() -> None:
    browser = FakeBrowser()
    async with pool(browser, pages=2) as (at, _), anyio.create_task_group() as tasks:
        for _ in range(6):
            tasks.start_soon(rendered, at)
    assert browser.most_at_once == 2


async def test_browser_that_died_is_replaced_at_the_next_page() -> None:
    def die(job: driver_protocol.Job) -> driver_protocol.RenderFailed:
        first.alive = False
        return driver_protocol.RenderFailed(job.id, "gone", "")

    first, second = FakeBrowser(die), FakeBrowser()
    async with pool(first, second) as (at, _):
        with pytest.raises(PageUnreachable):
            await rendered(at)
        assert (await rendered(at)).status == 200
    assert first.closed
    assert second.closed


async def test_browser_that_rendered_enough_is_replaced_and_its_last_page_is_not_cut_off() -> None:
    gate = anyio.Event()
    first, second = FakeBrowser(gate=gate), FakeBrowser()
    pages: list[Page] = []
    async with pool(first, second, max_pages=2) as (at, launch):

        async def show() -> None:
            pages.append(await rendered(at))

        async with anyio.create_task_group() as tasks:
            for _ in range(2):
                tasks.start_soon(show)
            await anyio.wait_all_tasks_blocked()
            await show()
            assert len(launch.proxies) == 2
            assert not first.closed
            gate.set()
        await anyio.wait_all_tasks_blocked()
        assert first.closed
        assert not second.closed
    assert [page.status for page in pages] == [200] * 3
    assert second.closed


async def test_browser_that_rendered_enough_and_has_nothing_to_do_is_closed_at_the_next_page() -> (
    None
):
    first, second = FakeBrowser(), FakeBrowser()
    async with pool(first, second, max_pages=1) as (at, _):
        await rendered(at)
        await rendered(at)
        await anyio.wait_all_tasks_blocked()
        assert first.closed
        assert not second.closed


async def test_retired_browser_is_closed_with_the_pool_even_in_the_middle_of_a_page() -> None:
    first, second = FakeBrowser(lambda job: None), FakeBrowser()
    async with anyio.create_task_group() as tasks:
        async with pool(first, second, max_pages=1) as (at, _):
            tasks.start_soon(rendered, at)
            await anyio.wait_all_tasks_blocked()
            await rendered(at)
        assert first.closed
        tasks.cancel_scope.cancel()


async def test_idle_browser_is_closed_and_started_again_when_needed() -> None:
    time = HandTime()
    first, second = FakeBrowser(), FakeBrowser()
    async with pool(first, second, time=time, idle_s=300) as (at, launch):
        await rendered(at)
        await time.move(200)
        await rendered(at)
        await time.move(200)
        assert not first.closed
        await time.move(100)
        assert first.closed
        assert len(launch.proxies) == 1
        assert (await rendered(at)).status == 200
        await time.move(299)
        assert not second.closed


async def test_browser_with_a_running_page_is_not_idle() -> None:
    time, gate = HandTime(), anyio.Event()
    browser = FakeBrowser(gate=gate)
    async with pool(browser, time=time, idle_s=300) as (at, _):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(rendered, at)
            await anyio.wait_all_tasks_blocked()
            await time.move(301)
            assert not browser.closed
            gate.set()
        await time.move(301)
        assert browser.closed


async def test_idle_timer_of_a_replaced_browser_ends() -> None:
    time = HandTime()
    first, second = FakeBrowser(), FakeBrowser()
    async with pool(first, second, time=time, idle_s=300) as (at, _):
        await rendered(at)
        first.alive = False
        await time.move(200)
        await rendered(at)
        await time.move(100)
        assert first.closed
        assert not second.closed


async def test_released_browser_is_closed_unless_a_page_uses_it() -> None:
    gate = anyio.Event()
    first, second = FakeBrowser(gate=gate), FakeBrowser()
    async with pool(first, second) as (at, _):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(rendered, at)
            await anyio.wait_all_tasks_blocked()
            await at.release()
            assert not first.closed
            gate.set()
        await at.release()
        await at.release()
        await anyio.wait_all_tasks_blocked()
        assert first.closed
        assert (await rendered(at)).status == 200
        assert not second.closed


async def test_page_that_takes_too_long_ends_with_its_deadline_and_a_stuck_browser_is_replaced() -> (
    None
):
    jobs: list[driver_protocol.Job] = []

    def shown_once(job: driver_protocol.Job) -> driver_protocol.Rendered | None:
        jobs.append(job)
        return shown(job) if len(jobs) == 1 else None

    stuck, second = FakeBrowser(shown_once), FakeBrowser()
    async with pool(stuck, second) as (at, _):
        await rendered(at)
        with anyio.fail_after(120):
            while len(jobs) <= MAX_TIMEOUTS:
                with pytest.raises(PageTimeout):
                    await rendered(at, within_s=0.01)
        assert not stuck.closed
        assert (await rendered(at)).status == 200
        assert stuck.closed


async def test_start_is_retried_with_exponential_back_off() -> None:
    time = FakeTime()
    failure = StartError("Failed to connect to browser")
    async with pool(failure, failure, FakeBrowser(), time=time) as (at, launch):
        assert (await rendered(at)).status == 200
    assert len(launch.proxies) == 3
    assert time.slept == [0.5, 1.0]


@pytest.mark.parametrize(
    ("failure", "tries", "says"),
    [
        (StartError("Failed to connect to browser"), 3, "3 attempts failed"),
        (StartError("No usable sandbox! If you are on Ubuntu"), 1, "sandbox"),
        (SettingsError("No browser was found."), 1, "No browser was found."),
    ],
    ids=["for ever", "sandbox", "none installed"],
)
async def test_browser_that_does_not_start_is_reported_after_its_attempts(
    failure: Exception, tries: int, says: str
) -> None:
    async with pool(failure) as (at, launch):
        with pytest.raises(BrowserUnavailable) as caught:
            await rendered(at)
    assert says in caught.value.detail
    assert caught.value.attempts == (0 if isinstance(failure, SettingsError) else tries)
    assert len(launch.proxies) == tries


async def test_browser_that_did_not_start_is_started_again_after_a_pause() -> None:
    time = FakeTime()
    failure = StartError("No usable sandbox!")
    async with pool(failure, FakeBrowser(), time=time) as (at, launch):
        for _ in range(2):
            with pytest.raises(BrowserUnavailable):
                await rendered(at)
        assert len(launch.proxies) == 1
        time.passed_s += FAILED_START_S
        assert (await rendered(at)).status == 200


async def test_browser_that_takes_too_long_to_start_is_reported() -> None:
    async def never(proxy: str, tasks: TaskGroup) -> Browser:
        await anyio.sleep_forever()
        raise AssertionError

    guard = Guard(GuardPolicy())
    async with open_browser(
        BrowserSettings(), guard, environ={}, seams=BrowserSeams(launch=never)
    ) as at:
        with pytest.raises(BrowserUnavailable, match="did not start in time"):
            await rendered(at, within_s=0.01)


@pytest.mark.parametrize(
    ("answer", "leaf"),
    [
        (lambda job: driver_protocol.Rendered(job.id, job.url, 404, ""), PageNotFound),
        (lambda job: driver_protocol.Rendered(job.id, job.url, 403, ""), PageForbidden),
        (lambda job: driver_protocol.Rendered(job.id, "about:blank", 200, ""), PageUnreachable),
        (lambda job: driver_protocol.RenderFailed(job.id, "navigation", job.url), PageUnreachable),
        (
            lambda job: driver_protocol.RenderFailed(job.id, "navigation", "chrome-error://x/"),
            PageUnreachable,
        ),
        (lambda job: driver_protocol.RenderFailed(job.id, "download", job.url), PageUnreachable),
        (lambda job: driver_protocol.RenderFailed(job.id, "driver", job.url), PageUnreachable),
        (lambda job: driver_protocol.RenderFailed(job.id, "too_large", job.url), PageTooLarge),
    ],
    ids=["404", "403", "nowhere", "no answer", "error page", "download", "driver", "too large"],
)
async def test_each_failure_has_its_error(answer: Answer, leaf: type[FetchError]) -> None:
    async with pool(FakeBrowser(answer)) as (at, _):
        with pytest.raises(leaf) as caught:
            await rendered(at)
    assert caught.value.url == str(URL)


async def failing_block() -> None:
    async with pool(FakeBrowser()) as (at, _):
        await rendered(at)
        raise KeyError


async def test_exception_of_the_block_is_raised_as_it_is() -> None:
    with pytest.raises(KeyError):
        await failing_block()
