import pytest

from kindly.extract.content.page_kind import Hints, read_hints

OPEN_GRAPH = '<meta property="og:type" content="article">'
JSON_LD = '<script>{"@type": ["NewsArticle"]}</script>'


@pytest.mark.parametrize(
    ("markup", "url", "hints"),
    [
        (
            OPEN_GRAPH + JSON_LD,
            "https://x.example/a/b?c=1",
            Hints("T", "/a/b?c=1", frozenset({"og:article", "newsarticle"})),
        ),
        ("", "https://x.example/a", Hints("T", "/a")),
        ("", "https://[bad", Hints("T")),
    ],
    ids=["declared-types", "nothing-declared", "invalid-url"],
)
def test_hints_come_from_structured_data_and_url(markup: str, url: str, hints: Hints) -> None:
    assert read_hints(markup, "T", url) == hints


@pytest.mark.parametrize(
    ("kinds", "article"),
    [
        ({"og:article"}, True),
        ({"website", "blogposting"}, True),
        ({"og:website"}, False),
        ((), False),
    ],
)
def test_page_is_an_article_if_it_declares_so(kinds: set[str], *, article: bool) -> None:
    assert Hints(kinds=frozenset(kinds)).is_article == article
