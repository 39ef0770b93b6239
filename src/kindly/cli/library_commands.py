"""`kindly library`: list, show, export, delete, rebuild, move and count the pages read so far."""

import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TextIO

import anyio
import click

from kindly.app.reader import OpenLibrary, build_library, build_store, open_queue
from kindly.crawl.collection_file import export_collection, import_collection
from kindly.errors import InputError, KindlyError, StoreUnavailable
from kindly.models import StoredPageInfo
from kindly.net.tls import Tls
from kindly.read.store import EmbeddingModel, Store, StoredPage
from kindly.redact import Redactor
from kindly.settings import Settings
from kindly.urls import without_tracking
from kindly.version import SERVER_NAME

PAGE = 500
Work = Callable[[OpenLibrary], Awaitable[int]]


def run(settings: Settings, work: Work) -> int:
    """Run `work` on the configured library, and close it."""
    outcome = anyio.run(_run, settings, work)
    if isinstance(outcome, KindlyError):
        raise outcome
    return outcome


async def _run(settings: Settings, work: Work) -> int | KindlyError:
    remote = settings.embedder_spec.is_remote
    context = await Tls(settings.ssl_cert_file).context() if remote else None
    reading = build_library(settings, context)
    try:
        await open_queue(reading.library, settings)
        await reading.library.settle()
        return await work(reading)
    except KindlyError as error:
        return error
    finally:
        await reading.aclose()


def list_pages(settings: Settings, *, limit: int, as_json: bool) -> int:
    """Print the latest pages."""

    redactor = Redactor.of(settings.secrets())

    async def work(reading: OpenLibrary) -> int:
        for entry in redactor.record(await reading.library.store.entries(limit=limit)):
            if as_json:
                click.echo(json.dumps(_page(entry), ensure_ascii=False))
            else:
                click.echo(f"{entry.crawled_at:%Y-%m-%d %H:%M}  {entry.url}  {entry.title}")
        return 0

    return run(settings, work)


def show_page(settings: Settings, url: str, *, as_json: bool) -> int:
    """Print the chunks of one page."""
    redactor = Redactor.of(settings.secrets())

    async def work(reading: OpenLibrary) -> int:
        store = reading.library.store
        stored = await store.page(url) or await store.page(without_tracking(url))
        stored = redactor.record(stored)
        if stored is None:
            raise InputError(
                f"{redactor.text(url)} is not in the library: see `kindly library list`.",
                field="url",
            )
        if as_json:
            click.echo(json.dumps(_record(stored), ensure_ascii=False, indent=2))
            return 0
        click.echo(
            f"# {stored.entry.title}\n{stored.entry.url} · {stored.entry.crawled_at:%Y-%m-%d %H:%M}"
        )
        for chunk in stored.chunks:
            where = " > ".join(chunk.section)
            click.echo(f"\n--- {chunk.id[:12]} · {chunk.tokens} tokens · {where}\n{chunk.text}")
        return 0

    return run(settings, work)


def export(settings: Settings, target: Path) -> int:
    """Write every page with its chunks as JSON Lines, or as Parquet if the file ends in .parquet."""
    if target.suffix == ".parquet":
        return _export_parquet(settings, target)
    redactor = Redactor.of(settings.secrets())
    return run(settings, lambda reading: _export_lines(reading, redactor, target))


async def _export_lines(reading: OpenLibrary, redactor: Redactor, target: Path) -> int:
    count = 0
    if str(target) == "-":
        count = await _write(reading.library.store, redactor, sys.stdout)
    else:
        with target.open("w", encoding="utf-8") as out:
            count = await _write(reading.library.store, redactor, out)
    click.echo(f"{count} pages exported.", err=True)
    return 0


async def _write(store: Store, redactor: Redactor, out: TextIO) -> int:
    count = 0
    async for stored in store.pages():
        out.write(json.dumps(_record(redactor.record(stored)), ensure_ascii=False) + "\n")
        count += 1
    return count


def _export_parquet(settings: Settings, target: Path) -> int:
    if find_spec("duckdb") is None:
        raise StoreUnavailable(
            "Parquet needs a package that is not installed: "
            f"pip install '{SERVER_NAME}[duckdb]'. A file named .jsonl needs none."
        )
    import duckdb

    with TemporaryDirectory() as folder:
        lines = Path(folder) / "chunks.jsonl"
        redactor = Redactor.of(settings.secrets())
        code = run(settings, lambda reading: _flat_lines(reading, redactor, lines))
        with duckdb.connect(":memory:") as database:
            database.execute(
                f"COPY (SELECT * FROM read_json({_quoted(lines)}, format='newline_delimited', "  # noqa: S608 - our own paths, quoted
                f"columns={COLUMNS})) TO {_quoted(target)} (FORMAT parquet)"
            )
    return code


COLUMNS = (
    "{url: 'VARCHAR', title: 'VARCHAR', crawled_at: 'TIMESTAMPTZ', content_hash: 'VARCHAR', id: 'VARCHAR', "
    "section: 'VARCHAR[]', text: 'VARCHAR', tokens: 'INTEGER', vector: 'FLOAT[]'}"
)


async def _flat_lines(reading: OpenLibrary, redactor: Redactor, target: Path) -> int:
    """One line per chunk: the rows of the Parquet table."""
    count = 0
    with target.open("w", encoding="utf-8") as out:
        async for stored in reading.library.store.pages():
            record = _record(redactor.record(stored))
            page = {name: record[name] for name in ("url", "title", "crawled_at", "content_hash")}
            for chunk in record["chunks"]:
                row = page | {
                    name: chunk[name] for name in ("id", "section", "text", "tokens", "vector")
                }
                out.write(json.dumps(row, ensure_ascii=False) + "\n")
                count += 1
    click.echo(f"{count} chunks exported.", err=True)
    return 0


