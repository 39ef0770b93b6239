"""Terms for comparing short texts."""

import pytest

from kindly.search.ranking.query_words import stem, terms


@pytest.mark.parametrize(
    ("word", "short"),
    [
        ("running", "runn"),
        ("queries", "quer"),
        ("ring", "ring"),
        ("documentation", "document"),
        ("go", "go"),
    ],
)
def test_common_endings_are_removed(word: str, short: str) -> None:
    assert stem(word) == short


def test_unspaced_scripts_become_bigrams() -> None:
    assert terms("東京の天気") == {"東京", "京の", "の天", "天気"}
    assert terms("Python入門 2") == {"python", "入門", "2"}
