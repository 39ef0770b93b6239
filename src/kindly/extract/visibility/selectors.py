"""CSS selectors: the ones that can match something on a page, with their lookup key and specificity.

Most rules of a stylesheet are for other pages. A selector with a class, id or tag that does not occur on the page is
skipped by a plain text search.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from turbohtml import Element

from kindly.extract.visibility.stylesheets import Rule

PSEUDO = re.compile(
    r"::|:(?:before|after|hover|focus|active|visited|target|checked|first-l|defined|not\(:defined)",
    re.I,
)
NAME_CHARACTER = r"[^\x00-,./:-@\[-^`{-\x7f]"
"""`-`, `_`, digits, letters and everything that is not ASCII; a set of what it is not is matched faster."""
NAME = re.compile(rf"[.#](?:{NAME_CHARACTER}++|\\.)++")
INNER = re.compile(r"\([^()]*\)|\[[^\]]*\]")
TAG = re.compile(r"[a-zA-Z][\w-]*")
SINGLE_NAME = re.compile(rf"(?:[.#]|(?=[a-z]))(?:{NAME_CHARACTER}++|\\.)++")
CLASS_LIKE = re.compile(r"\.[\w\\-]|\[|:(?!:)")
TYPE_NAME = re.compile(r"(?:^|[\s>+~(,])[a-zA-Z]")


class Selector(NamedTuple):
    """One selector of a rule."""

    rule: int
    """The index of its rule."""
    text: str
    key: str
    """The class, id or tag that every matching element has; empty if there is none."""
    single: bool
    """Whether the selector consists of that key only."""


def applicable_selectors(rules: Sequence[Rule], names: Iterable[str]) -> Iterator[Selector]:
    """The selectors whose names are all known: classes as `.name`, ids as `#name`, and tags."""
    known = frozenset(names)
    search = NAME.search
    for order, (selectors, _) in enumerate(rules):
        nested = "(" in selectors
        parts = selectors.split(",") if "," in selectors and not nested else (selectors,)
        plain = not nested and "[" not in selectors and "\\" not in selectors
        for part in parts:
            if plain and (name := search(part)) is not None and name[0] not in known:
                continue  # most selectors end here
            if (selector := _selector(order, part.strip(), known)) is not None:
                yield selector


def _selector(order: int, text: str, known: frozenset[str]) -> Selector | None:
    if text in known and SINGLE_NAME.fullmatch(text):
        return Selector(order, text, text, single=True)
    plain = INNER.sub("", text) if "(" in text or "[" in text else text
    if _has_unknown_name(plain, known):
        return None
    if text[-1:] == "%" or (":" in text and PSEUDO.search(text)):
        return None
    if SINGLE_NAME.fullmatch(text):
        key = text.replace("\\", "")
        return Selector(order, text, key, single=True) if key in known else None
    key = _key(plain)
    return Selector(order, text, key, single=False) if not key or key in known else None


def _has_unknown_name(plain: str, known: frozenset[str]) -> bool:
    if "[" in plain:
        return False
    names = NAME.findall(plain)
    if known.issuperset(names):
        return False
    return "\\" not in plain or not known.issuperset(name.replace("\\", "") for name in names)


def _key(plain: str) -> str:
    part = plain[max(map(plain.rfind, " >+~")) + 1 :]
    if named := NAME.search(part):
        return named.group().replace("\\", "")
    tag = TAG.match(part)
    return tag.group().lower() if tag else ""


def index_by_name(elements: Iterable[Element]) -> dict[str, list[Element]]:
    """An index from every `.class`, `#id` and tag to its elements."""
    named: defaultdict[str, list[Element]] = defaultdict(list)
    by_classes: defaultdict[str, list[Element]] = defaultdict(list)
    for element in elements:
        named[element.tag].append(element)
        if classes := element.attr("class"):
            by_classes[classes].append(element)
        if ident := element.attr("id"):
            named["#" + ident].append(element)
    for classes, alike in by_classes.items():
        for name in classes.split():
            named["." + name] += alike
    return dict(named)


def specificity(selector: str) -> tuple[int, int, int]:
    """The number of ids, classes and tags in a selector, approximately."""
    return (
        selector.count("#"),
        len(CLASS_LIKE.findall(selector)),
        len(TYPE_NAME.findall(selector)),
    )
