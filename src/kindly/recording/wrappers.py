"""Wrappers that record or replay everything that reaches the network: page client, API clients, browser."""

import httpx2

from kindly.budget import Deadline
from kindly.clock import Clock
from kindly.errors import FetchError, PageUnreachable
from kindly.fetch.chain.types import Hop, HopReply, HopRequest
from kindly.fetch.fetcher import Seams
from kindly.models import FetchMethod, How, Page, Screenshot
from kindly.recording.recording_file import (
    DROPPED_HEADERS,
    NOT_RECORDED,
    RecordedAnswer,
    Recording,
    Request,
    body_digest,
)
from kindly.redact import Redactor
from kindly.stages import Renders
from kindly.urls import Url


class RecordedHop:
    """Single requests of the page client."""

    def __init__(self, hop: Hop, recording: Recording, redactor: Redactor) -> None:
        self._hop = hop
        self._recording = recording
        self._redactor = redactor

    async def __call__(self, request: HopRequest) -> HopReply:
        """The recorded reply, or the network's, which is then recorded unless a login was sent for it.

        Raises:
            FetchError: the request failed, now or when it was recorded.
        """
        if request.private:
            return await self._hop(request)
        method = "GET" if request.body is None else "POST"
        digest = body_digest(self._redactor, request.body or b"")
        key = Request("page", method, self._redactor.text(str(request.url)), digest)
        answer = self._recording.find(key)
        if answer is None:
            try:
                reply = await self._hop(request)
            except FetchError as error:
                self._recording.add(key, RecordedAnswer(0, failure=error.detail))
                raise
            self._recording.add(key, RecordedAnswer(reply.status, reply.headers, reply.body))
            return reply
        if answer.failure:
            raise PageUnreachable(answer.failure, url=str(request.url))
        return HopReply(request.url, answer.status, answer.headers, answer.body)


class RecordedTransport(httpx2.AsyncBaseTransport):
    """Requests of an API client."""

    def __init__(
        self, transport: httpx2.AsyncBaseTransport, recording: Recording, redactor: Redactor
    ) -> None:
        self._transport = transport
        self._recording = recording
        self._redactor = redactor

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The recorded response, or the network's, which is then recorded.

        Raises:
            httpx2.TransportError: the request failed, now or when it was recorded.
        """
        digest = body_digest(self._redactor, await request.aread())
        key = Request("api", request.method, self._redactor.text(str(request.url)), digest)
        answer = self._recording.find(key)
        if answer is None:
            answer = await self._send(request)
            self._recording.add(key, answer)
        if answer.failure:
            raise httpx2.ConnectError(answer.failure, request=request)
        return httpx2.Response(
            answer.status, headers=list(answer.headers), content=answer.body, request=request
        )

    async def aclose(self) -> None:
        await self._transport.aclose()

    async def _send(self, request: httpx2.Request) -> RecordedAnswer:
        try:
            response = await self._transport.handle_async_request(request)
            body = await response.aread()
        except httpx2.TransportError as error:
            return RecordedAnswer(0, failure=type(error).__name__)
        headers = [
            pair for pair in response.headers.multi_items() if pair[0] not in DROPPED_HEADERS
        ]
        return RecordedAnswer(response.status_code, tuple(headers), body)


class RecordedRenderer:
    """Pages that a browser renders. A replay needs no browser."""

    def __init__(self, renderer: Renders | None, recording: Recording) -> None:
        self._renderer = renderer
        self._recording = recording

    async def release(self) -> None:
        """Close the browser, if there is one that no page uses."""
        if self._renderer is not None:
            await self._renderer.release()

    async def screenshot(self, url: Url, deadline: Deadline) -> Screenshot:
        """A picture of the page, which is not recorded.

        Raises:
            FetchError: the page could not be rendered, or there is no browser.
        """
        if self._renderer is None:
            raise PageUnreachable(NOT_RECORDED, url=str(url))
        return await self._renderer.screenshot(url, deadline)

    async def render(self, url: Url, deadline: Deadline) -> Page:
        """The recorded page, or the browser's, which is then recorded.

        Raises:
            FetchError: the page could not be rendered, or is not in the recording.
        """
        key = Request("render", "GET", str(url))
        answer = self._recording.find(key)
        if answer is None and self._renderer is not None:
            page = await self._renderer.render(url, deadline)
            headers = (("url", page.url), ("content-type", page.media_type))
            self._recording.add(key, RecordedAnswer(page.status, headers, page.body))
            return page
        if answer is None or answer.failure:
            raise PageUnreachable(answer.failure if answer else NOT_RECORDED, url=str(url))
        recorded = dict(answer.headers)
        return Page(
            url=recorded["url"],
            requested_url=str(url),
            status=answer.status,
            media_type=recorded["content-type"],
            body=answer.body,
            fetched_at=self._recording.now(),
            charset="utf-8",
            how=How(FetchMethod.BROWSER),
        )


class RecordingWrappers:
    """One recording around page client, API clients and browser."""

    def __init__(self, recording: Recording, redactor: Redactor) -> None:
        self._recording = recording
        self._redactor = redactor

    @property
    def seams(self) -> Seams:
        """For the page client: its requests, and the clock."""
        return Seams(
            clock=Clock(time=lambda: self._recording.now().timestamp()),
            wrap_http=lambda hop: RecordedHop(hop, self._recording, self._redactor),
        )

    def around(self, transport: httpx2.AsyncBaseTransport) -> httpx2.AsyncBaseTransport:
        """For the API clients."""
        return RecordedTransport(transport, self._recording, self._redactor)

    def renderer(self, renderer: Renders | None) -> Renders:
        """For the browser; in a replay there may be none."""
        return RecordedRenderer(renderer, self._recording)

    def close(self) -> None:
        self._recording.close()
