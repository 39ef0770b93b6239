"""A collection as one file: a gzip of JSON Lines with the collection, its queue, and its pages with their vectors.

Another machine imports it without a network: nothing is fetched, split or embedded again.
"""

import gzip
import json
import sys
from base64 import b64decode, b64encode
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import asdict, fields
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from kindly.errors import InputError
from kindly.frozen import frozen
from kindly.models import Chunk, How, StoredPageInfo
from kindly.read.crawls.collection import (
    Collection,
    CollectionState,
    CrawlRules,
    PageTask,
    TaskState,
)
from kindly.read.row_format import indexed_terms
from kindly.read.store import EmbeddingModel, PreparedPage, Store, StoredPage

FORMAT = "kindly-collection-1"
BATCH = 16
OF_CHUNK = ("id", "text", "start", "end", "tokens")
NOT_A_FILE = "{name} is not a collection that Kindly exported."


@frozen
class Imported:
    """What a file contained."""

    collection: Collection
    pages: int
    keys: tuple[str, ...] = ()
    """Pages whose vectors are another model's, and which must be embedded again."""


async def export_collection(store: Store, id_: str, target: Path) -> int:
    """Write a collection to a file; return how many pages it has.

    Raises:
        InputError: there is no such collection.
    """
    status = await store.crawls.collection(id_)
    if status is None:
        raise InputError(f"There is no collection {id_}.", field="collection")
    model = await store.model()
    count = 0
    with gzip.open(target, "wt", encoding="utf-8", compresslevel=6) as out:
        named = None if model is None else [model.name, model.dimension]
        _write(out, {"format": FORMAT, "model": named, "collection": _plain(status.collection)})
        after = ""
        while tasks := await store.crawls.tasks(id_, after=after):
            after = tasks[-1].url
            for task in tasks:
                _write(out, {"task": _plain(task)})
        async for stored in _pages(store, id_):
            _write(out, {"page": _from_page(stored)})
            count += 1
    return count


async def import_collection(store: Store, source: Path) -> Imported:
    """Add the collection of a file; one of the same name and version is replaced.

    Raises:
        InputError: the file is not a collection.
    """
    broken = InputError(NOT_A_FILE.format(name=source.name), field="file")
    try:
        with gzip.open(source, "rt", encoding="utf-8") as lines:
            records = (json.loads(line) for line in lines)
            header = next(records)
            if header["format"] != FORMAT:
                raise broken
            return await _read(store, header, records)
    except (OSError, EOFError, ValueError, KeyError, TypeError, StopIteration) as error:
        raise broken from error


async def _read(
    store: Store, header: Mapping[str, Any], records: Iterator[Mapping[str, Any]]
) -> Imported:
    collection = _to_collection(header["collection"])
    model = None if header["model"] is None else EmbeddingModel(*header["model"])
    known = await store.model()
    fits = known is None or known == model
    await store.crawls.drop(collection.id)
    await store.forget_collection(collection.id)
    await store.crawls.save(collection)
    pages: list[PreparedPage] = []
    keys: list[str] = []
    count = 0
    for record in records:
        if "task" in record:
            await store.crawls.add(collection.id, [_to_task(record["task"])], sys.maxsize)
            continue
        page = _to_page(record["page"], model if fits else None)
        count += 1
        pages.append(page)
        if not page.halves:
            keys.append(page.entry.key)
        if len(pages) == BATCH:
            await store.put_all(pages)
            pages.clear()
    await store.put_all(pages)
    return Imported(collection, count, tuple(keys))


async def _pages(store: Store, id_: str) -> AsyncIterator[StoredPage]:
    offset = 0
    while entries := await store.entries(limit=200, offset=offset, collection=id_):
        offset += len(entries)
        for entry in entries:
            if (stored := await store.page(entry.key)) is not None:
                yield stored


def _write(out: IO[str], record: Mapping[str, object]) -> None:
    out.write(json.dumps(record, ensure_ascii=False) + "\n")


def _plain(value: Any) -> dict[str, Any]:
    """A frozen value as JSON."""
    plain = asdict(value)
    dated = {name: one.isoformat() for name, one in plain.items() if isinstance(one, datetime)}
    return plain | dated


def _to_collection(plain: Mapping[str, Any]) -> Collection:
    rules = CrawlRules.from_json(json.dumps(plain["rules"]))
    known = {name: plain[name] for name in ("name", "origin", "version", "start", "via", "note")}
    checked = plain["checked_at"]
    return Collection(
        **known,
        created_at=datetime.fromisoformat(plain["created_at"]),
        checked_at=None if checked is None else datetime.fromisoformat(checked),
        state=CollectionState(plain["state"]),
        rules=rules,
    )


def _to_task(plain: Mapping[str, Any]) -> PageTask:
    known = {one.name: plain[one.name] for one in fields(PageTask)}
    state = TaskState(plain["state"])
    free = TaskState.PENDING if state is TaskState.LEASED else state
    return PageTask(**known | {"state": free, "due_at": None, "worker": ""})


def _from_page(stored: StoredPage) -> dict[str, object]:
    entry = _plain(stored.entry) | {"how": str(stored.entry.how)}
    chunks = []
    for number, chunk in enumerate(stored.chunks):
        row = {name: getattr(chunk, name) for name in OF_CHUNK} | {"section": chunk.section}
        if chunk.prepared:
            row["prepared"] = b64encode(chunk.prepared).decode()
        if stored.vectors is not None:
            row["vector"] = b64encode(stored.vectors[number].astype("<f2").tobytes()).decode()
        chunks.append(row)
    return {"entry": entry, "chunks": chunks}


def _to_page(plain: Mapping[str, Any], model: EmbeddingModel | None) -> PreparedPage:
    values = dict(plain["entry"])
    values["crawled_at"] = datetime.fromisoformat(values["crawled_at"])
    values["how"] = How.parse(values["how"])
    entry = StoredPageInfo(**values)
    chunks, halves = [], {}
    for row in plain["chunks"]:
        prepared = b64decode(row["prepared"]) if "prepared" in row else None
        known = {name: row[name] for name in OF_CHUNK}
        chunk = Chunk(**known, url=entry.key, section=tuple(row["section"]), prepared=prepared)
        chunks.append(chunk)
        if model is not None and "vector" in row:
            halves[chunk.id] = b64decode(row["vector"])
    terms = {chunk.id: " ".join(indexed_terms(chunk)) for chunk in chunks}
    return PreparedPage(entry, tuple(chunks), terms, halves, model if halves else None)
