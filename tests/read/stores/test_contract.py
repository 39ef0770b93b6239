"""What every store must do, whatever database is behind it."""

from collections.abc import Callable
from dataclasses import replace

import anyio
import numpy as np
import pytest

from kindly.errors import ModelMismatch
from kindly.models import FetchMethod, How
from kindly.read.pages.page_outline import from_bytes, outline_of, to_bytes
from kindly.read.row_format import indexed_terms
from kindly.read.store import EmbeddingModel, PageVersion, PreparedPage, Store, StoredPage
from kindly.read.stores import PERSISTENT
from kindly.text.terms import terms
from tests.support.stored_pages import DIMENSION, MODEL, NOON, Made, days, page, vector

pytestmark = pytest.mark.anyio

Opener = Callable[[], Store]
KEPT = {spec.name for spec in PERSISTENT}

TEA = page("tea", ["Green tea is steamed.", "Black tea is oxidised.", "Water should not boil."])


async def keep(store: Store, *pages: Made) -> None:
    for made in pages:
        await store.put(made.entry, made.chunks, made.vectors, MODEL)


def same(stored: StoredPage | None, made: Made) -> bool:
    assert stored is not None
    assert stored.vectors is not None
    expected = np.stack(list(made.vectors.values()))
    assert stored.vectors.dtype == np.float32
    np.testing.assert_allclose(stored.vectors, expected, atol=1e-3)
    return (stored.entry, stored.chunks) == (made.entry, made.chunks)


async def test_a_new_library_is_empty(store: Store) -> None:
    assert await store.model() is None
    assert await store.page(TEA.entry.url) is None
    assert await store.entries() == []
    assert await store.candidates(["tea"], vector("tea"), 5) == []
    assert await store.forget(TEA.entry.url) == 0
    assert await store.forget() == 0
    assert [stored async for stored in store.pages()] == []
    found = await store.stats()
    assert (found.pages, found.chunks, found.model, found.oldest) == (0, 0, None, None)


async def test_a_page_comes_back_as_it_was_put(store: Store) -> None:
    full = replace(
        TEA.entry,
        etag='"x"',
        last_modified="Mon",
        language="en",
        how=How(FetchMethod.BROWSER),
        partial=True,
        cut=True,
    )
    made = replace(TEA, entry=full)
    await keep(store, made)
    assert same(await store.page(full.url), made)
    assert await store.entries() == [full]
    assert await store.model() == MODEL


async def test_headings_and_odd_characters_survive(store: Store) -> None:
    made = page(
        "odd", ['"quoted" \\ back', "茶は緑 🍵", "a\ttab\nline"], section=("A | b", 'c "d"', "…")
    )
    await keep(store, made)
    assert same(await store.page(made.entry.url), made)


async def test_characters_that_no_database_takes_are_replaced_one_for_one(store: Store) -> None:
    made = page("broken", ["a\x00b", "plain"], section=("x\x00y",))
    halves = replace(made.chunks[0], id="half", text="\ud800x")
    entry = replace(made.entry, title="t\x00\udfff")
    await store.put(entry, (*made.chunks, halves), {}, None)
    stored = await store.page(entry.url)
    assert stored is not None
    assert [chunk.text for chunk in stored.chunks] == ["a\ufffdb", "plain", "\ufffdx"]
    assert stored.chunks[0].section == ("x\ufffdy",)
    assert stored.entry.title == "t\ufffd\ufffd"


async def test_a_chunk_given_twice_is_kept_once(store: Store) -> None:
    await store.put(TEA.entry, (*TEA.chunks, TEA.chunks[0]), TEA.vectors, MODEL)
    assert same(await store.page(TEA.entry.url), TEA)


async def test_a_page_of_no_chunks_is_kept(store: Store) -> None:
    await store.put(TEA.entry, (), {}, None)
    assert await store.page(TEA.entry.url) == StoredPage(TEA.entry, (), None)


async def test_what_was_put_is_there_after_opening_again(name: str, opened: Opener) -> None:
    if name not in KEPT:
        return
    first = opened()
    await keep(first, TEA)
    await first.aclose()
    assert same(await opened().page(TEA.entry.url), TEA)


