"""Main program of a worker process: reads pages from standard input and writes documents to standard output.

It limits its own memory and time (`setrlimit`, `setitimer`), keeps no state between pages, and exits when the pipe
closes or the server dies.
"""

import gc
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import BinaryIO

from kindly.concurrency.pipe_frames import Message, encode_frame, read_frame
from kindly.concurrency.process_limits import (
    exit_with_server,
    give_memory_back,
    limit_memory,
    memory_use,
    own_pipes,
    release_reserve,
    set_timer,
)
from kindly.errors import ExtractionFailed, KindlyError
from kindly.extract import ExtractOptions
from kindly.extract.workers.worker_protocol import decode_request, encode_document, encode_error
from kindly.models import Document, Page

Extract = Callable[[Page, ExtractOptions], Document]

GRACE_S = 5
"""Extra time before the worker ends itself; the pool kills it earlier, unless the server is gone."""
MAX_HALVES = 3
"""How often a cut page is halved until it can be read."""
TRIMMED_BYTES = 6 * 1024 * 1024
"""Allocators keep memory after a large page; a worker that has grown by more than this returns it to the system."""
COLLECTED_OBJECTS = 10_000
"""Cycles are looked for after so many new objects: a page makes tens of thousands, and hardly any are in cycles."""
RESERVE_BYTES = 768 * 1024 * 1024
"""Further memory for character recognition and, in part, for long files."""
MAX_GROWTH_BYTES = 24 * 1024 * 1024
"""A worker that stays larger by more than this than it was before its first page is replaced."""


def main(memory_bytes: int, extract: Extract | None = None) -> None:
    """Serve pages until standard input closes; `memory_bytes` is the limit beyond what the parser itself needs."""
    exit_with_server()
    extract = extract or _load_parser()
    limit_memory(memory_bytes, reserve_bytes=RESERVE_BYTES)
    with own_pipes() as (pipe_in, pipe_out):
        serve(pipe_in, pipe_out, extract)


def serve(pipe_in: BinaryIO, pipe_out: BinaryIO, extract: Extract) -> None:
    """Answer every request of one pipe on the other, until it closes."""
    trimmed = memory_use().resident_bytes
    limit = trimmed + MAX_GROWTH_BYTES
    while (message := read_frame(pipe_in)) is not None:
        answer = _answer(message, extract)
        del message
        outgrown = memory_use().resident_bytes > limit and _trimmed() > limit
        pipe_out.writelines(encode_frame(answer, outgrown=outgrown))
        pipe_out.flush()
        del answer
        if memory_use().resident_bytes > trimmed + TRIMMED_BYTES:
            trimmed = _trimmed()


def _trimmed() -> int:
    """Give free memory back to the system; return what stays."""
    give_memory_back()
    return memory_use().resident_bytes


def _load_parser() -> Extract:
    """Import the extraction and load its model before the first page arrives; neither is ever collected."""
    from kindly.extract.content.classify import load_model
    from kindly.extract.document import extract

    load_model()
    gc.freeze()
    gc.set_threshold(COLLECTED_OBJECTS)
    return extract


def _answer(message: Message, extract: Extract) -> Message:
    page, options, timeout_s = decode_request(message)
    release_reserve()
    set_timer(timeout_s + GRACE_S)
    try:
        return encode_document(_extracted(page, options, extract))
    except KindlyError as error:
        return encode_error(error)
    except (MemoryError, RecursionError):
        return encode_error(
            ExtractionFailed("Reading the page needs too much memory.", url=page.url)
        )
    finally:
        set_timer(0)


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


if __name__ == "__main__":
    main(int(sys.argv[1]))
