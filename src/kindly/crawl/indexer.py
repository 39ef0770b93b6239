"""Indexing: an origin → a collection, its pages found and crawled; resumed after a crash; refreshed on request."""

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import field, replace
from typing import Protocol

from kindly import urls
from kindly.budget import Deadline
from kindly.clock import SYSTEM_CLOCK, Clock
from kindly.crawl.crawler import Crawler, CrawlLimits, Fetch, Keeps
from kindly.crawl.discovery import Discovered, Discovery, crawl_delay_s
from kindly.crawl.files import open_tree
from kindly.crawl.origin import Origin, OriginKind, chosen_name, parse_origin
from kindly.crawl.packages import REGISTRIES, metadata_url, package_docs
from kindly.crawl.page_sources import FetchesChanges, FullTextSource, TreeSource, WebSource
from kindly.crawl.scope import LeftOut, SiteScope, allowed, in_words
from kindly.errors import FetchError, InputError
from kindly.frozen import frozen
from kindly.models import Page
from kindly.read.crawls.collection import (
    Collection,
    CollectionState,
    CollectionStatus,
    CrawlRules,
    PageTask,
    TaskState,
)
from kindly.stages import Progress, Stages, ignore_progress
from kindly.urls import Url

FILE_S = 60.0
"""For one file of discovery, such as a sitemap."""
PUBLIC_INTERVAL_S = 0.1
"""Between two requests to a public host: the pace of the fetch chain."""
PATIENCE_S = 15.0
"""How long a page may wait for its turn; slower sites get fewer workers."""
BATCH = 1_000
OTHER_VERSION = "The site offers one version only, which may be another than {version}."
ONLY_PAGE = "No documentation site is named; only the page of the package was read."


@frozen
class Plan:
    """What is about to be crawled."""

    collection: Collection
    pages: int
    seconds: float
    """How long it takes at least, at the pace of the site."""


Announce = Callable[[Plan], Awaitable[None]]


async def say_nothing(plan: Plan) -> None:
    """An `Announce` without effect."""


class FetchesFiles(FetchesChanges, Protocol):
    """The fetcher, as indexing uses it."""

    async def fetch(self, url: Url, deadline: Deadline, *, force_refresh: bool = False) -> Page: ...


@frozen
class IndexerSettings:
    """How this program indexes."""

    registries: Mapping[str, str] = field(default_factory=dict)
    """Base addresses of package registries, by setting."""
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    is_shared: bool = False
    """Whether several machines may crawl the same collections."""
    is_opened: Callable[[Url], bool] = lambda url: False
    """Whether a host has no pace of its own, because the user opened it."""
    limits: CrawlLimits = field(default_factory=CrawlLimits)


@frozen
class _Work:
    """A collection that is ready to be crawled."""

    collection: Collection
    fetch: Fetch
    tasks: Sequence[PageTask]
    scope: SiteScope | None = None
    delay_s: float = 0.0


