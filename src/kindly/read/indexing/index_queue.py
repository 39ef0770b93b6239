"""The queue of pages that were answered and are not yet stored, bounded by bytes.

A page is in the journal before its answer goes out, so a crash loses nothing: the next process takes what is left.
Pages are stored when no more have come for a moment, so that this does not slow down the answers.
"""

import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import field

import anyio
import anyio.to_thread

from kindly.concurrency.process_limits import give_memory_back
from kindly.errors import ReadError
from kindly.frozen import frozen
from kindly.read.indexing.index_protocol import QueuedPage, from_record, to_record
from kindly.storage.journal import Journal, JournalRecord

Index = Callable[[Sequence[QueuedPage]], Awaitable[bool]]
"""Stores pages; False if the store cannot be used now."""


IsBusy = Callable[[], bool]
"""Whether calls run now."""
Rest = Callable[[float], Awaitable[bool]]
"""Frees what indexing needs if it was not used for so many seconds; whether nothing is held."""


async def nothing_to_free(unused_s: float) -> bool:
    """A `Rest` where nothing is held."""
    return True


def never_busy() -> bool:
    """An `IsBusy` where calls are not counted."""
    return False


@frozen
class QueueLimits:
    """How much is queued, and for how long."""

    max_bytes: int = 12_000_000
    """Of text. If there is more, a caller waits until some is stored."""
    batch_bytes: int = 100_000
    """Of text that is stored in one transaction. A page that is to be ranked waits for the end of a batch."""
    early_bytes: int = 4_000_000
    """From here on, nothing is waited for."""
    quiet_s: float = 3.0
    """Pages are stored when no other has come for this long and no call runs,"""
    delay_s: float = 120.0
    """or when the first one has waited for this long."""
    rest_s: float = 1.5
    """What indexing needs is freed when it was not used for this long."""
    retry_s: float = 15.0
    """Between two attempts while the store cannot be used."""
    left_pages: int = 0
    """Closing leaves up to so many pages,"""
    left_bytes: int = 1_000_000
    """of so much text together, in the journal to the next process."""


@frozen
class _Queued:
    page: QueuedPage
    record: JournalRecord | None = field(repr=False)


