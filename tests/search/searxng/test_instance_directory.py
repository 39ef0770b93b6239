"""When the list of public instances is fetched, and what happens without a fresh one."""

import anyio
import pytest

from kindly.errors import (
    ProviderUnreachable,
    SearchError,
)
from kindly.search.searxng.instance_directory import is_due
from kindly.search.searxng.instance_list import Instance
from kindly.search.searxng.pool_storage import Listing
from tests.support.searxng_pool import (
    NOW,
    QUERY,
    PublicInstances,
    exhausted,
    search,
    url_of,
)

pytestmark = pytest.mark.anyio

ONE = (Instance("https://one.example.org", "A"),)


@pytest.mark.parametrize(
    ("listing", "due"),
    [
        pytest.param(Listing(ONE, NOW - 86_399), False, id="fresh"),
        pytest.param(Listing(ONE, NOW - 86_400), True, id="old"),
        pytest.param(Listing(ONE, NOW - 86_400, NOW - 3599), False, id="old, just failed"),
        pytest.param(Listing(ONE, NOW - 99_999, NOW - 3600), True, id="old, failed an hour ago"),
        pytest.param(Listing(), True, id="none"),
        pytest.param(Listing((), 0, NOW - 299), False, id="none, just failed"),
        pytest.param(Listing((), 0, NOW - 300), True, id="none, failed five minutes ago"),
        pytest.param(Listing(ONE, NOW + 9999, NOW + 9999), True, id="from the future"),
    ],
)
def test_the_list_is_fetched_when_missing_or_old(listing: Listing, due: bool) -> None:
    assert is_due(listing, NOW) is due


@pytest.mark.parametrize(
    "listing",
    [
        pytest.param(ProviderUnreachable("x"), id="unreachable"),
        pytest.param(b"<html>", id="a page"),
        pytest.param(b'{"instances": {}}', id="empty"),
    ],
)
async def test_without_a_list_the_error_says_so_and_the_list_is_not_fetched_again(
    listing: bytes | SearchError,
) -> None:
    site = PublicInstances({"one": "A"}, listing=listing)
    pool = site.pool()

    error = await exhausted(site, pool)
    await exhausted(site, site.pool())

    assert (error.attempted, error.retry_after_s) == ((), 300)
    assert site.lists == 1
    site.listing = None
    site.clock.advance(300)
    assert (await search(site, pool)).instance == url_of("one")


async def test_an_old_list_is_used_until_there_is_a_new_one() -> None:
    site = PublicInstances({"old": "A"})
    pool = site.pool()
    await search(site, pool)
    site.listing = ProviderUnreachable("x")
    site.clock.advance(2 * 86_400)

    assert (await search(site, pool)).instance == url_of("old")
    assert (await search(site, site.pool())).instance == url_of("old")
    site.grades, site.listing = {"new": "A"}, None
    site.clock.advance(3600)

    assert (await search(site, pool)).instance == url_of("new")
    assert site.lists == 3


async def test_a_search_with_an_old_list_does_not_wait_for_the_new_one() -> None:
    site = PublicInstances({"one": "A"})
    pool = site.pool()
    await search(site, pool)
    site.clock.advance(2 * 86_400)
    let_go = anyio.Event()
    site.list_delay = let_go.wait
    with anyio.fail_after(120):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(pool.search, QUERY, site.deadline())
            await anyio.wait_all_tasks_blocked()
            found = await pool.search(QUERY, site.deadline())
            let_go.set()

    assert found.instance == url_of("one")


async def test_a_search_without_a_list_waits_until_its_deadline_at_most() -> None:
    site = PublicInstances({"one": "A"}, list_delay=anyio.sleep_forever)

    assert (await exhausted(site, site.pool(), 0.01)).attempted == ()


async def test_instances_that_left_the_list_are_deleted_after_days() -> None:
    site = PublicInstances({"gone": "A"})
    pool = site.pool()
    await search(site, pool)
    site.grades = {"new": "A"}

    for day in (1, 2, 3, 4):
        site.clock.advance(86_400)
        await search(site, pool)
        assert (url_of("gone") in site.state.kinds["searxng_pool"]) is (day <= 2)
