import json

import pytest

from kindly.errors import ProviderAnswerInvalid
from kindly.models import Hit
from kindly.search.providers.tavily import SPEC
from kindly.search.shape import Fields, hits_from

FIELDS = Fields(url="url", title="title", snippet="text", published="date", score="score")
GOOD = {"url": "https://example.com/"}


def only(item: object) -> Hit:
    (hit,) = hits_from([item], FIELDS, SPEC)
    return hit


def test_missing_parts_are_empty() -> None:
    assert only(GOOD) == Hit("", "https://example.com/", "", "tavily")


def test_parts_of_another_type_are_empty() -> None:
    item = {**GOOD, "title": 5, "text": None, "date": ["2026"], "score": "0.9"}
    assert only(item) == Hit("", "https://example.com/", "", "tavily")


@pytest.mark.parametrize(
    ("raw", "score"),
    [
        ("0.5", 0.5),
        ("1", 1.0),
        ("0", 0.0),
        ("true", None),
        ("NaN", None),
        ("Infinity", None),
        ("1" + "0" * 400, None),
        ("null", None),
    ],
)
def test_score_is_a_finite_number_or_none(raw: str, score: float | None) -> None:
    assert only({**GOOD, "score": json.loads(raw)}).score == score


def test_text_can_always_be_encoded() -> None:
    assert only({**GOOD, "title": "a\ud800b"}).title == "a?b"


@pytest.mark.parametrize(
    "bad",
    [
        None,
        "https://example.com/",
        {},
        {"url": None},
        {"url": 5},
        {"url": ""},
        {"url": "example.com"},
        {"url": "/relative"},
        {"url": "javascript:alert(1)"},
        {"url": "file:///etc/passwd"},
        {"url": "ftp://example.com/"},
        {"url": "https://"},
        {"url": "http://[::1"},
        {"url": "https://example.com/\nX: y"},
        {"url": "https://example.com/\ud800"},
    ],
)
def test_item_without_web_address_is_left_out_and_alone_is_no_answer(bad: object) -> None:
    assert [hit.url for hit in hits_from([bad, GOOD], FIELDS, SPEC)] == ["https://example.com/"]
    with pytest.raises(ProviderAnswerInvalid) as caught:
        hits_from([bad], FIELDS, SPEC)
    assert caught.value.provider == "tavily"


@pytest.mark.parametrize("items", [None, {}, "text", 5, {"0": GOOD}])
def test_results_that_are_no_list_are_refused(items: object) -> None:
    with pytest.raises(ProviderAnswerInvalid):
        hits_from(items, FIELDS, SPEC)


def test_empty_list_is_no_hits() -> None:
    assert hits_from([], FIELDS, SPEC) == ()