async def test_what_one_writes_another_reads(name: str, opened: Opener) -> None:
    if name not in KEPT:
        return
    one, other = opened(), opened()
    await keep(one, TEA)
    assert same(await other.page(TEA.entry.url), TEA)
    wine = page("wine", ["Wine is fermented."])
    await keep(other, wine)
    found = await one.candidates([], vector("Wine is fermented."), 1)
    assert [one.chunk for one in found] == list(wine.chunks)
    await other.forget(wine.entry.url)
    found = await one.candidates([], vector("Wine is fermented."), 1)
    assert [one.entry.url for one in found] == [TEA.entry.url]


async def test_a_changed_page_keeps_the_vectors_of_what_stayed(store: Store) -> None:
    await keep(store, TEA)
    changed = page("tea", ["Oolong is between.", "Black tea is oxidised.", "Green tea is steamed."])
    new = changed.chunks[0]
    await store.put(changed.entry, changed.chunks, {new.id: vector(new.text)}, MODEL)
    assert same(await store.page(TEA.entry.url), changed)
    found = await store.candidates(terms("water boil"), vector("Water should not boil."), 9)
    assert {one.chunk.id for one in found} <= {one.id for one in changed.chunks}


def prepared(made: Made, *, embedded: bool = True) -> PreparedPage:
    """A page as the index process prepares it."""
    halves = {id_: one.astype("<f2").tobytes() for id_, one in made.vectors.items()}
    words = {chunk.id: " ".join(indexed_terms(chunk)) for chunk in made.chunks}
    if not embedded:
        return PreparedPage(made.entry, made.chunks, words, {})
    return PreparedPage(made.entry, made.chunks, words, halves, MODEL)


async def test_prepared_pages_are_stored_together_and_found_like_others(store: Store) -> None:
    wine = page("wine", ["Wine is fermented.", "Grapes are pressed."])
    await store.put_all([prepared(TEA), prepared(wine)])
    assert same(await store.page(TEA.entry.url), TEA)
    assert same(await store.page(wine.entry.url), wine)
    found = await store.candidates(terms("oxidised"), None, 5)
    assert [one.chunk for one in found] == [TEA.chunks[1]]
    found = await store.candidates([], vector("Grapes are pressed."), 1)
    assert [one.chunk for one in found] == [wine.chunks[1]]
    assert await store.model() == MODEL


async def test_a_prepared_page_replaces_the_one_that_was_put(store: Store) -> None:
    await keep(store, TEA)
    changed = page("tea", ["Oolong is between.", "Black tea is oxidised."])
    await store.put_all([prepared(changed)])
    assert same(await store.page(TEA.entry.url), changed)
    await store.put_all([prepared(changed)])
    assert same(await store.page(TEA.entry.url), changed)
    assert (await store.stats()).chunks == 2


async def test_no_page_of_another_model_is_stored(store: Store) -> None:
    await keep(store, TEA)
    other = replace(prepared(page("wine", ["Wine."])), model=EmbeddingModel("other", DIMENSION))
    with pytest.raises(ModelMismatch):
        await store.put_all([other])
    assert (await store.stats()).pages == 1


async def test_the_versions_of_stored_pages_tell_whether_they_are_complete(store: Store) -> None:
    wine = page("wine", ["Wine is fermented."], crawled_at=NOON + days(1))
    await store.put_all([prepared(TEA), prepared(wine, embedded=False)])
    empty = page("empty", [])
    await store.put(empty.entry, (), {}, None)
    urls = [made.entry.url for made in (TEA, wine, empty)]
    assert await store.versions([*urls, "https://site.example/missing"]) == {
        urls[0]: PageVersion(TEA.entry.content_hash, NOON, complete=True),
        urls[1]: PageVersion(wine.entry.content_hash, NOON + days(1), complete=False),
        urls[2]: PageVersion(empty.entry.content_hash, NOON, complete=False),
    }
    assert await store.versions([]) == {}


async def test_vectors_may_come_later(store: Store) -> None:
    await store.put(TEA.entry, TEA.chunks, {}, None)
    stored = await store.page(TEA.entry.url)
    assert stored == StoredPage(TEA.entry, TEA.chunks, None)
    assert await store.model() is None
    first = TEA.chunks[0]
    await store.put(TEA.entry, TEA.chunks, {first.id: vector(first.text)}, MODEL)
    stored = await store.page(TEA.entry.url)
    assert stored is not None
    assert stored.vectors is None
    await keep(store, TEA)
    assert same(await store.page(TEA.entry.url), TEA)
    for chunk in TEA.chunks:
        found = await store.candidates([], vector(chunk.text), 1)
        assert [one.chunk for one in found] == [chunk]


