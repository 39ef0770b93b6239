"""`kindly index` and `kindly library collections`: make, resume, refresh and list collections of pages."""

import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import click

from kindly.app import open_app
from kindly.crawl.indexer import Indexer, Plan, is_unfinished
from kindly.crawl.lock_files import read_lock
from kindly.errors import InputError, KindlyError
from kindly.frozen import frozen
from kindly.read.crawls.collection import CollectionStatus, CrawlRules, TaskState
from kindly.redact import Redactor
from kindly.settings import Settings
from kindly.stages import Progress, ignore_progress

FAILED = 1
Work = Callable[[Indexer], Awaitable[int]]


@frozen
class IndexOptions:
    """The options of `kindly index`."""

    name: str = ""
    rules: CrawlRules = field(default_factory=CrawlRules)
    refresh: bool = False
    as_json: bool = False


def index(settings: Settings, origin: str, options: IndexOptions) -> int:
    """Index an origin, go on with a collection, or refresh it; the exit code."""

    async def work(indexer: Indexer) -> int:
        return await _index(indexer, origin, options, Redactor.of(settings.secrets()))

    return _run(settings, work)


def index_lock(settings: Settings, file: Path, options: IndexOptions) -> int:
    """Index the documentation of the direct dependencies of a lock file; the exit code."""
    pinned = read_lock(file.name, file.read_text(encoding="utf-8"))

    async def work(indexer: Indexer) -> int:
        failed = 0
        for one in pinned:
            try:
                await _index(indexer, one.origin, options, Redactor.of(settings.secrets()))
            except KindlyError as error:
                failed += 1
                click.echo(f"{one.origin}: {error.detail}", err=True)
        return FAILED if failed else 0

    return _run(settings, work)


async def _index(indexer: Indexer, origin: str, options: IndexOptions, redactor: Redactor) -> int:
    known = await indexer.known(origin, options.name)
    if known is None and options.refresh:
        raise InputError(
            f"There is no collection {origin}: see `kindly library collections`.", field="name"
        )
    if known is None:
        known = await indexer.begin(origin, options.name, options.rules, allow_local=True)
    if not options.refresh and not is_unfinished(known):
        click.echo(
            f"{known.collection.id} is indexed already: `kindly index --refresh {known.collection.id}` "
            "asks what changed.",
            err=True,
        )
        return 0
    with _progress(known.collection.id) as (progress, announce):
        done = await indexer.run(known.collection.id, progress, announce, refresh=options.refresh)
    _report(redactor.record(done), as_json=options.as_json)
    return 0 if done.pages else FAILED


def _report(status: CollectionStatus, *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(status_data(status), ensure_ascii=False))
        return
    one = status.collection
    click.echo(f"{one.id}: {status.pages:,} pages, {status.size_bytes / 1e6:,.1f} MB. {one.note}")


def collections(settings: Settings, *, as_json: bool) -> int:
    """List the collections; the exit code."""
    redactor = Redactor.of(settings.secrets())

    async def work(indexer: Indexer) -> int:
        now = datetime.now(UTC)
        for status in redactor.record(tuple(await indexer.collections())):
            if as_json:
                click.echo(json.dumps(status_data(status), ensure_ascii=False))
            else:
                click.echo(status_line(status, now))
        return 0

    return _run(settings, work)


def status_line(status: CollectionStatus, now: datetime) -> str:
    """One line about a collection."""
    one = status.collection
    age = f"{age_of(now - one.checked_at)} old" if one.checked_at else str(one.state)
    left = f", {status.left:,} pages left" if status.left else ""
    size = f"{status.pages:,} pages, {status.size_bytes / 1e6:,.1f} MB"
    return f"{one.id}  {size}, {age}{left}  {one.origin}"


def status_data(status: CollectionStatus) -> dict[str, Any]:
    """A collection for programs."""
    one = status.collection
    return {
        "collection": one.id,
        "name": one.name,
        "version": one.version,
        "origin": one.origin,
        "found_by": one.via,
        "state": str(one.state),
        "pages": status.pages,
        "size_bytes": status.size_bytes,
        "left": status.left,
        "failed": status.tasks.get(TaskState.FAILED, 0),
        "checked_at": one.checked_at and one.checked_at.isoformat(timespec="seconds"),
        "note": one.note,
    }


def age_of(age: timedelta) -> str:
    """An age in its largest unit."""
    for name, seconds in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if age.total_seconds() >= 2 * seconds:
            return f"{int(age.total_seconds() // seconds)} {name}"
    return "1 minute"


def _run(settings: Settings, work: Work) -> int:
    outcome = anyio.run(_with_indexer, settings, work)
    if isinstance(outcome, KindlyError):
        raise outcome
    return outcome


async def _with_indexer(settings: Settings, work: Work) -> int | KindlyError:
    """The exit code or the error. An error that left the app's task groups would be wrapped in an exception group."""
    async with _opened(settings) as indexer:
        try:
            return await work(indexer)
        except KindlyError as error:
            return error
    raise AssertionError("unreachable")


@asynccontextmanager
async def _opened(settings: Settings) -> AsyncIterator[Indexer]:
    async with open_app(settings, many_pages=True) as app:
        assert app.open_indexer is not None  # noqa: S101 - `open_app` gives one
        yield app.open_indexer()


Announcement = Callable[[Plan], Awaitable[None]]


@contextmanager
def _progress(name: str) -> Iterator[tuple[Progress, Announcement]]:
    """A bar on a terminal; in a pipe only what is about to be done."""

    async def announce(plan: Plan) -> None:
        click.echo(_plan_line(plan), err=True)

    if not sys.stderr.isatty():
        yield ignore_progress, announce
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(name, total=None)

        async def progress(done: float, total: float, message: str) -> None:
            bar.update(task, completed=done, total=total)

        yield progress, announce


def _plan_line(plan: Plan) -> str:
    found = f"{plan.collection.id}: {plan.pages:,} pages to fetch, found by {plan.collection.via}"
    if plan.collection.via == "links":
        found += " and more as they are linked"
    return (
        f"{found}; at least {age_of(timedelta(seconds=plan.seconds))}."
        if plan.seconds >= 60
        else f"{found}."
    )
