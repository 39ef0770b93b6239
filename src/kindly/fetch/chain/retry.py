"""One more try, where one more try is known to help: a dropped connection, a server error, a short
`Retry-After`.
"""

from kindly.clock import Clock
from kindly.fetch.chain.redirects import retry_after_s
from kindly.fetch.chain.types import ConnectionDropped, Hop, HopReply, HopRequest

SERVER_ERRORS = frozenset({500, 502, 503, 504})
MAX_WAIT_S = 3.0
"""The longest `Retry-After` that is waited for within a call."""
PAUSE_S = (0.1, 0.4)
"""The pause before trying again: at least the first, at most both together."""


class Retried:
    """Asks a second time, once; what the second time brings is the answer.

    A `Retry-After` is remembered and waited for by the pacing below, so it is not waited for here.
    """

    def __init__(self, hop: Hop, times: Clock) -> None:
        self._hop = hop
        self._times = times

    async def __call__(self, ask: HopRequest) -> HopReply:
        """The first answer, or the second where the first was a hiccup."""
        try:
            reply = await self._hop(ask)
        except ConnectionDropped:
            pause_s = self._pause_s()
            if pause_s > ask.deadline.remaining_s():
                raise
        else:
            asked_s = retry_after_s(reply, self._times.now())
            if not _worth_it(reply, asked_s):
                return reply
            pause_s = self._pause_s() if asked_s is None else 0.0
            if max(pause_s, asked_s or 0.0) > ask.deadline.remaining_s():
                return reply
        await self._times.sleep(pause_s)
        return await self._hop(ask)

    def _pause_s(self) -> float:
        least, spread = PAUSE_S
        return least + spread * self._times.random()


def _worth_it(reply: HopReply, asked_s: float | None) -> bool:
    if asked_s is not None and reply.status in {429, 503}:
        return asked_s <= MAX_WAIT_S
    return reply.status in SERVER_ERRORS
