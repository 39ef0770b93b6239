"""What can be indexed, and the name and version that it gets."""

from pathlib import Path

import pytest

from kindly.crawl.origin import Origin, OriginKind, chosen_name, named_by, parse_origin
from kindly.errors import InputError

SITE, GIT = OriginKind.SITE, OriginKind.GIT


@pytest.mark.parametrize(
    ("text", "kind", "place", "name", "version", "folder"),
    [
        ("pypi:fastapi@0.115", OriginKind.PYPI, "fastapi", "fastapi", "0.115", ""),
        ("npm:@vue/core@3.5.1", OriginKind.NPM, "@vue/core", "vue/core", "3.5.1", ""),
        ("npm:vite", OriginKind.NPM, "vite", "vite", "", ""),
        (
            "https://docs.example.com/en/2.1/intro.html?utm_source=x",
            SITE,
            "https://docs.example.com/en/2.1/intro.html",
            "docs.example.com",
            "2.1",
            "",
        ),
        (
            "https://e.com/sitemap.xml",
            OriginKind.SITEMAP,
            "https://e.com/sitemap.xml",
            "e.com",
            "",
            "",
        ),
        ("https://e.com/llms.txt", OriginKind.LLMS, "https://e.com/llms.txt", "e.com", "", ""),
        (
            "git+https://github.com/org/repo/docs/en@v2",
            GIT,
            "https://github.com/org/repo",
            "repo",
            "v2",
            "docs/en",
        ),
        ("git+file:///srv/a.git/docs", GIT, "file:///srv/a.git", "a", "", "docs"),
        ("git+file:///srv/a//docs", GIT, "file:///srv/a", "a", "", "docs"),
    ],
)
def test_an_origin_is_recognised(
    text: str, kind: OriginKind, place: str, name: str, version: str, folder: str
) -> None:
    assert parse_origin(text) == Origin(kind, text, place, name, version, folder)


def test_anything_else_is_a_folder(tmp_path: Path) -> None:
    origin = parse_origin(str(tmp_path / "my docs"))
    assert (origin.kind, origin.name, origin.is_local) == (OriginKind.FOLDER, "my-docs", True)


@pytest.mark.parametrize("text", ["", "ftp://e.com/", "pypi:", "git+ssh://e.com/x", "git+e.com"])
def test_what_cannot_be_indexed_is_refused_in_words(text: str) -> None:
    with pytest.raises(InputError) as refused:
        parse_origin(text)
    assert refused.value.field == "url"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://www.example.com/", ("example.com", "")),
        ("https://docs.example.com/v3/guide/", ("docs.example.com", "3")),
        ("https://example.com/product/docs/stable/", ("example.com/product", "")),
        ("http://127.0.0.1:8000/docs/", ("127.0.0.1-8000", "")),
    ],
)
def test_the_address_gives_name_and_version(url: str, expected: tuple[str, str]) -> None:
    assert named_by(url) == expected


def test_a_given_name_wins_and_the_version_of_the_origin_stays() -> None:
    origin = parse_origin("pypi:fastapi@0.115")
    assert chosen_name(origin, "") == ("fastapi", "0.115")
    assert chosen_name(origin, "api") == ("api", "0.115")
    assert chosen_name(origin, "api@1") == ("api", "1")
