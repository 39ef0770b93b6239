"""The verbs over fake stages: what is called in which case, and what a failure of one stage does to the answer."""

import anyio
import anyio.lowlevel
import pytest

from kindly import pipeline
from kindly.answer import cursor_at
from kindly.budget import Deadline
from kindly.errors import (
    AddressRefused,
    CursorExpired,
    InputError,
    NeedsBrowser,
    PageChallenged,
    ReadError,
    StoreUnavailable,
)
from kindly.extract import ExtractOptions
from kindly.models import FetchMethod, Hits, How, OutcomeKind, Page, Query
from tests.support.fake_stages import (
    FakeExtractor,
    FakeFetcher,
    FakeLibrary,
    FakeSearcher,
    document,
    page,
)
from tests.support.pipeline_world import LONG, A, B, World

pytestmark = pytest.mark.anyio

CHALLENGE = PageChallenged("A bot check.", url=A, status=403)
SCRIPTS_ONLY = NeedsBrowser("No text without scripts.", url=A)


async def test_search_loads_every_hit_in_order() -> None:
    found = await World().search()
    assert [hit.url for hit in found.hits.hits] == [A, B]
    assert [source.document and source.document.text for source in found.sources] == [
        "Tea.",
        "Wine.",
    ]


async def test_a_provider_is_asked_before_everything_is_warm() -> None:
    asked = anyio.Event()

    class Searcher(FakeSearcher):
        async def search(self, query: Query, deadline: Deadline) -> Hits:
            asked.set()
            return await super().search(query, deadline)

    class Extractor(FakeExtractor):
        async def warm(self) -> None:
            await asked.wait()

    with anyio.fail_after(60):
        found = await World(searcher=Searcher([A]), extractor=Extractor()).search()
    assert [source.outcome.ok for source in found.sources] == [True]


async def test_search_without_content_fetches_nothing() -> None:
    world = World()
    found = await world.search(fetch_content=False)
    assert (found.sources, world.fetcher.fetched, world.extractor.warmed) == ((), [], 0)


async def test_search_reports_a_page_that_failed_as_an_outcome() -> None:
    world = World(fetcher=FakeFetcher({B: "Wine."}))
    first, second = (await world.search()).sources
    assert (first.outcome.kind, first.document) == (OutcomeKind.NOT_FOUND, None)
    assert first.outcome.detail == "There is no such page."
    assert second.outcome.ok


async def test_search_reports_progress_for_each_page() -> None:
    world = World()
    messages: list[tuple[float, float, str]] = []

    async def progress(done: float, total: float, message: str) -> None:
        messages.append((done, total, message))

    await pipeline.search(world.stages, Query("tea"), world.deadline, progress)
    assert messages == [
        (1, 3, "fake: 2 results"),
        (2, 3, "1 of 2 pages"),
        (3, 3, "2 of 2 pages"),
    ]


async def test_search_ranks_the_passages_of_long_pages_only() -> None:
    world = World(fetcher=FakeFetcher({A: "Tea.", B: LONG}), library=FakeLibrary())
    short, long = (await world.search()).sources
    assert (short.passages, [passage.text for passage in long.passages]) == ((), [LONG[:10]])


async def test_a_slow_library_takes_nothing_from_a_search() -> None:
    world = World(
        fetcher=FakeFetcher({A: LONG, B: LONG}), library=FakeLibrary(delay_s=3600), deadline_s=2
    )
    with anyio.fail_after(120):
        sources = (await world.search()).sources
    assert [(source.outcome.ok, source.passages) for source in sources] == [(True, ())] * 2


@pytest.mark.parametrize("failure", [StoreUnavailable("Locked."), ReadError("Broken.")])
async def test_a_failing_library_takes_nothing_from_a_fetch(failure: ReadError) -> None:
    assert await World(library=FakeLibrary(failure=failure)).fetch() == "Tea."


async def test_fetch_stores_the_page_in_the_library() -> None:
    library = FakeLibrary()
    await World(library=library).fetch()
    assert library.texts == {A: "Tea."}


