"""The loaders' HTTP client: pages through the whole chain, APIs without robots.txt, cool-downs of exhausted APIs."""

import json
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from urllib.parse import quote, urlencode

from kindly.clock import Clock
from kindly.concurrency.cooldown import Cooldowns
from kindly.errors import FetchError, PageRateLimited, PageTooLarge
from kindly.fetch.chain.redirects import Redirects
from kindly.fetch.chain.responses import failure, retry_after_s
from kindly.fetch.chain.types import MAX_COOLDOWN_S, Fetch, Headers, HopReply, PageRequest
from kindly.fetch.loader_kit.host_probes import HostProbes
from kindly.fetch.loader_kit.loader import Loader, LoaderClient, LoaderSettings, NotLoaded
from kindly.frozen import frozen
from kindly.models import Page
from kindly.net.rate_limit_headers import exhausted_s
from kindly.urls import Url, parse

PLACEHOLDER = re.compile(r"\{(\w+)\}")
PRINTABLE = re.compile(r"[\x21-\x7e]+")


@dataclass(slots=True)
class LoaderChains:
    """What all loaders share: the two request chains, the settings, the cool-downs and the results of probes."""

    pages: Fetch
    apis: Redirects
    settings: LoaderSettings
    clock: Clock
    cooldowns: Cooldowns[str] = field(init=False)
    """Of exhausted APIs, by origin."""
    probes: dict[str, HostProbes] = field(default_factory=lambda: defaultdict(HostProbes))
    """By loader."""

    def __post_init__(self) -> None:
        self.cooldowns = Cooldowns(self.clock.monotonic)

    def open_client(self, loader: Loader, request: PageRequest) -> LoaderClient:
        """The client of one loader for one page request."""
        return GuardedLoaderClient(self, loader, request)


@frozen
class GuardedLoaderClient:
    """One loader's client for one page request."""

    chains: LoaderChains
    loader: Loader
    request: PageRequest

    @property
    def now(self) -> datetime:
        return self.chains.clock.now()

    @property
    def probes(self) -> HostProbes:
        return self.chains.probes[self.loader.name]

    def token(self, setting: str) -> str | None:
        """The secret of that name, if it is set and can be sent in a header."""
        if setting not in {need.name for need in self.loader.tokens}:
            raise NotLoaded(
                f"{setting} is not a setting of this loader.", url=str(self.request.url)
            )
        secret = self.chains.settings.tokens.get(setting)
        value = secret.get_secret_value().strip() if secret is not None else ""
        return value if PRINTABLE.fullmatch(value) else None

    def address(self, setting: str, path: str, query: Mapping[str, str] | None = None) -> Url:
        """`path` and `query` below the base URL of a setting."""
        base = self.chains.settings.base_urls.get(setting) or dict(self.loader.base_urls)[setting]
        left = dict(query or {})
        base = PLACEHOLDER.sub(lambda found: quote(left.pop(found[0], ""), safe=""), base)
        return parse(base.rstrip("/") + path + ("?" + urlencode(left) if left else ""))

    async def page(self, url: Url) -> Page:
        """Any page, through the whole chain."""
        return await self.chains.pages(PageRequest(url, self.request.deadline))

    async def api(self, url: Url, headers: Headers = (), *, body: bytes | None = None) -> HopReply:
        """An API's response with a 2xx status, unless the API is in a cool-down."""
        without_query = url.origin + url.target.partition("?")[0]
        if wait_s := self.chains.cooldowns.remaining_s(url.origin):
            raise PageRateLimited(
                f"The quota of {url.host} is used up.",
                url=without_query,
                retry_after_s=wait_s,
            )
        try:
            request = PageRequest(url, self.request.deadline, headers=headers, body=body)
            reply = await self.chains.apis.follow(request)
            self.cool_down(url, cooldown_s(reply, self.now))
            if error := failure(reply, self.now):
                raise error
            if reply.cut:
                raise PageTooLarge(
                    f"The answer of {url.host} is larger than the limit.",
                    url=without_query,
                    limit_bytes=len(reply.body),
                )
        except FetchError as error:
            raise error.replace(url=without_query) from error
        return reply

    async def json(self, url: Url, headers: Headers = (), *, body: bytes | None = None) -> object:
        """An API's response, decoded."""
        reply = await self.api(url, headers, body=body)
        try:
            decoded: object = json.loads(reply.body)
        except (ValueError, RecursionError) as error:
            raise NotLoaded(f"{url.host} did not answer in JSON.", url=url.origin) from error
        return decoded

    def cool_down(self, url: Url, wait_s: float) -> None:
        """Do not call the API at `url`'s origin for that long, up to `MAX_COOLDOWN_S`."""
        if wait_s > 0:
            self.chains.cooldowns.start(url.origin, min(wait_s, MAX_COOLDOWN_S))


def cooldown_s(reply: HopReply, now: datetime) -> float:
    """Seconds that an API asks to wait: a refusal's `Retry-After`, or until the reset of an exhausted quota."""
    if reply.status in {403, 429, 503} and (wait_s := retry_after_s(reply, now)):
        return wait_s
    return exhausted_s(dict(reply.headers), now)
