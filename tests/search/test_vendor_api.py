"""One HTTP call to a vendor: the JSON object, or the error that says why not."""

from collections.abc import AsyncIterator
from dataclasses import replace

import anyio
import httpx2
import pytest

from kindly.budget import Deadline
from kindly.errors import (
    ProviderAnswerInvalid,
    ProviderAuth,
    ProviderFailed,
    ProviderRateLimited,
    ProviderRejected,
    ProviderTimeout,
    SearchError,
)
from kindly.search.provider import ProviderSpec
from kindly.search.providers.serper import SPEC
from kindly.search.vendor_api import MAX_ANSWER_BYTES, VendorApi
from tests.support.fakes import FakeApi, Reply

pytestmark = pytest.mark.anyio


async def answer_to(reply: Reply, spec: ProviderSpec = SPEC) -> dict[str, object]:
    async with FakeApi({"vendor.example": [reply]}).client() as client:
        request = client.build_request("GET", "https://vendor.example/")
        with anyio.fail_after(120):
            return await VendorApi(client, spec).json(request, Deadline.after(60))


async def test_a_json_object_is_returned_unchanged() -> None:
    assert await answer_to(httpx2.Response(200, json={"a": [1, None]})) == {"a": [1, None]}


@pytest.mark.parametrize(
    "content",
    [b"", b"null", b"[]", b'"text"', b"{", b"\xff\xfe\x00", b"[" * 200_000, b"1" * 5000],
    ids=["nothing", "null", "list", "string", "cut", "binary", "deep", "long-number"],
)
async def test_an_answer_that_is_not_a_json_object_is_refused(content: bytes) -> None:
    with pytest.raises(ProviderAnswerInvalid) as caught:
        await answer_to(httpx2.Response(200, content=content))
    assert caught.value.__context__ is None


class Endless(httpx2.AsyncByteStream):
    """A body without an end; counts what was read and whether it was closed."""

    def __init__(self, chunk: bytes) -> None:
        self.chunk = chunk
        self.bytes_read = 0
        self.closed = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while True:
            self.bytes_read += len(self.chunk)
            yield self.chunk

    async def aclose(self) -> None:
        self.closed = True


async def test_a_huge_answer_is_not_read_to_its_end_and_refused() -> None:
    body = Endless(b" " * 100_000)
    with pytest.raises(ProviderAnswerInvalid):
        await answer_to(httpx2.Response(200, stream=body))
    assert body.bytes_read <= MAX_ANSWER_BYTES + 100_000
    assert body.closed


async def test_the_body_of_a_refusal_is_not_read() -> None:
    body = Endless(b"x")
    with pytest.raises(ProviderRejected):
        await answer_to(httpx2.Response(400, stream=body))
    assert (body.bytes_read, body.closed) == (0, True)


WORDED = replace(SPEC, reasons={"quotaExceeded": ProviderRateLimited, "BAD_KEY": ProviderAuth})
"""A vendor that names the reason of a refusal by a code."""


@pytest.mark.parametrize(
    ("status", "body", "leaf"),
    [
        (403, {"error": {"errors": [{"reason": "quotaExceeded"}]}}, ProviderRateLimited),
        (422, {"error": {"code": "BAD_KEY", "status": 422}}, ProviderAuth),
        (400, {"error": {"details": [{"reason": "BAD_KEY"}]}}, ProviderAuth),
        (403, {"error": {"message": "quotaExceeded"}}, ProviderAuth),
        (403, {"reason": ["quotaExceeded"]}, ProviderAuth),
        (400, {"a": {"b": {"c": {"d": {"e": {"f": {"code": "BAD_KEY"}}}}}}}, ProviderRejected),
        (400, ["BAD_KEY"], ProviderRejected),
        (429, {"code": "BAD_KEY"}, ProviderRateLimited),
        (500, {"code": "BAD_KEY"}, ProviderFailed),
    ],
    ids=[
        "quota",
        "key",
        "details",
        "in-a-sentence",
        "in-a-list",
        "deep",
        "no-object",
        "limit",
        "failure",
    ],
)
async def test_an_error_code_in_the_body_may_say_more_than_the_status(
    status: int, body: object, leaf: type[SearchError]
) -> None:
    with pytest.raises(SearchError) as caught:
        await answer_to(httpx2.Response(status, json=body), WORDED)
    assert type(caught.value) is leaf
    assert caught.value.status == status
    assert caught.value.__context__ is None


