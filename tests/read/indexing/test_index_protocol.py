"""Queued pages as records of the journal, and as messages to the index process and back."""

import json
from dataclasses import replace

import pytest

from kindly.concurrency.pipe_frames import BrokenFrame
from kindly.models import Chunk, FetchMethod, How, Passage
from kindly.read.indexing.index_protocol import (
    Preparation,
    QueuedPage,
    decode_passages,
    decode_prepared,
    decode_question,
    decode_texts,
    encode_passages,
    encode_prepared,
    encode_question,
    encode_texts,
    from_record,
    to_record,
)
from kindly.read.store import EmbeddingModel, PreparedPage
from tests.support.queued_pages import queued

TEA = queued("tea", "Green tea\nis \ud800 steamed. 茶")
FULL = replace(
    TEA,
    entry=replace(
        TEA.entry,
        etag='"x"',
        last_modified="Mon",
        language="en",
        how=How(FetchMethod.BROWSER),
        partial=True,
        cut=True,
    ),
)


@pytest.mark.parametrize("page", [TEA, FULL], ids=["plain", "full"])
def test_a_page_comes_back_from_its_record(page: QueuedPage) -> None:
    assert from_record(to_record(page)) == page


@pytest.mark.parametrize(
    "record", [b"", b"x", b"{}\ntext", b'{"crawled_at": 1}\ntext', to_record(TEA)[1:]]
)
def test_a_record_of_another_version_is_no_page(record: bytes) -> None:
    assert from_record(record) is None


def test_texts_come_back_from_a_request() -> None:
    wine = queued("wine")
    assert decode_texts(encode_texts([TEA, wine], 64)) == (
        [(TEA.entry.url, TEA.text), (wine.entry.url, wine.text)],
        64,
    )


def test_prepared_pages_come_back_with_their_vectors() -> None:
    wine = queued("wine", "Wine is fermented.")
    first = Chunk("a", TEA.entry.url, TEA.text[:5], 0, 5, ("Guide", "Tea"), 2)
    table = Chunk("b", TEA.entry.url, "head\nrow", 6, 9, (), 3)
    third = Chunk("c", wine.entry.url, wine.text, 0, len(wine.text), (), 4)
    message = encode_prepared(
        [Preparation((first, table), ["green", "head row"]), Preparation((third,), ["wine"])],
        [TEA.text, wine.text],
        b"112233",
        model := EmbeddingModel("m", 1),
    )
    assert decode_prepared(message, [TEA, wine]) == [
        PreparedPage(
            TEA.entry,
            (first, table),
            {"a": "green", "b": "head row"},
            {"a": b"11", "b": b"22"},
            model,
        ),
        PreparedPage(wine.entry, (third,), {"c": "wine"}, {"c": b"33"}, model),
    ]


def test_without_a_model_there_are_no_vectors() -> None:
    chunk = Chunk("a", TEA.entry.url, TEA.text[:5], 0, 5, (), 2)
    (page,) = decode_prepared(encode_prepared([Preparation((chunk,), [""])], [TEA.text]), [TEA])
    assert (page.halves, page.model) == ({}, None)


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"[]",
        b'{"model": null, "pages": []}',
        b'{"model": null, "pages": [[[1, 2]]]}',
        json.dumps({"model": ["m", 4], "pages": [[["a", 0, 1, [], 1, "", None]]]}).encode(),
    ],
)
def test_an_invalid_answer_is_refused(header: bytes) -> None:
    with pytest.raises(BrokenFrame):
        decode_prepared((header, b"1234"), [TEA])


def test_a_question_and_its_passages_come_back() -> None:
    message = encode_question(TEA, 64, "Which tea?", 3)
    assert decode_question(message) == ("Which tea?", 3)
    assert decode_texts(message) == ([(TEA.entry.url, TEA.text)], 64)
    assert decode_question(encode_texts([TEA], 64)) is None
    passage = Passage("Green tea", 0, 9, 20, "a", ("Guide",), 0.5)
    assert decode_passages(encode_passages([passage])) == (passage,)


@pytest.mark.parametrize("header", [b"", b"{}x", b"[1]", b"[[1, 2]]"])
def test_invalid_passages_are_refused(header: bytes) -> None:
    with pytest.raises(BrokenFrame):
        decode_passages((header, b""))
