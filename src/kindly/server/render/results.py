"""Results of the tools, as frozen values: what an answer says, before it becomes text or data.

Page text in them is already cut to the token budget and fenced.
"""

from kindly.frozen import frozen
from kindly.models import Outcome


@frozen
class FoundPage:
    """One result of a search, with its page or a note that says why there is none."""

    title: str
    link: str
    snippet: str
    page_content: str
    outcome: Outcome
    domain: str
    provider: str
    published: str | None = None
    published_from: str | None = None
    """Who says so: the provider, or where on the page it stands."""
    score: float | None = None
    fetched_at: str | None = None
    content_hash: str | None = None
    hidden_dropped: int | None = None
    cursor: str | None = None
    found_by: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()


@frozen
class SearchResult:
    """The answer to a search."""

    query: str
    provider: str
    total: int
    """Results of the search, whether or not they fit."""
    pages: tuple[FoundPage, ...]
    why: str = ""
    """Why this provider was chosen."""
    note: str = ""
    preamble: str = ""
    filters: tuple[tuple[str, str], ...] = ()
    """The domain and date filters, each with who applied it."""


@frozen
class PageResult:
    """The answer to a request for one page."""

    url: str
    page_content: str
    outcome: Outcome
    title: str | None = None
    final_url: str | None = None
    published: str | None = None
    published_from: str | None = None
    """Where on the page the date stands."""
    author: str | None = None
    language: str | None = None
    how: str | None = None
    fetched_at: str | None = None
    content_hash: str | None = None
    unchanged_since: str | None = None
    hidden_dropped: int | None = None
    cursor: str | None = None
    preamble: str = ""


@frozen
class ReadPage:
    """The page that was read for the questions."""

    url: str
    title: str
    how: str
    fetched_at: str
    content_hash: str
    note: str = ""


@frozen
class CitedPage:
    """The page of a passage, where passages come from several pages."""

    url: str
    title: str
    fetched_at: str
    content_hash: str
    collection: str = ""
    """With its version, if the page belongs to one."""


@frozen
class PassageResult:
    """A passage, and where it is."""

    text: str
    score: float
    section: tuple[str, ...]
    start: int
    end: int
    link: str
    page: CitedPage | None = None


@frozen
class FindingResult:
    """The passages for one question: those that answer, or the closest."""

    question: str
    answered: bool
    passages: tuple[PassageResult, ...]
    note: str = ""
    """Before passages that do not answer, and after those that do."""


@frozen
class FindingsResult:
    """The answers to questions: from one page, or from the library."""

    findings: tuple[FindingResult, ...]
    page: ReadPage | None = None
    preamble: str = ""


@frozen
class PagesResult:
    """The answer to a request for several pages."""

    pages: tuple[PageResult, ...]
    note: str = ""
    preamble: str = ""


@frozen
class BestPage:
    """The page that answers a question best; of a question that none answers, the one that comes closest."""

    question: str
    answered: bool
    url: str
    title: str
    score: float


@frozen
class UnreadPage:
    """A page that could not be read for the questions."""

    url: str
    outcome: Outcome


@frozen
class FindingsBatch:
    """The answers of several pages to the same questions."""

    best: tuple[BestPage, ...]
    pages: tuple[FindingsResult | UnreadPage, ...]
    note: str = ""
    preamble: str = ""


@frozen
class SearchPart:
    """One of several searches: its own results, or why it failed."""

    query: str
    provider: str = ""
    total: int = 0
    failure: Outcome | None = None
    pages: tuple[FoundPage, ...] = ()
    """Those that no earlier search found."""
    also: tuple[int, ...] = ()
    """The numbers of results of earlier searches that this one found too."""
    note: str = ""
    filters: tuple[tuple[str, str], ...] = ()


@frozen
class SearchesResult:
    """The answer to several searches."""

    parts: tuple[SearchPart, ...]
    note: str = ""
    preamble: str = ""
