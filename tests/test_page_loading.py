"""When a page is rendered by a browser, and what is reported if that fails."""

import anyio
import anyio.lowlevel
import pytest

from kindly import page_loading
from kindly.budget import Deadline
from kindly.errors import (
    BrowserUnavailable,
    KindlyError,
    NeedsBrowser,
    NoContent,
    PageChallenged,
    PageNotFound,
    PageUnreachable,
)
from kindly.extract import ExtractOptions
from kindly.models import Document, Page
from kindly.urls import Url
from tests.support.fake_stages import (
    FakeExtractor,
    FakeFetcher,
    FakeRenderer,
)
from tests.support.pipeline_world import LONG, A, B, World

pytestmark = pytest.mark.anyio

CHALLENGE = PageChallenged("A bot check.", url=A, status=403)
SCRIPTS_ONLY = NeedsBrowser("No text without scripts.", url=A)


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
    ("text", "longest_s"), [(SHELL, page_loading.MORE_TEXT_S), (SCRIPTS_ONLY, 30.0)]
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
