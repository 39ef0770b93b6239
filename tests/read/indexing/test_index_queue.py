"""Pages are queued up to a number of bytes, stored in batches, and kept in the journal until then."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import pytest

from kindly.errors import StoreUnavailable
from kindly.read.indexing.index_protocol import QueuedPage
from kindly.read.indexing.index_queue import IndexQueue, QueueLimits
from kindly.storage.journal import Journal
from tests.support.queued_pages import queued

pytestmark = pytest.mark.anyio

AT_ONCE = QueueLimits(quiet_s=0, delay_s=0, rest_s=0)


@dataclass
class Shelf:
    """What the queue stored, as titles; `closed` refuses pages, `broken` raises."""

    batches: list[list[str]] = field(default_factory=list)
    closed: bool = False
    broken: bool = False
    rests: int = 0
    grown: anyio.Event = field(default_factory=anyio.Event)

    async def index(self, pages: Sequence[QueuedPage]) -> bool:
        if self.broken:
            raise StoreUnavailable("The disk is full.")
        if self.closed:
            return False
        self.batches.append([page.entry.title for page in pages])
        self.grown.set()
        return True

    async def rest(self, unused_s: float) -> bool:
        self.rests += 1
        self.grown.set()
        return True


def files(folder: Path) -> list[Path]:
    return list(folder.iterdir())


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


async def test_pages_are_stored_in_their_order_and_in_batches_of_bounded_size(shelf: Shelf) -> None:
    queue = IndexQueue(shelf.index, limits=QueueLimits(batch_bytes=250))
    for name in "abcde":
        await queue.add(queued(name, name * 100))
    await queue.add(queued("large", "x" * 1000))
    assert (len(queue), queue.held_bytes) == (6, 1500)
    assert await queue.flush()
    assert shelf.batches == [["a", "b"], ["c", "d"], ["e"], ["large"]]
    assert (len(queue), queue.held_bytes) == (0, 0)


async def test_a_full_queue_stores_pages_before_it_takes_more(shelf: Shelf) -> None:
    queue = IndexQueue(shelf.index, limits=QueueLimits(max_bytes=300))
    for name in "abcdefgh":
        assert await queue.add(queued(name, name * 100))
        assert queue.held_bytes <= 300
    assert shelf.batches == [["a", "b", "c"], ["d", "e", "f"]]


async def test_a_page_larger_than_the_queue_is_queued_alone(shelf: Shelf) -> None:
    queue = IndexQueue(shelf.index, limits=QueueLimits(max_bytes=10))
    await queue.add(queued("small", "x"))
    assert await queue.add(queued("large", "x" * 100))
    assert shelf.batches == [["small"]]
    assert len(queue) == 1


@pytest.mark.parametrize("trouble", ["closed", "broken"])
async def test_while_the_store_fails_a_full_queue_refuses_pages_and_loses_none(
    shelf: Shelf, trouble: str
) -> None:
    queue = IndexQueue(shelf.index, limits=QueueLimits(max_bytes=200))
    setattr(shelf, trouble, True)
    assert [await queue.add(queued(name, name * 100)) for name in "abc"] == [True, True, False]
    assert not await queue.flush()
    setattr(shelf, trouble, False)
    assert await queue.flush()
    assert shelf.batches == [["a", "b"]]


async def test_the_queue_knows_which_pages_it_holds(shelf: Shelf) -> None:
    queue = IndexQueue(shelf.index)
    await queue.add(queued("tea"))
    assert queued("tea").entry.url in queue
    assert queued("wine").entry.url not in queue


async def test_pages_that_are_not_stored_are_left_for_the_next_process(
    shelf: Shelf, tmp_path: Path
) -> None:
    shelf.closed = True
    first = IndexQueue(shelf.index, Journal(tmp_path))
    await first.add(queued("tea"))
    await first.add(queued("wine"))
    await first.aclose(60)
    shelf.closed = False
    second = IndexQueue(shelf.index, Journal(tmp_path))
    await second.take_over()
    assert await second.flush()
    assert shelf.batches == [["tea", "wine"]]
    await second.aclose(60)
    third = IndexQueue(shelf.index, Journal(tmp_path))
    await third.take_over()
    assert len(third) == 0


async def test_pages_of_a_process_that_ends_a_moment_later_are_taken_over_too(
    shelf: Shelf, tmp_path: Path
) -> None:
    shelf.closed = True
    first = IndexQueue(shelf.index, Journal(tmp_path))
    await first.add(queued("tea"))
    second = IndexQueue(shelf.index, Journal(tmp_path), QueueLimits(rest_s=0.01, quiet_s=0.01))
    await second.take_over()
    assert len(second) == 0
    await first.aclose(60)
    shelf.closed = False
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(second.run)
            await shelf.grown.wait()
            tasks.cancel_scope.cancel()
    assert shelf.batches == [["tea"]]


async def test_closing_stores_what_is_queued(shelf: Shelf, tmp_path: Path) -> None:
    queue = IndexQueue(shelf.index, Journal(tmp_path), rest=shelf.rest)
    await queue.add(queued("tea"))
    await queue.aclose(60)
    assert shelf.batches == [["tea"]]
    assert shelf.rests == 1
    assert files(tmp_path) == []


@pytest.mark.parametrize(
    ("pages", "size", "left"), [(2, 10, 2), (3, 10, 0), (2, 600, 0)], ids=["few", "many", "large"]
)
async def test_closing_may_leave_a_few_small_pages_to_the_next_process(
    shelf: Shelf, tmp_path: Path, pages: int, size: int, left: int
) -> None:
    limits = QueueLimits(left_pages=2, left_bytes=1000)
    queue = IndexQueue(shelf.index, Journal(tmp_path), limits)
    for number in range(pages):
        await queue.add(queued(f"page {number}", "x" * size))
    await queue.aclose(60)
    following = IndexQueue(shelf.index, Journal(tmp_path))
    await following.take_over()
    assert len(following) == left
    assert sum(map(len, shelf.batches)) == pages - left


async def test_a_record_of_another_version_is_dropped(shelf: Shelf, tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.append(b"unknown")
    journal.close()
    queue = IndexQueue(shelf.index, Journal(tmp_path))
    await queue.take_over()
    assert len(queue) == 0
    assert files(tmp_path) == []


async def test_a_journal_that_cannot_be_written_is_an_error(shelf: Shelf, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    queue = IndexQueue(shelf.index, Journal(tmp_path / "file"))
    with pytest.raises(OSError, match="file"):
        await queue.add(queued("tea"))
    assert len(queue) == 0


async def test_a_task_stores_pages_as_they_come_and_rests_between(shelf: Shelf) -> None:
    queue = IndexQueue(shelf.index, limits=AT_ONCE, rest=shelf.rest)
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(queue.run)
            for number, name in enumerate("abc", 1):
                while shelf.rests < number:
                    shelf.grown = anyio.Event()
                    await shelf.grown.wait()
                await queue.add(queued(name))
                while len(shelf.batches) < number:
                    shelf.grown = anyio.Event()
                    await shelf.grown.wait()
            tasks.cancel_scope.cancel()
    assert shelf.batches == [["a"], ["b"], ["c"]]


async def test_pages_that_come_together_are_stored_together(shelf: Shelf) -> None:
    queue = IndexQueue(shelf.index, limits=QueueLimits(quiet_s=0.05))
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(queue.run)
            for name in "abc":
                await queue.add(queued(name))
            await shelf.grown.wait()
            tasks.cancel_scope.cancel()
    assert shelf.batches == [["a", "b", "c"]]


async def test_callers_that_wait_for_the_same_pages_store_them_once(shelf: Shelf) -> None:
    queue = IndexQueue(shelf.index)
    for name in "abc":
        await queue.add(queued(name))
    async with anyio.create_task_group() as tasks:
        for _ in range(5):
            tasks.start_soon(queue.flush)
    assert shelf.batches == [["a", "b", "c"]]


async def test_a_caller_waits_for_its_page_and_those_before_it_only(shelf: Shelf) -> None:
    queue = IndexQueue(shelf.index)
    for name in "abc":
        await queue.add(queued(name))
    assert await queue.flush(queued("b").entry.url)
    assert shelf.batches == [["a", "b"]]
    assert await queue.flush(queued("unknown").entry.url)
    assert len(queue) == 1


async def test_a_caller_that_gives_up_does_not_spoil_a_batch(shelf: Shelf) -> None:
    started, finish = anyio.Event(), anyio.Event()

    async def slow(pages: Sequence[QueuedPage]) -> bool:
        started.set()
        await finish.wait()
        return await shelf.index(pages)

    queue = IndexQueue(slow)
    await queue.add(queued("tea"))
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(queue.flush)
            await started.wait()
            tasks.cancel_scope.cancel()
            finish.set()
    assert shelf.batches == [["tea"]]
    assert len(queue) == 0


async def test_pages_wait_while_calls_run(shelf: Shelf) -> None:
    looks = iter([True, True, False, False])
    queue = IndexQueue(
        shelf.index, limits=QueueLimits(quiet_s=0), is_busy=lambda: next(looks, False)
    )
    await queue.add(queued("tea"))
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(queue.run)
            await shelf.grown.wait()
            tasks.cancel_scope.cancel()
    assert (shelf.batches, list(looks)) == ([["tea"]], [])


async def test_a_call_that_begins_stops_the_storing_after_a_batch(shelf: Shelf) -> None:
    queue = IndexQueue(
        shelf.index,
        limits=QueueLimits(quiet_s=0, batch_bytes=1),
        is_busy=lambda: len(shelf.batches) == 1,
    )
    for name in "abc":
        await queue.add(queued(name, "x"))
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(queue.run)
            await shelf.grown.wait()
            await anyio.wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()
    assert shelf.batches == [["a"]]
    assert len(queue) == 2


async def test_calls_without_end_do_not_keep_pages_waiting_for_ever(shelf: Shelf) -> None:
    limits = QueueLimits(quiet_s=0.01, delay_s=0.05, batch_bytes=1)
    queue = IndexQueue(shelf.index, limits=limits, is_busy=lambda: True)
    for name in "ab":
        await queue.add(queued(name, "x"))
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(queue.run)
            while len(shelf.batches) < 2:
                shelf.grown = anyio.Event()
                await shelf.grown.wait()
            tasks.cancel_scope.cancel()
    assert shelf.batches == [["a"], ["b"]]
