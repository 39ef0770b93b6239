"""Copies, quality and relevance: what is shown of a provider's results, and in what order."""

from dataclasses import replace

import pytest

from kindly.models import Hit, Query
from kindly.search.ranking.postprocess import UNRELATED, clean, without_copies
from kindly.search.ranking.quality import HOSTS, MOST_DOWN, MOST_UP, by_quality, points_of
from kindly.search.ranking.query_words import stem, terms
from kindly.search.ranking.relevance import looks_unrelated, subject_of
from tests.support.routing import hits_at

TEXT = (
    "Structural pattern matching has been added in the form of a match statement and case blocks."
)


def hit(url: str, title: str = "Tea", snippet: str = "About tea.") -> Hit:
    return Hit(title, url, snippet, "fake")


def urls(hits: tuple[Hit, ...]) -> list[str]:
    return [each.url for each in hits]


def test_copies_are_one_hit_that_tells_where_the_others_are() -> None:
    first = hit("https://one.example/", "What’s new in Python", TEXT)
    copy = replace(
        hit("https://two.example/", "What's New in PYTHON!", TEXT + " Read more"),
        found_by=("brave",),
        engines=("bing",),
    )
    other = hit("https://three.example/", "What's new in Python", "Something else entirely.")
    kept = without_copies([first, copy, other])
    assert urls(kept) == ["https://one.example/", "https://three.example/"]
    assert (kept[0].found_by, kept[0].engines) == (("brave",), ("bing",))
    assert kept[0].reasons == ("the same text is at https://two.example/",)


@pytest.mark.parametrize(
    ("title", "snippet"),
    [
        pytest.param("Another title", TEXT, id="title-differs"),
        pytest.param("Title", "Quite another text about the history of tea in Japan.", id="text"),
        pytest.param("Title", "", id="no-text"),
        pytest.param("Title", "Read more.", id="short-text"),
    ],
)
def test_alike_is_not_the_same(title: str, snippet: str) -> None:
    hits = [hit("https://a.example/", "Title", TEXT), hit("https://b.example/", title, snippet)]
    assert without_copies(hits) == tuple(hits)


def test_short_texts_that_are_equal_prove_nothing() -> None:
    hits = [
        hit("https://a.example/", "Home", "Read more."),
        hit("https://b.example/", "Home", "Read more."),
    ]
    assert without_copies(hits) == tuple(hits)


@pytest.mark.parametrize(
    ("url", "title", "direction"),
    [
        ("https://docs.python.org/3/", "datetime", 1),
        ("https://developer.mozilla.org/x", "Array", 1),
        ("https://requests.readthedocs.io/", "Requests", 1),
        ("https://docs.stripe.com/api", "API", 1),
        ("https://www.rfc-editor.org/rfc/rfc9110", "RFC 9110", 1),
        ("https://www.nasa.gov/", "NASA", 1),
        ("https://www.gov.uk/vat", "VAT", 1),
        ("https://www.mofa.go.jp/", "外務省", 1),
        ("https://cs.stanford.edu/", "CS", 1),
        ("https://www.cam.ac.uk/", "Cambridge", 1),
        ("https://en.wikipedia.org/wiki/Tea", "Tea", 1),
        ("https://de.wikipedia.org/wiki/Tee", "Tee", 1),
        ("https://arxiv.org/abs/1", "A paper", 1),
        ("https://github.com/python/cpython", "cpython", 1),
        ("https://stackoverflow.com/q/1", "How to", 1),
        ("https://example.com/", "Tea", 0),
        ("https://notwikipedia.org/", "Tea", 0),
        ("https://docs.google.com/document/1", "Notes", 0),
        ("https://www.ehow.com/how_1", "How to", -1),
        ("https://programmersought.com/article/1", "Python", -1),
        ("https://bit.ly/3abc", "Tea", -1),
        ("https://www.sedo.com/x", "x", -1),
        ("https://shop.example/", "Tea Promo Codes & Coupons 2026", -1),
        ("https://tea.example/", "tea.example: this domain is for sale", -1),
        (
            "https://tea.example/",
            "Buy tea, green tea, cheap tea, best tea, tea shop, tea online, tea",
            -1,
        ),
        ("https://tea.example/", "Kettle kettle kettle best kettle", -1),
        ("https://soft.example/", "Photo Suite Crack + Keygen Free Download 2026", -1),
        ("https://best-cheap-tea-shop-online.example/", "Tea", -1),
        ("https://tea.click/", "Tea", -1),
        ("https://tea.example/search?lang=en&q=tea", "Results", -1),
        ("https://tea.example/search?page=2", "Search", 0),
        ("not a url", "Tea", 0),
        ("http://[::1", "Tea", 0),
        ("https://a.example/", "The history of the tea of the East and of the West", 0),
        ("https://a.example/", "Как заваривать чай", 0),
    ],
)
def test_hits_are_ordered_by_the_quality_table(url: str, title: str, direction: int) -> None:
    points = points_of(hit(url, title))
    assert (points > 0) - (points < 0) == direction
    assert -MOST_DOWN <= points <= MOST_UP


