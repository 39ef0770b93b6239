"""Registered domains of addresses."""

import pytest

from kindly.text.domains import registered


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://www.imdb.com/title/", "imdb.com"),
        ("https://en.wikipedia.org/wiki/X", "wikipedia.org"),
        ("https://news.bbc.co.uk/1", "bbc.co.uk"),
        ("http://127.0.0.1:80/", "127.0.0.1"),
        ("http://[2001:db8::1]/", "2001:db8::1"),
        ("http://localhost/", "localhost"),
        ("nonsense", ""),
    ],
)
def test_domain_is_the_registered_one(url: str, expected: str) -> None:
    assert registered(url) == expected
