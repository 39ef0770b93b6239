"""Stylesheet parser: the `<style>` elements of a page → the rules that apply on a desktop screen, in order."""

import re
from collections.abc import Iterator

from turbohtml import Document

from kindly.extract.visibility.nesting import Selectors, nested_selectors

MAX_SHEET_CHARACTERS = 1_000_000
MAX_BODY = 3_000
MAX_CONDITIONS = 6
"""The maximum nesting of `@media` and other conditional rules."""
SCREEN_WIDTH_PX = 1280

COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.S)
QUOTED_CONTENT = re.compile(r"content\s*:\s*(?:\"[^\"\n]*\"|'[^'\n]*')")
CONDITION = re.compile(r"\s*@(media|supports|layer|(?:-\w+-)?keyframes)\b(.*)", re.I | re.S)
SCOPE = re.compile(r"\s*@scope\s*(?:\(([^()]*)\))?", re.I)
CONTAINER = re.compile(r"\s*@(?:container|document|-moz-document)\b", re.I)
"""Conditional groups whose condition is not evaluated."""
MEDIA_WIDTH = re.compile(r"(min|max)-width\s*:\s*([\d.]+)(px|r?em)")
NOT_ON_SCREEN = re.compile(
    r"\b(?:print|speech)\b|prefers-|forced-colors|max-height|orientation:\s*portrait"
)

NO_SELECTORS: Selectors = ()
Rule = tuple[str, str]
"""Selectors, and declarations in lower case."""


def rules_of(document: Document) -> list[Rule]:
    """The rules of the page's own stylesheets, in order."""
    sheets = [style.text for style in document.select("style")]
    if sum(map(len, sheets)) > MAX_SHEET_CHARACTERS:
        return []
    return [rule for sheet in sheets for rule in _applicable_rules(_without_comments(sheet))]


def _without_comments(sheet: str) -> str:
    if "/*" in sheet:
        sheet = COMMENT.sub(" ", sheet)
    sheet = sheet[: sheet.rfind("}") + 1]
    return QUOTED_CONTENT.sub("", sheet) if "content" in sheet else sheet


def _applicable_rules(text: str) -> Iterator[Rule]:
    """The rules that apply on a desktop screen, in order, without their conditions and without nesting."""
    open_blocks: list[tuple[bool, Selectors]] = []
    """For each open block whether its surroundings apply, and the selectors of the rule around it."""
    applies, selectors = True, NO_SELECTORS
    for part in text.split("}")[:-1]:
        *heads, body = part.split("{")
        for before in heads:
            declarations, _, head = before.rpartition(";") if ";" in before else ("", "", before)
            if selectors and applies and declarations and len(declarations) <= MAX_BODY:
                yield from ((selector, declarations.lower()) for selector in selectors)
            open_blocks.append((applies, selectors))
            if "@" in head:
                applies, selectors = _group(head, applies, selectors, len(open_blocks) - 1)
            else:
                selectors = nested_selectors(selectors, head) if selectors else (head,)
        if selectors and applies and (heads or not body.isspace()) and len(body) <= MAX_BODY:
            lower = body.lower()
            for selector in selectors:
                yield selector, lower
        applies, selectors = open_blocks.pop() if open_blocks else (True, NO_SELECTORS)


def _group(
    head: str,
    applies: bool,  # noqa: FBT001
    selectors: Selectors,
    depth: int,
) -> tuple[bool, Selectors]:
    """Whether the content of a block with an at-rule applies, and to which selectors it is nested."""
    if (scope := SCOPE.match(head)) is not None:
        return applies, (scope[1],) if scope[1] else selectors
    found = CONDITION.match(head)
    if found is None:
        return applies and CONTAINER.match(head) is not None, selectors
    holds = depth < MAX_CONDITIONS and _condition_holds(found[1].lower(), found[2].lower())
    return applies and holds, selectors


def _condition_holds(rule: str, condition: str) -> bool:
    if rule.endswith("keyframes"):
        return False
    if rule == "layer":
        return True
    if rule == "supports":
        return not condition.strip().startswith("not")
    return any(_on_desktop(query) for query in condition.split(","))


def _on_desktop(query: str) -> bool:
    if query.strip().startswith("not"):
        return "print" in query
    if NOT_ON_SCREEN.search(query):
        return False
    for bound, number, unit in MEDIA_WIDTH.findall(query):
        pixels = float(number) * (1 if unit == "px" else 16)
        if (pixels > SCREEN_WIDTH_PX) if bound == "min" else (pixels < SCREEN_WIDTH_PX):
            return False
    return True
