"""Documents and search sources that tests of the renderers lay out."""

from datetime import UTC, datetime

from kindly.models import Document, Hit, Metadata, Outcome, OutcomeKind, Source

FETCHED_AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
URL = "https://example.com/tea"


def document(text: str, url: str = URL) -> Document:
    """A page about tea with this text."""
    return Document(
        url,
        text,
        FETCHED_AT,
        metadata=Metadata(title="Tea", language="en"),
        content_hash="0123456789abcdef",
    )


def source(text: str | None, *, url: str = URL, snippet: str = "About tea.") -> Source:
    """A search result and its page; with no text, a page that timed out."""
    hit = Hit("All about tea", url, snippet, "serper", published="2025-12-01", score=0.5)
    if text is None:
        return Source(url, Outcome(OutcomeKind.TIMEOUT, "No answer within 30 seconds."), hit)
    return Source(url, Outcome(), hit, document(text, url))
