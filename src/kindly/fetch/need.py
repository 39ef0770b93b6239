"""Does this page need a browser? A fetched page in, the reason out, or nothing when its HTML already holds its text.

Pure and cheap: a few regular expressions over the bytes, no parser, and no pattern that a hostile page could make
slow. A page with enough text never needs one, whatever else it looks like; with little text there must be evidence that
a script would bring more.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from kindly.models import Page

HTML_TYPES = frozenset({"", "text/html", "application/xhtml+xml"})
LOOKED_AT_BYTES = 400_000
PIECE_BYTES = 16_384

ENOUGH_CHARS = 1_500
"""Text beyond this is a page that can be read as it is."""
LITTLE_CHARS = 250
"""Text below this is hardly more than a title and a menu."""
FEW_PARAGRAPHS = 3
HEAVY_SCRIPT_RATIO = 30
"""So many times more script than text is an app that draws itself."""

UNSEEN = re.compile(rb"<(?:(script|style|noscript|template|svg|head|iframe|select)\b[^<>]*>|!--)")
TAG = re.compile(rb"<[^<>]*>")
SCRIPT_BODY = re.compile(rb"<script\b[^<>]*>(.*?)(?:</script|\Z)", re.DOTALL)
PARAGRAPH = re.compile(rb"<(?:p|li|td|h[1-6]|blockquote|pre|dd)\b[^<>]*>\s*[^<\s]")

MOUNT = re.compile(
    rb"""<(div|main|section|article|body|span)\b[^<>]*?\b(?:id|class|data-[a-z-]+)=["']?
    (?:root|app|__next|__nuxt|___gatsby|react-root|app-root|main-app|app-mount|svelte|sapper|q-app|mount|
       app-container|application|ember-app|vue-app|page-root|content-root|spa|main-content|container|content|
       results|feed|posts|list|article|output|target|island|react-app|__docusaurus|elm|blazor|flutter_target)
    ["'\s>][^<>]*>\s*</\1\s*>""",
    re.VERBOSE | re.DOTALL,
)
"""An element with the name of a place where an app draws itself, and nothing in it."""
CUSTOM_ROOT = re.compile(
    rb"<((?:[a-z][a-z0-9]*-)+(?:root|app|shell|page|view|main)|app-[a-z-]+|router-outlet|ion-app)"
    rb"\b[^<>]*>\s*</\1\s*>"
)
FRAMEWORK = re.compile(
    rb"\bng-app\b|\bng-version=|\bdata-reactroot\b|\bdata-server-rendered\b|\bv-cloak\b|\bv-for=|\bng-repeat="
    rb"|\{\{\s*[\w.$]+|window\.__(?:nuxt|initial_state|apollo_state|preloaded_state)__|__next_data__"
    rb"|\bx-data=|\bx-text=|hx-trigger=[\"']load"
    rb"|_framework/blazor|flutter_bootstrap|main\.dart\.js|sveltekit|/_app/immutable|/@vite/client|/_next/static"
    rb"|/static/js/(?:main|bundle)|(?:main|app|bundle|runtime|chunk-vendors|index)[.-][\w-]{6,}\.m?js",
)
FETCHES = re.compile(
    rb"\bfetch\s*\(|xmlhttprequest|\baxios\b|\$\.(?:get|ajax|getjson)|\.innerhtml\s*=|document\.write"
    rb"|\.textcontent\s*=|\.insertadjacenthtml|createelement|\.render\s*\(|createroot|createapp|\.mount\s*\("
    rb"|customelements\.define|new eventsource"
    rb"|new websocket|location(?:\.href)?\s*=|location\.replace|import\s*\(",
)
MODULE = re.compile(rb"<script\b[^<>]*\btype=[\"']?module\b|<script\b[^<>]*\bsrc=")
ASKS_FOR_SCRIPT = re.compile(
    rb"(?:enable|activate|turn on|requires?|needs?|without|switch on|allow)\s+(?:your\s+)?java ?script"
    rb"|java ?script\s+(?:is|must be|seems to be|has been|to be|support)\s+(?:currently\s+)?"
    rb"(?:disabled|required|enabled|turned off|not)"
    rb"|javascript (?:aktivieren|einschalten)|active[rz] javascript|habilit[ae]r? javascript"
    rb"|(?:\xe8\xaf\xb7|\xe8\xab\x8b)?\xe5\x90\xaf\xe7\x94\xa8 ?javascript",
)
LOADING = re.compile(
    rb">\s*(?:loading|please wait|one moment|wird geladen|chargement|cargando|\xe5\x8a\xa0\xe8\xbd\xbd\xe4\xb8\xad)"
    rb"[\s.\xe2\x80\xa6]*<"
    rb"|class=[\"'][^\"']*\b(?:spinner|loader|loading|skeleton|placeholder-glow|preloader)\b"
    rb"|aria-busy=[\"']?true|role=[\"']?progressbar",
)
BOT_CHECK = re.compile(
    rb"_cf_chl_opt|/cdn-cgi/challenge-platform/|id=[\"']challenge-form|captcha-delivery\.com|id=[\"']px-captcha"
    rb"|window\.gokuprops|awswafcookiedomainlist|/\.within\.website/x/cmd/anubis|sgcaptcha"
    rb"|checking your browser before|just a moment\.\.\.</title>|_incapsula_resource|ddos-guard|window\._pxappid"
    rb"|sucuri_cloudproxy_js|making sure you(?:'|&#39;|\xe2\x80\x99)re not a bot",
)


def needs_browser(page: Page, text_chars: int | None = None) -> str | None:
    """Why a browser would show more than this page's HTML says, or nothing.

    `text_chars` is how much text the page is known to hold; counted here unless given.
    """
    if page.media_type not in HTML_TYPES or page.how == "browser":
        return None
    body = page.body[:LOOKED_AT_BYTES].lower()
    chars = count_chars(body) if text_chars is None else text_chars
    if chars >= ENOUGH_CHARS or b"<script" not in body:
        return None
    visible = b" ".join(body[start:end] for start, end in _gaps(body))
    evidence = _Evidence(body, visible, chars)
    return next((reason for reason, holds in RULES if holds(evidence)), None)


def count_chars(body: bytes) -> int:
    """Characters of text, roughly, outside scripts and styles; not counted further than `ENOUGH_CHARS`."""
    total = 0
    for start, end in _gaps(body):
        for at in range(start, end, PIECE_BYTES):
            text = TAG.sub(b" ", body[at : min(end, at + PIECE_BYTES)]).replace(b"&nbsp;", b" ")
            total += len(b" ".join(text.split()).decode("utf-8", "ignore"))
            if total >= ENOUGH_CHARS:
                return total
    return total


def _gaps(body: bytes) -> Iterator[tuple[int, int]]:
    """Where the parts lie that a browser may show."""
    start = 0
    while found := UNSEEN.search(body, start):
        yield start, found.start()
        closing = b"</" + found[1] if found[1] else b"-->"
        end = body.find(closing, found.end())
        if end < 0:
            return
        start = end + len(closing)
    yield start, len(body)


@dataclass(frozen=True)
class _Evidence:
    """What the rules look at."""

    body: bytes
    visible: bytes
    """Without scripts, styles and comments."""
    chars: int

    @property
    def little(self) -> bool:
        return self.chars < LITTLE_CHARS

    @cached_property
    def few(self) -> bool:
        """Whether there are hardly any paragraphs with text in them."""
        found = islice(PARAGRAPH.finditer(self.visible), FEW_PARAGRAPHS)
        return sum(1 for _ in found) < FEW_PARAGRAPHS

    @cached_property
    def drawn(self) -> bool:
        """Whether a script is there that could draw a page."""
        return bool(FETCHES.search(self.body) or MODULE.search(self.body))

    @property
    def script_bytes(self) -> int:
        return sum(len(found[1]) for found in SCRIPT_BODY.finditer(self.body))


RULES: tuple[tuple[str, Callable[[_Evidence], object]], ...] = (
    ("a bot check that a browser may pass", lambda on: BOT_CHECK.search(on.body)),
    (
        "it asks for JavaScript",
        lambda on: (on.little or on.few) and ASKS_FOR_SCRIPT.search(on.body),
    ),
    (
        "an empty place where a script draws the page",
        lambda on: (
            on.few and on.drawn and (MOUNT.search(on.visible) or CUSTOM_ROOT.search(on.visible))
        ),
    ),
    (
        "it shows that it is still loading",
        lambda on: on.few and on.drawn and LOADING.search(on.visible),
    ),
    ("the shell of an app with little text", lambda on: on.little and FRAMEWORK.search(on.body)),
    ("little text, few paragraphs, and scripts", lambda on: on.little and on.few and on.drawn),
    (
        "far more script than text",
        lambda on: on.few and on.script_bytes > HEAVY_SCRIPT_RATIO * max(on.chars, 1),
    ),
)
"""Kinds of evidence, the surest first."""
