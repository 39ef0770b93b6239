import numpy as np
import pytest

from kindly.read.chunk import split
from kindly.read.ranking import expansion_model
from kindly.read.ranking.candidate_features import Detail, candidate_features
from kindly.read.ranking.rank import Index

URL = "https://example.com/"
FILLER = "The garden has a stone path that leads from the gate to an old shed by the wall. " * 12
PAGE = f"""# Bees

{FILLER}

## Winter

In 1887 Karl Frisch saw that the colony shivers because honey is warm.

{FILLER}

## Hives

| Hive | Year |
| --- | --- |
| Linden | 1990 |
| Meadow | 1991 |
"""


def details(question: str, piece: str) -> dict[Detail, float]:
    """Of the last window with the piece."""
    index = Index(split(PAGE, URL, size=200), None)
    terms = index.terms_of(question)
    assert terms is not None
    at = PAGE.index(piece)
    holding = [number for number, (start, end) in enumerate(index.windows()) if start <= at < end]
    window = holding[-1]
    (row,) = candidate_features(terms, np.array([window]), expansion_model.load())
    return {detail: float(row[detail]) for detail in Detail}


@pytest.mark.parametrize(
    ("question", "expected"),
    [("When did Frisch see the colony?", 1), ("Why does the colony shiver?", 1)],
)
def test_what_is_asked_for_is_found_in_the_best_sentence(question: str, expected: float) -> None:
    assert details(question, "In 1887")[Detail.EXPECTED_BEST] == expected


def test_names_beyond_those_of_the_question_are_counted() -> None:
    known = details("What did Karl Frisch see?", "In 1887")
    unknown = details("Who saw the colony shiver?", "In 1887")
    assert known[Detail.NEW_NAMES_BEST] < unknown[Detail.NEW_NAMES_BEST]


def test_headings_above_and_words_of_the_window_count() -> None:
    found = details("How does the colony shiver in winter?", "In 1887")
    assert found[Detail.HEADING] > 0.2
    assert found[Detail.COVERAGE] > 0.5
    assert found[Detail.TABLE] == 0


def test_kind_of_text_is_known() -> None:
    found = details("Which hive is the oldest?", "| Hive")
    assert found[Detail.TABLE] > 0.5
    assert found[Detail.ASKS_EXTREME] == 1


def test_no_windows_have_no_rows() -> None:
    terms = Index(split(PAGE, URL), None).terms_of("bees")
    assert terms is not None
    found = candidate_features(terms, np.zeros(0, dtype=np.intp), expansion_model.load())
    assert found.shape == (0, len(Detail))
