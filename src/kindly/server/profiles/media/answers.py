"""Hits, a document or an error → the results of profile `media`, within a number of tokens.

The text for the model is the compact JSON of the data. Page text is inside JSON strings, which it cannot end, and what
in it looks like a fence mark is defused.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime

from kindly.budget import count_tokens, fit
from kindly.errors import (
    FetchError,
    InputError,
    KindlyError,
    NoProvider,
    ProviderAuth,
    SearchError,
    SelectorNotMatched,
)
from kindly.frozen import frozen
from kindly.models import NEXT_STEPS, Document, Hit, Hits, Link, OutcomeKind
from kindly.server.profiles.media.results import (
    MediaFailure,
    MediaHit,
    MediaMetadata,
    MediaPage,
    MediaPageFailure,
    MediaResult,
    MediaSearchFailure,
    MediaSearchResult,
    to_json,
)
from kindly.server.render.formatting import (
    TITLE_TOKENS,
    address,
    clip,
    json_output,
    json_size,
)
from kindly.server.render.look_alikes import defused, defused_data
from kindly.server.tool import Output
from kindly.text.dates import to_date
from kindly.text.domains import registered
from kindly.text.durations import seconds
from kindly.text.plain_line import MAX_SNIPPET, plain_line
from kindly.text.shorten import cut, cut_markup, snippet

SNIPPET_CHARACTERS = 200
QUOTED = 500
STRUCTURED_TOKENS = 1_000
"""Limit of a page's structured data; a larger one is left out."""
DESCRIPTION_TOKENS = 125
LINKS_SHARE = 4
"""Links take at most this part of an answer."""
NOTHING_FOUND = "No results found. Try broader search terms or check spelling."
PAYWALL = "Content appears to be behind a paywall"
BEGINNING_ONLY = "Only the beginning of this file was read"
LARGE = "Content too large: only the beginning of the page was fetched"
SUBSCRIPTION = "This page requires a subscription; none of its text can be read without one."

ERRORS: Mapping[OutcomeKind, tuple[str, str]] = {
    OutcomeKind.NOT_FOUND: (
        "Page not found",
        "Verify the URL is correct or search for the content",
    ),
    OutcomeKind.BLOCKED: ("Access denied", "Use another source; this site refuses the request"),
    OutcomeKind.AUTH: ("Access denied: a login is required", "Look for a public source"),
    OutcomeKind.TIMEOUT: ("The page did not answer in time", "Retry later or use another source"),
    OutcomeKind.RATE_LIMITED: ("The site asks to wait", "Retry later or use another source"),
}
"""Message and suggestion for an outcome, if the contract defines its own words."""


@frozen
class Shown:
    """The part of a page that a call asks for."""

    url: str
    max_length: int
    selector: str | None = None
    include_links: bool = True


def today() -> date:
    """The day that relative dates are resolved against."""
    return datetime.now(UTC).date()


def search_result(hits: Hits, tokens: int, day: date) -> MediaSearchResult:
    """The results of a search, as many as `tokens` allow."""
    if not hits.hits:
        return MediaSearchResult(hits.query.text, 0, (), suggestion=NOTHING_FOUND)
    found = tuple(_hit(hit, day) for hit in hits.hits)
    result = MediaSearchResult(
        hits.query.text,
        max(hits.total or 0, len(found)),
        found,
        hits.provider,
        round(hits.took_ms / 1000, 2),
    )
    left_out = 0
    while result.hits and _size(result) > tokens:
        left_out += 1
        result = replace(result, hits=found[:-left_out], suggestion=_did_not_fit(left_out))
    return result


def _hit(hit: Hit, day: date) -> MediaHit:
    return MediaHit(
        clip(hit.title, TITLE_TOKENS),
        address(hit.url),
        snippet(defused(plain_line(hit.snippet, MAX_SNIPPET)), SNIPPET_CHARACTERS),
        registered(hit.url),
        to_date(hit.published, day),
    )


def _did_not_fit(count: int) -> str:
    return f"{count} more results did not fit this answer. Ask for fewer, or narrow the query."


def _size(result: MediaResult) -> int:
    return json_size(to_json(result))


