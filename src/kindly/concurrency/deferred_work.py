"""Work that is done after an answer: one piece at a time, each key at most once, bounded by what the pieces hold."""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import anyio
from anyio.abc import TaskGroup

logger = logging.getLogger(__name__)

HELD_BYTES = 60_000_000
MAX_FAILED = 256

Work = Callable[[], Awaitable[bool]]
"""False if it failed and would fail again."""


@dataclass(slots=True)
class _Piece:
    version: int
    size: int
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    ended: anyio.Event = field(default_factory=anyio.Event)
    succeeded: bool = False


class DeferredWork:
    """Pieces of work in the background of an app. They end with it; what is not done then is lost."""

    def __init__(self, tasks: TaskGroup, held_bytes: int = HELD_BYTES) -> None:
        self._tasks = tasks
        self._held_bytes = held_bytes
        self._turn = anyio.Lock()
        self._pieces: dict[str, _Piece] = {}
        self._failed: dict[str, int] = {}

    def start(self, key: str, version: int, size: int, work: Work) -> bool:
        """Do some work that holds `size` bytes; False if too much waits already, or if it is known to fail.

        Work with the same key and version goes on as it is; that of another version is given up.
        """
        current = self._pieces.get(key)
        if current is not None and current.version == version:
            return True
        held = sum(piece.size for piece in self._pieces.values() if piece is not current)
        if self._failed.get(key) == version or (held and held + size > self._held_bytes):
            return False
        if current is not None:
            current.scope.cancel()
        piece = self._pieces[key] = _Piece(version, size)
        self._tasks.start_soon(self._run, key, piece, work)
        return True

    async def wait(self, key: str, seconds: float) -> bool:
        """Wait for the end of some work; False if it failed, takes longer, or there is none."""
        piece = self._pieces.get(key)
        if piece is None:
            return False
        with anyio.move_on_after(seconds):
            await piece.ended.wait()
        return piece.succeeded

    async def aclose(self) -> None:
        """Give all work up."""
        with anyio.CancelScope(shield=True):
            pieces = list(self._pieces.values())
            for piece in pieces:
                piece.scope.cancel()
            for piece in pieces:
                await piece.ended.wait()

    async def _run(self, key: str, piece: _Piece, work: Work) -> None:
        try:
            with piece.scope:
                async with self._turn:
                    piece.succeeded = await work()
                if not piece.succeeded:
                    self._remember(key, piece.version)
        except Exception:
            logger.exception("unexpected error in work after an answer")
        finally:
            if self._pieces.get(key) is piece:
                del self._pieces[key]
            piece.ended.set()

    def _remember(self, key: str, version: int) -> None:
        self._failed.pop(key, None)
        self._failed[key] = version
        if len(self._failed) > MAX_FAILED:
            del self._failed[next(iter(self._failed))]
