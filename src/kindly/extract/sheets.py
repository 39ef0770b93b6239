"""The `<style>` elements of a page → their rules as they hold on a desktop screen, in order, unmatched."""

import re
from collections.abc import Iterator

from turbohtml import Document

MAX_SHEET_CHARACTERS = 1_000_000
MAX_BODY = 3_000
MAX_CONDITIONS = 6
"""How deep `@media` and the like are followed into each other."""
SCREEN_WIDTH_PX = 1280

COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.S)
CONDITION = re.compile(r"@(media|supports|layer)\b([^{};]*)\{", re.I)
BRACE = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'|[{}]")
RULE = re.compile(r"([^{};]+)\{([^{}]*)\}")
MEDIA_WIDTH = re.compile(r"(min|max)-width\s*:\s*([\d.]+)(px|r?em)")
NOT_ON_SCREEN = re.compile(
    r"\b(?:print|speech)\b|prefers-|forced-colors|max-height|orientation:\s*portrait"
)

Rule = tuple[str, str]
"""Selectors and declarations, the latter in small letters."""


def rules_of(document: Document) -> list[Rule]:
    """The rules of the page's own stylesheets, in order."""
    sheets = [style.text for style in document.select("style")]
    if sum(map(len, sheets)) > MAX_SHEET_CHARACTERS:
        return []
    return [
        (selectors, body.lower())
        for sheet in sheets
        for part in _on_screen(COMMENT.sub(" ", sheet) if "/*" in sheet else sheet)
        for selectors, body in RULE.findall(part)
        if "@" not in selectors and len(body) <= MAX_BODY
    ]


def _on_screen(text: str, depth: int = 0) -> Iterator[str]:
    """The parts of a stylesheet that hold on a desktop screen, in order, conditions unwrapped."""
    position = 0
    while found := CONDITION.search(text, position):
        yield text[position : found.start()]
        end = _closing_brace(text, found.end())
        if depth < MAX_CONDITIONS and _holds(found.group(1).lower(), found.group(2).lower()):
            yield from _on_screen(text[found.end() : end], depth + 1)
        position = end + 1
    yield text[position:]


def _closing_brace(text: str, start: int) -> int:
    depth = 1
    for found in BRACE.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(found.group(), 0)
        if depth == 0:
            return found.start()
    return len(text)


def _holds(rule: str, condition: str) -> bool:
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
