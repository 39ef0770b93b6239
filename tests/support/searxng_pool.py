"""Public SearXNG instances with scripted replies, for tests of the pool."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any

import anyio
import pytest

from kindly.budget import Deadline
from kindly.clock import Clock
from kindly.errors import PoolExhausted, SearchError
from kindly.models import ProviderResults, Query
from kindly.search.pool_settings import PoolSettings
from kindly.search.provider import Pace
from kindly.search.searxng.instance_list import Grade
from kindly.search.searxng.instance_pool import InstancePool
from tests.support.fakes import FakeClock, FakeSleep, hit
from tests.support.memory_state import MemoryState

NOW = 1_000_000.0
JSON_LIMITS = (Pace(4, 3600),)
"""SearXNG's limit for JSON: small numbers make short tests."""
QUERY = Query("a secret question", count=1)
Reply = ProviderResults | SearchError
FOUND = ProviderResults((hit("https://example.org/", "searxng"),), total=7)


def url_of(name: str) -> str:
    return f"https://{name}.example.org"


def name_of(url: str) -> str:
    return url.removeprefix("https://").split(".")[0]


@dataclass
class PublicInstances:
    """Public instances with scripted replies, the list of them, and one clock."""

    grades: dict[str, Grade]
    replies: dict[str, list[Reply]] = field(default_factory=dict)
    """By name, in order, the last one stays; an instance without any answers."""
    probes: dict[str, SearchError] = field(default_factory=dict)
    clock: FakeClock = field(default_factory=lambda: FakeClock(NOW))
    state: MemoryState = field(default_factory=MemoryState)
    listing: bytes | SearchError | None = None
    took_s: float = 0.0
    """How long each instance takes to reply."""
    random: Callable[[], float] = lambda: 0.0
    sleep: FakeSleep = field(init=False)
    called: list[str] = field(default_factory=list)
    queries: list[Query] = field(default_factory=list)
    agents: list[str] = field(default_factory=list)
    allowed_s: list[float] = field(default_factory=list)
    probed: list[str] = field(default_factory=list)
    lists: int = 0
    hold: Callable[[], Awaitable[None]] | None = None
    """Awaited before each reply."""
    list_delay: Callable[[], Awaitable[None]] | None = None
    probe_delay: Callable[[], Awaitable[None]] | None = None

    def __post_init__(self) -> None:
        self.sleep = FakeSleep(self.clock)

    def pool(self, limits: tuple[Pace, ...] = JSON_LIMITS, **settings: Any) -> InstancePool:
        """A pool after a start: everything it knows is in the state."""
        return InstancePool(
            requests=self,
            clock=Clock(time=self.clock, sleep=self.sleep, random=self.random),
            state=self.state,
            settings=replace(PoolSettings(use_random_instances=False), **settings),
            limits=limits,
        )

    def deadline(self, seconds: float = 30.0) -> Deadline:
        return Deadline.after(seconds, self.clock)

    async def instance_list(self, deadline: Deadline) -> bytes:
        self.lists += 1
        if self.list_delay:
            await self.list_delay()
        if isinstance(self.listing, SearchError):
            raise self.listing
        return self.listing or instances_json(self.grades)

    async def search(
        self, instance: str, query: Query, deadline: Deadline, user_agent: str
    ) -> ProviderResults:
        name = name_of(instance)
        self.called.append(name)
        self.queries.append(query)
        self.agents.append(user_agent)
        self.allowed_s.append(deadline.remaining_s())
        if self.hold:
            await self.hold()
        self.clock.advance(self.took_s)
        replies = self.replies.get(name, [FOUND])
        reply = replies[min(self.called.count(name), len(replies)) - 1]
        if isinstance(reply, SearchError):
            raise reply
        return reply

    async def probe(self, instance: str, deadline: Deadline) -> None:
        name = name_of(instance)
        self.probed.append(name)
        if self.probe_delay:
            await self.probe_delay()
        if name in self.probes:
            raise self.probes[name]


def instances_json(grades: dict[str, Grade]) -> bytes:
    entries = {
        f"{url_of(name)}/": {
            "network_type": "normal",
            "generator": "searxng",
            "version": "2026.8.14",
            "http": {"status_code": 200, "grade": grade},
        }
        for name, grade in grades.items()
    }
    return json.dumps({"instances": entries}).encode()


async def search(
    site: PublicInstances, pool: InstancePool, seconds: float = 30.0
) -> ProviderResults:
    with anyio.fail_after(120):
        return await pool.search(QUERY, site.deadline(seconds))


async def exhausted(
    site: PublicInstances, pool: InstancePool, seconds: float = 30.0
) -> PoolExhausted:
    with pytest.raises(PoolExhausted) as caught:
        await search(site, pool, seconds)
    return caught.value
