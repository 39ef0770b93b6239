"""robots.txt: read once per origin, applied to every hop."""

import anyio
import anyio.lowlevel
import pytest

from kindly.errors import (
    AddressRefused,
    PageForbidden,
    PageNotFound,
    PageRateLimited,
    PageTimeout,
    PageUnreachable,
    RobotsRefused,
)
from kindly.fetch.chain import robots
from kindly.fetch.chain.responses import to_page
from kindly.fetch.chain.robots import RobotsHop, truncated
from kindly.fetch.chain.types import HopReply, HopRequest, PageRequest
from kindly.models import Page
from tests.support.fetch_fakes import START, FakeTime, ScriptedHop, reply

pytestmark = pytest.mark.anyio

URL = "https://example.com/robots.txt"


class Files:
    """Serves one robots.txt, or fails to."""

    def __init__(self, *script: str | Exception) -> None:
        self.script = script
        self.asked: list[str] = []

    async def __call__(self, request: PageRequest) -> Page:
        step = self.script[min(len(self.asked), len(self.script) - 1)]
        self.asked.append(str(request.url))
        await anyio.lowlevel.checkpoint()
        if isinstance(step, Exception):
            raise step
        return to_page(reply(body=step.encode()), request.url, START)


def gate(files: Files, time: FakeTime) -> RobotsHop:
    return RobotsHop(ScriptedHop([reply()]), files, time.clock)


async def allowed(rules: RobotsHop, time: FakeTime, url: str = "https://example.com/a") -> bool:
    try:
        await rules(time.ask(url))
    except RobotsRefused as error:
        return error.url != url
    return True


@pytest.mark.parametrize(
    ("text", "path", "open_"),
    [
        ("", "/a", True),
        ("User-agent: *\nDisallow: /", "/a", False),
        ("User-agent: *\nDisallow: /b", "/a", True),
        ("User-agent: *\nDisallow: /*.pdf$", "/x.pdf", False),
        ("User-agent: Kindly\nDisallow: /\n\nUser-agent: *\nAllow: /", "/a", False),
        ("User-agent: *\nDisallow: /\n\nUser-agent: kindly\nAllow: /", "/a", True),
        ("User-agent: *\nDisallow: /a\nAllow: /a/public", "/a/public/x", True),
        ("User-agent: other\nDisallow: /", "/a", True),
        ("<html>not robots</html>", "/a", True),
        ("User-agent: *\nDisallow: /?q=", "/?q=1", False),
    ],
)
async def test_rules_are_obeyed(text: str, path: str, open_: bool) -> None:
    time = FakeTime()

    assert await allowed(gate(Files(text), time), time, f"https://example.com{path}") is open_


@pytest.mark.parametrize(
    "error",
    [PageNotFound("gone", url=URL, status=404), PageForbidden("no", url=URL, status=403)],
    ids=["404", "403"],
)
async def test_site_without_a_robots_file_has_no_rules(error: Exception) -> None:
    time = FakeTime()

    assert await allowed(gate(Files(error), time), time)


async def test_site_that_fails_to_serve_it_is_left_alone_for_a_while() -> None:
    time = FakeTime()
    files = Files(PageUnreachable("broken", url=URL, status=500), "")
    rules = gate(files, time)

    assert not await allowed(rules, time)
    time.passed_s = robots.KEEP_FAILURE_S - 1
    assert not await allowed(rules, time)
    assert len(files.asked) == 1
    time.passed_s = robots.KEEP_FAILURE_S
    assert await allowed(rules, time)


@pytest.mark.parametrize(
    "error",
    [
        PageUnreachable("no address", url=URL),
        PageTimeout("slow", url=URL),
        AddressRefused("private", url=URL),
        PageRateLimited("later", url=URL, status=429),
    ],
    ids=["unreachable", "timeout", "refused", "limited"],
)
async def test_site_that_cannot_be_reached_raises_what_the_page_would(error: Exception) -> None:
    time = FakeTime()

    with pytest.raises(type(error)):
        await gate(Files(error), time)(time.ask())


async def test_file_is_read_once_a_day_per_origin() -> None:
    time, files = FakeTime(), Files("")
    rules = gate(files, time)

    for url in ("https://example.com/a", "https://example.com/b", "http://example.com/a"):
        await allowed(rules, time, url)
    assert files.asked == [URL, "http://example.com/robots.txt"]
    time.passed_s = robots.KEEP_S
    await allowed(rules, time)
    assert len(files.asked) == 3


async def test_calls_at_the_same_time_share_one_look_up() -> None:
    time, files = FakeTime(), Files("")
    rules = gate(files, time)

    async with anyio.create_task_group() as tasks:
        for _ in range(10):
            tasks.start_soon(rules, time.ask())

    assert len(files.asked) == 1


async def test_origins_that_are_remembered_are_bounded() -> None:
    time, files = FakeTime(), Files("")
    rules = gate(files, time)

    for number in range(robots.MAX_ORIGINS + 1):
        await rules(time.ask(f"https://h{number}.example/"))
    await rules(time.ask("https://h0.example/"))

    assert len(files.asked) == robots.MAX_ORIGINS + 2


async def test_file_is_requested_with_its_own_size_limit() -> None:
    asked: list[HopRequest] = []

    async def hop(request: HopRequest) -> HopReply:
        asked.append(request)
        return reply()

    await truncated(hop)(FakeTime().ask())

    assert asked[0].max_bytes == robots.MAX_ROBOTS_BYTES


async def test_a_crawl_delay_keeps_requests_apart() -> None:
    time = FakeTime()
    rules = gate(Files("User-agent: *\nCrawl-delay: 4"), time)
    began = time.passed_s
    waited = []
    for _ in range(3):
        await rules(time.ask())
        waited.append(time.passed_s - began)
    assert waited == [0, 4, 8]


async def test_crawl_delay_beyond_the_deadline_is_reported() -> None:
    time = FakeTime()
    rules = gate(Files("User-agent: *\nCrawl-delay: 3600"), time)
    await rules(time.ask(seconds=10))
    with pytest.raises(PageRateLimited) as caught:
        await rules(time.ask(seconds=10))
    assert caught.value.retry_after_s == robots.MAX_DELAY_S


async def test_crawl_delays_are_forgotten_oldest_first() -> None:
    time = FakeTime()
    rules = gate(Files("User-agent: *\nCrawl-delay: 4"), time)
    for number in range(robots.MAX_ORIGINS + 1):
        await rules(time.ask(f"https://h{number}.example/"))
    began = time.passed_s
    await rules(time.ask("https://h0.example/"))
    assert time.passed_s == began
