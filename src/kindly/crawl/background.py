"""Crawls in the background of a server: started by a call, told by their collection, ended with the server."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field

import anyio
from anyio.abc import TaskGroup

from kindly.crawl.indexer import Indexer
from kindly.errors import KindlyError
from kindly.stages import Progress, ignore_progress

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class _Crawl:
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    ended: anyio.Event = field(default_factory=anyio.Event)
    progress: Progress = ignore_progress
    """Of the call that waits for it."""


class BackgroundCrawls:
    """The crawls of one server, at most one for each collection."""

    def __init__(self, tasks: TaskGroup, open_indexer: Callable[[], Indexer]) -> None:
        self._tasks = tasks
        self._open_indexer = open_indexer
        self._crawls: dict[str, _Crawl] = {}
        self.failures: dict[str, str] = {}
        """Why the last crawl of a collection failed."""

    def is_running(self, id_: str) -> bool:
        """Whether a collection is being crawled by this server."""
        return id_ in self._crawls

    def start(self, id_: str, *, refresh: bool = False) -> None:
        """Crawl a collection, unless that goes on already."""
        if id_ not in self._crawls:
            self.failures.pop(id_, None)
            self._crawls[id_] = crawl = _Crawl()
            self._tasks.start_soon(self._run, id_, crawl, refresh)

    async def wait(self, id_: str, seconds: float, progress: Progress = ignore_progress) -> bool:
        """Wait for the end of a crawl, with its progress; False if it takes longer."""
        crawl = self._crawls.get(id_)
        if crawl is None:
            return True
        crawl.progress = progress
        try:
            with anyio.move_on_after(seconds):
                await crawl.ended.wait()
            return crawl.ended.is_set()
        finally:
            crawl.progress = ignore_progress

    async def resume(self) -> None:
        """Go on with every crawl that was interrupted."""
        try:
            for collection in await self._open_indexer().unfinished():
                self.start(collection.id)
        except KindlyError as error:
            logger.warning("Interrupted crawls cannot go on: %s", error.detail)

    async def stop(self, id_: str) -> None:
        """End the crawl of one collection and wait until it has given its pages back."""
        crawl = self._crawls.get(id_)
        if crawl is not None:
            crawl.scope.cancel()
            await crawl.ended.wait()

    async def aclose(self) -> None:
        """End all crawls; what is left goes on with the next server."""
        with anyio.CancelScope(shield=True):
            for id_ in list(self._crawls):
                await self.stop(id_)

    async def _run(self, id_: str, crawl: _Crawl, refresh: bool) -> None:  # noqa: FBT001 - a task's argument
        async def progress(done: float, total: float, message: str) -> None:
            await crawl.progress(done, total, message)

        try:
            with crawl.scope:
                await self._open_indexer().run(id_, progress, refresh=refresh)
        except KindlyError as error:
            self.failures[id_] = error.detail
        except Exception:
            self.failures[id_] = "An unexpected error ended the crawl; see the log."
            logger.exception("unexpected error in a crawl", extra={"collection": id_})
        finally:
            del self._crawls[id_]
            crawl.ended.set()
