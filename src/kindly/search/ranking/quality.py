"""How much a result is worth beyond its rank, as a table: what to look at, how many points it gives, and why.

Pure and open to argument: every rule is one row, every point it gives is told in the hit's `reasons`. Nothing is
dropped here; a result moves a few places at most, so that the provider's own order mostly stands.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal
from urllib.parse import urlsplit

from kindly.models import Hit

MOST_UP = 2
MOST_DOWN = 5
"""Points that count. A result passes, or is passed by, fewer others than that: between equals, the provider decides."""
LOOKED_AT = 500
"""Characters of a title or address; longer ones are not worth more time."""


@dataclass(frozen=True, slots=True)
class Hosts:
    """Names that share a judgement; each stands for itself and everything below it."""

    points: int
    reason: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pattern:
    """A sign in one part of a result."""

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
        "project's own home",
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
        "address shortener: it does not say where it leads",
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
    """All hits, each moved by its points and saying why where its place changed."""
    verdicts = [tuple(_verdicts(hit)) for hit in hits]
    order = sorted(range(len(hits)), key=lambda rank: rank - _clamped(verdicts[rank]))
    return tuple(
        hits[rank] if rank == place else _explained(hits[rank], verdicts[rank])
        for place, rank in enumerate(order)
    )


def points_of(hit: Hit) -> int:
    """What a hit is worth, as far as it counts."""
    return _clamped(tuple(_verdicts(hit)))


def _verdicts(hit: Hit) -> Iterator[tuple[int, str]]:
    host = _host(hit.url)
    group = next((BY_NAME[name] for name in _above(host) if name in BY_NAME), None)
    if group is not None:
        yield group.points, group.reason
    parts = {"host": host, "url": hit.url[:LOOKED_AT], "title": hit.title[:LOOKED_AT]}
    for row in PATTERNS:
        if row.pattern.search(parts[row.part]):
            yield row.points, row.reason


def _explained(hit: Hit, verdicts: tuple[tuple[int, str], ...]) -> Hit:
    reasons = dict.fromkeys(
        f"{'up' if points > 0 else 'down'}: {reason}" for points, reason in verdicts
    )
    return replace(hit, reasons=(*hit.reasons, *reasons)) if reasons else hit


def _clamped(verdicts: tuple[tuple[int, str], ...]) -> int:
    return max(-MOST_DOWN, min(MOST_UP, sum(points for points, _ in verdicts)))


def _host(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").removeprefix("www.")
    except ValueError:
        return ""


def _above(host: str) -> Iterator[str]:
    """The host, and every name above it."""
    while host:
        yield host
        host = host.partition(".")[2]
