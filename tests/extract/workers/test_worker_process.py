from dataclasses import replace
from io import BytesIO

import pytest

from kindly.concurrency.pipe_frames import Message, encode_frame, read_frame
from kindly.errors import ExtractionFailed, NoContent
from kindly.extract import ExtractOptions
from kindly.extract.document import extract
from kindly.extract.workers import worker_protocol
from kindly.extract.workers.worker_process import Extract, serve
from kindly.models import Document, Page
from tests.support.html_pages import page


def exchange(*pages: Page, how: Extract = extract) -> list[Message]:
    """The answers of a worker to these pages."""
    requests = b"".join(
        piece
        for each in pages
        for piece in encode_frame(worker_protocol.encode_request(each, ExtractOptions(), 30))
    )
    answers = BytesIO()
    serve(BytesIO(requests), answers, how)
    answers.seek(0)
    messages: list[Message] = []
    while (message := read_frame(answers)) is not None:
        messages.append(message)
    return messages


def test_every_page_gets_its_answer_in_order() -> None:
    first, second, third = exchange(page("<p>one"), page("<p></p>"), page("<p>two"))
    assert worker_protocol.decode_answer(first).text == "one"
    with pytest.raises(NoContent):
        worker_protocol.decode_answer(second)
    assert worker_protocol.decode_answer(third).text == "two"


@pytest.mark.parametrize("error", [MemoryError, RecursionError])
def test_page_that_needs_too_much_memory_is_an_error(error: type[Exception]) -> None:
    def grow(page: Page, options: ExtractOptions) -> Document:
        raise error

    (answer,) = exchange(page("<p>x"), how=grow)
    with pytest.raises(ExtractionFailed):
        worker_protocol.decode_answer(answer)


def test_cut_page_is_halved_until_it_can_be_read() -> None:
    def small(page: Page, options: ExtractOptions) -> Document:
        if len(page.body) > 300:
            raise MemoryError
        return extract(page, options)

    body = "<p>" + "word " * 200
    whole, cut = page(body), replace(page(body), cut=True)
    (answer,) = exchange(cut, how=small)
    assert worker_protocol.decode_answer(answer).text.startswith("word word")
    (answer,) = exchange(whole, how=small)
    with pytest.raises(ExtractionFailed):
        worker_protocol.decode_answer(answer)


def test_closed_pipe_ends_the_service() -> None:
    assert exchange() == []
