"""The values that pass between stages: Query → Hit → Page → Document → Passage → Answer, and the outcome of each step.

All are frozen and without behaviour: they know neither how they were made nor how they are rendered.
"""

from collections.abc import Mapping
from dataclasses import field, replace
from datetime import datetime
from enum import StrEnum
from typing import Literal, NamedTuple

from kindly.frozen import frozen

TimeRange = Literal["day", "week", "month", "year"]
SafeSearch = Literal["off", "moderate", "strict"]
Category = Literal["general", "images", "videos", "news", "map", "music", "it", "science", "files"]
Format = Literal["markdown", "text", "html"]
ShownFormat = Literal["markdown", "text", "html", "screenshot"]
"""What a page can be shown as: a text, or a picture."""


class OutcomeKind(StrEnum):
    """What happened to a page or a search, in one word."""

    OK = "ok"
    PARTIAL = "partial"
    EMPTY = "empty"
    NOT_FOUND = "not_found"
    BLOCKED = "blocked"
    PAYWALLED = "paywalled"
    AUTH = "auth"
    ROBOTS = "robots"
    RATE_LIMITED = "rate_limited"
    TIMEOUT = "timeout"
    TOO_LARGE = "too_large"
    UNSUPPORTED = "unsupported"
    UNREACHABLE = "unreachable"
    REFUSED = "refused"


class Step(StrEnum):
    """The steps of a call, and the call itself."""

    CALL = "call"
    SEARCH = "search"
    PROVIDER = "provider"
    FETCH = "fetch"
    RENDER = "render"
    EXTRACT = "extract"
    READ = "read"


class Ending(StrEnum):
    """Outcomes of a call or a step that no page or search has."""

    BUSY = "busy"
    ERROR = "error"
    CANCELLED = "cancelled"


CallOutcome = OutcomeKind | Ending

RETRYABLE = frozenset({OutcomeKind.RATE_LIMITED, OutcomeKind.TIMEOUT, OutcomeKind.UNREACHABLE})

NEXT_STEPS: Mapping[OutcomeKind, str] = {
    OutcomeKind.OK: "Nothing to do.",
    OutcomeKind.PARTIAL: "Use what is there, or another source for the rest.",
    OutcomeKind.EMPTY: "Use another result.",
    OutcomeKind.NOT_FOUND: "Check the address, or search for the page's new address.",
    OutcomeKind.BLOCKED: "Use another source.",
    OutcomeKind.PAYWALLED: "Look for a free source.",
    OutcomeKind.AUTH: "Use a public source.",
    OutcomeKind.ROBOTS: "Use another source.",
    OutcomeKind.RATE_LIMITED: "Wait before the next request to this site, or use another source.",
    OutcomeKind.TIMEOUT: "Try once more later, or use another source.",
    OutcomeKind.TOO_LARGE: "Look for a smaller page with the same content, such as one section.",
    OutcomeKind.UNSUPPORTED: "Look for an HTML or text version.",
    OutcomeKind.UNREACHABLE: "Try once more later, or use another source.",
    OutcomeKind.REFUSED: "Use another source.",
}
"""What a caller can do. `Outcome.detail` already says what happened: these do not repeat it."""


@frozen
class Outcome:
    """What happened to a page or a search, whether a retry may help, and the next step."""

    kind: OutcomeKind = OutcomeKind.OK
    detail: str = ""
    retry_after_s: float | None = None

    @property
    def ok(self) -> bool:
        """Whether there is something to read."""
        return self.kind in {OutcomeKind.OK, OutcomeKind.PARTIAL}

    @property
    def retryable(self) -> bool:
        """Whether the same call may succeed later."""
        return self.kind in RETRYABLE

    @property
    def next_step(self) -> str:
        return NEXT_STEPS[self.kind]


@frozen
class Query:
    """A search query with its filters. A provider maps each filter to what its vendor offers."""

    text: str
    count: int = 3
    site: str | None = None
    time_range: TimeRange | None = None
    language: str | None = None
    region: str | None = None
    safe_search: SafeSearch | None = None
    category: Category = "general"
    page: int = 1
    """The page of `count` results, counted from 1."""
    include_domains: tuple[str, ...] = ()
    """Only these domains and their subdomains; lower case, without `www.`."""
    exclude_domains: tuple[str, ...] = ()
    published_after: str | None = None
    """The first day that a page may be from, as `2024-02-20`."""
    published_before: str | None = None
    """The last day."""


@frozen
class Hit:
    """One search result of a provider."""

    title: str
    url: str
    snippet: str
    provider: str
    published: str | None = None
    score: float | None = None
    engines: tuple[str, ...] = ()
    """Engines behind the provider that found it, if the provider names them."""
    found_by: tuple[str, ...] = ()
    """All providers that found it, if several were queried."""
    reasons: tuple[str, ...] = ()
    """Why it has its rank, if that is not the provider's own order."""


