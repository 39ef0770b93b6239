"""The values that carry everything: Query → Hit → Page → Document → Passage → Answer, and the outcome of each step.

All frozen, all plain; no value here knows how it was made or how it will be shown.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Literal

TimeRange = Literal["day", "week", "month", "year"]
SafeSearch = Literal["off", "moderate", "strict"]
Category = Literal["general", "images", "videos", "news", "map", "music", "it", "science", "files"]
Format = Literal["markdown", "text", "html"]


class OutcomeKind(StrEnum):
    """What happened to a page or a search, in one word."""

    OK = "ok"
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


RETRYABLE = frozenset({OutcomeKind.RATE_LIMITED, OutcomeKind.TIMEOUT, OutcomeKind.UNREACHABLE})

NEXT_STEPS: dict[OutcomeKind, str] = {
    OutcomeKind.OK: "Nothing to do.",
    OutcomeKind.EMPTY: "The page has no readable text; use another result.",
    OutcomeKind.NOT_FOUND: "Check the address, or search for the page's new place.",
    OutcomeKind.BLOCKED: "The site refuses automated readers; use another source.",
    OutcomeKind.PAYWALLED: "Only subscribers can read it; look for another source.",
    OutcomeKind.AUTH: "It needs a login or a valid key; use a public source.",
    OutcomeKind.ROBOTS: "The site's robots.txt forbids it; use another source.",
    OutcomeKind.RATE_LIMITED: "Wait before asking this site again, or use another source.",
    OutcomeKind.TIMEOUT: "Try once more later, or use another source.",
    OutcomeKind.TOO_LARGE: "Look for a smaller page that holds the same, such as one section.",
    OutcomeKind.UNSUPPORTED: "This type cannot be read as text; look for an HTML or text version.",
    OutcomeKind.UNREACHABLE: "Try once more later, or use another source.",
    OutcomeKind.REFUSED: "Use another source.",
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What happened, whether trying again may help, and what to do next."""

    kind: OutcomeKind = OutcomeKind.OK
    detail: str = ""
    retry_after_s: float | None = None

    @property
    def ok(self) -> bool:
        """Whether content was had."""
        return self.kind is OutcomeKind.OK

    @property
    def retryable(self) -> bool:
        """Whether the same call may succeed later."""
        return self.kind in RETRYABLE

    @property
    def next_step(self) -> str:
        """What a caller can do now."""
        return NEXT_STEPS[self.kind]


@dataclass(frozen=True, slots=True)
class Query:
    """What is searched for. A provider maps each filter to what its vendor offers."""

    text: str
    count: int = 3
    site: str | None = None
    time_range: TimeRange | None = None
    language: str | None = None
    region: str | None = None
    safe_search: SafeSearch | None = None
    category: Category = "general"
    page: int = 1
    """Which page of `count` results; the first is 1."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One search result as a provider gave it."""

    title: str
    url: str
    snippet: str
    provider: str
    published: str | None = None
    score: float | None = None
    engines: tuple[str, ...] = ()
    """Engines behind the provider that found it, where the provider says so."""
    found_by: tuple[str, ...] = ()
    """All providers that found it, when several were asked."""
    reasons: tuple[str, ...] = ()
    """Why it stands where it stands, where that is not the provider's own order."""


@dataclass(frozen=True, slots=True)
class ProviderResults:
    """What one provider answered: hits in its order, and what else it said."""

    hits: tuple[Hit, ...]
    total: int | None = None
    """How many results the provider says there are."""
    engines: tuple[str, ...] = ()
    instance: str | None = None
    """Which of several servers answered."""
    raw: Mapping[str, object] | None = None
    """The provider's own JSON, where a profile passes it on."""


@dataclass(frozen=True, slots=True)
class Hits:
    """The results of one search, in order, with who found them and who failed before."""

    query: Query
    hits: tuple[Hit, ...]
    provider: str
    failed: tuple[str, ...] = ()
    why: str = ""
    """Why this provider was asked."""
    total: int | None = None
    engines: tuple[str, ...] = ()
    instance: str | None = None
    raw: Mapping[str, object] | None = None
    took_ms: int = 0
    cached: bool = False


