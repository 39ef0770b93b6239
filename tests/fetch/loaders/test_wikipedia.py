"""Wikipedia: an article with its infobox, tables, code and formulas, without the rest of the site."""

import pytest

from kindly.errors import PageNotFound, PageTooLarge
from kindly.extract import ExtractOptions
from kindly.extract.document import extract
from kindly.fetch.loader_kit.loader import LoaderSettings, NotLoaded
from kindly.fetch.loaders.wikipedia import WIKIPEDIA, address, article_of, to_article
from kindly.urls import parse
from tests.support.loader_api import FakeApi, Recorded, recorded

pytestmark = pytest.mark.anyio

URL = "https://en.wikipedia.org/wiki/Timsort"
REST = "https://en.wikipedia.org/api/rest_v1/page/html"
SORTING = recorded("wikipedia", "sorting.html")
MARKUP = SORTING.body.decode()


@pytest.mark.parametrize(
    ("url", "article"),
    [
        ("https://en.wikipedia.org/wiki/Timsort", ("en", "Timsort")),
        ("https://de.m.wikipedia.org/wiki/Timsort#Ablauf", ("de", "Timsort")),
        ("https://en.wikipedia.org/w/index.php?title=Merge%20sort", ("en", "Merge_sort")),
        ("https://en.wikipedia.org/wiki/AC/DC?utm_source=x", ("en", "AC/DC")),
        ("https://en.wikipedia.org/wiki/Mission:_Impossible", ("en", "Mission:_Impossible")),
        ("https://ja.wikipedia.org/wiki/%E8%A8%80", ("ja", "言")),
        ("https://simple.wikipedia.org/wiki/Sort", ("simple", "Sort")),
        ("https://www.wikipedia.org/wiki/Timsort", None),
        ("https://en.wikipedia.org/", None),
        ("https://en.wikipedia.org/wiki/", None),
        ("https://en.wikipedia.org/wiki/Special:Random", None),
        ("https://en.wikipedia.org/wiki/Talk:Timsort", None),
        ("https://en.wikipedia.org/wiki/File:A.png", None),
        ("https://de.wikipedia.org/wiki/Spezial:Suche", None),
        ("https://fr.wikipedia.org/wiki/Cat%C3%A9gorie:Tri", None),
        ("https://en.wikipedia.org/w/index.php?title=Timsort&action=history", None),
        ("https://en.wikipedia.org/w/index.php?title=Timsort&oldid=12", None),
        ("https://en.wikipedia.org/w/api.php?action=query", None),
        ("https://en.wikipedia.org.evil.example/wiki/Timsort", None),
        ("https://en.wiktionary.org/wiki/sort", None),
    ],
)
def test_only_articles_are_known_by_their_address(
    url: str, article: tuple[str, str] | None
) -> None:
    assert article_of(parse(url)) == article
    assert WIKIPEDIA.matches(parse(url)) == (article is not None)


async def test_an_article_reads_as_markdown_with_infobox_tables_code_and_formulas() -> None:
    api = FakeApi({f"{REST}/Timsort": SORTING})
    page = await api.load(WIKIPEDIA, URL)
    document = extract(page, ExtractOptions())
    for piece in (
        "# Timsort\n",
        "| Class | Sorting algorithm |",
        r"| Worst-case performance | $`O(n\log n)`$[1] |",
        "is a [hybrid](https://en.wikipedia.org/wiki/Hybrid_algorithm)",
        "*minrun* long, as Nobody said.",
        "```math\n|Z|>|Y|+|X|\n```",
        "```python\ndef minrun(n):\n    while n >= 64:\n        n >>= 1\n    return n\n```",
        "Elements are merged into a temporary array.",
        "## Popular use",
        "| Python | 2.3 |",
        "- Powersort",
        "https://mail.python.org/pipermail/python-dev/2002-July/026837.html",
    ):
        assert piece in document.text
    for word in ("edit", "citation needed", "Main article", "Authority", "For the village", "↑"):
        assert word not in document.text
    assert document.metadata.title == "Timsort"
    assert document.metadata.modified == "2026-10-02T08:41:13.000Z"
    assert document.metadata.language == "en"


async def test_a_redirect_is_answered_under_the_name_of_its_target() -> None:
    moved = Recorded(status=302, headers=(("location", "Timsort"),))
    api = FakeApi({f"{REST}/Tim_sort": moved, f"{REST}/Timsort": SORTING})
    page = await api.load(WIKIPEDIA, "https://en.wikipedia.org/wiki/Tim_sort")
    assert page.url == URL
    assert page.media_type == "text/html"


@pytest.mark.parametrize(
    "failure",
    [Recorded(status=500), PageTooLarge("Too large.", url=URL, limit_bytes=1)],
    ids=["broken", "too large"],
)
async def test_article_page_is_used_when_the_api_fails(
    failure: Recorded | Exception,
) -> None:
    page = (
        "<html><head><title>Timsort – Wikipedia</title></head><body><div>Menu</div>"
        '<div id="mw-content-text"><div class="mw-parser-output"><p>Stable.'
        '<sup class="reference"><a href="#cite_note-1">[1]</a></sup> <a href="#x">Below</a></p>'
        "</div></div></body></html>"
    )
    api = FakeApi({f"{REST}/Timsort": failure, URL: Recorded(page.encode())})
    body = (await api.load(WIKIPEDIA, URL)).body.decode()
    assert "<h1>Timsort</h1>" in body
    assert "<p>Stable. Below</p>" in body
    assert "Menu" not in body


async def test_an_unknown_article_is_left_to_the_page() -> None:
    api = FakeApi({})
    with pytest.raises(PageNotFound):
        await api.load(WIKIPEDIA, URL)
    assert api.paths == ["/api/rest_v1/page/html/Timsort"]


async def test_an_article_without_text_is_given_up() -> None:
    api = FakeApi({f"{REST}/Timsort": Recorded(b"<body><p> </p></body>")})
    with pytest.raises(NotLoaded):
        await api.load(WIKIPEDIA, URL)


async def test_another_address_is_given_up() -> None:
    with pytest.raises(NotLoaded):
        await FakeApi({}).load(WIKIPEDIA, "https://example.com/")


async def test_the_base_address_can_be_set_with_or_without_the_language() -> None:
    api = FakeApi({"https://mirror.example/de/api/rest_v1/page/html/AC%2FDC": SORTING})
    settings = LoaderSettings(base_urls={"WIKIPEDIA_URL": "https://mirror.example/{language}"})
    url = parse("https://de.wikipedia.org/wiki/AC/DC")
    page = await WIKIPEDIA.load(url, api.client(WIKIPEDIA, url, settings))
    assert page.url == "https://de.wikipedia.org/wiki/Timsort"


def test_markers_without_a_list_of_sources_are_removed() -> None:
    found = to_article('<body><p>A.<sup class="reference">[1]</sup></p></body>', "en", "A_b")
    assert found is not None
    assert (found.title, found.body) == ("A b", "<p>A.</p>")


def test_addresses_keep_what_titles_have() -> None:
    assert address("en", "AC/DC_(band)?") == "https://en.wikipedia.org/wiki/AC/DC_(band)%3F"


def test_code_without_a_language_and_a_page_without_a_body_do_no_harm() -> None:
    found = to_article('<body><div class="mw-highlight"><pre>x</pre></div></body>', "en", "A")
    assert found is not None
    assert found.body.strip() == "<pre>x</pre>"
    assert to_article("<frameset></frameset>", "en", "A") is None
