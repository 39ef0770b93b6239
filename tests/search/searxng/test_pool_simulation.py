"""The pool over days of virtual time: servers that fail, ban and limit by their own rules, and count violations."""

import json
import random
from collections import deque
from dataclasses import dataclass, field

import anyio
import pytest

from kindly.budget import Deadline
from kindly.clock import Clock
from kindly.errors import (
    PoolExhausted,
    ProviderAuth,
    ProviderBlocked,
    ProviderFailed,
    ProviderRateLimited,
    ProviderTimeout,
    ProviderUnreachable,
)
from kindly.models import ProviderResults, Query
from kindly.search.provider import Pace
from kindly.search.searxng.instance_pool import RESULTS_PAGE_LIMITS, InstancePool
from tests.support.fakes import FakeClock, FakeSleep, hit
from tests.support.memory_state import MemoryState

pytestmark = pytest.mark.anyio

MINUTE, HOUR, DAY = 60.0, 3600.0, 86_400.0
START = 1_800_000_000.0
QUERY_S = 20.0
"""The deadline of a search."""
QUERY = Query("what the pool must never keep", count=1)
JSON_LIMITS = (Pace(4, HOUR),)
HTML_LIMITS = (Pace(2, 20), Pace(10, 600))
"""SearXNG's limits for clients that it suspects."""

Span = tuple[float, float]


@dataclass
class Server:
    """One instance's server: it is down, bans us or is over its limit at its own times."""

    url: str
    grade: str
    rng: random.Random
    limits: tuple[Pace, ...] = JSON_LIMITS
    down: list[Span] = field(default_factory=list)
    banning: list[Span] = field(default_factory=list)
    hiccups: float = 0.01
    received: deque[float] = field(default_factory=deque)
    """When it received searches in the last hour; refused ones count, as in SearXNG."""
    closed_until: float = 0.0
    """By its last Retry-After."""
    breaches: int = 0
    answers: int = 0
    refusals: int = 0

    def is_healthy(self, now: float) -> bool:
        """Whether a search sent now would be answered."""
        return not (within(self.down, now) or within(self.banning, now) or self.is_full(now)) and (
            self.closed_until <= now
        )

    def is_full(self, now: float) -> bool:
        return any(
            sum(moment > now - pace.per_s for moment in self.received) >= pace.calls
            for pace in self.limits
        )

    def answer(self, now: float) -> ProviderResults:
        """Answer or refuse one search, after checking that it was allowed at all."""
        while self.received and self.received[0] <= now - HOUR:
            self.received.popleft()
        self.breaches += self.is_full(now) or now < self.closed_until
        self.received.append(now)
        if within(self.down, now):
            raise self.rng.choice((ProviderUnreachable, ProviderTimeout, ProviderFailed))("down")
        if within(self.banning, now):
            self.refusals += 1
            raise self.rng.choice((ProviderAuth, ProviderBlocked, ProviderRateLimited))("banned")
        if self.rng.random() < self.hiccups:
            wait_s = self.rng.choice((90.0, 600.0, 1800.0))
            self.closed_until = now + wait_s
            raise ProviderRateLimited("busy", retry_after_s=wait_s)
        if self.rng.random() < self.hiccups:
            raise ProviderFailed("hiccup")
        self.answers += 1
        return ProviderResults((hit("https://example.org/", "searxng"),))


def within(spans: list[Span], now: float) -> bool:
    return any(begin <= now < end for begin, end in spans)


def spans(rng: random.Random, days: float, every_s: float, lasting_s: float) -> list[Span]:
    """Random periods of trouble."""
    found, now = [], START + rng.expovariate(1 / every_s)
    while now < START + days * DAY:
        end = now + rng.expovariate(1 / lasting_s)
        found.append((now, end))
        now = end + rng.expovariate(1 / every_s)
    return found


@dataclass
class Tally:
    queries: int = 0
    possible: int = 0
    """Queries at whose start some server was healthy."""
    answered: int = 0
    """Of the possible ones."""
    waits_s: list[float] = field(default_factory=list)
    """`retry_after_s` of searches without an answer."""
    instances: set[str | None] = field(default_factory=set)

    @property
    def share(self) -> float:
        return self.answered / self.possible


