"""The crawl of a queue: what is stored, retried, followed and left out; other workers; a library that fails."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from hashlib import sha256

import anyio
import anyio.lowlevel
import pytest

from kindly import urls
from kindly.clock import Clock
from kindly.crawl.crawler import Crawler, CrawlLimits, Fetched, is_dead, new_worker
from kindly.crawl.scope import LeftOut, SiteScope
from kindly.errors import (
    FetchError,
    NoContent,
    PageNotFound,
    PageRateLimited,
    PageTimeout,
    RobotsRefused,
    StoreUnavailable,
)
from kindly.models import Document, Page
from kindly.read.crawls.collection import Collection, CrawlRules, PageTask, TaskState
from kindly.read.indexing.index_protocol import QueuedPage
from kindly.read.store import Store, StoreSettings
from kindly.read.stores import open_store
from kindly.stages import ignore_progress
from tests.support.stored_pages import NOON

pytestmark = pytest.mark.anyio

BASE = "https://e.com/docs/"
LIMITS = CrawlLimits(fetchers=3)
DEAD = f"{new_worker().partition(':')[0]}:99999999:abcd"
"""A worker of this machine whose process does not exist."""


@dataclass
class FakeLibrary:
    """A store in memory, of which only the entries matter."""

    store: Store = field(default_factory=lambda: open_store("memory", StoreSettings(None)))
    failures: int = 0
    unready: int = 0
    """How often page `a` cannot be indexed."""

    async def store_now(self, pages: Sequence[QueuedPage]) -> frozenset[str]:
        if self.failures:
            self.failures -= 1
            raise StoreUnavailable("The disk is full.")
        left_out = frozenset(
            page.entry.key for page in pages if self.unready and page.entry.url == BASE + "a"
        )
        self.unready -= len(left_out)
        for page in pages:
            if page.entry.key not in left_out:
                await self.store.put(page.entry, (), {}, None)
        return left_out


@dataclass
class World:
    """A site of pages with links, a clock that jumps, and the crawl of one collection."""

    links: dict[str, list[str]]
    failures: dict[str, list[Exception]] = field(default_factory=dict)
    redirects: dict[str, str] = field(default_factory=dict)
    rules: CrawlRules = field(default_factory=CrawlRules)
    library: FakeLibrary = field(default_factory=FakeLibrary)
    fetched: Counter[str] = field(default_factory=Counter)
    now: datetime = NOON

    @property
    def collection(self) -> Collection:
        return Collection("docs", BASE, NOON, via="links", rules=self.rules, start=BASE)

    async def sleep(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)
        await anyio.lowlevel.checkpoint()

    async def fetch(self, task: PageTask) -> Fetched:
        await anyio.lowlevel.checkpoint()
        name = task.url.removeprefix(BASE)
        self.fetched[name] += 1
        if waiting := self.failures.get(name):
            raise waiting.pop(0)
        if task.etag == '"same"':
            return Fetched()
        url = self.redirects.get(name, task.url)
        anchors = "".join(f'<a href="{link}">x</a>' for link in self.links.get(name, []))
        page = Page(url, task.url, 200, "text/html", anchors.encode(), NOON, etag=f'"{name}"')
        return Fetched(
            page, Document(url, name, NOON, content_hash=sha256(name.encode()).hexdigest())
        )

    def crawler(self, limits: CrawlLimits = LIMITS) -> Crawler:
        clock = Clock(time=lambda: self.now.timestamp(), sleep=self.sleep)
        scope = SiteScope(urls.parse(BASE), self.rules)
        return Crawler(self.library, self.collection, self.fetch, clock, scope, limits)

    async def crawl(self, *names: str) -> Crawler:
        crawls = self.library.store.crawls
        await crawls.save(self.collection)
        await crawls.add("docs", [PageTask(BASE + name) for name in names], 100)
        crawler = self.crawler()
        with anyio.fail_after(120):
            await crawler.run(ignore_progress)
        return crawler

    async def tasks(self) -> dict[str, PageTask]:
        found = await self.library.store.crawls.tasks("docs")
        return {task.url.removeprefix(BASE): task for task in found}

    async def stored(self) -> set[str]:
        found = await self.library.store.entries(collection="docs")
        return {entry.url.removeprefix(BASE) for entry in found}


def timeout() -> FetchError:
    return PageTimeout("Late.", url=BASE)


async def test_links_are_followed_and_each_page_is_fetched_once() -> None:
    world = World(
        {"": ["a", "b"], "a": ["b", "c", "https://else.example/"], "c": ["../docs/", "a#x"]}
    )
    await world.crawl("")
    assert world.fetched == Counter(["", "a", "b", "c"])
    assert await world.stored() == {"", "a", "b", "c"}
    tasks = await world.tasks()
    assert {name: task.depth for name, task in tasks.items()} == {"": 0, "a": 1, "b": 1, "c": 2}
    assert {task.state for task in tasks.values()} == {TaskState.DONE}
    assert tasks["a"].etag == '"a"'


async def test_a_first_page_that_the_globs_leave_out_is_read_for_its_links_only() -> None:
    world = World({"": ["a", "b"], "a": ["b"]}, rules=CrawlRules(include=("*/a",)))
    await world.crawl("")
    assert await world.stored() == {"a"}
    assert {task.state for task in (await world.tasks()).values()} == {TaskState.DONE}


async def test_a_failure_that_may_pass_is_tried_again() -> None:
    limited = PageRateLimited("Slow down.", url=BASE, retry_after_s=7)
    world = World({}, {"a": [timeout(), timeout()], "b": [limited] * 6})
    await world.crawl("a", "b")
    assert await world.stored() == {"a", "b"}
    assert world.now >= NOON + timedelta(seconds=42)


@pytest.mark.parametrize(
    ("failure", "reason", "tries"),
    [
        (timeout(), "timeout", 3),
        (RobotsRefused("No.", url=BASE), "robots", 1),
        (PageNotFound("No.", url=BASE), "not_found", 1),
        (NoContent("Empty.", url=BASE), "empty", 1),
    ],
)
async def test_a_page_that_cannot_be_read_has_the_reason(
    failure: Exception, reason: str, tries: int
) -> None:
    world = World({}, {"a": [failure] * 5})
    await world.crawl("a", "b")
    task = (await world.tasks())["a"]
    assert (task.state, task.reason, world.fetched["a"]) == (TaskState.FAILED, reason, tries)
    assert await world.stored() == {"b"}


async def test_a_page_that_redirects_out_of_the_collection_is_left_out() -> None:
    world = World({}, redirects={"a": "https://else.example/x"})
    await world.crawl("a")
    task = (await world.tasks())["a"]
    assert (task.state, task.reason) == (TaskState.FAILED, "redirects out of the collection")
    assert await world.stored() == set()


async def test_a_page_that_is_gone_leaves_the_collection() -> None:
    world = World({})
    await world.crawl("a", "b")
    world.failures["a"] = [PageNotFound("Gone.", url=BASE)]
    await world.library.store.crawls.restart("docs")
    await world.crawl()
    assert await world.stored() == {"b"}


async def test_an_unchanged_page_is_done_without_being_stored_again() -> None:
    world = World({})
    await world.crawl("a")
    task = replace((await world.tasks())["a"], state=TaskState.PENDING, etag='"same"')
    await world.library.store.crawls.settle("docs", [task])
    await world.library.store.forget()
    await world.crawl()
    assert (await world.tasks())["a"].state is TaskState.DONE
    assert await world.stored() == set()


async def test_the_number_of_pages_is_bounded_and_said() -> None:
    world = World({"": [f"p{n}" for n in range(50)]}, rules=CrawlRules(max_pages=10))
    crawler = await world.crawl("")
    assert len(await world.stored()) == 10
    assert crawler.refused[LeftOut.PAGES] == 41


async def test_a_page_of_too_many_links_is_bounded_and_said() -> None:
    world = World({"": [f"p{n}" for n in range(6000)]}, rules=CrawlRules(max_pages=3))
    crawler = await world.crawl("")
    assert crawler.refused[LeftOut.LINKS] == 1000


@pytest.mark.parametrize(
    ("unready", "state", "reason"),
    [(2, TaskState.DONE, ""), (9, TaskState.FAILED, "not indexed")],
)
async def test_a_page_that_cannot_be_indexed_is_tried_again(
    unready: int, state: TaskState, reason: str
) -> None:
    world = World({}, library=FakeLibrary(unready=unready))
    await world.crawl("a", "b")
    tasks = await world.tasks()
    assert (tasks["a"].state, tasks["a"].reason) == (state, reason)
    assert tasks["b"].state is TaskState.DONE
    assert ("a" in await world.stored()) is (state is TaskState.DONE)


async def test_a_store_that_fails_for_a_while_is_waited_for() -> None:
    world = World({}, library=FakeLibrary(failures=3))
    await world.crawl("a")
    assert await world.stored() == {"a"}


async def test_a_store_that_stays_unusable_ends_the_crawl_and_leaves_the_pages() -> None:
    world = World({}, library=FakeLibrary(failures=10**6))
    with pytest.raises(StoreUnavailable):
        await world.crawl("a", "b")
    assert {task.state for task in (await world.tasks()).values()} == {TaskState.PENDING}


async def test_pages_of_a_worker_that_was_killed_are_taken_at_once() -> None:
    world = World({})
    crawls = world.library.store.crawls
    await crawls.save(world.collection)
    await crawls.add("docs", [PageTask(BASE + "a")], 9)
    assert is_dead(DEAD)
    await crawls.lease("docs", DEAD, 9, NOON, NOON + timedelta(days=1))
    await world.crawl()
    assert await world.stored() == {"a"}
    assert world.now < NOON + timedelta(hours=1)


async def test_pages_of_a_worker_that_is_killed_meanwhile_are_taken_before_its_lease_ends() -> None:
    world = World({})
    crawls = world.library.store.crawls
    await crawls.save(world.collection)
    await crawls.add("docs", [PageTask(BASE + "a")], 9)
    tomorrow = NOON + timedelta(days=1)
    await crawls.lease("docs", "elsewhere:1:abcd", 9, NOON, tomorrow)

    async def sleep(seconds: float) -> None:
        await world.sleep(seconds)
        if await crawls.release("docs", "elsewhere:1:abcd"):
            await crawls.lease("docs", DEAD, 9, NOON, tomorrow)

    clock = Clock(time=lambda: world.now.timestamp(), sleep=sleep)
    with anyio.fail_after(120):
        await Crawler(world.library, world.collection, world.fetch, clock).run(ignore_progress)
    assert await world.stored() == {"a"}
    assert world.now < NOON + timedelta(hours=1)


async def test_pages_of_a_worker_elsewhere_are_taken_when_its_lease_ends() -> None:
    world = World({})
    crawls = world.library.store.crawls
    await crawls.save(world.collection)
    await crawls.add("docs", [PageTask(BASE + "a")], 9)
    assert not is_dead("elsewhere:1:abcd")
    await crawls.lease("docs", "elsewhere:1:abcd", 9, NOON, NOON + timedelta(seconds=60))
    await world.crawl()
    assert await world.stored() == {"a"}
    assert world.now >= NOON + timedelta(seconds=60)


async def test_a_cancelled_crawl_gives_its_pages_back() -> None:
    world = World({})
    crawls = world.library.store.crawls
    await crawls.save(world.collection)
    await crawls.add("docs", [PageTask(f"{BASE}p{n}") for n in range(9)], 9)
    started = anyio.Event()

    async def hang(task: PageTask) -> Fetched:
        started.set()
        await anyio.sleep_forever()
        return Fetched()

    crawler = Crawler(world.library, world.collection, hang, Clock())
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(crawler.run, ignore_progress)
            await started.wait()
            tasks.cancel_scope.cancel()
    assert {task.state for task in await crawls.tasks("docs")} == {TaskState.PENDING}


async def test_two_crawlers_share_the_work_without_repeating_any() -> None:
    world = World({"": [f"p{n}" for n in range(40)]})
    await world.library.store.crawls.save(world.collection)
    await world.library.store.crawls.add("docs", [PageTask(BASE)], 100)
    with anyio.fail_after(120):
        async with anyio.create_task_group() as tasks:
            for _ in range(2):
                tasks.start_soon(world.crawler().run, ignore_progress)
    assert set(world.fetched.values()) == {1}
    assert len(await world.stored()) == 41
