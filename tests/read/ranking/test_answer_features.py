"""The features of a page and a question that the judgement gets."""

from kindly.read.chunk import split
from kindly.read.ranking import ranker_model
from kindly.read.ranking.answer_features import ALL_WINDOWS, PageFeature
from kindly.read.ranking.passage_features import Feature
from kindly.read.ranking.rank import Index

URL = "https://example.com/"
WAL = "\n\n".join(
    f"WAL mode lets readers continue while a writer appends {n} pages." for n in range(30)
)


def page_features(text: str, question: str) -> dict[PageFeature, float]:
    row = Index(split(text, URL), None).answer_row(question, ranker_model.load())
    assert row is not None
    page = row[len(Feature) + 2 * len(ALL_WINDOWS) :]
    return {feature: float(page[feature]) for feature in PageFeature}


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
