"""Indexing with the real engine: a site on loopback, a folder, packages; resumed, refreshed, forgotten."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from kindly import pipeline
from kindly.app import App, open_app
from kindly.crawl.indexer import Indexer, Plan, is_unfinished
from kindly.crawl.page_checks import library_of
from kindly.crawl.scope import MAX_DATED
from kindly.errors import FetchError, InputError
from kindly.read.crawls.collection import CollectionState, CrawlRules, PageTask, TaskState
from kindly.settings import Settings
from tests.support.docs_site import DocsSite
from tests.support.served_world import as_json
from tests.support.site import Answer, Site, SiteRequest, html, redirect, running_site, text

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


@asynccontextmanager
async def opened(site: Site, folder: Path, **more: str) -> AsyncIterator[tuple[App, Indexer]]:
    """The engine, with the site opened to it."""
    environ = {"DATA_DIR": str(folder), "KINDLY_ALLOW_PRIVATE": site.host, "KINDLY_BROWSER": "off"}
    settings = Settings.load({"KINDLY_CONFIG": os.devnull, **environ, **more})
    with anyio.fail_after(300):
        async with open_app(settings) as app:
            assert app.open_indexer is not None
            yield app, app.open_indexer()


async def test_a_site_is_indexed_and_answers(tmp_path: Path) -> None:
    plans: list[Plan] = []

    async def announce(plan: Plan) -> None:
        plans.append(plan)

    async with running_site() as site, opened(site, tmp_path) as (app, indexer):
        docs = DocsSite(site)
        begun = await indexer.begin(docs.start, "docs@1.0")
        assert is_unfinished(begun)
        status = await indexer.run("docs@1.0", announce=announce)
        assert (status.collection.via, status.collection.state) == ("links", CollectionState.READY)
        assert (status.pages, status.tasks) == (6, {TaskState.DONE: 6})
        assert set(docs.bodies.values()) == {1}
        assert plans[0].pages == 1
        (finding,) = await pipeline.recall(app.stages, ["What is widget 3 about?"])
        best = finding.citations[0].page
        assert (best.url, best.collection) == (site.url("/docs/p3"), "docs@1.0")
        assert not await indexer.unfinished()


async def test_a_refresh_downloads_only_what_changed(tmp_path: Path) -> None:
    async with running_site() as site, opened(site, tmp_path) as (app, indexer):
        docs = DocsSite(site, 8)
        await indexer.begin(docs.start, "docs")
        await indexer.run("docs")
        docs.change(1, 4, 6)
        docs.bodies.clear()
        await indexer.run("docs", refresh=True)
        assert docs.bodies == {f"/docs/p{n}": 1 for n in (1, 4, 6)}
        (finding,) = await pipeline.recall(app.stages, ["Page 4 is about widget 4, revision"])
        assert "revision 1" in finding.citations[0].passage.text


async def test_pages_with_the_same_date_in_the_sitemap_are_not_asked_for(tmp_path: Path) -> None:
    async with running_site() as site, opened(site, tmp_path) as (_, indexer):
        docs = DocsSite(site)
        site.add("/sitemap.xml", docs.sitemap())
        await indexer.begin(docs.start, "docs")
        status = await indexer.run("docs")
        assert (status.collection.via, status.pages) == ("sitemap", 5)
        docs.change(2)
        site.add("/sitemap.xml", docs.sitemap(p2="2026-02-02"))
        site.requests.clear()
        await indexer.run("docs", refresh=True)
        assert [request.path for request in site.requests if "/p" in request.path] == ["/docs/p2"]


async def test_a_full_text_is_indexed_from_one_file(tmp_path: Path) -> None:
    async with running_site() as site, opened(site, tmp_path) as (_, indexer):
        DocsSite(site)
        pages = "\n\n".join(
            f"# Part {n}\nSource: {site.url(f'/docs/part{n}')}\n\nPart {n} is about kettle {n}."
            for n in range(3)
        )
        site.add("/llms-full.txt", text(pages))
        await indexer.begin(site.url("/docs/"), "docs")
        status = await indexer.run("docs")
        assert (status.collection.via, status.pages) == ("llms-full.txt", 3)
        assert not any("/part" in request.path for request in site.requests)
        site.add("/llms-full.txt", text(pages.rpartition("# Part 2")[0]))
        status = await indexer.run("docs", refresh=True)
        assert status.pages == 2


async def calendar(request: SiteRequest, stream: object) -> Answer:
    """A month of a calendar without end; it links to the next ones."""
    year, month = map(int, request.path.rpartition("/")[2].split("-"))
    links = [f"{year + (month + n) // 12}-{(month + n) % 12 + 1:02}" for n in range(3)]
    anchors = "".join(f'<a href="/docs/cal/{one}">n</a>' for one in links)
    return html(f"<h1>{request.path}</h1><p>Nothing happens in this month.</p>{anchors}")


def add_calendar(site: Site) -> None:
    for year in range(2000, 2040):
        for month in range(1, 13):
            site.add(f"/docs/cal/{year}-{month:02}", calendar)


async def test_a_calendar_without_end_ends(tmp_path: Path) -> None:
    async with running_site() as site, opened(site, tmp_path) as (_, indexer):
        add_calendar(site)
        site.add("/docs/", html('<h1>Docs</h1><p>Welcome.</p><a href="cal/2000-01">c</a>'))
        await indexer.begin(site.url("/docs/"), "bad", CrawlRules(depth=100))
        status = await indexer.run("bad")
        assert status.pages == MAX_DATED + 1
        assert "pages of a calendar" in status.collection.note


async def test_a_hostile_site_ends_and_says_why(tmp_path: Path) -> None:
    robots = "User-agent: *\nDisallow: /docs/secret"
    async with running_site(robots) as site, opened(site, tmp_path) as (app, indexer):
        add_calendar(site)
        many = "".join(f'<a href="/docs/many/{n}">n</a>' for n in range(100_000))
        names = ("cal/2000-01", "secret", "out", "large", "many/")
        start = "".join(f'<a href="{name}">{name}</a>' for name in names)
        site.add("/docs/large", html("<h1>Large</h1>" + "<p>Another line of text.</p>" * 400_000))
        session = '<a href="/docs/same?sid=%d">s</a>'
        site.add("/docs/", html(f"<h1>Docs</h1><p>Welcome to these pages.</p>{start}{session % 1}"))
        site.add("/docs/same", html(f"<h1>Same</h1><p>Always the same.</p>{session % 2}"))
        site.add("/docs/many/", html(f"<h1>Many</h1><p>Many links follow.</p>{many}"))
        site.add("/docs/out", redirect(site.url("/article")))
        await indexer.begin(site.url("/docs/"), "bad", CrawlRules(max_pages=80, depth=8))
        status = await indexer.run("bad")
        assert status.collection.state is CollectionState.READY
        assert sum(status.tasks.values()) <= 80
        assert site.count("/docs/secret") == 0
        assert site.count("/docs/same") == 1
        note = status.collection.note
        for reason in (
            "links beyond the limit of one page",
            "pages beyond --max-pages",
            "pages with status robots",
            "pages with status redirects out of the collection",
        ):
            assert reason in note
        stored = await (await library_of(app.stages)).store.page(f"{site.url('/docs/large')}#bad")
        assert stored is not None
        assert stored.entry.cut
        assert stored.entry.total < 5_000_000


async def test_an_interrupted_crawl_goes_on(tmp_path: Path) -> None:
    async with running_site() as site:
        docs = DocsSite(site, 6)
        async with opened(site, tmp_path) as (app, indexer):
            begun = await indexer.begin(docs.start, "docs")
            library = await app.stages.library()
            crawls = library.store.crawls  # type: ignore[attr-defined]
            await crawls.save(
                replace(begun.collection, state=CollectionState.CRAWLING, via="links")
            )
            await crawls.add("docs", [PageTask(one, 1) for one in docs.addresses], 99)
            assert [one.id for one in await indexer.unfinished()] == ["docs"]
        async with opened(site, tmp_path) as (_, indexer):
            status = await indexer.run("docs")
            assert (status.pages, status.collection.state) == (6, CollectionState.READY)


async def test_a_folder_is_indexed_and_refreshed_by_its_bytes(tmp_path: Path) -> None:
    folder = tmp_path / "manual"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.md").write_text("# Kettle\n\nThe kettle sings at noon.")
    (folder / "sub" / "b.md").write_text("# Lamp\n\nThe lamp burns at night.")
    (folder / "draft.md").write_text("# Draft\n\nNot yet.")
    async with running_site() as site, opened(site, tmp_path / "data") as (app, indexer):
        with pytest.raises(InputError, match="command line"):
            await indexer.begin(str(folder))
        rules = CrawlRules(exclude=("draft*",))
        begun = await indexer.begin(str(folder), rules=rules, allow_local=True)
        status = await indexer.run(begun.collection.id)
        assert (status.collection.id, status.collection.via, status.pages) == ("manual", "files", 2)
        (folder / "sub" / "b.md").unlink()
        status = await indexer.run("manual", refresh=True)
        assert status.pages == 1
        assert not await indexer.unfinished()
        (finding,) = await pipeline.recall(app.stages, ["When does the kettle sing?"])
        assert finding.citations[0].page.url == (folder / "a.md").as_uri()


async def test_the_documentation_of_a_package_is_found_in_its_version(tmp_path: Path) -> None:
    async with (
        running_site() as site,
        opened(site, tmp_path, KINDLY_PYPI_URL=site.url("/registry")) as (_, indexer),
    ):
        DocsSite(site)
        stated = {"Documentation": site.url("/latest/")}
        info = {"info": {"version": "1.2.3", "project_urls": stated}}
        site.add("/registry/pypi/thing/1.2.3/json", as_json(info))
        newest = {"info": {"version": "2.0.0", "project_urls": stated}}
        site.add("/registry/pypi/thing/json", as_json(newest))
        site.add("/1.2/", html("<h1>Thing 1.2</h1><p>This is the manual of version 1.2.</p>"))
        begun = await indexer.begin("pypi:thing@1.2.3")
        assert (begun.collection.id, begun.collection.note) == ("thing@1.2.3", "")
        assert begun.collection.start == site.url("/1.2/")
        assert (await indexer.run("thing@1.2.3")).pages == 1
        site.add("/latest/", html("<h1>Thing</h1><p>This is the newest manual.</p>"))
        other = await indexer.begin("pypi:thing")
        assert other.collection.id == "thing@2.0.0"
        assert "may be another than 2.0.0" in other.collection.note


async def test_a_collection_is_forgotten_with_its_pages(tmp_path: Path) -> None:
    async with running_site() as site, opened(site, tmp_path) as (_, indexer):
        docs = DocsSite(site, 2)
        await indexer.begin(docs.start, "docs")
        await indexer.run("docs")
        assert await indexer.forget("docs") == 3
        for call in (indexer.forget("docs"), indexer.run("docs")):
            with pytest.raises(InputError, match="no collection docs"):
                await call


async def test_what_cannot_begin_is_reported(tmp_path: Path) -> None:
    async with running_site() as site, opened(site, tmp_path) as (_, indexer):
        docs = DocsSite(site, 2)
        await indexer.begin(docs.start, "docs")
        with pytest.raises(InputError, match="another origin"):
            await indexer.begin(site.url("/article"), "docs")
        with pytest.raises(FetchError):
            await indexer.begin(site.url("/status/500"))
        assert (await indexer.begin(docs.start, "docs")).collection.id == "docs"


async def test_an_origin_can_have_collections_of_several_names(tmp_path: Path) -> None:
    async with running_site() as site, opened(site, tmp_path) as (_, indexer):
        docs = DocsSite(site, 2)
        await indexer.begin(docs.start, "docs@1")
        assert await indexer.known(docs.start, "other") is None
        await indexer.begin(docs.start, "other")
        for name, id_ in (("docs", "docs@1"), ("docs@1", "docs@1"), ("other", "other")):
            found = await indexer.known(docs.start, name)
            assert found is not None
            assert found.collection.id == id_


async def test_a_start_that_moved_is_followed(tmp_path: Path) -> None:
    async with running_site() as site, opened(site, tmp_path) as (_, indexer):
        docs = DocsSite(site, 2)
        site.add("/old", redirect(docs.start))
        begun = await indexer.begin(site.url("/old"), "docs")
        assert begun.collection.start == docs.start