@frozen
class ProviderResults:
    """The answer of one provider: hits in its order, and facts about them."""

    hits: tuple[Hit, ...]
    total: int | None = None
    """The number of results that the provider reports."""
    engines: tuple[str, ...] = ()
    instance: str | None = None
    """The server that answered, if the provider has several."""
    raw: Mapping[str, object] | None = None
    """The provider's own JSON, for a profile that passes it on."""


@frozen
class Hits:
    """The results of one search, in order, with the provider that found them and the ones that failed before."""

    query: Query
    hits: tuple[Hit, ...]
    provider: str
    failed: tuple[str, ...] = ()
    why: str = ""
    """Why this provider was chosen."""
    total: int | None = None
    engines: tuple[str, ...] = ()
    instance: str | None = None
    raw: Mapping[str, object] | None = None
    took_ms: int = 0
    cached: bool = False
    filters: tuple[tuple[str, str], ...] = ()
    """The domain and date filters, each with who applied it: the provider's name, or `results`."""
    left_out: int = 0
    """How many results a check of these filters left out."""


class FetchMethod(StrEnum):
    """The ways to a page."""

    HTTP = "http"
    CACHE = "cache"
    REVALIDATED = "revalidated"
    BROWSER = "browser"
    LOADER = "loader"
    LIBRARY = "library"


@frozen
class How:
    """How a page was retrieved. `str()` is its form in answers, logs and files: `http`, `loader:github`."""

    method: FetchMethod = FetchMethod.HTTP
    loader: str = ""
    """The loader's name, if the method is `LOADER`."""

    @classmethod
    def parse(cls, text: str) -> "How":
        """The value of a `str()`.

        Raises:
            ValueError: the text names no method.
        """
        method, _, loader = text.partition(":")
        return cls(FetchMethod(method), loader)

    def __str__(self) -> str:
        return f"{self.method}:{self.loader}" if self.loader else str(self.method)

    @property
    def is_cached(self) -> bool:
        """Whether the bytes came from the page cache, not from the site."""
        return self.method in {FetchMethod.CACHE, FetchMethod.REVALIDATED}


HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})
"""The media types of HTML."""


@frozen
class Page:
    """The response of one URL: bytes, their media type, and how they were retrieved."""

    url: str
    """The address after redirects."""
    requested_url: str
    status: int
    media_type: str
    """Lower case, without parameters; empty if the server sent none."""
    body: bytes
    fetched_at: datetime
    charset: str | None = None
    """From the Content-Type header, unchecked."""
    etag: str | None = None
    last_modified: str | None = None
    cache_control: str = ""
    """The Cache-Control header, lower case."""
    how: How = How()
    composed: bool = False
    """Whether a loader composed it, so that all of it is content."""
    checked_at: datetime | None = None
    """When the site last confirmed that a cached page is unchanged."""
    cut: bool = False
    """Whether the body ends at the size limit, not at the page's end."""
    private: bool = False
    """Whether it was requested with a login, so that it is neither stored nor shared."""
    note: str = ""
    """What is to be said about how it was retrieved."""

    @property
    def may_be_stored(self) -> bool:
        """Whether its site allows storing it; a page that needed a login is not stored."""
        return not (self.private or "no-store" in self.cache_control)


@frozen
class Link:
    """A link of a page: its text and its absolute address."""

    text: str
    url: str


@frozen
class Metadata:
    """What a page states about itself."""

    title: str = ""
    description: str | None = None
    author: str | None = None
    published: str | None = None
    modified: str | None = None
    site: str | None = None
    language: str | None = None
    canonical: str | None = None
    sources: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    """The source of each field: `json-ld`, `open graph`, `meta`, `microdata`, `time`, `byline`, `url` and so on."""
    structured: Mapping[str, object] = field(default_factory=dict, compare=False, repr=False)
    """The page's own data as plain JSON, cut to a bounded size: `json_ld`, `open_graph`, `twitter`, `microdata`."""


@frozen
class Screenshot:
    """A picture of a page from its top."""

    url: str
    png: bytes = field(repr=False)
    width: int
    height: int
    page_height: int
    """Of the whole page, in pixels; more than `height` if the rest is not on the picture."""
    fetched_at: datetime


