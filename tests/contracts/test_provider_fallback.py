"""Serper with Tavily as its fallback, over a fake transport: which vendor is called, and what the caller sees."""

from dataclasses import dataclass

import anyio
import httpx2
import pytest
from pydantic import SecretStr

from kindly.budget import Deadline
from kindly.errors import (
    ProviderAnswerInvalid,
    ProviderAuth,
    ProviderFailed,
    ProviderRateLimited,
    ProviderRejected,
    ProviderTimeout,
    ProviderUnreachable,
    SearchError,
)
from kindly.models import Hits, Query
from kindly.search.providers import PROVIDERS
from tests.support.fakes import FakeApi, Reply, built, provider_answer
from tests.support.routing import routed

pytestmark = pytest.mark.anyio

QUERY = Query("structural pattern matching", count=3)
SERPER, TAVILY = "google.serper.dev", "api.tavily.com"
KEYS = {"serper": "canary-serper-5f2c", "tavily": "canary-tavily-9d41"}
BOTH = ("serper", "tavily")


def found(provider: str) -> httpx2.Response:
    return httpx2.Response(200, json=provider_answer(provider, "search"))


def nothing(provider: str) -> httpx2.Response:
    return httpx2.Response(200, json=provider_answer(provider, "empty"))


def refused(status: int, **headers: str) -> httpx2.Response:
    """A refusal that echoes both keys, as a careless vendor might."""
    return httpx2.Response(status, json={"message": str(KEYS)}, headers=headers)


async def search(api: FakeApi, configured: tuple[str, ...] = BOTH) -> Hits:
    async with api.client() as client:
        router = routed(
            *(
                built(spec, client, SecretStr(KEYS[spec.name]))
                for spec in PROVIDERS
                if spec.name in configured
            )
        )
        with anyio.fail_after(120):
            return await router.search(QUERY, Deadline.after(30))


@dataclass(frozen=True)
class Case:
    reply: Reply
    leaf: type[SearchError]
    status: int | None = None
    retry_after_s: float | None = None


TEMPORARY = {
    "500": Case(refused(500), ProviderFailed, 500),
    "502": Case(refused(502), ProviderFailed, 502),
    "503": Case(refused(503), ProviderFailed, 503),
    "429": Case(refused(429), ProviderRateLimited, 429),
    "429-seconds": Case(refused(429, **{"Retry-After": "7"}), ProviderRateLimited, 429, 7),
    "timeout": Case(httpx2.ReadTimeout("slow"), ProviderTimeout),
    "connect-timeout": Case(httpx2.ConnectTimeout("slow"), ProviderTimeout),
    "reset": Case(httpx2.ReadError("reset"), ProviderUnreachable),
    "no-route": Case(httpx2.ConnectError("no route"), ProviderUnreachable),
    "garbled": Case(httpx2.RemoteProtocolError("garbled"), ProviderUnreachable),
    "bad-json": Case(httpx2.Response(200, content=b'{"organic": ['), ProviderAnswerInvalid),
    "not-utf8": Case(httpx2.Response(200, content=b'{"a": "\xff"}'), ProviderAnswerInvalid),
    "html": Case(httpx2.Response(200, html="<h1>Welcome</h1>"), ProviderAnswerInvalid),
    "wrong-shape": Case(
        httpx2.Response(200, json={"organic": {}, "results": "none"}), ProviderAnswerInvalid
    ),
    "redirect": Case(
        refused(302, Location="https://elsewhere.example/"), ProviderAnswerInvalid, 302
    ),
}
FINAL = {
    "400": Case(refused(400), ProviderRejected, 400),
    "401": Case(refused(401), ProviderAuth, 401),
    "402": Case(refused(402), ProviderAuth, 402),
    "403": Case(refused(403), ProviderAuth, 403),
    "404": Case(refused(404), ProviderRejected, 404),
    "422": Case(refused(422), ProviderRejected, 422),
}

temporary = pytest.mark.parametrize("case", TEMPORARY.values(), ids=TEMPORARY.keys())
final = pytest.mark.parametrize("case", FINAL.values(), ids=FINAL.keys())


def assert_is(error: SearchError, case: Case, provider: str) -> None:
    assert type(error) is case.leaf
    assert (error.provider, error.status) == (provider, case.status)
    assert error.retry_after_s == case.retry_after_s
    assert not any(key in str(error) for key in KEYS.values())


