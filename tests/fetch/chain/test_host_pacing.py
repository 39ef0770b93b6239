"""Rate limits per host."""

import anyio
import anyio.lowlevel
import pytest

from kindly.errors import PageRateLimited
from kindly.fetch.chain import host_pacing
from kindly.fetch.chain.host_pacing import PacedHop
from kindly.fetch.chain.types import MAX_COOLDOWN_S, FetchLimits, Hop, HopReply, HopRequest
from tests.support.fetch_fakes import FakeTime, ScriptedHop, reply

pytestmark = pytest.mark.anyio


class Busy:
    """A hop that holds every request until it is released, and counts them."""

    def __init__(self) -> None:
        self.now = 0
        self.most = 0
        self.let_go = anyio.Event()

    async def __call__(self, request: HopRequest) -> HopReply:
        self.now += 1
        self.most = max(self.most, self.now)
        await self.let_go.wait()
        self.now -= 1
        return reply()


def paced(
    hop: Hop, time: FakeTime, limits: FetchLimits | None = None, *, opened: bool = False
) -> PacedHop:
    fast = limits or FetchLimits(host_rate_per_s=1_000)
    return PacedHop(hop, fast, lambda url: opened, time.clock)


async def most_at_once(hop: Busy, gate: PacedHop, urls: list[str]) -> int:
    time = FakeTime()
    async with anyio.create_task_group() as tasks:
        for url in urls:
            tasks.start_soon(gate, time.ask(url))
        await anyio.wait_all_tasks_blocked()
        hop.let_go.set()
    return hop.most


async def test_concurrent_requests_to_one_host_are_limited() -> None:
    hop = Busy()
    gate = paced(hop, FakeTime(), FetchLimits(host_concurrency=3, host_rate_per_s=1_000))

    assert await most_at_once(hop, gate, ["https://example.com/"] * 10) == 3


async def test_hosts_do_not_wait_for_each_other() -> None:
    hop = Busy()
    gate = paced(hop, FakeTime(), FetchLimits(host_concurrency=1, host_rate_per_s=1_000))

    assert await most_at_once(hop, gate, [f"https://h{n}.example/" for n in range(5)]) == 5


async def test_host_that_asks_for_ever_is_left_alone_for_a_day() -> None:
    hop, time = ScriptedHop([reply(429, retry_after="1e300"), reply()]), FakeTime()
    gate = paced(hop, time)
    await gate(time.ask("https://example.com/"))
    with pytest.raises(PageRateLimited) as caught:
        await gate(time.ask("https://example.com/"))
    assert caught.value.retry_after_s == MAX_COOLDOWN_S


async def test_opened_host_is_not_paced() -> None:
    hop = Busy()
    gate = paced(hop, FakeTime(), FetchLimits(host_concurrency=1, host_rate_per_s=1), opened=True)

    assert await most_at_once(hop, gate, ["http://127.0.0.1/"] * 20) == 20


async def test_concurrent_requests_to_all_hosts_together_are_limited() -> None:
    hop = Busy()
    gate = paced(hop, FakeTime(), FetchLimits(concurrency=4), opened=True)

    assert await most_at_once(hop, gate, [f"https://h{n}.example/" for n in range(9)]) == 4


async def test_burst_beyond_the_rate_has_to_wait() -> None:
    hop, time = ScriptedHop([reply()]), FakeTime()
    gate = paced(hop, time, FetchLimits(host_rate_per_s=2))

    async with anyio.create_task_group() as tasks:
        for _ in range(5):
            tasks.start_soon(gate, time.ask())
        await anyio.wait_all_tasks_blocked()
        assert len(hop.asked) == 2
        tasks.cancel_scope.cancel()


async def test_short_retry_after_is_waited_for() -> None:
    time, hop = FakeTime(), ScriptedHop([reply(429, retry_after="2"), reply(200)])
    gate = paced(hop, time)

    first = await gate(time.ask())
    second = await gate(time.ask())

    assert (first.status, second.status) == (429, 200)
    assert time.slept == [2.0]


async def test_cooldown_beyond_the_deadline_is_reported_at_once() -> None:
    time, hop = FakeTime(), ScriptedHop([reply(503, retry_after="60"), reply(200)])
    gate = paced(hop, time, opened=True)
    await gate(time.ask())

    with pytest.raises(PageRateLimited) as caught:
        await gate(time.ask())

    assert caught.value.retry_after_s == 60.0
    assert len(hop.asked) == 1
    time.passed_s = 61.0
    assert (await gate(time.ask())).status == 200


async def test_cooldown_of_one_host_does_not_affect_another() -> None:
    time, hop = FakeTime(), ScriptedHop([reply(429, retry_after="600"), reply(200)])
    gate = paced(hop, time)
    await gate(time.ask())

    assert (await gate(time.ask("https://other.example/"))).status == 200


async def test_limit_without_a_time_is_not_remembered() -> None:
    time, hop = FakeTime(), ScriptedHop([reply(429), reply(200)])
    gate = paced(hop, time)
    await gate(time.ask())

    assert (await gate(time.ask())).status == 200


async def test_hosts_that_are_remembered_are_bounded() -> None:
    time = FakeTime()
    gate = paced(ScriptedHop([reply(429, retry_after="600")]), time)

    for number in range(host_pacing.MAX_HOSTS + 20):
        await gate(time.ask(f"https://h{number}.example/"))

    assert len(gate._host_limits) == len(gate._cooldowns) == host_pacing.MAX_HOSTS


async def test_host_in_use_is_not_forgotten() -> None:
    hop, time = Busy(), FakeTime()
    gate = paced(hop, time, FetchLimits(concurrency=2_000, host_rate_per_s=1_000))

    assert (
        await most_at_once(
            hop,
            gate,
            [f"https://h{number}.example/" for number in range(host_pacing.MAX_HOSTS + 5)],
        )
        == host_pacing.MAX_HOSTS + 5
    )
    assert len(gate._host_limits) == host_pacing.MAX_HOSTS + 5