async def test_a_chunk_without_a_vector_is_found_by_its_words(store: Store) -> None:
    await store.put(TEA.entry, TEA.chunks, {}, None)
    (found,) = await store.candidates(terms("oxidised"), None, 5)
    assert (found.chunk, found.vector) == (TEA.chunks[1], None)


@pytest.mark.parametrize(
    "other",
    [EmbeddingModel("another", DIMENSION), EmbeddingModel(MODEL.name, 32)],
    ids=["name", "dimension"],
)
async def test_another_models_vectors_are_refused(store: Store, other: EmbeddingModel) -> None:
    await keep(store, TEA)
    wine = page("wine", ["Wine is fermented."])
    vectors = {wine.chunks[0].id: vector("Wine", other.dimension)}
    with pytest.raises(ModelMismatch, match="kindly library rebuild"):
        await store.put(wine.entry, wine.chunks, vectors, other)
    assert await store.page(wine.entry.url) is None


async def test_vectors_that_are_not_their_models_are_refused(store: Store) -> None:
    vectors = {TEA.chunks[0].id: vector("tea", 32)}
    with pytest.raises(ValueError, match="dimension"):
        await store.put(TEA.entry, TEA.chunks, vectors, MODEL)
    with pytest.raises(ValueError, match="model"):
        await store.put(TEA.entry, TEA.chunks, TEA.vectors, None)
    assert await store.page(TEA.entry.url) is None


async def test_without_vectors_another_model_may_fill_the_library(store: Store) -> None:
    await keep(store, TEA)
    await store.candidates([], vector("x"), 1)
    await store.drop_vectors()
    assert await store.model() is None
    assert await store.page(TEA.entry.url) == StoredPage(TEA.entry, TEA.chunks, None)
    assert await store.candidates([], vector("x"), 1) == []
    other = EmbeddingModel("another", 32)
    vectors = {chunk.id: vector(chunk.text, 32) for chunk in TEA.chunks}
    await store.put(TEA.entry, TEA.chunks, vectors, other)
    assert await store.model() == other
    (found,) = await store.candidates([], vector(TEA.chunks[2].text, 32), 1)
    assert found.chunk == TEA.chunks[2]
    assert await store.candidates([], vector("of another length"), 1) == []


async def test_candidates_come_by_words_and_by_vector_each_once(store: Store) -> None:
    others = [page(f"p{i}", [f"Nothing number {i} of note."]) for i in range(30)]
    await keep(store, TEA, *others)
    green, black, water = TEA.chunks
    found = await store.candidates(terms("oxidised water"), vector(green.text), 2)
    assert {one.chunk.id for one in found} >= {black.id, water.id, green.id}
    assert len(found) == len({one.chunk.id for one in found}) <= 4
    best = next(one for one in found if one.chunk.id == green.id)
    assert (best.entry, best.chunk) == (TEA.entry, green)
    assert best.vector is not None
    np.testing.assert_allclose(best.vector, vector(green.text), atol=1e-3)


async def test_rare_words_outweigh_frequent_ones(store: Store) -> None:
    plenty = [page(f"p{i}", [f"The kettle of house {i} sings."]) for i in range(40)]
    rare = page("rare", ["A samovar sings too."])
    await keep(store, *plenty, rare)
    found = await store.candidates(terms("kettle samovar"), None, 3)
    assert rare.chunks[0].id in {one.chunk.id for one in found}
    assert len(found) == 3


async def test_a_page_is_found_by_the_words_of_its_title_and_address(store: Store) -> None:
    titled = page("samovar-guide", ["Heat the water slowly.", "Then pour it."])
    await keep(store, TEA, titled)
    (found,) = await store.candidates(terms("samovar"), None, 8)
    assert found.chunk == titled.chunks[0]


@pytest.mark.parametrize("at_once", [False, True], ids=["put", "put_all"])
async def test_a_candidate_has_the_outline_of_its_whole_page(store: Store, at_once: bool) -> None:
    if at_once:
        await store.put_all([prepared(TEA)])
    else:
        await keep(store, TEA)
    (found,) = await store.candidates(terms("oxidised"), None, 5)
    assert from_bytes(found.outline) == from_bytes(to_bytes(outline_of(TEA.entry, TEA.chunks)))


