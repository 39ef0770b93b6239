import anyio
import pytest

from kindly.concurrency.background_tasks import background_tasks
from kindly.errors import InputError

pytestmark = pytest.mark.anyio


async def test_tasks_are_cancelled_when_the_block_ends() -> None:
    ended = anyio.Event()

    async def wait() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()

    with anyio.fail_after(120):
        async with background_tasks() as tasks:
            tasks.start_soon(wait)
            await anyio.wait_all_tasks_blocked()

    assert ended.is_set()


async def test_exception_of_the_block_is_raised_without_a_group() -> None:
    error = InputError("wrong", field="url")

    with pytest.raises(InputError) as caught:
        async with background_tasks():
            raise error

    assert caught.value is error


async def with_failing_task() -> None:
    async def fail() -> None:
        raise ValueError("failed")

    async with background_tasks() as tasks:
        tasks.start_soon(fail)
        await anyio.sleep_forever()


async def test_exception_of_a_task_ends_the_block() -> None:
    with pytest.raises(ValueError, match="failed"), anyio.fail_after(120):
        await with_failing_task()


async def test_cancellation_of_the_block_passes_through() -> None:
    with anyio.CancelScope() as scope:
        async with background_tasks() as tasks:
            tasks.start_soon(anyio.sleep_forever)
            scope.cancel()
            await anyio.sleep_forever()

    assert scope.cancelled_caught
