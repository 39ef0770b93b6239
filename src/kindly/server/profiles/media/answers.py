"""Hits, a document or an error → the answers of profile `media`, within a number of tokens.

The text for the model is the compact JSON of the data. Page text is inside JSON strings, which it cannot end, and what
in it looks like a fence mark is defused.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
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
from kindly.models import NEXT_STEPS, Document, Hit, Hits, Link, OutcomeKind
from kindly.server.json_schema import Json
from kindly.server.render.fence import defused
from kindly.server.render.formatting import (
    TITLE_TOKENS,
    clip,
    compact,
    json_output,
    json_size,
)
from kindly.server.tool import Output
from kindly.text.dates import to_date
from kindly.text.domains import registered
from kindly.text.durations import seconds
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
HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})

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


@dataclass(frozen=True, slots=True)
class Shown:
    """The part of a page that a call asks for."""

    url: str
    max_length: int
    selector: str | None = None
    include_links: bool = True


def today() -> date:
    """The day that relative dates are resolved against."""
    return datetime.now(UTC).date()


def search_output(hits: Hits, tokens: int, day: date) -> Output:
    """The results of a search, as many as `tokens` allow."""
    items = [_item(hit, day) for hit in hits.hits]
    for kept in range(len(items), -1, -1):
        output = _search(hits, items, kept)
        if json_size(output) <= tokens:
            break
    return output


def _search(hits: Hits, items: list[Json], kept: int) -> Output:
    structured: Json = {
        "query": hits.query.text,
        "totalResults": max(hits.total or 0, len(items)),
        "results": items[:kept],
    }
    if not items:
        structured |= {"totalResults": 0, "suggestion": NOTHING_FOUND}
        return json_output(structured)
    structured |= {
        "searchEngine": hits.provider,
        "searchTime": round(hits.took_ms / 1000, 2),
    }
    if kept < len(items):
        structured["suggestion"] = (
            f"{len(items) - kept} more results did not fit this answer. Ask for fewer, or narrow the query."
        )
    return json_output(structured)


def _item(hit: Hit, day: date) -> Json:
    return {
        "title": clip(hit.title, TITLE_TOKENS),
        "url": hit.url,
        "snippet": snippet(defused(hit.snippet), SNIPPET_CHARACTERS),
        "domain": registered(hit.url),
        "datePublished": to_date(hit.published, day),
    }


def page_output(shown: Shown, document: Document, tokens: int, day: date) -> Output:
    """A page: its text up to the requested length and within `tokens`, its metadata and its links."""
    text = defused(document.text)
    links = _links(document.links, tokens // LINKS_SHARE) if shown.include_links else None
    shorten = cut_markup if document.format == "html" else cut

    def build(available: int) -> Output:
        content = shorten(text, min(shown.max_length, available * 4))
        return json_output(_page(shown, document, content, links, day))

    return fit(build, json_size, tokens)


def _page(
    shown: Shown, document: Document, content: str, links: Sequence[Link] | None, day: date
) -> Json:
    cut_short = len(content) < len(document.text)
    partial = document.partial and not document.cut and shown.selector is None
    page: Json = {"url": shown.url}
    if shown.selector is not None:
        page["selector"] = shown.selector
    page |= {
        "status": "partial" if partial else "success",
        "title": clip(document.metadata.title, TITLE_TOKENS),
        "content": content,
        "contentLength": len(content),
        "truncated": cut_short or document.partial,
    }
    if notes := _notes(document, content, links, partial=partial):
        page["message"] = ". ".join(notes)
    if shown.selector is not None:
        return page | {"selectorMatched": True}
    page["metadata"] = _metadata(document, day)
    if links is not None:
        page["links"] = [
            {"text": clip(link.text, TITLE_TOKENS), "url": defused(link.url)} for link in links
        ]
    return page


def _notes(
    document: Document, content: str, links: Sequence[Link] | None, *, partial: bool
) -> list[str]:
    notes = []
    if document.cut:
        notes.append(LARGE)
    elif partial:
        notes.append(PAYWALL if document.media_type in HTML_TYPES else BEGINNING_ONLY)
    if len(content) < len(document.text):
        notes.append(
            f"Content too large: cut to {len(content):,} of {len(document.text):,} characters; "
            "raise maxLength or use a selector"
        )
    if links is not None and len(links) < len(document.links):
        notes.append(f"{len(links)} of {len(document.links)} links are listed")
    return notes


def _metadata(document: Document, day: date) -> Json:
    about = document.metadata
    known: Json = {
        "description": about.description and clip(about.description, DESCRIPTION_TOKENS),
        "author": about.author and clip(about.author, TITLE_TOKENS),
        "datePublished": to_date(about.published, day),
        "siteName": about.site and clip(about.site, TITLE_TOKENS),
    }
    if about.structured and count_tokens(compact(about.structured)) <= STRUCTURED_TOKENS:
        known["structuredData"] = _each(dict(about.structured), defused)
    return known


def _each(value: object, change: Callable[[str], str]) -> object:
    """A JSON value with every string in it changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {change(name): _each(item, change) for name, item in value.items()}
    return [_each(item, change) for item in value] if isinstance(value, list) else value


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
        return json_output(
            {
                "url": url,
                "status": "partial",
                "title": None,
                "content": SUBSCRIPTION,
                "contentLength": len(SUBSCRIPTION),
                "truncated": True,
                "message": PAYWALL,
            }
        )
    message, suggestion = _explained(error)
    failed: Json = {"url": url}
    if isinstance(error, SelectorNotMatched):
        failed["selector"] = error.selector
    failed |= {
        "status": "error",
        "errorCode": error.status if isinstance(error, FetchError) else None,
        "message": message,
        "suggestion": suggestion,
    }
    if isinstance(error, SelectorNotMatched):
        failed["selectorMatched"] = False
    return json_output(failed, failed=True)


def search_failure(error: KindlyError, arguments: Mapping[str, object]) -> Output:
    """A failed search, in the shape of a failed page; never an empty list."""
    message, suggestion = _explained(error)
    return json_output(
        {
            "query": str(arguments.get("query") or "")[:QUOTED],
            "status": "error",
            "errorCode": error.status if isinstance(error, SearchError) else None,
            "message": message,
            "suggestion": suggestion,
        },
        failed=True,
    )


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
