"""One retry where it is likely to help: after a dropped connection, a server error, or a short `Retry-After`."""

from kindly.clock import Clock
from kindly.fetch.chain.responses import retry_after_s
from kindly.fetch.chain.types import ConnectionDropped, Hop, HopReply, HopRequest

SERVER_ERRORS = frozenset({500, 502, 503, 504})
MAX_WAIT_S = 3.0
"""The longest `Retry-After` that is waited for within a call."""
MIN_PAUSE_S, JITTER_S = 0.1, 0.4


class RetryingHop:
    """Sends a failed request once more; the second response is final.

    The rate limits below remember a `Retry-After` and wait for it, so there is no wait for it here.
    """

    def __init__(self, hop: Hop, clock: Clock) -> None:
        self._hop = hop
        self._clock = clock

    async def __call__(self, request: HopRequest) -> HopReply:
        """The first response, or the second one after a temporary failure."""
        try:
            reply = await self._hop(request)
        except ConnectionDropped:
            pause_s = self._pause_s()
            if pause_s > request.deadline.remaining_s():
                raise
        else:
            retry_in_s = retry_after_s(reply, self._clock.now())
            if not _is_temporary(reply, retry_in_s):
                return reply
            pause_s = self._pause_s() if retry_in_s is None else 0.0
            if max(pause_s, retry_in_s or 0.0) > request.deadline.remaining_s():
                return reply
        await self._clock.sleep(pause_s)
        return await self._hop(request)

    def _pause_s(self) -> float:
        return MIN_PAUSE_S + JITTER_S * self._clock.random()


def _is_temporary(reply: HopReply, retry_in_s: float | None) -> bool:
    if retry_in_s is not None and reply.status in {429, 503}:
        return retry_in_s <= MAX_WAIT_S
    return reply.status in SERVER_ERRORS
