"""What every profile promises of its errors and advice: they name only tools, settings and providers that it has."""

import json
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

import httpx2
import pytest
from mcp import Client
from mcp_types import CallToolResult, Tool

from kindly import errors
from kindly.app import App, open_app
from kindly.budget import Deadline
from kindly.errors import KindlyError, NoProvider, SearchError
from kindly.models import Hits, OutcomeKind, Query
from kindly.search.provider import ProviderSpec
from kindly.search.providers import PROVIDERS
from kindly.search.vendor_api import VendorApi
from kindly.server.mcp import build_server
from kindly.server.profiles import PROFILE_NAMES, all_profiles, profile_for
from kindly.settings import Settings
from kindly.stages import Searches
from tests.support.fake_stages import FakeFetcher, FakeSearcher
from tests.support.fakes import FakeApi, Reply
from tests.support.served_world import text_of

pytestmark = pytest.mark.anyio

URL = "https://example.com/page"
DETAIL = "It went wrong."
ARGUMENTS = {
    "query": "bees",
    "question": "bees",
    "url": URL,
    "id": URL,
    "target": URL,
    "quote": "bees dance",
}
STATUSES = (302, 400, 401, 402, 403, 404, 422, 429, 500, 503)
WORDS = frozenset({"search", "fetch"})
"""Tools of profile `chatgpt` whose names any sentence may use as words."""
EVERY_TOOL = frozenset(
    name
    for profile in all_profiles()
    for tool in profile.tools
    for name in (tool.name, tool.name.replace(".", "_"))
    if name not in WORDS
)


@dataclass
class FailingSearcher:
    """Fails with the same error for every query but the second of a list."""

    error: KindlyError

    async def search(self, query: Query, deadline: Deadline) -> Hits:
        raise self.error

    async def search_all(
        self, queries: Sequence[Query], deadline: Deadline
    ) -> list[Hits | SearchError]:
        if not isinstance(self.error, SearchError):
            raise self.error
        outcomes: list[Hits | SearchError] = [self.error, Hits(queries[-1], (), "google")]
        return outcomes[: len(queries)]


def plain_failures() -> Iterator[KindlyError]:
    """An error of every kind, without words of its own."""
    for kind in (errors.Busy, errors.SettingsError, errors.StoreUnavailable, errors.EmbeddingsDown):
        yield kind(DETAIL)
    yield errors.CallTimeout(DETAIL, limit_s=1.0)
    for leaf in SearchError.__subclasses__():
        if leaf is not NoProvider:
            yield from (leaf(DETAIL), leaf(DETAIL, retry_after_s=9))
    for page in errors.FetchError.__subclasses__():
        special = {"limit_bytes": 1} if page is errors.PageTooLarge else {}
        yield page(DETAIL, url=URL, **special)
    for kind_of_text in (errors.NoContent, errors.NeedsBrowser, errors.ExtractionFailed):
        yield kind_of_text(DETAIL, url=URL)
    for wall in (OutcomeKind.PAYWALLED, OutcomeKind.AUTH, OutcomeKind.BLOCKED):
        yield errors.PageWalled(DETAIL, url=URL, wall=wall)
    yield errors.MediaUnsupported(DETAIL, url=URL, media_type="image/png")


async def vendor_failures(settings: Settings) -> AsyncIterator[SearchError]:
    """What each provider of the profile is reported to have answered."""
    replies: list[Reply] = [httpx2.Response(status) for status in STATUSES]
    for spec in settings.usable_providers():
        for reply in (*replies, httpx2.ConnectError("no")):
            client = FakeApi({"vendor.example": [reply]}).client()
            request = client.build_request("GET", "https://vendor.example/")
            with pytest.raises(SearchError) as caught:
                await VendorApi(client, spec).json(request, Deadline.after(5))
            yield caught.value


def settings_of(specs: Sequence[ProviderSpec]) -> set[str]:
    names = {need.name for spec in specs for need in spec.needs}
    return names | {spec.base_url_setting for spec in specs if spec.base_url_setting}


def foreign_names(settings: Settings, tools: Sequence[Tool]) -> set[str]:
    """Tools, settings and providers that other profiles have, and this one has not."""
    usable = settings.usable_providers()
    others = [spec for spec in PROVIDERS if spec not in usable]
    providers = {name for spec in others for name in (spec.name, spec.label)}
    own = {tool.name for tool in tools} | {spec.name for spec in usable}
    return {*EVERY_TOOL, *(settings_of(others) - settings_of(usable)), *providers} - own


def named_in(text: str, names: set[str]) -> set[str]:
    return {name for name in names if re.search(rf"(?<![\w.]){re.escape(name)}(?![\w.]\w)", text)}


def told(result: CallToolResult) -> str:
    """Everything that a host may show to the model."""
    return f"{text_of(result)} {json.dumps(result.structured_content)}"


def arguments_for(tool: Tool, **more: object) -> dict[str, object]:
    return {name: ARGUMENTS[name] for name in tool.input_schema.get("required", ())} | more


