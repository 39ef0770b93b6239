"""The composition root: what the settings open, and what stays shut."""

from pathlib import Path

import anyio
import pytest
from anyio.abc import SocketStream

from kindly.app import open_app
from kindly.budget import Deadline
from kindly.errors import PoolExhausted, SearchError
from kindly.models import Hits, Query
from kindly.settings import Settings
from tests.support.served_world import BOTH, environment, serper
from tests.support.site import Answer, SiteRequest, running_site, text

pytestmark = pytest.mark.anyio


async def pool_error(environ: dict[str, str]) -> PoolExhausted | None:
    """How a search through the public pool ends."""
    async with open_app(Settings.load(environ)) as app:
        try:
            await app.stages.searcher.search(Query("bees"), Deadline.after(8))
        except PoolExhausted as error:
            return error
    return None


async def test_the_public_pool_asks_for_its_list_only_at_a_public_or_opened_address(
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


async def test_a_batch_keeps_its_order_and_a_failure_to_itself(tmp_path: Path) -> None:
    async with running_site() as site:

        async def answer(request: SiteRequest, stream: SocketStream) -> Answer:
            if b"bad" in request.body:
                return Answer(status=400)
            return serper([site.url(f"/{len(request.body)}")])

        site.add("/serper/search", answer)
        environ = environment(site, tmp_path, SERPER_API_KEY=BOTH["SERPER_API_KEY"])
        async with open_app(Settings.load(environ)) as app:
            queries = [Query("a"), Query("bad"), Query("ccc")]
            with anyio.fail_after(60):
                outcomes = await app.stages.searcher.search_all(queries, Deadline.after(10))
    assert [type(outcome).__name__ for outcome in outcomes] == ["Hits", "ProviderRejected", "Hits"]
    assert [outcome.query.text for outcome in outcomes if isinstance(outcome, Hits)] == ["a", "ccc"]
    assert isinstance(outcomes[1], SearchError)


async def test_a_search_that_was_never_made_opens_nothing(tmp_path: Path) -> None:
    async with running_site() as site:
        folder = tmp_path / "data"
        async with open_app(Settings.load(environment(site, folder, **BOTH))) as app:
            assert app.tokens_for(None) == 20_000
    assert not folder.exists()


async def test_what_is_known_of_providers_outlives_the_app(tmp_path: Path) -> None:
    async with running_site() as site:
        site.add("/serper/search", serper([site.url("/article")]))
        settings = Settings.load(environment(site, tmp_path, **BOTH))
        for calls in (1, 2):
            async with open_app(settings) as app:
                await app.stages.searcher.search(Query(f"bees {calls}"), Deadline.after(10))
                assert app.provider_status()[0].calls == calls
