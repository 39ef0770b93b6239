"""Challenge pages: HTML that came instead of search results → the mark of a bot check or rate limit, or None.

Pure. Ask it only about a page without results: the text of a result may mention CAPTCHAs.
"""

from kindly.errors import ProviderBlocked, ProviderRateLimited, SearchError
from kindly.search.provider import ProviderSpec
from kindly.text import challenges
from kindly.text.challenges import Mark, Where

LOOKED_AT = 200_000
"""Characters; challenge pages are short, but some carry their script inline."""
SHORT_PAGE = 4_000
"""Characters; a longer page may only mention the words of a rate limiter."""


def challenge_in(page: str) -> Mark | None:
    """The first mark of a challenge or limit in a page without results."""
    html = page[:LOOKED_AT].lower()
    found = challenges.in_html(html, Where.RESULTS)
    found = found or challenges.in_title(challenges.title_of(html))
    if found is None and len(page) <= SHORT_PAGE:
        found = challenges.in_html(html, Where.SHORT_RESULTS)
    return found


def challenged(mark: Mark, spec: ProviderSpec) -> SearchError:
    """The error for a page with that mark."""
    if mark.rate_limit:
        return ProviderRateLimited(
            f"{spec.label} reported too many requests.",
            provider=spec.name,
        )
    return ProviderBlocked(
        f"{spec.label} returned a bot challenge ({mark.vendor}) instead of results.",
        provider=spec.name,
    )
