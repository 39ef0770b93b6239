"""The verbs of the pipeline for several inputs at once: in parallel, each distinct page once, in the inputs' order.

An input that fails is an outcome beside the others. Cancelling the call cancels all of them.
"""

from collections.abc import Awaitable, Callable, Sequence
from itertools import zip_longest
from typing import TypeVar

import anyio

from kindly import pipeline, urls
from kindly.budget import Deadline
from kindly.concurrency.background_tasks import background_tasks
from kindly.errors import InputError, KindlyError, ReadError, SearchError
from kindly.extract import ExtractOptions
from kindly.frozen import frozen
from kindly.models import Document, Hit, Hits, PageFindings, Query, Source
from kindly.pipeline import RENDER_MARGIN_S
from kindly.search.ranking.filters import without
from kindly.stages import Progress, Stages

Value = TypeVar("Value")


@frozen
class SearchBatch:
    """The results of several searches."""

    queries: tuple[Query, ...]
    outcomes: tuple[Hits | SearchError, ...]
    """For each query, in order."""
    sources: tuple[Source, ...]
    """Each page once, however many queries found it: first the best result of each query, then the second ones."""


async def search(
    stages: Stages, queries: Sequence[Query], deadline: Deadline, progress: Progress
) -> SearchBatch:
    """Search for every query, then load each page that was found until shortly before the deadline.

    All queries have the same filters.

    Raises:
        SearchError: the error of the first query, if all failed.
    """
    async with background_tasks() as tasks:
        tasks.start_soon(pipeline.warm, stages)
        return await _search(stages, tuple(dict.fromkeys(queries)), deadline, progress)


async def _search(
    stages: Stages, distinct: tuple[Query, ...], deadline: Deadline, progress: Progress
) -> SearchBatch:
    outcomes = await stages.searcher.search_all(distinct, deadline)
    found = [outcome for outcome in outcomes if isinstance(outcome, Hits)]
    if not found:
        raise next(outcome for outcome in outcomes if isinstance(outcome, SearchError))
    sources = await pipeline.load_sources(
        stages, _by_rank(found), deadline.minus(RENDER_MARGIN_S), progress
    )
    late = pipeline.out_of_time(distinct[0], sources)
    kept = tuple(source for source in sources if source.url not in late)
    in_time = (
        without(outcome, late) if isinstance(outcome, Hits) else outcome for outcome in outcomes
    )
    return SearchBatch(distinct, tuple(in_time), kept)


def _by_rank(found: Sequence[Hits]) -> list[tuple[Hit, Query]]:
    """The distinct pages with the query that found each first, the best ranks of all queries first."""
    pages: dict[str, tuple[Hit, Query]] = {}
    for row in zip_longest(*([(hit, hits.query) for hit in hits.hits] for hits in found)):
        for wanted in filter(None, row):
            pages.setdefault(urls.canonical(wanted[0].url), wanted)
    return list(pages.values())


async def fetch(
    stages: Stages, addresses: Sequence[str], options: ExtractOptions, deadline: Deadline
) -> tuple[Source, ...]:
    """The document at each distinct address, or the outcome of the failure."""
    until = deadline.minus(RENDER_MARGIN_S)

    async def load(url: str) -> Document:
        return await pipeline.fetch(stages, url, options, until)

    return tuple(
        Source(url, loaded.outcome, document=loaded if isinstance(loaded, Document) else None)
        for url, loaded in await _each(stages, addresses, load)
    )


async def read(
    stages: Stages,
    addresses: Sequence[str],
    questions: Sequence[str],
    deadline: Deadline,
    *,
    limit: int = 8,
    force_refresh: bool = False,
) -> tuple[tuple[str, PageFindings | KindlyError], ...]:
    """What each distinct page answers to the questions, or why it could not be read.

    Raises:
        ReadError: the library cannot be used.
    """
    until = deadline.minus(RENDER_MARGIN_S)

    async def ask(url: str) -> PageFindings:
        return await pipeline.read(
            stages, url, questions, until, limit=limit, force_refresh=force_refresh
        )

    outcomes = await _each(stages, addresses, ask)
    for _, outcome in outcomes:
        if isinstance(outcome, ReadError):
            raise outcome
    return outcomes


async def _each(
    stages: Stages, addresses: Sequence[str], run: Callable[[str], Awaitable[Value]]
) -> tuple[tuple[str, Value | KindlyError], ...]:
    """Each distinct address with its result or error, in order."""
    results: dict[str, Value | KindlyError] = {}

    async def run_one(url: str) -> None:
        try:
            results[url] = await run(url)
        except KindlyError as error:
            results[url] = error

    wanted = _distinct(stages, addresses)
    async with anyio.create_task_group() as tasks:
        for url, refused in wanted:
            if refused is None:
                tasks.start_soon(run_one, url)
    return tuple((url, results[url] if refused is None else refused) for url, refused in wanted)


def _distinct(stages: Stages, addresses: Sequence[str]) -> list[tuple[str, InputError | None]]:
    """The address of each distinct page in the first of its spellings; one that is no address with the error."""
    pages: dict[str, tuple[str, InputError | None]] = {}
    for address in addresses:
        try:
            url = pipeline.followed(stages, address)
            pages.setdefault(str(urls.parse_page(url)), (url, None))
        except InputError as error:
            pages.setdefault(address, (address, error))
    return list(pages.values())