class Broken(httpx2.AsyncByteStream):
    """A body that breaks off."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield b'{"code": "BAD_KEY"'
        raise httpx2.ReadError("reset")


@pytest.mark.parametrize(
    "reply",
    [
        httpx2.Response(400, content=b"{"),
        httpx2.Response(400, content=b"[" * 60_000),
        httpx2.Response(400, stream=Endless(b'{"code": "BAD_KEY"}' * 1000)),
        httpx2.Response(400, stream=Broken()),
        httpx2.Response(400, stream=httpx2.ByteStream(b"no"), headers={"Content-Encoding": "gzip"}),
    ],
    ids=["cut", "nested", "endless", "broken-off", "compression"],
)
async def test_a_refusal_without_a_known_code_is_judged_by_its_status(
    reply: httpx2.Response,
) -> None:
    with pytest.raises(ProviderRejected):
        await answer_to(reply, WORDED)


async def test_a_refusal_whose_body_never_arrives_is_judged_by_its_status() -> None:
    body = Silent()
    with pytest.raises(ProviderRejected):
        await answer_to(httpx2.Response(400, stream=body), WORDED)
    assert body.closed


async def test_broken_compression_is_an_invalid_answer() -> None:
    body = httpx2.ByteStream(b"not gzip")
    with pytest.raises(ProviderAnswerInvalid):
        await answer_to(httpx2.Response(200, stream=body, headers={"Content-Encoding": "gzip"}))


class Silent(httpx2.AsyncByteStream):
    """A body that never comes."""

    def __init__(self) -> None:
        self.awaited = anyio.Event()
        self.closed = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        self.awaited.set()
        await anyio.sleep_forever()
        yield b""

    async def aclose(self) -> None:
        self.closed = True


async def test_a_body_that_never_arrives_ends_with_the_deadline() -> None:
    body = Silent()
    async with FakeApi({"vendor.example": [httpx2.Response(200, stream=body)]}).client() as client:
        request = client.build_request("GET", "https://vendor.example/")
        with anyio.fail_after(120), pytest.raises(ProviderTimeout):
            await VendorApi(client, SPEC).json(request, Deadline.after(0.5))
    assert body.closed


async def test_a_cancelled_call_closes_the_response_and_is_no_error_of_the_provider() -> None:
    body = Silent()
    async with FakeApi({"vendor.example": [httpx2.Response(200, stream=body)]}).client() as client:
        request = client.build_request("GET", "https://vendor.example/")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(VendorApi(client, SPEC).json, request, Deadline.after(30))
            with anyio.fail_after(120):
                await body.awaited.wait()
            tasks.cancel_scope.cancel()
    assert tasks.cancel_scope.cancelled_caught
    assert body.closed


async def test_retry_after_date_reaches_the_error() -> None:
    headers = {"Retry-After": "Sun, 01 Mar 2020 12:00:00 GMT"}
    with pytest.raises(ProviderRateLimited) as caught:
        await answer_to(httpx2.Response(429, headers=headers))
    assert caught.value.retry_after_s == 0


@pytest.mark.parametrize(
    ("reply", "fix"),
    [
        pytest.param(httpx2.Response(401), "SERPER_API_KEY", id="key"),
        pytest.param(httpx2.Response(400), "credits", id="credits"),
        pytest.param(httpx2.Response(404), "SERPER_BASE_URL", id="address"),
        pytest.param(httpx2.Response(302), "SERPER_BASE_URL", id="redirect"),
        pytest.param(httpx2.Response(200, html="<p>"), "SERPER_BASE_URL", id="answer"),
        pytest.param(httpx2.ConnectError("x"), "network", id="network"),
    ],
)
async def test_an_error_names_the_vendor_and_the_setting_to_check(reply: Reply, fix: str) -> None:
    with pytest.raises(SearchError) as caught:
        await answer_to(reply)
    assert "Serper" in str(caught.value)
    assert fix in str(caught.value)
