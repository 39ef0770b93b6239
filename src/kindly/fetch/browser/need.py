"""The one place that decides whether a page needs a browser: a page, its extracted text and a failure in, a reason out.

Pure and cheap: it looks at a condensed page without parsing it, and every pattern is bounded or possessive, so that no
page can cause catastrophic backtracking. A page with enough text never needs a browser. A page with little text needs
one only if there is evidence that a script would bring more.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from kindly import challenges, script_evidence
from kindly.errors import KindlyError, NeedsBrowser, PageChallenged
from kindly.models import HTML_TYPES, FetchMethod, Page

MAYBE_HTML_TYPES = HTML_TYPES | {""}
LOOKED_AT_BYTES = 400_000
CONDENSED_BYTES = 24_000
"""Of markup and of the beginnings of scripts: on a page with little text, the evidence is there."""
SCRIPT_BEGINNING = 2_000
MAX_PARTS = 1_000
"""Scripts, styles and other invisible parts that are looked at."""
PIECE_BYTES = 16_384
COUNTED_BYTES = 100_000
"""Of markup in which text is counted; a page with text has enough of it long before that."""

ENOUGH_CHARS = 1_500
"""A page with more text than this can be read as it is."""
LITTLE_CHARS = 250
"""Less text than this is hardly more than a title and a menu."""
FEW_PARAGRAPHS = 3
HEAVY_SCRIPT_RATIO = 30
"""This many times more script than text means an app that renders itself."""

INVISIBLE = re.compile(
    rb"<(?:(script|style|noscript|template|svg|head|iframe|select)\b[^<>]*>|!--)"
)
BULKY = re.compile(rb"<(script|style)\b[^<>]*>")
PARAGRAPH = re.compile(rb"<(?:p|li|td|h[1-6]|blockquote|pre|dd)\b[^<>]*>\s*[^<\s]")

GENERIC_MOUNTS = (
    "main-content|container|content|results|feed|posts|list|article|output|target|island"
)
"""Names that count only because the element is empty."""
MOUNT = re.compile(
    rf"""<(div|main|section|article|body|span)\b(?>[^<>]*?\b(?:id|class|data-[a-z-]{{1,30}})=["']?
    (?:{script_evidence.MOUNTS}|{GENERIC_MOUNTS})["'\s>])(?:(?<=>)|[^<>]*+>)\s*+</\1\s*>""".encode(),
    re.VERBOSE,
)
"""An empty element with a name that frameworks use for the element they render into."""
CUSTOM_ROOT = re.compile(
    rb"<((?:[a-z][a-z0-9]{0,20}-){1,5}(?:root|app|shell|page|view|main)|app-[a-z-]{1,40}|router-outlet|ion-app)"
    rb"(?=[\s>])[^<>]*+>\s*+</\1\s*>"
)
FRAMEWORK = re.compile(
    script_evidence.FRAMEWORKS.encode()
    + rb"|\bng-version=|\bdata-server-rendered\b|\bv-cloak\b|\bv-for=|\bng-repeat="
    rb"|\{\{\s{0,9}[\w.$]|window\.__(?:nuxt|initial_state|apollo_state|preloaded_state)__|__next_data__"
    rb"|\bx-data=|\bx-text=|hx-trigger=[\"']load"
    rb"|_framework/blazor|main\.dart\.js|sveltekit|/_app/immutable|/@vite/client|/_next/static"
    rb"|/static/js/(?:main|bundle)|(?:main|app|bundle|runtime|chunk-vendors|index)[.-][\w-]{6,40}\.m?js",
)
RENDERING = re.compile(
    "|".join(
        (script_evidence.RENDERING, script_evidence.MODULE, script_evidence.LINKED_SCRIPT)
    ).encode()
)
ASKS_FOR_SCRIPT = re.compile(script_evidence.REQUESTS.encode())
LOADING = re.compile(
    rb">\s*(?:" + script_evidence.LOADING.encode() + rb")[\s.\xe2\x80\xa6]*<"
    rb"|class=[\"'][^\"']*\b(?:spinner|loader|loading|skeleton|placeholder-glow|preloader)\b"
    rb"|aria-busy=[\"']?true|role=[\"']?progressbar",
)


CHALLENGE_REASON = "a bot check that a browser may pass"
LITTLE_TEXT_REASON = "little text, few paragraphs, and scripts"
MUCH_SCRIPT_REASON = "far more script than text"


def browser_reason(
    page: Page | None, *, text_chars: int | None = None, failure: KindlyError | None = None
) -> str | None:
    """Why a browser may show more than the HTTP client got; None if there is no evidence for it.

    `page` is None if there is only a failure. `text_chars` is how much text extraction found; without it, the text is
    counted here. `failure` is what fetching or extraction raised.
    """
    if isinstance(failure, PageChallenged):
        return CHALLENGE_REASON
    if isinstance(failure, NeedsBrowser):
        return "extraction found that its text needs JavaScript"
    if page is None or not may_need_browser(page, text_chars):
        return None
    body = page.body[:LOOKED_AT_BYTES].lower()
    chars = count_chars(body) if text_chars is None else text_chars
    if chars >= ENOUGH_CHARS or b"<script" not in body:
        return None
    condensed, script_bytes = _condensed(body)
    visible = b" ".join(condensed[start:end] for start, end in _visible_ranges(condensed))
    evidence = _Evidence(condensed, visible, chars, script_bytes)
    return next((reason for reason, holds in RULES if holds(evidence)), None)


def is_certain(reason: str) -> bool:
    """Whether a reason of `browser_reason` shows that a script draws the page, not only that one could."""
    return reason not in {CHALLENGE_REASON, LITTLE_TEXT_REASON, MUCH_SCRIPT_REASON}


def may_need_browser(page: Page, text_chars: int | None = None) -> bool:
    """Whether `browser_reason` has to look at the page's bytes; if so, call it in a thread."""
    if page.media_type not in MAYBE_HTML_TYPES or page.how.method is FetchMethod.BROWSER:
        return False
    return text_chars is None or text_chars < ENOUGH_CHARS


def count_chars(body: bytes) -> int:
    """About how many characters of text there are outside scripts and styles; counting stops at `ENOUGH_CHARS`."""
    total = looked_at = 0
    for start, end in _visible_ranges(body):
        for at in range(start, end, PIECE_BYTES):
            looked_at += min(end - at, PIECE_BYTES)
            text = _without_tags(body[at : min(end, at + PIECE_BYTES)]).replace(b"&nbsp;", b" ")
            total += len(b" ".join(text.split()).decode("utf-8", "ignore"))
            if total >= ENOUGH_CHARS or looked_at > COUNTED_BYTES:
                return total
    return total


def _visible_ranges(body: bytes) -> Iterator[tuple[int, int]]:
    """Start and end of each part that a browser may show, up to `MAX_PARTS`."""
    start = 0
    for _ in range(MAX_PARTS):
        found = INVISIBLE.search(body, start)
        if found is None:
            yield start, len(body)
            return
        yield start, found.start()
        closing = b"</" + found[1] if found[1] else b"-->"
        end = body.find(closing, found.end())
        if end < 0:
            return
        start = end + len(closing)


def _without_tags(piece: bytes) -> bytes:
    parts = (part.partition(b">") for part in piece.split(b"<"))
    return b" ".join(text if closed else start for start, closed, text in parts)


def _condensed(body: bytes) -> tuple[bytes, int]:
    """The page without styles and with the beginnings of its scripts only, truncated; and the total bytes of script."""
    parts: list[bytes] = []
    left, start, script_bytes = CONDENSED_BYTES, 0, 0
    for _ in range(MAX_PARTS):
        found = BULKY.search(body, start)
        if found is None:
            break
        end = body.find(b"</" + found[1], found.end())
        end = len(body) if end < 0 else end
        kept = 0
        if found[1] == b"script":
            script_bytes += end - found.end()
            kept = min(end - found.end(), SCRIPT_BEGINNING)
        parts.append(body[start : found.end() + kept][:left])
        left -= len(parts[-1])
        start = end
    parts.append(body[start : start + left])
    return b"".join(parts), script_bytes


@dataclass(frozen=True)
class _Evidence:
    """The input of the rules."""

    body: bytes
    visible: bytes
    """Without scripts, styles and comments."""
    chars: int
    script_bytes: int

    @property
    def little_text(self) -> bool:
        return self.chars < LITTLE_CHARS

    @cached_property
    def few_paragraphs(self) -> bool:
        found = islice(PARAGRAPH.finditer(self.visible), FEW_PARAGRAPHS)
        return sum(1 for _ in found) < FEW_PARAGRAPHS

    @cached_property
    def renders(self) -> bool:
        """Whether a script is there that could render the page."""
        return RENDERING.search(self.body) is not None


RULES: tuple[tuple[str, Callable[[_Evidence], object]], ...] = (
    (CHALLENGE_REASON, lambda on: challenges.in_response(on.body)),
    (
        "a request to enable JavaScript",
        lambda on: (on.little_text or on.few_paragraphs) and ASKS_FOR_SCRIPT.search(on.body),
    ),
    (
        "an empty element that a script renders into",
        lambda on: (
            on.few_paragraphs
            and on.renders
            and (MOUNT.search(on.visible) or CUSTOM_ROOT.search(on.visible))
        ),
    ),
    (
        "a loading indicator",
        lambda on: on.few_paragraphs and on.renders and LOADING.search(on.visible),
    ),
    (
        "the shell of an app with little text",
        lambda on: on.little_text and FRAMEWORK.search(on.body),
    ),
    (
        LITTLE_TEXT_REASON,
        lambda on: on.little_text and on.few_paragraphs and on.renders,
    ),
    (
        MUCH_SCRIPT_REASON,
        lambda on: on.few_paragraphs and on.script_bytes > HEAVY_SCRIPT_RATIO * max(on.chars, 1),
    ),
)
"""Kinds of evidence, the most certain first."""