@dataclass(frozen=True, slots=True)
class Page:
    """What one URL answered: bytes, their type, and how they were got."""

    url: str
    """The address that finally answered."""
    requested_url: str
    status: int
    media_type: str
    """Lower case, without parameters; empty when the server named none."""
    body: bytes
    fetched_at: datetime
    charset: str | None = None
    """As the Content-Type header has it, unchecked."""
    etag: str | None = None
    last_modified: str | None = None
    cache_control: str = ""
    """As the Cache-Control header has it, lower case."""
    how: str = "http"
    """`http`, `cache`, `revalidated`, `browser` or `loader:` and its name."""
    composed: bool = False
    """Whether a loader laid it out, so that all of it is content."""
    checked_at: datetime | None = None
    """When its site last said that it is unchanged, if it was kept."""
    cut: bool = False
    """Whether the bytes are only the first of more than is fetched."""


@dataclass(frozen=True, slots=True)
class Link:
    """A link of a page: its text and its absolute address."""

    text: str
    url: str


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a page says of itself."""

    title: str = ""
    description: str | None = None
    author: str | None = None
    published: str | None = None
    modified: str | None = None
    site: str | None = None
    language: str | None = None
    canonical: str | None = None
    sources: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    """Where each field came from: `json-ld`, `open graph`, `meta`, `microdata`, `time`, `byline`, `url` and so on."""
    structured: Mapping[str, object] = field(default_factory=dict, compare=False, repr=False)
    """The page's own data as plain JSON, cut to a bounded size: `json_ld`, `open_graph`, `twitter`, `microdata`."""


@dataclass(frozen=True, slots=True)
class Document:
    """The readable text of a page, without what a person would not see."""

    url: str
    text: str
    """In the format that was asked for; Markdown unless said otherwise."""
    fetched_at: datetime
    media_type: str = "text/html"
    how: str = "http"
    format: Format = "markdown"
    metadata: Metadata = field(default_factory=Metadata)
    links: tuple[Link, ...] = ()
    hidden_dropped: int = 0
    """How many pieces of invisible text were left out."""
    partial: bool = False
    """Whether the page goes on beyond what was read."""
    cut: bool = False
    """Whether that is because it is larger than is fetched."""
    content_hash: str = ""


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a document's text, `text == document.text[start:end]`."""

    text: str
    start: int
    end: int
    total: int
    """Length of the whole document's text."""
    id: str = ""
    """The chunk it comes from, where it was ranked."""
    section: tuple[str, ...] = ()
    """The headings above it, outermost first."""
    score: float | None = None
    """How well it answers, 0 to 1, where it was ranked."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document that is embedded, kept and ranked as one; `text == document.text[start:end]`."""

    id: str
    """`sha256(url|section path|text)`, in hexadecimal."""
    url: str
    text: str
    start: int
    end: int
    section: tuple[str, ...]
    """The headings above it, outermost first."""
    tokens: int


@dataclass(frozen=True, slots=True)
class StoredPageInfo:
    """A page of the library: what is known of it beside its chunks."""

    url: str
    title: str
    crawled_at: datetime
    content_hash: str
    total: int
    """Length of its text."""
    etag: str | None = None
    last_modified: str | None = None
    language: str | None = None
    how: str = "http"
    partial: bool = False


@dataclass(frozen=True, slots=True)
class Citation:
    """A passage and the page it stands on."""

    entry: StoredPageInfo
    passage: Passage


@dataclass(frozen=True, slots=True)
class Finding:
    """What a page, or the whole library, says to one question: the best passages first, or that nothing answers."""

    question: str
    cited: tuple[Citation, ...]
    answered: bool = True
    note: str = ""
    """What was not as it should be: no vectors, say."""


@dataclass(frozen=True, slots=True)
class Source:
    """One result on its way to an answer: where it is, what happened, what was read."""

    url: str
    outcome: Outcome
    hit: Hit | None = None
    document: Document | None = None
    passages: tuple[Passage, ...] = ()
    """Pieces of the document, those that the query needs most first; empty if nobody ranked them."""
    took_ms: int = 0
    """What getting and reading it took."""


@dataclass(frozen=True, slots=True)
class SourceExcerpt:
    """One source within an answer: the passage that fits, and the cursor that goes on from there."""

    source: Source
    passage: Passage | None = None
    cursor: str | None = None
    outline: tuple[str, ...] = ()
    """Headings of what lies beyond the passage."""
    excerpts: tuple[Passage, ...] = ()
    """In place of one passage: several, in the page's order, with gaps between them."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a caller gets: readings in order, within a budget."""

    readings: tuple[SourceExcerpt, ...]
    hits: Hits | None = None
    """The search behind it, if there was one."""
    left_out: int = 0
    """Results that did not fit the budget at all."""
