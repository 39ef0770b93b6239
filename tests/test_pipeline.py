"""The shelf of documents that cursors go on from."""

from datetime import UTC, datetime

from kindly.models import Document
from kindly.pipeline import Recent


def document(name: str) -> Document:
    return Document("https://example.com/", name * 10, datetime.now(UTC), content_hash=name * 64)


def test_the_longest_unused_document_leaves_first() -> None:
    shelf = Recent(capacity=25)
    shelf.put(document("a"))
    shelf.put(document("b"))
    shelf.put(document("a"))
    shelf.put(document("c"))
    assert [shelf.get(name * 12) is not None for name in "abc"] == [True, False, True]


def test_one_document_always_stays_however_long() -> None:
    shelf = Recent(capacity=5)
    shelf.put(document("a"))
    assert shelf.get("a" * 12) is not None
