"""The pipeline from a question to an answer: one function per verb, then the private steps they share.

A query becomes hits, a hit a page, a page a document, a document passages. The stages are passed in (`kindly.stages`).
"""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial

import anyio

from kindly import urls
from kindly.answer import cursor_key, parse_cursor
from kindly.budget import Deadline, count_tokens, elapsed_ms
from kindly.concurrency.background_tasks import background_tasks
from kindly.errors import (
    CursorExpired,
    FetchError,
    InputError,
    KindlyError,
    PageUnreachable,
    ReadError,
    SearchError,
)
from kindly.extract import ExtractOptions
from kindly.models import (
    Document,
    FetchMethod,
    Finding,
    Hit,
    Hits,
    How,
    Metadata,
    Page,
    PageFindings,
    Passage,
    Query,
    RecallScope,
    Screenshot,
    SearchResults,
    Source,
    Step,
)
from kindly.page_loading import load
from kindly.read.evidence.stored_text import page_text
from kindly.read.file_excerpts import keep_or_hold, whole_instead
from kindly.read.store import StoredPage
from kindly.search.ranking.filters import is_in_time, without
from kindly.stages import Progress, Reads, Stages
from kindly.telemetry.trace import span
from kindly.text.relative_links import is_relative, targets_of
from kindly.urls import Url

RANKED_TOKENS = 1_500
"""A search ranks the passages of pages that are at least this long; shorter ones are shown whole."""
RANKED_PASSAGES = 40
MAX_TARGETS_SHOWN = 3
SNIPPET_CHARACTERS = 300
RENDER_MARGIN_S = 1.0
"""Kept back from a deadline, to render the answer from what is there by then."""


async def search(
    stages: Stages,
    query: Query,
    deadline: Deadline,
    progress: Progress,
    *,
    fetch_content: bool = True,
) -> SearchResults:
    """Search, then load the page of each hit until shortly before the deadline.

    Without `fetch_content` no page is fetched, and there are no sources. If no provider answers, and the query is
    limited to a site that a collection has, the collection answers.
    """
    async with background_tasks() as tasks:
        if fetch_content:
            tasks.start_soon(warm, stages)
        return await _search(stages, query, deadline, progress, fetch_content=fetch_content)


async def _search(
    stages: Stages, query: Query, deadline: Deadline, progress: Progress, *, fetch_content: bool
) -> SearchResults:
    try:
        hits = await stages.searcher.search(query, deadline)
    except SearchError as error:
        found = await _from_collections(stages, query, error)
        if found is None:
            raise
        return found
    total = 1 + (len(hits.hits) if fetch_content else 0)
    await progress(1, total, f"{hits.provider}: {len(hits.hits)} results")
    if not fetch_content:
        return SearchResults(hits, ())
    wanted = [(hit, query) for hit in hits.hits]
    sources = await load_sources(stages, wanted, deadline.minus(RENDER_MARGIN_S), progress)
    late = out_of_time(query, sources)
    kept = tuple(source for source in sources if source.url not in late)
    return SearchResults(without(hits, late), kept)


def out_of_time(query: Query, sources: Sequence[Source]) -> frozenset[str]:
    """The addresses of pages that say that they are from another time than the query wants.

    A date of the provider was checked before: this is for pages whose date only they themselves state.
    """
    if not query.published_after and not query.published_before:
        return frozenset()
    return frozenset(
        source.url
        for source in sources
        if source.document is not None
        and (source.hit is None or not source.hit.published)
        and not is_in_time(
            query, source.document.metadata.published, source.document.fetched_at.date()
        )
    )


async def warm(stages: Stages) -> None:
    """Start what pages are extracted and ranked with, while a provider searches."""
    await stages.extractor.warm()
    with suppress(ReadError):
        await (await stages.library()).warm()


async def fetch(
    stages: Stages,
    raw_url: str,
    options: ExtractOptions,
    deadline: Deadline,
    *,
    force_refresh: bool = False,
) -> Document:
    """The document at an address.

    Raises:
        InputError: the address is not an http or https URL.
        FetchError, ExtractError: the page cannot be fetched, or contains no text.
    """
    url = urls.parse_page(raw_url)
    page, document = await _load(stages, url, options, deadline, force_refresh=force_refresh)
    is_teaser = options.keep_teaser and document.protected
    if options.selector is None and options.format == "markdown" and not is_teaser:
        await _store(stages, page, document, deadline.minus(RENDER_MARGIN_S))
    return document


async def screenshot(stages: Stages, raw_url: str, deadline: Deadline) -> Screenshot:
    """A picture of the page at an address. It is fetched first, as any page: robots.txt and failures apply.

    Raises:
        InputError: the address is not an http or https URL.
        FetchError: the page cannot be fetched, or there is no browser.
    """
    url = urls.parse_page(raw_url)
    try:
        page = await stages.fetch(url, deadline)
    except FetchError as error:
        if not await stages.needs_browser(None, None, error):
            raise
    else:
        if page.private:
            raise PageUnreachable(
                "A page behind a login has no screenshot: the browser is not logged in.",
                url=str(url),
            )
    return await stages.screenshot(url, deadline)


