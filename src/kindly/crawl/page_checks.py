"""Questions about stored pages: does one say a quote, and what changed in a page or a collection?

The stored page is asked first; nothing is downloaded unless it is missing or a refresh is requested.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Protocol

from kindly import pipeline, urls
from kindly.budget import Deadline
from kindly.clock import SYSTEM_CLOCK, Clock
from kindly.errors import InputError, StoreUnavailable
from kindly.extract import ExtractOptions
from kindly.frozen import frozen
from kindly.models import Document, Finding, RecallScope, StoredPageInfo
from kindly.read.evidence.page_versions import FormerVersion
from kindly.read.evidence.quotes import QuoteMatch, Verdict, check_quote
from kindly.read.evidence.section_changes import SectionChange, compare
from kindly.read.evidence.stored_text import page_text
from kindly.read.library import Library
from kindly.read.store import Store, StoredPage
from kindly.stages import Stages

SEARCHED_PAGES = 8
"""Pages of the library that a quote without an address is looked for in."""
MAX_PAGES = 50
"""Changed pages of a collection that are compared."""
BATCH = 500
STILL_REFRESHING = "The refresh goes on in the background: ask again without refresh for the rest."
BEST_FIRST = (Verdict.EXACT, Verdict.ALTERED, Verdict.NEAR, Verdict.ABSENT)


class Answers(Protocol):
    """What the checks need of the library."""

    store: Store

    async def settle(self, url: str | None = None) -> None: ...

    async def recall(
        self, questions: Sequence[str], limit: int, scope: RecallScope = ..., /
    ) -> tuple[Finding, ...]: ...


@frozen
class QuoteReport:
    """The verdict on a quote, and the place that decides it."""

    quote: str
    match: QuoteMatch
    page: StoredPageInfo | None = None
    former_at: datetime | None = None
    """When the version was fetched that still said it, if the quote was altered since."""

    @property
    def verdict(self) -> Verdict:
        """How the page relates to the quote."""
        return self.match.verdict


@frozen
class PageChanges:
    """What changed in one page."""

    page: StoredPageInfo
    before: datetime | None
    """When the version was fetched that it is compared with; None if no former version is kept."""
    changes: tuple[SectionChange, ...] = ()


@frozen
class ChangesReport:
    """What changed in a page or a collection."""

    target: str
    pages: tuple[PageChanges, ...]
    """Those that changed."""
    new: tuple[StoredPageInfo, ...] = ()
    """Pages of a collection that were fetched first since the date."""
    checked: int = 0
    note: str = ""


@frozen
class Refresh:
    """How a page and a collection are asked for again."""

    page: Callable[[str], Awaitable[Document]]
    collection: Callable[[str], Awaitable[bool]]
    """Returns whether the refresh has ended."""


def refresh_by(
    stages: Stages, deadline: Deadline, collection: Callable[[str], Awaitable[bool]]
) -> Refresh:
    """A refresh of pages through the pipeline, which also stores them."""

    async def page(url: str) -> Document:
        return await pipeline.fetch(stages, url, ExtractOptions(), deadline, force_refresh=True)

    return Refresh(page, collection)


async def library_of(stages: Stages) -> Library:
    """The library of stored pages.

    Raises:
        StoreUnavailable: there is none.
    """
    library = await stages.library()
    if not isinstance(library, Library):
        raise StoreUnavailable("This server has no library of read pages.")
    return library


async def verify(
    stages: Stages,
    library: Answers,
    quote: str,
    url: str,
    deadline: Deadline,
    *,
    refresh: bool = False,
) -> QuoteReport:
    """Whether a page says a quote; without an address, the pages of the library that are closest to it.

    Raises:
        FetchError, ExtractError: a page that is not stored, or is to be refreshed, cannot be read.
        ReadError: the library cannot be used.
    """
    if not url:
        return await _verify_anywhere(library, quote)
    address = str(urls.parse_page(url))
    if refresh or not await _keys_of(library, address):
        document = await pipeline.fetch(
            stages, address, ExtractOptions(), deadline, force_refresh=refresh
        )
        page = StoredPageInfo(
            address, document.metadata.title, document.fetched_at, document.content_hash, 0
        )
        report = QuoteReport(quote, check_quote(quote, document.text), page)
        former = await library.store.former(address)
        return _with_former(report, former)
    keys = await _keys_of(library, address)
    return _best([await _verify_stored(library, quote, key) for key in keys])


async def _verify_anywhere(library: Answers, quote: str) -> QuoteReport:
    (finding,) = await library.recall([quote], SEARCHED_PAGES)
    keys = dict.fromkeys(one.page.key for one in finding.citations)
    reports = [await _verify_stored(library, quote, key) for key in keys]
    return _best(reports) if reports else QuoteReport(quote, QuoteMatch(Verdict.ABSENT))


async def _verify_stored(library: Answers, quote: str, key: str) -> QuoteReport:
    stored = await library.store.page(key)
    if stored is None:
        return QuoteReport(quote, QuoteMatch(Verdict.ABSENT))
    report = QuoteReport(quote, check_quote(quote, page_text(stored.chunks)), stored.entry)
    if report.verdict is Verdict.EXACT:
        return report
    return _with_former(report, await library.store.former(key))


def _with_former(report: QuoteReport, former: Sequence[FormerVersion]) -> QuoteReport:
    """The report, or that a former version said it."""
    if report.verdict is Verdict.EXACT:
        return report
    for version in former:
        match = check_quote(report.quote, version.text)
        if match.verdict is Verdict.EXACT:
            altered = replace(match, verdict=Verdict.ALTERED, differences=report.match.differences)
            return replace(report, match=altered, former_at=version.crawled_at)
    return report


def _best(reports: Sequence[QuoteReport]) -> QuoteReport:
    return min(reports, key=lambda one: (BEST_FIRST.index(one.verdict), -one.match.score))


async def _keys_of(library: Answers, url: str) -> list[str]:
    """The keys under which an address is stored: alone, and in each collection that has it."""
    await library.settle(url)
    collections = [one.collection.id for one in await library.store.crawls.collections()]
    keys = [url, *(f"{url}#{id_}" for id_ in collections)]
    return list(await library.store.versions(keys))


async def changes(
    library: Answers,
    target: str,
    since: datetime | None,
    refresh: Refresh | None = None,
    clock: Clock = SYSTEM_CLOCK,
) -> ChangesReport:
    """What changed in a page or a collection since a date, or since the version before the current one.

    With `refresh`, it is asked for first, and compared with the version that was stored until now.

    Raises:
        InputError: neither a stored page nor a collection has this name.
        FetchError, ExtractError: what is to be refreshed cannot be read.
        ReadError: the library cannot be used.
    """
    if not target.startswith(("http://", "https://")):
        return await _collection_changes(library, target, since, refresh, clock)
    address = str(urls.parse_page(target))
    keys = await _keys_of(library, address)
    if not keys:
        raise InputError(
            f"{address} is not in the library: read it first, so that a later version can be compared.",
            field="target",
        )
    if refresh is not None:
        return await _changes_until_now(library, address, keys, since, refresh)
    found = [one for key in keys if (one := await _page_changes(library, key, since))]
    kept = [one for one in found if one.before is not None]
    first = min(one.page.crawled_at for one in found)
    note = "" if kept else f"No former version is kept; first read {first:%Y-%m-%d}."
    return ChangesReport(target, tuple(one for one in found if one.changes), (), len(found), note)


async def _changes_until_now(
    library: Answers, address: str, keys: Sequence[str], since: datetime | None, refresh: Refresh
) -> ChangesReport:
    """A page as it is now, compared with what is stored under each of its keys."""
    known = [(stored, await _versions(library, stored)) for stored in await _pages(library, keys)]
    document = await refresh.page(address)
    found = []
    for stored, versions in known:
        before = _version_at(versions, since)
        if before is not None:
            page = replace(
                stored.entry, title=document.metadata.title, crawled_at=document.fetched_at
            )
            changed = tuple(compare(before.text, document.text))
            found.append(PageChanges(page, before.crawled_at, changed))
    return ChangesReport(address, tuple(one for one in found if one.changes), (), len(found))


async def _pages(library: Answers, keys: Sequence[str]) -> list[StoredPage]:
    return [stored for key in keys if (stored := await library.store.page(key)) is not None]


async def _versions(library: Answers, stored: StoredPage) -> list[FormerVersion]:
    """The stored version and those before it, the newest first."""
    entry = stored.entry
    current = FormerVersion(entry.crawled_at, entry.content_hash, page_text(stored.chunks))
    return [current, *await library.store.former(entry.key)]


async def _collection_changes(
    library: Answers, name: str, since: datetime | None, refresh: Refresh | None, clock: Clock
) -> ChangesReport:
    statuses = await library.store.crawls.collections()
    known = [
        one.collection.id for one in statuses if name in {one.collection.id, one.collection.name}
    ]
    if not known:
        listed = ", ".join(one.collection.id for one in statuses) or "none"
        raise InputError(
            f"{name} is neither an address nor a collection. Collections: {listed}.", field="target"
        )
    notes: list[str] = []
    if refresh is not None:
        since = since or clock.now()
        ended = [await refresh.collection(id_) for id_ in known]
        notes += [] if all(ended) else [STILL_REFRESHING]
    changed: list[PageChanges] = []
    new: list[StoredPageInfo] = []
    checked = 0
    for id_ in known:
        async for entry in _entries(library.store, id_):
            checked += 1
            if since is not None and entry.crawled_at <= since:
                continue
            one = await _page_changes(library, entry.key, since)
            if one is not None and one.changes:
                changed.append(one)
            elif one is not None and one.before is None and since is not None:
                new.append(entry)
    if len(changed) > MAX_PAGES:
        notes.append(f"Only the first {MAX_PAGES} changed pages are shown.")
    return ChangesReport(name, tuple(changed[:MAX_PAGES]), tuple(new), checked, " ".join(notes))


async def _entries(store: Store, collection: str) -> AsyncIterator[StoredPageInfo]:
    offset = 0
    while entries := await store.entries(limit=BATCH, offset=offset, collection=collection):
        offset += len(entries)
        for entry in entries:
            yield entry


async def _page_changes(library: Answers, key: str, since: datetime | None) -> PageChanges | None:
    stored = await library.store.page(key)
    if stored is None:
        return None
    former = await library.store.former(key)
    before = _version_at(former, since)
    if since is not None and _current_since(stored, former) <= since:
        return PageChanges(stored.entry, stored.entry.crawled_at)
    if before is None:
        return PageChanges(stored.entry, None)
    found = compare(before.text, page_text(stored.chunks))
    return PageChanges(stored.entry, before.crawled_at, tuple(found))


def _current_since(stored: StoredPage, former: Sequence[FormerVersion]) -> datetime:
    """When the stored version was fetched first, as far as that is known: it may have been seen again later."""
    replaced_at = former[0].replaced_at if former else None
    return min(replaced_at or stored.entry.crawled_at, stored.entry.crawled_at)


def _version_at(former: Sequence[FormerVersion], since: datetime | None) -> FormerVersion | None:
    """The version that was current at a moment; the oldest one if all are newer; without a moment, the last one."""
    if not former or since is None:
        return former[0] if former else None
    was_current = (
        one
        for one, older in zip(former, [*former[1:], None], strict=True)
        if ((older and older.replaced_at) or one.crawled_at) <= since
    )
    return next(was_current, former[-1])
