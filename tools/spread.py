"""Work that is spread over processes; results come in order, and are those of one process."""

from collections.abc import Callable, Sequence
from multiprocessing import get_context
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

_work: Callable[[Any], Any] | None = None


def spread(work: Callable[[Item], Result], items: Sequence[Item], jobs: int = 1) -> "list[Result]":
    """The result of each item. The processes are forks: `work` may use all that is in memory."""
    global _work
    if jobs <= 1 or len(items) <= 1:
        return [work(item) for item in items]
    _work = work
    with get_context("fork").Pool(min(jobs, len(items))) as processes:
        return processes.map(_run, items, chunksize=1)


def slices(count: int, size: int) -> list[slice]:
    """Slices of so many, which together are all."""
    return [slice(first, min(count, first + size)) for first in range(0, count, size)]


def _run(item: Any) -> Any:
    if _work is None:
        raise RuntimeError("only `spread` starts this")
    return _work(item)
