"""Missing content: whether a page with some text lacks what it is there for, and what that is.

The menu and the footer of such a page are complete, but a script fills the rest, or the text ends after the beginning.
Only short texts are examined: a long text is what the page is there for, whatever a box beside it waits for.
"""

import json
import re
from collections.abc import Callable, Iterator
from html import unescape
from typing import Final

from turbohtml import Element, parse

from kindly.extract.walls.detect import SILENT_TEASER_CHARACTERS, Evidence, is_locked, is_teaser
from kindly.frozen import frozen
from kindly.text import script_evidence

BEGINNING_CHARACTERS: Final = 1_500
"""An article that ends after its beginning has less text than this."""
PRICES_CHARACTERS: Final = 3_000
PLACEHOLDER_CHARACTERS: Final = 20_000
LOADING_CHARACTERS: Final = 1_000
DECLARED_WORDS: Final = 150
"""Of shorter articles, the declared length says little."""
DECLARED_SHARE: Final = 0.4
"""A text below this share of its declared length is incomplete."""
MAX_WORD_CHARACTERS: Final = 12
"""Of scripts without spaces between words, words cannot be counted."""
SLOTS: Final = 3
"""So many empty places are a grid."""

WORD_COUNT = re.compile(r"[\"']wordCount[\"']\s{0,9}:\s{0,9}[\"']?(\d{1,6})\b")
ARTICLE_BODY = re.compile(r"\"articleBody\"\s{0,9}:\s{0,9}(\"(?:[^\"\\]|\\.){0,200000}+\")", re.S)
TAG = re.compile(r"<[^<>]{0,500}>")
PLACEHOLDER = re.compile(r"\\?\{\\?\{\s{0,9}[\w$(\[][^{}<>\n]{0,120}\}\\?\}")
CODE = re.compile(r"^(```|~~~).*?^\1|`[^`\n]+`|^(?: {4}|\t).*?$", re.S | re.M)
MORE_WORDS = (
    r"(?:(?:click (?:here )?to )?(?:read|view|show|see)(?: the)? (?:more|rest|full (?:article|story|post|text))"
    r"(?: of (?:the|this) (?:article|story|post))?|(?:continue|keep) reading|weiterlesen|lire la suite|leer más|"
    r"seguir leyendo|continua a leggere|continuar lendo|читать далее|続きを読む|阅读全文)"
)
MORE = re.compile(
    r"<(?:a|button|span|div)\b(?P<attributes>[^<>]{0,500})>\s{0,200}(?:<(?:span|b|strong)\b[^<>]{0,300}>\s{0,200})?"
    rf"{MORE_WORDS}[\s.…»›→>]{{0,20}}<",
    re.I,
)
MORE_STARTS = (
    *(f"{verb} {rest}" for verb in ("read", "view", "show", "see") for rest in ("more", "rest", "full", "the ")),
    "continue reading", "keep reading", "weiterlesen", "lire la suite", "leer más", "seguir leyendo",
    "continua a leggere", "continuar lendo", "читать далее", "続きを読む", "阅读全文",
)  # fmt: skip
"""Every match of `MORE_WORDS` contains one of these words, which are much faster to find."""
MORE_LINE = re.compile(rf"{MORE_WORDS}\W*\Z", re.I)
LINK = re.compile(r"\[([^\[\]]*)\]\([^()\s]*\)")
NO_LETTER = re.compile(r"[\W_]+")
END_LETTERS: Final = 30
"""So many letters at its end are looked up to find where a text ends in the markup."""
NO_MORE = re.compile(
    r"\baria-(?:expanded|controls)\b|\bdata-(?:bs-)?(?:toggle|target)\b|\bhidden\b|display:\s?none",
    re.I,
)
"""Marks of a button that is not shown, or that shows text that is already in the page."""
LOADING_LINE = re.compile(
    rf"^[\W_]*(?:{script_evidence.LOADING})(?:[^\S\n]+\w+){{0,3}}[^\S\n]*(?:…|\.\.\.)?[*_]*$",
    re.I | re.M,
)
PRICE_MARKUP = re.compile(r"prices?\b[^<>]{0,300}>\s{0,200}<")
PRICE_NAME = re.compile(r"(?:\A|[\s_-])prices?(?:\Z|[\s_-])|\A\w{0,40}-?price\Z", re.I)
AMOUNT = re.compile(
    r"[$€£¥₹₽]\s?\d|\d\s?(?:[€£¥₽]|(?:EUR|USD|GBP|CHF|SEK|NOK|DKK|PLN|kr|zł|Kč|руб|lei|Ft)\b)"
)
SKELETON_WORDS = ("skeleton", "shimmer", "placeholder-glow", "content-loader")
SKELETON_NAME = re.compile(rf"(?:\A|[\s_-])(?:{'|'.join(SKELETON_WORDS)})(?:\Z|[\s_-])")
BESIDE = frozenset({"nav", "header", "footer", "aside", "template", "noscript"})


@frozen
class Gap:
    """What a page lacks."""

    sentence: str
    protected: bool = False
    """Whether the site shows it to subscribers only."""


