import pytest

from kindly.read.ranking.sentence_marks import (
    Asks,
    SentenceMark,
    asks_for,
    asks_for_extreme,
    sentence_marks,
)
from kindly.text.terms import tokens


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who patronized the monks in Italy?", Asks.PERSON),
        ("When did season 2 start", Asks.TIME),
        ("In what year was it built?", Asks.TIME),
        ("Where was the engine shown?", Asks.PLACE),
        ("How many points did they score?", Asks.AMOUNT),
        ("Why did the empire fall?", Asks.REASON),
        ("How do you collect my data?", Asks.MANNER),
        ("What is a waggle dance?", Asks.DEFINITION),
        ("Do you share my information?", Asks.DECISION),
        ("Which court decides?", Asks.CHOICE),
        ("Quel est le nom du roi ?", Asks.OTHER),
    ],
)
def test_what_a_question_asks_for(question: str, expected: Asks) -> None:
    assert asks_for(question) is expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("which station has the most parking spaces?", True),
        ("name the oldest winner", True),
        ("what was the earliest album?", True),
        ("when was the prison opened?", False),
    ],
)
def test_superlatives_ask_for_an_extreme(question: str, expected: bool) -> None:
    assert asks_for_extreme(question) is expected


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("It has 12 rooms.", SentenceMark.NUMBER),
        ("Built in 1887 by hand.", SentenceMark.YEAR),
        ("They met in March.", SentenceMark.DATE),
        ("It costs $5.", SentenceMark.AMOUNT),
        ("He left because of the rain.", SentenceMark.CAUSE),
        ("She then went home.", SentenceMark.PRONOUN),
        ("[12] Smith et al., pp. 3-9, 2001.", SentenceMark.REFERENCE),
        ("See [the page](https://example.com/).", SentenceMark.LINK),
        ("We use cookies.", SentenceMark.NOTICE),
    ],
)
def test_what_a_sentence_has(text: str, mark: SentenceMark) -> None:
    found, _, _ = sentence_marks(text, tokens(text))
    assert SentenceMark(found) & mark


def test_capitals_after_the_first_word_and_numbers_are_counted() -> None:
    text = "Guests of Ada Lovelace saw 3 engines in 1843."
    assert sentence_marks(text, tokens(text))[1:] == (2, 2)
