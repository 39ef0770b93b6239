"""A URL → its registered domain (public suffix plus one label): `en.wikipedia.org` → `wikipedia.org`."""

from functools import cache
from typing import TYPE_CHECKING

from kindly.urls import domain

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList


def registered(url: str) -> str:
    """The registered domain; the host itself if there is none, as for an IP address."""
    host = domain(url)
    if not host or host.replace(".", "").isdecimal() or ":" in host:
        return host
    return _suffixes().privatesuffix(host) or host


@cache
def _suffixes() -> "PublicSuffixList":
    """The public suffix list that the library ships; nothing is downloaded."""
    from publicsuffixlist import PublicSuffixList

    return PublicSuffixList()