async def test_headings_are_searched_too(store: Store) -> None:
    made = page("guide", ["Press it twice."], section=("Installation",))
    await keep(store, made, TEA)
    (found,) = await store.candidates(terms("installation"), None, 5)
    assert found.chunk == made.chunks[0]


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("緑茶は蒸して作られる。", "緑茶"),
        ("call os.path.join now", "os.path.join"),
        ("the name snake_case_name here", "snake_case_name"),
        ("Größe und Maß", "grosse"),
        ("version 3.11.7 is out", "3.11.7"),
        ("عاصمة فرنسا باريس", "فرنسا"),
    ],
)
async def test_every_script_is_found(store: Store, text: str, question: str) -> None:
    made = page("script", [text])
    await keep(store, made, TEA)
    found = await store.candidates(terms(question), None, 1)
    assert [one.chunk for one in found] == list(made.chunks)


@pytest.mark.parametrize(
    "term", ["'", '"', "a' OR 1=1 --", "\\", "&|!():*", "%", "\x00", "x" * 5000]
)
async def test_a_hostile_term_finds_nothing_and_harms_nothing(store: Store, term: str) -> None:
    await keep(store, TEA)
    assert await store.candidates([term], None, 5) == []
    assert len(await store.candidates([term, *terms("oxidised")], None, 5)) == 1


async def test_many_terms_are_taken(store: Store) -> None:
    await keep(store, TEA)
    many = [f"word{i}" for i in range(3000)]
    assert await store.candidates(many, None, 5) == []
    assert len(await store.candidates([*terms("oxidised"), *many], None, 5)) == 1


async def test_pages_are_listed_the_latest_first(store: Store) -> None:
    made = [page(f"p{i}", ["x"], crawled_at=NOON + days(i)) for i in range(5)]
    await keep(store, *made)
    entries = [one.entry for one in reversed(made)]
    assert await store.entries() == entries
    assert await store.entries(limit=2, offset=1) == entries[1:3]


async def test_every_page_is_iterated(store: Store) -> None:
    made = {f"p{i}": page(f"p{i}", [f"text {i}", "more"]) for i in range(5)}
    await keep(store, *made.values())
    stored_pages = [stored async for stored in store.pages()]
    assert len(stored_pages) == 5
    for stored in stored_pages:
        assert same(stored, made[stored.entry.url.rsplit("/", 1)[1]])


async def test_a_touched_page_is_newer_and_otherwise_the_same(store: Store) -> None:
    await keep(store, TEA)
    await store.touch(TEA.entry.url, NOON + days(2))
    await store.touch("https://site.example/unknown", NOON)
    expected = replace(TEA, entry=replace(TEA.entry, crawled_at=NOON + days(2)))
    assert same(await store.page(TEA.entry.url), expected)


async def test_former_versions_of_a_page_are_kept_up_to_a_number(store: Store) -> None:
    made = [page("tea", [f"Version {n}."], crawled_at=NOON + days(n)) for n in range(8)]
    for one in made:
        await keep(store, one)
        await keep(store, one)
    former = await store.former(TEA.entry.url)
    assert [one.text for one in former] == [f"Version {n}." for n in (6, 5, 4, 3, 2)]
    newest = made[6].entry
    assert [one.replaced_at for one in former[1:]] == [one.crawled_at for one in former[:-1]]
    assert (former[0].crawled_at, former[0].content_hash) == (
        newest.crawled_at,
        newest.content_hash,
    )
    assert await store.former("https://site.example/unknown") == []
    await store.forget(TEA.entry.url)
    assert await store.former(TEA.entry.url) == []


async def test_former_versions_leave_with_their_page(store: Store) -> None:
    for n in range(2):
        await keep(store, page("tea", [f"Version {n}."]))
    await store.evict(max_bytes=0, before=NOON)
    assert await store.former(TEA.entry.url) == []


async def test_a_forgotten_page_is_found_no_more(store: Store) -> None:
    wine = page("wine", ["Wine is fermented."])
    await keep(store, TEA, wine)
    await store.candidates([], vector("warm up"), 9)
    assert await store.forget(TEA.entry.url) == 1
    assert await store.page(TEA.entry.url) is None
    found = await store.candidates(terms("oxidised"), vector("Black tea is oxidised."), 9)
    assert [one.entry for one in found] == [wine.entry]
    assert await store.forget() == 1
    assert await store.entries() == []
    assert await store.candidates(terms("wine"), vector("x"), 9) == []
    await keep(store, TEA)
    assert len(await store.candidates(terms("oxidised"), vector("x"), 9)) == 3


