"""The server's side of a browser worker: a process with its pipes, its temporary folder and its child processes.

Starts one program, sends it jobs and returns their answers. After `aclose`, the process and all its descendants have
ended; if this process dies, they end by themselves, because their pipes close.
"""

import os
import shutil
import signal
import site
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import anyio
import anyio.to_thread
from anyio.abc import ByteReceiveStream, ByteSendStream, Process, TaskGroup
from anyio.streams.buffered import BufferedByteReceiveStream

from kindly.fetch.browser import driver_protocol

MAX_LINE_BYTES = 64 * 1024 * 1024
CLOSING_S = 5.0
CANCEL_S = 1.0
MAX_ROOT_CHARS = 40
"""Chromium creates sockets below its folder, and the path of a socket has at most 104 characters."""
SHORT_ROOT = Path("/tmp")  # noqa: S108 - only the parent: the folder itself gets a random name
ENDED = (anyio.EndOfStream, anyio.IncompleteRead, anyio.BrokenResourceError)
KEPT_VARIABLES = (
    "PATH",
    "PYTHONPATH",
    "PYTHONHOME",
    "HOME",
    "USER",
    "USERPROFILE",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "FONTCONFIG_PATH",
    "XDG_RUNTIME_DIR",
    "SYSTEMROOT",
    "SYSTEMDRIVE",
    "PROGRAMFILES",
    "PROGRAMFILES(X86)",
    "LOCALAPPDATA",
    "APPDATA",
)
"""Variables that Python and a browser need to start; the server's keys and settings are not passed on."""


class StartError(Exception):
    """The browser did not start after so many attempts; the text is the driver's."""

    def __init__(self, detail: str, attempts: int = 1) -> None:
        super().__init__(detail)
        self.attempts = attempts


@dataclass(slots=True)
class _PendingJob:
    """A job without an answer yet."""

    done: anyio.Event
    answer: driver_protocol.Rendered | driver_protocol.RenderFailed | None = None


class WorkerBrowser:
    """A browser in a worker process."""

    def __init__(self, process: Process, folder: str) -> None:
        self.alive = True
        self.pid = process.pid
        self._process = process
        self._folder = folder
        self._stdin = cast("ByteSendStream", process.stdin)
        self._stdout = BufferedByteReceiveStream(cast("ByteReceiveStream", process.stdout))
        self._sending = anyio.Lock()
        self._pending: dict[int, _PendingJob] = {}

    async def begin(self, start: driver_protocol.Start) -> str:
        """Start the browser; returns its version.

        Raises:
            StartError: it did not start.
        """
        try:
            await self._send(start)
            answer = await self._receive()
        except (*ENDED, driver_protocol.BrokenDriverPipe) as error:
            raise StartError("The browser's worker process ended early.") from error
        if isinstance(answer, driver_protocol.Started):
            return answer.version
        detail = answer.detail if isinstance(answer, driver_protocol.StartFailed) else ""
        raise StartError(detail or "The browser's worker sent an unexpected answer.")

    async def listen(self) -> None:
        """Dispatch answers until the worker ends; jobs that are pending then fail as `gone`."""
        try:
            while True:
                answer = await self._receive()
                if isinstance(answer, driver_protocol.Rendered | driver_protocol.RenderFailed):
                    self._resolve(answer)
        except (
            *ENDED,
            driver_protocol.BrokenDriverPipe,
            anyio.ClosedResourceError,
            anyio.DelimiterNotFound,
        ):
            self.alive = False
        finally:
            for id, pending in list(self._pending.items()):
                pending.answer = pending.answer or driver_protocol.RenderFailed(id, "gone", "")
                pending.done.set()

    async def render(
        self, job: driver_protocol.Job
    ) -> driver_protocol.Rendered | driver_protocol.RenderFailed:
        """Render one page. Cancelling this call cancels the page too."""
        pending = self._pending[job.id] = _PendingJob(anyio.Event())
        try:
            if not self.alive:
                return driver_protocol.RenderFailed(job.id, "gone", job.url)
            await self._send(job)
            await pending.done.wait()
        except anyio.BrokenResourceError:
            return driver_protocol.RenderFailed(job.id, "gone", job.url)
        finally:
            del self._pending[job.id]
            if pending.answer is None and self.alive:
                await self._cancel(job.id)
        return pending.answer or driver_protocol.RenderFailed(job.id, "gone", job.url)

    async def aclose(self) -> None:
        """End the browser by closing its pipe, and kill it if it does not end."""
        self.alive = False
        with anyio.CancelScope(shield=True):
            with anyio.move_on_after(CLOSING_S):
                await self._stdin.aclose()
                await self._process.wait()
            await anyio.to_thread.run_sync(kill_all, self._process.pid, self._folder)
            await self._process.aclose()
            await anyio.to_thread.run_sync(_remove, self._folder)

    def _resolve(self, answer: driver_protocol.Rendered | driver_protocol.RenderFailed) -> None:
        if answer.id in self._pending:
            self._pending[answer.id].answer = answer
            self._pending[answer.id].done.set()

    async def _cancel(self, id: int) -> None:
        with anyio.move_on_after(CANCEL_S, shield=True), suppress(anyio.BrokenResourceError):
            await self._send(driver_protocol.Cancel(id))

    async def _send(self, message: driver_protocol.Message) -> None:
        async with self._sending:
            await self._stdin.send(driver_protocol.line(message))

    async def _receive(self) -> driver_protocol.Message:
        return driver_protocol.read(await self._stdout.receive_until(b"\n", MAX_LINE_BYTES))


