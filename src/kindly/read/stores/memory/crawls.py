"""Collections and their queues in memory, for a library that is not kept."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from kindly.read.crawls.collection import (
    Added,
    Collection,
    CollectionStatus,
    PageTask,
    TaskState,
)

OPEN = {TaskState.PENDING, TaskState.LEASED}


class MemoryCrawls:
    """`Crawls` of one process."""

    def __init__(self, sizes: Callable[[str], tuple[int, int]]) -> None:
        self._sizes = sizes
        self._collections: dict[str, Collection] = {}
        self._tasks: dict[str, dict[str, PageTask]] = {}
        self._next: dict[str, datetime] = {}

    async def collections(self) -> list[CollectionStatus]:
        found = sorted(self._collections.values(), key=lambda one: (one.name, one.version))
        return list(map(self._status, found))

    async def collection(self, id_: str) -> CollectionStatus | None:
        found = self._collections.get(id_)
        return None if found is None else self._status(found)

    def _status(self, one: Collection) -> CollectionStatus:
        states = Counter(task.state for task in self._tasks.get(one.id, {}).values())
        return CollectionStatus(one, dict(states), *self._sizes(one.id))

    async def save(self, collection: Collection) -> None:
        self._collections[collection.id] = collection

    async def drop(self, id_: str) -> bool:
        self._tasks.pop(id_, None)
        return self._collections.pop(id_, None) is not None

    async def add(self, id_: str, tasks: Sequence[PageTask], most: int) -> Added:
        held = self._tasks.setdefault(id_, {})
        new = {task.url: task for task in tasks if task.url not in held}
        added = list(new.values())[: max(0, most - len(held))]
        held |= {task.url: task for task in added}
        return Added(len(added), len(new) - len(added))

    async def lease(
        self, id_: str, worker: str, limit: int, now: datetime, until: datetime
    ) -> list[PageTask]:
        held = self._tasks.get(id_, {})
        due = [
            task
            for task in held.values()
            if task.state in OPEN and (task.due_at is None or task.due_at <= now)
        ]
        leased = [
            replace(task, state=TaskState.LEASED, worker=worker, due_at=until, tries=task.tries + 1)
            for task in due[:limit]
        ]
        held |= {task.url: task for task in leased}
        return leased

    async def renew(self, id_: str, worker: str, until: datetime) -> None:
        for task in self._held_by(id_, worker):
            self._tasks[id_][task.url] = replace(task, due_at=until)

    async def release(self, id_: str, worker: str) -> int:
        held = self._held_by(id_, worker)
        for task in held:
            free = replace(task, state=TaskState.PENDING, worker="", due_at=None)
            self._tasks[id_][task.url] = free
        return len(held)

    def _held_by(self, id_: str, worker: str) -> list[PageTask]:
        return [
            task
            for task in self._tasks.get(id_, {}).values()
            if task.state is TaskState.LEASED and task.worker == worker
        ]

    async def workers(self, id_: str) -> list[str]:
        tasks = self._tasks.get(id_, {}).values()
        return sorted({task.worker for task in tasks if task.state is TaskState.LEASED})

    async def settle(self, id_: str, tasks: Sequence[PageTask]) -> None:
        held = self._tasks.get(id_, {})
        held |= {task.url: task for task in tasks if task.url in held}

    async def restart(self, id_: str) -> int:
        held = self._tasks.get(id_, {})
        for url, task in held.items():
            held[url] = replace(task, state=TaskState.PENDING, due_at=None, tries=0, worker="")
        return len(held)

    async def tasks(self, id_: str, *, limit: int = 1_000, after: str = "") -> list[PageTask]:
        held = self._tasks.get(id_, {})
        return [held[url] for url in sorted(held) if url > after][:limit]

    async def reserve(self, host: str, now: datetime, interval_s: float) -> datetime:
        at = max(now, self._next.get(host, now))
        self._next[host] = at + timedelta(seconds=interval_s)
        return at
