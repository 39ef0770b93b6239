"""The verbs over fake stages: what is called in which case, and what a failure of one stage does to the answer."""

from dataclasses import dataclass, field

import anyio
import anyio.lowlevel
import pytest

from kindly import pipeline
from kindly.answer import cursor_at
from kindly.budget import Deadline
from kindly.errors import (
    AddressRefused,
    BrowserUnavailable,
    CursorExpired,
    InputError,
    KindlyError,
    NeedsBrowser,
    NoContent,
    PageChallenged,
    PageNotFound,
    PageUnreachable,
    ReadError,
    StoreUnavailable,
)
from kindly.extract import ExtractOptions
from kindly.models import Document, FetchMethod, How, OutcomeKind, Page, Query, SearchResults
from kindly.stages import Reads, Stages, ignore_progress
from kindly.urls import Url
from tests.support.fake_stages import (
    FakeExtractor,
    FakeFetcher,
    FakeLibrary,
    FakeRenderer,
    FakeSearcher,
    document,
    page,
)

pytestmark = pytest.mark.anyio

A, B = "https://a.example/", "https://b.example/"
LONG = "A sentence of a long page. " * 400
CHALLENGE = PageChallenged("A bot check.", url=A, status=403)
SCRIPTS_ONLY = NeedsBrowser("No text without scripts.", url=A)


@dataclass
class World:
    """Fake stages, and the verbs bound to them."""

    searcher: FakeSearcher = field(default_factory=lambda: FakeSearcher([A, B]))
    fetcher: FakeFetcher = field(default_factory=lambda: FakeFetcher({A: "Tea.", B: "Wine."}))
    extractor: FakeExtractor = field(default_factory=FakeExtractor)
    renderer: FakeRenderer | None = None
    library: FakeLibrary | None = None
    deadline_s: float = 10.0

    def __post_init__(self) -> None:
        self.stages = Stages(
            self.searcher,
            self.fetcher,
            self.extractor,
            self.renderer,
            self._open if self.library else None,
        )

    async def _open(self) -> Reads:
        assert self.library is not None
        return self.library

    @property
    def deadline(self) -> Deadline:
        return Deadline.after(self.deadline_s)

    async def fetch(self, url: str = A, options: ExtractOptions | None = None) -> str:
        options = options or ExtractOptions()
        return (await pipeline.fetch(self.stages, url, options, self.deadline)).text

    async def search(self, *, fetch_content: bool = True) -> SearchResults:
        return await pipeline.search(
            self.stages,
            Query("tea"),
            self.deadline,
            ignore_progress,
            fetch_content=fetch_content,
        )


async def test_search_loads_every_hit_in_order() -> None:
    found = await World().search()
    assert [hit.url for hit in found.hits.hits] == [A, B]
    assert [source.document and source.document.text for source in found.sources] == [
        "Tea.",
        "Wine.",
    ]


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


async def test_a_bot_check_is_retried_in_a_browser() -> None:
    renderer = FakeRenderer({A: "Tea in a browser."})
    world = World(fetcher=FakeFetcher({A: CHALLENGE}), renderer=renderer)
    assert await world.fetch() == "Tea in a browser."
    assert renderer.rendered == [A]


@pytest.mark.parametrize(
    "renderer", [None, FakeRenderer({A: PageUnreachable("No browser.", url=A)})]
)
async def test_a_bot_check_that_no_browser_passes_is_reported(
    renderer: FakeRenderer | None,
) -> None:
    world = World(fetcher=FakeFetcher({A: CHALLENGE}), renderer=renderer)
    with pytest.raises(PageChallenged) as caught:
        await world.fetch()
    assert caught.value is CHALLENGE


async def test_other_fetch_errors_start_no_browser() -> None:
    renderer = FakeRenderer({A: "Never."})
    world = World(fetcher=FakeFetcher({}), renderer=renderer)
    with pytest.raises(PageNotFound):
        await world.fetch()
    assert renderer.rendered == []


async def test_a_page_without_text_is_rendered_and_cached_under_its_address() -> None:
    world = World(
        fetcher=FakeFetcher({A: "<div id=app></div>"}),
        extractor=FakeExtractor({"<div id=app></div>": SCRIPTS_ONLY}),
        renderer=FakeRenderer({A: "Drawn by scripts."}),
    )
    assert await world.fetch() == "Drawn by scripts."
    assert [(kept.requested_url, str(kept.how)) for kept in world.fetcher.kept] == [(A, "browser")]


async def test_a_page_with_enough_text_starts_no_browser() -> None:
    renderer = FakeRenderer({A: LONG * 2})
    world = World(fetcher=FakeFetcher({A: LONG}), renderer=renderer)
    assert await world.fetch() == LONG
    assert renderer.rendered == []


