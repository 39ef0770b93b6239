"""The state of search in a real PostgreSQL, shared by replicas."""

import pytest

from kindly.read.stores.postgres.search_state import PostgresState
from tests.support.postgres import postgres as postgres
from tests.support.postgres import schema
from tests.support.search_state import fill

pytestmark = pytest.mark.anyio


async def test_it_keeps_forgets_and_is_shared(postgres: str) -> None:
    url = schema(postgres)
    first, second = PostgresState(url), PostgresState(url)
    await fill(first)
    for state in (first, second):
        assert await state.load("provider_stats") == {"serper": {"calls": 5}}
        assert await state.load("pool") == {"https://a.example": {"failures": 3}}
        assert await state.load("nothing") == {}
    await second.save("provider_stats", {"serper": {"calls": 6}})
    assert await first.load("provider_stats") == {"serper": {"calls": 6}}
    await first.aclose()


async def test_a_server_that_is_down_is_reported_once_and_what_is_known_stays(
    caplog: pytest.LogCaptureFixture,
) -> None:
    state = PostgresState("postgresql://user:canary-password@127.0.0.1:1/none")
    await fill(state)
    assert await state.load("provider_stats") == {"serper": {"calls": 5}}
    assert len(caplog.records) == 1
    assert "canary" not in caplog.text
