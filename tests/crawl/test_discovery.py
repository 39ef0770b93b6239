"""How the pages of a site are found."""

import gzip

import pytest

from kindly import urls
from kindly.crawl.discovery import Discovery, crawl_delay_s
from kindly.crawl.origin import OriginKind
from kindly.crawl.scope import SiteScope
from kindly.errors import PageNotFound
from kindly.models import Page
from kindly.urls import Url
from tests.support.stored_pages import NOON

pytestmark = pytest.mark.anyio

ROOT = "https://e.com"
START = f"{ROOT}/docs/"
FULL = f"# A\nSource: {START}a\n\nText.\n\n# B\nSource: {START}b\n\nText."
LIST = f"- [A]({START}a.md)\n- [B](b.md)\n- [X](https://x.example/)"


def sitemap(*paths: str) -> str:
    rows = (f"<url><loc>{ROOT}{path}</loc><lastmod>2026</lastmod></url>" for path in paths)
    return f"<urlset>{''.join(rows)}</urlset>"


def finder(files: dict[str, str | bytes], start: str = START) -> Discovery:
    async def get(url: Url) -> Page:
        body = files.get(url.target)
        if body is None:
            raise PageNotFound("No.", url=str(url))
        data = body if isinstance(body, bytes) else body.encode()
        return Page(str(url), str(url), 200, "text/plain", data, NOON)

    return Discovery(get, SiteScope(urls.parse(start)))


A_AND_B = [f"{START}a", f"{START}b"]


@pytest.mark.parametrize(
    ("files", "via", "expected"),
    [
        ({"/llms-full.txt": FULL, "/llms.txt": LIST}, "llms-full.txt", A_AND_B),
        ({"/docs/llms.txt": LIST}, "llms.txt", [f"{START}a.md", f"{START}b.md"]),
        (
            {"/llms.txt": "<html>", "/sitemap.xml": sitemap("/docs/a", "/docs/b", "/blog/c")},
            "sitemap",
            A_AND_B,
        ),
        (
            {"/llms.txt": "# Nothing", "/docs/sitemap.xml": sitemap("/docs/a", "/docs/b")},
            "sitemap",
            A_AND_B,
        ),
        (
            {
                "/robots.txt": f"Sitemap: {ROOT}/index.xml",
                "/index.xml": f"<sitemapindex><sitemap><loc>{ROOT}/s.xml.gz</loc></sitemap>"
                f"<sitemap><loc>{ROOT}/index.xml</loc></sitemap></sitemapindex>",
                "/s.xml.gz": gzip.compress(sitemap("/docs/a", "/docs/b").encode()),
            },
            "sitemap",
            A_AND_B,
        ),
        ({"/sitemap.xml": sitemap("/blog/c", "/blog/d")}, "links", [START]),
        ({}, "links", [START]),
    ],
    ids=[
        "full text",
        "list",
        "sitemap",
        "sitemap of the path",
        "gzip from an index",
        "another path",
        "nothing",
    ],
)
async def test_the_first_list_with_pages_of_the_site_is_used(
    files: dict[str, str | bytes], via: str, expected: list[str]
) -> None:
    found = await finder(files).find()
    assert found.via == via
    urls_found = [task.url for task in found.tasks] + [page.url for page in found.full]
    assert urls_found == expected


async def test_dates_of_a_sitemap_are_kept() -> None:
    found = await finder({"/sitemap.xml": sitemap("/docs/a", "/docs/b")}).find()
    assert {task.lastmod for task in found.tasks} == {"2026"}


async def test_a_sitemap_can_be_the_origin() -> None:
    files: dict[str, str | bytes] = {"/docs/sitemap.xml": sitemap("/docs/a"), "/llms.txt": LIST}
    found = await finder(files, f"{START}sitemap.xml").find(OriginKind.SITEMAP)
    assert [task.url for task in found.tasks] == [f"{START}a"]


@pytest.mark.parametrize(
    ("robots", "expected"),
    [
        ("", 0.0),
        ("User-agent: *\nCrawl-delay: 0.5", 0.5),
        ("User-agent: *\nCrawl-delay: 9999", 30.0),
    ],
)
def test_a_site_may_ask_for_a_pace(robots: str, expected: float) -> None:
    assert crawl_delay_s(robots) == expected