@dataclass
class Internet:
    """The servers, the list of them, and one clock."""

    servers: dict[str, Server]
    rng: random.Random
    clock: FakeClock = field(default_factory=lambda: FakeClock(START))
    state: MemoryState = field(default_factory=MemoryState)
    list_down: list[Span] = field(default_factory=list)
    agents: set[str] = field(default_factory=set)
    discoveries: int = 0

    def pool(self, limits: tuple[Pace, ...] = JSON_LIMITS) -> InstancePool:
        """A pool after a start: everything it knows is in the state."""
        clock = Clock(time=self.clock, sleep=FakeSleep(self.clock), random=self.rng.random)
        return InstancePool(
            requests=self,
            clock=clock,
            state=self.state,
            limits=limits,
        )

    async def instance_list(self, deadline: Deadline) -> bytes:
        self.discoveries += 1
        self.clock.advance(0.5)
        if within(self.list_down, self.clock()):
            raise ProviderUnreachable("no list")
        entries = {
            f"{server.url}/": {
                "http": {"status_code": 200, "grade": server.grade},
                "network_type": "normal",
                "generator": "searxng",
                "version": "2026.8.14+094c33d40",
            }
            for server in self.servers.values()
        }
        return json.dumps({"instances": entries}).encode()

    async def search(
        self, instance: str, query: Query, deadline: Deadline, user_agent: str
    ) -> ProviderResults:
        self.agents.add(user_agent)
        latency_s = 0.2 + self.rng.expovariate(2.0)
        late = latency_s > deadline.remaining_s()
        self.clock.advance(min(latency_s, deadline.remaining_s()) / 2)
        try:
            found = self.servers[instance].answer(self.clock())
        except ProviderTimeout:
            self.clock.advance(deadline.remaining_s())
            raise
        self.clock.advance(min(latency_s / 2, deadline.remaining_s()))
        if late:
            raise ProviderTimeout("slow")
        return found

    async def probe(self, instance: str, deadline: Deadline) -> None:
        self.clock.advance(0.02)
        if within(self.servers[instance].down, self.clock()):
            raise ProviderUnreachable("down")

    def is_any_healthy(self) -> bool:
        return any(server.is_healthy(self.clock()) for server in self.servers.values())

    @property
    def breaches(self) -> int:
        return sum(server.breaches for server in self.servers.values())


async def run(internet: Internet, days: float, restarts: set[int], pool: InstancePool) -> Tally:
    """One query a minute, health checks every five; at each of `restarts` a new pool takes over."""
    tally = Tally()
    for minute in range(round(days * DAY / MINUTE)):
        internet.clock.now = max(internet.clock.now, START + minute * MINUTE)
        if minute in restarts:
            pool = internet.pool(pool.limits)
        if minute % 5 == 0:
            await pool.run_health_checks()
        possible = internet.is_any_healthy()
        tally.queries += 1
        tally.possible += possible
        try:
            found = await pool.search(QUERY, Deadline.after(QUERY_S, internet.clock))
        except PoolExhausted as error:
            tally.waits_s.append(error.retry_after_s or 0.0)
        else:
            tally.instances.add(found.instance)
            tally.answered += possible
    return tally


def rough_week(seed: int, count: int = 40) -> Internet:
    """Forty servers, each down and banning now and then."""
    rng = random.Random(seed)  # noqa: S311 - a simulation holds no secret
    grades = (
        ["A+"] * (count // 2) + ["A"] * (count // 4) + ["B"] * (count - count // 2 - count // 4)
    )
    servers = {}
    for number, grade in enumerate(grades):
        url = f"https://s{number}.example.org"
        server = Server(url, grade, rng)
        server.down = spans(rng, 7, every_s=1.5 * DAY, lasting_s=3 * HOUR)
        server.banning = spans(rng, 7, every_s=2 * DAY, lasting_s=4 * HOUR)
        servers[url] = server
    return Internet(servers, rng)


def all_but(internet: Internet, spared: int, trouble: str, span: Span) -> None:
    for server in list(internet.servers.values())[spared:]:
        getattr(server, trouble).append(span)


@pytest.mark.slow
async def test_a_rough_week_is_answered_and_no_limit_is_broken() -> None:
    """Besides random trouble: twelve hours with 3 servers left, two with none, six in which 38 ban us, a dead list."""
    internet = rough_week(seed=7)
    all_but(internet, 3, "down", (START + 1.5 * DAY, START + 2 * DAY))
    all_but(internet, 2, "banning", (START + 3 * DAY, START + 3.25 * DAY))
    all_but(internet, 0, "down", (START + 4 * DAY, START + 4 * DAY + 2 * HOUR))
    internet.list_down = [(START + 2 * DAY, START + 5.5 * DAY)]

    with anyio.fail_after(600):
        tally = await run(internet, 7, {1000, 5000, 5001, 9000}, internet.pool())

    assert tally.queries == 10_080
    assert tally.possible > 8_500
    assert tally.share >= 0.99
    assert internet.breaches == 0
    assert len(tally.instances & set(internet.servers)) == len(tally.instances) >= 30
    assert all(wait_s > 0 for wait_s in tally.waits_s)
    assert len(internet.agents) > 3


async def test_the_servers_notice_a_pool_that_calls_too_often() -> None:
    internet = rough_week(2, count=4)
    careless = internet.pool((Pace(5, HOUR),))

    await run(internet, 0.2, set(), careless)

    assert internet.breaches > 0


async def test_the_limits_of_results_pages_are_kept_too() -> None:
    internet = rough_week(3, count=8)
    for server in internet.servers.values():
        server.limits = HTML_LIMITS

    with anyio.fail_after(600):
        tally = await run(internet, 1, {700}, internet.pool(RESULTS_PAGE_LIMITS))

    assert tally.share >= 0.99
    assert internet.breaches == 0


async def test_no_query_is_saved() -> None:
    internet = rough_week(4)

    await run(internet, 0.1, set(), internet.pool())

    assert internet.state.kinds["searxng_pool"]
    assert QUERY.text not in json.dumps(internet.state.kinds)


async def test_the_list_is_fetched_once_a_day_over_restarts() -> None:
    internet = rough_week(5, count=8)

    await run(internet, 1.1, set(range(100, 1500, 100)), internet.pool())

    assert internet.discoveries == 2
