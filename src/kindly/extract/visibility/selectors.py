"""CSS selectors: the ones that can match something on a page, with their lookup key and specificity.

Most rules of a stylesheet are for other pages. A selector with a class, id or tag that does not occur on the page is
skipped by a plain text search.
"""

import re
from collections.abc import Container, Sequence
from typing import NamedTuple

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


def applicable_selectors(
    rules: Sequence[Rule], marks: frozenset[str], names: Container[str]
) -> list[Selector]:
    """The selectors whose names are all on the page: `marks` has its `.class` and `#id`, `names` its tags too."""
    found: list[Selector | None] = []
    search = NAME.search
    for order, (selectors, _) in enumerate(rules):
        if "(" in selectors:
            found.append(_selector(order, selectors.strip(), marks, names))
        elif "[" in selectors or "\\" in selectors:
            found += [_selector(order, part.strip(), marks, names) for part in selectors.split(",")]
        else:
            for part in selectors.split(",") if "," in selectors else (selectors,):
                if (name := search(part)) is None or name[0] in marks:  # most are not
                    found.append(_plain_selector(order, part.strip(), marks, names))
    return [selector for selector in found if selector is not None]


def _plain_selector(
    order: int, text: str, marks: frozenset[str], names: Container[str]
) -> Selector | None:
    """A selector without parentheses, brackets and escapes, whose first class or id is on the page."""
    if text.count(".") + text.count("#") > 1 and not marks.issuperset(NAME.findall(text)):
        return None
    if ":" in text and PSEUDO.search(text):
        return None
    last = text[text.rfind(" ") + 1 :]
    single = last == text
    if SINGLE_NAME.fullmatch(last) is not None and (single or last[0] in ".#"):
        key = last  # the most common case
    elif text[-1:] == "%":
        return None
    else:
        key, single = _key(text), False
    return Selector(order, text, key, single) if not key or key in names else None


def _selector(
    order: int, text: str, marks: frozenset[str], names: Container[str]
) -> Selector | None:
    is_single = SINGLE_NAME.fullmatch(text) is not None
    if is_single and text in names:
        return Selector(order, text, text, single=True)
    plain = INNER.sub("", text) if "(" in text or "[" in text else text
    if _has_unknown_name(plain, marks):
        return None
    if text[-1:] == "%" or (":" in text and PSEUDO.search(text)):
        return None
    if is_single:
        key = text.replace("\\", "")
        return Selector(order, text, key, single=True) if key in names else None
    key = _key(plain)
    return Selector(order, text, key, single=False) if not key or key in names else None


def _has_unknown_name(plain: str, marks: frozenset[str]) -> bool:
    if "[" in plain:
        return False
    names = NAME.findall(plain)
    if marks.issuperset(names):
        return False
    return "\\" not in plain or not marks.issuperset(name.replace("\\", "") for name in names)


def _key(plain: str) -> str:
    part = plain[max(map(plain.rfind, " >+~")) + 1 :]
    if named := NAME.search(part):
        return named.group().replace("\\", "")
    tag = TAG.match(part)
    return tag.group().lower() if tag else ""


def specificity(selector: str) -> tuple[int, int, int]:
    """The number of ids, classes and tags in a selector, approximately."""
    return (
        selector.count("#"),
        len(CLASS_LIKE.findall(selector)),
        len(TYPE_NAME.findall(selector)),
    )
