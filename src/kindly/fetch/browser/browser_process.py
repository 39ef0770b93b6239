"""The server's side of a browser: a worker process with its pipes, its folder, and everything that it started.

Starts one program, sends it jobs and hands their answers back to whoever waits. Whatever happens, the process and its
descendants are gone after `aclose`, and end by themselves when this process dies, because their pipes close.
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
"""Chromium makes sockets below its folder, whose paths may not exceed 104 characters."""
SHORT_ROOT = Path("/tmp")  # noqa: S108 - only a root: the folder itself is made with a random name
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
"""What Python and a browser need to start; no key or setting of the server goes further."""


class StartError(Exception):
    """The browser did not start; the text is the driver's."""


@dataclass(slots=True)
class _Waiting:
    """A job whose answer is waited for."""

    done: anyio.Event
    answer: driver_protocol.Rendered | driver_protocol.RenderFailed | None = None


class WorkerBrowser:
    """A browser in a worker process."""

    def __init__(self, process: Process, folder: str) -> None:
        self.alive = True
        self.pid = process.pid
        self._process = process
        self._folder = folder
        self._questions = cast("ByteSendStream", process.stdin)
        self._answers = BufferedByteReceiveStream(cast("ByteReceiveStream", process.stdout))
        self._sending = anyio.Lock()
        self._waiting: dict[int, _Waiting] = {}

    async def begin(self, start: driver_protocol.Start) -> str:
        """Have the browser started; what it says it is.

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
        raise StartError(detail or "The browser's worker did not answer as it should.")

    async def listen(self) -> None:
        """Hand out answers until the worker ends; whoever still waits then is told so."""
        try:
            while True:
                answer = await self._receive()
                if isinstance(answer, driver_protocol.Rendered | driver_protocol.RenderFailed):
                    self._answered(answer)
        except (
            *ENDED,
            driver_protocol.BrokenDriverPipe,
            anyio.ClosedResourceError,
            anyio.DelimiterNotFound,
        ):
            self.alive = False
        finally:
            for id, waiting in list(self._waiting.items()):
                waiting.answer = waiting.answer or driver_protocol.RenderFailed(id, "gone", "")
                waiting.done.set()

    async def render(
        self, job: driver_protocol.Job
    ) -> driver_protocol.Rendered | driver_protocol.RenderFailed:
        """What one page shows. When this is cancelled, so is the page."""
        waiting = self._waiting[job.id] = _Waiting(anyio.Event())
        try:
            if not self.alive:
                return driver_protocol.RenderFailed(job.id, "gone", job.url)
            await self._send(job)
            await waiting.done.wait()
        except anyio.BrokenResourceError:
            return driver_protocol.RenderFailed(job.id, "gone", job.url)
        finally:
            del self._waiting[job.id]
            if waiting.answer is None and self.alive:
                await self._cancel(job.id)
        return waiting.answer or driver_protocol.RenderFailed(job.id, "gone", job.url)

    async def aclose(self) -> None:
        """End the browser: by closing its pipe, and by force when that does not help."""
        self.alive = False
        with anyio.CancelScope(shield=True):
            with anyio.move_on_after(CLOSING_S):
                await self._questions.aclose()
                await self._process.wait()
            await anyio.to_thread.run_sync(kill_all, self._process.pid, self._folder)
            await self._process.aclose()
            await anyio.to_thread.run_sync(_remove, self._folder)

    def _answered(self, answer: driver_protocol.Rendered | driver_protocol.RenderFailed) -> None:
        if answer.id in self._waiting:
            self._waiting[answer.id].answer = answer
            self._waiting[answer.id].done.set()

    async def _cancel(self, id: int) -> None:
        with anyio.move_on_after(CANCEL_S, shield=True), suppress(anyio.BrokenResourceError):
            await self._send(driver_protocol.Cancel(id))

    async def _send(self, message: driver_protocol.Message) -> None:
        async with self._sending:
            await self._questions.send(driver_protocol.line(message))

    async def _receive(self) -> driver_protocol.Message:
        return driver_protocol.read(await self._answers.receive_until(b"\n", MAX_LINE_BYTES))


async def start_worker(
    program: str, start: driver_protocol.Start, environ: Mapping[str, str], tasks: TaskGroup
) -> WorkerBrowser:
    """A browser, started by `program` in a process of its own; `start.profile_root` is where its folder is made.

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
    """Only the variables that a browser needs, where this package is, and the folder that it may write to; that is its
    home folder too when it is to have one of its own.
    """
    kept = {name: environ[name] for name in KEPT_VARIABLES if name in environ}
    package = str(Path(__file__).resolve().parents[3])
    kept["PYTHONPATH"] = os.pathsep.join(filter(None, (package, kept.get("PYTHONPATH"))))
    if own_home:
        # A driver that was installed for this user only is found below the old home folder.
        kept |= {"HOME": folder, "PYTHONUSERBASE": site.getuserbase()}
    return {**kept, "TMPDIR": folder, "TEMP": folder, "TMP": folder}


def kill_all(pid: int, folder: str) -> None:
    """Kill the worker and whatever was started with its folder in the environment."""
    for found in (pid, *marked(folder)):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(found, getattr(signal, "SIGKILL", signal.SIGTERM))


def marked(folder: str, processes: Path = Path("/proc")) -> list[int]:
    """Processes that have `folder` in their environment or command line, where the system tells."""
    found = []
    for entry in processes.glob("[0-9]*"):
        with suppress(OSError):
            words = (entry / "environ").read_bytes() + (entry / "cmdline").read_bytes()
            if folder.encode() in words and int(entry.name) != os.getpid():
                found.append(int(entry.name))
    return found


def _folder(root: str) -> str:
    """A new folder below `root`, or where this system has its temporary files if that is short enough."""
    if root:
        Path(root).mkdir(parents=True, exist_ok=True)
    elif len(tempfile.gettempdir()) > MAX_ROOT_CHARS and SHORT_ROOT.is_dir():
        root = str(SHORT_ROOT)
    return tempfile.mkdtemp(prefix="kindly-", dir=root or None)


def _remove(folder: str) -> None:
    shutil.rmtree(folder, ignore_errors=True)
