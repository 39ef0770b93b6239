"""Metadata of packages → the address of their documentation."""

import json

import pytest

from kindly.crawl.origin import parse_origin
from kindly.crawl.packages import metadata_url, package_docs, versioned
from kindly.errors import InputError

PYPI, NPM = parse_origin("pypi:thing@1.2.3"), parse_origin("npm:@org/thing@2.0.0")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pypi:thing@1.2.3", "https://r.example/pypi/thing/1.2.3/json"),
        ("pypi:thing", "https://r.example/pypi/thing/json"),
        ("npm:@org/thing@2.0.0", "https://r.example/@org%2Fthing/2.0.0"),
        ("npm:thing", "https://r.example/thing/latest"),
    ],
)
def test_metadata_is_asked_for_at_the_version(text: str, expected: str) -> None:
    assert metadata_url(parse_origin(text), "https://r.example/") == expected


@pytest.mark.parametrize(
    ("info", "last"),
    [
        ({"project_urls": {"Documentation": "https://thing.example/"}}, "https://thing.example/"),
        (
            {"project_urls": {"Docs": "https://a.example/", "Homepage": "https://b.example/"}},
            "https://a.example/",
        ),
        ({"project_urls": {"Homepage": "https://b.example/"}}, "https://b.example/"),
        ({"project_urls": None, "home_page": "https://c.example/"}, "https://c.example/"),
        ({"project_urls": {"Homepage": "https://github.com/o/thing"}}, None),
        ({"project_urls": {"Documentation": "not an address"}}, None),
    ],
)
def test_the_documentation_is_where_the_project_says(
    info: dict[str, object], last: str | None
) -> None:
    docs = package_docs(PYPI, json.dumps({"info": {"version": "1.2.3", **info}}).encode())
    assert (docs.urls[-1] if docs.urls else None) == last
    assert docs.page == "https://pypi.org/project/thing/1.2.3/"


def test_an_npm_package_has_a_homepage() -> None:
    body = json.dumps({"version": "2.0.0", "homepage": "https://thing.example/"}).encode()
    assert package_docs(NPM, body).urls == ("https://thing.example/",)


@pytest.mark.parametrize(
    ("address", "first"),
    [
        ("https://thing.readthedocs.io/en/latest/", "https://thing.readthedocs.io/en/1.2.3/"),
        ("https://thing.readthedocs.io", "https://thing.readthedocs.io/en/1.2.3/"),
        ("https://docs.example/stable/guide/", "https://docs.example/1.2.3/guide/"),
        ("https://docs.example/", "https://docs.example/"),
    ],
)
def test_a_site_with_versions_is_asked_for_this_one_first(address: str, first: str) -> None:
    found = versioned(address, "1.2.3")
    assert (found[0], found[-1]) == (first, address)


@pytest.mark.parametrize("body", [b"", b"[]", b'{"info": {}}'])
def test_broken_metadata_is_reported(body: bytes) -> None:
    with pytest.raises(InputError, match="thing"):
        package_docs(PYPI, body)
