"""Fair shares of a token budget, cuts at text boundaries, and cursors."""

from datetime import UTC, datetime

import pytest

from kindly.answer import compose, cursor_at, cut, excerpt, outline, parse_cursor
from kindly.budget import count_tokens
from kindly.errors import InputError
from kindly.models import Document, Outcome, OutcomeKind, Source

WHEN = datetime(2026, 1, 2, tzinfo=UTC)


def document(text: str) -> Document:
    return Document("https://example.com/", text, WHEN, content_hash="0123456789abcdef")


def source(text: str) -> Source:
    return Source("https://example.com/", Outcome(), document=document(text))


def test_short_text_is_whole_and_has_no_cursor() -> None:
    given = excerpt(source("Short."), start=0, tokens=100)
    assert given.passage is not None
    assert (given.passage.text, given.cursor, given.outline) == ("Short.", None, ())


def test_long_text_is_cut_within_its_tokens_and_has_a_cursor() -> None:
    text = "\n\n".join(f"Paragraph {number} has words." for number in range(100))
    given = excerpt(source(text), start=0, tokens=50)
    assert given.passage is not None
    assert count_tokens(given.passage.text) <= 50
    assert given.passage.text.endswith("\n\n")
    assert given.cursor == f"0123456789ab-{given.passage.end}"


def test_consecutive_cuts_add_up_to_the_whole_text() -> None:
    text = "# A\n\n" + "word " * 500 + "\n\n```py\n" + "    x = 1\n" * 80 + "```\n\n日本語。" * 40
    start, pieces = 0, []
    while start < len(text):
        passage = cut(text, start, 60)
        assert passage.text == text[start : passage.end]
        pieces.append(passage.text)
        assert passage.end > start
        start = passage.end
    assert "".join(pieces) == text


@pytest.mark.parametrize(
    ("text", "ends_with"),
    [
        ("a" * 30 + "\n\n" + "b" * 30, "\n\n"),
        ("a" * 30 + "\n" + "b" * 30, "\n"),
        ("a" * 30 + ". " + "b" * 30, ". "),
        ("a" * 30 + " " + "b" * 30, " "),
        ("a" * 60, "a"),
    ],
    ids=["paragraph", "line", "sentence", "word", "anywhere"],
)
def test_a_cut_is_at_a_text_boundary(text: str, ends_with: str) -> None:
    assert cut(text, 0, 10).text.endswith(ends_with)


def test_a_cut_is_before_a_code_block_that_just_began() -> None:
    text = "word " * 8 + "\n```\ncode line\ncode line\ncode line\ncode line\n```\n"
    assert "```" not in cut(text, 0, 14).text


def test_without_tokens_the_passage_is_empty_and_the_cursor_is_at_the_start() -> None:
    given = excerpt(source("Some words."), start=0, tokens=0)
    assert given.passage is not None
    assert (given.passage.text, given.cursor) == ("", "0123456789ab-0")


def test_sources_share_the_budget_and_failures_use_none() -> None:
    failed = Source("https://example.com/x", Outcome(OutcomeKind.TIMEOUT))
    short, long_one = source("Short."), source("word " * 1000)
    given = compose((short, failed, long_one), 100).sources
    assert given[0].passage is not None
    assert given[0].passage.text == "Short."
    assert given[1].passage is None
    assert given[2].passage is not None
    assert 60 <= count_tokens(given[2].passage.text) <= 98


def test_outline_has_the_headings_after_a_position_but_no_comments_of_code() -> None:
    text = "# One\n\ntext\n\n```sh\n# not a heading\n```\n## Two\n\n### Three  \n"
    assert outline(text, 3) == ("Two", "Three")


def test_outline_is_bounded() -> None:
    text = "\n".join(f"# {number} {'x' * 100}" for number in range(50))
    given = outline(text, 0)
    assert len(given) == 10
    assert all(len(heading) <= 60 for heading in given)


def test_cursor_survives_the_round_trip() -> None:
    assert parse_cursor(f" {cursor_at(document('x'), 7)} ") == ("0123456789ab", 7)


@pytest.mark.parametrize(
    "bad", ["", "abc", "0123456789ab", "0123456789ab-", "0123456789ab--1", "x" * 500]
)
def test_an_invalid_cursor_is_refused(bad: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_cursor(bad)
    assert caught.value.field == "cursor"
