import anyio
import pytest

from kindly.concurrency.call_limit import CallLimit
from kindly.errors import Busy

pytestmark = pytest.mark.anyio


async def test_who_finds_no_room_is_told_to_come_back() -> None:
    room = CallLimit(1, patience_s=0)
    async with room.taken():
        with pytest.raises(Busy, match="busy with 1 calls") as caught:
            async with room.taken():
                pass
    assert caught.value.retry_after_s


async def test_a_place_is_given_back_after_use_and_after_failure() -> None:
    room = CallLimit(1, patience_s=0)
    with pytest.raises(ValueError, match="oops"):
        async with room.taken():
            raise ValueError("oops")
    async with room.taken():
        pass


async def test_who_waits_gets_the_place_that_becomes_free() -> None:
    room = CallLimit(1, patience_s=5)
    order: list[str] = []

    async def second() -> None:
        async with room.taken():
            order.append("second")

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks, room.taken():
            tasks.start_soon(second)
            await anyio.wait_all_tasks_blocked()
            order.append("first")
    assert order == ["first", "second"]


async def test_it_is_full_while_every_place_is_taken() -> None:
    room = CallLimit(calls=1)
    seen = [room.is_full]
    async with room.taken():
        seen.append(room.is_full)
    seen.append(room.is_full)
    assert seen == [False, True, False]