SHELL = "<div id=root></div><script src=/app.js></script>"


async def test_a_rendering_with_less_text_is_ignored() -> None:
    renderer = FakeRenderer({A: "Less."})
    world = World(fetcher=FakeFetcher({A: SHELL}), renderer=renderer)
    assert await world.fetch() == SHELL
    assert (renderer.rendered, world.fetcher.kept) == ([A], [])


PAGES = [f"https://a.example/{n}" for n in range(4)]


async def test_a_host_where_rendering_never_helped_is_not_rendered_again() -> None:
    renderer = FakeRenderer(dict.fromkeys((*PAGES, B), SHELL))
    world = World(fetcher=FakeFetcher(dict.fromkeys([*PAGES, B], SHELL)), renderer=renderer)
    for url in (*PAGES, B):
        assert await world.fetch(url) == SHELL
    assert renderer.rendered == [*PAGES[:2], B]


async def test_a_host_where_rendering_helped_once_is_rendered_again() -> None:
    renderer = FakeRenderer({url: LONG if url == PAGES[0] else SHELL for url in PAGES})
    world = World(fetcher=FakeFetcher(dict.fromkeys(PAGES, SHELL)), renderer=renderer)
    for url in PAGES:
        await world.fetch(url)
    assert renderer.rendered == PAGES
    assert renderer.releases == len(PAGES) - 1


async def test_a_page_without_text_is_rendered_on_every_host() -> None:
    renderer = FakeRenderer({url: PageUnreachable("Crashed.", url=url) for url in PAGES})
    world = World(
        fetcher=FakeFetcher(dict.fromkeys(PAGES, SHELL)),
        extractor=FakeExtractor({SHELL: NoContent("Nothing to read.", url=A)}),
        renderer=renderer,
    )
    for url in PAGES:
        with pytest.raises(NoContent):
            await world.fetch(url)
    assert renderer.rendered == PAGES


async def test_a_browser_that_is_missing_says_nothing_about_a_host() -> None:
    renderer = FakeRenderer({url: BrowserUnavailable("None.", url=url) for url in PAGES})
    world = World(fetcher=FakeFetcher(dict.fromkeys(PAGES, SHELL)), renderer=renderer)
    for url in PAGES:
        await world.fetch(url)
    assert renderer.rendered == PAGES


@pytest.mark.parametrize(
    ("text", "longest_s"), [(SHELL, pipeline.MORE_TEXT_S), (SCRIPTS_ONLY, 30.0)]
)
async def test_only_a_page_without_text_waits_long_for_a_browser(
    text: str | KindlyError, longest_s: float
) -> None:
    left_s: list[float] = []

    class Renderer(FakeRenderer):
        async def render(self, url: Url, deadline: Deadline) -> Page:
            left_s.append(deadline.remaining_s())
            return await super().render(url, deadline)

    world = World(
        fetcher=FakeFetcher({A: SHELL}),
        extractor=FakeExtractor({SHELL: text} if isinstance(text, KindlyError) else {}),
        renderer=Renderer({A: LONG}),
        deadline_s=60.0,
    )
    assert await world.fetch() == LONG
    (left,) = left_s
    assert longest_s / 2 < left <= longest_s


async def test_pages_of_a_search_do_not_wait_for_one_that_renders() -> None:
    loaded: list[str] = []

    class Renderer(FakeRenderer):
        async def render(self, url: Url, deadline: Deadline) -> Page:
            while B not in loaded:
                await anyio.lowlevel.checkpoint()
            return await super().render(url, deadline)

    class Extractor(FakeExtractor):
        async def extract(
            self, page: Page, options: ExtractOptions, deadline: Deadline
        ) -> Document:
            found = await super().extract(page, options, deadline)
            loaded.append(page.url)
            return found

    world = World(
        fetcher=FakeFetcher({A: SHELL, B: "Wine."}),
        extractor=Extractor(),
        renderer=Renderer({A: LONG}),
        deadline_s=60.0,
    )
    first, second = (await world.search()).sources
    assert first.document is not None
    assert (first.document.text, second.outcome.ok) == (LONG, True)


async def test_without_text_the_failure_of_extraction_is_reported() -> None:
    world = World(
        fetcher=FakeFetcher({A: SHELL}),
        extractor=FakeExtractor({SHELL: NoContent("Nothing to read.", url=A)}),
        renderer=FakeRenderer({A: PageUnreachable("Crashed.", url=A)}),
    )
    with pytest.raises(NoContent, match=r"^Nothing to read\.$"):
        await world.fetch()


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
