"""A whole Kindly over a fake network: the real tools, pipeline and fetch stage; below the guard nothing is dialled."""

import ssl
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from ipaddress import ip_address

from mcp import Client
from mcp_types import CallToolResult, TextContent

from kindly.app import App
from kindly.app.reader import OpenLibrary, build_library
from kindly.budget import Deadline
from kindly.errors import SearchError
from kindly.extract import ExtractOptions
from kindly.extract.document import extract
from kindly.fetch import Egress, FetchLimits, GuardPolicy, Seams, open_fetcher
from kindly.fetch.chain.types import Logins
from kindly.fetch.guard.guard import why_not_public
from kindly.fetch.loader_kit.loader import LoaderSettings
from kindly.models import Document, Hit, Hits, Page, Query
from kindly.net.tls import Tls
from kindly.read.library import Library
from kindly.redact import Redactor
from kindly.server.mcp import build_server
from kindly.server.profiles.kindly.profile import PROFILE as KINDLY
from kindly.server.tool import Profile
from kindly.settings import Settings
from kindly.stages import Stages
from tests.support.fetch_fakes import FakeDialler, FakeResolver, FakeTime, Seen, Server
from tests.support.site import ARTICLE, Answer, html

Names = Mapping[str, Sequence[Sequence[str]]]


def article(seen: Seen) -> Answer:
    """A site that shows the same page everywhere and has no robots.txt."""
    return Answer(b"", 404) if seen.target == "/robots.txt" else html(ARTICLE)


class AnyTls(Tls):
    """One context for all tests; below it nothing is encrypted."""

    async def context(self) -> ssl.SSLContext:
        return CONTEXT


CONTEXT = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


class HereExtractor:
    """Extraction in this process."""

    async def extract(self, page: Page, options: ExtractOptions, deadline: Deadline) -> Document:
        return extract(page, options)

    async def warm(self) -> None:
        return None


@dataclass
class HitList:
    """A provider that returns these addresses for every query."""

    urls: Sequence[str] = ()
    asked: list[Query] = field(default_factory=list)

    async def search(self, query: Query, deadline: Deadline) -> Hits:
        self.asked.append(query)
        hits = tuple(Hit("A title", url, "A snippet.", "fake") for url in self.urls)
        return Hits(query, hits, "fake")

    async def search_all(
        self, queries: Sequence[Query], deadline: Deadline
    ) -> list[Hits | SearchError]:
        return [await self.search(query, deadline) for query in queries]


@dataclass(frozen=True)
class Network:
    """The network below the guard: names and servers; and the user's settings."""

    names: Names = field(default_factory=dict)
    server: Server = article
    policy: GuardPolicy = field(default_factory=GuardPolicy)
    egress: Egress = field(default_factory=Egress)
    loaders: LoaderSettings = field(default_factory=LoaderSettings)
    logins: Logins = field(default_factory=Logins)
    robots: bool = False
    refusing: frozenset[str] = frozenset()
    reader: bool = False
    """Whether there is a library; it is in memory."""
    dns_delay_s: float = 0.0
    deadline_s: float = 60.0


@dataclass
class Engine:
    """A client of the server, and what happened below."""

    client: Client
    dialler: FakeDialler
    resolver: FakeResolver
    searcher: HitList

    async def content(self, url: str) -> CallToolResult:
        """What `get_content` says."""
        return await self.client.call_tool("get_content", {"url": url})

    async def search(self, *urls: str) -> CallToolResult:
        """What `web_search` says when a provider finds these."""
        self.searcher.urls = urls
        return await self.client.call_tool("web_search", {"query": "bees", "num_results": 20})

    @property
    def private_dials(self) -> list[tuple[str, int]]:
        """Connections to addresses that are not public."""
        return [
            (address, port)
            for address, port in self.dialler.dialled
            if why_not_public(ip_address(address))
        ]


def text_of(result: CallToolResult) -> str:
    """What a model would read."""
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


@cache
def reading() -> OpenLibrary:
    """One library for all tests, because its model loads slowly."""
    return build_library(Settings.load({"KINDLY_STORE": "memory"}), None)


async def reader() -> Library:
    return reading().library


@asynccontextmanager
async def running(network: Network, profile: Profile = KINDLY) -> AsyncIterator[Engine]:
    """The engine over this network, for as long as the block runs."""
    dialler = FakeDialler(network.server, network.refusing)
    resolver = FakeResolver(network.names, network.dns_delay_s)
    searcher = HitList()
    seams = Seams(resolver, dialler, FakeTime().clock)

    @asynccontextmanager
    async def open_app() -> AsyncIterator[App]:
        limits = FetchLimits(respect_robots=network.robots, cache_ttl_s=0, logins=network.logins)
        async with open_fetcher(
            limits,
            network.policy,
            egress=replace(network.egress, tls=AnyTls()),
            seams=seams,
            loaders=network.loaders,
        ) as fetcher:
            stages = Stages(
                searcher, fetcher, HereExtractor(), open_library=reader if network.reader else None
            )
            yield App(
                stages,
                Redactor.of(()),
                default_tokens=20_000,
                max_tokens=100_000,
                deadline_s=network.deadline_s,
            )

    async with Client(build_server(open_app, profile)) as client:
        yield Engine(client, dialler, resolver, searcher)
