"""Main program of a worker process: reads pages from standard input and writes documents to standard output.

It limits its own memory and time (`setrlimit`, `setitimer`), keeps no state between pages, and exits when the pipe
closes or the server dies.
"""

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, NamedTuple

from kindly.errors import ExtractionFailed, KindlyError
from kindly.extract import ExtractOptions
from kindly.extract.workers.worker_protocol import (
    PREFIX,
    Message,
    decode_prefix,
    decode_request,
    encode_document,
    encode_error,
    encode_message,
)
from kindly.models import Document, Page

Extract = Callable[[Page, ExtractOptions], Document]

GRACE_S = 5
"""Extra time before the worker ends itself; the pool kills it earlier, unless the server is gone."""
PR_SET_PDEATHSIG = 1
LIBRARIES_BYTES = 512 * 1024 * 1024
"""Address space for libraries that are loaded when a file needs them."""
MAX_HALVES = 3
"""How often a cut page is halved until it can be read."""
MAX_GROWTH_BYTES = 40 * 1024 * 1024
"""Allocators keep memory after a large page; a worker that has grown by more than this is replaced."""


def main(memory_bytes: int, extract: Extract | None = None) -> None:
    """Serve pages until standard input closes; `memory_bytes` is the limit beyond what the parser itself needs."""
    _exit_with_server()
    extract = extract or _load_parser()
    _limit_memory(memory_bytes)
    pipe_in = os.fdopen(os.dup(0), "rb")
    pipe_out = os.fdopen(os.dup(1), "wb")
    devnull = os.open(os.devnull, os.O_RDWR)
    os.dup2(devnull, 0)
    os.dup2(devnull, 1)
    serve(pipe_in, pipe_out, extract)


def serve(pipe_in: BinaryIO, pipe_out: BinaryIO, extract: Extract) -> None:
    """Answer every request of one pipe on the other, until it closes."""
    limit = memory_use().resident_bytes + MAX_GROWTH_BYTES
    while (message := _read(pipe_in)) is not None:
        answer = _answer(message, extract)
        del message
        outgrown = memory_use().resident_bytes > limit
        pipe_out.writelines(encode_message(answer, outgrown=outgrown))
        pipe_out.flush()


def _load_parser() -> Extract:
    """Import the extraction and load its model before the first page arrives."""
    from kindly.extract.content.classify import load_model
    from kindly.extract.document import extract

    load_model()
    return extract


def _read(pipe: BinaryIO) -> Message | None:
    prefix = pipe.read(PREFIX.size)
    if len(prefix) < PREFIX.size:
        return None
    header, body, _ = decode_prefix(prefix)
    return pipe.read(header), pipe.read(body)


def _answer(message: Message, extract: Extract) -> Message:
    page, options, timeout_s = decode_request(message)
    _set_timer(timeout_s + GRACE_S)
    try:
        return encode_document(_extracted(page, options, extract))
    except KindlyError as error:
        return encode_error(error)
    except (MemoryError, RecursionError):
        return encode_error(
            ExtractionFailed("Reading the page needs too much memory.", url=page.url)
        )
    finally:
        _set_timer(0)


def _extracted(page: Page, options: ExtractOptions, extract: Extract) -> Document:
    """The document; of a page that is cut anyway, as much as the memory allows."""
    for _ in range(MAX_HALVES):
        try:
            return extract(page, options)
        except MemoryError:
            if not page.cut:
                raise
        page = replace(page, body=page.body[: len(page.body) // 2])
    return extract(page, options)


def _exit_with_server() -> None:
    """On Linux, have the kernel kill this process when the server dies, even in the middle of a page."""
    if sys.platform == "linux":
        import ctypes
        import signal

        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _limit_memory(memory_bytes: int) -> None:
    """Limit the memory of this process (not on Windows): its data, and the address space with room for libraries."""
    if sys.platform != "win32":
        import resource

        used = memory_use()
        data = used.data_bytes + memory_bytes
        space = used.space_bytes + memory_bytes + LIBRARIES_BYTES
        resource.setrlimit(resource.RLIMIT_DATA, (data, data))
        resource.setrlimit(resource.RLIMIT_AS, (space, space))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class MemoryUse(NamedTuple):
    """The memory of this process."""

    space_bytes: int
    resident_bytes: int
    data_bytes: int


def memory_use(file: Path = Path("/proc/self/statm")) -> MemoryUse:
    """The current memory use of this process; zeros where the system has no `/proc`."""
    try:
        space, resident, _, _, _, data, _ = file.read_text(encoding="ascii").split()
    except OSError:
        return MemoryUse(0, 0, 0)
    size = os.sysconf("SC_PAGE_SIZE")
    return MemoryUse(int(space) * size, int(resident) * size, int(data) * size)


def _set_timer(seconds: float) -> None:
    """End this process by a signal after this time, even inside the parser; 0 cancels the timer."""
    if sys.platform != "win32":
        import signal

        signal.setitimer(signal.ITIMER_REAL, seconds)


if __name__ == "__main__":
    main(int(sys.argv[1]))
