from io import BytesIO

import pytest

from kindly.errors import ExtractionFailed, NoContent
from kindly.extract import wire
from kindly.extract.child import Extract, serve
from kindly.extract.document import extract
from kindly.extract.options import ExtractOptions
from kindly.models import Document, Page
from tests.extract.pages import page


def exchange(*pages: Page, how: Extract = extract) -> list[wire.Message]:
    """What a worker answers to these pages."""
    questions = b"".join(wire.packed(wire.request(each, ExtractOptions(), 30)) for each in pages)
    answers = BytesIO()
    serve(BytesIO(questions), answers, how)
    answers.seek(0)
    messages: list[wire.Message] = []
    while prefix := answers.read(wire.LENGTHS.size):
        header, block = wire.lengths(prefix)
        messages.append((answers.read(header), answers.read(block)))
    return messages


def test_every_page_gets_its_answer_in_order() -> None:
    first, second, third = exchange(page("<p>one"), page("<p></p>"), page("<p>two"))
    assert wire.read_answer(first).text == "one"
    with pytest.raises(NoContent):
        wire.read_answer(second)
    assert wire.read_answer(third).text == "two"


@pytest.mark.parametrize("error", [MemoryError, RecursionError])
def test_page_too_large_for_memory_is_an_answer_too(error: type[Exception]) -> None:
    def grow(page: Page, options: ExtractOptions) -> Document:
        raise error

    (answer,) = exchange(page("<p>x"), how=grow)
    with pytest.raises(ExtractionFailed):
        wire.read_answer(answer)


def test_pipe_that_closes_ends_the_service() -> None:
    assert exchange() == []
