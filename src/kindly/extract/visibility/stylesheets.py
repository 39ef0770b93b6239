"""Stylesheet parser: the `<style>` elements of a page → the rules that apply on a desktop screen, in order."""

import re
from collections.abc import Iterator

from turbohtml import Document

MAX_SHEET_CHARACTERS = 1_000_000
MAX_BODY = 3_000
MAX_CONDITIONS = 6
"""The maximum nesting of `@media` and other conditional rules."""
SCREEN_WIDTH_PX = 1280

COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.S)
QUOTED_CONTENT = re.compile(r"content\s*:\s*(?:\"[^\"\n]*\"|'[^'\n]*')")
CONDITION = re.compile(r"\s*@(media|supports|layer|(?:-\w+-)?keyframes)\b(.*)", re.I | re.S)
MEDIA_WIDTH = re.compile(r"(min|max)-width\s*:\s*([\d.]+)(px|r?em)")
NOT_ON_SCREEN = re.compile(
    r"\b(?:print|speech)\b|prefers-|forced-colors|max-height|orientation:\s*portrait"
)

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
    """The rules that apply on a desktop screen, in order, without their conditions."""
    open_blocks: list[bool] = []
    """For each open block whether its content applies."""
    for part in text.split("}")[:-1]:
        *heads, body = part.split("{")
        for before in heads:
            head = before.rpartition(";")[2] if ";" in before else before
            applies = open_blocks[-1] if open_blocks else True
            open_blocks.append(applies and ("@" not in head or _applies(head, len(open_blocks))))
        if heads and head and open_blocks[-1] and "@" not in head and len(body) <= MAX_BODY:
            yield head, body.lower()
        if open_blocks:
            open_blocks.pop()


def _applies(head: str, depth: int) -> bool:
    """Whether the rules in a block with this head apply."""
    found = CONDITION.match(head)
    if found is None:
        return True
    return depth < MAX_CONDITIONS and _condition_holds(
        found.group(1).lower(), found.group(2).lower()
    )


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