async def test_old_pages_leave(store: Store) -> None:
    made = [page(f"p{i}", ["x"], crawled_at=NOON - days(i)) for i in range(5)]
    await keep(store, *made)
    assert await store.evict(max_bytes=10**9, before=NOON - days(2)) == 2
    assert await store.entries() == [one.entry for one in made[:3]]


async def test_the_oldest_pages_leave_until_the_rest_fits(store: Store) -> None:
    made = [page(f"p{i}", [f"{i}" * 20_000], crawled_at=NOON - days(i)) for i in range(10)]
    await keep(store, *made)
    assert await store.evict(max_bytes=10**9, before=NOON - days(99)) == 0
    gone = await store.evict(max_bytes=300_000, before=NOON - days(99))
    assert 0 < gone < 10
    assert await store.entries() == [one.entry for one in made[: 10 - gone]]
    assert await store.evict(max_bytes=300_000, before=NOON - days(99)) == 0
    assert await store.evict(max_bytes=0, before=NOON - days(99)) == 10 - gone
    assert (await store.stats()).pages == 0


async def test_stats_tell_what_is_there(name: str, store: Store) -> None:
    old = page("old", ["a", "b"], crawled_at=NOON - days(9))
    await keep(store, TEA, old)
    found = await store.stats()
    assert (found.kind, found.pages, found.chunks, found.model) == (name, 2, 5, MODEL)
    assert (found.oldest, found.newest) == (NOON - days(9), NOON)
    assert found.size_bytes > 0
    assert found.place


async def test_pages_put_at_the_same_moment_are_all_there(store: Store) -> None:
    made = [page(f"p{i}", [f"text {i}"]) for i in range(20)]
    with anyio.fail_after(120):
        async with anyio.create_task_group() as tasks:
            for one in made:
                tasks.start_soon(keep, store, one)
    for one in made:
        assert same(await store.page(one.entry.url), one)


async def test_one_page_put_by_many_at_once_is_one_page(name: str, opened: Opener) -> None:
    store = opened()
    stores = [store, store, store] if name not in KEPT else [store, store, opened()]
    with anyio.fail_after(120):
        async with anyio.create_task_group() as tasks:
            for one in stores:
                tasks.start_soon(keep, one, TEA)
    assert same(await store.page(TEA.entry.url), TEA)
    assert (await store.stats()).chunks == 3


async def test_only_one_at_a_time_works_on_a_page(store: Store) -> None:
    inside, most, done = 0, 0, 0

    async def work(url: str) -> None:
        nonlocal inside, most, done
        async with store.lock(url):
            inside += 1
            most = max(most, inside)
            await anyio.lowlevel.checkpoint()
            inside -= 1
            done += 1

    with anyio.fail_after(120):
        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(work, TEA.entry.url)
    assert (most, done) == (1, 5)


async def test_work_on_different_pages_does_not_wait(store: Store) -> None:
    one, other = "https://a.example/", "https://b.example/"
    with anyio.move_on_after(60) as waiting:
        async with store.lock(one), store.lock(other):
            pass
    assert not waiting.cancelled_caught


async def test_a_caller_that_is_cancelled_leaves_the_page_unlocked(store: Store) -> None:
    url = TEA.entry.url

    async def work(started: anyio.Event) -> None:
        async with store.lock(url):
            started.set()
            await anyio.sleep_forever()

    with anyio.fail_after(120):
        async with anyio.create_task_group() as tasks:
            working, waiting = anyio.Event(), anyio.Event()
            tasks.start_soon(work, working)
            await working.wait()
            tasks.start_soon(work, waiting)
            await anyio.wait_all_tasks_blocked()
            assert not waiting.is_set()
            tasks.cancel_scope.cancel()
        async with store.lock(url):
            pass


async def test_a_cancelled_call_leaves_the_library_usable(store: Store) -> None:
    for _ in range(5):
        with anyio.CancelScope() as scope:
            scope.cancel()
            await store.put(TEA.entry, TEA.chunks, TEA.vectors, MODEL)
        with anyio.CancelScope() as scope:
            scope.cancel()
            await store.page(TEA.entry.url)
    await keep(store, TEA)
    assert same(await store.page(TEA.entry.url), TEA)


async def test_a_closed_store_opens_again(name: str, store: Store) -> None:
    await keep(store, TEA)
    await store.aclose()
    await store.aclose()
    if name in KEPT:
        assert same(await store.page(TEA.entry.url), TEA)
