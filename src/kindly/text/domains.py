"""An address → the domain that was registered for it: that of `en.wikipedia.org` is `wikipedia.org`."""

from functools import cache
from typing import TYPE_CHECKING

from kindly.urls import domain

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList


def registered(url: str) -> str:
    """The registered domain; the host itself where there is none, as for an IP address."""
    host = domain(url)
    if not host or host.replace(".", "").isdecimal() or ":" in host:
        return host
    return _suffixes().privatesuffix(host) or host


@cache
def _suffixes() -> "PublicSuffixList":
    """The public suffixes as the library ships them; nothing is downloaded."""
    from publicsuffixlist import PublicSuffixList

    return PublicSuffixList()
