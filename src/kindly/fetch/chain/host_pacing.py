"""Politeness: how many requests run at once, how fast they follow each other, and when a host wants
none at all.

A host's `Retry-After` is kept for every host; slots and rates only for hosts that the user did not
open himself.
"""

from collections import OrderedDict
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio

from kindly.clock import Clock
from kindly.concurrency.cooldown import Cooldowns
from kindly.errors import PageRateLimited
from kindly.fetch.chain.redirects import retry_after_s
from kindly.fetch.chain.types import FetchLimits, Hop, HopReply, HopRequest
from kindly.urls import Url

if TYPE_CHECKING:
    from aiolimiter import AsyncLimiter

MAX_HOSTS = 512
"""Hosts that are remembered; the longest unused is forgotten first."""

MAX_REST_S = 86_400.0
"""The longest that a host is left alone because it asked for it."""


@dataclass(slots=True)
class _Lane:
    slots: anyio.CapacityLimiter
    rate: "AsyncLimiter"


class Paced:
    """Holds each request until its host and the whole program have room for it."""

    def __init__(
        self,
        hop: Hop,
        limits: FetchLimits,
        is_opened: Callable[[Url], bool],
        times: Clock,
        slots: anyio.Semaphore | None = None,
    ) -> None:
        self._hop = hop
        self._limits = limits
        self._is_opened = is_opened
        self._times = times
        self._lanes: OrderedDict[str, _Lane] = OrderedDict()
        self._cooldowns: Cooldowns[str] = Cooldowns(times.monotonic, MAX_HOSTS)
        self._all = slots

    async def __call__(self, ask: HopRequest) -> HopReply:
        """The answer, as soon as it is this request's turn.

        Raises:
            PageRateLimited: the host asked for a rest that is longer than the deadline.
        """
        await self._rest(ask)
        async with AsyncExitStack() as held:
            if not self._is_opened(ask.url):
                lane = self._lane(ask.url.host)
                await held.enter_async_context(lane.slots)
                await lane.rate.acquire()
            if self._all is None:
                self._all = anyio.Semaphore(self._limits.concurrency)
            await held.enter_async_context(self._all)
            reply = await self._hop(ask)
        if reply.status in {429, 503}:
            self._remember(ask.url.netloc, reply)
        return reply

    async def _rest(self, ask: HopRequest) -> None:
        host = ask.url.netloc
        wait_s = self._cooldowns.remaining_s(host)
        if not wait_s:
            return
        if wait_s > ask.deadline.remaining_s():
            raise PageRateLimited(
                f"{host} asked not to be contacted for another {wait_s:.0f} seconds.",
                url=str(ask.url),
                retry_after_s=wait_s,
            )
        await self._times.sleep(wait_s)

    def _remember(self, host: str, reply: HopReply) -> None:
        wait_s = retry_after_s(reply, self._times.now())
        if wait_s:
            self._cooldowns.start(host, min(wait_s, MAX_REST_S))

    def _lane(self, host: str) -> _Lane:
        if host not in self._lanes:
            from aiolimiter import AsyncLimiter

            self._forget_idle()
            rate = self._limits.host_rate_per_s
            self._lanes[host] = _Lane(
                anyio.CapacityLimiter(self._limits.host_concurrency),
                AsyncLimiter(max(1.0, rate), max(1.0, rate) / rate),
            )
        self._lanes.move_to_end(host)
        return self._lanes[host]

    def _forget_idle(self) -> None:
        if len(self._lanes) < MAX_HOSTS:
            return
        idle = (host for host, lane in self._lanes.items() if not lane.slots.borrowed_tokens)
        if (oldest := next(idle, None)) is not None:
            del self._lanes[oldest]
