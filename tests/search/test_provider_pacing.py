"""The rate limit of a provider, in virtual time."""

import anyio
import pytest

from kindly.budget import Deadline
from kindly.errors import ProviderRateLimited
from kindly.search.provider import Pace
from kindly.search.provider_pacing import Pacer
from kindly.search.rate_limits import RateLimits
from tests.support.routing import VIRTUAL, virtual_clock

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> tuple[str, dict[str, object]]:
    return VIRTUAL


def pacer(pace: Pace) -> Pacer:
    return Pacer("fake", "Fake", pace, RateLimits(virtual_clock()), anyio.sleep)


async def allowed_at(queue: Pacer, calls: int, patience_s: float = 1e6) -> list[float]:
    """When each of several concurrent calls was allowed, in seconds from now."""
    began, turns = anyio.current_time(), list[float]()

    async def call() -> None:
        await queue.wait(Deadline.after(patience_s))
        turns.append(round(anyio.current_time() - began, 3))

    async with anyio.create_task_group() as tasks:
        for _ in range(calls):
            tasks.start_soon(call)
    return turns


@pytest.mark.parametrize(
    ("pace", "expected"),
    [
        (Pace(1, 1), [0, 1, 2, 3, 4]),
        (Pace(2, 1), [0, 0, 0.5, 1, 1.5]),
        (Pace(5, 1), [0, 0, 0, 0, 0]),
        (Pace(0.5, 1), [0, 2, 4, 6, 8]),
        (Pace(1, 60), [0, 60, 120, 180, 240]),
    ],
    ids=str,
)
async def test_concurrent_calls_wait_instead_of_failing(pace: Pace, expected: list[float]) -> None:
    assert await allowed_at(pacer(pace), 5) == pytest.approx(expected, abs=0.01)


async def test_a_call_that_could_only_be_made_too_late_is_refused_at_once() -> None:
    queue = pacer(Pace(1, 10))
    await queue.wait(Deadline.after(5))
    await anyio.sleep(3)
    began = anyio.current_time()
    with pytest.raises(ProviderRateLimited) as caught:
        await queue.wait(Deadline.after(5))
    assert anyio.current_time() == began
    assert caught.value.provider == "fake"
    assert caught.value.retry_after_s == pytest.approx(7, abs=0.1)
    assert caught.value.try_next


async def test_a_call_that_can_be_made_in_time_waits() -> None:
    queue = pacer(Pace(1, 10))
    await queue.wait(Deadline.after(5))
    await anyio.sleep(6)
    assert await allowed_at(queue, 1, patience_s=5) == pytest.approx([4], abs=0.01)


async def test_queued_calls_come_first() -> None:
    queue, refused = pacer(Pace(1, 1)), list[ProviderRateLimited]()

    async def call() -> None:
        try:
            await queue.wait(Deadline.after(2.5))
        except ProviderRateLimited as error:
            refused.append(error)

    async with anyio.create_task_group() as tasks:
        for _ in range(6):
            tasks.start_soon(call)
    assert [error.retry_after_s for error in refused] == pytest.approx([3, 3, 3], abs=0.1)


async def test_a_cancelled_call_leaves_the_queue() -> None:
    queue = pacer(Pace(1, 10))
    await queue.wait(Deadline.after(5))
    with anyio.move_on_after(1):
        await queue.wait(Deadline.after(60))
    assert await allowed_at(queue, 1) == pytest.approx([9], abs=0.01)


async def test_a_short_pause_is_waited_for_and_a_long_one_refused() -> None:
    queue = pacer(Pace(100, 1))
    queue.limits.learn({"Retry-After": "4"})
    with pytest.raises(ProviderRateLimited) as caught:
        await queue.wait(Deadline.after(3))
    assert caught.value.retry_after_s == pytest.approx(4)
    assert await allowed_at(queue, 2, patience_s=5) == pytest.approx([4, 4])
    assert await allowed_at(queue, 1) == [0]


async def test_a_pause_that_starts_while_queueing_is_kept() -> None:
    queue = pacer(Pace(1, 1))
    await queue.wait(Deadline.after(5))
    refused: list[ProviderRateLimited] = []

    async def call() -> None:
        with pytest.raises(ProviderRateLimited) as caught:
            await queue.wait(Deadline.after(5))
        refused.append(caught.value)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(call)
        await anyio.sleep(0.5)
        queue.limits.learn({"Retry-After": "60"})
    assert refused[0].retry_after_s == pytest.approx(59.5, abs=0.1)


async def test_a_reported_pace_replaces_the_default() -> None:
    queue = pacer(Pace(1, 1))
    assert await allowed_at(queue, 2) == pytest.approx([0, 1], abs=0.01)
    queue.limits.learn({"X-RateLimit-Policy": "50;w=1, 0;w=2592000"})
    assert await allowed_at(queue, 50) == [0] * 50
