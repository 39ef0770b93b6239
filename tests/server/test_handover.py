"""The SDK's answers to what is answered already are dropped, and only those."""

import logging
from typing import Any

import anyio
import pytest
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCNotification, JSONRPCResponse

from kindly.server.early_answers import Answered
from kindly.server.handover import AnswersOnce

pytestmark = pytest.mark.anyio


class Outgoing:
    """Keeps what is sent."""

    def __init__(self) -> None:
        self.sent: list[Any] = []
        self.is_closed = False

    async def send(self, item: Any) -> None:
        self.sent.append(item)

    async def aclose(self) -> None:
        self.is_closed = True


def response(number: int | str, **result: object) -> SessionMessage:
    return SessionMessage(JSONRPCResponse(jsonrpc="2.0", id=number, result=dict(result)))


async def test_the_answer_to_an_answered_request_is_dropped() -> None:
    outgoing = Outgoing()
    replay = AnswersOnce([Answered(1, {})], outgoing)
    replay.was_read(object())
    await replay.send(response(1))
    await replay.before_next()
    replay.was_read(object())
    again = response(1)
    await replay.send(again)
    assert outgoing.sent == [again]


async def test_the_next_message_waits_for_that_answer() -> None:
    replay = AnswersOnce([Answered(1, {}), Answered()], Outgoing())
    replay.was_read(object())
    order: list[str] = []

    async def read_on() -> None:
        await replay.before_next()
        order.append("read")

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read_on)
            await anyio.wait_all_tasks_blocked()
            order.append("answered")
            await replay.send(response(1))
    assert order == ["answered", "read"]


async def test_notifications_and_other_answers_pass() -> None:
    outgoing = Outgoing()
    replay = AnswersOnce([Answered(), Answered("1", {})], outgoing)
    replay.was_read(object())
    await replay.before_next()
    replay.was_read(object())
    notice = SessionMessage(JSONRPCNotification(jsonrpc="2.0", method="notifications/message"))
    others = [notice, response(1), response(2)]
    for item in others:
        await replay.send(item)
    assert outgoing.sent == others


async def test_a_message_that_the_sdk_cannot_parse_is_not_waited_for() -> None:
    replay = AnswersOnce([Answered(1, {})], Outgoing())
    replay.was_read(ValueError())
    with anyio.fail_after(60):
        await replay.before_next()


@pytest.mark.parametrize(("result", "warnings"), [({}, 0), ({"other": 1}, 1)])
async def test_a_difference_is_logged(
    caplog: pytest.LogCaptureFixture, result: dict[str, Any], warnings: int
) -> None:
    replay = AnswersOnce([Answered(1, {})], Outgoing())
    replay.was_read(object())
    await replay.send(response(1, **result))
    assert [record.levelno for record in caplog.records] == [logging.WARNING] * warnings


async def test_closing_closes_the_stream_below() -> None:
    outgoing = Outgoing()
    async with AnswersOnce([], outgoing):
        assert not outgoing.is_closed
    assert outgoing.is_closed
