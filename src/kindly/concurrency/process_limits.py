"""Limits of a process: its memory and time, its end with the server, and the memory that it gives back."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

PR_SET_PDEATHSIG = 1
M_ARENA_MAX, M_MMAP_THRESHOLD = -8, -3
LARGE_BYTES = 128 * 1024
"""A block of at least this size is returned to the system as soon as it is free."""
LIBRARIES_BYTES = 512 * 1024 * 1024
"""Address space for libraries that are loaded when they are needed."""
_usual: dict[int, int] = {}
"""The limits of this process while it does not use its reserve."""


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


def exit_with_server() -> None:
    """On Linux, have the kernel kill this process when the server dies, even in the middle of its work."""
    if sys.platform == "linux":
        import ctypes
        import signal

        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def limit_memory(memory_bytes: int, *, reserve_bytes: int = 0) -> None:
    """Limit the memory of this process (not on Windows): its data, and the address space with room for libraries.

    `use_reserve` raises both limits by `reserve_bytes`.
    """
    if sys.platform != "win32":
        import resource

        used = memory_use()
        data = used.data_bytes + memory_bytes
        space = used.space_bytes + memory_bytes + LIBRARIES_BYTES
        for limit, most in ((resource.RLIMIT_DATA, data), (resource.RLIMIT_AS, space)):
            resource.setrlimit(limit, (most, most + reserve_bytes))
            _usual[limit] = most
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def use_reserve(most_bytes: int | None = None) -> None:
    """Let this process use its memory reserve, or `most_bytes` of it, for a file that needs more than any page."""
    if sys.platform != "win32":
        import resource

        for limit, usual in _usual.items():
            soft, hard = resource.getrlimit(limit)
            wanted = hard if most_bytes is None else min(hard, usual + most_bytes)
            resource.setrlimit(limit, (max(soft, wanted), hard))


def release_reserve() -> None:
    """Take back what `use_reserve` allowed."""
    if sys.platform != "win32":
        import resource

        for limit, usual in _usual.items():
            resource.setrlimit(limit, (usual, resource.getrlimit(limit)[1]))


def set_timer(seconds: float) -> None:
    """End this process by a signal after this time, even inside a library; 0 cancels the timer."""
    if sys.platform != "win32":
        import signal

        signal.setitimer(signal.ITIMER_REAL, seconds)


def give_memory_back() -> None:
    """Return free memory to the system; the allocator would keep it. Only with the GNU library."""
    if sys.platform == "linux":
        import ctypes

        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)


def keep_heap_small() -> None:
    """Have all threads of this process allocate from one heap, and large blocks outside of it.

    With one heap for each thread, most of their memory lies unused. By default the first large block that is freed
    makes the allocator take all later ones from the heap, where the pages of many calls leave holes between them. Only
    with the GNU library.
    """
    if sys.platform == "linux":
        import ctypes

        option = getattr(ctypes.CDLL(None), "mallopt", None)
        if option is not None:
            option(M_ARENA_MAX, 1)
            option(M_MMAP_THRESHOLD, LARGE_BYTES)


@contextmanager
def own_pipes() -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """Standard input and output as pipes; the process's own become the null device, so that nothing else uses them."""
    with os.fdopen(os.dup(0), "rb") as pipe_in, os.fdopen(os.dup(1), "wb") as pipe_out:
        devnull = os.open(os.devnull, os.O_RDWR)
        os.dup2(devnull, 0)
        os.dup2(devnull, 1)
        yield pipe_in, pipe_out
