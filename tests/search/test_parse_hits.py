"""Lists of results become hits; broken items are left out."""

import json

import pytest

from kindly.errors import ProviderAnswerInvalid
from kindly.models import Hit
from kindly.search.parse_hits import HitFields, engines_of, hits_from, plain, total_from
from kindly.search.providers.tavily import SPEC

FIELDS = HitFields(
    url="url", title="title", snippet="text", published="date", score="score", engines="engines"
)
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
        {"url": "ftp:///pub"},
        {"url": "mailto:"},
        {"url": "data:text/html,x"},
        {"url": "https://"},
        {"url": "http://[::1"},
        {"url": "https://example.com/\nX: y"},
        {"url": "https://example.com/\ud800"},
    ],
)
def test_an_item_without_a_web_address_is_left_out_and_alone_makes_an_unusable_answer(
    bad: object,
) -> None:
    assert [hit.url for hit in hits_from([bad, GOOD], FIELDS, SPEC)] == ["https://example.com/"]
    with pytest.raises(ProviderAnswerInvalid) as caught:
        hits_from([bad], FIELDS, SPEC)
    assert caught.value.provider == "tavily"


@pytest.mark.parametrize(
    "url", ["ftp://example.com/x", "ftps://example.com/x", "mailto:keeper@example.com"]
)
def test_a_link_that_cannot_be_fetched_is_kept(url: str) -> None:
    assert only({"url": url}).url == url


@pytest.mark.parametrize("items", [None, {}, "text", 5, {"0": GOOD}])
def test_results_that_are_not_a_list_are_refused(items: object) -> None:
    with pytest.raises(ProviderAnswerInvalid):
        hits_from(items, FIELDS, SPEC)


def test_empty_list_is_no_hits() -> None:
    assert hits_from([], FIELDS, SPEC) == ()


@pytest.mark.parametrize(
    ("value", "engines"),
    [
        (["a", "b", "a"], ("a", "b")),
        ("a", ("a",)),
        (["a", None, 5, ""], ("a",)),
        ([], ()),
        (None, ()),
    ],
)
def test_engines_are_a_list_or_one_name(value: object, engines: tuple[str, ...]) -> None:
    assert only({**GOOD, "engines": value}).engines == engines


def test_engines_of_hits_are_named_once_in_order() -> None:
    items = [{**GOOD, "engines": names} for names in (["b", "a"], [], ["c", "b"])]
    assert engines_of(hits_from(items, FIELDS, SPEC)) == ("b", "a", "c")


@pytest.mark.parametrize(
    ("value", "total"),
    [
        (5, 5),
        (5.9, 5),
        ("12400", 12400),
        (0, 0),
        (-1, None),
        ("", None),
        ("many", None),
        ("²", None),
        ("9" * 5000, None),
        (True, None),
        (None, None),
    ],
)
def test_total_is_a_number_or_its_digits(value: object, total: int | None) -> None:
    assert total_from(value) == total


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("a <strong>b</strong> &amp; c", "a b & c"),
        ("x < y > z", "x < y > z"),
        ("&lt;b&gt;", "<b>"),
        (" a<br/>b ", "ab"),
        (None, ""),
        (5, ""),
    ],
)
def test_snippet_with_tags_and_entities_becomes_plain(markup: object, text: str) -> None:
    assert plain(markup) == text
