"""robots.txt: refuses pages that a site does not allow, and keeps the site's crawl-delay.

Files are fetched through the same guarded chain as pages, and cached per origin. Read as RFC 9309 says: no file means
no rules; a site that answers with a server error is not fetched for a while. If the site cannot be reached at all, the
error is the one that the page would have raised.
"""

from typing import TYPE_CHECKING

from kindly.clock import Clock
from kindly.concurrency.single_flight import SingleFlight
from kindly.errors import (
    PageForbidden,
    PageNotFound,
    PageRateLimited,
    PageUnreachable,
    RobotsRefused,
)
from kindly.fetch.chain.types import Fetch, Hop, HopReply, HopRequest, PageRequest
from kindly.frozen import frozen
from kindly.storage.lru import LruCache
from kindly.text.durations import seconds
from kindly.urls import Url, join

if TYPE_CHECKING:
    from protego import Protego

USER_AGENT_TOKEN = "Kindly"  # noqa: S105 - the name in robots.txt, no secret
MAX_ROBOTS_BYTES = 512 * 1024
KEEP_S = 86_400.0
KEEP_FAILURE_S = 300.0
MAX_DELAY_S = 30.0
"""The longest crawl-delay that is honoured; some sites ask for hours to keep every crawler out."""
MAX_ORIGINS = 1_000


@frozen
class _Rules:
    """The rules of one origin. Without a parsed file, everything is allowed, or nothing if `closed`."""

    until_s: float
    parsed: "Protego | None" = None
    closed: bool = False

    def allow(self, url: Url) -> bool:
        if self.parsed is None:
            return not self.closed
        return self.parsed.can_fetch(str(url), USER_AGENT_TOKEN)

    @property
    def delay_s(self) -> float:
        """Seconds between two requests."""
        delay_s = self.parsed and self.parsed.crawl_delay(USER_AGENT_TOKEN)
        return min(float(delay_s or 0.0), MAX_DELAY_S)


class RobotsHop:
    """Sends a request only if the site's robots.txt allows it."""

    def __init__(self, hop: Hop, fetch: Fetch, clock: Clock) -> None:
        self._hop = hop
        self._fetch = fetch
        self._clock = clock
        self._rules: LruCache[str, _Rules] = LruCache(MAX_ORIGINS)
        self._single_flight: SingleFlight[_Rules] = SingleFlight()
        self._next_at_s: LruCache[str, float] = LruCache(MAX_ORIGINS)

    async def __call__(self, request: HopRequest) -> HopReply:
        """The response.

        Raises:
            RobotsRefused: robots.txt does not allow the URL.
            PageRateLimited: the crawl-delay ends after the deadline.
        """
        origin = request.url.origin
        rules = self._rules.get(origin)
        if rules is None or self._clock.monotonic() >= rules.until_s:
            rules = await self._single_flight(origin, lambda: self._load(request))
        if not rules.allow(request.url):
            why = "could not be read" if rules.closed else "does not allow this page"
            raise RobotsRefused(
                f"The robots.txt of {request.url.host} {why}, so the page is not fetched.",
                url=str(request.url),
            )
        await self._wait(request, rules.delay_s)
        return await self._hop(request)

    async def _wait(self, request: HopRequest, delay_s: float) -> None:
        """Reserve the next moment that the crawl-delay allows, and wait for it."""
        if not delay_s:
            return
        origin, now_s = request.url.origin, self._clock.monotonic()
        at_s = max(now_s, self._next_at_s.get(origin) or now_s)
        if at_s - now_s > request.deadline.remaining_s():
            raise PageRateLimited(
                f"The robots.txt of {request.url.host} asks for {seconds(delay_s)} between requests.",
                url=str(request.url),
                retry_after_s=at_s - now_s,
            )
        self._next_at_s.put(origin, at_s + delay_s)
        if at_s > now_s:
            await self._clock.sleep(at_s - now_s)

    async def _load(self, request: HopRequest) -> _Rules:
        rules = await self._download(request)
        self._rules.put(request.url.origin, rules)
        return rules

    async def _download(self, request: HopRequest) -> _Rules:
        now_s = self._clock.monotonic()
        try:
            page = await self._fetch(
                PageRequest(join(request.url, "/robots.txt"), request.deadline)
            )
        except (PageNotFound, PageForbidden):
            return _Rules(now_s + KEEP_S)
        except PageUnreachable as error:
            if error.status is None:
                raise
            return _Rules(now_s + KEEP_FAILURE_S, closed=True)
        from protego import Protego

        return _Rules(now_s + KEEP_S, Protego.parse(page.body.decode("utf-8", "replace")))


def truncated(hop: Hop) -> Hop:
    """`hop` for robots.txt files: content beyond their size limit is cut off."""

    async def truncated_hop(request: HopRequest) -> HopReply:
        return await hop(
            HopRequest(request.url, request.deadline, request.headers, MAX_ROBOTS_BYTES)
        )

    return truncated_hop
