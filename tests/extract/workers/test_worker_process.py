from io import BytesIO
from pathlib import Path

import pytest

from kindly.errors import ExtractionFailed, NoContent
from kindly.extract import ExtractOptions
from kindly.extract.document import extract
from kindly.extract.workers import worker_protocol
from kindly.extract.workers.worker_process import Extract, TakenRequest, serve, statm
from kindly.models import Document, Page
from tests.support.html_pages import page


def exchange(*pages: Page, how: Extract = extract) -> list[worker_protocol.Message]:
    """What a worker answers to these pages."""
    questions = b"".join(
        piece
        for each in pages
        for piece in worker_protocol.packed(worker_protocol.request(each, ExtractOptions(), 30))
    )
    answers = BytesIO()
    serve(BytesIO(questions), answers, how)
    answers.seek(0)
    messages: list[worker_protocol.Message] = []
    while prefix := answers.read(worker_protocol.LENGTHS.size):
        header, block, _ = worker_protocol.lengths(prefix)
        messages.append((answers.read(header), answers.read(block)))
    return messages


def test_every_page_gets_its_answer_in_order() -> None:
    first, second, third = exchange(page("<p>one"), page("<p></p>"), page("<p>two"))
    assert worker_protocol.read_answer(first).text == "one"
    with pytest.raises(NoContent):
        worker_protocol.read_answer(second)
    assert worker_protocol.read_answer(third).text == "two"


@pytest.mark.parametrize("error", [MemoryError, RecursionError])
def test_page_too_large_for_memory_is_an_answer_too(error: type[Exception]) -> None:
    def grow(page: Page, options: ExtractOptions) -> Document:
        raise error

    (answer,) = exchange(page("<p>x"), how=grow)
    with pytest.raises(ExtractionFailed):
        worker_protocol.read_answer(answer)


def test_pipe_that_closes_ends_the_service() -> None:
    assert exchange() == []


def test_memory_is_told_where_the_system_says(tmp_path: Path) -> None:
    said = tmp_path / "statm"
    assert statm(said) == TakenRequest(0, 0, 0)
    said.write_text("5 4 3 2 0 6 0\n", encoding="ascii")
    space, resident, data = statm(said)
    assert (space * 4, resident * 5, data * 5) == (resident * 5, space * 4, space * 6)
