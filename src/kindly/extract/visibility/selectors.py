"""CSS selectors: the ones that can match something on a page, with their lookup key and specificity.

Most rules of a stylesheet are for other pages. A selector with a class, id or tag that does not occur on the page is
skipped by a plain text search.
"""

import re
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import NamedTuple

from turbohtml import Element

from kindly.extract.visibility.stylesheets import Rule

PSEUDO = re.compile(
    r"::|:(?:before|after|hover|focus|active|visited|target|checked|first-l|defined|not\(:defined)",
    re.I,
)
NAME = re.compile(r"[.#](?:[-\w\x80-\U0010ffff]++|\\.)++")
INNER = re.compile(r"\([^()]*\)|\[[^\]]*\]")
TAG = re.compile(r"[a-zA-Z][\w-]*")
SINGLE_NAME = re.compile(r"(?:[.#]|(?=[a-z]))(?:[-\w\x80-\U0010ffff]++|\\.)++")
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


def applicable_selectors(rules: Sequence[Rule], known: Container[str]) -> Iterator[Selector]:
    """The selectors whose names are all known: classes as `.name`, ids as `#name`, and tags."""
    for order, (selectors, _) in enumerate(rules):
        if "(" in selectors:
            parts = [selectors.strip()]
        elif "," in selectors:
            parts = [part.strip() for part in selectors.split(",")]
        elif _has_unknown_name(selectors, known):
            continue
        else:
            parts = [selectors.strip()]
        for part in parts:
            if (selector := _selector(order, part, known)) is not None:
                yield selector


def _selector(order: int, text: str, known: Container[str]) -> Selector | None:
    if text[-1:] == "%" or (":" in text and PSEUDO.search(text)):
        return None
    plain = INNER.sub("", text) if "(" in text or "[" in text else text
    if _has_unknown_name(plain, known):
        return None
    if SINGLE_NAME.fullmatch(text):
        key = text.replace("\\", "")
        return Selector(order, text, key, single=True) if key in known else None
    key = _key(plain)
    return Selector(order, text, key, single=False) if not key or key in known else None


def _has_unknown_name(plain: str, known: Container[str]) -> bool:
    if "[" in plain:
        return False
    for name in NAME.findall(plain):
        if name not in known and ("\\" not in name or name.replace("\\", "") not in known):
            return True
    return False


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
