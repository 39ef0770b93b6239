"""The program of a worker process: read a page from the pipe, write a document back, until the pipe ends.

It limits its own memory and time, keeps nothing between pages, and leaves when the server is gone.
"""

import os
import sys
from collections.abc import Callable
from typing import BinaryIO

from kindly.errors import ExtractionFailed, KindlyError
from kindly.extract.options import ExtractOptions
from kindly.extract.wire import LENGTHS, Message, answer, failure, lengths, packed, read_request
from kindly.models import Document, Page

Extract = Callable[[Page, ExtractOptions], Document]

GRACE_S = 5
"""Beyond a page's time; the server kills sooner, this is for when it is gone."""


def main(memory_bytes: int, extract: Extract | None = None) -> None:
    """Serve pages from standard input until it closes."""
    _limit(memory_bytes)
    pipe_in = os.fdopen(os.dup(0), "rb")
    pipe_out = os.fdopen(os.dup(1), "wb")
    silence = os.open(os.devnull, os.O_RDWR)
    os.dup2(silence, 0)
    os.dup2(silence, 1)
    serve(pipe_in, pipe_out, extract or _parser())


def serve(pipe_in: BinaryIO, pipe_out: BinaryIO, extract: Extract) -> None:
    """Answer every message of one pipe on the other."""
    while (message := _read(pipe_in)) is not None:
        pipe_out.write(packed(_reply(message, extract)))
        pipe_out.flush()


def _parser() -> Extract:
    """The extraction itself, loaded before the first page comes so that it need not wait."""
    from kindly.extract.document import extract

    return extract


def _read(pipe: BinaryIO) -> Message | None:
    prefix = pipe.read(LENGTHS.size)
    if len(prefix) < LENGTHS.size:
        return None
    header, block = lengths(prefix)
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


def _limit(memory_bytes: int) -> None:
    """Cap the process's memory where the system can."""
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _alarm(seconds: float) -> None:
    """Die by signal after this long, even inside the parser; 0 takes it back."""
    if sys.platform != "win32":
        import signal

        signal.setitimer(signal.ITIMER_REAL, seconds)


if __name__ == "__main__":
    main(int(sys.argv[1]))