async def start_worker(
    program: str, start: driver_protocol.Start, environ: Mapping[str, str], tasks: TaskGroup
) -> WorkerBrowser:
    """A browser, started by `program` in its own process; its folder is created below `start.profile_root`.

    Raises:
        StartError: it did not start.
    """
    folder = await anyio.to_thread.run_sync(_folder, start.profile_root)
    with anyio.CancelScope(shield=True):
        process = await anyio.open_process(
            [sys.executable, "-P", "-m", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=scrubbed(environ, folder, own_home=bool(start.ca_file)),
            start_new_session=True,
        )
    browser = WorkerBrowser(process, folder)
    ready = False
    try:
        await browser.begin(replace(start, profile_root=folder))
        ready = True
    finally:
        if not ready:
            await browser.aclose()
    tasks.start_soon(browser.listen)
    return browser


def scrubbed(environ: Mapping[str, str], folder: str, *, own_home: bool = False) -> dict[str, str]:
    """The environment of a worker: the variables it needs, the path of this package, and the folder it may write to.

    With `own_home`, the folder is its home folder too.
    """
    kept = {name: environ[name] for name in KEPT_VARIABLES if name in environ}
    package = str(Path(__file__).resolve().parents[3])
    kept["PYTHONPATH"] = os.pathsep.join(filter(None, (package, kept.get("PYTHONPATH"))))
    if own_home:
        # A driver that is installed for this user only is below the real home folder.
        kept |= {"HOME": folder, "PYTHONUSERBASE": site.getuserbase()}
    return {**kept, "TMPDIR": folder, "TEMP": folder, "TMP": folder}


def kill_all(pid: int, folder: str) -> None:
    """Kill the worker and every process with its folder in the environment or command line."""
    for found in (pid, *marked(folder)):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(found, getattr(signal, "SIGKILL", signal.SIGTERM))


def marked(folder: str, processes: Path = Path("/proc")) -> list[int]:
    """Processes with `folder` in their environment or command line, on systems with `/proc`."""
    found = []
    for entry in processes.glob("[0-9]*"):
        with suppress(OSError):
            words = (entry / "environ").read_bytes() + (entry / "cmdline").read_bytes()
            if folder.encode() in words and int(entry.name) != os.getpid():
                found.append(int(entry.name))
    return found


def _folder(root: str) -> str:
    """A new folder below `root`, or in the system's temporary folder if its path is short enough."""
    if root:
        Path(root).mkdir(parents=True, exist_ok=True)
    elif len(tempfile.gettempdir()) > MAX_ROOT_CHARS and SHORT_ROOT.is_dir():
        root = str(SHORT_ROOT)
    return tempfile.mkdtemp(prefix="kindly-", dir=root or None)


def _remove(folder: str) -> None:
    shutil.rmtree(folder, ignore_errors=True)