def page_result(shown: Shown, document: Document, tokens: int, day: date) -> MediaPage:
    """A page: its text up to the requested length and within `tokens`, its metadata and its links."""
    text = defused(document.text)
    shorten = cut_markup if document.format == "html" else cut
    links = _links(document.links, tokens // LINKS_SHARE) if shown.include_links else None
    metadata = None if shown.selector is not None else _metadata(document, day)

    def build(available: int) -> MediaPage:
        content = shorten(text, min(shown.max_length, available * 4))
        return _page(shown, document, content, metadata, links)

    return fit(build, _size, tokens)


def _page(
    shown: Shown,
    document: Document,
    content: str,
    metadata: MediaMetadata | None,
    links: Sequence[Link] | None,
) -> MediaPage:
    partial = document.partial and not document.cut and shown.selector is None
    notes = _notes(document, content, links, partial=partial)
    return MediaPage(
        shown.url,
        partial,
        clip(document.metadata.title, TITLE_TOKENS),
        content,
        truncated=len(content) < len(document.text) or document.partial,
        message=". ".join(notes) or None,
        selector=shown.selector,
        metadata=metadata,
        links=tuple(map(_shown_link, links))
        if links is not None and shown.selector is None
        else None,
    )


def _shown_link(link: Link) -> Link:
    return Link(clip(link.text, TITLE_TOKENS), address(link.url))


def _notes(
    document: Document, content: str, links: Sequence[Link] | None, *, partial: bool
) -> list[str]:
    notes = []
    if document.cut:
        notes.append(LARGE)
    elif partial:
        notes.append(PAYWALL if document.protected else document.note.rstrip(".") or BEGINNING_ONLY)
    if len(content) < len(document.text):
        notes.append(
            f"Content too large: cut to {len(content):,} of {len(document.text):,} characters; "
            "raise maxLength or use a selector"
        )
    if links is not None and len(links) < len(document.links):
        notes.append(f"{len(links)} of {len(document.links)} links are listed")
    return notes


def _metadata(document: Document, day: date) -> MediaMetadata:
    about = document.metadata
    shows_data = about.structured and json_size(about.structured) <= STRUCTURED_TOKENS
    return MediaMetadata(
        about.description and clip(about.description, DESCRIPTION_TOKENS),
        about.author and clip(about.author, TITLE_TOKENS),
        to_date(about.published, day),
        about.site and clip(about.site, TITLE_TOKENS),
        defused_data(about.structured) if shows_data else None,
    )


def _links(links: Sequence[Link], tokens: int) -> list[Link]:
    """The first links, as many as `tokens` allow."""
    kept: list[Link] = []
    for link in links:
        tokens -= count_tokens(link.url) + min(TITLE_TOKENS, count_tokens(link.text)) + 6
        if tokens < 0:
            break
        kept.append(link)
    return kept


def fetch_failure(error: KindlyError, arguments: Mapping[str, object]) -> Output:
    """A page that cannot be read: `partial` if only subscribers can read it, else an error."""
    url = str(arguments.get("url") or "")[:QUOTED]
    if error.kind is OutcomeKind.PAYWALLED:
        page = MediaPage(
            url, partial=True, title=None, content=SUBSCRIPTION, truncated=True, message=PAYWALL
        )
        return json_output(to_json(page))
    selector = error.selector if isinstance(error, SelectorNotMatched) else None
    code = error.status if isinstance(error, FetchError) else None
    failure = MediaPageFailure(url, MediaFailure(code, *_explained(error)), selector)
    return json_output(to_json(failure), failed=True)


def search_failure(error: KindlyError, arguments: Mapping[str, object]) -> Output:
    """A failed search, in the shape of a failed page; never an empty list."""
    query = str(arguments.get("query") or "")[:QUOTED]
    code = error.status if isinstance(error, SearchError) else None
    failure = MediaSearchFailure(query, MediaFailure(code, *_explained(error)))
    return json_output(to_json(failure), failed=True)


def _explained(error: KindlyError) -> tuple[str, str]:
    """What happened, and the next step."""
    if isinstance(error, SelectorNotMatched):
        return error.detail, "Check the selector, or call again without it for the main content"
    if isinstance(error, InputError):
        return error.detail, f"Correct {error.field} and call again"
    if isinstance(error, NoProvider | ProviderAuth):
        return error.detail, "This is a configuration problem: tell the user"
    if isinstance(error, SearchError):
        return error.detail, f"Retry{_when(error)}, or change the query"
    message, suggestion = ERRORS.get(error.kind, ("", NEXT_STEPS[error.kind].rstrip(".")))
    if error.kind is OutcomeKind.NOT_FOUND:
        return message, suggestion
    explanation = f"{message}: {error.detail}" if message else error.detail
    return explanation, suggestion.replace("Retry later", f"Retry{_when(error)}")


def _when(error: KindlyError) -> str:
    return " later" if error.retry_after_s is None else f" in {seconds(error.retry_after_s)}"
