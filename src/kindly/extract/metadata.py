"""A parsed page → what it says of itself: title, author, dates, site, language, canonical address.

Read from meta tags, Open Graph, JSON-LD and a few elements, before anything is taken out of the tree.
"""

import re
from collections.abc import Iterator, Mapping
from urllib.parse import urljoin

from turbohtml import Document

from kindly.extract.characters import clean
from kindly.models import Metadata

MAX_CHARACTERS = 500
MAX_NODES = 500
LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8}){0,3}\Z")
DATE = re.compile(r"\d{4}|\d{1,2}[./-]\d{1,2}")


def read_metadata(document: Document, url: str) -> Metadata:
    """What the page says of itself; empty fields where it says nothing."""
    meta = _meta(document)
    facts = _article_facts(document)
    return Metadata(
        title=_first(
            meta.get("og:title"),
            _text(document, "title"),
            _text(document, "h1"),
            meta.get("twitter:title"),
        )
        or "",
        description=_first(
            meta.get("description"), meta.get("og:description"), facts.get("description")
        ),
        author=_author(document, meta, facts),
        published=_date(
            meta.get("article:published_time"),
            facts.get("datePublished"),
            *(
                meta.get(name)
                for name in (
                    "date",
                    "pubdate",
                    "publishdate",
                    "dc.date",
                    "dcterms.created",
                    "parsely-pub-date",
                )
            ),
            _attribute(document, "[itemprop=datePublished], time[pubdate]", "datetime", "content"),
            _attribute(document, "article time[datetime], main time[datetime]", "datetime"),
        ),
        modified=_date(
            meta.get("article:modified_time"),
            meta.get("og:updated_time"),
            facts.get("dateModified"),
            meta.get("last-modified"),
            _attribute(document, "[itemprop=dateModified]", "datetime", "content"),
        ),
        site=_first(meta.get("og:site_name"), meta.get("application-name"), facts.get("publisher")),
        language=_language(
            _attribute(document, "html", "lang"),
            meta.get("content-language"),
            meta.get("og:locale"),
        ),
        canonical=_canonical(document, url, meta.get("og:url")),
    )


def _meta(document: Document) -> dict[str, str]:
    found: dict[str, str] = {}
    for element in document.select("meta[content]"):
        name = element.attr("property") or element.attr("name") or element.attr("http-equiv")
        content = element.attr("content")
        if name and content:
            found.setdefault(name.lower(), content)
    return found


def _article_facts(document: Document) -> dict[str, str]:
    """The few JSON-LD fields we use, from the first object that has them."""
    facts: dict[str, str] = {}
    for item in _objects(document.json_ld()):
        for name in ("datePublished", "dateModified", "description"):
            if isinstance(value := item.get(name), str):
                facts.setdefault(name, value)
        for name in ("author", "publisher"):
            if names := list(_person_names(item.get(name))):
                facts.setdefault(name, ", ".join(names[:5]))
    return facts


def _objects(value: object) -> Iterator[Mapping[str, object]]:
    queue, seen = [value], 0
    while queue and seen < MAX_NODES:
        seen += 1
        current = queue.pop(0)
        if isinstance(current, list):
            queue.extend(current)
        elif isinstance(current, dict):
            yield current
            queue.append(current.get("@graph"))
            queue.append(current.get("mainEntity"))


def _person_names(value: object) -> Iterator[str]:
    for person in value if isinstance(value, list) else [value]:
        name = person.get("name") if isinstance(person, dict) else person
        if isinstance(name, str) and name.strip() and not name.startswith("http"):
            yield name.strip()


def _author(document: Document, meta: Mapping[str, str], facts: Mapping[str, str]) -> str | None:
    named = [
        meta.get(name)
        for name in ("author", "article:author", "dc.creator", "parsely-author", "twitter:creator")
    ]
    return _first(
        *(name for name in named if name and not name.startswith("http")),
        facts.get("author"),
        _text(
            document,
            "[itemprop=author] [itemprop=name], [itemprop=author], [rel=author], .byline .author, .p-author",
        ),
    )


def _text(document: Document, selector: str) -> str | None:
    element = document.select_one(selector)
    return element.text if element is not None else None


def _attribute(document: Document, selector: str, *names: str) -> str | None:
    element = document.select_one(selector)
    if element is None:
        return None
    return next((value for name in names if (value := element.attr(name))), None)


def _first(*candidates: str | None) -> str | None:
    for candidate in candidates:
        text = " ".join(clean(candidate or "")[0].split())
        if text:
            return text if len(text) <= MAX_CHARACTERS else text[: MAX_CHARACTERS - 1] + "…"
    return None


def _date(*candidates: str | None) -> str | None:
    return next(
        (
            text
            for candidate in candidates
            if (text := _first(candidate)) and DATE.search(text) and len(text) <= 40
        ),
        None,
    )


def _language(*candidates: str | None) -> str | None:
    return next(
        (
            text.replace("_", "-")
            for candidate in candidates
            if (text := _first(candidate)) and LANGUAGE.match(text)
        ),
        None,
    )


def _canonical(document: Document, url: str, og_url: str | None) -> str | None:
    for address in (_attribute(document, "link[rel~=canonical]", "href"), og_url):
        if not address:
            continue
        try:
            absolute = urljoin(url, address.strip())
        except ValueError:
            continue
        if absolute.startswith(("http://", "https://")):
            return absolute
    return None
