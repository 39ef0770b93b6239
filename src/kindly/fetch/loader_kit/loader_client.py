"""How loaders get things: pages the ordinary way, APIs without robots.txt, all through the guarded
chain; and which APIs are exhausted until when.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from urllib.parse import quote, urlencode

from kindly.clock import Clock
from kindly.concurrency.cooldown import Cooldowns
from kindly.errors import FetchError, PageRateLimited
from kindly.fetch.chain.redirects import Redirects, failure, retry_after_s
from kindly.fetch.chain.types import Fetch, Headers, HopReply, PageRequest
from kindly.fetch.loader_kit.loader import Loader, LoaderClient, LoaderSettings, NotLoaded
from kindly.models import Page
from kindly.net.rate_limit_headers import exhausted_s
from kindly.urls import Url, parse

MAX_REST_S = 86_400.0
PLACE = re.compile(r"\{(\w+)\}")
PRINTABLE = re.compile(r"[\x21-\x7e]+")


@dataclass(slots=True)
class LoaderChains:
    """What all loaders share: the two chains, the settings, and who rests."""

    pages: Fetch
    apis: Redirects
    settings: LoaderSettings
    times: Clock
    cooldowns: Cooldowns[str] = field(init=False)
    """Of APIs that are exhausted, by origin."""

    def __post_init__(self) -> None:
        self.cooldowns = Cooldowns(self.times.monotonic)

    def open_get(self, loader: Loader, wanted: PageRequest) -> LoaderClient:
        """What `loader` gets things with, for one wanted page."""
        return GuardedLoaderClient(self, loader, wanted)


@dataclass(frozen=True, slots=True)
class GuardedLoaderClient:
    """One loader's way to the network, for one wanted page."""

    ways: LoaderChains
    loader: Loader
    wanted: PageRequest

    @property
    def now(self) -> datetime:
        """The time that goes into a page."""
        return self.ways.times.now()

    def token(self, setting: str) -> str | None:
        """The secret of that name, if one is set that a header can carry."""
        if setting not in {need.name for need in self.loader.tokens}:
            raise NotLoaded(f"{setting} is not of this loader.", url=str(self.wanted.url))
        secret = self.ways.settings.tokens.get(setting)
        value = secret.get_secret_value().strip() if secret is not None else ""
        return value if PRINTABLE.fullmatch(value) else None

    def address(self, setting: str, path: str, query: Mapping[str, str] | None = None) -> Url:
        """`path` and `query` below the base URL of a setting."""
        base = self.ways.settings.base_urls.get(setting) or dict(self.loader.base_urls)[setting]
        filled = dict(query or {})
        base = PLACE.sub(lambda place: quote(filled.pop(place[0], ""), safe=""), base)
        return parse(base.rstrip("/") + path + ("?" + urlencode(filled) if filled else ""))

    async def page(self, url: Url) -> Page:
        """Any page; the wanted one is asked for with the validators of what is kept of it."""
        known = self.wanted.known if url == self.wanted.url else None
        return await self.ways.pages(PageRequest(url, self.wanted.deadline, known=known))

    async def api(self, url: Url, headers: Headers = (), *, body: bytes | None = None) -> HopReply:
        """An API's answer with a 2xx status, unless the API is exhausted."""
        shown = url.origin + url.target.partition("?")[0]
        if wait_s := self.ways.cooldowns.remaining_s(url.origin):
            raise PageRateLimited(
                f"{url.host} is left alone for another {wait_s:.0f} seconds.",
                url=shown,
                retry_after_s=wait_s,
            )
        try:
            asked = PageRequest(url, self.wanted.deadline, headers=headers, body=body)
            reply = await self.ways.apis.follow(asked)
            self.rest(url, rest_s(reply, self.now))
            if error := failure(reply, self.now):
                raise error
        except FetchError as error:
            error.url = shown
            raise
        return reply

    async def json(self, url: Url, headers: Headers = (), *, body: bytes | None = None) -> object:
        """An API's answer, decoded."""
        reply = await self.api(url, headers, body=body)
        try:
            decoded: object = json.loads(reply.body)
        except (ValueError, RecursionError) as error:
            raise NotLoaded(f"{url.host} did not answer in JSON.", url=url.origin) from error
        return decoded

    def rest(self, url: Url, seconds: float) -> None:
        """Leave an API alone for that long."""
        if seconds > 0:
            self.ways.cooldowns.start(url.origin, min(seconds, MAX_REST_S))


def rest_s(reply: HopReply, now: datetime) -> float:
    """How long an API asks to be left alone: `Retry-After` of a refusal, or the moment at which an
    `X-RateLimit-Remaining` of 0 is filled up again.
    """
    if reply.status in {403, 429, 503} and (wait_s := retry_after_s(reply, now)):
        return wait_s
    return exhausted_s(dict(reply.headers), now)
