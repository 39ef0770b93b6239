"""Boilerplate by name: elements that their class or id calls a sidebar, menu, footer and so on.

Only elements outside the main element (`main`, `article`, `[role=main]`) count. Names are compared word by word, so
that `shared-memory` is not `share`. An element that contains the main element, the page's title or most of the page's
text is a wrapper and is kept.
"""

import re
from bisect import bisect_right
from functools import lru_cache
from itertools import accumulate

from turbohtml import Element

from kindly.extract.content.blocks import BITS, Blocks

NAMES = """
    sidebar sidebars breadcrumb breadcrumbs menu menus gdpr cookie cookies related share sharing footer
"""
PROMO_NAMES = "promo promos promotion promotions"
STATES = """
    has with no not without hide hidden show toggle tag tags category categories cat term layout enabled disabled true
    false none off
"""
ITEMS = "card item tile product post entry comment quote testimonial review table"
ID_PARTS = """
    site page main global primary secondary left right top bottom sub inner outer wrapper wrap container box bar block
    section area region widget widgets list links nav navigation header content mobile desktop banner notice consent
    popup dialog modal overlay buttons icons social posts articles stories news
"""
NAMED, PROMOS, STATE, ITEM, ID_PART = (
    frozenset(words.split()) for words in (NAMES, PROMO_NAMES, STATES, ITEMS, ID_PARTS)
)
"""Names of boilerplate; names of it on pages with a main element (elsewhere offers may be the content); words that make
a name a state, a topic or a layout (`has-sidebar`, `tag-cookies`); words that make a footer that of an item; and what
else an id may say (other ids are taken from headings: `for-share`)."""
STEMS = ("sidebar", "breadcrumb", "promo", "menu", "gdpr", "cookie", "related", "shar", "footer")
"""Every name of boilerplate contains one of these; a pre-filter."""
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
NAMED_ELEMENT = "named"
LANDMARKS = frozenset({"main", "article", "h1"})
LANDMARK_ROLES = BITS["role-main"] | BITS["article"]
KEPT_TAGS = frozenset({"body", "main", "article", "pre", "h1", "h2", "h3", "h4", "h5", "h6"})
MOST = 0.5
MOST_BESIDE_MAIN = 0.8
"""An element with more than this share of the page's characters is never boilerplate; the second applies beside a main
element with at least `MAIN_CHARACTERS`."""
MAIN_CHARACTERS = 200
"""If no `main` has at least this much text, the longest `article` is a main element too."""


def boilerplate_elements(blocks: Blocks) -> list[int]:
    """The numbers of the outermost elements that are boilerplate by their name, in document order."""
    named = {
        number: NAMED_ELEMENT
        for number in _with_a_stem(blocks.signature_names)
        if blocks.signature_tags[number] not in KEPT_TAGS
    }
    if not named:
        return []
    page = _Page(blocks, named)
    words = NAMED | PROMOS if page.mains else NAMED
    found: list[int] = []
    named_alike: dict[int, bool] = {}
    """Elements with the same signature have the same names."""
    end = 0
    for at in page.named:
        if blocks.starts[at] < end:
            continue
        signature = blocks.signatures[at]
        if signature not in named_alike:
            named_alike[signature] = _is_named(blocks.elements[at], words)
        if named_alike[signature] and page.is_outside(at):
            found.append(at)
            end = blocks.ends[at]
    return found


def _with_a_stem(names: list[str]) -> set[int]:
    """The positions of the names that contain a stem; all names are searched at once, which is faster."""
    lower = list(map(str.lower, names))
    text = "\n".join(lower)
    ends: list[int] = []
    found: set[int] = set()
    for stem in STEMS:
        at = text.find(stem)
        while at >= 0:
            ends = ends or list(accumulate(len(name) + 1 for name in lower))
            number = bisect_right(ends, at)
            found.add(number)
            at = text.find(stem, ends[number])
    return found


def _is_named(element: Element, words: frozenset[str]) -> bool:
    return names_boilerplate(element.attr("class") or "", element.attr("id") or "", words)


@lru_cache(maxsize=8192)
def names_boilerplate(classes: str, identity: str, words: frozenset[str]) -> bool:
    """Whether a class name or the id contains one of the words, as the name of an element."""
    if any(_is_name(_words(name), words) for name in classes.split()):
        return True
    parts = _words(identity)
    return _is_name(parts, words) and words.union(ID_PART).issuperset(parts)


def _words(name: str) -> list[str]:
    return [word.lower() for word in WORD.findall(name)]


def _is_name(parts: list[str], words: frozenset[str]) -> bool:
    found = words.intersection(parts)
    if not found or not STATE.isdisjoint(parts):
        return False
    return found != {"footer"} or ITEM.isdisjoint(parts)


class _Page:
    """The main elements of a page, and how much text its elements hold."""

    def __init__(self, blocks: Blocks, named: dict[int, str]) -> None:
        self._starts, self._ends = blocks.starts, blocks.ends
        self._characters = [0, *accumulate(map(len, blocks.texts))]
        kinds = named | {
            number: tag for number, tag in enumerate(blocks.signature_tags) if tag in LANDMARKS
        }
        found: dict[str, list[int]] = {NAMED_ELEMENT: [], "main": [], "article": [], "h1": []}
        for at, signature in enumerate(blocks.signatures):
            if signature in kinds:
                found[kinds[signature]].append(at)
        for at, bits in blocks.marked.items():
            if bits & LANDMARK_ROLES:
                found["main" if bits & BITS["role-main"] else "article"].append(at)
        self.named, self._titles = found[NAMED_ELEMENT], found["h1"]
        self.mains = [at for at in found["main"] if self._size(at)]
        if max(map(self._size, self.mains), default=0) < MAIN_CHARACTERS:
            self.mains += sorted(filter(self._size, found["article"]), key=self._size)[-1:]
        trusted = max(map(self._size, self.mains), default=0) >= MAIN_CHARACTERS
        self._most = (MOST_BESIDE_MAIN if trusted else MOST) * self._characters[-1]

    def is_outside(self, at: int) -> bool:
        """Whether an element has text, is outside the main elements and is no wrapper."""
        size = self._size(at)
        if not size or size > self._most:
            return False
        if any(self.holds(at, title) for title in self._titles):
            return False
        return not any(self.holds(main, at) or self.holds(at, main) for main in self.mains)

    def holds(self, outer: int, inner: int) -> bool:
        """Whether an element with text is inside another; elements are numbered in document order."""
        return (
            outer < inner
            and self._starts[outer] <= self._starts[inner] < self._ends[outer]
            and self._ends[inner] <= self._ends[outer]
        )

    def _size(self, at: int) -> int:
        return self._characters[self._ends[at]] - self._characters[self._starts[at]]
