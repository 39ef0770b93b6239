from collections.abc import Iterable

import pytest
from httpcore2 import SOCKET_OPTION, AsyncNetworkStream, ConnectError

from kindly.errors import AddressRefused
from kindly.fetch.guard.dial import FALL_OVER_S, PinnedBackend
from kindly.fetch.guard.guard import Guard, GuardPolicy
from tests.support.fetch_fakes import PUBLIC, FakeDialler, FakeResolver

pytestmark = pytest.mark.anyio

FIRST = "93.184.215.13"


class TimedDialler(FakeDialler):
    """Records the time-outs, too."""

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109
        local_address: str | None = None,
        socket_options: Iterable[SOCKET_OPTION] | None = None,
    ) -> AsyncNetworkStream:
        self.timeouts = [*getattr(self, "timeouts", ()), timeout]
        return await super().connect_tcp(host, port, timeout, local_address, socket_options)


def backend(dialler: FakeDialler, *answers: list[str]) -> PinnedBackend:
    resolver = FakeResolver({"example.com": list(answers)})
    return PinnedBackend(Guard(GuardPolicy(), resolver), dialler)


async def test_the_second_address_is_dialled_when_the_first_refuses() -> None:
    dialler = TimedDialler(refusing=frozenset({FIRST}))
    await backend(dialler, [FIRST, PUBLIC]).connect_tcp("example.com", 80, timeout=20)
    assert dialler.dialled == [(FIRST, 80), (PUBLIC, 80)]
    assert dialler.timeouts == [FALL_OVER_S, 20]


async def test_the_error_is_the_last_address_s() -> None:
    dialler = FakeDialler(refusing=frozenset({FIRST, PUBLIC}))
    with pytest.raises(ConnectError):
        await backend(dialler, [FIRST, PUBLIC]).connect_tcp("example.com", 443)
    assert dialler.dialled == [(FIRST, 443), (PUBLIC, 443)]


async def test_nothing_is_dialled_if_one_address_is_private() -> None:
    dialler = FakeDialler()
    with pytest.raises(AddressRefused):
        await backend(dialler, [PUBLIC, "10.0.0.1"]).connect_tcp("example.com", 80)
    assert dialler.dialled == []


async def test_the_name_is_resolved_again_at_each_dial() -> None:
    dialler = FakeDialler()
    pinned = backend(dialler, [PUBLIC], ["127.0.0.1"])
    await pinned.connect_tcp("example.com", 80)
    with pytest.raises(AddressRefused):
        await pinned.connect_tcp("example.com", 80)
    assert dialler.dialled == [(PUBLIC, 80)]
