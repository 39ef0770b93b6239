from io import BytesIO
from pathlib import Path

import pytest

from kindly.errors import ExtractionFailed, NoContent
from kindly.extract import wire
from kindly.extract.child import Extract, Taken, serve, statm
from kindly.extract.document import extract
from kindly.extract.options import ExtractOptions
from kindly.models import Document, Page
from tests.extract.pages import page


def exchange(*pages: Page, how: Extract = extract) -> list[wire.Message]:
    """What a worker answers to these pages."""
    questions = b"".join(
        piece for each in pages for piece in wire.packed(wire.request(each, ExtractOptions(), 30))
    )
    answers = BytesIO()
    serve(BytesIO(questions), answers, how)
    answers.seek(0)
    messages: list[wire.Message] = []
    while prefix := answers.read(wire.LENGTHS.size):
        header, block, _ = wire.lengths(prefix)
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


def test_memory_is_told_where_the_system_says(tmp_path: Path) -> None:
    said = tmp_path / "statm"
    assert statm(said) == Taken(0, 0, 0)
    said.write_text("5 4 3 2 0 6 0\n", encoding="ascii")
    space, resident, data = statm(said)
    assert (space * 4, resident * 5, data * 5) == (resident * 5, space * 4, space * 6)
