import pytest

from kindly.models import Metadata
from tests.extract.pages import SAMPLES, read


def metadata(head: str, body: str = "<p>Some words to read.</p>", lang: str = "") -> Metadata:
    return read(
        f"<html lang='{lang}'><head>{head}</head><body><main>{body}</main></body></html>"
    ).metadata


def test_article_says_everything_of_itself() -> None:
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


def test_page_that_says_nothing_has_empty_metadata() -> None:
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
def test_title_comes_from_the_best_place(head: str, body: str, title: str) -> None:
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


def test_huge_json_ld_is_read_only_so_far() -> None:
    objects = ",".join("{}" for _ in range(5_000))
    assert (
        metadata(
            f'<script type="application/ld+json">[{objects},{{"author":"Late"}}]</script>'
        ).author
        is None
    )
