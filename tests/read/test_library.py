"""Pages are kept once, asked often, and read even where the library or the embeddings fail."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import anyio.lowlevel
import numpy as np
import pytest
from numpy.typing import NDArray

from kindly.errors import EmbeddingsDown, ModelMismatch, StoreUnavailable
from kindly.models import Document, FetchMethod, How, Metadata, Page
from kindly.read.embedders.local.embedder import LocalEmbedder
from kindly.read.library import Library, LibraryPolicy
from kindly.read.store import Store, StoreSettings
from kindly.read.stores import open_store

pytestmark = pytest.mark.anyio

URL = "https://example.com/bees"
NOW = datetime(2026, 1, 2, tzinfo=UTC)
BEES = """# Bees

Bees see ultraviolet light, so a flower that looks plain to us may carry bright guides for them.

## Dance

A forager that found food tells the others by a waggle dance whose angle points the way from the sun.

## Winter

In winter the colony forms a ball around the queen and shivers to keep warm on stored honey.
"""
MODEL = LocalEmbedder()


@dataclass
class Counting:
    """The local model, counted, and down when told so."""

    name: str = MODEL.name
    down: bool = False
    texts: list[str] = field(default_factory=list)

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.down:
            raise EmbeddingsDown("The embedding server gave no vectors: it is asleep.")
        self.texts += texts
        return await MODEL.embed(texts)


class Broken:
    """A store that always fails."""

    def __getattr__(self, name: str) -> Any:
        async def fail(*_: object, **__: object) -> None:
            await anyio.lowlevel.checkpoint()
            raise StoreUnavailable("The disk is full.")

        return fail

    @asynccontextmanager
    async def alone(self, url: str) -> AsyncIterator[None]:
        raise StoreUnavailable("The disk is full.")
        yield


@dataclass
class World:
    store: Store
    embedder: Counting = field(default_factory=Counting)
    now: datetime = NOW

    def reader(self, **rules: Any) -> Library:
        return Library(self.store, self.embedder, LibraryPolicy(**rules), now=lambda: self.now)


@pytest.fixture
def world() -> World:
    return World(open_store("memory", StoreSettings(None)))


def document(text: str = BEES, **more: Any) -> Document:
    return Document(
        url=URL,
        text=text,
        fetched_at=NOW,
        metadata=Metadata(title="Bees", language="en"),
        content_hash=sha256(text.encode()).hexdigest(),
        **more,
    )


def page(**more: Any) -> Page:
    return Page(URL, URL, 200, "text/html", b"", NOW, **more)


async def test_page_that_was_kept_answers_without_being_embedded_again(world: World) -> None:
    reader = world.reader()
    await reader.keep(URL, document(), page(etag='"1"'))
    embedded = len(world.embedder.texts)
    shelf = await reader.fresh(URL)
    assert shelf is not None
    assert shelf.entry.etag == '"1"'
    (finding,) = await reader.ask(shelf, ["How does a bee tell where food is?"], 3)
    assert finding.answered
    assert "waggle dance" in finding.citations[0].passage.text
    assert len(world.embedder.texts) == embedded + 1


async def test_passage_stands_where_its_offsets_say(world: World) -> None:
    long = f"## Towns\n\n{'The town by the sea has rain and wind. ' * 90}\n\n{BEES}"
    reader = world.reader(chunk_tokens=64)
    shelf, _ = await reader.keep(URL, document(long))
    (finding,) = await reader.ask(shelf, ["What does the colony do in winter?"], 1)
    passage = finding.citations[0].passage
    assert "around the queen" in passage.text
    assert long[passage.start : passage.end] == passage.text
    assert passage.total == len(long)
    assert passage.section[0] == "Bees"
    assert passage.id in {chunk.id for chunk in shelf.chunks}


async def test_question_that_the_page_does_not_answer_gets_no_passage(world: World) -> None:
    reader = world.reader()
    shelf, _ = await reader.keep(URL, document())
    (finding,) = await reader.ask(shelf, ["Which tax applies to imported steel pipes?"], 8)
    assert not finding.answered
    assert finding.citations == ()


async def test_several_questions_are_embedded_at_once(world: World) -> None:
    reader = world.reader()
    shelf, _ = await reader.keep(URL, document())
    before = len(world.embedder.texts)
    findings = await reader.ask(shelf, ["waggle dance angle", "ultraviolet light"], 1)
    assert [finding.question for finding in findings] == ["waggle dance angle", "ultraviolet light"]
    assert world.embedder.texts[before:] == ["waggle dance angle", "ultraviolet light"]


async def test_changed_page_is_embedded_where_it_changed(world: World) -> None:
    reader = world.reader(chunk_tokens=64)
    sections = [f"## Part {n}\n\n" + f"Sentence number {n} speaks of bees. " * 8 for n in range(6)]
    await reader.keep(URL, document("\n\n".join(sections)))
    before = len(world.embedder.texts)
    sections[5] = "## Part 5\n\n" + "Something else stands here now. " * 8
    changed, _ = await reader.keep(URL, document("\n\n".join(sections)))
    fresh = world.embedder.texts[before:]
    assert 0 < len(fresh) < len(changed.chunks)
    assert all("Something else" in text or "Part 5" in text for text in fresh)
    kept = await world.store.shelf(URL)
    assert kept is not None
    assert kept.vectors is not None
    assert [chunk.id for chunk in kept.chunks] == [chunk.id for chunk in changed.chunks]


async def test_unchanged_page_is_only_noted_as_seen_again(world: World) -> None:
    reader = world.reader()
    await reader.keep(URL, document(), page())
    before = len(world.embedder.texts)
    world.now += timedelta(hours=25)
    assert await reader.fresh(URL) is None
    await reader.keep(URL, document(how=How(FetchMethod.REVALIDATED)), page(checked_at=world.now))
    assert len(world.embedder.texts) == before
    assert await reader.fresh(URL) is not None


async def test_page_that_must_not_be_stored_is_read_but_not_kept(world: World) -> None:
    reader = world.reader()
    shelf, note = await reader.keep(URL, document(), page(cache_control="private, no-store"))
    assert note == ""
    assert (await reader.ask(shelf, ["waggle dance"], 1))[0].answered
    assert await world.store.entry(URL) is None


async def test_without_embeddings_words_decide_and_the_note_says_so(world: World) -> None:
    world.embedder.down = True
    reader = world.reader()
    shelf, note = await reader.keep(URL, document())
    assert "no embeddings" in note
    (finding,) = await reader.ask(shelf, ["waggle dance angle"], 1)
    assert "waggle dance" in finding.citations[0].passage.text
    assert "by words alone" in finding.note


async def test_without_embeddings_and_words_the_longest_parts_stand_there(world: World) -> None:
    world.embedder.down = True
    reader = world.reader()
    shelf, _ = await reader.keep(URL, document())
    (finding,) = await reader.ask(shelf, ["zzz qqq xxx"], 2)
    assert finding.citations
    assert "longest parts" in finding.note


async def test_embeddings_that_come_back_fill_what_is_missing(world: World) -> None:
    world.embedder.down = True
    reader = world.reader()
    await reader.keep(URL, document())
    assert await reader.fresh(URL) is None
    world.embedder.down = False
    shelf, note = await reader.keep(URL, document())
    assert note == ""
    assert shelf.vectors is not None
    assert await reader.fresh(URL) is not None


async def test_another_model_is_refused_with_the_command_that_rebuilds(world: World) -> None:
    await world.reader().keep(URL, document())
    world.embedder = Counting(name="another")
    with pytest.raises(ModelMismatch, match="kindly library rebuild"):
        await world.reader().keep(URL, document())
    with pytest.raises(ModelMismatch, match="kindly library rebuild"):
        await world.reader().fresh(URL)
    with pytest.raises(ModelMismatch, match="kindly library rebuild"):
        await world.reader().recall(["bees"], 1)


async def test_rebuilding_gives_every_chunk_the_new_model(world: World) -> None:
    await world.reader().keep(URL, document())
    world.embedder = Counting(name="another")
    await world.store.drop_vectors()
    assert await world.reader().embed_again(URL)
    assert not await world.reader().embed_again("https://example.com/unknown")
    assert await world.reader().fresh(URL) is not None


async def test_broken_store_takes_nothing_from_the_answer(caplog: pytest.LogCaptureFixture) -> None:
    world = World(Broken())
    reader = world.reader()
    assert await reader.fresh(URL) is None
    async with reader.alone(URL):
        shelf, note = await reader.keep(URL, document(), page())
    assert "could not be kept" in note
    assert (await reader.ask(shelf, ["waggle dance"], 1))[0].answered
    assert len([record for record in caplog.records if record.levelname == "WARNING"]) == 1
    with pytest.raises(StoreUnavailable, match="disk is full"):
        await reader.recall(["bees"], 1)


async def test_recall_finds_the_page_among_others(world: World) -> None:
    reader = world.reader()
    await reader.keep(URL, document())
    for name, text in {
        "steel": "# Steel\n\nSteel is an alloy of iron and carbon, made in furnaces at great heat.",
        "tea": "# Tea\n\nGreen tea is steeped at eighty degrees for two minutes, black tea longer.",
    }.items():
        await reader.keep(f"https://example.com/{name}", document(text))
    bees, tea, nothing = await reader.recall(
        [
            "what does the waggle dance tell?",
            "how hot is green tea steeped?",
            "quantum chromodynamics",
        ],
        2,
    )
    assert bees.citations[0].page.url == URL
    assert tea.citations[0].page.url.endswith("/tea")
    assert tea.citations[0].passage.total > 0
    assert not nothing.answered


async def test_ranked_gives_passages_of_any_score(world: World) -> None:
    reader = world.reader(chunk_tokens=64)
    shelf, _ = await reader.keep(URL, document())
    passages = await reader.ranked(shelf, "steel pipes", 10)
    assert len(passages) > 1
    assert {passage.total for passage in passages} == {len(BEES)}


async def test_old_pages_leave_after_a_while(world: World) -> None:
    reader = world.reader(max_age=timedelta(days=10))
    await reader.keep(URL, replace(document(), fetched_at=NOW - timedelta(days=11)))
    for number in range(199):
        await reader.keep(f"https://example.com/{number}", document(f"Page {number} has a text."))
    assert await world.store.entry(URL) is None
    assert await world.store.entry("https://example.com/0") is not None


def test_data_dir_is_not_needed_for_memory(tmp_path: Path) -> None:
    open_store("memory", StoreSettings(None))
    assert list(tmp_path.iterdir()) == []