def test_table_names_every_host_once() -> None:
    names = [name for group in HOSTS for name in group.names]
    assert len(names) == len(set(names))


def test_moved_hits_say_why_and_nothing_is_dropped() -> None:
    plain = [hit(f"https://site{at}.example/") for at in range(4)]
    spam = hit("https://bit.ly/x")
    official = hit("https://docs.python.org/3/")
    moved = by_quality([spam, *plain, official])
    assert urls(moved) == [
        "https://site0.example/",
        "https://site1.example/",
        "https://bit.ly/x",
        "https://site2.example/",
        "https://docs.python.org/3/",
        "https://site3.example/",
    ]
    assert sorted(urls(moved)) == sorted(urls((spam, *plain, official)))
    by_url = {each.url: each for each in moved}
    assert by_url[spam.url].reasons == ("down: address shortener: it does not say where it leads",)
    assert by_url[official.url].reasons == (
        "up: official documentation",
        "up: documentation of its project",
    )
    assert all(by_url[each.url].reasons == () for each in plain)


@pytest.mark.parametrize("rank", range(10))
def test_no_hit_moves_further_than_the_bounds(rank: int) -> None:
    for url, most in (("https://www.sedo.com/", MOST_DOWN), ("https://docs.rs/", MOST_UP)):
        hits = [hit(f"https://site{at}.example/") for at in range(10)]
        hits[rank] = hit(url)
        moved = urls(by_quality(hits)).index(url) - rank
        assert abs(moved) <= most


def test_hit_that_stays_needs_no_reason() -> None:
    only = hit("https://docs.python.org/3/")
    assert by_quality([only]) == (only,)


def test_own_order_stands_without_reason_to_move() -> None:
    hits = hits_at("a.example", "b.example", "c.example")
    assert clean(Query("title", 3), hits) == hits


UNRELATED_HITS = hits_at("one.example", "two.example", "three.example")


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


def test_word_in_an_address_or_snippet_is_enough() -> None:
    hits = about("Casino", "Bonus", "Slots")
    assert not looks_unrelated("tea", [*hits, hit("https://x.example/t%65a", "X", "")])
    assert not looks_unrelated("kettle", [*hits, hit("https://x.example/", "X", "A kettle.")])


def test_api_providers_unrelated_hits_are_shown_and_marked() -> None:
    shown = clean(Query("python asyncio", 3), about("Casino", "Bonus", "Slots"))
    assert [each.reasons for each in shown] == [(UNRELATED,)] * 3


@pytest.mark.parametrize(
    ("query", "subject"),
    [
        ("tea -coffee site:a.example", ["tea"]),
        ("state-of-the-art", ["state-of-the-art"]),
        ("inurl:docs AND intitle:tea", ["docs", "tea"]),
        ("http://a.example/tea", ["http://a.example/tea"]),
    ],
)
def test_subject_is_the_query_without_operators(query: str, subject: list[str]) -> None:
    assert subject_of(query).split() == subject


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
def test_usual_endings_are_taken_off(word: str, short: str) -> None:
    assert stem(word) == short


def test_terms_know_scripts_without_blanks() -> None:
    assert terms("東京の天気") == {"東京", "京の", "の天", "天気"}
    assert terms("Python入門 2") == {"python", "入門", "2"}
