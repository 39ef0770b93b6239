from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from kindly.read.chunk import split
from kindly.read.ranking.passage_features import Feature
from kindly.read.ranking.rank import Index

URL = "https://example.com/"
SPANISH = "La abeja reina pone huevos todo el año; ¿cuántos días vive, según el apicultor de Málaga, en otoño?"


def column(text: str, question: str, feature: Feature) -> NDArray[np.floating[Any]]:
    return Index(split(text, URL), None).features(question)[:, feature]


def test_every_feature_has_a_column() -> None:
    found = Index(split("Bees make honey.", URL), None).features("Do bees make honey?")

    assert found.shape == (1, len(Feature))
    assert np.isfinite(found).all()


def test_words_at_the_beginning_of_a_sentence_lead() -> None:
    leading = column(
        "Insurance is kept by each of the parties all the time.", "insurance", Feature.LEAD_SENTENCE
    )
    trailing = column(
        "Each of the parties keeps all the time insurance.", "insurance", Feature.LEAD_SENTENCE
    )

    assert leading[0] == pytest.approx(1)
    assert trailing[0] == 0


def test_words_that_are_not_on_the_page_count_as_missing() -> None:
    text = "Bees make honey in summer."

    assert column(text, "honey of bees", Feature.COVERAGE_PAGE)[0] < 1
    assert column(text, "honey of bees", Feature.MISSING_WEIGHT)[0] > 0
    assert column(text, "bees honey", Feature.COVERAGE_PAGE)[0] == pytest.approx(1)
    assert column(text, "bees honey", Feature.MISSING_WEIGHT)[0] == 0


def test_windows_count_as_less_early_down_the_page() -> None:
    early = column("Bees make honey in summer. " * 400, "honey", Feature.EARLINESS).tolist()

    assert early[0] == 1
    assert all(one > other for one, other in pairwise(early))


@pytest.mark.parametrize(
    ("text", "english", "latin", "unspaced"),
    [
        ("The queen lays eggs all year round.", 1, 1, 0),
        (SPANISH, 0, 1, 0),
        ("Пчелы делают мед летом.", 0, 0, 0),
        ("蜜蜂在夏天酿造蜂蜜。", 0, 0, 1),
        ("ผึ้งทำน้ำผึ้งในฤดูร้อน", 0, 0, 1),
    ],
    ids=["english", "spanish", "russian", "chinese", "thai"],
)
def test_languages_are_recognised_by_their_letters(
    text: str, english: int, latin: int, unspaced: int
) -> None:
    columns = (Feature.ENGLISH, Feature.LATIN, Feature.UNSPACED)
    got = [column(text, text, feature)[0] for feature in columns]

    assert np.round(got).astype(int).tolist() == [english, latin, unspaced]
