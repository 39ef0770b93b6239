"""The router: order, fallback, retries, deadlines."""

import pytest

from kindly.budget import Deadline
from kindly.errors import (
    NoProvider,
    ProviderAuth,
    ProviderFailed,
    ProviderRateLimited,
    ProviderRejected,
    ProviderTimeout,
    ProviderUnreachable,
    SearchError,
)
from kindly.models import Hits, ProviderResults, Query
from kindly.search.router import Router
from tests.support.fakes import FakeClock, FakeProvider, FakeSleep, hit
from tests.support.routing import KEY_SETTINGS, KEYLESS, routed

pytestmark = pytest.mark.anyio

QUERY = Query("x", count=3)
ONE = (hit("https://one.example/"),)


def failed(provider: str, *, retry_after_s: float | None = None) -> ProviderFailed:
    return ProviderFailed("It failed.", provider=provider, status=503, retry_after_s=retry_after_s)


def router(*providers: FakeProvider, sleep: FakeSleep | None = None) -> Router:
    return routed(*providers, sleep=sleep)


async def test_only_the_first_provider_is_called_if_it_answers() -> None:
    first, second = FakeProvider("first", [ONE]), FakeProvider("second", [ONE])
    hits = await router(first, second).search(QUERY, Deadline.after(30))
    assert hits == Hits(query=QUERY, hits=ONE, provider="first", failed=(), why="first configured")
    assert second.queries == []


async def test_the_next_provider_is_called_until_one_answers() -> None:
    first, second = (
        FakeProvider("first", [failed("first")]),
        FakeProvider("second", [failed("second")]),
    )
    third = FakeProvider("third", [ONE])
    hits = await router(first, second, third).search(QUERY, Deadline.after(30))
    assert (hits.provider, hits.failed) == ("third", ("first", "second"))
    assert hits.why == "first failed (HTTP 503); second failed (HTTP 503)"


async def test_a_single_provider_is_reported_as_the_only_one() -> None:
    assert (await router(FakeProvider("only", [ONE])).search(QUERY, Deadline.after(30))).why == (
        "only one configured"
    )


async def test_total_engines_instance_and_raw_answer_are_passed_on() -> None:
    found = ProviderResults(
        ONE, total=7, engines=("a", "b"), instance="https://i.example", raw={"x": 1}
    )
    hits = await router(FakeProvider("only", [found])).search(QUERY, Deadline.after(30))
    assert (hits.total, hits.engines, hits.instance, hits.raw) == (
        7,
        ("a", "b"),
        "https://i.example",
        {"x": 1},
    )


async def test_no_results_ends_the_search() -> None:
    first, second = FakeProvider("first", [()]), FakeProvider("second", [ONE])
    hits = await router(first, second).search(QUERY, Deadline.after(30))
    assert (hits.hits, hits.provider) == ((), "first")
    assert second.queries == []


@pytest.mark.parametrize("leaf", [ProviderAuth, ProviderRejected])
async def test_refusal_of_key_or_request_ends_the_search(leaf: type[SearchError]) -> None:
    error = leaf("No.", provider="first", status=400)
    first, second = FakeProvider("first", [error]), FakeProvider("second", [ONE])
    with pytest.raises(leaf) as caught:
        await router(first, second).search(QUERY, Deadline.after(30))
    assert caught.value is error
    assert second.queries == []


async def test_if_all_fail_the_error_is_the_first_ones_with_a_note_on_the_others() -> None:
    limited = ProviderRateLimited("Wait.", provider="first", status=429, retry_after_s=30)
    first = FakeProvider("first", [limited])
    second = FakeProvider("second", [ProviderTimeout("Slow.", provider="second")])
    third = FakeProvider("third", [ProviderAuth("Secret words.", provider="third", status=401)])
    with pytest.raises(ProviderRateLimited) as caught:
        await router(first, second, third).search(QUERY, Deadline.after(30))
    error = caught.value
    assert (error.provider, error.status, error.retry_after_s) == ("first", 429, 30)
    assert error.detail == str(error)
    assert error.detail.startswith("Wait. ")
    assert "second (timeout), third (HTTP 401)" in error.detail
    assert "Secret words" not in error.detail
    assert limited.detail == "Wait."


async def test_without_a_provider_the_error_says_what_to_set() -> None:
    with pytest.raises(NoProvider) as caught:
        await router().search(QUERY, Deadline.after(30))
    for name in (*KEY_SETTINGS, *KEYLESS):
        assert name in str(caught.value)
    places = [str(caught.value).index(name) for name in (*KEY_SETTINGS, *KEYLESS)]
    assert places == sorted(places)


