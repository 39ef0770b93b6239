"""Kept pages as resources: their addresses, and their text out of chunks."""

import pytest

from kindly.models import Chunk
from kindly.server.page_resources import text_of, uri_of


def chunk(text: str, start: int) -> Chunk:
    return Chunk(str(start), "https://a.org/", text, start, start + len(text), (), 1)


@pytest.mark.parametrize(
    ("chunks", "text"),
    [
        ([], ""),
        ([chunk("abcdef", 0)], "abcdef"),
        ([chunk("abc", 0), chunk("def", 3)], "abcdef"),
        ([chunk("def", 3), chunk("abc", 0)], "abcdef"),
        ([chunk("abcd", 0), chunk("cdef", 2)], "abcdef"),
        ([chunk("abcdef", 0), chunk("cd", 2)], "abcdef"),
        ([chunk("abc", 0), chunk("def", 5)], "abc\n\ndef"),
    ],
    ids=["none", "one", "two", "another order", "overlap", "inside", "gap"],
)
def test_the_text_of_a_page_is_put_together_from_its_chunks(chunks: list[Chunk], text: str) -> None:
    assert text_of(chunks) == text


def test_the_address_is_one_part_of_the_uri() -> None:
    assert uri_of("https://a.org/x?y=1#z") == "kindly://page/https%3A%2F%2Fa.org%2Fx%3Fy%3D1%23z"
