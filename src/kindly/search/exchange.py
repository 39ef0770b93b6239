"""One HTTP exchange with a provider: request → JSON object, or the one error that says why not.

Every failure becomes a leaf of `SearchError` here, in words that hold neither the key nor anything
the provider wrote. What the object means is the provider's business; whom to ask next is the
router's.
"""

import contextlib
import json
import math
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

import anyio

from kindly.budget import Deadline
from kindly.errors import (
    ProviderAnswerInvalid,
    ProviderAuth,
    ProviderFailed,
    ProviderRateLimited,
    ProviderRejected,
    ProviderTimeout,
    ProviderUnreachable,
    SearchError,
)
from kindly.search.provider import ProviderSpec

if TYPE_CHECKING:
    import httpx2

MAX_ANSWER_BYTES = 4_000_000
"""Decoded; a hundred results with long snippets stay far below."""

SENTENCES: dict[type[SearchError], str] = {
    ProviderFailed: "{label} has a problem of its own (HTTP {status}): try again in a moment.",
    ProviderRateLimited: (
        "{label}'s rate limit or quota is reached (HTTP {status}): wait, or check its plan."
    ),
    ProviderAuth: (
        "{label} refused the key (HTTP {status}): check {key_setting} and the account behind it."
    ),
    ProviderRejected: (
        "{label} did not accept the request (HTTP {status}): "
        "check the query, its filters and {base_url_setting}."
    ),
    ProviderAnswerInvalid: (
        "{label} answered with a redirect (HTTP {status}), and redirects are not followed, "
        "as the key would travel along: check {base_url_setting}."
    ),
}
"""What a status that is no success is called."""


async def ask(
    client: "httpx2.AsyncClient",
    request: "httpx2.Request",
    spec: ProviderSpec,
    deadline: Deadline,
) -> dict[str, object]:
    """Send one request and give the JSON object that came back.

    Raises:
        SearchError: One of its provider leaves.
    """
    answer = await send(client, request, spec, deadline)
    try:
        body = json.loads(answer)
    except (ValueError, RecursionError):
        body = None
    if isinstance(body, dict):
        return body
    raise invalid_answer(spec, "it is not a JSON object")


async def send(
    client: "httpx2.AsyncClient",
    request: "httpx2.Request",
    spec: ProviderSpec,
    deadline: Deadline,
) -> bytes:
    """Send one request and give the bytes of a successful answer. Redirects are never followed.

    Raises:
        SearchError: One of its provider leaves.
    """
    outcome: bytes | SearchError = _timed_out(spec)
    if remaining_s := deadline.remaining_s():
        with anyio.move_on_after(remaining_s):
            outcome = await _exchange(client, request, spec)
    if isinstance(outcome, SearchError):
        raise outcome
    return outcome


def invalid_answer(spec: ProviderSpec, why: str) -> ProviderAnswerInvalid:
    """The error for an answer of another shape than the vendor promises."""
    return ProviderAnswerInvalid(
        f"{spec.label}'s answer cannot be used, as {why}: "
        f"try again, and check {spec.base_url_setting} if it stays so.",
        provider=spec.name,
    )


def retry_after_s(value: str | None, now: datetime) -> float | None:
    """Seconds to wait by a Retry-After header (RFC 9110 §10.2.3), or None if it says nothing."""
    if value is None:
        return None
    with contextlib.suppress(ValueError):
        seconds = float(value)
        return seconds if seconds >= 0 and math.isfinite(seconds) else None
    with contextlib.suppress(ValueError):
        moment = parsedate_to_datetime(value)
        aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return max(0.0, (aware - now).total_seconds())
    return None


async def _exchange(
    client: "httpx2.AsyncClient", request: "httpx2.Request", spec: ProviderSpec
) -> bytes | SearchError:
    """The answer, or the error to raise once this frame is gone.

    The HTTP library's errors hold the request and with it the key: ours are raised outside the
    handlers, so that none of theirs stays behind as a cause or context.
    """
    import httpx2

    try:
        response = await client.send(request, stream=True, follow_redirects=False)
        async with contextlib.aclosing(response):
            return _refusal(response, spec) or await _read(response, spec)
    except httpx2.TimeoutException:
        return _timed_out(spec)
    except httpx2.DecodingError:
        return invalid_answer(spec, "its compression is broken")
    except httpx2.RequestError as error:
        return ProviderUnreachable(
            f"{spec.label} could not be reached ({type(error).__name__}): "
            f"check the network, the proxy and {spec.base_url_setting}.",
            provider=spec.name,
        )


async def _read(response: "httpx2.Response", spec: ProviderSpec) -> bytes | SearchError:
    body = bytearray()
    async with contextlib.aclosing(response.aiter_bytes()) as chunks:
        async for chunk in chunks:
            body += chunk
            if len(body) > MAX_ANSWER_BYTES:
                return invalid_answer(spec, f"it is larger than {MAX_ANSWER_BYTES:,} bytes")
    return bytes(body)


def _timed_out(spec: ProviderSpec) -> ProviderTimeout:
    return ProviderTimeout(
        f"{spec.label} did not answer in time: try again in a moment.", provider=spec.name
    )


def _refusal(response: "httpx2.Response", spec: ProviderSpec) -> SearchError | None:
    status = response.status_code
    leaf = _leaf_for(status, spec)
    if leaf is None:
        return None
    sentence = SENTENCES[leaf].format(
        label=spec.label,
        status=status,
        key_setting=spec.key_setting,
        base_url_setting=spec.base_url_setting,
    )
    return leaf(
        " ".join(filter(None, (sentence, spec.status_notes.get(status)))),
        provider=spec.name,
        status=status,
        retry_after_s=retry_after_s(response.headers.get("Retry-After"), datetime.now(UTC)),
    )


def _leaf_for(status: int, spec: ProviderSpec) -> type[SearchError] | None:
    if status in spec.limit_statuses:
        return ProviderRateLimited
    if status in {401, 402, 403}:
        return ProviderAuth
    if status >= 500:
        return ProviderFailed
    if status >= 400:
        return ProviderRejected
    return ProviderAnswerInvalid if status >= 300 else None
