"""A page's markup and address → what it says of its kind before its body is read."""

import re
from dataclasses import dataclass
from itertools import islice
from urllib.parse import urlsplit

SCHEMA_TYPE = re.compile(r"""@type["']\s*:\s*\[?\s*["'](?:https?://schema\.org/)?(\w+)""")
OPEN_GRAPH = re.compile(r"""og:type["'][^<>]{0,40}content=["']?([\w.:]+)""")
MAX_KINDS = 40


@dataclass(frozen=True, slots=True)
class Hints:
    """What a page says of itself outside its body."""

    title: str = ""
    path: str = ""
    """Of its address, with the query."""
    kinds: frozenset[str] = frozenset()
    """Its schema.org types, and its Open Graph type after `og:`; in small letters."""


def read_hints(markup: str, title: str, url: str) -> Hints:
    """The kinds that the page claims to be, its title and its path."""
    kinds: set[str] = set()
    if (at := markup.find("@type")) >= 0:
        typed = islice(SCHEMA_TYPE.finditer(markup, at), MAX_KINDS)
        kinds.update(found.group(1).lower() for found in typed)
    at = markup.find("og:type")
    if at >= 0 and (found := OPEN_GRAPH.search(markup, at)) is not None:
        kinds.add("og:" + found.group(1).lower())
    try:
        parts = urlsplit(url)
    except ValueError:
        return Hints(title, "", frozenset(kinds))
    return Hints(title, parts.path + ("?" + parts.query if parts.query else ""), frozenset(kinds))
