"""A source's API for loader tests: recorded answers by path, through the real redirects and cool-downs."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

import anyio
import anyio.lowlevel

from kindly.errors import AddressRefused
from kindly.fetch.chain.redirects import Redirects
from kindly.fetch.chain.types import Headers, HopReply, HopRequest, PageRequest
from kindly.fetch.guard.guard import Guard, GuardPolicy
from kindly.fetch.loader_kit.loader import Loader, LoaderClient, LoaderSettings
from kindly.fetch.loader_kit.loader_client import LoaderChains
from kindly.fetch.loader_kit.markdown_parts import markdown_page
from kindly.models import Page
from kindly.plugin_settings import Need
from kindly.urls import Url, parse
from tests.support.fakes import FakeSecret
from tests.support.fetch_fakes import FakeTime
from tests.support.paths import DATA as RECORDED

DATA = RECORDED / "loaders"


@dataclass(frozen=True, slots=True)
class Recorded:
    """One recorded answer."""

    body: bytes = b""
    status: int = 200
    headers: Headers = ()


def recorded(loader: str, name: str) -> Recorded:
    return Recorded((DATA / loader / name).read_bytes())


def answer(value: object, status: int = 200, **headers: str) -> Recorded:
    pairs = tuple((name.replace("_", "-"), text) for name, text in headers.items())
    return Recorded(json.dumps(value).encode(), status, pairs)


@dataclass
class FakeApi:
    """Answers by address without query (`https://host/path`), page by page where there are several; the rest is 404."""

    routes: Mapping[str, Recorded | list[Recorded] | Exception]
    asked: list[HopRequest] = field(default_factory=list)
    time: FakeTime = field(default_factory=FakeTime)
    _chains: LoaderChains | None = None

    async def __call__(self, request: HopRequest) -> HopReply:
        await anyio.lowlevel.checkpoint()
        path = str(request.url).partition("?")[0]
        turn = sum(str(earlier.url).partition("?")[0] == path for earlier in self.asked)
        self.asked.append(request)
        found = self.routes.get(path, Recorded(status=404))
        if isinstance(found, Exception):
            raise found
        if isinstance(found, list):
            found = found[min(turn, len(found) - 1)]
        body = found.body if found.status < 300 else b""
        return HopReply(request.url, found.status, found.headers, body)

    @property
    def paths(self) -> list[str]:
        return [request.url.target.partition("?")[0] for request in self.asked]

    def chains(self, settings: LoaderSettings | None = None) -> LoaderChains:
        """The shared chains, the same for all calls."""
        if self._chains is None:
            chain = Redirects(self, Guard(GuardPolicy(), _no_resolver), 5, self.time.clock)
            self._chains = LoaderChains(chain, chain, settings or LoaderSettings(), self.time.clock)
        return self._chains

    def client(
        self, loader: Loader, url: Url, settings: LoaderSettings | None = None
    ) -> LoaderClient:
        return self.chains(settings).open_client(loader, PageRequest(url, self.time.deadline()))

    async def load(self, loader: Loader, url: str, **tokens: str) -> Page:
        """What the loader gives for an address; `GITHUB_TOKEN="…"` sets that token."""
        settings = LoaderSettings({name: FakeSecret(value) for name, value in tokens.items()})
        with anyio.fail_after(120):
            return await loader.load(parse(url), self.client(loader, parse(url), settings))


@dataclass
class FakeLoader:
    """Loads the pages of one host, or fails, or hangs."""

    name: str = "fake"
    host: str = "a.example"
    error: Exception | None = None
    hangs: bool = False
    loaded: list[str] = field(default_factory=list)
    tokens: tuple[Need, ...] = (Need("FAKE_TOKEN", "secret", "A token."),)
    base_urls: tuple[tuple[str, str], ...] = (
        ("FAKE_API_URL", "https://api.example/v1"),
        ("FAKE_LANGUAGE_URL", "https://{language}.example"),
    )

    def matches(self, url: Url) -> bool:
        return url.host == self.host

    async def load(self, url: Url, client: LoaderClient) -> Page:
        self.loaded.append(str(url))
        if self.hangs:
            await anyio.sleep_forever()
        if self.error:
            raise self.error
        return markdown_page(parse("https://final.example/"), "# Loaded", client.now)


async def _no_resolver(host: str, port: int) -> list[str]:
    raise AddressRefused("No test looks names up here.", url=host)