@frozen
class Document:
    """The readable text of a page, without text that a browser would not show."""

    url: str
    text: str
    """In the requested format; Markdown by default."""
    fetched_at: datetime
    media_type: str = "text/html"
    how: How = How()
    format: Format = "markdown"
    metadata: Metadata = field(default_factory=Metadata)
    links: tuple[Link, ...] = ()
    hidden_dropped: int = 0
    """How many pieces of invisible text were dropped."""
    partial: bool = False
    """Whether the page continues beyond this text."""
    cut: bool = False
    """Whether it is partial because of the size limit."""
    excerpt: bool = False
    """Whether only the pages of a file that some questions need were read. If it is `cut`, no more is ever read."""
    protected: bool = False
    """Whether it is partial because the site shows the rest to subscribers only."""
    content_hash: str = ""
    note: str = ""
    """What may be missing, and what to do about it."""

    @property
    def outcome(self) -> Outcome:
        """`PARTIAL` if the site did not send all of the content; what we cut or chose from it is `OK`."""
        if self.partial and not self.cut and not self.excerpt:
            return Outcome(OutcomeKind.PARTIAL, self.note)
        return Outcome()

    def with_note(self, note: str) -> "Document":
        """The document, which says one thing more."""
        return replace(self, note=" ".join(filter(None, (self.note, note))))


@frozen
class Passage:
    """A piece of a document's text, `text == document.text[start:end]`."""

    text: str
    start: int
    end: int
    total: int
    """Length of the whole document's text."""
    id: str = ""
    """The chunk it comes from, if it was ranked."""
    section: tuple[str, ...] = ()
    """The headings above it, outermost first."""
    score: float | None = None
    """How well it answers, 0 to 1, if it was ranked."""


@frozen
class Chunk:
    """A piece of a document that is embedded, stored and ranked as a unit; `text == document.text[start:end]`."""

    id: str
    """`sha256(url|section path|text)`, in hexadecimal."""
    url: str
    text: str
    start: int
    end: int
    section: tuple[str, ...]
    """The headings above it, outermost first."""
    tokens: int
    prepared: bytes | None = field(default=None, compare=False, repr=False)
    """What ranking needs of it, computed once (`kindly.read.ranking.prepared`); None if that is still to do."""


@frozen
class StoredPageInfo:
    """A page of the library, without its chunks."""

    url: str
    title: str
    crawled_at: datetime
    content_hash: str
    total: int
    """Length of the page's text."""
    etag: str | None = None
    last_modified: str | None = None
    language: str | None = None
    how: How = How()
    partial: bool = False
    cut: bool = False
    """Whether it is partial for another reason than that the site protects the rest."""
    collection: str = ""
    """The collection that it belongs to, `name@version`; empty for a page that was read alone."""

    @property
    def key(self) -> str:
        """What identifies it in a store: a page may be in several collections, each in its own version."""
        return f"{self.url}#{self.collection}" if self.collection else self.url


@frozen
class RecallScope:
    """Which pages of the library are asked. Empty fields do not restrict."""

    collection: str = ""
    """`name@version`, or a name for all its versions."""
    site: str = ""
    """A domain with its subdomains."""
    since: datetime | None = None
    """Fetched at that time or later."""

    def __bool__(self) -> bool:
        return bool(self.collection or self.site or self.since)


@frozen
class Citation:
    """A passage and the page that contains it."""

    page: StoredPageInfo
    passage: Passage


@frozen
class Finding:
    """The answer of a page or the whole library to one question: the best passages first."""

    question: str
    citations: tuple[Citation, ...]
    answered: bool = True
    """If not, the passages are only the closest."""
    note: str = ""
    """A limitation of this finding, such as missing vectors."""
    unsure: bool = False
    """Not answered, as far as one can tell, but it may be."""


@frozen
class PageFindings:
    """The answers of one page to some questions."""

    page: StoredPageInfo
    findings: tuple[Finding, ...]
    how: How
    note: str = ""


@frozen
class Source:
    """One result of a search or fetch: its address, its outcome, and its document if there is one."""

    url: str
    outcome: Outcome
    hit: Hit | None = None
    document: Document | None = None
    passages: tuple[Passage, ...] = ()
    """Passages of the document, the most relevant to the query first; empty if it was not ranked."""
    took_ms: int = 0
    """Time to fetch and extract it."""


class SearchResults(NamedTuple):
    """Hits and, if their pages were fetched, one source for each hit."""

    hits: Hits
    sources: tuple[Source, ...]


@frozen
class SourceExcerpt:
    """One source of an answer: the passage that fits the budget, and the cursor that continues after it."""

    source: Source
    passage: Passage | None = None
    cursor: str | None = None
    outline: tuple[str, ...] = ()
    """Headings after the passage."""
    excerpts: tuple[Passage, ...] = ()
    """Instead of one passage: several, in the page's order, with gaps between them."""


@frozen
class Answer:
    """An excerpt of every source, in order, within a token budget."""

    sources: tuple[SourceExcerpt, ...]
