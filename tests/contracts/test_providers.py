"""What every provider of the catalogue promises, whoever the vendor is.

A new provider brings `search.json`, `empty.json` and its `error_<status>.json` under
`tests/data/providers/<name>/`, and must pass all tests that apply to it: those about keys if it has a key, those about
answers if one server answers it. These tests pass in everything else that a provider is built from.
"""

import gzip
import pkgutil
from collections.abc import Callable
from dataclasses import replace
from urllib.parse import unquote_plus

import anyio
import httpx2
import pytest

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
from kindly.models import Query
from kindly.search import providers
from kindly.search.provider import ProviderSpec, SearchProvider
from kindly.search.providers import PROVIDERS, preferred_first
from kindly.search.providers.duckduckgo import DuckDuckGo
from tests.support.fake_ddgs import FakeDdgs
from tests.support.fakes import PROVIDER_DATA, FakeApi, FakeSecret, Reply, built, provider_answer

pytestmark = pytest.mark.anyio

BASE_URL = "https://vendor.example/prefix/"
KEY = "canary-0123456789"
QUERY = Query("structural pattern matching", count=3)

KEYED = tuple(spec for spec in PROVIDERS if spec.needs[0].kind == "secret")
SERVED = tuple(spec for spec in PROVIDERS if spec.needs[0].kind in {"secret", "addresses"})
"""Those that one server answers, at an address that is set."""
OTHERWISE: dict[str, Callable[[FakeApi], SearchProvider]] = {
    "duckduckgo": lambda api: DuckDuckGo(FakeDdgs(api)),
}
"""Those that reach their server in another way."""
ANSWERED = tuple(spec for spec in PROVIDERS if spec in SERVED or spec.name in OTHERWISE)
TOLD_BY_WORDS = {("brave", 404): ProviderAuth, ("brave", 422): ProviderAuth}
"""Refusals whose stored answer says more than their status."""

each_provider = pytest.mark.parametrize("spec", PROVIDERS, ids=lambda spec: spec.name)
each_answered = pytest.mark.parametrize("spec", ANSWERED, ids=lambda spec: spec.name)
each_served = pytest.mark.parametrize("spec", SERVED, ids=lambda spec: spec.name)
each_keyed = pytest.mark.parametrize("spec", KEYED, ids=lambda spec: spec.name)


def stored_errors() -> list[tuple[ProviderSpec, int]]:
    return [
        (spec, int(path.stem.removeprefix("error_")))
        for spec in SERVED
        for path in sorted((PROVIDER_DATA / spec.name).glob("error_*.json"))
    ]


def leaf_for(status: int, spec: ProviderSpec) -> type[SearchError]:
    if (spec.name, status) in TOLD_BY_WORDS:
        return TOLD_BY_WORDS[spec.name, status]
    if status in spec.limit_statuses:
        return ProviderRateLimited
    return {401: ProviderAuth, 403: ProviderAuth, 500: ProviderFailed}.get(status, ProviderRejected)


def provider_answering(
    spec: ProviderSpec, reply: Reply, *, follow_redirects: bool = False
) -> tuple[SearchProvider, FakeApi]:
    api = FakeApi({"vendor.example": [reply]})
    if spec.name in OTHERWISE:
        return OTHERWISE[spec.name](api), api
    client = api.client(follow_redirects=follow_redirects)
    return built(spec, client, FakeSecret(KEY), BASE_URL), api


async def failure_of(spec: ProviderSpec, reply: Reply) -> SearchError:
    provider, _ = provider_answering(spec, reply)
    with anyio.fail_after(120), pytest.raises(SearchError) as caught:
        await provider.search(QUERY, Deadline.after(60))
    return caught.value


def test_catalogue_lists_every_file_of_its_folder() -> None:
    files = {module.name for module in pkgutil.iter_modules(providers.__path__)}
    assert {spec.name for spec in PROVIDERS} == files
    assert len(PROVIDERS) == len(files)


@each_provider
def test_every_provider_has_its_own_settings_and_a_safe_address(spec: ProviderSpec) -> None:
    settings = [need.name for each in PROVIDERS for need in each.needs]
    settings += [each.base_url_setting for each in PROVIDERS if each.base_url_setting]
    assert settings.count(spec.key_setting) == 1
    assert all(settings.count(need.name) == 1 for need in spec.needs)
    assert bool(spec.base_url_setting) == bool(spec.base_url)
    if spec.base_url_setting:
        assert settings.count(spec.base_url_setting) == 1
        assert spec.base_url.startswith("https://")


@each_provider
def test_every_provider_says_how_often_it_may_be_asked(spec: ProviderSpec) -> None:
    assert spec.pace.calls > 0
    assert spec.pace.per_s > 0


@each_answered
async def test_results_become_hits_of_that_provider(spec: ProviderSpec) -> None:
    answer = provider_answer(spec.name, "search")
    provider, _ = provider_answering(spec, httpx2.Response(200, json=answer))
    hits = (await provider.search(QUERY, Deadline.after(60))).hits
    assert hits
    assert provider.name == spec.name
    assert {found.provider for found in hits} == {spec.name}
    assert all(found.url.startswith("https://") and found.title for found in hits)


@each_answered
async def test_no_results_is_an_answer(spec: ProviderSpec) -> None:
    answer = provider_answer(spec.name, "empty")
    provider, _ = provider_answering(spec, httpx2.Response(200, json=answer))
    assert (await provider.search(QUERY, Deadline.after(60))).hits == ()