def followed(stages: Stages, address: str) -> str:
    """The full address of a link as it is written on a page that was returned lately; any other address as it is.

    Raises:
        InputError: the link is on several of these pages and has a different target on each.
    """
    if not is_relative(address):
        return address
    targets = sorted(targets_of(address.strip(), stages.recent.newest()))
    if len(targets) > 1:
        shown = ", ".join(targets[:MAX_TARGETS_SHOWN])
        raise InputError(
            f"Pages read before have this link with different targets: call with one of {shown}.",
            field="url",
        )
    return targets[0] if targets else address


async def fetch_or_resume(
    stages: Stages,
    raw_url: str,
    options: ExtractOptions,
    deadline: Deadline,
    *,
    cursor: str | None = None,
    force_refresh: bool = False,
) -> tuple[Document, int]:
    """`resume` with a cursor, else `fetch`: the document, and the position to continue at. Raises what these raise."""
    if cursor:
        return await resume(stages, raw_url, options, cursor, deadline)
    return await fetch(stages, raw_url, options, deadline, force_refresh=force_refresh), 0


async def resume(
    stages: Stages, raw_url: str, options: ExtractOptions, cursor: str, deadline: Deadline
) -> tuple[Document, int]:
    """The document that a cursor belongs to, and the cursor's position in it. Nothing is downloaded.

    Raises:
        InputError: the cursor is invalid.
        CursorExpired: its document is no longer cached.
    """
    key, position = parse_cursor(cursor)
    document = stages.recent.get(key)
    if document is None:
        page = await stages.fetcher.cached(urls.parse_page(raw_url))
        if page is not None:
            document = await stages.extract(page, options, deadline)
    if document is None or not document.content_hash.startswith(key):
        raise CursorExpired(
            "The page behind this cursor is no longer cached: call again without cursor.",
            field="cursor",
        )
    if position > len(document.text):
        raise InputError("cursor points past the end of the page.", field="cursor")
    stages.recent.put(cursor_key(document), document)
    return document, position


async def read(
    stages: Stages,
    raw_url: str,
    questions: Sequence[str],
    deadline: Deadline,
    *,
    limit: int = 8,
    force_refresh: bool = False,
) -> PageFindings:
    """The passages of the page at an address that answer each question, or the closest. A short page comes whole.

    Raises:
        InputError: the address is not an http or https URL.
        FetchError, ExtractError: the page cannot be fetched, or contains no text.
        ReadError: the library cannot be used.
    """

    async def ask(library: Reads, stored: StoredPage) -> tuple[Finding, ...]:
        return await library.ask(stored, questions, limit)

    return await _page_findings(
        stages, raw_url, deadline, ask, force_refresh=force_refresh, questions=questions
    )


async def similar(
    stages: Stages,
    raw_url: str,
    questions: Sequence[str],
    deadline: Deadline,
    *,
    limit: int = 8,
    force_refresh: bool = False,
) -> PageFindings:
    """The whole chunks of the page at an address that are similar to each question. Raises what `read` raises."""

    async def search(library: Reads, stored: StoredPage) -> tuple[Finding, ...]:
        return await library.similar(stored, questions, limit)

    return await _page_findings(stages, raw_url, deadline, search, force_refresh=force_refresh)


async def recall(
    stages: Stages,
    questions: Sequence[str],
    *,
    limit: int = 8,
    scope: RecallScope = RecallScope(),  # noqa: B008 - frozen
) -> tuple[Finding, ...]:
    """The passages of all stored pages in a scope that answer each question, or the closest. Nothing is downloaded.

    Raises:
        InputError: there is no such collection.
        ReadError: the library cannot be used.
    """
    library = await stages.library()
    with span(Step.READ, questions=len(questions)) as step:
        findings = stages.redactor.record(await library.recall(questions, limit, scope))
        step.note(passages=sum(len(finding.citations) for finding in findings))
    cited = [one.page for finding in findings for one in finding.citations]
    for page in reversed(cited):
        if not page.collection:
            stages.use(page.url)
    return findings


async def _from_collections(
    stages: Stages, query: Query, failure: SearchError
) -> SearchResults | None:
    """The pages of collections of the query's site; None if there are none."""
    if not query.site:
        return None
    try:
        library = await stages.library()
        found = await library.pages_about(query.text, query.site, query.count)
    except ReadError:
        return None
    sources = tuple(_stored_source(stored, passages) for stored, passages in found)
    hits = tuple(source.hit for source in sources if source.hit is not None)
    names = ", ".join(dict.fromkeys(stored.entry.collection for stored, _ in found))
    why = f"answered from the library's collection {names}, without a search: {failure.detail}"
    return SearchResults(Hits(query, hits, "library", why=why), sources) if sources else None


def _stored_source(stored: StoredPage, passages: Sequence[Passage]) -> Source:
    """A stored page as the result of a search."""
    entry = stored.entry
    document = Document(
        url=entry.url,
        text=page_text(stored.chunks),
        fetched_at=entry.crawled_at,
        media_type="text/markdown",
        how=How(FetchMethod.LIBRARY),
        metadata=Metadata(title=entry.title, language=entry.language),
        partial=entry.partial,
        cut=entry.cut,
        content_hash=entry.content_hash,
    )
    snippet = " ".join(passages[0].text.split())[:SNIPPET_CHARACTERS]
    hit = Hit(entry.title, entry.url, snippet, "library")
    return Source(entry.url, document.outcome, hit, document)


