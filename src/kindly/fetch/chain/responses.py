"""Responses: an HTTP status into an error, headers and body into a `Page`. Pure."""

import re
from dataclasses import replace
from datetime import datetime

from kindly.errors import (
    FetchError,
    PageChallenged,
    PageForbidden,
    PageNotFound,
    PageRateLimited,
    PageUnreachable,
)
from kindly.fetch.chain.types import HopReply
from kindly.models import Page
from kindly.net import rate_limit_headers
from kindly.text import challenges
from kindly.urls import Url

CHALLENGE_BYTES = 100_000
CHARSET = re.compile(r"charset\s*=\s*[\"']?([^\s\"';,]+)", re.IGNORECASE)


def failure(reply: HopReply, now: datetime, *, known: bool = False) -> FetchError | None:
    """The error for a response's status; None for a page, and for a `304` if the page is `known`."""
    status = reply.status
    if 200 <= status < 300 or (status == 304 and known):
        return None
    return _of_proxy(reply) if reply.by_proxy else _of_site(reply, now)


def _of_proxy(reply: HopReply) -> PageUnreachable:
    """The error for a refusal of the proxy; without a status, which would be taken for the site's."""
    return PageUnreachable(
        f"The configured proxy, not {reply.url.host}, refused the request (HTTP {reply.status}).",
        url=str(reply.url),
    )


def _of_site(reply: HopReply, now: datetime) -> FetchError:
    url, status = str(reply.url), reply.status
    if status in {404, 410}:
        return PageNotFound(f"There is no such page (HTTP {status}).", url=url, status=status)
    if is_challenge(reply):
        sentence = (
            f"{reply.url.host} answered with a bot check instead of the page (HTTP {status})."
        )
        return PageChallenged(sentence, url=url, status=status)
    wait_s = retry_after_s(reply, now)
    if status == 429 or (status == 503 and wait_s is not None):
        return rate_limited(reply.url, status, wait_s)
    if 400 <= status < 500:
        says = (
            "The page needs a login"
            if status in {401, 407}
            else f"{reply.url.host} refuses to show the page"
        )
        return PageForbidden(f"{says} (HTTP {status}).", url=url, status=status)
    return PageUnreachable(
        f"{reply.url.host} failed to answer (HTTP {status}).", url=url, status=status
    )


def rate_limited(url: Url, status: int, wait_s: float | None) -> PageRateLimited:
    """The error for a rate limit; the same for the refusal and for a request that was not sent because of it."""
    return PageRateLimited(
        f"{url.host} limits the rate of requests (HTTP {status}).",
        url=str(url),
        status=status,
        retry_after_s=wait_s,
    )


def is_challenge(reply: HopReply) -> bool:
    """Whether a refusal is a bot check, by its headers, its markup or its title."""
    html = reply.body[:CHALLENGE_BYTES].lower()
    return challenges.in_response(html, reply.headers) is not None


def retry_after_s(reply: HopReply, now: datetime) -> float | None:
    """Seconds that a response's `Retry-After` asks to wait, as a number or as a date."""
    return rate_limit_headers.retry_after_s(reply.header("retry-after"), now)


def to_page(reply: HopReply, requested: Url, now: datetime) -> Page:
    """The page of a successful response."""
    media_type, _, parameters = (reply.header("content-type") or "").partition(";")
    charset = CHARSET.search(parameters)
    page = Page(
        url=str(reply.url),
        requested_url=str(requested),
        status=reply.status,
        media_type=media_type.strip().lower(),
        body=reply.body,
        fetched_at=now,
        charset=charset[1] if charset else None,
        cut=reply.cut,
    )
    return replace(
        page,
        etag=reply.header("etag"),
        last_modified=reply.header("last-modified"),
        cache_control=(reply.header("cache-control") or "").lower(),
    )
