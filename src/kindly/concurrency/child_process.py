"""A Python program in a process of its own that answers one message at a time, and can be killed at any moment.

It does not get the server's environment: no key or setting of the server reaches it.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Self, cast

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream, Process
from anyio.streams.buffered import BufferedByteReceiveStream

from kindly.concurrency.pipe_frames import PREFIX, BrokenFrame, Message, decode_prefix, encode_frame

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
"""The variables that Python itself needs."""
ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "MALLOC_ARENA_MAX")
"""Variables that are set to 1: a child process has one thread, and needs memory for no more."""
EXIT_S = 5.0
"""How long a process that closed its pipe may take to end."""
BROKEN_PIPE = (
    anyio.BrokenResourceError,
    anyio.ClosedResourceError,
    anyio.IncompleteRead,
    anyio.EndOfStream,
    BrokenFrame,
)
"""What `ask` raises if the process ended, or answered nonsense."""


class ChildProcess:
    """One process and its two pipes."""

    def __init__(self, process: Process) -> None:
        self.asked = 0
        """The number of messages that were sent."""
        self.outgrown = False
        """Whether its last answer reported that it needs too much memory to be reused."""
        self._killed = False
        self._process = process
        self._requests = cast("ByteSendStream", process.stdin)
        self._answers = BufferedByteReceiveStream(cast("ByteReceiveStream", process.stdout))

    @classmethod
    async def start(cls, program: str, *arguments: str, environ: Mapping[str, str]) -> Self:
        """Run a module as a program. `environ` is all of its environment."""
        with anyio.CancelScope(shield=True):
            process = await anyio.open_process(
                [sys.executable, "-P", "-m", program, *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environ,
                start_new_session=True,
            )
        return cls(process)

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return self._process.returncode is None

    async def ask(self, message: Message) -> Message:
        """Send a message and wait for its answer. Raises one of `BROKEN_PIPE` if the process ends."""
        self.asked += 1
        for piece in encode_frame(message):
            await self._requests.send(piece)
        header, body, self.outgrown = decode_prefix(
            await self._answers.receive_exactly(PREFIX.size)
        )
        received = await self._answers.receive_exactly(header + body)
        return received[:header], received[header:]

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
        """Kill the process and close its pipes."""
        with anyio.CancelScope(shield=True):
            self.kill()
            await self._process.aclose()


def child_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of a child process: the variables that Python needs, and the path of this package."""
    kept = {name: environ[name] for name in KEPT_VARIABLES if name in environ}
    package = str(Path(__file__).resolve().parents[2])
    kept |= dict.fromkeys(ONE_THREAD, "1")
    kept["TOKENIZERS_PARALLELISM"] = "false"
    kept["PYTHONPATH"] = os.pathsep.join(filter(None, (package, kept.get("PYTHONPATH"))))
    return kept