async def load_sources(
    stages: Stages, wanted: Sequence[tuple[Hit, Query]], deadline: Deadline, progress: Progress
) -> tuple[Source, ...]:
    """Load all hits concurrently, each for the query that found it; the sources are in their order."""
    sources: list[Source | None] = [None] * len(wanted)

    async def load_one(index: int, hit: Hit, query: Query) -> None:
        sources[index] = await _load_source(stages, hit, query, deadline)
        done = sum(source is not None for source in sources)
        await progress(1 + done, 1 + len(sources), f"{done} of {len(sources)} pages")

    async with anyio.create_task_group() as tasks:
        for index, (hit, query) in enumerate(wanted):
            tasks.start_soon(load_one, index, hit, query)
    return tuple(source for source in sources if source is not None)


async def _load_source(stages: Stages, hit: Hit, query: Query, deadline: Deadline) -> Source:
    """A hit with its document, or with the outcome of the failure."""
    began = anyio.current_time()
    try:
        page, document = await _load(stages, urls.parse_page(hit.url), ExtractOptions(), deadline)
    except KindlyError as error:
        return Source(hit.url, error.outcome, hit, took_ms=elapsed_ms(began))
    took_ms = elapsed_ms(began)
    passages = await _store(stages, page, document, deadline, query)
    return Source(hit.url, document.outcome, hit, document, passages, took_ms)


async def _page_findings(
    stages: Stages,
    raw_url: str,
    deadline: Deadline,
    find: Callable[[Reads, StoredPage], Awaitable[tuple[Finding, ...]]],
    *,
    force_refresh: bool,
    questions: Sequence[str] = (),
) -> PageFindings:
    """What is found in one page of the library, which is loaded first if necessary. Keys are masked."""
    url = urls.parse_page(raw_url)
    stages.fetcher.check(url)
    library = await stages.library()
    options = ExtractOptions(questions=tuple(questions) if stages.deferred is not None else ())
    stored, how, note = await _stored_page(
        stages, library, url, options, deadline, force_refresh=force_refresh
    )
    with span(Step.READ) as step:
        findings = await find(library, stored)
        until = deadline.minus(RENDER_MARGIN_S)
        if whole := await whole_instead(library, str(url), findings, until, stages.deferred):
            stored, note, findings = whole, "", await find(library, whole)
        findings = stages.redactor.record(findings)
        step.note(
            questions=len(findings), passages=sum(len(finding.citations) for finding in findings)
        )
    return PageFindings(stages.redactor.record(stored.entry), findings, how, note)


async def _stored_page(
    stages: Stages,
    library: Reads,
    url: Url,
    options: ExtractOptions,
    deadline: Deadline,
    *,
    force_refresh: bool,
) -> tuple[StoredPage, How, str]:
    """A page from the library, loaded first if it is not there or no longer fresh."""
    key = str(url)
    stored = None if force_refresh else await library.fresh(key)
    if stored is None:
        async with library.lock(key):  # another call may have loaded it meanwhile
            stored = None if force_refresh else await library.fresh(key)
            if stored is None:
                page, document = await _load(
                    stages, url, options, deadline, force_refresh=force_refresh
                )
                whole = partial(stages.extract, page, ExtractOptions())
                stored, note = await keep_or_hold(
                    library, key, page, document, whole, stages.deferred
                )
                stages.use(key, page)
                return stored, document.how, " ".join(filter(None, (note, document.note)))
    stages.use(key)
    note = "Only a part of the page is stored." if stored.entry.partial else ""
    return stored, How(FetchMethod.LIBRARY), note


async def _store(
    stages: Stages, page: Page, document: Document, deadline: Deadline, query: Query | None = None
) -> tuple[Passage, ...]:
    """Store a page in the library and, if it is long and there is a query, rank its passages.

    A library that fails or is too slow does not change the answer: the page is then shown without ranking.
    """
    with suppress(ReadError), anyio.move_on_after(deadline.remaining_s()):
        library = await stages.library()
        with span(Step.READ):
            passages: tuple[Passage, ...] = ()
            if query is None or count_tokens(document.text) < RANKED_TOKENS:
                await library.keep_later(page.requested_url, document, page)
            else:
                passages = await library.rank_and_keep(
                    page.requested_url, document, page, query.text, RANKED_PASSAGES
                )
            stages.use(page.requested_url, page)
            return passages
    return ()


async def _load(
    stages: Stages,
    url: Url,
    options: ExtractOptions,
    deadline: Deadline,
    *,
    force_refresh: bool = False,
) -> tuple[Page, Document]:
    """Load a page, and remember its document for cursors and relative links."""
    page, document = await load(stages, url, options, deadline, force_refresh=force_refresh)
    stages.recent.put(cursor_key(document), document)
    return page, document
