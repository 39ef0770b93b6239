"""Work that several callers share."""

import anyio
import anyio.lowlevel
import pytest

from kindly.concurrency.single_flight import SingleFlight
from kindly.errors import KindlyError

pytestmark = pytest.mark.anyio


class Work:
    """Counts how often it was started; ends when it is released."""

    def __init__(self, error: Exception | None = None) -> None:
        self.started = 0
        self.error = error
        self.let_go = anyio.Event()

    async def __call__(self) -> int:
        self.started += 1
        await self.let_go.wait()
        if self.error:
            raise self.error
        return self.started


async def test_concurrent_callers_share_one_run() -> None:
    flights: SingleFlight[int] = SingleFlight()
    work, values = Work(), list[int]()

    async def call(key: str) -> None:
        values.append(await flights(key, work))

    with anyio.fail_after(120):
        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(call, "a")
            await anyio.wait_all_tasks_blocked()
            work.let_go.set()
        await call("a")

    assert values == [1, 1, 1, 1, 1, 2]


async def test_a_failure_is_shared_too() -> None:
    flights: SingleFlight[int] = SingleFlight()
    work, failed = Work(KindlyError("no")), list[KindlyError]()

    async def call() -> None:
        with pytest.raises(KindlyError) as caught:
            await flights("a", work)
        failed.append(caught.value)

    with anyio.fail_after(120):
        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(call)
            await anyio.wait_all_tasks_blocked()
            work.let_go.set()

    assert len(failed) == 3
    assert work.started == 1


async def test_after_cancelling_the_first_caller_the_next_one_runs_the_work() -> None:
    flights: SingleFlight[int] = SingleFlight()
    work, values = Work(), list[int]()
    first = anyio.CancelScope()

    async def leader() -> None:
        with first:
            await flights("a", work)

    async def follower() -> None:
        values.append(await flights("a", work))

    with anyio.fail_after(120):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(leader)
            await anyio.wait_all_tasks_blocked()
            tasks.start_soon(follower)
            tasks.start_soon(follower)
            await anyio.wait_all_tasks_blocked()
            first.cancel()
            await anyio.wait_all_tasks_blocked()
            work.let_go.set()

    assert values == [2, 2]
