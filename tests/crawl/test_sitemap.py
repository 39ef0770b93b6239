"""Sitemaps in all their forms."""

import gzip

import pytest

from kindly.crawl.sitemap import named_in_robots, read_sitemap

XML = b"""<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc> https://e.com/a?x=1&amp;y=2 </loc><lastmod>2026-01-02</lastmod></url>
<url><loc><![CDATA[https://e.com/b]]></loc></url><url><priority>1</priority></url></urlset>"""
PAGES = {"https://e.com/a?x=1&y=2": "2026-01-02", "https://e.com/b": ""}


@pytest.mark.parametrize("body", [XML, gzip.compress(XML)], ids=["plain", "gzip"])
def test_pages_come_with_their_dates(body: bytes) -> None:
    assert read_sitemap(body).pages == PAGES


def test_a_truncated_file_gives_what_it_has() -> None:
    assert list(read_sitemap(XML[: XML.index(b"CDATA")]).pages) == ["https://e.com/a?x=1&y=2"]


def test_an_index_names_further_sitemaps() -> None:
    body = b"<sitemapindex><sitemap><loc>https://e.com/s1.xml</loc></sitemap></sitemapindex>"
    found = read_sitemap(body)
    assert (found.pages, found.sitemaps) == ({}, ("https://e.com/s1.xml",))


def test_a_text_file_lists_addresses() -> None:
    assert list(read_sitemap(b"https://e.com/a\n\nhttps://e.com/b\n").pages) == [
        "https://e.com/a",
        "https://e.com/b",
    ]


@pytest.mark.parametrize("body", [b"", b"<html><body>404</body></html>", b"\x1f\x8bbroken"])
def test_what_is_no_sitemap_lists_nothing(body: bytes) -> None:
    assert read_sitemap(body).pages == {}


def test_entities_are_not_expanded() -> None:
    body = b'<!DOCTYPE x [<!ENTITY a "https://evil.example/">]><urlset><url><loc>&a;</loc></url></urlset>'
    assert list(read_sitemap(body).pages) == ["&a;"]


def test_robots_may_name_sitemaps() -> None:
    robots = "User-agent: *\nDisallow:\nSitemap: https://e.com/a.xml\nsitemap:https://e.com/b.xml"
    assert named_in_robots(robots) == ["https://e.com/a.xml", "https://e.com/b.xml"]
