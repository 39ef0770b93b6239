"""What the scoreboard counts as evidence: the same for every way to write a page."""

import pytest
from bench.scoreboard.evidence import Evidence, TableRow, plain, spans, tokens_until
from bench.scoreboard.questions import as_html, framed

PAGE = (
    "# Bees\n\nBees see light that people cannot see. They were first described in 1914 by a teacher.\n\n"
    + "A long sentence about the dance of the bees that goes on and on for many more words. " * 4
)


def span(words: str) -> Evidence:
    start = PAGE.index(words)
    return spans(PAGE, [(start, start + len(words))])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("They were first *described* in [1914](https://x.example/a_(b)) by a teacher.", True),
        ("THEY WERE FIRST\nDESCRIBED IN 1914 BY A TEACHER", True),
        ("In 1914 there was a war.", False),
        ("", False),
    ],
    ids=["Markdown", "case and line breaks", "the answer elsewhere", "nothing"],
)
def test_a_short_answer_counts_only_in_its_own_sentence(text: str, found: bool) -> None:
    assert span("1914").found_in(plain(text)) is found


def test_half_of_a_long_answer_is_enough() -> None:
    words = PAGE[PAGE.index("A long sentence") :]
    evidence = span(words)
    assert evidence.found_in(plain(words[: len(words) * 2 // 3]))
    assert not evidence.found_in(plain(words[: len(words) // 8]))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("| 2004 | Athens[1] | [Greece](/wiki/Greece) |", True),
        ("2004 Athens Greece", True),
        ("Athens is a city. " + "Much later: " * 20 + "2004. Greece", False),
    ],
    ids=["Markdown", "flat text", "far apart"],
)
def test_a_row_counts_where_its_cells_stand_together(text: str, found: bool) -> None:
    assert TableRow("athens", ("2004", "athens", "greece")).found_in(plain(text)) is found


def test_tokens_are_counted_to_the_end_of_the_evidence() -> None:
    text = "x" * 4_000 + " They were first described in 1914 by a teacher. " + "y" * 4_000
    tokens = tokens_until(text, span("1914"))
    assert tokens is not None
    assert 1_000 < tokens < 1_020
    assert tokens_until("nothing", span("1914")) is None


def test_a_page_is_served_with_its_structure_in_a_frame() -> None:
    body = as_html("# Title\n\ntext & more\n- one\n- two\n\n| a | b |\n| 1 | 2 |")
    assert body == (
        "<h1>Title</h1><p>text &amp; more</p><ul><li>one</li><li>two</li></ul>"
        "<table><tr><td>a</td><td>b</td></tr><tr><td>1</td><td>2</td></tr></table>"
    )
    page = framed("seed", "A title", body)
    assert body in page
    assert page == framed("seed", "A title", body)
