"""Pages are stored once, embedded again only where they changed, and evicted when old."""

from dataclasses import replace
from datetime import timedelta

import pytest

from kindly.errors import ModelMismatch
from kindly.models import FetchMethod, How
from tests.support.library_world import NOW, URL, CountingEmbedder, LibraryWorld, document, page

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
