"""Quotes and changes, asked of stored pages and their former versions."""

from dataclasses import replace
from datetime import timedelta

import pytest

from kindly.budget import Deadline
from kindly.clock import Clock
from kindly.crawl.page_checks import changes, library_of, refresh_by, verify
from kindly.errors import InputError, StoreUnavailable
from kindly.read.crawls.collection import Collection
from kindly.read.evidence.quotes import Verdict
from kindly.read.indexing.index_protocol import QueuedPage
from kindly.read.library import Library, page_of_collection
from kindly.stages import Stages
from tests.support.fake_stages import FakeExtractor, FakeFetcher, FakeSearcher
from tests.support.library_world import BEES, NOW, LibraryWorld, document

pytestmark = pytest.mark.anyio

URL = "https://example.com/bees"
DANCE = "A forager that found food tells the others by a waggle dance"
LATER = BEES.replace("waggle dance", "round dance").replace("honey.", "honey and pollen.")
DAY = timedelta(days=1)


def stages(fetched: str = "") -> Stages:
    return Stages(FakeSearcher(), FakeFetcher({URL: fetched}), FakeExtractor())


async def stored(*texts: str, collection: str = "") -> Library:
    """A library that read a page once a day, with another text each time."""
    world = LibraryWorld()
    library = world.library()
    if collection:
        await library.store.crawls.save(Collection(collection, "", NOW))
    for day, text in enumerate(texts):
        page = page_of_collection(URL, document(text), None, collection)
        assert page is not None
        entry = replace(page.entry, crawled_at=NOW + day * DAY)
        await library.store_now([QueuedPage(entry, text)])
    return library


async def check(library: Library, quote: str, url: str = URL, fetched: str = "", **more: bool):  # type: ignore[no-untyped-def]
    return await verify(stages(fetched), library, quote, url, Deadline.after(60), **more)


async def test_a_stored_page_is_asked_without_a_request() -> None:
    library = await stored(BEES)
    report = await check(library, DANCE)
    assert (report.verdict, report.match.section) == (Verdict.EXACT, ("Bees", "Dance"))
    assert report.page is not None
    assert report.page.url == URL


async def test_a_quote_that_was_altered_since_names_the_date() -> None:
    report = await check(await stored(BEES, LATER), DANCE)
    assert (report.verdict, report.former_at) == (Verdict.ALTERED, NOW)
    assert [(one.quoted, one.found) for one in report.match.differences] == [("waggle", "round")]


async def test_a_page_that_is_not_stored_is_read() -> None:
    report = await check(await stored(), DANCE, fetched=BEES)
    assert report.verdict is Verdict.EXACT


async def test_a_refresh_asks_the_site_and_knows_the_former_version() -> None:
    library = await stored(BEES, LATER)
    assert (await check(library, "stored honey and pollen")).verdict is Verdict.EXACT
    report = await check(
        library, DANCE, fetched="Something else entirely is here now.", refresh=True
    )
    assert report.verdict is Verdict.ALTERED


async def test_without_an_address_the_library_is_searched() -> None:
    library = await stored(BEES)
    assert (await check(library, DANCE, "")).verdict is Verdict.EXACT
    assert (
        await check(library, "Wine is fermented in barrels of oak.", "")
    ).verdict is Verdict.ABSENT
    assert (await check(await stored(), DANCE, "")).verdict is Verdict.ABSENT


async def test_a_page_of_a_collection_is_found_by_its_address() -> None:
    report = await check(await stored(BEES, collection="bees"), DANCE)
    assert report.page is not None
    assert (report.verdict, report.page.collection) == (Verdict.EXACT, "bees")


@pytest.mark.parametrize(("target", "collection"), [(URL, ""), ("bees", "bees"), (URL, "bees")])
async def test_changes_are_those_since_the_version_before(target: str, collection: str) -> None:
    report = await changes(await stored(BEES, LATER, collection=collection), target, None)
    (page,) = report.pages
    assert (page.page.url, page.before, report.checked) == (URL, NOW, 1)
    assert [(one.kind, one.section[-1]) for one in page.changes] == [
        ("altered", "Dance"),
        ("altered", "Winter"),
    ]


