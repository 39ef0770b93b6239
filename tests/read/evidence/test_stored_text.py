"""The text of a page from its chunks, and where a place in it is."""

import pytest

from kindly.models import Chunk
from kindly.read.chunk import split
from kindly.read.evidence.stored_text import headings_above, page_text
from tests.support.paths import ROOT

DOCS = sorted((ROOT / "docs").glob("*.md"))


@pytest.mark.parametrize("path", DOCS, ids=lambda path: path.name)
def test_the_words_of_a_page_come_back_from_its_chunks(path: object) -> None:
    text = path.read_text(encoding="utf-8")  # type: ignore[attr-defined]
    again = page_text(split(text, "https://e.com/", size=200))
    rows = [line for line in text.split("\n") if line.strip() and not line.startswith("|")]
    assert [line for line in rows if line.strip() not in again] == []


def test_chunks_that_overlap_are_joined_without_repetition() -> None:
    text = "One two three four five."
    chunks = [
        Chunk("a", "u", text[:13], 0, 13, (), 1),
        Chunk("b", "u", text[8:], 8, len(text), (), 1),
        Chunk("c", "u", text[4:8], 4, 8, (), 1),
    ]
    assert page_text(chunks) == text
    assert page_text([]) == ""


def test_the_headings_above_a_place_are_those_of_its_section() -> None:
    text = "# A\n\n## B\nx\n```\n# code\n```\n### C\nhere\n## D\nthere"
    assert headings_above(text, text.index("here")) == ("A", "B", "C")
    assert headings_above(text, text.index("there")) == ("A", "D")
    assert headings_above(text, 0) == ()
