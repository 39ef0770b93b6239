"""Several inputs at once: in order, each page once, one failure beside the others, all stopped together."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import anyio
import pytest

from kindly.budget import Deadline
from kindly.errors import ProviderFailed, ReadError, SearchError, StoreUnavailable
from kindly.extract import ExtractOptions
from kindly.models import Hit, Hits, Outcome, OutcomeKind, Page, PageFindings, Query
from kindly.server import batch
from kindly.stages import Stages, ignore_progress
from kindly.urls import Url
from tests.support.fake_stages import FakeExtractor, FakeFetcher, FakeLibrary, FakeSearcher

pytestmark = pytest.mark.anyio

A, B, C = (f"https://example.com/{name}" for name in "abc")
PAGES = {A: "Bees dance.", B: "Wasps sting.", C: "Ants carry."}


@dataclass
class ListedSearcher(FakeSearcher):
    """Finds other addresses for each query; an error is the outcome of its query."""

    found: dict[str, Sequence[str] | SearchError] = field(default_factory=dict)

    async def search_all(
        self, queries: Sequence[Query], deadline: Deadline
    ) -> list[Hits | SearchError]:
        return [self._outcome(query) for query in queries]

    def _outcome(self, query: Query) -> Hits | SearchError:
        found = self.found[query.text]
        if isinstance(found, SearchError):
            return found
        return Hits(query, tuple(Hit(url, url, "", "fake") for url in found), "fake")


def stages(library: FakeLibrary | None = None, **found: Sequence[str] | SearchError) -> Stages:
    kept = library or FakeLibrary()

    async def open_library() -> FakeLibrary:
        return kept

    fetcher = FakeFetcher(dict(PAGES))
    return Stages(ListedSearcher(found=found), fetcher, FakeExtractor(), open_library=open_library)


def later() -> Deadline:
    return Deadline.after(100)


def fetched(of: Stages) -> list[str]:
    assert isinstance(of.fetcher, FakeFetcher)
    return of.fetcher.fetched


async def test_pages_come_in_the_order_of_their_addresses_with_one_outcome_each() -> None:
    world = stages()
    wanted = [B, "https://example.com/none", A, "no address"]
    sources = await batch.fetch(world, wanted, ExtractOptions(), later())
    assert [source.url for source in sources] == wanted
    assert [source.document.text if source.document else "" for source in sources] == [
        "Wasps sting.",
        "",
        "Bees dance.",
        "",
    ]
    kinds = [source.outcome.kind for source in sources]
    assert kinds == [
        OutcomeKind.OK,
        OutcomeKind.NOT_FOUND,
        OutcomeKind.OK,
        OutcomeKind.REFUSED,
    ]


async def test_a_page_that_is_named_twice_is_fetched_once() -> None:
    world = stages()
    spellings = [A, f"{A}?utm_source=x", f"{A}#part", A.replace("example", "EXAMPLE")]
    sources = await batch.fetch(world, [*spellings, B], ExtractOptions(), later())
    assert [source.url for source in sources] == [A, B]
    assert sorted(fetched(world)) == [A, B]


async def test_each_page_answers_or_says_why_not() -> None:
    found = await batch.read(stages(), [A, "https://example.com/none", B, A], ["bees?"], later())
    assert [url for url, _ in found] == [A, "https://example.com/none", B]
    first, missing, last = (outcome for _, outcome in found)
    assert isinstance(first, PageFindings)
    assert isinstance(last, PageFindings)
    assert missing.outcome == Outcome(OutcomeKind.NOT_FOUND, "There is no such page.")  # type: ignore[union-attr]


async def test_a_library_that_fails_is_the_error_of_the_call() -> None:
    broken = FakeLibrary(failure=StoreUnavailable("The disk is full."))
    with pytest.raises(ReadError, match="full"):
        await batch.read(stages(broken), [A, B], ["bees?"], later())


async def test_the_pages_of_all_queries_are_loaded_once_best_ranks_first() -> None:
    world = stages(one=[A, B], two=[C, f"{A}?utm_source=x"])
    found = await batch.search(
        world, [Query("one"), Query("two"), Query("one")], later(), ignore_progress
    )
    assert [query.text for query in found.queries] == ["one", "two"]
    assert [source.url for source in found.sources] == [A, C, B]
    assert sorted(fetched(world)) == [A, B, C]


async def test_a_failing_query_is_an_outcome_beside_the_others() -> None:
    failed = ProviderFailed("Down.", status=500)
    found = await batch.search(
        stages(one=failed, two=[A]), [Query("one"), Query("two")], later(), ignore_progress
    )
    assert found.outcomes[0] is failed
    assert [source.url for source in found.sources] == [A]


async def test_if_all_queries_fail_the_first_error_is_raised() -> None:
    world = stages(one=ProviderFailed("First."), two=ProviderFailed("Second."))
    with pytest.raises(ProviderFailed, match="First"):
        await batch.search(world, [Query("one"), Query("two")], later(), ignore_progress)


@dataclass
class HangingFetcher(FakeFetcher):
    """Never answers; counts the waiting and the cancelled calls."""

    waiting: int = 0
    stopped: int = 0

    async def fetch(self, url: Url, deadline: Deadline, *, force_refresh: bool = False) -> Page:
        self.waiting += 1
        try:
            await anyio.sleep_forever()
        finally:
            self.stopped += 1
        raise AssertionError


async def test_all_pages_are_fetched_at_the_same_time_and_stop_with_the_call() -> None:
    fetcher = HangingFetcher()
    world = replace(stages(), fetcher=fetcher)
    addresses = [f"https://example.com/{n}" for n in range(20)]
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(batch.fetch, world, addresses, ExtractOptions(), later())
            while fetcher.waiting < len(addresses):
                await anyio.lowlevel.checkpoint()
            tasks.cancel_scope.cancel()
    assert fetcher.stopped == len(addresses)
