"""robots.txt: may this page be fetched? Rules are had through the same guarded way as pages, and
kept per origin.

Read as RFC 9309 says: no file means no rules; a site that fails to serve it is left alone for a
while. A site that cannot be reached at all raises what the page itself would have raised.
"""

from dataclasses import dataclass
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
from kindly.storage.lru import LruCache
from kindly.urls import Url, join

if TYPE_CHECKING:
    from protego import Protego

USER_AGENT_TOKEN = "Kindly"  # noqa: S105 - the name in robots.txt, no secret
MAX_ROBOTS_BYTES = 512 * 1024
KEEP_S = 86_400.0
KEEP_FAILURE_S = 300.0
MAX_DELAY_S = 30.0
"""The longest crawl-delay that is honoured; some sites write hours to keep everybody out."""
MAX_ORIGINS = 1_000


@dataclass(frozen=True, slots=True)
class _Rules:
    until: float
    parsed: "Protego | None" = None
    closed: bool = False

    def allow(self, url: Url) -> bool:
        if self.parsed is None:
            return not self.closed
        return self.parsed.can_fetch(str(url), USER_AGENT_TOKEN)

    @property
    def delay_s(self) -> float:
        """Seconds that the site wants between two requests."""
        wanted = self.parsed and self.parsed.crawl_delay(USER_AGENT_TOKEN)
        return min(float(wanted or 0.0), MAX_DELAY_S)


class Robots:
    """Sends a request on only when the site's robots.txt allows it."""

    def __init__(self, hop: Hop, get: Fetch, times: Clock) -> None:
        self._hop = hop
        self._get = get
        self._times = times
        self._kept: LruCache[str, _Rules] = LruCache(MAX_ORIGINS)
        self._flights: SingleFlight[_Rules] = SingleFlight()
        self._next_at: LruCache[str, float] = LruCache(MAX_ORIGINS)

    async def __call__(self, ask: HopRequest) -> HopReply:
        """The answer of an address that robots.txt allows.

        Raises:
            RobotsRefused: it does not.
            PageRateLimited: its crawl-delay leaves no turn before the deadline.
        """
        rules = self._fresh(ask.url.origin)
        if rules is None:
            rules = await self._flights(ask.url.origin, lambda: self._look_up(ask))
        if not rules.allow(ask.url):
            why = "could not be read" if rules.closed else "does not allow this page"
            raise RobotsRefused(
                f"The robots.txt of {ask.url.host} {why}, so it is left alone.", url=str(ask.url)
            )
        await self._turn(ask, rules.delay_s)
        return await self._hop(ask)

    async def _turn(self, ask: HopRequest, delay_s: float) -> None:
        """Wait for this request's turn, where the site wants requests apart."""
        if not delay_s:
            return
        origin, now = ask.url.origin, self._times.monotonic()
        turn_at = max(now, self._next_at.get(origin) or now)
        if turn_at - now > ask.deadline.remaining_s():
            raise PageRateLimited(
                f"The robots.txt of {ask.url.host} asks for {delay_s:.0f} seconds between requests.",
                url=str(ask.url),
                retry_after_s=turn_at - now,
            )
        self._next_at.put(origin, turn_at + delay_s)
        if turn_at > now:
            await self._times.sleep(turn_at - now)

    def _fresh(self, origin: str) -> _Rules | None:
        rules = self._kept.get(origin)
        return rules if rules is not None and self._times.monotonic() < rules.until else None

    async def _look_up(self, ask: HopRequest) -> _Rules:
        origin = ask.url.origin
        rules = await self._download(ask)
        self._kept.put(origin, rules)
        return rules

    async def _download(self, ask: HopRequest) -> _Rules:
        now = self._times.monotonic()
        try:
            page = await self._get(PageRequest(join(ask.url, "/robots.txt"), ask.deadline))
        except (PageNotFound, PageForbidden):
            return _Rules(now + KEEP_S)
        except PageUnreachable as error:
            if error.status is None:
                raise
            return _Rules(now + KEEP_FAILURE_S, closed=True)
        from protego import Protego

        return _Rules(now + KEEP_S, Protego.parse(page.body.decode("utf-8", "replace")))


def capped(hop: Hop) -> Hop:
    """`hop` for robots.txt files: what is beyond their size cap is cut off."""

    async def ask_capped(ask: HopRequest) -> HopReply:
        return await hop(HopRequest(ask.url, ask.deadline, ask.headers, MAX_ROBOTS_BYTES))

    return ask_capped
