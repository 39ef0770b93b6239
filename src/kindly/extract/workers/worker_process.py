"""The program of a worker process: read a page from the pipe, write a document back, until the pipe ends.

It limits its own memory and time, keeps nothing between pages, and leaves when the server is gone.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, NamedTuple

from kindly.errors import ExtractionFailed, KindlyError
from kindly.extract import ExtractOptions
from kindly.extract.workers.worker_protocol import (
    LENGTHS,
    Message,
    answer,
    failure,
    lengths,
    packed,
    read_request,
)
from kindly.models import Document, Page

Extract = Callable[[Page, ExtractOptions], Document]

GRACE_S = 5
"""Beyond a page's time; the server kills sooner, this is for when it is gone."""
PR_SET_PDEATHSIG = 1
LIBRARIES_BYTES = 512 * 1024 * 1024
"""Of address space for libraries that are loaded when a file needs them."""
SPENT_BYTES = 40 * 1024 * 1024
"""Allocators keep what a large page took; a process that still holds so much more than at first is replaced."""


def main(memory_bytes: int, extract: Extract | None = None) -> None:
    """Serve pages from standard input until it closes, with so much memory beyond what the parser itself takes."""
    _end_with_the_server()
    extract = extract or _parser()
    _limit(memory_bytes)
    pipe_in = os.fdopen(os.dup(0), "rb")
    pipe_out = os.fdopen(os.dup(1), "wb")
    silence = os.open(os.devnull, os.O_RDWR)
    os.dup2(silence, 0)
    os.dup2(silence, 1)
    serve(pipe_in, pipe_out, extract)


def serve(pipe_in: BinaryIO, pipe_out: BinaryIO, extract: Extract) -> None:
    """Answer every message of one pipe on the other."""
    spent_at = statm().resident_bytes + SPENT_BYTES
    while (message := _read(pipe_in)) is not None:
        reply = _reply(message, extract)
        del message
        pipe_out.writelines(packed(reply, spent=statm().resident_bytes > spent_at))
        pipe_out.flush()


def _parser() -> Extract:
    """The extraction itself, loaded with its model before the first page comes so that it need not wait."""
    from kindly.extract.content.classify import load_model
    from kindly.extract.document import extract

    load_model()
    return extract


def _read(pipe: BinaryIO) -> Message | None:
    prefix = pipe.read(LENGTHS.size)
    if len(prefix) < LENGTHS.size:
        return None
    header, block, _ = lengths(prefix)
    return pipe.read(header), pipe.read(block)


def _reply(message: Message, extract: Extract) -> Message:
    page, options, timeout_s = read_request(message)
    _alarm(timeout_s + GRACE_S)
    try:
        return answer(extract(page, options))
    except KindlyError as error:
        return failure(error)
    except (MemoryError, RecursionError):
        return failure(
            ExtractionFailed("The page needs more memory than a page may.", url=page.url)
        )
    finally:
        _alarm(0)


def _end_with_the_server() -> None:
    """Have the system end this process with the server, in the middle of a page too, where it can."""
    if sys.platform == "linux":
        import ctypes
        import signal

        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _limit(memory_bytes: int) -> None:
    """Cap the process's memory where the system can: what it writes to, not what it maps of its libraries."""
    if sys.platform != "win32":
        import resource

        taken = statm()
        data = taken.data_bytes + memory_bytes
        space = taken.space_bytes + memory_bytes + LIBRARIES_BYTES
        resource.setrlimit(resource.RLIMIT_DATA, (data, data))
        resource.setrlimit(resource.RLIMIT_AS, (space, space))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class TakenRequest(NamedTuple):
    """The memory that this process has."""

    space_bytes: int
    resident_bytes: int
    data_bytes: int


def statm(file: Path = Path("/proc/self/statm")) -> TakenRequest:
    """What the process has now; nothing where the system does not say."""
    try:
        space, resident, _, _, _, data, _ = file.read_text(encoding="ascii").split()
    except OSError:
        return TakenRequest(0, 0, 0)
    size = os.sysconf("SC_PAGE_SIZE")
    return TakenRequest(int(space) * size, int(resident) * size, int(data) * size)


def _alarm(seconds: float) -> None:
    """Die by signal after this long, even inside the parser; 0 takes it back."""
    if sys.platform != "win32":
        import signal

        signal.setitimer(signal.ITIMER_REAL, seconds)


if __name__ == "__main__":
    main(int(sys.argv[1]))
