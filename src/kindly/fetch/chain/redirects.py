"""From replies to pages: redirects followed hop by hop, statuses turned into leaves, headers into a
page's fields.
"""

import re
from dataclasses import replace
from datetime import datetime
from html import unescape

from kindly import challenges
from kindly.challenges import Where
from kindly.clock import Clock
from kindly.errors import (
    AddressRefused,
    FetchError,
    InputError,
    PageChallenged,
    PageForbidden,
    PageNotFound,
    PageRateLimited,
    PageUnreachable,
)
from kindly.fetch.chain.types import Headers, Hop, HopReply, HopRequest, PageRequest
from kindly.fetch.guard.guard import Guard
from kindly.models import Page
from kindly.net import rate_limit_headers
from kindly.urls import Url, join

REDIRECTS = frozenset({301, 302, 303, 307, 308})
REFRESH_PAGE_BYTES = 20_000
REFRESH_PAGE_WORDS = 60
"""A page with more words is one to be read, and only reloads itself."""
REFRESH_WITHIN_S = 10
META = re.compile(rb"<meta\b[^<>]{0,2000}>", re.IGNORECASE)
REFRESH = re.compile(rb"http-equiv\s*=\s*[\"']?\s*refresh", re.IGNORECASE)
REFRESH_TO = re.compile(
    rb"content\s*=\s*[\"']?\s*(\d{1,4})(?:\.\d*)?\s*[;,]\s*url\s*=\s*[\"']?\s*([^\"'<>\s]+)",
    re.IGNORECASE,
)
TAG = re.compile(rb"<(?:script|style)\b.*?</(?:script|style)>|<[^<>]*>", re.IGNORECASE | re.DOTALL)
CHALLENGE_BYTES = 100_000
CHARSET = re.compile(r"charset\s*=\s*[\"']?([^\s\"';,]+)", re.IGNORECASE)


class Redirects:
    """Follows a page's redirects; each hop is parsed strictly, guarded again, and asked without a
    trace of the last.
    """

    def __init__(self, hop: Hop, guard: Guard, max_redirects: int, times: Clock) -> None:
        self._hop = hop
        self._guard = guard
        self._max_redirects = max_redirects
        self._times = times

    async def __call__(self, wanted: PageRequest) -> Page:
        """The page at the end of the redirects.

        Raises:
            FetchError: a leaf, its `url` the one that was wanted.
        """
        try:
            reply = await self.follow(wanted)
            if error := failure(reply, self._times.now(), known=wanted.known is not None):
                raise error
        except FetchError as error:
            error.url = str(wanted.url)
            raise
        return to_page(reply, wanted.url, self._times.now())

    async def follow(self, wanted: PageRequest) -> HopReply:
        """The reply at the end of the redirects, whatever its status.

        Raises:
            FetchError: a leaf, when there is none.
        """
        url, extra = wanted.url, wanted.headers
        seen = {url}
        for _ in range(self._max_redirects + 1):
            self._guard.check(url)
            sent = _validators(wanted, url) + extra
            reply = await self._hop(HopRequest(url, wanted.deadline, sent, body=wanted.body))
            target = redirect_target(reply)
            if target is None:
                target = refresh_target(reply)
                if target is None or target in seen:
                    return reply
            if wanted.body is not None:
                raise PageUnreachable("What was posted is redirected elsewhere.", url=str(url))
            if target.origin != wanted.url.origin:
                extra = ()
            if target in seen:
                raise PageUnreachable("The page redirects in a circle.", url=str(url))
            seen.add(target)
            url = target
        raise PageUnreachable(
            f"The page redirects more than {self._max_redirects} times.", url=str(url)
        )


def redirect_target(reply: HopReply) -> Url | None:
    """Where a reply redirects to, or nothing when it does not.

    Raises:
        AddressRefused: it redirects to what is no plain http or https URL, or to two places at
        once.
    """
    if reply.status not in REDIRECTS:
        return None
    locations = {value for name, value in reply.headers if name == "location"}
    if not locations:
        raise PageUnreachable("The page redirects to nowhere.", url=str(reply.url))
    if len(locations) > 1:
        raise AddressRefused("The page redirects to two places at once.", url=str(reply.url))
    try:
        return join(reply.url, locations.pop())
    except InputError as error:
        raise AddressRefused(
            f"The page redirects to an address that may not be fetched. {error.detail}",
            url=str(reply.url),
        ) from error


def refresh_target(reply: HopReply) -> Url | None:
    """Where a page that holds hardly more than `<meta http-equiv="refresh">` sends its reader, or nothing.

    Raises:
        AddressRefused: it sends him to what is no plain http or https URL.
    """
    if reply.status != 200 or not 0 < len(reply.body) <= REFRESH_PAGE_BYTES:
        return None
    refresh = next((tag for tag in META.findall(reply.body) if REFRESH.search(tag)), b"")
    match = REFRESH_TO.search(refresh)
    if match is None or int(match[1]) > REFRESH_WITHIN_S:
        return None
    if len(TAG.sub(b"", reply.body).split()) > REFRESH_PAGE_WORDS:
        return None
    try:
        return join(reply.url, unescape(match[2].decode("utf-8", "replace")))
    except InputError as error:
        raise AddressRefused(
            f"The page sends its reader to an address that may not be fetched. {error.detail}",
            url=str(reply.url),
        ) from error


def failure(reply: HopReply, now: datetime, *, known: bool = False) -> FetchError | None:
    """The leaf for a reply's status, or nothing when it brought a page, or a `304` for one that is
    `known`.
    """
    url, status = str(reply.url), reply.status
    if 200 <= status < 300 or (status == 304 and known):
        return None
    if status in {404, 410}:
        return PageNotFound(f"There is no such page (HTTP {status}).", url=url, status=status)
    if is_challenge(reply):
        sentence = (
            f"{reply.url.host} answered with a bot check instead of the page (HTTP {status})."
        )
        return PageChallenged(sentence, url=url, status=status)
    wait_s = retry_after_s(reply, now)
    if status == 429 or (status == 503 and wait_s is not None):
        return PageRateLimited(
            f"{reply.url.host} asks to come back later (HTTP {status}).",
            url=url,
            status=status,
            retry_after_s=wait_s,
        )
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


def is_challenge(reply: HopReply) -> bool:
    """Whether a refusal is a bot check, by its headers, its markup or its title."""
    html = reply.body[:CHALLENGE_BYTES].lower()
    found = challenges.in_headers(reply.headers) or challenges.in_html(html, Where.RESPONSE)
    return (found or challenges.in_title(challenges.title_of(html))) is not None


def retry_after_s(reply: HopReply, now: datetime) -> float | None:
    """Seconds that a reply's `Retry-After` asks to wait, given as a number or as a date."""
    return rate_limit_headers.retry_after_s(reply.header("retry-after"), now)


def to_page(reply: HopReply, wanted: Url, now: datetime) -> Page:
    """The page that a reply brought."""
    media_type, _, parameters = (reply.header("content-type") or "").partition(";")
    charset = CHARSET.search(parameters)
    page = Page(
        url=str(reply.url),
        requested_url=str(wanted),
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


def _validators(wanted: PageRequest, url: Url) -> Headers:
    known = wanted.known
    if known is None or known.url != str(url):
        return ()
    pairs = (("If-None-Match", known.etag), ("If-Modified-Since", known.last_modified))
    return tuple((name, value) for name, value in pairs if value)
