"""Dead links: the copy of a page in the Wayback Machine, for a page that is gone or cannot be reached.

Follows the availability API (archive.org/help/wayback_api.php): one question for the closest copy, then the copy as it
was archived, without the archive's own frame. Nothing of it is stored: the page may come back.
"""

import json
import re
from dataclasses import replace
from urllib.parse import quote

from kindly.errors import FetchError, InputError
from kindly.fetch.chain.types import Fetch, PageRequest
from kindly.frozen import frozen
from kindly.models import FetchMethod, How, Page
from kindly.urls import Url, parse

AVAILABLE = "/wayback/available?url="
TIMESTAMP = re.compile(r"\d{14}")
HOW = How(FetchMethod.LOADER, "wayback")
NO_STORE = "no-store"


@frozen
class Snapshot:
    """One copy: its address, and the day it was made."""

    url: str
    day: str


@frozen
class WaybackMachine:
    """The Wayback Machine."""

    fetch: Fetch
    base_url: str

    async def copy_of(self, request: PageRequest, gone: FetchError) -> Page | None:
        """The copy of a page that could not be fetched, which says why it is one; None if there is none.

        An address that no public site can have is not looked up, so that no name of an internal host is sent.
        """
        if not is_public_name(request.url):
            return None
        try:
            asked = parse(self.base_url.rstrip("/") + AVAILABLE + quote(str(request.url), safe=""))
            answer = await self.fetch(PageRequest(asked, request.deadline))
            found = closest(answer.body)
            if found is None:
                return None
            copy = await self.fetch(PageRequest(parse(found.url), request.deadline))
        except (FetchError, InputError):
            return None
        return replace(
            copy,
            url=str(request.url),
            requested_url=str(request.url),
            how=HOW,
            cache_control=NO_STORE,
            note=f"{gone.detail} This is the copy of {found.day} in the Wayback Machine.",
        )


def is_public_name(url: Url) -> bool:
    """Whether a host is a name with a dot, not an address."""
    return url.address is None and "." in url.host


def closest(body: bytes) -> Snapshot | None:
    """The copy that an answer names; None if it names none that was a page."""
    try:
        answer = json.loads(body)
        found = answer["archived_snapshots"]["closest"]
        url, timestamp, status = (str(found[name]) for name in ("url", "timestamp", "status"))
    except (ValueError, RecursionError, KeyError, TypeError):
        return None
    mark = f"/{timestamp}/"
    if not TIMESTAMP.fullmatch(timestamp) or mark not in url or not status.startswith("2"):
        return None
    if not found.get("available"):
        return None
    day = f"{timestamp[:4]}-{timestamp[4:6]}-{timestamp[6:8]}"
    return Snapshot(url.replace(mark, f"/{timestamp}id_/", 1), day)
