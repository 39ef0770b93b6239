"""Texts are cut where a reader would pause, and never come out longer than asked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kindly.text.domains import registered
from kindly.text.languages import LANGUAGES
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
    ids=["whole", "word", "words", "paragraph", "no pause"],
)
def test_a_text_ends_at_a_pause(text: str, characters: int, expected: str) -> None:
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
def test_markup_is_never_cut_within_a_tag(markup: str, characters: int, expected: str) -> None:
    assert cut_markup(markup, characters) == expected


@given(st.text(max_size=300), st.integers(min_value=1, max_value=250))
def test_nothing_is_longer_than_asked(text: str, characters: int) -> None:
    assert len(cut(text, characters)) <= characters
    assert len(cut_markup(text, characters)) <= characters
    assert len(snippet(text, characters)) <= characters


def test_a_snippet_is_one_line_with_an_ellipsis() -> None:
    assert snippet("one\n two   three", 50) == "one two three"
    assert snippet("one two three four", 15) == "one two three…"
    assert snippet("x" * 20, 10) == "x" * 9 + "…"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://www.imdb.com/title/", "imdb.com"),
        ("https://en.wikipedia.org/wiki/X", "wikipedia.org"),
        ("https://news.bbc.co.uk/1", "bbc.co.uk"),
        ("http://127.0.0.1:80/", "127.0.0.1"),
        ("http://[2001:db8::1]/", "2001:db8::1"),
        ("http://localhost/", "localhost"),
        ("nonsense", ""),
    ],
)
def test_domain_is_the_registered_one(url: str, expected: str) -> None:
    assert registered(url) == expected


def test_all_languages_of_the_standard_are_known() -> None:
    assert len(LANGUAGES) == 185
    assert {"en", "de", "zh", "ja", "ar", "zu"} <= LANGUAGES