class Indexer:
    """Makes collections."""

    def __init__(
        self,
        stages: Stages,
        fetcher: FetchesFiles,
        open_library: Callable[[], Awaitable[Keeps]],
        settings: IndexerSettings = IndexerSettings(),  # noqa: B008 - frozen
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._stages = stages
        self._fetcher = fetcher
        self._open_library = open_library
        self._settings = settings
        self._clock = clock

    async def begin(
        self,
        text: str,
        name: str = "",
        rules: CrawlRules = CrawlRules(),  # noqa: B008 - frozen
        *,
        allow_local: bool = False,
    ) -> CollectionStatus:
        """The collection of an origin; it is created, with nothing in it, if it does not exist.

        Raises:
            InputError: the origin or the name is wrong, or the name belongs to another origin.
            FetchError: the first page, or the metadata of a package, cannot be fetched.
            StoreUnavailable: the library cannot be used.
        """
        origin = parse_origin(text)
        if origin.is_local and not allow_local:
            raise InputError(
                "Folders and repositories are indexed from the command line only: `kindly index`.",
                field="url",
            )
        crawls = (await self._open_library()).store.crawls
        chosen, version = chosen_name(origin, name)
        start, note = origin.place, ""
        if origin.kind in REGISTRIES:
            start, version, note = await self._package(origin)
        elif origin.kind is OriginKind.SITE:
            start = await self._resolved(start)
        new = Collection(
            chosen,
            origin.text,
            self._clock.now(),
            version,
            "" if origin.is_local else start,
            rules=rules,
            note=note,
        )
        known = await crawls.collection(new.id)
        if known is None:
            await crawls.save(new)
            return CollectionStatus(new)
        if known.collection.origin != origin.text:
            raise InputError(
                f"The collection {new.id} has another origin, {known.collection.origin}: choose another name.",
                field="name",
            )
        return known

    async def run(
        self,
        id_: str,
        progress: Progress = ignore_progress,
        announce: Announce = say_nothing,
        *,
        refresh: bool = False,
    ) -> CollectionStatus:
        """Crawl what is left of a collection; with `refresh`, ask for what changed. Returns its final state.

        Raises:
            InputError: there is no such collection, or its folder or repository is gone.
            FetchError: a site that is to be refreshed cannot be reached.
            ReadError: the library cannot be used.
        """
        library = await self._open_library()
        crawls = library.store.crawls
        known = await crawls.collection(id_)
        if known is None:
            raise InputError(f"There is no collection {id_}.", field="collection")
        async with self._opened(known, refresh=refresh) as work:
            left_out = await self._queue(library, work, refresh=refresh)
            status = await crawls.collection(id_) or known
            limits = self._limits(work)
            await announce(Plan(work.collection, status.left, self._seconds(work, status.left)))
            crawler = Crawler(library, work.collection, work.fetch, self._clock, work.scope, limits)
            await crawler.run(progress)
        refused = crawler.refused + (work.scope.refused if work.scope else Counter())
        if left_out:
            refused[LeftOut.PAGES] += left_out
        return await self._finished(library, work.collection, refused)

    async def known(self, text: str, name: str = "") -> CollectionStatus | None:
        """The collection of this id or name, or of this origin; None if there is none.

        With a `name`, only a collection of that name: an origin can have several.

        Raises:
            InputError: several versions have this name.
        """
        found = await self.collections()
        if name:
            found = [one for one in found if name in {one.collection.id, one.collection.name}]
        by_id = [one for one in found if text in {one.collection.id, one.collection.origin}]
        named = by_id or [one for one in found if one.collection.name == text]
        if len(named) > 1:
            versions = ", ".join(one.collection.id for one in named)
            raise InputError(f"{text} has several versions: {versions}.", field="collection")
        return named[0] if named else None

    async def collections(self) -> list[CollectionStatus]:
        """All collections, by name and version."""
        return await (await self._open_library()).store.crawls.collections()

    async def unfinished(self) -> list[Collection]:
        """The collections whose crawl was interrupted and can go on without the command line."""
        crawls = (await self._open_library()).store.crawls
        return [
            one.collection
            for one in await crawls.collections()
            if is_unfinished(one) and not parse_origin(one.collection.origin).is_local
        ]

    async def forget(self, id_: str) -> int:
        """Delete a collection with its pages; return how many pages there were.

        Raises:
            InputError: there is no such collection.
        """
        store = (await self._open_library()).store
        if not await store.crawls.drop(id_):
            raise InputError(f"There is no collection {id_}.", field="collection")
        return await store.forget_collection(id_)

    @asynccontextmanager
    async def _opened(self, known: CollectionStatus, *, refresh: bool) -> AsyncIterator[_Work]:
        """What is to be crawled, and where from."""
        collection = known.collection
        origin = parse_origin(collection.origin)
        if not origin.is_local:
            yield await self._site_work(known, origin, refresh=refresh)
            return
        async with open_tree(origin, self._settings.environ) as tree:
            source = TreeSource(self._stages, tree, self._clock)
            paths = {one: f"/{one.removeprefix(tree.base)}" for one in tree.addresses()}
            rules = collection.rules
            tasks = [PageTask(one) for one, path in paths.items() if allowed(path, rules)]
            yield _Work(replace(collection, via="files", start=tree.base), source.fetch, tasks)

    async def _site_work(self, known: CollectionStatus, origin: Origin, *, refresh: bool) -> _Work:
        collection = known.collection
        scope = SiteScope(urls.parse(collection.start), collection.rules)
        discovery = Discovery(self._getter(refresh=refresh), scope)
        delay_s = crawl_delay_s(await discovery.robots())
        found = Discovered(collection.via)
        is_new = collection.state is CollectionState.DISCOVERING
        if is_new or refresh or collection.via == "llms-full.txt":
            found = await self._discovered(collection, discovery, origin)
        collection = replace(collection, via=found.via)
        if found.full:
            pages = {one.url: one for one in found.full}
            text = FullTextSource(self._stages, pages, self._clock)
            return _Work(collection, text.fetch, [PageTask(one) for one in pages])
        web = self._web_source(await self._open_library(), delay_s, refresh=refresh)
        return _Work(collection, web.fetch, found.tasks, scope, delay_s)

    async def _discovered(
        self, collection: Collection, discovery: Discovery, origin: Origin
    ) -> Discovered:
        if ONLY_PAGE in collection.note:
            return Discovered("readme", (PageTask(collection.start),))
        return await discovery.find(origin.kind)

    def _web_source(self, library: Keeps, delay_s: float, *, refresh: bool) -> WebSource:
        def interval_s(url: Url) -> float:
            return max(delay_s, 0.0 if self._settings.is_opened(url) else PUBLIC_INTERVAL_S)

        shared = library.store.crawls if self._settings.is_shared else None
        return WebSource(
            self._stages, self._fetcher, self._clock, interval_s, shared, refresh=refresh
        )

    async def _queue(self, library: Keeps, work: _Work, *, refresh: bool) -> int:
        """Queue the pages that were found; return how many were beyond the limit."""
        crawls, collection = library.store.crawls, work.collection
        id_, most = collection.id, collection.rules.max_pages
        if refresh:
            unchanged = await self._unchanged(library, work)
            await crawls.restart(id_)
            await crawls.settle(id_, unchanged)
        left_out = 0
        for first in range(0, len(work.tasks), BATCH):
            added = await crawls.add(id_, work.tasks[first : first + BATCH], most)
            left_out += added.left_out
        await crawls.save(replace(collection, state=CollectionState.CRAWLING))
        return left_out

    async def _unchanged(self, library: Keeps, work: _Work) -> list[PageTask]:
        """Pages that are stored and that the sitemap dates as before."""
        dates = {task.url: task.lastmod for task in work.tasks if task.lastmod}
        unchanged: list[PageTask] = []
        changed: list[PageTask] = []
        after = ""
        while tasks := await library.store.crawls.tasks(work.collection.id, after=after):
            after = tasks[-1].url
            for task in tasks:
                if task.state is not TaskState.DONE or task.url not in dates:
                    continue
                if task.lastmod == dates[task.url]:
                    unchanged.append(task)
                else:
                    changed.append(replace(task, lastmod=dates[task.url]))
        await library.store.crawls.settle(work.collection.id, changed)
        return unchanged

    async def _finished(
        self, library: Keeps, collection: Collection, refused: Counter[str]
    ) -> CollectionStatus:
        """Save that a crawl ended, and why it has no more pages than it has."""
        crawls = library.store.crawls
        status = await crawls.collection(collection.id)
        if status is None:  # forgotten meanwhile
            await library.store.forget_collection(collection.id)
            return CollectionStatus(collection)
        reasons: Counter[str] = Counter()
        after = ""
        while tasks := await crawls.tasks(collection.id, after=after):
            after = tasks[-1].url
            reasons.update(one.reason for one in tasks if one.state is TaskState.FAILED)
        failed = Counter({f"pages with status {reason}": n for reason, n in reasons.items()})
        kept = collection.note.partition("Left out:")[0].strip()
        note = " ".join(filter(None, (kept, in_words(refused + failed))))
        done = replace(
            collection, state=CollectionState.READY, checked_at=self._clock.now(), note=note
        )
        await crawls.save(done)
        return replace(status, collection=done)

    def _limits(self, work: _Work) -> CrawlLimits:
        limits = self._settings.limits
        if not work.delay_s:
            return limits
        most = max(1, int(PATIENCE_S / work.delay_s))
        return replace(limits, fetchers=min(limits.fetchers, most))

    def _seconds(self, work: _Work, pages: int) -> float:
        if work.scope is None:
            return 0.0
        opened = self._settings.is_opened(work.scope.start)
        return pages * max(work.delay_s, 0.0 if opened else PUBLIC_INTERVAL_S)

    def _getter(self, *, refresh: bool) -> Callable[[Url], Awaitable[Page]]:
        async def get(url: Url) -> Page:
            return await self._fetcher.fetch(url, Deadline.after(FILE_S), force_refresh=refresh)

        return get

    async def _resolved(self, address: str) -> str:
        """The address of the first page after redirects, if they leave the path that was asked for."""
        page = await self._getter(refresh=False)(urls.parse(address))
        scope = SiteScope(urls.parse(address))
        return address if scope.contains(urls.parse(page.url)) else page.url

    async def _package(self, origin: Origin) -> tuple[str, str, str]:
        """The documentation of a package: its address, the version, and a note if it may be another version."""
        setting, default = REGISTRIES[origin.kind]
        base = self._settings.registries.get(setting) or default
        get = self._getter(refresh=False)
        page = await get(urls.parse(metadata_url(origin, base)))
        docs = package_docs(origin, page.body)
        for number, address in enumerate(docs.urls, start=1):
            try:
                found = await get(urls.parse(address))
            except (FetchError, InputError):
                continue
            is_last = number == len(docs.urls)
            note = OTHER_VERSION.format(version=docs.version) if is_last else ""
            return found.url, docs.version, note
        return docs.page, docs.version, ONLY_PAGE


def is_unfinished(status: CollectionStatus) -> bool:
    """Whether pages of a collection are still to be found or fetched."""
    return status.collection.state is not CollectionState.READY or bool(status.left)
