"""The limit of concurrent calls."""

import anyio
import pytest

from kindly.concurrency.call_limit import CallLimit
from kindly.errors import Busy

pytestmark = pytest.mark.anyio


async def test_without_a_free_slot_a_call_is_refused_with_the_time_to_wait() -> None:
    limit = CallLimit(1, wait_s=0)
    async with limit.slot():
        with pytest.raises(Busy, match="busy: it runs 1 calls") as caught:
            async with limit.slot():
                pass
    assert caught.value.retry_after_s


async def test_a_slot_is_released_after_use_and_after_failure() -> None:
    limit = CallLimit(1, wait_s=0)
    with pytest.raises(ValueError, match="oops"):
        async with limit.slot():
            raise ValueError("oops")
    async with limit.slot():
        pass


async def test_a_waiting_call_gets_the_slot_that_becomes_free() -> None:
    limit = CallLimit(1, wait_s=5)
    order: list[str] = []

    async def second() -> None:
        async with limit.slot():
            order.append("second")

    with anyio.fail_after(120):
        async with anyio.create_task_group() as tasks, limit.slot():
            tasks.start_soon(second)
            await anyio.wait_all_tasks_blocked()
            order.append("first")
    assert order == ["first", "second"]


async def test_the_limit_is_full_while_every_slot_is_used() -> None:
    limit = CallLimit(max_calls=1)
    full = [limit.is_full]
    async with limit.slot():
        full.append(limit.is_full)
    full.append(limit.is_full)
    assert full == [False, True, False]


async def test_the_calls_that_run_are_counted() -> None:
    limit = CallLimit(3)
    async with limit.slot(), limit.slot():
        assert limit.running == 2
    assert limit.running == 0
