"""A collection as one file, which another library imports without a network."""

import gzip
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kindly.crawl.collection_file import export_collection, import_collection
from kindly.errors import InputError
from kindly.read.crawls.collection import Collection, CollectionState, PageTask, TaskState
from kindly.read.store import EmbeddingModel, Store, StoreSettings
from kindly.read.stores import open_store
from kindly.text.terms import terms
from tests.support.stored_pages import MODEL, NOON, Made, page, vector

pytestmark = pytest.mark.anyio

DOCS = Collection(
    "docs", "https://site.example/", NOON, "1.0", state=CollectionState.READY, checked_at=NOON
)


def empty() -> Store:
    return open_store("memory", StoreSettings(None))


async def filled() -> Store:
    store = empty()
    await store.crawls.save(DOCS)
    for name in ("tea", "wine"):
        made = page(name, [f"About {name}.", f"More about {name}."])
        entry = replace(made.entry, collection=DOCS.id)
        chunks = [replace(one, url=entry.key, prepared=b"\x01ready") for one in made.chunks]
        inside = Made(entry, tuple(chunks))
        await store.put(inside.entry, inside.chunks, inside.vectors, MODEL)
        task = PageTask(entry.url, etag='"e"', state=TaskState.DONE)
        await store.crawls.add(DOCS.id, [task], 9)
    alone = page("alone", ["Not in it."])
    await store.put(alone.entry, alone.chunks, alone.vectors, MODEL)
    return store


async def test_an_imported_collection_is_the_one_that_was_exported(tmp_path: Path) -> None:
    source, goal = await filled(), empty()
    assert await export_collection(source, DOCS.id, tmp_path / "docs.kindly") == 2
    imported = await import_collection(goal, tmp_path / "docs.kindly")
    assert (imported.collection, imported.pages, imported.keys) == (DOCS, 2, ())
    assert await goal.crawls.tasks(DOCS.id) == await source.crawls.tasks(DOCS.id)
    for entry in await source.entries(collection=DOCS.id):
        before, after = await source.page(entry.key), await goal.page(entry.key)
        assert before is not None
        assert after is not None
        assert (after.entry, after.chunks) == (before.entry, before.chunks)
        assert [one.prepared for one in after.chunks] == [b"\x01ready"] * 2
        assert before.vectors is not None
        assert after.vectors is not None
        np.testing.assert_allclose(after.vectors, before.vectors, atol=1e-3)
    assert len(await goal.entries()) == 2
    assert await goal.candidates(terms("wine"), vector("x"), 5)


async def test_a_collection_of_the_same_name_is_replaced(tmp_path: Path) -> None:
    source = await filled()
    await export_collection(source, DOCS.id, tmp_path / "docs.kindly")
    gone = replace(page("gone", ["Old."]).entry, collection=DOCS.id)
    await source.put(gone, (), {}, None)
    await import_collection(source, tmp_path / "docs.kindly")
    assert gone not in await source.entries(collection=DOCS.id)
    assert len(await source.entries()) == 3


async def test_vectors_of_another_model_are_left_out_and_said(tmp_path: Path) -> None:
    await export_collection(await filled(), DOCS.id, tmp_path / "docs.kindly")
    goal = empty()
    other = page("other", ["Text."])
    vectors = {other.chunks[0].id: vector("x", 32)}
    await goal.put(other.entry, other.chunks, vectors, EmbeddingModel("another", 32))
    imported = await import_collection(goal, tmp_path / "docs.kindly")
    assert len(imported.keys) == 2
    assert len(await goal.entries(collection=DOCS.id)) == 2


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"plain",
        gzip.compress(b"[]\n"),
        gzip.compress(b'{"format": "x"}\n'),
        gzip.compress(b""),
    ],
    ids=["nothing", "no archive", "a list", "another format", "an empty archive"],
)
async def test_another_file_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "file").write_bytes(data)
    with pytest.raises(InputError, match="exported"):
        await import_collection(empty(), tmp_path / "file")


async def test_a_collection_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no collection"):
        await export_collection(empty(), "docs", tmp_path / "file")
