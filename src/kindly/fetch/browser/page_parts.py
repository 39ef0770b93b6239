"""Parts of a page that show whether its text is in the HTML: its content, its empty elements, its scripts.

Works on bytes in lower case, without a parser: a rough count is enough, and pages may be hostile. One pass over the
tags, every pattern bounded or possessive, every loop with a limit.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from kindly.frozen import frozen

LOOKED_AT_BYTES = 2_000_000
MAX_PARTS = 1_000
"""Scripts, styles and other invisible parts that are looked at."""
MAX_TAGS = 20_000
MAX_DEPTH = 200
MAX_WAITING = 200
SCRIPT_BEGINNING = 20_000
"""What is kept of one script."""
SCRIPT_BYTES = 80_000
"""What is kept of all scripts."""
TEXTLESS_CHARS = 40
"""What an element may say while it waits for its content."""

INVISIBLE = re.compile(
    rb"<(?:(script|style|noscript|template|svg|title|iframe|select)(?=[\s/>])[^<>]*>|!--|!doctype)"
)
SCRIPT = re.compile(rb"<(script|noscript)(?=[\s/>])([^<>]*)>")
NO_CODE = re.compile(rb"\btype=[\"']?[^\"'\s>]*(?:json|template|html|handlebars|importmap|rules)")
"""The type of a script element that holds data or markup."""

TAG = re.compile(rb"<(/?)([a-z][a-z0-9-]{0,60})((?:[\s/][^<>]*+)?)>")
ID_OR_CLASS = re.compile(rb"\s(?:id|class|role)=(?:[\"']([^\"']{1,200})|([^\s\"'>]{1,200}))")
NAME = re.compile(rb"\s(?:id|class|data-[a-z-]{1,30})=(?:[\"']([^\"']{1,200})|([^\s\"'>]{1,200}))")
VOID = frozenset(b"area base br col embed hr img input link meta source track wbr".split())
PICTURES: Mapping[bytes, int] = {b"img": 1, b"video": 4, b"audio": 4, b"object": 4, b"embed": 4}
FIELDS = frozenset(b"input textarea".split())
NO_FIELD = re.compile(rb"\btype=[\"']?(?:hidden|search|submit|button)")
MAY_WAIT = frozenset(b"div main section article ul ol dl tbody table p pre output".split())
"""Elements that scripts fill; custom elements too."""

BESIDE = frozenset(b"nav header footer aside".split())
CONTROLS = frozenset(b"a button label".split())
BESIDE_NAME = re.compile(
    rb"(?:(?:site|page|main|top|bottom|global|primary|secondary|app)[-_]{0,2})?"
    rb"(?:nav|navbar|navigation|menu|footer|foot|header|head|sidebar|breadcrumbs?|copyright|topbar|masthead"
    rb"|cookies?|cookie-(?:banner|notice|bar|consent)|consent|legal|contentinfo|menubar|banner)\Z"
)
"""The name of an element that is beside the content."""
NAMED_BESIDE = frozenset(b"div ul ol section p".split())
LEGAL_LINE = re.compile(rb"\xc2\xa9|&copy;|\ball rights reserved\b|\bcopyright\b")


@frozen
class Script:
    """A script element: its attributes and the beginning of its code."""

    attributes: bytes
    code: bytes


@frozen
class Waiting:
    """An element without text."""

    tag: bytes
    names: frozenset[bytes]
    """Its id, its classes and the values of its data attributes."""
    bare: bool
    """Whether not even a menu or a footer is in it."""


@dataclass(slots=True)
class Content:
    """What a page shows. Text in links, buttons, menus, headers and footers is not content."""

    text_chars: int = 0
    """All text."""
    chars: int = 0
    texts: int = 0
    """Pieces of text, each between two tags."""
    links: int = 0
    pictures: int = 0
    """A film counts as several."""
    fields: int = 0
    waiting: list[Waiting] = field(default_factory=list)


@dataclass(slots=True)
class _Open:
    """An element that is not closed yet, and the counts at its start."""

    tag: bytes
    attributes: bytes
    beside: bool
    before: tuple[int, int, int, int]


def visible_markup(body: bytes) -> bytes:
    """The markup without the parts that no browser shows."""
    return b" ".join(body[start:end] for start, end in _visible_ranges(body))


def read_content(markup: bytes, notice: re.Pattern[bytes], enough: int | None) -> Content:
    """What visible markup shows, without texts that match `notice`. Ends early at `enough` characters of content."""
    reading = _Reading(notice)
    at = 0
    for count, found in enumerate(TAG.finditer(markup)):
        reading.add_text(markup[at : found.start()])
        at = found.end()
        if found[1]:
            reading.end(found[2])
        else:
            reading.start(found[2], found[3])
        if count == MAX_TAGS or (enough is not None and reading.content.chars >= enough):
            break
    else:
        reading.add_text(markup[at:])
    reading.close(0)
    return reading.content


def scripts_and_notices(body: bytes) -> tuple[tuple[Script, ...], bytes]:
    """The scripts with code, and what the page says to browsers without scripts."""
    found: list[Script] = []
    notices: list[bytes] = []
    left, start = SCRIPT_BYTES, 0
    for _ in range(MAX_PARTS):
        opening = SCRIPT.search(body, start)
        if opening is None:
            break
        end = body.find(b"</" + opening[1], opening.end())
        end = len(body) if end < 0 else end
        text = body[opening.end() : min(end, opening.end() + min(SCRIPT_BEGINNING, left))]
        left -= len(text)
        start = end
        if opening[1] == b"noscript":
            notices.append(text)
        elif not NO_CODE.search(opening[2]):
            found.append(Script(opening[2], text))
    return tuple(found), b" ".join(notices)


class _Reading:
    """One pass over the tags of a page."""

    def __init__(self, notice: re.Pattern[bytes]) -> None:
        self.content = Content()
        self._notice = notice
        self._open: list[_Open] = []
        self._beside = 0
        """How many of the open elements are beside the content."""
        self._controls = 0

    def add_text(self, raw: bytes) -> None:
        text = b" ".join(raw.replace(b"&nbsp;", b" ").split())
        if not text or self._notice.match(text):
            return
        size = len(text.decode("utf-8", "ignore"))
        self.content.text_chars += size
        if not (self._beside or self._controls or LEGAL_LINE.search(text)):
            self.content.chars += size
            self.content.texts += 1

    def start(self, tag: bytes, attributes: bytes) -> None:
        if not self._beside:
            self.content.links += tag == b"a"
            self.content.pictures += PICTURES.get(tag, 0)
            self.content.fields += tag in FIELDS and not NO_FIELD.search(attributes)
        if tag in VOID or len(self._open) >= MAX_DEPTH:
            return
        named = tag in NAMED_BESIDE and any(map(BESIDE_NAME.match, _names(attributes, ID_OR_CLASS)))
        opened = _Open(tag, attributes, tag in BESIDE or named, self._counts())
        self._open.append(opened)
        self._beside += opened.beside
        self._controls += tag in CONTROLS

    def end(self, tag: bytes) -> None:
        """Close the element, and those in it that were left open."""
        for depth in range(len(self._open) - 1, -1, -1):
            if self._open[depth].tag == tag:
                self.close(depth)
                return

    def close(self, depth: int) -> None:
        while len(self._open) > depth:
            one = self._open.pop()
            self._beside -= one.beside
            self._controls -= one.tag in CONTROLS
            if not (self._beside or one.beside) and (one.tag in MAY_WAIT or b"-" in one.tag):
                self._add_if_waiting(one)

    def _counts(self) -> tuple[int, int, int, int]:
        content = self.content
        return content.chars, content.text_chars, content.pictures, content.links + content.fields

    def _add_if_waiting(self, one: _Open) -> None:
        chars, text, pictures, others = (
            now - then for now, then in zip(self._counts(), one.before, strict=True)
        )
        found = self.content.waiting
        if chars < TEXTLESS_CHARS and pictures <= 1 and others <= 2 and len(found) < MAX_WAITING:
            found.append(Waiting(one.tag, _names(one.attributes, NAME), bare=text < TEXTLESS_CHARS))


def _visible_ranges(body: bytes) -> Iterator[tuple[int, int]]:
    """Start and end of each part that a browser may show, up to `MAX_PARTS`."""
    start = 0
    for _ in range(MAX_PARTS):
        found = INVISIBLE.search(body, start)
        if found is None:
            yield start, len(body)
            return
        yield start, found.start()
        closing = b"-->" if found[0] == b"<!--" else b"</" + found[1] if found[1] else b">"
        end = body.find(closing, found.end())
        if end < 0:
            return
        start = end + len(closing)
        if found[1]:
            start = body.find(b">", start) + 1 or len(body)


def _names(attributes: bytes, pattern: re.Pattern[bytes]) -> frozenset[bytes]:
    return frozenset(
        name for quoted, bare in pattern.findall(attributes) for name in (quoted or bare).split()
    )
