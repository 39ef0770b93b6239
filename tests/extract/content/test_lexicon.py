from itertools import islice, product

import pytest

from kindly.extract.content.lexicon import MAX_CACHED, Lexicon, first_words, name_words


@pytest.mark.parametrize(
    ("names", "scores"),
    [
        ("sideBar body", (-2.0, 1.5)),
        ("body", (0.0, 1.5)),
        ("bodyside", (-2.0, 1.5)),
        ("unknown", (0.0, 0.0)),
        ("", (0.0, 0.0)),
    ],
)
def test_names_have_a_lowest_and_a_highest_score(names: str, scores: tuple[float, float]) -> None:
    lexicon = Lexicon({"side": -2.0, "body": 1.5, "bodyside": -2.0}, {})
    found = lexicon.score_names([names, "", names])
    assert list(map(tuple, found.tolist())) == [scores, (0.0, 0.0), scores]
    cached = lexicon.score_names([names])
    assert list(map(tuple, cached.tolist())) == [scores]


def test_cache_is_bounded_and_does_not_change_scores() -> None:
    lexicon = Lexicon({"side": -2.0}, {})
    parts = islice(product("abcdefgh", repeat=5), MAX_CACHED + 10)
    names = ["side-" + "".join(part) for part in parts]
    assert (lexicon.score_names(names) == (-2, 0)).all()
    assert lexicon.score_names(["side-bar", "bar"]).tolist() == [[-2, 0], [0, 0]]
    assert max(len(lexicon._numbers), len(lexicon._ranges)) <= MAX_CACHED


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ("postBody post-meta HTMLView x", ("post", "body", "meta", "html", "view")),
        ("relatedpoststitle", ("relatedpoststitle", "related", "post", "title")),
        ("", ()),
    ],
    ids=["any-spelling", "several-words-as-one", "none"],
)
def test_names_are_split_into_words(names: str, words: tuple[str, ...]) -> None:
    assert name_words(names) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Read more, 3 min", ["read", "more", "min"]),
        ("Über uns 2", ["über", "uns"]),
        ("long " * 50, []),
        ("a b c d e f g h i j k l", list("abcdefghij")),
    ],
    ids=["ascii", "other-letters", "long-text", "at-most-ten"],
)
def test_only_short_texts_have_first_words(text: str, words: list[str]) -> None:
    assert first_words(text) == words
