"""Quotes: true ones are exact, changed ones are shown with what changed, foreign ones are absent."""

import random
import re

import pytest

from kindly.read.evidence.quotes import Difference, Verdict, check_quote
from tests.support.paths import ROOT

PAGE = """# Limits

The **frobnicator** accepts [4096 widgets](https://e.com/w?a=1) in one batch; it does not accept `None`.

## Times
A request may take 1.5 seconds, or -3 °C. Since 2024-02-20 Paris hosts the server, and snake\\_case is used.
"""


@pytest.mark.parametrize(
    "quote",
    [
        "The frobnicator accepts 4096 widgets in one batch",
        "accepts 4096 widgets in one batch; it does not accept None.",
        "“A request may take 1.5  seconds”",
        "a request may take 1.5 seconds",
        "snake_case is used",
        "-3 °C",
    ],
)
def test_the_same_words_are_exact(quote: str) -> None:
    assert check_quote(quote, PAGE).verdict is Verdict.EXACT


def test_a_match_says_where_it_is() -> None:
    match = check_quote("may take 1.5 seconds", PAGE)
    assert match.section == ("Limits", "Times")
    assert PAGE[match.start : match.end] == match.text == "may take 1.5 seconds"


@pytest.mark.parametrize(
    ("quote", "difference"),
    [
        ("The frobnicator accepts 409 widgets in one batch", Difference("409", "4096", "number")),
        ("in one batch; it does accept None", Difference("", "not", "negation")),
        ("A request may take 15 seconds", Difference("15", "1.5", "number")),
        ("A request may take 1.5 seconds, or 3 °C", Difference("3", "-3", "number")),
        ("Since 2024-02-20 London hosts the server", Difference("London", "Paris", "name")),
        (
            "Since 2025-02-20 Paris hosts the server",
            Difference("2025-02-20", "2024-02-20", "number"),
        ),
        ("The frobnicator rejects 4096 widgets in one batch", Difference("rejects", "accepts")),
    ],
)
def test_a_changed_word_is_shown(quote: str, difference: Difference) -> None:
    match = check_quote(quote, PAGE)
    assert match.verdict is Verdict.NEAR
    assert difference in match.differences


@pytest.mark.parametrize(
    "quote", ["", "…", "Bees see ultraviolet light and dance for the others.", "xyzzy"]
)
def test_what_the_page_does_not_say_is_absent(quote: str) -> None:
    assert check_quote(quote, PAGE).verdict is Verdict.ABSENT


def test_part_of_a_word_is_not_the_word() -> None:
    assert (
        check_quote("may take 1.5 second", "It may take 1.5 seconds.").verdict is not Verdict.EXACT
    )
    assert check_quote("uses 1", "It uses 10 of them.").verdict is not Verdict.EXACT


DOCS = {
    path.name: path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").glob("*.md"))
}
SENTENCE = re.compile(r"(?<=[.!?])\s+")
NUMBER = re.compile(r"(?<![\w.,-])\d+(?![\w.,-])")


def sentences() -> list[tuple[str, str]]:
    """Sentences of real documentation with their page."""
    found = []
    for name, text in DOCS.items():
        prose = (line for line in text.split("\n") if line[:1].isalpha())
        found += [
            (name, one) for line in prose for one in SENTENCE.split(line) if len(one.split()) >= 8
        ]
    return found


def perturbed(sentence: str, chance: random.Random) -> str:
    """The sentence with another number, another name, or a negation."""
    if (number := NUMBER.search(sentence)) and chance.random() < 0.7:
        return sentence[: number.start()] + str(int(number[0]) + 1) + sentence[number.end() :]
    words = sentence.split()
    place = chance.randrange(2, len(words) - 1)
    if chance.random() < 0.5:
        return " ".join([*words[:place], "not", *words[place:]])
    return " ".join([*words[:place], "Zanzibar", *words[place + 1 :]])


def test_true_sentences_are_exact_and_perturbed_or_foreign_ones_never() -> None:
    chance = random.Random(20)  # noqa: S311 - a sample
    sample = chance.sample(sentences(), 300)
    true = [check_quote(one, DOCS[name]).verdict for name, one in sample]
    assert true.count(Verdict.EXACT) >= 0.99 * len(sample)
    for name, one in sample:
        match = check_quote(perturbed(one, chance), DOCS[name])
        assert match.verdict is not Verdict.EXACT, one
        assert match.verdict is not Verdict.NEAR or match.differences
    names = list(DOCS)
    foreign = [(names[(names.index(name) + 7) % len(names)], one) for name, one in sample]
    said = [
        check_quote(one, DOCS[other]).verdict for other, one in foreign if one not in DOCS[other]
    ]
    assert said.count(Verdict.EXACT) == 0
