import pytest
from turbohtml import parse

from kindly.extract.metadata import read_metadata
from kindly.models import Metadata
from tests.support.html_pages import SAMPLES, read


def metadata(head: str, body: str = "<p>Some words to read.</p>", lang: str = "") -> Metadata:
    return read(
        f"<html lang='{lang}'><head>{head}</head><body><main>{body}</main></body></html>"
    ).metadata


def test_article_with_all_metadata() -> None:
    assert read((SAMPLES / "article.html").read_bytes()).metadata == Metadata(
        title="Why the ferry was late",
        description="A short history of one long delay.",
        author="Ada Quay, Ben Pier",
        published="2025-03-04T05:06:07Z",
        modified="2025-03-05",
        site="The Harbour Gazette",
        language="en-GB",
        canonical="https://site.example/news/ferry",
    )


def test_page_without_metadata() -> None:
    assert metadata("") == Metadata()


@pytest.mark.parametrize(
    ("head", "body", "title"),
    [
        ("<meta property='og:title' content='A'><title>B</title>", "<h1>C</h1>", "A"),
        ("<title> B \n b </title>", "<h1>C</h1>", "B b"),
        ("", "<h1>C</h1>", "C"),
        ("<meta property='og:title' content=' '><title>B\u200b</title>", "<h1>C</h1>", "B"),
        (f"<title>{'x' * 600}</title>", "", "x" * 499 + "…"),
    ],
)
def test_title_is_read_from_the_best_source(head: str, body: str, title: str) -> None:
    assert metadata(head, body + "<p>Some words.</p>").title == title


@pytest.mark.parametrize(
    ("head", "body", "author"),
    [
        ("<meta name=author content='Ann'>", "", "Ann"),
        ("<meta property='article:author' content='https://x.example/ann'>", "", None),
        ("", "<a rel=author href=/>Bo</a>", "Bo"),
        ('<script type="application/ld+json">{"@graph":[{"author":"Cy"}]}</script>', "", "Cy"),
        ('<script type="application/ld+json">{"author":{"name":7}}</script>', "", None),
        ('<script type="application/ld+json">{"author":</script>', "", None),
    ],
)
def test_author(head: str, body: str, author: str | None) -> None:
    assert metadata(head, f"<p>Some words to read. {body}</p>").author == author


@pytest.mark.parametrize(
    ("head", "body", "published"),
    [
        ("<meta property='article:published_time' content='2024-01-02'>", "", "2024-01-02"),
        ("<meta name=date content='soon'>", "<time datetime='2024-02-03'>x</time>", "2024-02-03"),
        ("", "<span itemprop=datePublished content='2024-03-04'></span>", "2024-03-04"),
        ("", "<time>yesterday</time>", None),
    ],
)
def test_published(head: str, body: str, published: str | None) -> None:
    assert metadata(head, f"<p>Some words to read. {body}</p>").published == published


@pytest.mark.parametrize(
    ("head", "lang", "language"),
    [
        ("", "de", "de"),
        ("<meta property='og:locale' content='pt_BR'>", "", "pt-BR"),
        ("", "not a language", None),
    ],
)
def test_language(head: str, lang: str, language: str | None) -> None:
    assert metadata(head, lang=lang).language == language


@pytest.mark.parametrize(
    ("head", "canonical"),
    [
        ("<link rel=canonical href='../a?b=1'>", "https://site.example/a?b=1"),
        ("<link rel=canonical href='http://[bad'><meta property='og:url' content='https://o.example/'>", "https://o.example/"),
        ("<link rel=canonical href='javascript:x'>", None),
    ],
)  # fmt: skip
def test_canonical(head: str, canonical: str | None) -> None:
    assert metadata(head).canonical == canonical


def test_huge_json_ld_is_read_up_to_the_limit() -> None:
    objects = ",".join("{}" for _ in range(5_000))
    assert (
        metadata(
            f'<script type="application/ld+json">[{objects},{{"author":"Late"}}]</script>'
        ).author
        is None
    )


def test_each_field_has_its_source() -> None:
    head = (
        "<title>T</title><meta property='article:modified_time' content='2024-02-02'>"
        '<script type="application/ld+json">{"@graph":[{"@type":"WebSite","datePublished":"1999-01-01"},'
        '{"@type":"NewsArticle","datePublished":"2024-01-01","author":[{"@id":"#p"}],"inLanguage":"fr"},'
        '{"@type":"Person","@id":"#p","name":["Ada Quay"]}]}</script>'
    )
    found = metadata(head)
    assert (found.published, found.modified, found.author) == (
        "2024-01-01",
        "2024-02-02",
        "Ada Quay",
    )
    assert found.sources == {
        "title": "title",
        "author": "json-ld",
        "published": "json-ld",
        "modified": "open graph",
        "language": "json-ld",
    }


@pytest.mark.parametrize(
    ("byline", "author"),
    [
        ("By Ann Writer | May 3, 2024", "Ann Writer"),
        ("Written byDan Quay", "Dan Quay"),
        ("Author: Jo", "Jo"),
        ("By the editors of the morning paper and many of their friends", None),
        ("", None),
    ],
)
def test_author_is_read_from_a_byline(byline: str, author: str | None) -> None:
    found = metadata("", f"<p>Some words.</p><p class=byline>{byline}</p>")
    assert (found.author, found.sources.get("author")) == (author, "byline" if author else None)


@pytest.mark.parametrize(
    ("url", "published"),
    [
        ("https://site.example/2024/05/17/tides", "2024-05-17"),
        ("https://site.example/blog/2024/5/tides", "2024-05"),
        ("https://site.example/2024/99/tides", None),
        ("https://site.example/v2024/05", None),
        ("http://[bad", None),
    ],
)
def test_date_in_the_url_is_the_last_resort(url: str, published: str | None) -> None:
    found = read_metadata(parse("<p>words</p>"), url)
    assert (found.published, found.structured) == (published, {})
