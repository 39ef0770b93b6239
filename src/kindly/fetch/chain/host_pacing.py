"""Rate limits per host: a semaphore and a request rate for each public host, a semaphore for the whole program, and a
cool-down for each host that sent `Retry-After`.

Hosts in `KINDLY_ALLOW_PRIVATE` have no rate limit of their own, but their `Retry-After` is obeyed.
"""

from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio

from kindly.clock import Clock
from kindly.concurrency.cooldown import Cooldowns
from kindly.fetch.chain.responses import rate_limited, retry_after_s
from kindly.fetch.chain.types import MAX_COOLDOWN_S, FetchLimits, Hop, HopReply, HopRequest
from kindly.storage.lru import LruCache
from kindly.urls import Url

if TYPE_CHECKING:
    from aiolimiter import AsyncLimiter

MAX_HOSTS = 512
"""Hosts that are remembered; the least recently used one without a request is forgotten first."""


@dataclass(slots=True)
class _HostLimit:
    slots: anyio.CapacityLimiter
    rate: "AsyncLimiter"

    def is_idle(self) -> bool:
        return not self.slots.borrowed_tokens


class PacedHop:
    """Delays each request until the limits of its host and of the whole program allow it."""

    def __init__(
        self,
        hop: Hop,
        limits: FetchLimits,
        is_opened: Callable[[Url], bool],
        clock: Clock,
        slots: anyio.Semaphore | None = None,
    ) -> None:
        self._hop = hop
        self._limits = limits
        self._is_opened = is_opened
        self._clock = clock
        self._host_limits: LruCache[str, _HostLimit] = LruCache(
            MAX_HOSTS, may_evict=_HostLimit.is_idle
        )
        self._cooldowns: Cooldowns[str] = Cooldowns(clock.monotonic, MAX_HOSTS)
        self._refusals: LruCache[str, int] = LruCache(MAX_HOSTS)
        """The HTTP status that started the cool-down of a host."""
        self._slots = slots

    async def __call__(self, request: HopRequest) -> HopReply:
        """The response, after the wait that the limits ask for.

        Raises:
            PageRateLimited: the host's `Retry-After` ends after the deadline.
        """
        await self._wait_for_cooldown(request)
        async with AsyncExitStack() as held:
            if not self._is_opened(request.url):
                host = self._host_limit(request.url.host)
                await held.enter_async_context(host.slots)
                await host.rate.acquire()
            if self._slots is None:
                self._slots = anyio.Semaphore(self._limits.concurrency)
            await held.enter_async_context(self._slots)
            reply = await self._hop(request)
        if reply.status in {429, 503}:
            self._start_cooldown(request.url.netloc, reply)
        return reply

    async def _wait_for_cooldown(self, request: HopRequest) -> None:
        host = request.url.netloc
        wait_s = self._cooldowns.remaining_s(host)
        if not wait_s:
            return
        if wait_s > request.deadline.remaining_s():
            raise rate_limited(request.url, self._refusals.get(host) or 429, wait_s)
        await self._clock.sleep(wait_s)

    def _start_cooldown(self, host: str, reply: HopReply) -> None:
        wait_s = retry_after_s(reply, self._clock.now())
        if wait_s:
            self._cooldowns.start(host, min(wait_s, MAX_COOLDOWN_S))
            self._refusals.put(host, reply.status)

    def _host_limit(self, host: str) -> _HostLimit:
        known = self._host_limits.get(host)
        if known is not None:
            return known
        from aiolimiter import AsyncLimiter

        rate = self._limits.host_rate_per_s
        limit = _HostLimit(
            anyio.CapacityLimiter(self._limits.host_concurrency),
            AsyncLimiter(max(1.0, rate), max(1.0, rate) / rate),
        )
        self._host_limits.put(host, limit)
        return limit