@pytest.mark.parametrize(
    ("days", "changed", "before"),
    [(0, 2, 0), (1, 1, 1), (1.5, 1, 1), (2, 0, None), (-3, 2, 0)],
)
async def test_changes_since_a_date_start_at_the_version_of_that_time(
    days: float, changed: int, before: int | None
) -> None:
    middle = BEES.replace("waggle dance", "round dance")
    library = await stored(BEES, middle, LATER)
    report = await changes(library, URL, NOW + days * DAY)
    assert sum(len(page.changes) for page in report.pages) == changed
    if before is not None:
        assert report.pages[0].before == NOW + before * DAY


@pytest.mark.parametrize(("days", "changed"), [(0.5, 2), (1, 0), (3, 0), (7, 0)])
async def test_a_version_that_was_seen_again_is_as_old_as_when_it_came(
    days: float, changed: int
) -> None:
    library = await stored(BEES, LATER)
    await library.store.touch(URL, NOW + 6 * DAY)
    report = await changes(library, URL, NOW + days * DAY)
    assert sum(len(page.changes) for page in report.pages) == changed


async def test_a_page_of_one_version_says_so() -> None:
    report = await changes(await stored(BEES), URL, None)
    assert report.pages == ()
    assert report.note == "No former version is kept; first read 2026-01-02."


async def test_new_pages_of_a_collection_are_listed() -> None:
    library = await stored(BEES, collection="bees")
    report = await changes(library, "bees", NOW - DAY)
    assert ([one.url for one in report.new], report.pages) == ([URL], ())
    assert (await changes(library, "bees", NOW + DAY)).new == ()


@pytest.mark.parametrize("target", ["https://example.com/unknown", "unknown"])
async def test_what_is_not_in_the_library_is_refused(target: str) -> None:
    with pytest.raises(InputError) as refused:
        await changes(await stored(BEES, collection="bees"), target, None)
    assert refused.value.field == "target"


async def unused(id_: str) -> bool:
    raise AssertionError


@pytest.mark.parametrize("collection", ["", "bees"])
async def test_a_refreshed_page_is_compared_with_what_was_stored(collection: str) -> None:
    library = await stored(BEES, collection=collection)
    refresh = refresh_by(stages(LATER), Deadline.after(60), unused)
    (page,) = (await changes(library, URL, None, refresh)).pages
    assert (page.before, [one.section[-1] for one in page.changes]) == (NOW, ["Dance", "Winter"])
    same = refresh_by(stages(BEES), Deadline.after(60), unused)
    report = await changes(library, URL, None, same)
    assert (report.pages, report.checked) == ((), 1)


async def test_a_refreshed_page_is_compared_with_the_version_of_a_date() -> None:
    library = await stored(BEES, BEES.replace("waggle dance", "round dance"))
    refresh = refresh_by(stages(LATER), Deadline.after(60), unused)
    (page,) = (await changes(library, URL, NOW, refresh)).pages
    assert [one.section[-1] for one in page.changes] == ["Dance", "Winter"]
    (page,) = (await changes(library, URL, None, refresh)).pages
    assert [one.section[-1] for one in page.changes] == ["Winter"]


@pytest.mark.parametrize(("ended", "note"), [(True, ""), (False, "goes on in the background")])
async def test_a_refreshed_collection_shows_what_that_changed(*, ended: bool, note: str) -> None:
    library = await stored(BEES, collection="bees")
    clock = Clock(time=lambda: (NOW + DAY).timestamp())

    async def refreshed(id_: str) -> bool:
        page = page_of_collection(URL, document(LATER), None, id_)
        assert page is not None
        await library.store_now([QueuedPage(replace(page.entry, crawled_at=NOW + 2 * DAY), LATER)])
        return ended

    refresh = refresh_by(stages(), Deadline.after(60), refreshed)
    report = await changes(library, "bees", None, refresh, clock)
    assert [len(page.changes) for page in report.pages] == [2]
    assert note in report.note


async def test_without_a_library_nothing_can_be_checked() -> None:
    with pytest.raises(StoreUnavailable):
        await library_of(stages())
