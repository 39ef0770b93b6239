"""Structured data of a page (JSON-LD, Open Graph, Twitter cards, microdata) as JSON values of bounded size.

Common JSON errors are repaired. Visitors do not see this data, so it is never part of the page's text.
"""

import json
import re
from collections.abc import Iterator, Mapping
from html import unescape

from turbohtml import Document
from turbohtml.extract import MicrodataItem

from kindly.text.invisible import clean

MAX_SCRIPT_CHARACTERS = 400_000
MAX_SCRIPTS = 20
MAX_CHARACTERS = 16_000
MAX_TEXT = 300
MAX_ITEMS = 30
MAX_KEYS = 50
MAX_DEPTH = 6
MAX_NODES = 500

Json = dict[str, object]

COMMENT = re.compile(
    r"\A\s*(?:<!--|//\s*<!\[CDATA\[|<!\[CDATA\[|/\*.*?\*/)|(?:-->|//\s*\]\]>|\]\]>)\s*;?\s*\Z", re.S
)
TRAILING_COMMA = re.compile(r",(\s*[\]}])")
DECODER = json.JSONDecoder(strict=False)


def json_ld(document: Document) -> list[object]:
    """The values of the page's JSON-LD scripts, in order; scripts that cannot be parsed are skipped."""
    found: list[object] = []
    for script in document.select("script[type*='ld+json' i]")[:MAX_SCRIPTS]:
        text = script.text
        if len(text) <= MAX_SCRIPT_CHARACTERS:
            found += _parsed(text)
    return found


def _parsed(text: str) -> list[object]:
    text = COMMENT.sub("", text).strip()
    return _decoded(text) or _decoded(TRAILING_COMMA.sub(r"\1", text)) or _decoded(unescape(text))


def _decoded(text: str) -> list[object]:
    """The JSON values of a text with one value or several in a row."""
    values: list[object] = []
    position = 0
    while position < len(text):
        try:
            value, position = DECODER.raw_decode(text, position)
        except (ValueError, RecursionError):
            break
        values.append(value)
        while position < len(text) and text[position] in " \t\r\n;,":
            position += 1
    return values


def objects(values: list[object]) -> Iterator[Mapping[str, object]]:
    """The JSON-LD objects that describe the page, outermost first."""
    queue: list[object] = [*values]
    visited = 0
    while queue and visited < MAX_NODES:
        visited += 1
        current = queue.pop(0)
        if isinstance(current, list):
            queue[:0] = current[:MAX_NODES]
        elif isinstance(current, dict):
            yield current
            queue += [
                current.get("@graph"),
                current.get("mainEntity"),
                current.get("mainEntityOfPage"),
            ]


def structured(document: Document, ld: list[object], meta: Mapping[str, str]) -> Json:
    """The non-empty groups of structured data, truncated to `MAX_CHARACTERS` in total."""
    budget = _Budget(MAX_CHARACTERS)
    groups: Json = {
        "json_ld": ld,
        "open_graph": _with_prefix(meta, "og:", "article:", "product:", "book:", "profile:"),
        "twitter": _with_prefix(meta, "twitter:"),
        "microdata": [_item(item) for item in document.microdata()],
    }
    return {name: budget.cut(group) for name, group in groups.items() if group}


def _with_prefix(meta: Mapping[str, str], *prefixes: str) -> Json:
    return {name: value for name, value in meta.items() if name.startswith(prefixes)}


def _item(item: MicrodataItem, depth: int = 0) -> Json:
    plain: Json = {"@type": item.type} if item.type else {}
    for name, values in item.properties.items():
        given = [
            (_item(value, depth + 1) if depth < MAX_DEPTH else "…")
            if isinstance(value, MicrodataItem)
            else value
            for value in values
        ]
        plain[name] = given[0] if len(given) == 1 else given
    return plain


class _Budget:
    """Truncates JSON values to a common budget of characters."""

    def __init__(self, characters: int) -> None:
        self._left = characters

    def cut(self, value: object, depth: int = 0) -> object:
        """The value with long texts, long lists and deep parts truncated."""
        self._left -= 4
        if self._left <= 0 or depth > MAX_DEPTH:
            return None
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list):
            return [self.cut(item, depth + 1) for item in value[:MAX_ITEMS] if self._left > 0]
        if isinstance(value, dict):
            return {
                self._text(str(name)): self.cut(item, depth + 1)
                for name, item in list(value.items())[:MAX_KEYS]
                if self._left > 0
            }
        return value if isinstance(value, bool | int | float) else None

    def _text(self, text: str) -> str:
        short = clean(text[:MAX_TEXT])[0] + ("…" if len(text) > MAX_TEXT else "")
        self._left -= len(short)
        return short
