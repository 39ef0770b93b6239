"""What every store must do for collections: keep them, queue their pages, lease each page to one worker."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import anyio
import pytest

from kindly.models import RecallScope
from kindly.read.crawls.collection import (
    Added,
    Collection,
    CollectionState,
    CrawlRules,
    PageTask,
    TaskState,
)
from kindly.read.store import Store
from kindly.read.stores import PERSISTENT
from kindly.text.terms import terms
from tests.support.stored_pages import MODEL, NOON, Made, page, vector

pytestmark = pytest.mark.anyio

Opener = Callable[[], Store]
KEPT = {spec.name for spec in PERSISTENT}
MINUTE = timedelta(minutes=1)
DOCS = Collection("docs", "https://docs.example/", NOON, version="1.2", rules=CrawlRules(("/a/*",)))
URLS = [f"https://docs.example/{n}" for n in range(5)]
TASKS = [PageTask(url, depth=1, lastmod="2026-01-01") for url in URLS]


async def queued(store: Store) -> None:
    await store.crawls.save(DOCS)
    assert await store.crawls.add(DOCS.id, TASKS, 100) == Added(5)


async def leased(store: Store, worker: str, limit: int = 9, later: timedelta = MINUTE) -> list[str]:
    tasks = await store.crawls.lease(DOCS.id, worker, limit, NOON, NOON + later)
    return [task.url for task in tasks]


def within(made: Made, collection: str) -> Made:
    """The same page in a collection; its chunks have ids of their own, as the splitter gives them."""
    entry = replace(made.entry, collection=collection)
    chunks = [replace(one, id=f"{one.id}{collection}", url=entry.key) for one in made.chunks]
    return Made(entry, tuple(chunks))


async def keep(store: Store, *pages: Made) -> None:
    for made in pages:
        await store.put(made.entry, made.chunks, made.vectors, MODEL)


async def test_a_collection_comes_back_as_it_was_saved(store: Store) -> None:
    assert await store.crawls.collection(DOCS.id) is None
    await store.crawls.save(DOCS)
    changed = replace(
        DOCS, state=CollectionState.READY, checked_at=NOON, note="cut", via="links", start="x"
    )
    other = replace(DOCS, version="1.10", rules=CrawlRules(max_pages=7))
    await store.crawls.save(changed)
    await store.crawls.save(other)
    assert [one.collection for one in await store.crawls.collections()] == [other, changed]
    found = await store.crawls.collection(DOCS.id)
    assert found is not None
    assert (found.collection, found.left, found.pages) == (changed, 0, 0)


async def test_a_queue_survives_a_new_opening(name: str, opened: Opener) -> None:
    first = opened()
    await queued(first)
    await first.aclose()
    kept = [task.url for task in await opened().crawls.tasks(DOCS.id)]
    assert kept == (URLS if name in KEPT else [])


async def test_a_page_is_queued_once_and_only_up_to_the_limit(store: Store) -> None:
    await queued(store)
    more = [*TASKS, PageTask("https://docs.example/x"), PageTask("https://docs.example/y")]
    assert await store.crawls.add(DOCS.id, more, 6) == Added(1, left_out=1)
    assert await store.crawls.add(DOCS.id, more, 6) == Added(0, left_out=1)
    assert len(await store.crawls.tasks(DOCS.id)) == 6


async def test_a_page_is_leased_to_one_worker_in_the_order_of_the_queue(store: Store) -> None:
    await queued(store)
    assert await leased(store, "one", 2) == URLS[:2]
    assert await leased(store, "two", 9) == URLS[2:]
    assert await leased(store, "three") == []
    assert await store.crawls.workers(DOCS.id) == ["one", "two"]


async def test_a_lease_that_ended_is_given_to_another(store: Store) -> None:
    await queued(store)
    await leased(store, "one")
    await store.crawls.renew(DOCS.id, "one", NOON + 3 * MINUTE)
    soon, late = NOON + 2 * MINUTE, NOON + 3 * MINUTE
    assert await store.crawls.lease(DOCS.id, "two", 9, soon, late) == []
    (task, *_) = await store.crawls.lease(DOCS.id, "two", 9, late, late + MINUTE)
    assert (task.url, task.worker, task.tries) == (URLS[0], "two", 2)
    assert (task.state, task.due_at) == (TaskState.LEASED, late + MINUTE)


async def test_the_pages_of_a_worker_that_ended_are_available_at_once(store: Store) -> None:
    await queued(store)
    await leased(store, "one", 2)
    await leased(store, "two", 2)
    assert await store.crawls.release(DOCS.id, "one") == 2
    assert await leased(store, "three") == [*URLS[:2], URLS[4]]


async def test_a_settled_page_is_not_leased_again(store: Store) -> None:
    await queued(store)
    first, second, *_ = await store.crawls.lease(DOCS.id, "one", 2, NOON, NOON + MINUTE)
    done = replace(first, state=TaskState.DONE, etag='"e"', last_modified="Mon", due_at=None)
    failed = replace(second, state=TaskState.FAILED, reason="not_found", worker="", due_at=None)
    await store.crawls.settle(DOCS.id, [done, failed])
    assert await leased(store, "two") == URLS[2:]
    assert (await store.crawls.tasks(DOCS.id))[:2] == [done, failed]
    found = await store.crawls.collection(DOCS.id)
    assert found is not None
    assert found.tasks == {TaskState.DONE: 1, TaskState.FAILED: 1, TaskState.LEASED: 3}
    assert found.left == 3


async def test_a_page_that_is_not_due_yet_waits(store: Store) -> None:
    await queued(store)
    first, *_ = await store.crawls.lease(DOCS.id, "one", 1, NOON, NOON + MINUTE)
    later = replace(first, state=TaskState.PENDING, due_at=NOON + 2 * MINUTE, worker="")
    await store.crawls.settle(DOCS.id, [later])
    assert URLS[0] not in await leased(store, "two")


async def test_a_refresh_asks_every_page_again_with_what_is_known(store: Store) -> None:
    await queued(store)
    tasks = await store.crawls.lease(DOCS.id, "one", 9, NOON, NOON + MINUTE)
    done = [replace(one, state=TaskState.DONE, etag='"e"', due_at=None) for one in tasks]
    await store.crawls.settle(DOCS.id, done)
    assert await store.crawls.restart(DOCS.id) == 5
    again = await store.crawls.lease(DOCS.id, "two", 9, NOON, NOON + MINUTE)
    assert [(one.url, one.etag, one.tries) for one in again] == [(url, '"e"', 1) for url in URLS]


async def test_a_queue_is_listed_in_parts(store: Store) -> None:
    await queued(store)
    assert [one.url for one in await store.crawls.tasks(DOCS.id, limit=2)] == URLS[:2]
    assert [one.url for one in await store.crawls.tasks(DOCS.id, after=URLS[2])] == URLS[3:]


async def test_a_dropped_collection_leaves_nothing_but_others(store: Store) -> None:
    await queued(store)
    other = replace(DOCS, name="other")
    await store.crawls.save(other)
    await store.crawls.add(other.id, TASKS, 9)
    assert await store.crawls.drop(DOCS.id)
    assert not await store.crawls.drop(DOCS.id)
    assert await store.crawls.tasks(DOCS.id) == []
    assert [one.collection.id for one in await store.crawls.collections()] == [other.id]
    assert len(await store.crawls.tasks(other.id)) == 5


async def test_requests_to_a_host_are_spaced_among_all_workers(store: Store) -> None:
    moments = [await store.crawls.reserve("docs.example", NOON, 0.5) for _ in range(3)]
    assert moments == [NOON + timedelta(seconds=n / 2) for n in range(3)]
    assert await store.crawls.reserve("other.example", NOON, 0.5) == NOON
    assert await store.crawls.reserve("docs.example", NOON + MINUTE, 0.5) == NOON + MINUTE


async def test_workers_that_lease_at_the_same_time_never_share_a_page(
    name: str, opened: Opener
) -> None:
    store = opened()
    await queued(store)
    many = [PageTask(f"https://docs.example/more/{n}") for n in range(60)]
    await store.crawls.add(DOCS.id, many, 100)
    stores = [store, opened(), opened()] if name in KEPT else [store] * 3
    taken: list[str] = []

    async def work(number: int, own: Store) -> None:
        while found := await leased(own, f"worker {number}", 7):
            taken.extend(found)

    with anyio.fail_after(240):
        async with anyio.create_task_group() as tasks:
            for number, own in enumerate(stores):
                tasks.start_soon(work, number, own)
    assert len(taken) == len(set(taken)) == 65


async def test_one_page_is_kept_in_several_versions(store: Store) -> None:
    old = within(page("guide", ["Version one has frobnicators."]), "docs@1.2")
    new = within(page("guide", ["Version two has widgets."]), "docs@2.0")
    alone = page("guide", ["Read by chance."])
    await keep(store, old, new, alone)
    for made in (old, new, alone):
        stored = await store.page(made.entry.key)
        assert stored is not None
        assert (stored.entry, stored.chunks) == (made.entry, made.chunks)
    assert await store.entries(collection="docs@2.0") == [new.entry]
    assert len(await store.entries()) == 3


SCOPES = {
    "a version": (RecallScope("docs@2.0"), {"new"}),
    "all versions": (RecallScope("docs"), {"old", "new"}),
    "another collection": (RecallScope("doc"), set()),
    "a site": (RecallScope(site="site.example"), {"old", "new", "alone"}),
    "its domain": (RecallScope(site="example"), {"old", "new", "alone"}),
    "half a domain": (RecallScope(site="ite.example"), set()),
    "a date": (RecallScope(since=NOON + MINUTE), {"alone"}),
    "a version since a date": (RecallScope("docs@2.0", since=NOON + MINUTE), set()),
}


@pytest.mark.parametrize(("scope", "expected"), SCOPES.values(), ids=SCOPES)
async def test_only_pages_in_scope_are_candidates(
    store: Store, scope: RecallScope, expected: set[str]
) -> None:
    text = "The kettle sings."
    made = {
        "old": within(page("guide", [text]), "docs@1.2"),
        "new": within(page("guide", [text]), "docs@2.0"),
        "alone": page("guide", [text], crawled_at=NOON + 2 * MINUTE),
    }
    await keep(store, *made.values())
    names = {one.entry.key: name for name, one in made.items()}
    by_words = await store.candidates(terms("kettle"), None, 9, scope)
    by_vector = await store.candidates([], vector(text), 9, scope)
    assert {names[one.entry.key] for one in by_words} == expected
    assert {names[one.entry.key] for one in by_vector} == expected


async def test_pages_of_a_collection_are_counted_and_forgotten_together(store: Store) -> None:
    inside = [within(page(f"p{n}", [f"text {n}"]), DOCS.id) for n in range(3)]
    alone = page("p0", ["text 0"])
    await store.crawls.save(DOCS)
    await keep(store, *inside, alone)
    found = await store.crawls.collection(DOCS.id)
    assert found is not None
    assert found.pages == 3
    assert found.size_bytes > 0
    assert await store.forget_collection(DOCS.id) == 3
    assert await store.entries() == [alone.entry]
    assert [one.entry for one in await store.candidates(terms("text"), None, 9)] == [alone.entry]


async def test_pages_of_a_collection_are_not_evicted(store: Store) -> None:
    inside = within(page("in", ["x" * 1000]), DOCS.id)
    await keep(store, inside, page("out", ["x" * 1000]))
    assert await store.evict(max_bytes=0, before=NOON + MINUTE) == 1
    assert await store.entries() == [inside.entry]