def calls_of(tool: Tool) -> list[dict[str, object]]:
    """One call; two for a tool that takes several queries."""
    several = "array" in json.dumps(tool.input_schema["properties"].get("query", {}))
    return [arguments_for(tool), *([arguments_for(tool, query=["bees", "wasps"])] * several)]


def loaded(profile: str, **more: str) -> Settings:
    return Settings.load(
        {"KINDLY_PROFILE": profile, "KINDLY_STORE": "memory", "KINDLY_BROWSER": "off", **more}
    )


@asynccontextmanager
async def served(
    settings: Settings, searcher: Searches | None = None, fetcher: FakeFetcher | None = None
) -> AsyncIterator[Client]:
    @asynccontextmanager
    async def opened() -> AsyncIterator[App]:
        async with open_app(settings) as app:
            stages = app.stages
            if searcher is not None:
                stages = replace(stages, searcher=searcher)
            if fetcher is not None:
                stages = replace(stages, fetcher=fetcher)
            yield replace(app, stages=stages)

    server = build_server(opened, profile_for(settings), plain_names=settings.plain_names)
    async with Client(server) as client:
        yield client


PROFILES: list[tuple[str, dict[str, str]]] = [
    *((name, {}) for name in PROFILE_NAMES),
    ("pages", {"KINDLY_PLAIN_NAMES": "1"}),
]
WITHOUT_FETCH = ("media", {"WEB_FETCH_ENABLED": "false"})


@pytest.mark.parametrize("finds", [False, True], ids=["search fails", "pages fail"])
@pytest.mark.parametrize(("profile", "more"), [*PROFILES, WITHOUT_FETCH], ids=str)
async def test_no_failure_names_what_the_profile_has_not(
    profile: str, more: dict[str, str], finds: bool
) -> None:
    settings = loaded(profile, **more)
    failures = [*plain_failures(), *[error async for error in vendor_failures(settings)]]
    failing, fetcher = FailingSearcher(failures[0]), FakeFetcher()
    wrong: list[tuple[str, str, set[str]]] = []
    async with served(settings, FakeSearcher([URL]) if finds else failing, fetcher) as client:
        tools = (await client.list_tools()).tools
        foreign = foreign_names(settings, tools)
        calls = [(tool, arguments) for tool in tools for arguments in calls_of(tool)]
        for error in failures:
            failing.error = fetcher.table[URL] = error
            for tool, arguments in calls:
                text = told(await client.call_tool(tool.name, arguments))
                if names := named_in(text, foreign):
                    wrong.append((tool.name, text, names))
    assert wrong == []


NOTHING_SET = [
    ("kindly", {}, ["SERPER_API_KEY", "TAVILY_API_KEY", "KINDLY_KEYLESS=1", "get_content"]),
    ("kindly", {"KINDLY_PROVIDERS": "brave"}, ["BRAVE_API_KEY"]),
    ("pages", {}, ["GOOGLE_API_KEY", "GOOGLE_SEARCH_ENGINE_ID", "web.readFromPage"]),
    ("pages", {"KINDLY_PLAIN_NAMES": "1"}, ["GOOGLE_API_KEY", "web_readFromPage"]),
    ("searxng", {"KINDLY_SEARXNG_POOL": "0"}, ["SEARXNG_BASE_URL", "KINDLY_SEARXNG_POOL=1"]),
    ("media", {}, ["BRAVE_API_KEY"]),
    ("chatgpt", {}, ["SERPER_API_KEY", "can still be read with fetch"]),
]


@pytest.mark.parametrize(("profile", "more", "expected"), NOTHING_SET, ids=str)
async def test_without_a_provider_the_profile_s_own_settings_are_named(
    profile: str, more: dict[str, str], expected: list[str]
) -> None:
    settings = loaded(profile, **more)
    async with served(settings) as client:
        tools = (await client.list_tools()).tools
        result = await client.call_tool(tools[0].name, arguments_for(tools[0]))
    assert result.is_error
    assert [name for name in expected if name not in told(result)] == []
    assert named_in(told(result), foreign_names(settings, tools)) == set()


async def test_in_media_the_key_of_brave_is_named_first() -> None:
    settings = loaded("media")
    async with served(settings) as client:
        result = await client.call_tool("WebSearch", {"query": "Dune"})
    assert result.structured_content is not None
    message = result.structured_content["message"]
    assert message.startswith("No search provider is configured: set BRAVE_API_KEY or ")


@pytest.mark.parametrize(("profile", "more"), PROFILES, ids=str)
async def test_tools_and_instructions_name_only_tools_of_the_profile(
    profile: str, more: dict[str, str]
) -> None:
    settings = loaded(profile, **more)
    async with served(settings) as client:
        tools = (await client.list_tools()).tools
        instructions = client.instructions or ""
    foreign = {name for name in foreign_names(settings, tools) if name in EVERY_TOOL}
    text = " ".join([instructions, *(tool.model_dump_json() for tool in tools)])
    assert named_in(text, foreign) == set()
