"""Challenge marks: what a bot check, a CAPTCHA or a rate limiter leaves in a response. One table for all stages.

Search asks it about a page without results, fetch about a refused or nearly empty response, extraction about a page
with little text. A row names the mark, its vendor and where it counts: a script that guarded sites also put on their
real pages must not make a short article a bot check. Pure; patterns are compiled at their first use.
"""

import re
from collections.abc import Iterable
from enum import Flag, auto
from functools import cache

from kindly.frozen import frozen


class Where(Flag):
    """The places in which a mark counts."""

    HEADER = auto()
    """A response header, written `name: value`."""
    TITLE = auto()
    """The page title; the site's name may follow."""
    BARE_TITLE = auto()
    """The title of a page with hardly any text: an ordinary page may have such a title too."""
    RESPONSE = auto()
    """HTML of a refusal, or of a response with little text: a check that a browser may pass."""
    PAGE = auto()
    """HTML of a page in which extraction found little text."""
    EMPTY_PAGE = auto()
    """HTML of a page without text: guarded sites have these scripts on their real pages too."""
    WIDGET = auto()
    """HTML of a page that asks for a human, or has no text: ordinary forms have CAPTCHAs too."""
    SENTENCE = auto()
    """The visible text of a page with hardly any text."""
    RESULTS = auto()
    """HTML of a search page without results."""
    SHORT_RESULTS = auto()
    """The same, if it is short: a long page may only mention the words."""


@frozen
class Mark:
    """One sign of a challenge or a rate limit."""

    vendor: str
    where: Where
    patterns: tuple[str, ...]
    """In lower case; one of them suffices. Literal text in HTML and headers, a regular expression in titles and
    sentences.
    """
    words: tuple[str, ...] = ()
    """Of a sentence: one of them is in each match, and literal words are found much faster."""
    rate_limit: bool = False


def _mark(vendor: str, where: Where, *patterns: str) -> Mark:
    return Mark(vendor, where, patterns)


def _limit(where: Where, *patterns: str) -> Mark:
    return Mark("a rate limiter", where, patterns, rate_limit=True)


def _sentence(pattern: str, *words: str) -> Mark:
    return Mark("a bot check", Where.SENTENCE, (pattern,), words)


def _class(name: str) -> tuple[str, ...]:
    return f'class="{name}', f"class='{name}", f"class={name}"


ANYWHERE = Where.RESPONSE | Where.PAGE | Where.RESULTS
"""Markup that only a challenge page has."""
CAPTCHA = Where.WIDGET | Where.RESULTS

