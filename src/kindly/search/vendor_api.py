"""One HTTP call to a provider's API: request → JSON object, or the one error that says why not.

Every failure becomes a leaf of `SearchError` here, in words that contain neither the key nor anything the provider
wrote. The body of a refusal is read only where the provider's `reasons` name codes to look for.
"""

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from typing import TYPE_CHECKING

import anyio

from kindly.budget import Deadline
from kindly.clock import SYSTEM_CLOCK, Clock
from kindly.errors import (
    CertificateRefused,
    ProviderAnswerInvalid,
    ProviderAuth,
    ProviderFailed,
    ProviderRateLimited,
    ProviderRejected,
    ProviderTimeout,
    ProviderUnreachable,
    SearchError,
)
from kindly.frozen import frozen
from kindly.net.rate_limit_headers import retry_after_s
from kindly.net.tls import certificate_error
from kindly.search.provider import ProviderSpec

if TYPE_CHECKING:
    import httpx2

MAX_ANSWER_BYTES = 4_000_000
"""Decoded; a hundred results with long snippets are far smaller."""
MAX_REFUSAL_BYTES = 64_000
REFUSAL_TIMEOUT_S = 0.5
"""The status is known already; the reason is not worth a long wait."""
REASON_FIELDS = ("code", "reason", "status")
"""Where vendors put the code of an error; their messages are never read."""
REASON_DEPTH = 6
"""Nesting of the JSON that is searched."""

SENTENCES: dict[type[SearchError], str] = {
    ProviderTimeout: "{label} did not answer in time (HTTP {status}).",
    ProviderFailed: "{label} returned a server error (HTTP {status}).",
    ProviderRateLimited: "{label}'s rate limit or quota is reached (HTTP {status}).",
    ProviderAuth: "{label} refused the API key (HTTP {status}): check {key_setting} and the account.",
    ProviderRejected: (
        "{label} rejected the request (HTTP {status}); "
        "if it rejects every query, check {address_setting}."
    ),
    ProviderAnswerInvalid: (
        "{label} returned a redirect (HTTP {status}), which is not followed because the key would "
        "be sent along: check {address_setting}."
    ),
}
"""By error, for an unsuccessful status."""


def _ignore(headers: Mapping[str, str]) -> None:
    pass


@frozen
class VendorApi:
    """A vendor's API over the shared HTTP client."""

    client: "httpx2.AsyncClient"
    spec: ProviderSpec
    learn_limits: Callable[[Mapping[str, str]], None] = _ignore
    """Called with the headers of every response, refusals included."""
    slots: anyio.Semaphore | None = field(default=None, repr=False)
    """Limits concurrent requests, together with all other traffic."""
    clock: Clock = SYSTEM_CLOCK

    async def json(self, request: "httpx2.Request", deadline: Deadline) -> dict[str, object]:
        """Send one request and return the JSON object of the response.

        Raises:
            SearchError: One of its provider classes.
        """
        answer = await self.send(request, deadline)
        try:
            body = json.loads(answer)
        except (ValueError, RecursionError):
            body = None
        if isinstance(body, dict):
            return body
        raise invalid_answer(self.spec, "it is not a JSON object")

    async def send(self, request: "httpx2.Request", deadline: Deadline) -> bytes:
        """Send one request and return the body of a successful response. Redirects are never followed.

        Raises:
            SearchError: One of its provider classes.
        """
        outcome: bytes | SearchError = _timed_out(self.spec)
        if remaining_s := deadline.remaining_s():
            with anyio.move_on_after(remaining_s):
                async with self.slots or contextlib.nullcontext():
                    outcome = await _exchange(self, request)
        if isinstance(outcome, SearchError):
            raise outcome
        return outcome


def invalid_answer(spec: ProviderSpec, why: str) -> ProviderAnswerInvalid:
    """The error for an answer that is not in the documented format."""
    return ProviderAnswerInvalid(
        f"{spec.label}'s answer cannot be used: {why}. "
        f"If this persists, check {spec.address_setting}.",
        provider=spec.name,
    )


async def _exchange(api: VendorApi, request: "httpx2.Request") -> bytes | SearchError:
    """The body, or the error to raise after this frame is gone.

    The HTTP library's errors contain the request and with it the key. Ours are raised outside the handlers, so that
    none of theirs remains as a cause or context.
    """
    import httpx2

    spec = api.spec
    try:
        response = await api.client.send(request, stream=True, follow_redirects=False)
        api.learn_limits(response.headers)
        async with contextlib.aclosing(response):
            if leaf := _leaf_for(response.status_code, spec):
                return _refusal(await _named_reason(response, spec) or leaf, response, api)
            return await _read(response, spec)
    except httpx2.TimeoutException:
        return _timed_out(spec)
    except httpx2.DecodingError:
        return invalid_answer(spec, "its compression is broken")
    except httpx2.RequestError as error:
        leaf = CertificateRefused if certificate_error(error) else ProviderUnreachable
        return leaf(
            f"{spec.label} could not be reached ({type(error).__name__}): "
            f"check the network, the proxy and {spec.address_setting}.",
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
    return ProviderTimeout(f"{spec.label} did not answer in time.", provider=spec.name)


async def _named_reason(
    response: "httpx2.Response", spec: ProviderSpec
) -> type[SearchError] | None:
    """The error for a code in the JSON of a refusal, if the provider declares that code."""
    import httpx2

    status = response.status_code
    if not spec.reasons or not 400 <= status < 500 or status in spec.limit_statuses:
        return None
    body = bytearray()
    with (
        anyio.move_on_after(REFUSAL_TIMEOUT_S),
        contextlib.suppress(httpx2.RequestError, ValueError, RecursionError),
    ):
        async with contextlib.aclosing(response.aiter_bytes()) as chunks:
            async for chunk in chunks:
                body += chunk
                if len(body) > MAX_REFUSAL_BYTES:
                    return None
        codes = set(_reasons_in(json.loads(body), REASON_DEPTH))
        return next((leaf for code, leaf in spec.reasons.items() if code in codes), None)
    return None


def _reasons_in(value: object, depth: int) -> Iterator[str]:
    if depth and isinstance(value, list):
        for item in value:
            yield from _reasons_in(item, depth - 1)
    elif depth and isinstance(value, dict):
        for name, part in value.items():
            if name in REASON_FIELDS and isinstance(part, str):
                yield part
            else:
                yield from _reasons_in(part, depth - 1)


def _refusal(leaf: type[SearchError], response: "httpx2.Response", api: VendorApi) -> SearchError:
    spec, status = api.spec, response.status_code
    sentence = spec.status_sentences.get(status, SENTENCES[leaf]).format(
        label=spec.label,
        status=status,
        key_setting=spec.key_setting,
        address_setting=spec.address_setting,
    )
    return leaf(
        " ".join(filter(None, (sentence, spec.status_notes.get(status)))),
        provider=spec.name,
        status=status,
        retry_after_s=retry_after_s(response.headers.get("Retry-After"), api.clock.now()),
    )


def _leaf_for(status: int, spec: ProviderSpec) -> type[SearchError] | None:
    if status in spec.limit_statuses:
        return ProviderRateLimited
    if status in {401, 402, 403}:
        return ProviderAuth
    if status == 408:
        return ProviderTimeout
    if status >= 500:
        return ProviderFailed
    if status >= 400:
        return ProviderRejected
    return ProviderAnswerInvalid if status >= 300 else None