def missing(evidence: Evidence) -> Gap | None:
    """What the page lacks; None if nothing shows that it lacks anything."""
    return next((gap for gap, holds in REASONS if holds(evidence)), None)


def _is_for_subscribers(evidence: Evidence) -> bool:
    if is_teaser(evidence):
        return True
    return len(evidence.text) <= SILENT_TEASER_CHARACTERS and is_locked(evidence)


def _is_shorter_than_declared(evidence: Evidence) -> bool:
    """Whether the page's structured data describes one article that is much longer than the text."""
    text, markup = evidence.text, evidence.markup
    if len(text) > BEGINNING_CHARACTERS:
        return False
    words = text.split()
    if len(text) > MAX_WORD_CHARACTERS * len(words):
        return False
    declared = set(WORD_COUNT.findall(markup)) if "wordCount" in markup else set()
    if len(declared) == 1 and _is_short(len(words), int(declared.pop())):
        return True
    bodies = set(ARTICLE_BODY.findall(markup)) if "articleBody" in markup else set()
    return len(bodies) == 1 and _is_short(len(words), _count_words(bodies.pop()))


def _is_short(words: int, declared: int) -> bool:
    return declared >= DECLARED_WORDS and words < DECLARED_SHARE * declared


def _count_words(literal: str) -> int:
    """The number of words in a JSON string, without the markup in it."""
    try:
        value = json.loads(literal, strict=False)
    except ValueError:
        return 0
    return len(TAG.sub(" ", unescape(str(value))).split())


def _ends_with_more(evidence: Evidence) -> bool:
    """Whether a button to read the rest follows a short text; a list of teasers has several."""
    if len(evidence.text) > BEGINNING_CHARACTERS:
        return False
    shown = evidence.whole_text.lower()
    if not any(word in shown for word in MORE_STARTS):
        return False
    found = list(MORE.finditer(evidence.markup))
    if len(found) != 1 or NO_MORE.search(found[0]["attributes"]):
        return False
    before = evidence.markup[max(0, found[0].start() - BEGINNING_CHARACTERS) : found[0].start()]
    end = _letters(MORE_LINE.sub("", LINK.sub(r"\1", evidence.text)))[-END_LETTERS:]
    return len(end) == END_LETTERS and _letters(TAG.sub("", unescape(before))).endswith(end)


def _letters(text: str) -> str:
    return NO_LETTER.sub("", text)


def _has_placeholders(evidence: Evidence) -> bool:
    text = evidence.text[:PLACEHOLDER_CHARACTERS]
    return "{{" in text and PLACEHOLDER.search(CODE.sub("", text)) is not None


def _lacks_prices(evidence: Evidence) -> bool:
    """Whether the places for prices are all empty."""
    markup = evidence.markup
    if len(evidence.text) > PRICES_CHARACTERS or AMOUNT.search(evidence.text):
        return False
    if markup.count("price") < SLOTS or len(PRICE_MARKUP.findall(markup)) < SLOTS:
        return False
    slots = list(_slots(markup, "[class*=price i]", PRICE_NAME))
    return len(slots) >= SLOTS and not any(slots)


def _is_loading(evidence: Evidence) -> bool:
    """Whether the text, or the grey boxes in its place, wait for a script."""
    if len(evidence.text) > LOADING_CHARACTERS or "<script" not in evidence.markup:
        return False
    if LOADING_LINE.search(evidence.text):
        return True
    if sum(map(evidence.markup.count, SKELETON_WORDS)) < SLOTS:
        return False
    selector = ", ".join(f"[class*={word}]" for word in SKELETON_WORDS)
    slots = list(_slots(evidence.markup, selector, SKELETON_NAME))
    return len(slots) >= SLOTS and not any(slots)


def _slots(markup: str, selector: str, name: re.Pattern[str]) -> Iterator[bool]:
    """Of each outermost element with such a class, beside menus and footers: whether it has text."""
    for element in parse(markup, positions=False).select(selector):
        if not name.search(element.attr("class") or ""):
            continue
        above = _ancestors(element)
        if not any(one.tag in BESIDE or name.search(one.attr("class") or "") for one in above):
            yield bool(element.text.strip())


def _ancestors(element: Element) -> Iterator[Element]:
    parent = element.parent
    while isinstance(parent, Element):
        yield parent
        parent = parent.parent


REASONS: tuple[tuple[Gap, Callable[[Evidence], bool]], ...] = (
    (
        Gap("Only the beginning is here: the site shows the rest to subscribers.", protected=True),
        _is_for_subscribers,
    ),
    (
        Gap("Only the beginning is here: the page describes its article as much longer."),
        _is_shorter_than_declared,
    ),
    (Gap("Values are missing: a script fills in its placeholders."), _has_placeholders),
    (Gap("Prices are missing: a script fills them in."), _lacks_prices),
    (Gap("Content is missing: a script was still to load it."), _is_loading),
    (Gap("Only the beginning is here: the page has a button to read the rest."), _ends_with_more),
)
"""Kinds of evidence, the most certain first."""