MARKS: tuple[Mark, ...] = (
    _mark("Cloudflare", Where.HEADER, "cf-mitigated: challenge"),
    # Markup
    _mark("DuckDuckGo", Where.RESULTS, "anomaly-modal", "anomaly.js"),
    _mark("Cloudflare", ANYWHERE, "_cf_chl_opt"),
    _mark("Cloudflare", ANYWHERE, 'id="challenge-form', "id='challenge-form"),
    _mark("Cloudflare", ANYWHERE, 'id="cf-challenge', "cf-browser-verification"),
    # Real pages of sites behind Cloudflare load this script too.
    _mark("Cloudflare", Where.RESPONSE | Where.RESULTS, "/cdn-cgi/challenge-platform/"),
    # A block or a rate limit, which no browser passes.
    _mark("Cloudflare", Where.PAGE | Where.RESULTS, "cf-error-details"),
    _mark("Cloudflare", CAPTCHA, "challenges.cloudflare.com", *_class("cf-turnstile")),
    _mark("DataDome", ANYWHERE, "captcha-delivery.com"),
    _mark("HUMAN", ANYWHERE, 'id="px-captcha', "id='px-captcha", "captcha.px-cdn.net"),
    _mark("HUMAN", Where.RESULTS, "px-captcha"),
    _mark("HUMAN", Where.RESPONSE, "window._pxappid"),
    _mark("Akamai", Where.PAGE | Where.RESULTS, "errors.edgesuite.net"),
    _mark("Akamai", ANYWHERE, "sec-if-cpt-container", "/_sec/cp_challenge"),
    _mark("Imperva", ANYWHERE, "incapsula incident id"),
    _mark("Imperva", Where.RESPONSE | Where.EMPTY_PAGE | Where.RESULTS, "_incapsula_resource"),
    _mark(
        "Kasada",
        Where.RESPONSE | Where.EMPTY_PAGE | Where.RESULTS,
        "/149e9513-01fa-4fb0-aad4-566afd725d1b/",
    ),
    _mark("AWS WAF", ANYWHERE, "window.gokuprops", "awswafcookiedomainlist"),
    _mark("AWS WAF", Where.RESULTS, ".awswaf.com/"),
    _mark("Anubis", ANYWHERE, "/.within.website/x/cmd/anubis", 'id="anubis_challenge"'),
    _mark("go-away", ANYWHERE, "/.well-known/.git.gammaspectra.live/"),
    _mark("SiteGround", ANYWHERE, "sgcaptcha"),
    _mark("Sucuri", ANYWHERE, "sucuri_cloudproxy_js"),
    _mark("Radware", ANYWHERE, "validate.perfdrive.com"),
    _mark("Yandex", ANYWHERE, "/showcaptcha?"),
    _mark("Amazon", ANYWHERE, "validatecaptcha"),
    _mark("DDoS-Guard", ANYWHERE, "_guard/html.js", "ddos-guard/js-challenge"),
    _mark("DDoS-Guard", Where.RESPONSE, "ddos-guard"),
    _mark("Google", Where.RESULTS, "google.com/sorry/", "/sorry/index"),
    _mark("hCaptcha", CAPTCHA, "hcaptcha.com/1/api", *_class("h-captcha")),
    _mark("reCAPTCHA", CAPTCHA, "recaptcha/api.js", "recaptcha/enterprise.js"),
    _mark("reCAPTCHA", CAPTCHA, *_class("g-recaptcha")),
    _mark("reCAPTCHA", Where.RESULTS, "google.com/recaptcha/"),
    _mark("Friendly Captcha", CAPTCHA, *_class("frc-captcha")),
    # Sentences that are looked for in HTML
    _mark("a bot check", Where.RESPONSE, "checking your browser before"),
    _mark(
        "a bot check",
        Where.RESPONSE,
        "making sure you're not a bot",
        "making sure you’re not a bot",
        "making sure you&#39;re not a bot",
    ),
    _limit(Where.SHORT_RESULTS, "too many requests", "rate limit exceeded"),
    _mark("SearXNG's limiter", Where.SHORT_RESULTS, "ip is on blocklist"),
    _mark(
        "a bot check",
        Where.SHORT_RESULTS,
        "unusual traffic",
        "are you a robot",
        "you are not a robot",
        "you're not a bot",
        "verify you are human",
        "checking your browser",
    ),
    _mark("a firewall", Where.SHORT_RESULTS, "access denied"),
    # Titles
    _mark("Cloudflare", Where.TITLE, "just a moment", r"attention required! \| cloudflare"),
    _mark("Cloudflare", Where.TITLE, "(?:sorry, )?you have been blocked"),
    _mark("Cloudflare", Where.TITLE, "nur einen moment", "un instant", "un momento", "один момент"),
    _mark("Anubis", Where.TITLE, "making sure you(?:'|’)re not a bot"),
    _mark("DDoS-Guard", Where.TITLE, "ddos-guard"),
    _mark("HUMAN", Where.TITLE, "access to this page has been denied"),
    _mark("Imperva", Where.TITLE, "pardon our interruption"),
    _mark("Radware", Where.TITLE, "radware (?:bot manager )?captcha"),
    _mark("Vercel", Where.TITLE, "vercel security checkpoint"),
    _mark(
        "a bot check",
        Where.TITLE,
        "one moment,? please",
        "checking your browser",
        "verify(?:ing)? (?:that )?you are (?:a )?human",
        "are you (?:a |not a )?(?:robot|human)",
        "robot check",
        "human verification",
        "bot verification",
        "client challenge",
        "performing security verification",
    ),
    _mark(
        "a firewall",
        Where.BARE_TITLE,
        "access denied",
        "request rejected",
        "blocked",
        "403 forbidden",
        "forbidden",
    ),
    _mark(
        "a bot check",
        Where.BARE_TITLE,
        "captcha",
        "security check(?:point)?",
        "please verify",
    ),
    # Sentences of the visible text
    _sentence(
        r"(?:verify|confirm) (?:that )?you(?:'|’)?(?: are|re) (?:a )?(?:human|not a (?:robot|bot))",
        "human",
        "robot",
        " bot",
    ),
    _sentence("checking your browser before", "checking your browser"),
    _sentence("unusual traffic from your computer", "unusual traffic"),
    _sentence("our systems have detected unusual", "detected unusual"),
    _sentence("press (?:&|and) hold to confirm", "to confirm"),
    _sentence(r"request unsuccessful\. incapsula", "incapsula"),
    _sentence("complete the security check to access", "security check"),
    _sentence("why (?:have i been|did i get) blocked", "blocked"),
    _sentence("you(?:'|’)ve been blocked by network security", "blocked"),
    _sentence("(?:solve|complete) (?:this|the) captcha", "captcha"),
    _sentence("needs to review the security of your connection", "your connection"),
    _sentence(r"the requested url was rejected\. please consult", "please consult"),
    _sentence("your access to this site has been limited", "has been limited"),
    _sentence("enter the characters you see below", "characters you see"),
    _sentence("is using a security service to protect itself", "security service"),
)
"""The first row that matches wins."""