FILTERED = replace(
    QUERY,
    include_domains=("in.example",),
    exclude_domains=("out.example",),
    published_after="2024-02-20",
    published_before="2024-03-10",
)
TRACES = {
    "include_domains": ("in.example",),
    "exclude_domains": ("out.example",),
    "published_after": ("2024-02-20", "20240220", "2024-02-19"),
    "published_before": ("2024-03-10", "20240310", "2024-03-11"),
}
"""How the value of a filter may be written in a request."""


@each_answered
async def test_a_filter_that_is_said_to_be_sent_is_in_the_request(spec: ProviderSpec) -> None:
    answer = provider_answer(spec.name, "empty")
    provider, api = provider_answering(spec, httpx2.Response(200, json=answer))
    await provider.search(FILTERED, Deadline.after(60))
    request = api.requests[0]
    sent = f"{unquote_plus(str(request.url))} {request.content.decode()}"
    for name in spec.filters(FILTERED):
        assert any(trace in sent for trace in TRACES[name]), (name, sent)


@each_served
async def test_compressed_answers_are_read(spec: ProviderSpec) -> None:
    packed = gzip.compress((PROVIDER_DATA / spec.name / "search.json").read_bytes())
    reply = httpx2.Response(200, content=packed, headers={"Content-Encoding": "gzip"})
    provider, _ = provider_answering(spec, reply)
    assert (await provider.search(QUERY, Deadline.after(60))).hits


@each_served
async def test_base_url_may_have_a_path_and_the_key_is_in_a_header_only(spec: ProviderSpec) -> None:
    answer = provider_answer(spec.name, "empty")
    provider, api = provider_answering(spec, httpx2.Response(200, json=answer))
    await provider.search(QUERY, Deadline.after(60))
    (request,) = api.requests
    assert str(request.url).startswith("https://vendor.example/prefix/")
    assert "//" not in request.url.path
    assert KEY not in str(request.url)
    assert KEY.encode() not in request.content
    assert bool([name for name, value in request.headers.items() if KEY in value]) == (
        spec in KEYED
    )


@pytest.mark.parametrize(
    ("spec", "status"), stored_errors(), ids=lambda value: getattr(value, "name", None)
)
async def test_error_status_becomes_its_leaf(spec: ProviderSpec, status: int) -> None:
    answer = provider_answer(spec.name, f"error_{status}")
    error = await failure_of(spec, httpx2.Response(status, json=answer))
    assert type(error) is leaf_for(status, spec)
    assert (error.provider, error.status) == (spec.name, status)


@each_served
@pytest.mark.parametrize(
    ("reply", "leaf"),
    [
        pytest.param(httpx2.ConnectError("no"), ProviderUnreachable, id="refused"),
        pytest.param(httpx2.ReadError("reset"), ProviderUnreachable, id="reset"),
        pytest.param(httpx2.ReadTimeout("slow"), ProviderTimeout, id="timeout"),
        pytest.param(httpx2.Response(200, content=b"{"), ProviderAnswerInvalid, id="cut"),
        pytest.param(httpx2.Response(200, html="<p>Hi"), ProviderAnswerInvalid, id="html"),
        pytest.param(httpx2.Response(200, json=[]), ProviderAnswerInvalid, id="list"),
        pytest.param(httpx2.Response(200, json={}), ProviderAnswerInvalid, id="empty-object"),
        pytest.param(httpx2.Response(204), ProviderAnswerInvalid, id="no-body"),
    ],
)
async def test_broken_exchange_becomes_its_leaf(
    spec: ProviderSpec, reply: Reply, leaf: type[SearchError]
) -> None:
    error = await failure_of(spec, reply)
    assert type(error) is leaf
    assert error.try_next
    assert error.provider == spec.name


@each_served
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_redirect_is_not_followed_even_by_a_client_that_would(
    spec: ProviderSpec, status: int
) -> None:
    reply = httpx2.Response(status, headers={"Location": "https://elsewhere.example/search"})
    provider, api = provider_answering(spec, reply, follow_redirects=True)
    with pytest.raises(ProviderAnswerInvalid) as caught:
        await provider.search(QUERY, Deadline.after(60))
    assert api.hosts == ["vendor.example"]
    assert caught.value.status == status


@each_answered
async def test_spent_deadline_sends_nothing(spec: ProviderSpec) -> None:
    provider, api = provider_answering(spec, httpx2.Response(200, json={}))
    with pytest.raises(ProviderTimeout):
        await provider.search(QUERY, Deadline.after(0))
    assert api.requests == []


@each_keyed
def test_repr_does_not_show_the_key(spec: ProviderSpec) -> None:
    provider, _ = provider_answering(spec, httpx2.Response(200))
    assert KEY not in repr(provider) + str(provider)


@each_keyed
@pytest.mark.parametrize("key", ["", "a\nb", "a\x00b", "“pasted”", "clé"])
async def test_key_that_no_header_can_carry_is_refused_unsent(spec: ProviderSpec, key: str) -> None:
    api = FakeApi({})
    provider = built(spec, api.client(), FakeSecret(key), BASE_URL)
    with pytest.raises(ProviderAuth) as caught:
        await provider.search(QUERY, Deadline.after(60))
    assert spec.key_setting in str(caught.value)
    assert caught.value.__context__ is None
    assert api.requests == []


def test_the_preferred_provider_comes_first_and_no_other_is_lost() -> None:
    names = [spec.name for spec in PROVIDERS]
    assert preferred_first("brave")[0] == "brave"
    assert sorted(preferred_first("brave")) == sorted(names)
