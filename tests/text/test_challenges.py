import pytest

from kindly.text import challenges
from kindly.text.challenges import MARKS, Mark, Where

LITERAL = [
    mark for mark in MARKS if not mark.where & (Where.TITLE | Where.BARE_TITLE | Where.SENTENCE)
]


@pytest.mark.parametrize("mark", LITERAL, ids=lambda mark: mark.patterns[0])
def test_each_spelling_of_a_mark_is_found_in_each_place_where_it_counts(mark: Mark) -> None:
    for where in mark.where:
        for pattern in mark.patterns:
            assert challenges.in_html(f"<html>{pattern}</html>", where) is not None
            assert challenges.in_html(pattern.encode(), where) is not None


def test_script_of_a_guarded_site_makes_no_short_page_a_challenge() -> None:
    html = '<script src="/cdn-cgi/challenge-platform/scripts/jsd/main.js"></script><p>short.</p>'
    assert challenges.in_html(html, Where.PAGE) is None
    assert challenges.in_html(html, Where.RESPONSE) is not None


def test_patterns_are_in_lower_case_and_only_sentences_have_words() -> None:
    for mark in MARKS:
        assert all(pattern == pattern.lower() for pattern in mark.patterns)
        assert bool(mark.words) == (mark.where is Where.SENTENCE)


def test_marks_of_a_header_are_compared_whole() -> None:
    assert challenges.in_headers([("cf-mitigated", " Challenge ")]) is not None
    assert challenges.in_headers([("cf-mitigated", "block"), ("server", "cloudflare")]) is None


@pytest.mark.parametrize(
    ("title", "vendor"),
    [
        ("Just a moment...", "Cloudflare"),
        ("Attention Required! | Cloudflare", "Cloudflare"),
        ("Making sure you're not a bot! - Example", "Anubis"),
        ("Robot Check", "a bot check"),
    ],
)
def test_title_names_the_vendor(title: str, vendor: str) -> None:
    mark = challenges.in_title(title)
    assert mark is not None
    assert mark.vendor == vendor


@pytest.mark.parametrize("title", ["", "Just a moment in history", "How to pass a robot check"])
def test_title_that_only_mentions_a_check_is_none(title: str) -> None:
    assert challenges.in_title(title) is None


def test_title_of_a_refusal_counts_only_on_a_bare_page() -> None:
    assert challenges.in_title("Access denied") is None
    assert challenges.in_title("Access denied | Example", Where.BARE_TITLE) is not None


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<head><title>just a moment...</title>", "just a moment..."),
        ('<title lang="en">a</title><title>b</title>', "a"),
        ("<title>never closed", ""),
        ("<p>no title", ""),
        ("<title>" + "x" * 1_000 + "</title>", ""),
    ],
)
def test_title_is_taken_from_html(html: str, title: str) -> None:
    assert challenges.title_of(html) == title
    assert challenges.title_of(html.encode()) == title


def test_every_sentence_has_one_of_its_words() -> None:
    pattern, words = challenges.sentences()
    for said in (
        "please verify you are human",
        "confirm that you’re not a bot",
        "unusual traffic from your computer network",
        "why did i get blocked?",
        "complete the security check to access example.com",
    ):
        assert pattern.search(said)
        assert any(word in said for word in words)