@temporary
async def test_temporary_failure_of_serper_is_answered_by_tavily(case: Case) -> None:
    api = FakeApi({SERPER: [case.reply], TAVILY: [found("tavily")]})
    hits = await search(api)
    assert api.hosts == [SERPER, TAVILY]
    assert (hits.provider, hits.failed, len(hits.hits)) == ("tavily", ("serper",), 3)


@final
async def test_refusal_by_serper_is_reported_and_tavily_is_not_called(case: Case) -> None:
    api = FakeApi({SERPER: [case.reply], TAVILY: [found("tavily")]})
    with pytest.raises(SearchError) as caught:
        await search(api)
    assert api.hosts == [SERPER]
    assert_is(caught.value, case, "serper")


@temporary
@pytest.mark.parametrize("only", BOTH)
async def test_without_fallback_a_temporary_failure_is_reported(case: Case, only: str) -> None:
    api = FakeApi({SERPER: [case.reply], TAVILY: [case.reply]})
    with pytest.raises(SearchError) as caught:
        await search(api, (only,))
    assert_is(caught.value, case, only)
    again = case.leaf in {ProviderFailed, ProviderUnreachable}
    assert len(api.requests) == (2 if again else 1)


@temporary
async def test_failure_of_both_is_the_primary_error_with_a_note(case: Case) -> None:
    api = FakeApi({SERPER: [case.reply], TAVILY: [refused(429)]})
    with pytest.raises(SearchError) as caught:
        await search(api)
    assert api.hosts == [SERPER, TAVILY]
    assert_is(caught.value, case, "serper")
    assert "tavily (HTTP 429)" in str(caught.value)


@final
async def test_refusal_by_the_fallback_is_only_a_note(case: Case) -> None:
    api = FakeApi({SERPER: [refused(500)], TAVILY: [case.reply]})
    with pytest.raises(ProviderFailed) as caught:
        await search(api)
    assert caught.value.provider == "serper"
    assert "tavily" in str(caught.value)


@pytest.mark.parametrize("status", [432, 433])
async def test_tavily_plan_limits_are_rate_limits(status: int) -> None:
    api = FakeApi({TAVILY: [refused(status)]})
    with pytest.raises(ProviderRateLimited):
        await search(api, ("tavily",))
    assert len(api.requests) == 1


async def test_a_tavily_key_alone_is_enough() -> None:
    api = FakeApi({TAVILY: [found("tavily")]})
    hits = await search(api, ("tavily",))
    assert (hits.provider, hits.failed, len(hits.hits)) == ("tavily", (), 3)


async def test_with_both_keys_serper_is_called() -> None:
    api = FakeApi({SERPER: [found("serper")], TAVILY: [found("tavily")]})
    hits = await search(api)
    assert api.hosts == [SERPER]
    assert {hit.provider for hit in hits.hits} == {"serper"}


async def test_http_500_of_serper_falls_back_to_tavily() -> None:
    api = FakeApi({SERPER: [refused(500)], TAVILY: [found("tavily")]})
    hits = await search(api)
    assert {hit.provider for hit in hits.hits} == {"tavily"}


async def test_fewer_results_than_requested_are_returned() -> None:
    answer = provider_answer("serper", "search")
    assert isinstance(answer["organic"], list)
    answer["organic"] = answer["organic"][:1]
    api = FakeApi({SERPER: [httpx2.Response(200, json=answer)], TAVILY: [found("tavily")]})
    hits = await search(api)
    assert len(hits.hits) == 1
    assert api.hosts == [SERPER]


async def test_an_empty_result_does_not_fall_back() -> None:
    api = FakeApi({SERPER: [nothing("serper")], TAVILY: [found("tavily")]})
    hits = await search(api)
    assert (hits.hits, hits.provider, hits.failed) == ((), "serper", ())
    assert api.hosts == [SERPER]


async def test_each_vendor_sees_only_its_own_key() -> None:
    api = FakeApi({SERPER: [refused(500)], TAVILY: [found("tavily")]})
    await search(api)
    for request, own, other in zip(api.requests, BOTH, reversed(BOTH), strict=True):
        assert KEYS[own] in str(request.headers.raw)
        assert KEYS[other] not in str(request.headers.raw)
