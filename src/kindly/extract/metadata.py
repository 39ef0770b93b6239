"""Page metadata: title, description, author, dates, site, language and canonical URL, each with its source.

Read from JSON-LD, Open Graph, meta tags, microdata and a few elements, before anything is removed from the tree.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from urllib.parse import urljoin, urlsplit

from turbohtml import Document, Element

from kindly.extract.structured import json_ld, objects, structured
from kindly.models import Metadata
from kindly.text.invisible import clean

MAX_CHARACTERS = 500
MAX_DATE = 40
MAX_NAME = 80
MAX_NAMES = 5
LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8}){0,3}\Z")
DATE = re.compile(r"\d{4}|\d{1,2}[./-]\d{1,2}")
URL_DATE = re.compile(
    r"/((?:19|20)\d\d)[/-](0?[1-9]|1[0-2])(?:[/-](0?[1-9]|[12]\d|3[01]))?(?=[/-]|\Z)"
)
BY = re.compile(
    r"\A(?:(?:written |posted |published |story |words |article )?(?:by|von|par|por|di|door)|author)"
    r"(?:[:\s]+|(?=(?-i:[A-Z])))",
    re.I,
)
AFTER_NAME = re.compile(r"\s*(?:[|•·,]|\bon\b|\bupdated\b|\bpublished\b|\d).*", re.I | re.S)
CONTENT_TYPES = re.compile(
    r"article|posting|report|recipe|product|review|question|howto|course|event|book|dataset|software|webpage|video|podcast",
    re.I,
)
PUBLISHED = (
    "date", "pubdate", "publishdate", "publish-date", "publication_date", "dc.date", "dc.date.issued",
    "dcterms.created", "dcterms.date", "parsely-pub-date", "sailthru.date", "citation_publication_date",
    "citation_date", "article.published",
)  # fmt: skip
MODIFIED = ("last-modified", "dcterms.modified", "dc.date.modified", "article.updated", "revised")
AUTHORS = (
    "author", "dc.creator", "dcterms.creator", "parsely-author", "sailthru.author", "citation_author", "byl",
    "article:author", "twitter:creator",
)  # fmt: skip
BYLINES = (
    "[rel=author], .byline .author, .byline-name, .author-name, .post-author, .entry-author, .article-author, "
    ".p-author, .byline, [class*=byline i]"
)
MAYBE_BYLINES = "[rel=author], [class*=author], [class*=byline i]"
"""Every match of `BYLINES` matches this too, and it is faster to find."""
MAX_BYLINES = 3
Candidate = tuple[str, str | None]
"""The source of a value, and the value."""


def read_metadata(document: Document, url: str, *, with_data: bool = False) -> Metadata:
    """The metadata of a page; `with_data` adds its structured data (JSON-LD, Open Graph, microdata)."""
    meta = _meta(document)
    ld = json_ld(document)
    page = _Page(document, url, meta, _facts(ld))
    found = {name: _pick(candidates(page), accept) for name, (candidates, accept) in FIELDS.items()}
    values = {name: picked[0] for name, picked in found.items() if picked is not None}
    return Metadata(
        title=values.get("title", ""),
        description=values.get("description"),
        author=values.get("author"),
        published=values.get("published"),
        modified=values.get("modified"),
        site=values.get("site"),
        language=values.get("language"),
        canonical=values.get("canonical"),
        sources={name: picked[1] for name, picked in found.items() if picked is not None},
        structured=structured(document, ld, meta) if with_data else {},
    )


class _Page:
    """The sources of metadata candidates."""

    def __init__(
        self, document: Document, url: str, meta: Mapping[str, str], facts: Mapping[str, str]
    ) -> None:
        self.document = document
        self.url = url
        self.meta = meta
        self.facts = facts

    def text(self, selector: str) -> str | None:
        element = self.document.select_one(selector)
        return element.text if element is not None else None

    def attribute(self, selector: str, *names: str) -> str | None:
        element = self.document.select_one(selector)
        if element is None:
            return None
        return next((value for name in names if (value := element.attr(name))), None)


def _meta(document: Document) -> dict[str, str]:
    found: dict[str, str] = {}
    for element in document.select("meta[content]"):
        name = element.attr("property") or element.attr("name") or element.attr("http-equiv")
        content = element.attr("content")
        if name and content:
            found.setdefault(name.lower(), content)
    return found


def _facts(ld: list[object]) -> dict[str, str]:
    """The JSON-LD properties in use; objects of content types take precedence."""
    known = list(objects(ld))
    by_id = {
        ident: item
        for item in known
        if isinstance(ident := item.get("@id"), str) and "name" in item
    }
    facts: dict[str, str] = {}
    for item in sorted(
        known, key=lambda item: not CONTENT_TYPES.search(str(item.get("@type", "")))
    ):
        for name in (
            "headline",
            "datePublished",
            "dateCreated",
            "dateModified",
            "description",
            "inLanguage",
        ):
            if isinstance(value := item.get(name), str):
                facts.setdefault(name, value)
        for name in ("author", "creator", "publisher"):
            names = list(dict.fromkeys(_person_names(item.get(name), by_id)))
            if names:
                facts.setdefault(name, ", ".join(names[:MAX_NAMES]))
    return facts


def _person_names(value: object, by_id: Mapping[str, Mapping[str, object]]) -> Iterator[str]:
    for person in value if isinstance(value, list) else [value]:
        if isinstance(person, dict) and "name" not in person:
            person = by_id.get(str(person.get("@id")), {})
        name = person.get("name") if isinstance(person, Mapping) else person
        for single in name if isinstance(name, list) else [name]:
            if isinstance(single, str) and single.strip() and not single.startswith("http"):
                yield single.strip()


def _titles(page: _Page) -> Iterator[Candidate]:
    yield "open graph", page.meta.get("og:title")
    yield "title", page.text("title")
    yield "h1", page.text("h1")
    yield "twitter", page.meta.get("twitter:title")
    yield "json-ld", page.facts.get("headline")


def _descriptions(page: _Page) -> Iterator[Candidate]:
    yield "meta", page.meta.get("description")
    yield "open graph", page.meta.get("og:description")
    yield "json-ld", page.facts.get("description")
    yield "twitter", page.meta.get("twitter:description")


def _authors(page: _Page) -> Iterator[Candidate]:
    for name in AUTHORS:
        value = page.meta.get(name)
        if value and not value.strip().startswith(("http", "@")):
            yield "meta", value
    yield "json-ld", page.facts.get("author") or page.facts.get("creator")
    yield "microdata", page.text("[itemprop=author] [itemprop=name], [itemprop=author]")
    bylines = (at for at in page.document.select(MAYBE_BYLINES) if at.matches(BYLINES))
    for element in islice(bylines, MAX_BYLINES):
        yield "byline", _name_in(element)


def _name_in(byline: Element) -> str | None:
    """The author in a byline such as "By Ann Writer | May 3"."""
    text = " ".join(byline.text.split())
    name = AFTER_NAME.sub("", BY.sub("", text)).strip()
    return name if 1 < len(name) <= MAX_NAME and len(name.split()) <= 6 else None


def _published(page: _Page) -> Iterator[Candidate]:
    yield "open graph", page.meta.get("article:published_time")
    yield "json-ld", page.facts.get("datePublished") or page.facts.get("dateCreated")
    for name in PUBLISHED:
        yield "meta", page.meta.get(name)
    yield (
        "microdata",
        page.attribute("[itemprop=datePublished], time[pubdate]", "datetime", "content")
        or page.text("[itemprop=datePublished]"),
    )
    yield (
        "time",
        page.attribute(
            "article time[datetime], main time[datetime], header time[datetime]", "datetime"
        ),
    )
    yield "url", _url_date(page.url)


def _url_date(url: str) -> str | None:
    try:
        found = URL_DATE.search(urlsplit(url).path)
    except ValueError:
        return None
    return "-".join(part.zfill(2) for part in found.groups() if part) if found else None


def _modified(page: _Page) -> Iterator[Candidate]:
    yield "open graph", page.meta.get("article:modified_time") or page.meta.get("og:updated_time")
    yield "json-ld", page.facts.get("dateModified")
    for name in MODIFIED:
        yield "meta", page.meta.get(name)
    yield "microdata", page.attribute("[itemprop=dateModified]", "datetime", "content")


def _sites(page: _Page) -> Iterator[Candidate]:
    yield "open graph", page.meta.get("og:site_name")
    yield "meta", page.meta.get("application-name")
    yield "json-ld", page.facts.get("publisher")


def _languages(page: _Page) -> Iterator[Candidate]:
    yield "html", page.attribute("html", "lang", "xml:lang")
    yield "meta", page.meta.get("content-language")
    yield "open graph", page.meta.get("og:locale")
    yield "json-ld", page.facts.get("inLanguage")


def _canonicals(page: _Page) -> Iterator[Candidate]:
    yield "link", _absolute(page, page.attribute("link[rel~=canonical]", "href"))
    yield "open graph", _absolute(page, page.meta.get("og:url"))


def _absolute(page: _Page, address: str | None) -> str | None:
    try:
        absolute = urljoin(page.url, (address or "").strip()) if address else ""
    except ValueError:
        return None
    return absolute if absolute.startswith(("http://", "https://")) else None


def _pick(
    candidates: Iterator[Candidate], accept: Callable[[str], str | None]
) -> tuple[str, str] | None:
    """The first acceptable value, and its source."""
    for source, value in candidates:
        text = " ".join(clean(value)[0].split()) if value else ""
        accepted = accept(text) if text else None
        if accepted:
            return accepted, source
    return None


def _short(text: str) -> str:
    return text if len(text) <= MAX_CHARACTERS else text[: MAX_CHARACTERS - 1] + "…"


def _date(text: str) -> str | None:
    return text if DATE.search(text) and len(text) <= MAX_DATE else None


def _language(text: str) -> str | None:
    return text.replace("_", "-") if LANGUAGE.match(text) else None


FIELDS: Mapping[str, tuple[Callable[[_Page], Iterator[Candidate]], Callable[[str], str | None]]] = {
    "title": (_titles, _short),
    "description": (_descriptions, _short),
    "author": (_authors, _short),
    "published": (_published, _date),
    "modified": (_modified, _date),
    "site": (_sites, _short),
    "language": (_languages, _language),
    "canonical": (_canonicals, _short),
}