@pytest.mark.parametrize(
    "options", [ExtractOptions(selector="main"), ExtractOptions(format="html")]
)
async def test_a_part_of_a_page_is_not_stored(options: ExtractOptions) -> None:
    library = FakeLibrary()
    await World(library=library).fetch(options=options)
    assert library.texts == {}


@pytest.mark.parametrize("url", ["", "ftp://a.example/", "https://user@a.example/"])
async def test_fetch_refuses_what_is_not_a_web_address(url: str) -> None:
    world = World()
    with pytest.raises(InputError):
        await world.fetch(url)
    assert world.fetcher.fetched == []


async def test_resume_continues_the_document_without_a_download() -> None:
    world = World()
    await world.fetch()
    shown = document(page(A, "Tea."))
    found, position = await pipeline.fetch_or_resume(
        world.stages, A, ExtractOptions(), world.deadline, cursor=cursor_at(shown, 2)
    )
    assert (found.text, position, world.fetcher.fetched) == ("Tea.", 2, [A])


async def test_resume_takes_the_page_from_the_page_cache() -> None:
    kept = page(A, "Tea.")
    world = World(fetcher=FakeFetcher(cache={A: kept}))
    cursor = cursor_at(document(kept), 1)
    found, position = await pipeline.resume(
        world.stages, A, ExtractOptions(), cursor, world.deadline
    )
    assert (found.text, position, world.fetcher.fetched) == ("Tea.", 1, [])


@pytest.mark.parametrize("cached", [{}, {A: page(A, "Changed since.")}], ids=["gone", "changed"])
async def test_a_cursor_of_a_page_that_is_gone_or_changed_has_expired(
    cached: dict[str, Page],
) -> None:
    world = World(fetcher=FakeFetcher(cache=cached))
    cursor = cursor_at(document(page(A, "Tea.")), 1)
    with pytest.raises(CursorExpired):
        await pipeline.resume(world.stages, A, ExtractOptions(), cursor, world.deadline)


async def test_a_cursor_past_the_end_is_refused() -> None:
    world = World()
    await world.fetch()
    cursor = cursor_at(document(page(A, "Tea.")), 5)
    with pytest.raises(InputError, match="past the end"):
        await pipeline.resume(world.stages, A, ExtractOptions(), cursor, world.deadline)


async def test_read_loads_a_page_once_then_answers_from_the_library() -> None:
    world = World(library=FakeLibrary())
    first = await pipeline.read(world.stages, A, ["What?"], world.deadline)
    again = await pipeline.read(world.stages, A, ["What?", "Why?"], world.deadline)
    assert (first.how, again.how) == (How(), How(FetchMethod.LIBRARY))
    assert [finding.citations[0].passage.text for finding in again.findings] == ["Tea.", "Tea."]
    assert world.fetcher.fetched == [A]


async def test_read_fetches_again_if_told_to() -> None:
    world = World(library=FakeLibrary())
    for _ in range(2):
        await pipeline.read(world.stages, A, ["What?"], world.deadline, force_refresh=True)
    assert world.fetcher.fetched == [A, A]


async def test_concurrent_reads_of_one_page_download_it_once() -> None:
    world = World(library=FakeLibrary(delay_s=0.01))
    hows: list[str] = []

    async def read() -> None:
        found = await pipeline.read(world.stages, A, ["What?"], world.deadline)
        hows.append(str(found.how))

    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(read)
    assert (world.fetcher.fetched, sorted(hows)) == ([A], ["http", "library", "library"])


async def test_read_checks_the_address_before_it_looks_into_the_library() -> None:
    world = World(
        fetcher=FakeFetcher({A: "Tea."}, refused=frozenset({"a.example"})), library=FakeLibrary()
    )
    with pytest.raises(AddressRefused):
        await pipeline.read(world.stages, A, ["What?"], world.deadline)


async def test_recall_answers_from_all_pages_without_a_download() -> None:
    world = World(library=FakeLibrary())
    await world.fetch(A)
    await world.fetch(B)
    (finding,) = await pipeline.recall(world.stages, ["What?"])
    assert [one.page.url for one in finding.citations] == [A, B]
    assert world.fetcher.fetched == [A, B]


async def test_reading_without_a_library_is_an_error() -> None:
    with pytest.raises(StoreUnavailable):
        await pipeline.recall(World().stages, ["What?"])
