import json

import pytest

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


def test_request_arrives_as_it_was_sent() -> None:
    source = page("<p>é", charset="utf-8")
    options = ExtractOptions("text", ".a", include_links=False, include_images=True)
    assert worker_protocol.read_request(worker_protocol.request(source, options, 7.5)) == (
        source,
        options,
        7.5,
    )


def test_document_arrives_as_it_was_sent() -> None:
    document = Document(
        url=URL,
        text="text é \ud800",
        fetched_at=FETCHED_AT,
        metadata=Metadata(title="T", author="\u202e"),
        links=(Link("a", "https://x.example/"),),
        hidden_dropped=2,
        content_hash="ff",
    )
    assert worker_protocol.read_answer(worker_protocol.answer(document)) == document


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
def test_error_arrives_as_itself_with_its_fields(error: KindlyError) -> None:
    with pytest.raises(KindlyError) as caught:
        worker_protocol.read_answer(worker_protocol.failure(error))
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
def test_answer_of_another_shape_is_broken(header: bytes) -> None:
    with pytest.raises(worker_protocol.BrokenWorkerPipe):
        worker_protocol.read_answer((header, b""))


def test_message_larger_than_any_document_is_broken() -> None:
    with pytest.raises(worker_protocol.BrokenWorkerPipe):
        worker_protocol.lengths(worker_protocol.LENGTHS.pack(1, worker_protocol.MAX_BYTES, False))


def test_lengths_come_before_both_parts() -> None:
    sent = b"".join(worker_protocol.packed((b"ab", b"cde"), spent=True))
    assert worker_protocol.lengths(sent[: worker_protocol.LENGTHS.size]) == (2, 3, True)
    assert sent[worker_protocol.LENGTHS.size :] == b"abcde"
