"""The SDK's server takes a conversation over from `early_answers`: it sees all of it, and answers nothing twice."""

import logging
from collections import deque
from collections.abc import Iterable
from typing import Any, Self

import anyio

from kindly.server.early_answers import Answered

logger = logging.getLogger(__name__)


class AnswersOnce:
    """The stream of the SDK's answers. Those to requests that are answered already are dropped.

    The messages up to the hand-over are read one at a time, each after the answer to the last, so that no later
    message can be mistaken for one of them or overtake one.
    """

    def __init__(self, answered: Iterable[Answered], outgoing: Any) -> None:
        self._answered = deque(answered)
        self._outgoing = outgoing
        self._awaited: Answered | None = None
        self._dropped = anyio.Event()

    async def before_next(self) -> None:
        """Wait until the next message may be read."""
        if self._awaited is not None:
            await self._dropped.wait()

    def was_read(self, item: object) -> None:
        """Take note of a message that the SDK gets now."""
        if self._answered:
            answered = self._answered.popleft()
            if answered.result is not None and not isinstance(item, Exception):
                self._awaited, self._dropped = answered, anyio.Event()

    async def send(self, item: Any) -> None:
        """Send a message, unless it answers what is answered already."""
        awaited, message = self._awaited, item.message
        if awaited is None or hasattr(message, "method") or message.id != awaited.request_id:
            await self._outgoing.send(item)
            return
        if getattr(message, "result", None) != awaited.result:
            logger.warning(
                "the early answer differs from the SDK's: run `python -m tools.early_answers --write`"
            )
        self._awaited = None
        self._dropped.set()

    async def aclose(self) -> None:
        await self._outgoing.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
