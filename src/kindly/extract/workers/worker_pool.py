"""Process pool for extraction: a worker that hangs, grows or crashes is killed, and only its page fails.

Workers start on demand, are reused, do not get the server's environment, and end with the pool's context.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self, cast

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream, Process
from anyio.streams.buffered import BufferedByteReceiveStream

from kindly.budget import Deadline
from kindly.concurrency.blas import THREAD_VARIABLES
from kindly.errors import ExtractionFailed, ExtractionKilled, ExtractionLate
from kindly.extract import ExtractOptions
from kindly.extract.workers import worker_protocol
from kindly.models import Document, Page

DEFAULT_MEMORY_BYTES = 100 * 1024 * 1024
"""Memory limit of a worker beyond what the parser itself needs; an ordinary page takes a tenth of it."""
DEFAULT_TIMEOUT_S = 20.0
PAGES_PER_PROCESS = 500
MAX_PROCESSES = 4
PROGRAM = "kindly.extract.workers.worker_process"
KEPT_VARIABLES = (
    "PATH",
    "PYTHONPATH",
    "PYTHONHOME",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "SYSTEMROOT",
    "TMPDIR",
    "TEMP",
    "TMP",
)
"""The variables that Python itself needs; no key or setting of the server reaches a worker."""
TIMED_OUT = "Reading the page took too long and was stopped."
EXIT_S = 5.0
"""How long a worker that closed its pipe may take to end."""
FROM_OUTSIDE = frozenset({"SIGKILL", "SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"})
"""Signals that a parser does not send to itself: an operator or the system is short of memory or stops processes."""


class WorkerPool:
    """A pool of worker processes with a semaphore, as an async context manager."""

    def __init__(
        self,
        *,
        environ: Mapping[str, str],
        size: int | None = None,
        memory_bytes: int = DEFAULT_MEMORY_BYTES,
        timeout_s: float = DEFAULT_TIMEOUT_S,
        pages_per_process: int = PAGES_PER_PROCESS,
        program: str = PROGRAM,
    ) -> None:
        self._environ = worker_environment(environ)
        self._memory_bytes = memory_bytes
        self._timeout_s = timeout_s
        self._pages_per_process = pages_per_process
        self._program = program
        self._slots = anyio.Semaphore(size or min(MAX_PROCESSES, os.cpu_count() or 1))
        self._starting = anyio.Lock()
        self._idle: list[_Worker] = []
        self._all: set[_Worker] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for worker in self._all:
            worker.kill()
        for worker in list(self._all):
            await self._end(worker)

    async def warm(self) -> None:
        """Start one worker if there is none."""
        async with self._starting:
            if not self._all:
                self._idle.append(await self._start())

    async def extract(self, page: Page, options: ExtractOptions, deadline: Deadline) -> Document:
        """Extract a page's document in a worker process.

        Raises:
            ExtractionFailed: it took too long, needed too much memory, or crashed the process.
            ExtractionKilled: something else killed the process.
            ExtractionLate: no worker was free before the deadline.
            KindlyError: any error that the extraction itself raises.
        """
        started = False
        with anyio.move_on_after(deadline.remaining_s()):
            async with self._slots:
                started = True
                return await self._extract(page, options, deadline.within(self._timeout_s))
        if started:
            raise ExtractionFailed(TIMED_OUT, url=page.url)
        raise ExtractionLate(
            "There was no time left to read the page: too many pages were being read.",
            url=page.url,
        )

    async def _extract(self, page: Page, options: ExtractOptions, deadline: Deadline) -> Document:
        worker = await self._acquire()
        reusable = False
        try:
            with anyio.fail_after(deadline.remaining_s()):
                request = worker_protocol.encode_request(page, options, self._timeout_s)
                answer = await worker.send(request)
            reusable = worker.pages < self._pages_per_process and not worker.outgrown
            return worker_protocol.decode_answer(answer)
        except TimeoutError as error:
            raise ExtractionFailed(TIMED_OUT, url=page.url) from error
        except (
            anyio.BrokenResourceError,
            anyio.IncompleteRead,
            anyio.EndOfStream,
            worker_protocol.BrokenWorkerPipe,
        ) as error:
            reusable = False
            raise _crash(await worker.ended_by(), page.url) from error
        finally:
            if reusable:
                self._idle.append(worker)
            else:
                await self._end(worker)

    async def _acquire(self) -> "_Worker":
        async with self._starting:
            while self._idle:
                worker = self._idle.pop()
                if worker.alive:
                    return worker
                await self._end(worker)
            return await self._start()

    async def _start(self) -> "_Worker":
        with anyio.CancelScope(shield=True):
            process = await anyio.open_process(
                [sys.executable, "-P", "-m", self._program, str(self._memory_bytes)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=self._environ,
                start_new_session=True,
            )
        worker = _Worker(process)
        self._all.add(worker)
        return worker

    async def _end(self, worker: "_Worker") -> None:
        with anyio.CancelScope(shield=True):
            await worker.aclose()
        self._all.discard(worker)


class _Worker:
    """One worker process and its two pipes."""

    def __init__(self, process: Process) -> None:
        self.pages = 0
        self.outgrown = False
        """Whether its last answer reported that it needs too much memory to be reused."""
        self._killed = False
        self._process = process
        self._requests = cast("ByteSendStream", process.stdin)
        self._answers = BufferedByteReceiveStream(cast("ByteReceiveStream", process.stdout))

    @property
    def alive(self) -> bool:
        return self._process.returncode is None

    async def send(self, message: worker_protocol.Message) -> worker_protocol.Message:
        self.pages += 1
        for piece in worker_protocol.encode_message(message):
            await self._requests.send(piece)
        prefix = await self._answers.receive_exactly(worker_protocol.PREFIX.size)
        header, body, self.outgrown = worker_protocol.decode_prefix(prefix)
        return await self._answers.receive_exactly(header), await self._answers.receive_exactly(
            body
        )

    def kill(self) -> None:
        """Send SIGKILL, once.

        By process id, because `Process.kill` would reap a process that has just died before the event loop does.
        """
        if self.alive and not self._killed:
            self._killed = True
            if sys.platform == "win32":
                self._process.kill()
            else:
                with suppress(ProcessLookupError):
                    os.kill(self._process.pid, signal.SIGKILL)

    async def ended_by(self) -> str:
        """The name of the signal that ended the process, after its pipe closed; empty if none did."""
        with anyio.move_on_after(EXIT_S, shield=True):
            await self._process.wait()
        code = self._process.returncode
        return signal.Signals(-code).name if code is not None and code < 0 else ""

    async def aclose(self) -> None:
        self.kill()
        await self._process.aclose()


def _crash(ended_by: str, url: str) -> ExtractionFailed:
    if ended_by in FROM_OUTSIDE:
        return ExtractionKilled("The parser was killed while it read the page.", url=url)
    return ExtractionFailed("The parser failed on the page, which may be too large.", url=url)


def worker_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of a worker: the variables that Python needs, and the path of this package."""
    kept = {name: environ[name] for name in KEPT_VARIABLES if name in environ}
    package = str(Path(__file__).resolve().parents[3])
    kept |= dict.fromkeys(THREAD_VARIABLES, "1")
    kept["PYTHONPATH"] = os.pathsep.join(filter(None, (package, kept.get("PYTHONPATH"))))
    return kept
