"""Stylesheet parser: the `<style>` elements of a page → the rules that apply on a desktop screen, in order."""

import re
from functools import lru_cache

from turbohtml import Document

from kindly.extract.visibility.nesting import Selectors, nested_selectors

MAX_SHEET_CHARACTERS = 1_000_000
MAX_BODY = 3_000
MAX_CACHED_HEAD = 200
"""Longer at-rules are not cached, to bound memory."""
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
"""Selectors and declarations, as written."""


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


def _applicable_rules(text: str) -> list[Rule]:
    """The rules that apply on a desktop screen, in order, without their conditions and without nesting."""
    reader = _Reader()
    rules = reader.rules
    for part in text.split("}")[:-1]:
        head, brace, body = part.partition("{")
        if not brace:
            reader.close(head)
        elif reader.is_plain and "{" not in body and "@" not in head and ";" not in head:
            if reader.applies and len(body) <= MAX_BODY:
                rules.append((head, body))
        else:
            *heads, body = part.split("{")
            for before in heads:
                reader.open(before)
            reader.close(body, empty=True)
    return rules


class _Reader:
    """The rules before a place in a stylesheet, and the blocks that are open there."""

    def __init__(self) -> None:
        self.rules: list[Rule] = []
        self.applies = True
        self.is_plain = True
        """Whether the place is not inside a rule: a rule here is not nested."""
        self._selectors = NO_SELECTORS
        """The selectors of the rule around the place."""
        self._open: list[tuple[bool, Selectors]] = []
        """For each open block whether its surroundings apply, and the selectors of the rule around it."""

    def open(self, before: str) -> None:
        """Enter a block; before it are its head and the declarations of the rule around it."""
        declarations, _, head = before.rpartition(";") if ";" in before else ("", "", before)
        if declarations and self._selectors:
            self._add(declarations)
        self._open.append((self.applies, self._selectors))
        if "@" in head:
            self._enter_group(head)
        elif self._selectors:
            self._selectors = nested_selectors(self._selectors, head)
        else:
            self._selectors = (head,)

    def close(self, body: str, *, empty: bool = False) -> None:
        """Leave a block after these declarations; without any there is no rule, unless it may be `empty`."""
        if self._selectors and (empty or not body.isspace()):
            self._add(body)
        self.applies, self._selectors = self._open.pop() if self._open else (True, NO_SELECTORS)
        self.is_plain = not self._selectors

    def _add(self, body: str) -> None:
        if self.applies and len(body) <= MAX_BODY:
            self.rules += [(selector, body) for selector in self._selectors]

    def _enter_group(self, head: str) -> None:
        """Enter the block of an at-rule."""
        applies, selectors = (_cached_group if len(head) <= MAX_CACHED_HEAD else _group)(head)
        if len(self._open) > MAX_CONDITIONS and CONDITION.match(head):
            applies = False
        self.applies = self.applies and applies
        self._selectors = selectors or self._selectors


def _group(head: str) -> tuple[bool, Selectors]:
    """Whether the content of a block with an at-rule applies, and to which selectors it is nested, if it says so."""
    if (scope := SCOPE.match(head)) is not None:
        return True, (scope[1],) if scope[1] else NO_SELECTORS
    found = CONDITION.match(head)
    if found is None:
        return CONTAINER.match(head) is not None, NO_SELECTORS
    return _condition_holds(found[1].lower(), found[2].lower()), NO_SELECTORS


_cached_group = lru_cache(maxsize=1024)(_group)


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
