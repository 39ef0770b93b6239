"""Splits, embeds and ranks pages in a process of its own, which runs only while there are pages."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeVar

import anyio

from kindly.concurrency.child_process import BROKEN_PIPE, ChildProcess, child_environment
from kindly.concurrency.pipe_frames import Message
from kindly.models import Passage
from kindly.read.indexing.index_protocol import (
    QueuedPage,
    decode_passages,
    decode_prepared,
    encode_question,
    encode_texts,
)
from kindly.read.store import PreparedPage

Value = TypeVar("Value")

PROGRAM = "kindly.read.indexing.index_process"
RANKS = "--ranks"
"""Its argument if it will rank pages: it loads what that needs at its start."""
TIMEOUT_S = 120.0
"""For one batch, which takes a fraction of a second; on a busy machine, starting the process may take many."""
RANK_TIMEOUT_S = 10.0
"""For one page that is ranked, while a caller waits."""
WARM_S = 5.0
"""How much longer a process is kept that was started ahead: the pages to rank have to be found and fetched first."""


class IndexingFailed(Exception):
    """The process took too long, needed too much memory, or crashed."""


class PageIndexer(Protocol):
    """Queued pages → pages as they are stored."""

    async def prepare(self, pages: Sequence[QueuedPage]) -> list[PreparedPage]:
        """The prepared pages, in the same order.

        Raises:
            IndexingFailed: at least one of them cannot be prepared.
        """
        ...

    async def rank(self, page: QueuedPage, question: str, limit: int) -> tuple[Passage, ...]:
        """The best passages of one page.

        Raises:
            IndexingFailed: the page cannot be ranked.
        """
        ...

    async def warm(self) -> None:
        """Load what the first page would wait for."""
        ...

    async def rest(self, unused_s: float = 0) -> bool:
        """Free what is needed only while there is work, if it was not used for so long; whether nothing is held."""
        ...


class ProcessIndexer:
    """A `PageIndexer` with one child process."""

    def __init__(
        self,
        chunk_tokens: int,
        environ: Mapping[str, str],
        *,
        program: str = PROGRAM,
        timeout_s: float = TIMEOUT_S,
        clock: Callable[[], float] = anyio.current_time,
    ) -> None:
        self._chunk_tokens = chunk_tokens
        self._environ = child_environment(environ)
        self._program = program
        self._timeout_s = timeout_s
        self._clock = clock
        self._lock = anyio.Lock()
        self._child: ChildProcess | None = None
        self._used_at_s = -math.inf

    async def prepare(self, pages: Sequence[QueuedPage]) -> list[PreparedPage]:
        request = encode_texts(pages, self._chunk_tokens)
        return await self._ask(
            request, lambda answer: decode_prepared(answer, pages), self._timeout_s
        )

    async def rank(self, page: QueuedPage, question: str, limit: int) -> tuple[Passage, ...]:
        request = encode_question(page, self._chunk_tokens, question, limit)
        return await self._ask(request, decode_passages, min(self._timeout_s, RANK_TIMEOUT_S))

    async def warm(self) -> None:
        """Start the process, if it does not run; it loads what ranking needs without being waited for."""
        if not self._lock.locked():
            async with self._lock:
                await self._started(RANKS)
                self._used_at_s = self._clock() + WARM_S

    async def _ask(
        self, request: Message, decode: Callable[[Message], Value], timeout_s: float
    ) -> Value:
        """One exchange. A caller that gives up does not interrupt it, because the process would have to be replaced."""
        async with self._lock:
            usable = False
            try:
                with anyio.fail_after(timeout_s, shield=True):
                    child = await self._started()
                    value = decode(await child.ask(request))
                usable = not child.outgrown
            except (TimeoutError, *BROKEN_PIPE) as error:
                raise IndexingFailed from error
            finally:
                self._used_at_s = self._clock()
                if not usable:
                    await self._end()
            return value

    async def rest(self, unused_s: float = 0) -> bool:
        """End the process unless it was used within this time; the next page starts another."""
        if unused_s and (self._lock.locked() or self._clock() - self._used_at_s < unused_s):
            return False
        async with self._lock:
            await self._end()
            return True

    async def _started(self, *arguments: str) -> ChildProcess:
        self._used_at_s = self._clock()
        if self._child is None or not self._child.alive:
            await self._end()
            self._child = await ChildProcess.start(self._program, *arguments, environ=self._environ)
        return self._child

    async def _end(self) -> None:
        if self._child is not None:
            child, self._child = self._child, None
            await child.aclose()
