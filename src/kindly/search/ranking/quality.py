"""A table of quality rules: points for a host or a pattern, with the reason.

Pure. Every rule is one row, and a hit that moved lists the reasons. No hit is dropped, and each moves a few places at
most, so that the provider's own order mostly remains.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal
from urllib.parse import urlsplit

from kindly.frozen import frozen
from kindly.models import Hit

MAX_BONUS = 2
MAX_PENALTY = 5
"""Points that count; one point is about one place."""
MAX_CHARACTERS = 500
"""Of a title or address; bounds the time that patterns take."""


@frozen
class Hosts:
    """Domains with the same points; each includes its subdomains."""

    points: int
    reason: str
    names: tuple[str, ...]


@frozen
class Pattern:
    """A pattern in one part of a hit."""

    points: int
    reason: str
    part: Literal["host", "url", "title"]
    pattern: re.Pattern[str]


HOSTS = (
    Hosts(
        2,
        "official documentation",
        (
            "cppreference.com",
            "developer.android.com",
            "developer.apple.com",
            "developer.mozilla.org",
            "devdocs.io",
            "doc.rust-lang.org",
            "docs.oracle.com",
            "docs.python.org",
            "docs.rs",
            "go.dev",
            "learn.microsoft.com",
            "man7.org",
            "nodejs.org",
            "pkg.go.dev",
            "readthedocs.io",
            "readthedocs.org",
            "react.dev",
        ),
    ),
    Hosts(
        2,
        "standards body",
        (
            "ecma-international.org",
            "iana.org",
            "ietf.org",
            "iso.org",
            "rfc-editor.org",
            "unicode.org",
            "w3.org",
            "whatwg.org",
        ),
    ),
    Hosts(
        2,
        "government or intergovernmental source",
        ("admin.ch", "bund.de", "europa.eu", "gov", "mil", "un.org", "who.int"),
    ),
    Hosts(1, "university", ("edu",)),
    Hosts(1, "encyclopedia", ("britannica.com", "wikipedia.org", "wikidata.org")),
    Hosts(
        1,
        "scholarly publisher or archive",
        ("acm.org", "arxiv.org", "doi.org", "ieee.org", "nature.com", "pubmed.ncbi.nlm.nih.gov"),
    ),
    Hosts(
        1,
        "project's own site",
        ("crates.io", "github.com", "gitlab.com", "npmjs.com", "pypi.org"),
    ),
    Hosts(1, "reviewed questions and answers", ("stackexchange.com", "stackoverflow.com")),
    Hosts(
        -2,
        "content farm",
        (
            "answers.com",
            "ehow.com",
            "ezinearticles.com",
            "hubpages.com",
            "pinterest.com",
        ),
    ),
    Hosts(
        -4,
        "copy of another site",
        (
            "codegrepper.com",
            "coder.social",
            "exchangetuts.com",
            "githubhelp.com",
            "gitmemory.com",
            "issueexplorer.com",
            "itcodar.com",
            "kandi.openweaver.com",
            "newbedev.com",
            "programmersought.com",
            "py4u.net",
            "stackovercoder.com",
            "titanwolf.org",
            "wikiwand.com",
            "xspdf.com",
        ),
    ),
    Hosts(
        -3,
        "address shortener: its target is unknown",
        ("bit.ly", "cutt.ly", "goo.gl", "is.gd", "ow.ly", "rebrand.ly", "t.co", "tinyurl.com"),
    ),
    Hosts(
        -5,
        "parked domain",
        (
            "afternic.com",
            "dan.com",
            "hugedomains.com",
            "parkingcrew.net",
            "sedo.com",
            "sedoparking.com",
        ),
    ),
)

PATTERNS = (
    Pattern(
        1,
        "documentation of its project",
        "host",
        re.compile(r"^(?:docs?|developers?|api|reference|manual)\.(?!google\.com$)"),
    ),
    Pattern(
        2,
        "government or intergovernmental source",
        "host",
        re.compile(r"(?:^|\.)(?:(?:gov|gob|gouv|govt)\.[a-z]{2}|go\.(?:id|jp|ke|kr|th|tz|ug))$"),
    ),
    Pattern(1, "university", "host", re.compile(r"\.(?:ac|edu)\.[a-z]{2}$")),
    Pattern(
        -3,
        "coupon page",
        "title",
        re.compile(r"\b(?:coupons?|promo codes?|discount codes?|voucher codes?)\b", re.IGNORECASE),
    ),
    Pattern(
        -5,
        "domain for sale",
        "title",
        re.compile(
            r"domain (?:name )?(?:is |may be )?(?:for sale|parked)|buy this domain", re.IGNORECASE
        ),
    ),
    Pattern(
        -3,
        "keyword-stuffed title",
        "title",
        re.compile(r"\b(\w{4,})\b(?:\W+(?:\w+\W+){0,3}?\1\b){3}", re.IGNORECASE),
    ),
    Pattern(
        -2,
        "keyword-stuffed title",
        "title",
        re.compile(r"(?:[^,|]{2,40}[,|]){6}"),
    ),
    Pattern(
        -3,
        "cracks and pirated downloads",
        "title",
        re.compile(
            r"\b(?:crack(?:ed)?|keygen|warez|nulled|serial key)\b.*\b(?:download|free|20\d\d)\b",
            re.IGNORECASE,
        ),
    ),
    Pattern(
        -2,
        "throwaway host name",
        "host",
        re.compile(
            r"(?:[a-z0-9]+-){4,}|\d{6,}|\.(?:buzz|cfd|click|cyou|icu|monster|quest|rest|sbs|top)$"
        ),
    ),
    Pattern(
        -2,
        "search page, not a result",
        "url",
        re.compile(
            r"^https?://[^/]+/(?:search|suche|recherche)/?\?(?:.*&)?(?:q|query|s)=", re.IGNORECASE
        ),
    ),
)

BY_NAME = {name: group for group in HOSTS for name in group.names}


def by_quality(hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """All hits, each moved by its points; a hit that moved says why."""
    matches = [tuple(_matches(hit)) for hit in hits]
    order = sorted(range(len(hits)), key=lambda rank: rank - _clamped(matches[rank]))
    return tuple(
        hits[rank] if rank == place else _explained(hits[rank], matches[rank])
        for place, rank in enumerate(order)
    )


def points_of(hit: Hit) -> int:
    """A hit's points, within bounds."""
    return _clamped(tuple(_matches(hit)))


def _matches(hit: Hit) -> Iterator[tuple[int, str]]:
    host = _host(hit.url)
    group = next((BY_NAME[name] for name in _above(host) if name in BY_NAME), None)
    if group is not None:
        yield group.points, group.reason
    parts = {"host": host, "url": hit.url[:MAX_CHARACTERS], "title": hit.title[:MAX_CHARACTERS]}
    for row in PATTERNS:
        if row.pattern.search(parts[row.part]):
            yield row.points, row.reason


def _explained(hit: Hit, matches: tuple[tuple[int, str], ...]) -> Hit:
    reasons = dict.fromkeys(
        f"{'up' if points > 0 else 'down'}: {reason}" for points, reason in matches
    )
    return replace(hit, reasons=(*hit.reasons, *reasons)) if reasons else hit


def _clamped(matches: tuple[tuple[int, str], ...]) -> int:
    return max(-MAX_PENALTY, min(MAX_BONUS, sum(points for points, _ in matches)))


def _host(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").removeprefix("www.")
    except ValueError:
        return ""


def _above(host: str) -> Iterator[str]:
    """The host, and every domain above it."""
    while host:
        yield host
        host = host.partition(".")[2]