async def test_other_errors_are_not_caught() -> None:
    first, second = FakeProvider("first", [KeyError("bug")]), FakeProvider("second", [ONE])
    with pytest.raises(KeyError):
        await router(first, second).search(QUERY, Deadline.after(30))
    assert second.queries == []


@pytest.mark.parametrize(
    "passing",
    [failed("only"), ProviderUnreachable("Gone.", provider="only")],
    ids=["5xx", "network"],
)
async def test_the_last_provider_is_retried_once_after_a_temporary_fault(
    passing: SearchError,
) -> None:
    only, sleep = FakeProvider("only", [passing, ONE]), FakeSleep()
    hits = await router(only, sleep=sleep).search(QUERY, Deadline.after(30))
    assert (hits.hits, hits.failed) == (ONE, ())
    assert sleep.pauses == [0.5]


async def test_a_provider_with_followers_is_not_retried() -> None:
    first, second = FakeProvider("first", [failed("first")]), FakeProvider("second", [ONE])
    sleep = FakeSleep()
    await router(first, second, sleep=sleep).search(QUERY, Deadline.after(30))
    assert (len(first.queries), sleep.pauses) == (1, [])


async def test_there_is_only_one_retry() -> None:
    only = FakeProvider("only", [failed("only")])
    with pytest.raises(ProviderFailed) as caught:
        await router(only).search(QUERY, Deadline.after(30))
    assert len(only.queries) == 2
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    "error",
    [
        ProviderRateLimited("Wait.", provider="only", status=429),
        ProviderTimeout("Slow.", provider="only"),
        ProviderAuth("No.", provider="only", status=401),
        failed("only", retry_after_s=1),
    ],
    ids=["429", "timeout", "auth", "said-when-to-come-back"],
)
async def test_other_faults_are_not_retried(error: SearchError) -> None:
    only, sleep = FakeProvider("only", [error, ONE]), FakeSleep()
    with pytest.raises(type(error)):
        await router(only, sleep=sleep).search(QUERY, Deadline.after(30))
    assert (len(only.queries), sleep.pauses) == (1, [])


async def test_a_retry_that_does_not_fit_the_deadline_is_left_out() -> None:
    clock = FakeClock()
    only, sleep = FakeProvider("only", [failed("only"), ONE]), FakeSleep(clock)
    with pytest.raises(ProviderFailed):
        await router(only, sleep=sleep).search(QUERY, Deadline.after(0.5, clock))
    assert sleep.pauses == []


@pytest.mark.parametrize(
    ("total_s", "first_s", "last_s"),
    [(60.0, 5.7, 9.5), (10.0, 5.7, 9.5), (5.0, 3.0, 5.0)],
    ids=["long", "short", "shorter"],
)
async def test_time_is_reserved_for_the_following_provider(
    total_s: float, first_s: float, last_s: float
) -> None:
    first, last = FakeProvider("first", [failed("first")]), FakeProvider("last", [ONE])
    await routed(first, last).search(QUERY, Deadline.after(total_s, FakeClock()))
    assert first.allowed_s == pytest.approx([first_s])
    assert last.allowed_s == pytest.approx([last_s])


async def test_hits_are_distinct_pages_and_no_more_than_requested() -> None:
    urls = [
        "https://www.example.com/a?utm_source=x",
        "https://example.com/a",
        "https://example.com/a#part",
        "https://example.com/b",
        "https://example.com/c",
        "https://example.com/d",
    ]
    only = FakeProvider("only", [tuple(map(hit, urls))])
    hits = await router(only).search(QUERY, Deadline.after(30))
    assert [found.url for found in hits.hits] == ["https://www.example.com/a", *urls[3:5]]


async def test_fewer_hits_than_requested_are_fine() -> None:
    only = FakeProvider("only", [ONE])
    assert (await router(only).search(QUERY, Deadline.after(30))).hits == ONE


async def test_results_that_contradict_a_filter_are_left_out_and_it_is_said_who_filtered() -> None:
    found = (
        hit("https://a.org/new", published="2024-05-02"),
        hit("https://a.org/old", published="2020-05-02"),
        hit("https://b.org/new", published="2024-05-02"),
        hit("https://a.org/undated"),
    )
    query = Query("x", 3, include_domains=("a.org",), published_after="2024-01-01")
    only = FakeProvider("only", [found])
    hits = await router(only).search(query, Deadline.after(30))
    assert [one.url for one in hits.hits] == ["https://a.org/new", "https://a.org/undated"]
    assert hits.left_out == 2
    assert dict(hits.filters) == {"include_domains": "results", "published_after": "results"}
    assert only.queries[0].count == 9
