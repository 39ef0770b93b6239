"""Locks per key."""

import anyio
import pytest

from kindly.concurrency.key_locks import KeyLocks

pytestmark = pytest.mark.anyio


async def running_together(*keys: str) -> list[str]:
    """Which of several tasks, each with its key's lock, run at the same time."""
    locks, running, let_go = KeyLocks(), list[str](), anyio.Event()

    async def work(key: str) -> None:
        async with locks(key):
            running.append(key)
            await let_go.wait()

    with anyio.fail_after(120):
        async with anyio.create_task_group() as tasks:
            for key in keys:
                tasks.start_soon(work, key)
            await anyio.wait_all_tasks_blocked()
            together = list(running)
            let_go.set()
    assert len(running) == len(keys)
    return together


async def test_one_key_is_locked_by_one_task_at_a_time() -> None:
    assert await running_together("a", "a", "a") == ["a"]


async def test_different_keys_do_not_wait_for_each_other() -> None:
    assert sorted(await running_together("a", "b", "a")) == ["a", "b"]


async def test_a_lock_is_released_after_a_failure() -> None:
    locks = KeyLocks()
    with pytest.raises(ValueError, match="oops"):
        async with locks("a"):
            raise ValueError("oops")
    with anyio.fail_after(120):
        async with locks("a"):
            pass
