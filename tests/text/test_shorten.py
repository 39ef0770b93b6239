"""Texts are shortened at a break, and never longer than requested."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kindly.text.shorten import cut, cut_markup, snippet


@pytest.mark.parametrize(
    ("text", "characters", "expected"),
    [
        ("short", 10, "short"),
        ("one two three four", 15, "one two three"),
        ("First one. Second one.", 20, "First one. Second"),
        ("para one is here\n\npara two", 22, "para one is here"),
        ("x" * 20, 10, "x" * 10),
    ],
    ids=["whole", "word", "words", "paragraph", "no break"],
)
def test_a_text_ends_at_a_break(text: str, characters: int, expected: str) -> None:
    assert cut(text, characters) == expected


@pytest.mark.parametrize(
    ("markup", "characters", "expected"),
    [
        ("<p>a</p>", 20, "<p>a</p>"),
        ("<p>a</p><p>b</p>", 10, "<p>a</p>"),
        ("<p>abcdef", 6, "<p>abc"),
    ],
    ids=["whole", "within a tag", "within text"],
)
def test_markup_is_never_cut_inside_a_tag(markup: str, characters: int, expected: str) -> None:
    assert cut_markup(markup, characters) == expected


@given(st.text(max_size=300), st.integers(min_value=1, max_value=250))
def test_nothing_is_longer_than_requested(text: str, characters: int) -> None:
    assert len(cut(text, characters)) <= characters
    assert len(cut_markup(text, characters)) <= characters
    assert len(snippet(text, characters)) <= characters


def test_a_snippet_is_one_line_with_an_ellipsis() -> None:
    assert snippet("one\n two   three", 50) == "one two three"
    assert snippet("one two three four", 15) == "one two three…"
    assert snippet("x" * 20, 10) == "x" * 9 + "…"
