"""Memory, open files and CPU time of this process, as far as the platform reports them."""

import os
import time
from pathlib import Path

from kindly.frozen import frozen

PROC = Path("/proc/self")


@frozen
class Process:
    """Resource use of a process; None if the platform does not report a value."""

    cpu_s: float
    memory_bytes: int | None = None
    open_files: int | None = None
    max_files: int | None = None


def this_process(proc: Path = PROC) -> Process:
    """The current values."""
    return Process(time.process_time(), _memory(proc), _files(proc), _limit())


def _memory(proc: Path) -> int | None:
    try:
        pages = int((proc / "statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


def _files(proc: Path) -> int | None:
    try:
        return sum(1 for _ in (proc / "fd").iterdir())
    except OSError:
        return None


def _limit() -> int | None:
    try:
        import resource
    except ImportError:  # pragma: no cover - Windows has none
        return None
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if soft == resource.RLIM_INFINITY else soft
