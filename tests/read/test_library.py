"""Pages are stored once, embedded again only where they changed, and evicted when old."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import cast

import pytest

from kindly.errors import ModelMismatch
from kindly.models import FetchMethod, How, Page
from kindly.read.library import Library, page_of_collection
from kindly.read.store import Store
from kindly.storage.journal import Journal
from tests.support.library_world import (
    NOW,
    URL,
    BrokenStore,
    CountingEmbedder,
    LibraryWorld,
    document,
    page,
)
from tests.support.queued_pages import DirectIndexer

pytestmark = pytest.mark.anyio


@pytest.fixture
def world() -> LibraryWorld:
    return LibraryWorld()


async def test_page_that_was_kept_answers_without_being_embedded_again(world: LibraryWorld) -> None:
    library = world.library()
    await library.keep(URL, document(), page(etag='"1"'))
    embedded = len(world.embedder.texts)
    stored = await library.fresh(URL)
    assert stored is not None
    assert stored.entry.etag == '"1"'
    (finding,) = await library.ask(stored, ["How does a bee tell where food is?"], 3)
    assert finding.answered
    assert "waggle dance" in finding.citations[0].passage.text
    assert len(world.embedder.texts) == embedded + 1


async def test_document_that_is_held_answers_and_is_not_stored(world: LibraryWorld) -> None:
    library = world.library()
    stored, note = await library.hold(URL, document(), page())
    (finding,) = await library.ask(stored, ["How does a bee tell where food is?"], 3)
    assert (finding.answered, note) == (True, "")
    assert await world.store.page(URL) is None


@pytest.mark.parametrize(
    ("fetched", "may_keep"),
    [(page(), True), (page(private=True), False), (page(cache_control="no-store"), False)],
    ids=["public", "with a login", "no-store"],
)
def test_page_is_kept_if_the_site_allows_it(
    world: LibraryWorld, fetched: Page, may_keep: bool
) -> None:
    assert world.library().may_keep(fetched) is may_keep


async def test_changed_page_is_embedded_where_it_changed(world: LibraryWorld) -> None:
    library = world.library(chunk_tokens=64)
    sections = [f"## Part {n}\n\n" + f"Sentence number {n} speaks of bees. " * 8 for n in range(6)]
    await library.keep(URL, document("\n\n".join(sections)))
    before = len(world.embedder.texts)
    sections[5] = "## Part 5\n\n" + "Something else stands here now. " * 8
    changed, _ = await library.keep(URL, document("\n\n".join(sections)))
    fresh = world.embedder.texts[before:]
    assert 0 < len(fresh) < len(changed.chunks)
    assert all("Something else" in text or "Part 5" in text for text in fresh)
    kept = await world.store.page(URL)
    assert kept is not None
    assert kept.vectors is not None
    assert [chunk.id for chunk in kept.chunks] == [chunk.id for chunk in changed.chunks]


async def test_a_kept_page_is_prepared_for_ranking(world: LibraryWorld) -> None:
    returned, _ = await world.library().keep(URL, document())
    stored = await world.store.page(URL)
    assert stored is not None
    assert all(one.prepared for one in stored.chunks)
    assert [one.prepared for one in returned.chunks] == [one.prepared for one in stored.chunks]


async def test_unchanged_page_is_only_noted_as_seen_again(world: LibraryWorld) -> None:
    library = world.library()
    await library.keep(URL, document(), page())
    before = len(world.embedder.texts)
    world.now += timedelta(hours=25)
    assert await library.fresh(URL) is None
    await library.keep(URL, document(how=How(FetchMethod.REVALIDATED)), page(checked_at=world.now))
    assert len(world.embedder.texts) == before
    assert await library.fresh(URL) is not None


async def test_page_that_must_not_be_stored_is_read_but_not_kept(world: LibraryWorld) -> None:
    library = world.library()
    stored, note = await library.keep(URL, document(), page(cache_control="private, no-store"))
    assert note == ""
    assert (await library.ask(stored, ["waggle dance"], 1))[0].answered
    assert await world.store.page(URL) is None


async def test_embeddings_that_come_back_fill_what_is_missing(world: LibraryWorld) -> None:
    world.embedder.down = True
    library = world.library()
    await library.keep(URL, document())
    assert await library.fresh(URL) is None
    world.embedder.down = False
    stored, note = await library.keep(URL, document())
    assert note == ""
    assert stored.vectors is not None
    assert await library.fresh(URL) is not None


async def test_another_model_is_refused_with_the_command_that_rebuilds(world: LibraryWorld) -> None:
    await world.library().keep(URL, document())
    world.embedder = CountingEmbedder(name="another")
    with pytest.raises(ModelMismatch, match="kindly library rebuild"):
        await world.library().keep(URL, document())
    with pytest.raises(ModelMismatch, match="kindly library rebuild"):
        await world.library().fresh(URL)
    with pytest.raises(ModelMismatch, match="kindly library rebuild"):
        await world.library().recall(["bees"], 1)


async def test_rebuilding_gives_every_chunk_the_new_model(world: LibraryWorld) -> None:
    await world.library().keep(URL, document())
    world.embedder = CountingEmbedder(name="another")
    await world.store.drop_vectors()
    assert await world.library().embed_again(URL)
    assert not await world.library().embed_again("https://example.com/unknown")
    assert await world.library().fresh(URL) is not None


async def test_old_pages_leave_after_a_while(world: LibraryWorld) -> None:
    library = world.library(max_age=timedelta(days=10))
    await library.keep(URL, replace(document(), fetched_at=NOW - timedelta(days=11)))
    for number in range(199):
        await library.keep(f"https://example.com/{number}", document(f"Page {number} has a text."))
    assert await world.store.page(URL) is None
    assert await world.store.page("https://example.com/0") is not None


async def queued_library(
    world: LibraryWorld, indexer: DirectIndexer | None, journal: Journal | None = None
) -> Library:
    """A library that stores pages after their answer."""
    library = world.library()
    await library.open_queue(journal, indexer)
    return library


async def test_queued_page_is_neither_split_nor_embedded_in_this_process(
    world: LibraryWorld,
) -> None:
    indexer = DirectIndexer()
    library = await queued_library(world, indexer)
    assert await library.keep_later(URL, document(), page(etag='"1"')) == ""
    assert await world.store.page(URL) is None
    assert indexer.batches == []
    await library.settle()
    stored = await world.store.page(URL)
    assert stored is not None
    assert stored.entry.etag == '"1"'
    assert stored.vectors is not None
    assert world.embedder.texts == []


async def test_without_an_indexer_queued_pages_are_embedded_by_the_configured_model(
    world: LibraryWorld,
) -> None:
    library = await queued_library(world, None)
    await library.keep_later(URL, document(), page())
    assert world.embedder.texts == []
    stored = await library.fresh(URL)
    assert stored is not None
    assert world.embedder.texts


async def test_what_asks_for_pages_gets_the_queued_ones(world: LibraryWorld) -> None:
    library = await queued_library(world, None)
    await library.keep_later(URL, document(), page())
    (finding,) = await library.recall(["How does a bee tell where food is?"], 3)
    assert finding.answered
    await library.keep_later(f"{URL}/2", document(), page())
    assert await library.fresh(f"{URL}/2") is not None


async def test_queued_page_that_is_unchanged_is_only_noted_as_seen_again(
    world: LibraryWorld,
) -> None:
    indexer = DirectIndexer()
    library = await queued_library(world, indexer)
    for moment in (NOW, NOW + timedelta(hours=1), NOW - timedelta(hours=1)):
        await library.keep_later(URL, document(), page(checked_at=moment))
        await library.settle()
    stored = await world.store.page(URL)
    assert stored is not None
    assert stored.entry.crawled_at == NOW + timedelta(hours=1)
    assert len(indexer.batches) == 1


async def test_older_version_that_was_left_does_not_replace_a_newer_one(
    world: LibraryWorld,
) -> None:
    library = await queued_library(world, DirectIndexer())
    await library.keep_later(URL, document("The new text."), page())
    await library.settle()
    await library.keep_later(URL, document(), page(checked_at=NOW - timedelta(days=1)))
    await library.settle()
    stored = await world.store.page(URL)
    assert stored is not None
    assert [chunk.text for chunk in stored.chunks] == ["The new text."]


async def test_of_versions_that_were_left_out_of_order_the_newest_is_stored(
    world: LibraryWorld,
) -> None:
    library = await queued_library(world, DirectIndexer())
    for text, hours in (("Second.", 2), ("Third.", 3), ("First.", 1)):
        moment = NOW + timedelta(hours=hours)
        await library.keep_later(URL, document(text), page(checked_at=moment))
    await library.settle()
    stored = await world.store.page(URL)
    assert stored is not None
    assert [chunk.text for chunk in stored.chunks] == ["Third."]


async def test_queued_page_that_must_not_be_stored_is_not(
    world: LibraryWorld, tmp_path: Path
) -> None:
    library = await queued_library(world, DirectIndexer(), Journal(tmp_path))
    assert await library.keep_later(URL, document(), page(cache_control="no-store")) == ""
    await library.settle()
    assert await world.store.page(URL) is None
    assert Journal(tmp_path).left() == []


async def test_page_that_cannot_be_prepared_does_not_take_others_with_it(
    world: LibraryWorld,
) -> None:
    library = await queued_library(world, DirectIndexer(broken="poison"))
    await library.keep_later(URL, document(), page())
    await library.keep_later(f"{URL}/poison", document("This is poison."), page())
    await library.settle()
    assert [entry.url for entry in await world.store.entries()] == [URL]


async def test_pages_that_cannot_be_prepared_are_named(world: LibraryWorld) -> None:
    library = await queued_library(world, DirectIndexer(broken="poison"))
    pages = [
        page_of_collection(URL, document(), None, "docs"),
        page_of_collection(f"{URL}/poison", document("This is poison."), None, "docs"),
    ]
    left_out = await library.store_now([one for one in pages if one is not None])
    assert left_out == {f"{URL}/poison#docs"}


async def test_page_is_kept_at_once_if_the_journal_cannot_be_written(
    world: LibraryWorld, tmp_path: Path
) -> None:
    library = await queued_library(world, DirectIndexer(), Journal(tmp_path / ("x" * 300)))
    assert await library.keep_later(URL, document(), page()) == ""
    assert await world.store.page(URL) is not None


async def test_pages_of_a_process_that_ended_are_stored_by_the_next(
    world: LibraryWorld, tmp_path: Path
) -> None:
    journal = Journal(tmp_path)
    first = await queued_library(world, DirectIndexer(), journal)
    await first.keep_later(URL, document(), page())
    journal.close()
    second = await queued_library(world, DirectIndexer(), Journal(tmp_path))
    assert await second.fresh(URL) is not None


@pytest.mark.parametrize("broken", ["nothing is broken", "waggle"])
async def test_page_is_ranked_before_it_is_stored_even_if_the_indexer_fails(
    world: LibraryWorld, broken: str
) -> None:
    library = await queued_library(world, DirectIndexer(broken))
    (best, *_) = await library.rank_and_keep(URL, document(), page(), "waggle dance", 3)
    assert "waggle" in best.text
    assert best.total == len(document().text)
    assert bool(world.embedder.texts) is (broken == "waggle")


async def test_warm_library_warms_its_indexer(world: LibraryWorld) -> None:
    indexer = DirectIndexer()
    await (await queued_library(world, indexer)).warm()
    assert indexer.batches == [[]]


async def test_without_a_queue_pages_are_stored_at_once(world: LibraryWorld) -> None:
    library = world.library()
    assert await library.keep_later(URL, document(), page()) == ""
    assert await world.store.page(URL) is not None
    assert await library.rank_and_keep(f"{URL}/2", document(), page(), "waggle dance", 3)
    assert await world.store.page(f"{URL}/2") is not None


async def test_while_the_store_fails_queued_pages_wait_in_the_journal(tmp_path: Path) -> None:
    broken = LibraryWorld(store=cast("Store", BrokenStore()))
    library = broken.library()
    queue = await library.open_queue(Journal(tmp_path), DirectIndexer())
    assert await library.keep_later(URL, document(), page()) == ""
    assert not await queue.flush()
    await queue.aclose(60)
    healthy = LibraryWorld()
    await (await queued_library(healthy, DirectIndexer(), Journal(tmp_path))).settle()
    assert await healthy.store.page(URL) is not None
