"""Stages that open at their first use: search with its statistics, library, browser."""

from importlib.util import find_spec
from pathlib import Path
from types import NoneType

import anyio
import pytest
from anyio.abc import SocketStream

from kindly.app import open_app
from kindly.app.lazy import LazyBrowser, LazyLibrary, NoBrowser, has_browser, renderer
from kindly.budget import Deadline
from kindly.errors import PoolExhausted, SearchError
from kindly.models import Hits, Query
from kindly.net.tls import Tls
from kindly.settings import Settings
from tests.support.served_world import BOTH, environment, serper
from tests.support.site import Answer, SiteRequest, running_site, text

pytestmark = pytest.mark.anyio


async def pool_error(environ: dict[str, str]) -> PoolExhausted | None:
    """The error of a search through the public pool, if it fails that way."""
    async with open_app(Settings.load(environ)) as app:
        try:
            await app.stages.searcher.search(Query("bees"), Deadline.after(60))
        except PoolExhausted as error:
            return error
    return None


async def test_the_public_pool_downloads_its_list_only_from_a_public_or_allowed_address(
    tmp_path: Path,
) -> None:
    async with running_site() as site:
        address = site.add("/instances.json", text('{"instances": {}}', "application/json"))
        environ = environment(site, tmp_path, KINDLY_SEARXNG_POOL="1", SEARX_SPACE_URL=address)
        assert await pool_error(environ) is not None
        assert site.count("/instances.json") == 1
        closed = environ | {"KINDLY_ALLOW_PRIVATE": "", "DATA_DIR": str(tmp_path / "other")}
        assert await pool_error(closed) is not None
        assert site.count("/instances.json") == 1


async def test_a_batch_keeps_its_order_and_isolates_a_failure(tmp_path: Path) -> None:
    async with running_site() as site:

        async def answer(request: SiteRequest, stream: SocketStream) -> Answer:
            if b"bad" in request.body:
                return Answer(status=400)
            return serper([site.url(f"/{len(request.body)}")])

        site.add("/serper/search", answer)
        environ = environment(site, tmp_path, SERPER_API_KEY=BOTH["SERPER_API_KEY"])
        async with open_app(Settings.load(environ)) as app:
            queries = [Query("a"), Query("bad"), Query("ccc")]
            with anyio.fail_after(120):
                outcomes = await app.stages.searcher.search_all(queries, Deadline.after(60))
    assert [type(outcome).__name__ for outcome in outcomes] == ["Hits", "ProviderRejected", "Hits"]
    assert [outcome.query.text for outcome in outcomes if isinstance(outcome, Hits)] == ["a", "ccc"]
    assert isinstance(outcomes[1], SearchError)


async def test_provider_statistics_outlive_the_app(tmp_path: Path) -> None:
    async with running_site() as site:
        site.add("/serper/search", serper([site.url("/article")]))
        settings = Settings.load(environment(site, tmp_path, **BOTH))
        for calls in (1, 2):
            async with open_app(settings) as app:
                await app.stages.searcher.search(Query(f"bees {calls}"), Deadline.after(60))
                assert app.provider_status()[0].calls == calls


async def test_provider_status_before_the_first_search_has_names_only(tmp_path: Path) -> None:
    async with running_site() as site:
        folder = tmp_path / "data"
        settings = Settings.load(environment(site, folder, **BOTH))
        async with open_app(settings) as app:
            assert [(status.name, status.calls) for status in app.provider_status()] == [
                ("serper", 0),
                ("tavily", 0),
            ]
    assert not folder.exists()


async def test_the_library_opens_once(tmp_path: Path) -> None:
    settings = Settings.load({"DATA_DIR": str(tmp_path), "KINDLY_STORE": "memory"})
    library = LazyLibrary(settings, Tls())
    first, second = await library.open(), await library.open()
    assert first is second
    assert await library.store() is first.store
    await library.aclose()


@pytest.mark.parametrize(
    ("browser", "expected"),
    [("off", False), ("playwright", True), ("auto", find_spec("playwright") is not None)],
)
def test_pages_are_rendered_unless_the_browser_is_off_or_missing(
    browser: str, expected: bool
) -> None:
    assert has_browser(Settings.load({"KINDLY_BROWSER": browser})) is expected


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"KINDLY_BROWSER": "off"}, NoBrowser),
        ({"KINDLY_PROFILE": "media"}, NoneType),
        ({"KINDLY_PROFILE": "media", "KINDLY_BROWSER": "off"}, NoneType),
        ({"KINDLY_BROWSER": "auto"}, LazyBrowser if find_spec("playwright") else NoBrowser),
    ],
    ids=["turned off", "profile", "profile and turned off", "auto"],
)
async def test_only_a_profile_without_a_browser_has_no_renderer_at_all(
    environ: dict[str, str], expected: type
) -> None:
    async with anyio.create_task_group() as tasks:
        assert type(renderer(Settings.load(environ), Tls(), tasks)) is expected
