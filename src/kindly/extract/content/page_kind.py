"""Page type hints: the schema.org and Open Graph types that a page declares, its title and its URL path."""

import re
from collections.abc import Iterator
from itertools import islice
from urllib.parse import urlsplit

from kindly.frozen import frozen

SCHEMA_TYPE = re.compile(r"""@type["']\s*:\s*\[?\s*["'](?:https?://schema\.org/)?(\w+)""")
OPEN_GRAPH = re.compile(r"""og:type["'][^<>]{0,40}content=["']?([\w.:]+)""")
MAX_KINDS = 40
ARTICLES = frozenset({"article", "blogposting", "newsarticle", "techarticle", "og:article"})


@frozen
class Hints:
    """What is known about a page before its body is read."""

    title: str = ""
    path: str = ""
    """The path of its URL, with the query."""
    kinds: frozenset[str] = frozenset()
    """Declared schema.org types, and the Open Graph type with the prefix `og:`; lower case."""

    @property
    def is_article(self) -> bool:
        """Whether the page declares to be an article."""
        return not ARTICLES.isdisjoint(self.kinds)


def read_hints(markup: str, title: str, url: str) -> Hints:
    """The hints in a page's markup and URL."""
    kinds: set[str] = set()
    kinds.update(islice(_schema_types(markup), MAX_KINDS))
    at = markup.find("og:type")
    if at >= 0 and (found := OPEN_GRAPH.search(markup, at)) is not None:
        kinds.add("og:" + found.group(1).lower())
    try:
        parts = urlsplit(url)
    except ValueError:
        return Hints(title, "", frozenset(kinds))
    return Hints(title, parts.path + ("?" + parts.query if parts.query else ""), frozenset(kinds))


def _schema_types(markup: str) -> Iterator[str]:
    """The declared schema.org types; `find` is much faster than a search with the pattern."""
    at = markup.find("@type")
    while at >= 0:
        if (found := SCHEMA_TYPE.match(markup, at)) is not None:
            yield found.group(1).lower()
        at = markup.find("@type", at + 1)
