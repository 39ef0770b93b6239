"""Puts a tape around everything that reaches the network: the page client, the API clients, the browser."""

import httpx2

from kindly.budget import Deadline
from kindly.clock import Clock
from kindly.errors import FetchError, PageUnreachable
from kindly.fetch.chain.types import Hop, HopReply, HopRequest
from kindly.fetch.fetcher import Seams
from kindly.models import FetchMethod, How, Page
from kindly.recording.recording_file import (
    ABSENT,
    LEFT_OUT,
    RecordedAnswer,
    Recording,
    Request,
    digest,
)
from kindly.redact import Redactor
from kindly.stages import Renders
from kindly.urls import Url


class RecordedHop:
    """Single requests of the page client, by way of a tape."""

    def __init__(self, hop: Hop, tape: Recording, redactor: Redactor) -> None:
        self._hop = hop
        self._tape = tape
        self._redactor = redactor

    async def __call__(self, request: HopRequest) -> HopReply:
        """The answer, recorded now or before.

        Raises:
            FetchError: there was none.
        """
        method = "GET" if request.body is None else "POST"
        sent = digest(self._redactor, request.body or b"")
        asked = Request("page", method, self._redactor.text(str(request.url)), sent)
        taken = self._tape.find(asked)
        if taken is None:
            try:
                reply = await self._hop(request)
            except FetchError as error:
                self._tape.keep(asked, RecordedAnswer(0, failure=error.detail))
                raise
            self._tape.keep(asked, RecordedAnswer(reply.status, reply.headers, reply.body))
            return reply
        if taken.failure:
            raise PageUnreachable(taken.failure, url=str(request.url))
        return HopReply(request.url, taken.status, taken.headers, taken.body)


class RecordedTransport(httpx2.AsyncBaseTransport):
    """What the API client sends, by way of a tape."""

    def __init__(
        self, transport: httpx2.AsyncBaseTransport, tape: Recording, redactor: Redactor
    ) -> None:
        self._transport = transport
        self._tape = tape
        self._redactor = redactor

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The answer, recorded now or before.

        Raises:
            httpx2.TransportError: there was none.
        """
        sent = digest(self._redactor, await request.aread())
        asked = Request("api", request.method, self._redactor.text(str(request.url)), sent)
        taken = self._tape.find(asked)
        if taken is None:
            taken = await self._asked(request)
            self._tape.keep(asked, taken)
        if taken.failure:
            raise httpx2.ConnectError(taken.failure, request=request)
        return httpx2.Response(
            taken.status, headers=list(taken.headers), content=taken.body, request=request
        )

    async def aclose(self) -> None:
        """Close the connections."""
        await self._transport.aclose()

    async def _asked(self, request: httpx2.Request) -> RecordedAnswer:
        try:
            response = await self._transport.handle_async_request(request)
            body = await response.aread()
        except httpx2.TransportError as error:
            return RecordedAnswer(0, failure=type(error).__name__)
        headers = [pair for pair in response.headers.multi_items() if pair[0] not in LEFT_OUT]
        return RecordedAnswer(response.status_code, tuple(headers), body)


class RecordedRenderer:
    """Rendered pages, by way of a tape."""

    def __init__(self, renderer: Renders | None, tape: Recording) -> None:
        self._renderer = renderer
        self._tape = tape

    async def render(self, url: Url, deadline: Deadline) -> Page:
        """The page, rendered now or before.

        Raises:
            FetchError: it could not be rendered.
        """
        asked = Request("render", "GET", str(url))
        taken = self._tape.find(asked)
        if taken is None and self._renderer is not None:
            page = await self._renderer.render(url, deadline)
            kept = (("url", page.url), ("content-type", page.media_type))
            self._tape.keep(asked, RecordedAnswer(page.status, kept, page.body))
            return page
        if taken is None or taken.failure:
            raise PageUnreachable(taken.failure if taken else ABSENT, url=str(url))
        headers = dict(taken.headers)
        return Page(
            url=headers["url"],
            requested_url=str(url),
            status=taken.status,
            media_type=headers["content-type"],
            body=taken.body,
            fetched_at=self._tape.now(),
            charset="utf-8",
            how=How(FetchMethod.BROWSER),
        )


class RecordingWrappers:
    """A tape around everything."""

    def __init__(self, tape: Recording, redactor: Redactor) -> None:
        self._tape = tape
        self._redactor = redactor

    @property
    def seams(self) -> Seams:
        """For the page client: single requests, and the time."""
        return Seams(
            clock=Clock(time=lambda: self._tape.now().timestamp()),
            wrap_http=lambda hop: RecordedHop(hop, self._tape, self._redactor),
        )

    def around(self, transport: httpx2.AsyncBaseTransport) -> httpx2.AsyncBaseTransport:
        """For the API clients."""
        return RecordedTransport(transport, self._tape, self._redactor)

    def renderer(self, renderer: Renders | None) -> Renders:
        """For the browser, of which there may be none."""
        return RecordedRenderer(renderer, self._tape)

    def close(self) -> None:
        """Finish the file."""
        self._tape.close()
