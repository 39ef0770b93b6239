"""Process pool for extraction: a worker that hangs, grows or crashes is killed, and only its page fails.

Workers start on demand, are reused, do not get the server's environment, and end with the pool's context.
"""

import os
from collections.abc import Mapping
from dataclasses import replace
from types import TracebackType
from typing import Self

import anyio

from kindly.budget import Deadline
from kindly.concurrency.background_tasks import background_tasks
from kindly.concurrency.child_process import BROKEN_PIPE, ChildProcess, child_environment
from kindly.errors import ExtractionFailed, ExtractionKilled, ExtractionLate
from kindly.extract import ExtractOptions
from kindly.extract.workers import worker_protocol
from kindly.frozen import frozen
from kindly.models import Document, Page

MEMORY_BYTES = 100 * 1024 * 1024
"""Memory limit of a worker beyond what the parser itself needs; an ordinary page takes a tenth of it."""
MAX_PROCESSES = 4
PROGRAM = "kindly.extract.workers.worker_process"
TIMED_OUT = "Reading the page took too long and was stopped."
FROM_OUTSIDE = frozenset({"SIGKILL", "SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"})
"""Signals that a parser does not send to itself: an operator or the system is short of memory or stops processes."""


@frozen
class WorkerLimits:
    """How long one page may take, and how many pages a process reads."""

    timeout_s: float = 20.0
    left_s: float = 5.0
    """How long a worker may go on with a page whose caller has left. To replace it would take longer than most
    pages do, and under load no worker would ever be ready before its page's time is over.
    """
    pages_per_process: int = 500


class _Reading:
    """One page in a worker."""

    def __init__(self, page: Page, options: ExtractOptions, until: float) -> None:
        self.page = page
        self.options = options
        self.scope = anyio.CancelScope(deadline=until)
        self.done = anyio.Event()
        self.document: Document | None = None
        self.error: Exception | None = None

    def end_by(self, moment: float) -> None:
        """Stop it then, if it still runs."""
        self.scope.deadline = min(self.scope.deadline, moment)

    def result(self) -> Document:
        """The document. Raises the error instead, if there was one."""
        if self.error is not None:
            raise self.error
        if self.document is None:
            raise ExtractionFailed(TIMED_OUT, url=self.page.url)
        return self.document


class WorkerPool:
    """A pool of worker processes with a semaphore, as an async context manager."""

    def __init__(
        self,
        *,
        environ: Mapping[str, str],
        size: int | None = None,
        limits: WorkerLimits = WorkerLimits(),  # noqa: B008 - frozen
        program: str = PROGRAM,
        announced: int = 0,
    ) -> None:
        """`announced`: how many pages are known to come, as if `warm` had been called for them."""
        self._environ = child_environment(environ)
        self._limits = limits
        self._program = program
        self._size = size or min(MAX_PROCESSES, os.cpu_count() or 1)
        self._slots = anyio.Semaphore(self._size)
        self._starting = anyio.Lock()
        self._idle: list[ChildProcess] = []
        self._all: set[ChildProcess] = set()
        self._announced = announced
        self._background = background_tasks()

    async def __aenter__(self) -> Self:
        self._tasks = await self._background.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for worker in self._all:
            worker.kill()
        await self._background.__aexit__(kind, error, trace)
        for worker in list(self._all):
            await self._end(worker)

    async def warm(self) -> None:
        """Announce a page before it is downloaded: workers load meanwhile, as many as pages were announced."""
        async with self._starting:
            self._announced += 1
            while len(self._all) < min(self._size, self._announced):
                self._idle.append(await self._start())

    async def extract(self, page: Page, options: ExtractOptions, deadline: Deadline) -> Document:
        """Extract a page's document in a worker process.

        Raises:
            ExtractionFailed: it took too long, needed too much memory, or crashed the process.
            ExtractionKilled: something else killed the process.
            ExtractionLate: no worker was free before the deadline.
            KindlyError: any error that the extraction itself raises.
        """
        reading = None
        with anyio.move_on_after(deadline.remaining_s()):
            await self._slots.acquire()
            seconds = min(self._limits.timeout_s, deadline.remaining_s())
            reading = _Reading(
                page,
                replace(options, seconds=seconds),
                anyio.current_time() + self._limits.timeout_s,
            )
            self._tasks.start_soon(self._read, reading)
            try:
                await reading.done.wait()
            finally:
                reading.end_by(anyio.current_time() + self._limits.left_s)
            return reading.result()
        if reading is not None:
            raise ExtractionFailed(TIMED_OUT, url=page.url)
        raise ExtractionLate(
            "There was no time left to read the page: too many pages were being read.",
            url=page.url,
        )

    async def _read(self, reading: "_Reading") -> None:
        """Extract a page in its slot. The caller may leave meanwhile: the worker is reused if it ends soon."""
        try:
            with reading.scope:
                reading.document = await self._extract(reading.page, reading.options)
        except Exception as error:  # noqa: BLE001 - the caller raises it
            reading.error = error
        finally:
            self._slots.release()
            reading.done.set()

    async def _extract(self, page: Page, options: ExtractOptions) -> Document:
        worker = await self._acquire()
        reusable = False
        try:
            request = worker_protocol.encode_request(page, options, self._limits.timeout_s)
            answer = await worker.ask(request)
            reusable = worker.asked < self._limits.pages_per_process and not worker.outgrown
            return worker_protocol.decode_answer(answer)
        except BROKEN_PIPE as error:
            reusable = False
            raise _crash(await worker.ended_by(), page.url) from error
        finally:
            if reusable:
                self._idle.append(worker)
            else:
                await self._end(worker)

    async def _acquire(self) -> ChildProcess:
        async with self._starting:
            while self._idle:
                worker = self._idle.pop()
                if worker.alive:
                    return worker
                await self._end(worker)
            return await self._start()

    async def _start(self) -> ChildProcess:
        worker = await ChildProcess.start(self._program, str(MEMORY_BYTES), environ=self._environ)
        self._all.add(worker)
        return worker

    async def _end(self, worker: ChildProcess) -> None:
        await worker.aclose()
        self._all.discard(worker)


def _crash(ended_by: str, url: str) -> ExtractionFailed:
    if ended_by in FROM_OUTSIDE:
        return ExtractionKilled("The parser was killed while it read the page.", url=url)
    return ExtractionFailed("The parser failed on the page, which may be too large.", url=url)
