"""One retry, and never two."""

import pytest

from kindly.errors import PageTimeout
from kindly.fetch.chain.retry import RetryingHop
from kindly.fetch.chain.types import ConnectionDropped, HopReply
from tests.support.fetch_fakes import FakeTime, ScriptedHop, reply

pytestmark = pytest.mark.anyio

DROPPED = ConnectionDropped("dropped", url="https://example.com/")


@pytest.mark.parametrize(
    "first",
    [reply(500), reply(502), reply(503), reply(504), DROPPED, reply(429, retry_after="2")],
    ids=["500", "502", "503", "504", "dropped", "429-short"],
)
async def test_temporary_failure_is_retried_once(first: HopReply | Exception) -> None:
    time, hop = FakeTime(), ScriptedHop([first, reply(200)])

    answer = await RetryingHop(hop, time.clock)(time.ask())

    assert answer.status == 200
    assert len(hop.asked) == 2


@pytest.mark.parametrize(
    "first",
    [
        reply(200),
        reply(404),
        reply(429),
        reply(501),
        reply(429, retry_after="4"),
        reply(503, retry_after="60"),
    ],
    ids=["200", "404", "429", "501", "429-long", "503-long"],
)
async def test_other_answers_are_final(first: HopReply) -> None:
    time, hop = FakeTime(), ScriptedHop([first])

    assert await RetryingHop(hop, time.clock)(time.ask()) is first
    assert len(hop.asked) == 1


async def test_second_failure_is_final() -> None:
    time, hop = FakeTime(), ScriptedHop([reply(500)])

    assert (await RetryingHop(hop, time.clock)(time.ask())).status == 500
    assert len(hop.asked) == 2


async def test_other_errors_are_final() -> None:
    time = FakeTime()
    hop = ScriptedHop([PageTimeout("slow", url="https://example.com/")])

    with pytest.raises(PageTimeout):
        await RetryingHop(hop, time.clock)(time.ask())
    assert len(hop.asked) == 1


async def test_no_second_try_when_the_deadline_is_too_near() -> None:
    time = FakeTime()

    assert (
        await RetryingHop(ScriptedHop([reply(500)]), time.clock)(time.ask(seconds=0.1))
    ).status == 500
    with pytest.raises(ConnectionDropped):
        await RetryingHop(ScriptedHop([DROPPED]), time.clock)(time.ask(seconds=0.1))
    hop = ScriptedHop([reply(429, retry_after="2")])
    assert (await RetryingHop(hop, time.clock)(time.ask(seconds=1))).status == 429
    assert len(hop.asked) == 1
    assert time.slept == []
