"""When results look unrelated to the query."""

import pytest

from kindly.models import Hit
from kindly.search.ranking.relevance import looks_unrelated, subject_of


def hit(url: str, title: str = "Tea", snippet: str = "About tea.") -> Hit:
    return Hit(title, url, snippet, "fake")


def about(*titles: str) -> list[Hit]:
    return [hit(f"https://s{at}.example/", title, "") for at, title in enumerate(titles)]


@pytest.mark.parametrize(
    ("query", "titles", "unrelated"),
    [
        pytest.param("python asyncio", ["Casino", "Bonus", "Slots"], True, id="spam"),
        pytest.param("python asyncio", ["Casino", "Asyncio", "Slots"], False, id="one-fits"),
        pytest.param("python asyncio", ["Casino", "Bonus"], False, id="too-few"),
        pytest.param("python asyncio", [], False, id="none"),
        pytest.param("pyhton asyncoi", ["Python", "Bonus", "Slots"], False, id="corrected"),
        pytest.param("running shoes", ["Run a shop", "Shoe", "Feet"], False, id="stems"),
        pytest.param("how to do it", ["Casino", "Bonus", "Slots"], False, id="no-content-words"),
        pytest.param("!!! ???", ["Casino", "Bonus", "Slots"], False, id="no-words"),
        pytest.param("site:docs.rs serde", ["Casino", "docs.rs", "Slots"], True, id="site-only"),
        pytest.param("site:docs.rs serde", ["Serde", "Bonus", "Slots"], False, id="site-and-word"),
        pytest.param('"green tea" -coffee', ["Coffee", "Mugs", "Beans"], True, id="excluded"),
        pytest.param('"green tea" OR matcha', ["Matcha", "Mugs", "Beans"], False, id="quoted"),
        pytest.param("intitle:kettle", ["Kettles", "Mugs", "Beans"], False, id="intitle"),
        pytest.param("filetype:pdf", ["Casino", "Bonus", "Slots"], False, id="operators-only"),
        pytest.param("東京の天気", ["東京タワー", "本日", "明日"], False, id="han-one-bigram"),
        pytest.param("東京の天気", ["今日の天気", "大阪", "京都"], False, id="kana-and-han"),
        pytest.param("東京の天気", ["赌场", "奖金", "老虎机"], True, id="han-unrelated"),
        pytest.param("茶", ["绿茶", "咖啡", "水"], False, id="single-han"),
        pytest.param("서울 날씨", ["오늘의 날씨", "부산", "뉴스"], False, id="hangul"),
        pytest.param("서울 날씨", ["카지노", "보너스", "슬롯"], True, id="hangul-unrelated"),
        pytest.param("погода в Москве", ["Погода", "Казино", "Бонус"], False, id="cyrillic"),
        pytest.param("погода в Москве", ["Казино", "Бонус", "Ставки"], True, id="cyrillic-not"),
        pytest.param("الطقس في القاهرة", ["حالة الطقس", "كازينو", "مكافأة"], False, id="arabic"),
        pytest.param("อากาศกรุงเทพ", ["สภาพอากาศ", "คาสิโน", "โบนัส"], False, id="thai"),
        pytest.param("मौसम दिल्ली", ["दिल्ली समाचार", "कैसीनो", "बोनस"], False, id="devanagari"),
        pytest.param("C", ["Casino", "Bonus", "Slots"], False, id="single-letter"),
        pytest.param("C pointers", ["Casino", "Bonus", "Slots"], True, id="letter-and-word"),
        pytest.param("Zürich Straßen", ["Zurich", "Casino", "Slots"], False, id="accents"),
    ],
)
def test_results_without_any_shared_word_look_unrelated(
    query: str, titles: list[str], unrelated: bool
) -> None:
    assert looks_unrelated(query, about(*titles)) is unrelated


def test_a_shared_word_in_an_address_or_snippet_is_enough() -> None:
    hits = about("Casino", "Bonus", "Slots")
    assert not looks_unrelated("tea", [*hits, hit("https://x.example/t%65a", "X", "")])
    assert not looks_unrelated("kettle", [*hits, hit("https://x.example/", "X", "A kettle.")])


@pytest.mark.parametrize(
    ("query", "subject"),
    [
        ("tea -coffee site:a.example", ["tea"]),
        ("state-of-the-art", ["state-of-the-art"]),
        ("inurl:docs AND intitle:tea", ["docs", "tea"]),
        ("http://a.example/tea", ["http://a.example/tea"]),
    ],
)
def test_the_subject_is_the_query_without_operators(query: str, subject: list[str]) -> None:
    assert subject_of(query).split() == subject
