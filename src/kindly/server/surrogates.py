"""Lone surrogates (halves of characters) in messages over stdio: JSON may spell them, the SDK's parser refuses them.

The SDK drops a message that it cannot parse, so its sender would wait for ever. Such a message is parsed again here.
The arguments of a tool keep their surrogates, so that the tool refuses the argument by name; elsewhere each becomes a
replacement character, because an answer that contained one could not be written.
"""

import json
import re
from collections.abc import Awaitable, Callable
from contextvars import Context
from types import TracebackType
from typing import Any, Self

import mcp_types as types
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from kindly.server.handover import AnswersOnce

SURROGATE = re.compile("[\ud800-\udfff]")
REPLACEMENT = "\ufffd"

Item = SessionMessage | Exception


class RepairedStream:
    """A stream of the messages of `inner`, with those that have a lone surrogate repaired; in step with `replay`."""

    def __init__(self, inner: Any, replay: AnswersOnce) -> None:
        self._inner = inner
        self._replay = replay

    @property
    def last_context(self) -> Context | None:
        """The context of the last message's sender, which the SDK asks for."""
        context: Context | None = self._inner.last_context
        return context

    async def receive(self) -> Item:
        return await self._next(self._inner.receive)

    async def aclose(self) -> None:
        await self._inner.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Item:
        return await self._next(self._inner.__anext__)

    async def _next(self, read: Callable[[], Awaitable[Item]]) -> Item:
        await self._replay.before_next()
        item = repaired(await read())
        self._replay.was_read(item)
        return item

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()


def repaired(item: Item) -> Item:
    """The message that the SDK could not parse because of lone surrogates; everything else as it is."""
    if not isinstance(item, ValidationError):
        return item
    try:
        line = str(item.errors(include_url=False, include_context=False)[0]["input"])
        message = json.loads(line)
    except (ValueError, RecursionError, IndexError):
        return item
    if not isinstance(message, dict):
        return item
    plain = without_surrogates(message)
    params = message.get("params")
    if isinstance(params, dict) and isinstance(params.get("arguments"), dict):
        plain["params"]["arguments"] = params["arguments"]
    try:
        return SessionMessage(types.jsonrpc_message_adapter.validate_python(plain, by_name=False))
    except ValidationError:
        return item


def without_surrogates(value: Any) -> Any:
    """A JSON value whose strings have a replacement character for each lone surrogate."""
    if isinstance(value, str):
        return SURROGATE.sub(REPLACEMENT, value)
    if isinstance(value, dict):
        return {without_surrogates(key): without_surrogates(item) for key, item in value.items()}
    return [without_surrogates(item) for item in value] if isinstance(value, list) else value
