"""A short page is put together from its chunks; a long one, or one with a gap, is not."""

import pytest

from kindly.read.chunk import split
from kindly.read.whole_page import whole_page

URL = "https://example.com/"
SENTENCES = " ".join(f"Sentence {number} tells of the sea." for number in range(40))
TABLE = "| town | people |\n|---|---|\n" + "\n".join(f"| T{n} | {n} |" for n in range(60))
PAGES = {
    "one chunk": "# Tea\n\nGreen tea is steeped at eighty degrees.",
    "overlapping chunks": SENTENCES,
    "sections": "\n\n".join(f"## Part {n}\n\n{SENTENCES[n * 200 :][:200]}" for n in range(6)),
    "a split table": f"# Towns\n\n{TABLE}\n\nThat is all.",
    "blank lines around it": "\n\nTea.\n\n",
    "another script": "".join(f"第{n}の茶は{n + 60}度で二分間入れる。" for n in range(20)),
}


@pytest.mark.parametrize("size", [16, 64, 512])
@pytest.mark.parametrize("name", PAGES)
def test_short_page_is_whole_with_every_character_in_its_place(name: str, size: int) -> None:
    text = PAGES[name]

    whole = whole_page(split(text, URL, size=size), len(text), 0.9)

    assert whole is not None
    assert whole.text.split() == text.split()
    assert (whole.start, whole.end, whole.total) == (0, len(whole.text), len(text))
    assert whole.score == 0.9


def test_long_page_is_not_whole() -> None:
    text = SENTENCES * 4

    assert whole_page(split(text, URL), len(text), 0.9) is None


def test_page_with_a_part_that_was_not_stored_is_not_whole() -> None:
    text = "\n\n".join(["The same again, and once more, as before."] * 3 + ["The end is new."])
    chunks = split(text, URL, size=16)

    assert len(chunks) < 4
    assert whole_page(chunks, len(text), 0.9) is None


def test_page_without_chunks_is_not_whole() -> None:
    assert whole_page((), 0, 0.9) is None