def _quoted(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"


def forget(settings: Settings, url: str | None) -> int:
    """Delete one page, or all."""

    async def work(reading: OpenLibrary) -> int:
        store = reading.library.store
        count = await store.forget(url)
        if not count and url is not None:
            count = await store.forget(without_tracking(url))
        click.echo(f"{count} page{'s' if count != 1 else ''} deleted.")
        return 0 if count or url is None else 1

    return run(settings, work)


def forget_one(settings: Settings, collection: str) -> int:
    """Delete a collection with its pages."""

    async def work(reading: OpenLibrary) -> int:
        store = reading.library.store
        known = await store.crawls.drop(collection)
        count = await store.forget_collection(collection)
        click.echo(f"{count} page{'s' if count != 1 else ''} deleted.")
        return 0 if known or count else 1

    return run(settings, work)


def export_one(settings: Settings, collection: str, target: Path) -> int:
    """Write a collection to one file."""

    async def work(reading: OpenLibrary) -> int:
        count = await export_collection(reading.library.store, collection, target)
        click.echo(f"{count} pages exported.", err=True)
        return 0

    return run(settings, work)


def import_one(settings: Settings, source: Path) -> int:
    """Add the collection of a file; vectors of another model are computed again."""

    async def work(reading: OpenLibrary) -> int:
        imported = await import_collection(reading.library.store, source)
        for key in imported.keys:
            await reading.library.embed_again(key)
        click.echo(f"{imported.collection.id}: {imported.pages} pages imported.")
        return 0

    return run(settings, work)


def rebuild(settings: Settings) -> int:
    """Compute all vectors again with the configured model."""

    async def work(reading: OpenLibrary) -> int:
        store = reading.library.store
        await store.drop_vectors()
        count = 0
        async for url in _urls(store):
            count += await reading.library.embed_again(url)
            if sys.stderr.isatty():
                click.echo(f"\r{count} pages", nl=False, err=True)
        click.echo(f"{count} pages embedded again.")
        return 0

    return run(settings, work)


def move(settings: Settings, target: str) -> int:
    """Copy every page into another store; pages that it already has are replaced."""
    other = Settings.load(overrides={"store": target, "data_dir": settings.data_path})

    async def work(reading: OpenLibrary) -> int:
        goal = build_store(other)
        count = 0
        try:
            source = reading.library.store
            model = await source.model()
            async for url in _urls(source):
                stored = await source.page(url)
                if stored is not None:
                    await goal.put(
                        stored.entry, stored.chunks, _by_id(stored), _model_of(stored, model)
                    )
                    count += 1
            await _copy_collections(source, goal)
        finally:
            with suppress(StoreUnavailable):
                await goal.aclose()
        click.echo(f"{count} pages copied. Set KINDLY_STORE to use the new store.")
        return 0

    return run(settings, work)


async def _copy_collections(source: Store, goal: Store) -> None:
    for status in await source.crawls.collections():
        id_, after = status.collection.id, ""
        await goal.crawls.save(status.collection)
        while tasks := await source.crawls.tasks(id_, after=after):
            after = tasks[-1].url
            await goal.crawls.add(id_, tasks, sys.maxsize)


def _model_of(stored: StoredPage, model: EmbeddingModel | None) -> EmbeddingModel | None:
    return model if stored.vectors is not None else None


def _by_id(stored: StoredPage) -> dict[str, Any]:
    if stored.vectors is None:
        return {}
    return {chunk.id: row for chunk, row in zip(stored.chunks, stored.vectors, strict=True)}


def stats(settings: Settings, *, as_json: bool) -> int:
    """Print how much the library holds, and where it is."""

    async def work(reading: OpenLibrary) -> int:
        known = await reading.library.store.stats()
        facts = {key: value for key, value in asdict(known).items() if value is not None}
        if as_json:
            click.echo(json.dumps(facts, ensure_ascii=False, indent=2, default=str))
            return 0
        model = (
            f"{known.model.name}, {known.model.dimension} dimensions" if known.model else "none yet"
        )
        click.echo(
            f"{known.kind} at {known.place}\n{known.pages:,} pages, {known.chunks:,} chunks, "
            f"{known.size_bytes / 1e6:,.1f} MB\nmodel: {model}"
        )
        return 0

    return run(settings, work)


async def _urls(store: Store) -> AsyncIterator[str]:
    """Every address, listed before anything is changed."""
    urls: list[str] = []
    while batch := await store.entries(limit=PAGE, offset=len(urls)):
        urls.extend(entry.key for entry in batch)
    for url in urls:
        yield url


def _page(entry: StoredPageInfo) -> dict[str, Any]:
    page = asdict(entry)
    return {**page, "crawled_at": entry.crawled_at.isoformat(), "how": str(entry.how)}


def _record(stored: StoredPage) -> dict[str, Any]:
    chunks = [
        {
            "id": chunk.id,
            "section": list(chunk.section),
            "text": chunk.text,
            "start": chunk.start,
            "end": chunk.end,
            "tokens": chunk.tokens,
            "vector": None
            if stored.vectors is None
            else [round(float(number), 6) for number in stored.vectors[position]],
        }
        for position, chunk in enumerate(stored.chunks)
    ]
    return {**_page(stored.entry), "chunks": chunks}
