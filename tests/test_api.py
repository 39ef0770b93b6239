"""The Python API: the verbs without MCP."""

from pathlib import Path

import anyio
import pytest

import kindly
from kindly.errors import InputError, PageNotFound, SettingsError
from kindly.read.evidence.quotes import Verdict
from kindly.settings import Settings
from tests.support.docs_site import DocsSite
from tests.support.served_world import BOTH, GUIDE, QUESTION, environment, serper
from tests.support.site import Site, html

pytestmark = pytest.mark.anyio


@pytest.fixture
def settings(site: Site, tmp_path: Path) -> dict[str, str]:
    return environment(site, tmp_path, KINDLY_BROWSER="off", **BOTH)


async def test_a_program_searches_fetches_reads_and_recalls(
    site: Site, settings: dict[str, str]
) -> None:
    url = site.add("/guide", html(f"<title>Guide</title>{GUIDE}"))
    site.add("/serper/search", serper([url]))
    with anyio.fail_after(120):
        async with kindly.open(settings) as web:
            found = await web.search("frobnicator", count=1)
            page = await web.fetch(url, format="text")
            answer = await web.read(url, QUESTION, "What is the capital of France?")
            (known,) = await web.recall(QUESTION)
    assert [hit.url for hit in found.hits.hits] == [url]
    assert found.sources[0].document is not None
    assert page.metadata.title == "Guide"
    assert "4096 widgets" in answer.findings[0].citations[0].passage.text
    assert [finding.answered for finding in answer.findings] == [True, False]
    assert known.citations[0].page.url == url
    assert site.count("/guide") == 1


async def test_a_search_without_pages_fetches_none_and_passes_its_filters(
    site: Site, settings: dict[str, str]
) -> None:
    url = site.add("/guide", html(GUIDE))
    site.add("/serper/search", serper([url]))
    async with kindly.open(Settings.load(settings)) as web:
        found = await web.search("frobnicator", pages=False, time_range="week")
    assert found.sources == ()
    assert found.hits.query.time_range == "week"
    assert site.count("/guide") == 0


async def test_a_program_indexes_compares_and_quotes(site: Site, settings: dict[str, str]) -> None:
    docs = DocsSite(site, 2)
    with anyio.fail_after(120):
        async with kindly.open(settings) as web:
            made = await web.index(docs.start, "docs")
            first = await web.changes("docs")
            quoted = await web.verify("Page 1 is about widget 1", docs.addresses[1])
            docs.change(1)
            changed = await web.changes("docs", refresh=True)
            page = await web.changes(docs.addresses[1])
            anywhere = await web.verify("Page 1 is about widget 1, revision 0")
            (listed,) = await web.collections()
    assert (made.pages, listed.collection.id) == (3, "docs")
    assert (quoted.verdict, anywhere.verdict) == (Verdict.EXACT, Verdict.ALTERED)
    assert first.pages == ()
    assert [one.page.url for one in changed.pages] == [docs.addresses[1]]
    assert [one.changes for one in page.pages] == [one.changes for one in changed.pages]


async def test_a_refresh_of_pages_without_a_version_reports_only_what_changed(
    site: Site, settings: dict[str, str]
) -> None:
    link = '<a href="p1">p1</a>'
    for path, text in (("/docs/", f"Welcome to these pages. {link}"), ("/docs/p1", "About p1.")):
        site.add(path, html(f"<title>{path}</title><main><h1>{path}</h1><p>{text}</p></main>"))
    with anyio.fail_after(120):
        async with kindly.open(settings) as web:
            await web.index(site.url("/docs/"), "docs")
            changed = await web.changes("docs", refresh=True)
    assert (changed.pages, changed.new, changed.checked) == ((), (), 2)


async def test_errors_reach_the_caller_unwrapped(site: Site, settings: dict[str, str]) -> None:
    with pytest.raises(PageNotFound):
        async with kindly.open(settings) as web:
            await web.fetch(site.url("/status/404"))
    with pytest.raises(InputError):
        async with kindly.open(settings) as web:
            await web.read("file:///etc/passwd", "What is in it?")
    with pytest.raises(ZeroDivisionError):
        async with kindly.open(settings):
            _ = 1 // 0
    with pytest.raises(SettingsError, match="KINDLY_NOPE"):
        async with kindly.open({"KINDLY_NOPE": "1"}):
            pass