class IndexQueue:
    """Queues pages. Whoever needs a queued page stores the queue's pages itself (`flush`); else a task does (`run`)."""

    def __init__(
        self,
        index: Index,
        journal: Journal | None = None,
        limits: QueueLimits = QueueLimits(),  # noqa: B008 - frozen
        rest: Rest = nothing_to_free,
        is_busy: IsBusy = never_busy,
    ) -> None:
        self._is_busy = is_busy
        self._index = index
        self._journal = journal
        self._limits = limits
        self._rest = rest
        self._pending: list[_Queued] = []
        self._done = 0
        """The number of pages that left the queue, which keeps their order."""
        self._flushing = anyio.Lock()
        self._added = anyio.Event()
        self._is_failing = False
        self._has_looked_again = False
        self.held_bytes = 0
        """Of text in the queue."""

    def __contains__(self, url: str) -> bool:
        return any(one.page.entry.key == url for one in self._pending)

    def __len__(self) -> int:
        return len(self._pending)

    async def add(self, page: QueuedPage) -> bool:
        """Queue a page; wait while the queue is full. False if it is full and the store cannot be used.

        Raises:
            OSError: the journal cannot be written.
        """
        while self._pending and self.held_bytes + page.size > self._limits.max_bytes:
            if self._is_failing or not await self.flush():
                return False
        record = self._journal.append(to_record(page)) if self._journal else None
        self._hold(page, record)
        return True

    async def take_over(self) -> None:
        """Queue the pages that other processes left."""
        if self._journal is None:
            return
        for record in await anyio.to_thread.run_sync(self._journal.left):
            page = from_record(record.data)
            if page is None:
                self._journal.done(record)
            else:
                self._hold(page, record)

    async def flush(self, url: str | None = None) -> bool:
        """Store the pages that are queued now, or as many as it takes to store this one; False if the store fails.

        Callers that wait for each other share the work: what one has stored, the next need not.
        """
        places = [
            place
            for place, one in enumerate(self._pending)
            if url is None or one.page.entry.key == url
        ]
        goal = self._done + places[-1] + 1 if places else 0
        async with self._flushing:
            while self._done < goal:
                with anyio.CancelScope(
                    shield=True
                ):  # a caller that gives up does not spoil a batch
                    if not await self._stored(self._next_batch(goal - self._done)):
                        return False
            return True

    async def run(self) -> None:
        """Store pages as they come, without end."""
        while True:
            await self._wait_for_pages()
            is_quiet = await self._wait_for_quiet()
            if not await (self._store_while_quiet() if is_quiet else self.flush()):
                await anyio.sleep(self._limits.retry_s)

    async def aclose(self, timeout_s: float) -> None:
        """Store what is queued, unless it is little or takes long; the rest stays in the journal."""
        with anyio.move_on_after(timeout_s, shield=True):
            if self._journal is not None and not self._may_be_left:
                await self.flush()
        await self._rest(0)
        if self._journal is not None:
            self._journal.close()

    @property
    def _may_be_left(self) -> bool:
        few = len(self._pending) <= self._limits.left_pages
        return few and self.held_bytes <= self._limits.left_bytes

    def _hold(self, page: QueuedPage, record: JournalRecord | None) -> None:
        self._pending.append(_Queued(page, record))
        self.held_bytes += page.size
        self._added.set()

    def _next_batch(self, most: int) -> list[_Queued]:
        """The oldest pages, up to the size of a batch, but at least one."""
        batch: list[_Queued] = []
        size = 0
        for one in self._pending[:most]:
            size += one.page.size
            if batch and size > self._limits.batch_bytes:
                break
            batch.append(one)
        return batch

    async def _stored(self, batch: Sequence[_Queued]) -> bool:
        try:
            self._is_failing = not await self._index([one.page for one in batch])
        except ReadError:
            self._is_failing = True
        if self._is_failing:
            return False
        del self._pending[: len(batch)]
        self._done += len(batch)
        for one in batch:
            self.held_bytes -= one.page.size
            if self._journal is not None and one.record is not None:
                self._journal.done(one.record)
        return True

    async def _wait_for_pages(self) -> None:
        is_at_rest = False
        while not self._pending:
            self._added = anyio.Event()
            with anyio.move_on_after(math.inf if is_at_rest else self._limits.rest_s):
                await self._added.wait()
            await self._look_again()
            is_at_rest = not self._pending and await self._rest(self._limits.rest_s)
            if is_at_rest:
                await anyio.to_thread.run_sync(give_memory_back)

    async def _look_again(self) -> None:
        """Take over what a process left whose end came just before: a child may have held its files for a moment."""
        if not self._has_looked_again:
            self._has_looked_again = True
            await self.take_over()

    async def _store_while_quiet(self) -> bool:
        """Store what is queued now, or what is stored before a call begins; False if the store fails."""
        goal = self._done + len(self._pending)
        while self._done < goal and not self._is_busy():
            async with self._flushing:
                left = goal - self._done
                with anyio.CancelScope(shield=True):
                    if left > 0 and not await self._stored(self._next_batch(left)):
                        return False
        return True

    async def _wait_for_quiet(self) -> bool:
        """Wait for the moment to store pages; whether that is because no call runs."""
        added_at = anyio.current_time()
        until = added_at + self._limits.delay_s
        while self.held_bytes < self._limits.early_bytes and anyio.current_time() < until:
            self._added = anyio.Event()
            with anyio.move_on_after(min(self._limits.quiet_s, self._limits.rest_s)):
                await self._added.wait()
                added_at = anyio.current_time()
            if anyio.current_time() >= added_at + self._limits.quiet_s and not self._is_busy():
                return True
            await self._rest(self._limits.rest_s)
        return False
