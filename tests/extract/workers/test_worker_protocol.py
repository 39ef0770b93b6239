import json

import pytest

from kindly.concurrency.pipe_frames import BrokenFrame
from kindly.errors import (
    ExtractionFailed,
    InputError,
    KindlyError,
    MediaUnsupported,
    NeedsBrowser,
    NoContent,
    PageWalled,
    ProviderAuth,
    SelectorNotMatched,
)
from kindly.extract import ExtractOptions
from kindly.extract.workers import worker_protocol
from kindly.models import Document, Link, Metadata, OutcomeKind
from tests.support.html_pages import FETCHED_AT, URL, page


def test_request_round_trips() -> None:
    source = page("<p>é", charset="utf-8")
    options = ExtractOptions(
        "text", ".a", include_links=False, include_images=True, questions=("Why?", "é?")
    )
    assert worker_protocol.decode_request(worker_protocol.encode_request(source, options, 7.5)) == (
        source,
        options,
        7.5,
    )


def test_document_round_trips() -> None:
    document = Document(
        url=URL,
        text="text é \ud800",
        fetched_at=FETCHED_AT,
        metadata=Metadata(title="T", author="\u202e"),
        links=(Link("a", "https://x.example/"),),
        hidden_dropped=2,
        content_hash="ff",
    )
    assert worker_protocol.decode_answer(worker_protocol.encode_document(document)) == document


@pytest.mark.parametrize(
    "error",
    [
        InputError("d", field="selector"),
        MediaUnsupported("d", url=URL, media_type="image/png"),
        NoContent("d", url=URL),
        NeedsBrowser("d", url=URL),
        PageWalled("d", url=URL, wall=OutcomeKind.PAYWALLED),
        SelectorNotMatched("d", url=URL, selector=".x"),
        ExtractionFailed("d", url=URL),
    ],
    ids=lambda error: type(error).__name__,
)
def test_error_round_trips_with_its_fields(error: KindlyError) -> None:
    with pytest.raises(KindlyError) as caught:
        worker_protocol.decode_answer(worker_protocol.encode_error(error))
    assert type(caught.value) is type(error)
    assert vars(caught.value) == vars(error)
    assert caught.value.kind is error.kind


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"not json",
        b"[]",
        b"{}",
        b'{"document": {}}',
        b'{"document": {"fetched_at": "x", "metadata": {}, "links": []}}',
        b'{"error": "SystemExit", "fields": {}}',
        b'{"error": "PageWalled", "fields": {"detail": "d", "url": "u", "wall": "nonsense"}}',
        json.dumps({"error": "ProviderAuth", "fields": vars(ProviderAuth("d"))}).encode(),
    ],
)
def test_invalid_answer_is_refused(header: bytes) -> None:
    with pytest.raises(BrokenFrame):
        worker_protocol.decode_answer((header, b""))
