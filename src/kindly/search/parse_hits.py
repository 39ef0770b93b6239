"""A provider's list of results → hits.

Pure. Text is passed on as the provider wrote it, except for code points that UTF-8 cannot encode. It is untrusted.
"""

import html
import math
import re
from collections.abc import Iterable
from typing import TypeGuard
from urllib.parse import urlsplit

from kindly.frozen import frozen
from kindly.models import Hit
from kindly.search.provider import ProviderSpec
from kindly.search.vendor_api import invalid_answer

OTHER_SCHEMES = frozenset({"ftp", "ftps", "sftp"})
"""Addresses that are passed on although they cannot be fetched."""
TAG = re.compile(r"</?[a-zA-Z][^<>]{0,200}>")


@frozen
class HitFields:
    """The vendor's names for the fields of one result."""

    url: str
    title: str
    snippet: str
    published: str | None = None
    score: str | None = None
    engines: str | None = None


def hits_from(items: object, fields: HitFields, spec: ProviderSpec) -> tuple[Hit, ...]:
    """The hits in order, without items that have no address. `ftp:` and `mailto:` links are kept.

    Raises:
        ProviderAnswerInvalid: It is not a list, or it has items and none of them can be used.
    """
    if not isinstance(items, list):
        raise invalid_answer(spec, "its results are not a list")
    hits = tuple(
        Hit(
            title=_text(item.get(fields.title)),
            url=url,
            snippet=_text(item.get(fields.snippet)),
            provider=spec.name,
            published=_text(item.get(fields.published)) or None,
            score=number_in(item.get(fields.score)),
            engines=_words(item.get(fields.engines)),
        )
        for item in items
        if isinstance(item, dict) and _is_address(url := item.get(fields.url))
    )
    if items and not hits:
        raise invalid_answer(spec, "none of its results has a web address")
    return hits


def total_from(value: object) -> int | None:
    """The number of results, from a JSON number or a string of digits; None for anything else."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20:
        return int(value)
    number = number_in(value)
    return int(number) if number is not None and number >= 0 else None


def engines_of(hits: Iterable[Hit]) -> tuple[str, ...]:
    """All engines behind the hits, each once, in order."""
    return tuple(dict.fromkeys(engine for hit in hits for engine in hit.engines))


def plain(markup: object) -> str:
    """The text of a snippet that contains tags and entities."""
    return html.unescape(TAG.sub("", markup)).strip() if isinstance(markup, str) else ""


def _text(value: object) -> str:
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def _words(value: object) -> tuple[str, ...]:
    items = value if isinstance(value, list) else [value]
    return tuple(dict.fromkeys(text for item in items if (text := _text(item))))


def number_in(value: object) -> float | None:
    """A finite JSON number, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _is_address(value: object) -> TypeGuard[str]:
    if not isinstance(value, str) or not value.isprintable():
        return False
    try:
        parts = urlsplit(value)
    except ValueError:
        return False
    if parts.scheme == "mailto":
        return "@" in parts.path
    return parts.scheme in {"http", "https", *OTHER_SCHEMES} and bool(parts.hostname)
