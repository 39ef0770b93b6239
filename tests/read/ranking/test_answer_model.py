"""The judgement whether a page answers: its trees, its scale, and the features that they get."""

import numpy as np
import pytest

from kindly.read.chunk import split
from kindly.read.ranking import answer_model, ranker_model
from kindly.read.ranking.answer_features import ALL_WINDOWS, PageFeature
from kindly.read.ranking.answer_model import AnswerModel, Trees
from kindly.read.ranking.passage_features import Feature
from kindly.read.ranking.rank import Index

URL = "https://example.com/"
STUMP = Trees(
    roots=np.array([0, 3]),
    columns=np.array([1, 0, 0, 0]),
    thresholds=np.array([0.5, np.inf, np.inf, np.inf], dtype=np.float32),
    lefts=np.array([1, 1, 2, 3]),
    values=np.array([0, -2, 3, 0.25], dtype=np.float32),
    depth=1,
)
"""One tree with a split, and one that is only a leaf."""
WAL = "\n\n".join(
    f"WAL mode lets readers continue while a writer appends {n} pages." for n in range(30)
)


def page_features(text: str, question: str) -> dict[PageFeature, float]:
    row = Index(split(text, URL), None).answer_row(question, ranker_model.load())
    assert row is not None
    page = row[len(Feature) + 2 * len(ALL_WINDOWS) :]
    return {feature: float(page[feature]) for feature in PageFeature}


@pytest.mark.parametrize(("value", "expected"), [(0.4, -1.75), (0.5, -1.75), (0.6, 3.25)])
def test_trees_add_the_leaves_of_a_row(value: float, expected: float) -> None:
    assert STUMP.log_odds(np.array([9, value], dtype=np.float32)) == expected


def test_other_languages_are_favoured() -> None:
    model = AnswerModel(STUMP, point=1.0, other=2.0, latin=0.5)
    english, spanish, greek = np.zeros((3, len(Feature)), dtype=np.float32)
    english[[Feature.ENGLISH, Feature.LATIN]] = 1
    spanish[Feature.LATIN] = 1

    assert [model.favour(row) for row in (english, spanish, greek)] == [0, 2.5, 2]
    assert model.evidence(greek) == model.trees.log_odds(greek) - 1 + 2


def test_model_fits_the_columns_of_a_row() -> None:
    trees = answer_model.load().trees

    assert int(trees.columns.max()) < len(Feature) + 2 * len(ALL_WINDOWS) + len(PageFeature)


def test_words_without_content_hardly_count_and_frequent_ones_do() -> None:
    found = page_features(WAL, "What does WAL mode do?")

    assert found[PageFeature.COVERAGE_BEST] > 0.9
    assert found[PageFeature.COVERAGE_PAGE] > 0.9
    assert found[PageFeature.TOPIC] == 1
    assert found[PageFeature.LACKING_BEST] < 0.1


def test_names_and_numbers_that_the_page_lacks_are_noticed() -> None:
    found = page_features(WAL, "What did Ada Lovelace write in 1843 about WAL?")

    assert found[PageFeature.NAMES_PAGE] == 0.25
    assert found[PageFeature.LACKING_PAGE] > 0.5


def test_question_without_words_has_no_row() -> None:
    assert Index(split(WAL, URL), None).answer_row("???", ranker_model.load()) is None
