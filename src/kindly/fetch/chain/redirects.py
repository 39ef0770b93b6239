"""Redirects: follows a page request hop by hop, by `Location` and by `<meta http-equiv="refresh">`.

Each hop is parsed strictly and checked by the SSRF guard before it is requested. This is *the* check of a URL: pages,
loaders' API calls and robots.txt all come through here. (The dial checks the resolved addresses once more.)
"""

import re
from html import unescape

from kindly.clock import Clock
from kindly.errors import AddressRefused, FetchError, InputError, PageUnreachable
from kindly.fetch.chain.responses import failure, to_page
from kindly.fetch.chain.types import Headers, Hop, HopReply, HopRequest, PageRequest
from kindly.fetch.guard.guard import Guard
from kindly.models import Page
from kindly.urls import Url, join

REDIRECTS = frozenset({301, 302, 303, 307, 308})
REFRESH_PAGE_BYTES = 20_000
REFRESH_PAGE_WORDS = 60
"""A page with more words has content, and only reloads itself."""
REFRESH_WITHIN_S = 10
META = re.compile(rb"<meta\b[^<>]{0,2000}>", re.IGNORECASE)
REFRESH = re.compile(rb"http-equiv\s*=\s*[\"']?\s*refresh", re.IGNORECASE)
REFRESH_TO = re.compile(
    rb"content\s*=\s*[\"']?\s*(\d{1,4})(?:\.\d*)?\s*[;,]\s*url\s*=\s*[\"']?\s*([^\"'<>\s]+)",
    re.IGNORECASE,
)
TAG = re.compile(rb"<(?:script|style)\b.*?</(?:script|style)>|<[^<>]*>", re.IGNORECASE | re.DOTALL)


class Redirects:
    """Follows redirects. No cookie or referrer goes from one hop to the next, and no extra header to another origin."""

    def __init__(self, hop: Hop, guard: Guard, max_redirects: int, clock: Clock) -> None:
        self._hop = hop
        self._guard = guard
        self._max_redirects = max_redirects
        self._clock = clock

    async def __call__(self, request: PageRequest) -> Page:
        """The page at the end of the redirects.

        Raises:
            FetchError: a leaf; its `url` is the requested one.
        """
        try:
            reply = await self.follow(request)
            if error := failure(reply, self._clock.now(), known=request.known is not None):
                raise error
        except FetchError as error:
            raise error.replace(url=str(request.url)) from error
        return to_page(reply, request.url, self._clock.now())

    async def follow(self, request: PageRequest) -> HopReply:
        """The response at the end of the redirects, whatever its status.

        Raises:
            FetchError: a leaf; its `url` is that of the hop that failed.
        """
        url, extra = request.url, request.headers
        visited = {url}
        for _ in range(self._max_redirects + 1):
            self._guard.check(url)
            headers = _validators(request, url) + extra
            is_private = request.private and bool(extra)
            reply = await self._hop(
                HopRequest(url, request.deadline, headers, body=request.body, private=is_private)
            )
            target = redirect_target(reply)
            if target is None:
                target = refresh_target(reply)
                if target is None or target in visited:
                    return reply
            if request.body is not None:
                raise PageUnreachable(
                    "The site redirects a POST request, which is not followed.", url=str(url)
                )
            if target.origin != request.url.origin:
                extra = ()
            if target in visited:
                raise PageUnreachable("The page redirects in a circle.", url=str(url))
            visited.add(target)
            url = target
        raise PageUnreachable(
            f"The page redirects more than {self._max_redirects} times.", url=str(url)
        )


def redirect_target(reply: HopReply) -> Url | None:
    """The URL that a response redirects to; None if it does not.

    Raises:
        AddressRefused: it is no plain http or https URL, or there are two.
        PageUnreachable: there is none.
    """
    if reply.status not in REDIRECTS:
        return None
    locations = {value for name, value in reply.headers if name == "location"}
    if not locations:
        raise PageUnreachable("The page redirects without naming an address.", url=str(reply.url))
    if len(locations) > 1:
        raise AddressRefused("The page redirects to two addresses at once.", url=str(reply.url))
    try:
        return join(reply.url, locations.pop())
    except InputError as error:
        raise AddressRefused(
            f"The page redirects to an address that may not be fetched. {error.detail}",
            url=str(reply.url),
        ) from error


def refresh_target(reply: HopReply) -> Url | None:
    """The URL of a `<meta http-equiv="refresh">` on a page with hardly any other content; None if there is none.

    Raises:
        AddressRefused: it is no plain http or https URL.
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
            f"The page redirects to an address that may not be fetched. {error.detail}",
            url=str(reply.url),
        ) from error


def _validators(request: PageRequest, url: Url) -> Headers:
    known = request.known
    if known is None or known.url != str(url):
        return ()
    pairs = (("If-None-Match", known.etag), ("If-Modified-Since", known.last_modified))
    return tuple((name, value) for name, value in pairs if value)