TITLE_END = r"[\s.…!?]*(?:\s*[-|–—:·•»(].{0,80})?\s*\Z"
"""The site's name may follow a title."""
TITLE_CHARACTERS = 500


def in_html(html: str | bytes, where: Where) -> Mark | None:
    """The first mark in HTML that is already in lower case."""
    for mark, literals, encoded in _literals(where):
        if isinstance(html, bytes):
            if any(one in html for one in encoded):
                return mark
        elif any(one in html for one in literals):
            return mark
    return None


def in_headers(headers: Iterable[tuple[str, str]]) -> Mark | None:
    """The first mark in response headers, whose names are in lower case."""
    lines = {f"{name}: {value.strip().lower()}" for name, value in headers}
    return next((m for m, literals, _ in _literals(Where.HEADER) if lines & set(literals)), None)


def in_title(title: str, where: Where = Where.TITLE) -> Mark | None:
    """The mark that a title is, up to the site's name."""
    marks, pattern = _titles(where)
    match = pattern.match(title.strip())
    return marks[match.lastindex - 1] if match is not None and match.lastindex else None


def title_of(html: str | bytes) -> str:
    """The content of the first `<title>` in HTML that is already in lower case."""
    if isinstance(html, bytes):
        start = html.find(b"<title")
        html = (
            html[start : start + TITLE_CHARACTERS].decode("utf-8", "ignore") if start >= 0 else ""
        )
    start = html.find("<title")
    _, _, after = html[start : start + TITLE_CHARACTERS].partition(">") if start >= 0 else ("",) * 3
    title, closed, _ = after.partition("</title")
    return title if closed else ""


def in_response(html: bytes, headers: Iterable[tuple[str, str]] = ()) -> Mark | None:
    """The first mark in headers, in HTML that is already in lower case, or in its title."""
    return in_headers(headers) or in_html(html, Where.RESPONSE) or in_title(title_of(html))


@cache
def sentences() -> tuple[re.Pattern[str], tuple[str, ...]]:
    """A pattern of all sentences, and literal words of which each match has one."""
    marks = [mark for mark in MARKS if mark.where is Where.SENTENCE]
    words = dict.fromkeys(word for mark in marks for word in mark.words)
    return re.compile("|".join(mark.patterns[0] for mark in marks)), tuple(words)


@cache
def _literals(where: Where) -> tuple[tuple[Mark, tuple[str, ...], tuple[bytes, ...]], ...]:
    return tuple(
        (mark, mark.patterns, tuple(one.encode() for one in mark.patterns))
        for mark in MARKS
        if mark.where & where
    )


@cache
def _titles(where: Where) -> tuple[tuple[Mark, ...], re.Pattern[str]]:
    marks = tuple(mark for mark in MARKS if mark.where & where)
    one_of = "|".join(f"({'|'.join(mark.patterns)})" for mark in marks)
    return marks, re.compile(f"(?:{one_of}){TITLE_END}", re.IGNORECASE)
