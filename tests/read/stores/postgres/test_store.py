"""PostgreSQL alone: replicas, lost connections, no pgvector, foreign and newer tables, no secrets in errors."""

import contextlib
from collections.abc import Iterator
from dataclasses import replace

import anyio
import psycopg
import pytest
from pgvector.psycopg import register_vector

from kindly.errors import StoreRefused, StoreUnavailable
from kindly.models import RecallScope
from kindly.read.store import EmbeddingModel
from kindly.read.stores.postgres import search
from kindly.read.stores.postgres.pool import CONNECTIONS, Postgres, _reason
from kindly.read.stores.postgres.rows import MIGRATIONS
from kindly.read.stores.postgres.search import Frequencies, WordCounts, _to_frequencies
from kindly.read.stores.postgres.store import PostgresStore
from kindly.text.terms import terms
from tests.support.postgres import running_postgres, schema
from tests.support.stored_pages import MODEL, page, vector

pytestmark = pytest.mark.anyio

TEA = page("tea", ["Green tea is steamed.", "Black tea is oxidised."])
WINE = page("wine", ["Wine is fermented."])
NEXT = (*MIGRATIONS, "ALTER TABLE kindly_documents ADD COLUMN note text NOT NULL DEFAULT ''")
SECRET = "hunter2-and-more"


@pytest.fixture
def url(postgres: str) -> str:
    return schema(postgres)


@contextlib.contextmanager
def asked(url: str) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    with psycopg.connect(url, autocommit=True) as connection:
        yield connection


def cut_off(url: str) -> None:
    """End every other connection to the server."""
    with asked(url) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE application_name = 'kindly' AND pid <> pg_backend_pid()"
        )


async def kept(url: str) -> None:
    async with contextlib.aclosing(PostgresStore(url)) as store:
        await store.put(TEA.entry, TEA.chunks, TEA.vectors, MODEL)


async def test_what_one_server_reads_another_recalls(url: str) -> None:
    one, other = PostgresStore(url), PostgresStore(url)
    await one.put(TEA.entry, TEA.chunks, TEA.vectors, MODEL)
    found = await other.candidates(terms("oxidised"), vector("x"), 1)
    assert TEA.chunks[1] in [each.chunk for each in found]
    await one.aclose()
    await other.aclose()


async def test_servers_that_start_at_once_make_one_library(url: str) -> None:
    stores = [PostgresStore(url) for _ in range(5)]
    with anyio.fail_after(120):
        async with anyio.create_task_group() as tasks:
            for store in stores:
                tasks.start_soon(store.put, TEA.entry, TEA.chunks, TEA.vectors, MODEL)
    assert (await stores[0].stats()).chunks == 2
    for store in stores:
        await store.aclose()


async def test_servers_with_different_models_do_not_mix(url: str) -> None:
    one, other = PostgresStore(url), PostgresStore(url)
    wine = {WINE.chunks[0].id: vector("wine", 32)}
    failed = []

    async def put(store: PostgresStore, *values: object) -> None:
        try:
            await store.put(*values)  # type: ignore[arg-type]
        except Exception as error:  # noqa: BLE001 - looked at below
            failed.append(type(error).__name__)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(put, one, TEA.entry, TEA.chunks, TEA.vectors, MODEL)
        tasks.start_soon(put, other, WINE.entry, WINE.chunks, wine, EmbeddingModel("another", 32))
    assert failed == ["ModelMismatch"]
    assert (await one.stats()).pages == 1
    await one.aclose()
    await other.aclose()


async def test_servers_take_turns_on_a_page(url: str) -> None:
    stores = [PostgresStore(url) for _ in range(3)]
    inside, most, done = 0, 0, 0

    async def work(store: PostgresStore) -> None:
        nonlocal inside, most, done
        async with store.lock(TEA.entry.url):
            inside += 1
            most = max(most, inside)
            await store.page(TEA.entry.url)
            inside -= 1
            done += 1

    with anyio.fail_after(120):
        async with anyio.create_task_group() as tasks:
            for store in stores * 2:
                tasks.start_soon(work, store)
    assert (most, done) == (1, 6)
    for store in stores:
        await store.aclose()


async def test_a_server_that_dies_lets_go_of_its_page(url: str) -> None:
    dead, alive = PostgresStore(url), PostgresStore(url)
    held: list[str] = []
    with anyio.fail_after(120):
        async with dead.lock(TEA.entry.url):
            cut_off(url)
            async with alive.lock(TEA.entry.url):
                held.append("alive")
        async with dead.lock(TEA.entry.url):
            held.append("dead")
        await dead.aclose()
        await alive.aclose()
    assert held == ["alive", "dead"]


async def test_holding_a_page_takes_no_connection_from_the_others(url: str) -> None:
    store = PostgresStore(url)
    with anyio.fail_after(120):
        async with contextlib.AsyncExitStack() as stack:
            for number in range(3 * CONNECTIONS):
                await stack.enter_async_context(store.lock(f"https://a.example/{number}"))
            await store.put(TEA.entry, TEA.chunks, TEA.vectors, MODEL)
            assert await store.entries() == [TEA.entry]
    await store.aclose()


async def test_a_lost_connection_is_dialled_again(url: str) -> None:
    store = PostgresStore(url)
    async with anyio.create_task_group() as tasks:
        for _ in range(4):
            tasks.start_soon(store.entries)
    cut_off(url)
    await store.put(TEA.entry, TEA.chunks, TEA.vectors, MODEL)
    cut_off(url)
    assert await store.entries() == [TEA.entry]
    await store.aclose()


async def test_a_server_that_stops_is_reported() -> None:
    with running_postgres() as url:
        store = PostgresStore(url)
        await store.put(TEA.entry, TEA.chunks, TEA.vectors, MODEL)
    with pytest.raises(StoreUnavailable):
        await store.entries()
    with pytest.raises(StoreUnavailable):
        async with store.lock(TEA.entry.url):
            raise AssertionError
    await store.aclose()


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://user:{SECRET}@127.0.0.1:1/library",
        f"postgresql://user:{SECRET}@[broken/library",
        f"postgresql://user:{SECRET}@127.0.0.1:1/library?nonsense=1",
        f"user={SECRET} password='{SECRET}",
    ],
    ids=["no server", "bad host", "bad option", "bad words"],
)
async def test_an_address_that_fails_is_reported_without_its_secrets(address: str) -> None:
    store = PostgresStore(address)
    with anyio.fail_after(120), pytest.raises(StoreUnavailable) as raised:
        await store.entries()
    shown = (
        f"{raised.value} {raised.value!r} {raised.value.__cause__!r} {store!r} {store._server!r}"
    )
    assert SECRET not in shown
    await store.aclose()


async def test_an_unknown_database_or_user_is_reported(postgres: str) -> None:
    for address, reason in (
        (postgres.replace("/postgres?", "/nowhere?"), "no such database or user"),
        (postgres.replace("postgres:@", f"nobody:{SECRET}@"), "no such database or user"),
    ):
        store = PostgresStore(address)
        with pytest.raises(StoreUnavailable, match=reason):
            await store.entries()
        await store.aclose()


async def test_a_server_without_pgvector_is_reported_with_the_fix(postgres: str) -> None:
    """The user may not create extensions, and the database has none."""
    with asked(postgres) as connection:
        connection.execute("CREATE DATABASE bare")
        connection.execute("CREATE ROLE guest LOGIN")
        connection.execute("GRANT CREATE ON DATABASE bare TO guest")
        connection.execute("UPDATE pg_database SET datistemplate = false WHERE datname = 'bare'")
    as_guest = postgres.replace("postgres:@/postgres?", "guest:@/bare?")
    with asked(postgres.replace("/postgres?", "/bare?")) as connection:
        connection.execute("REVOKE CREATE ON DATABASE bare FROM guest")
    store = PostgresStore(as_guest)
    with pytest.raises(StoreUnavailable, match="CREATE EXTENSION vector"):
        await store.entries()
    await store.aclose()


async def test_pgvector_outside_the_search_path_is_reported(postgres: str) -> None:
    """The type is there, but in a schema that is not searched."""
    with asked(postgres) as connection:
        connection.execute("CREATE DATABASE hidden")
    address = postgres.replace("/postgres?", "/hidden?")
    await kept(address)
    with asked(address) as connection:
        connection.execute("CREATE SCHEMA elsewhere")
        connection.execute("ALTER EXTENSION vector SET SCHEMA elsewhere")
    store = PostgresStore(address)
    with pytest.raises(StoreUnavailable, match="pgvector"):
        await store.entries()
    await store.aclose()


async def test_a_library_from_before_collections_keeps_its_pages(url: str) -> None:
    before = Postgres(url, MIGRATIONS[:3])
    row = """
        INSERT INTO kindly_documents (key, url, title, last_crawled, content_hash, total, how, partial, size)
        VALUES ('k', 'u', 't', now(), 'h', 1, 'http', false, 1)
    """
    await before.run(lambda connection: connection.execute(row))
    await before.aclose()
    async with contextlib.aclosing(PostgresStore(url)) as store:
        (entry,) = await store.entries()
        assert (entry.key, entry.collection) == ("u", "")
        assert await store.crawls.collections() == []


async def test_an_older_library_is_migrated_and_a_newer_one_refused(url: str) -> None:
    await kept(url)
    async with contextlib.aclosing(PostgresStore(url, migrations=NEXT)) as newer:
        assert await newer.entries() == [TEA.entry]
    with asked(url) as connection:
        assert connection.execute("SELECT note FROM kindly_documents").fetchall() == [("",)]
    async with contextlib.aclosing(PostgresStore(url)) as older:
        with pytest.raises(StoreRefused, match="Upgrade"):
            await older.entries()


async def test_what_ranking_needs_of_a_chunk_is_stored_with_it(url: str) -> None:
    ready = [replace(one, prepared=b"\x01ready") for one in TEA.chunks]
    async with contextlib.aclosing(PostgresStore(url)) as store:
        await store.put(TEA.entry, ready, TEA.vectors, MODEL)
        stored = await store.page(TEA.entry.url)
        found = await store.candidates(terms(TEA.chunks[0].text), None, 5)
    assert stored is not None
    assert {one.prepared for one in stored.chunks} == {b"\x01ready"}
    assert {one.chunk.prepared for one in found} == {b"\x01ready"}


@pytest.mark.parametrize(
    ("counts", "queries", "rows"),
    [
        (Frequencies(), ["'the'", "'teapot'", "'kiln'"], search.MAX_ROWS),
        (Frequencies({"the": 90_000.0}, 1000.0), ["'teapot'", "'kiln'"], search.MAX_ROWS),
        (
            Frequencies({"the": 900_000.0}, 10_000.0),
            ["'teapot' & 'kiln'", "'teapot'", "'kiln'"],
            1000,
        ),
        (
            Frequencies({"the": 9e5, "teapot": 9e5, "kiln": 9e5}, 4e5),
            ["'the' & 'teapot' & 'kiln'"],
            search.MAX_ROWS,
        ),
    ],
    ids=["no statistics", "rare words", "rare words of a large library", "only frequent words"],
)
def test_words_are_asked_for_by_how_many_chunks_have_them(
    counts: Frequencies, queries: list[str], rows: int
) -> None:
    assert search.word_queries(["the", "teapot", "kiln"], counts) == (queries, rows)


async def test_tables_that_are_not_a_librarys_are_refused(url: str) -> None:
    with asked(url) as connection:
        connection.execute("CREATE TABLE kindly_meta (key text PRIMARY KEY, value text)")
    async with contextlib.aclosing(PostgresStore(url)) as store:
        with pytest.raises(StoreRefused):
            await store.entries()


async def test_a_migration_that_fails_changes_nothing(url: str) -> None:
    await kept(url)
    broken = PostgresStore(url, migrations=(*MIGRATIONS, "DROP TABLE kindly_chunks; NONSENSE"))
    with pytest.raises(StoreUnavailable):
        await broken.entries()
    await broken.aclose()
    async with contextlib.aclosing(PostgresStore(url)) as store:
        assert await store.page(TEA.entry.url) is not None


async def test_a_deadlock_is_tried_again(url: str) -> None:
    server = Postgres(url, MIGRATIONS)
    tries = iter([psycopg.errors.DeadlockDetected(), psycopg.errors.SerializationFailure()])

    def work(_: object) -> str:
        for error in tries:
            raise error
        return "done"

    assert await server.run(work) == "done"
    await server.aclose()


async def test_vectors_have_an_index_of_their_length(url: str) -> None:
    await kept(url)
    with asked(url) as connection:
        connection.execute("SET enable_seqscan = off")
        plan = connection.execute(
            "EXPLAIN SELECT n FROM kindly_chunks WHERE embedding IS NOT NULL "
            "ORDER BY embedding::halfvec(64) <=> array_fill(1, ARRAY[64])::real[]::halfvec(64) LIMIT 5"
        ).fetchall()
    assert "kindly_chunks_near" in str(plan)


async def test_vectors_too_long_for_an_index_are_compared_all(url: str) -> None:
    async with contextlib.aclosing(PostgresStore(url)) as store:
        vectors = {chunk.id: vector(chunk.text, 4001) for chunk in TEA.chunks}
        await store.put(TEA.entry, TEA.chunks, vectors, EmbeddingModel("long", 4001))
        (found,) = await store.candidates([], vector(TEA.chunks[0].text, 4001), 1)
        assert found.chunk == TEA.chunks[0]


async def test_a_very_long_address_is_kept(url: str) -> None:
    async with contextlib.aclosing(PostgresStore(url)) as store:
        made = page("x" * 20_000, ["Tea."])
        await store.put(made.entry, made.chunks, made.vectors, MODEL)
        stored = await store.page(made.entry.url)
        assert stored is not None
        assert stored.entry == made.entry


async def test_frequent_words_are_left_out_once_postgresql_has_counted_them(url: str) -> None:
    clock = iter(range(0, 10**6, 1000))
    async with contextlib.aclosing(PostgresStore(url, clock=lambda: float(next(clock)))) as store:
        made = page("plenty", [f"kettle {number}" for number in range(300)])
        await store.put(made.entry, made.chunks, {}, None)
        with asked(url) as connection:
            connection.execute("ANALYZE kindly_chunks")
        found = await store.candidates(terms("kettle 7"), None, 1)
        assert [one.chunk for one in found] == [made.chunks[7]]


@pytest.mark.parametrize(
    ("sqlstate", "text", "reason"),
    [
        (
            None,
            'password authentication failed for user "x"',
            "it refused the user or the password",
        ),
        (None, "Connection refused", "it cannot be reached"),
        (None, "FATAL: sorry, too many clients already", "it has too many connections"),
        ("53100", "x", "its disk is full"),
        ("57P01", "x", "it is shutting down or starting"),
        ("XX000", "page text", "it reported error XX000"),
    ],
)
def test_reasons_are_plain_words(sqlstate: str | None, text: str, reason: str) -> None:
    assert _reason(sqlstate, text) == reason


def test_a_table_that_was_never_counted_says_nothing() -> None:
    assert _to_frequencies(None, None, -1) == Frequencies()


def test_words_not_counted_are_taken_for_rare() -> None:
    counts = Frequencies({"the": 900.0, "tea": 100.0}, 50.0)
    assert sorted(["tea", "the", "samovar"], key=counts.of) == ["samovar", "tea", "the"]


async def test_words_that_are_all_frequent_must_be_in_the_same_chunk(url: str) -> None:
    async with contextlib.aclosing(PostgresStore(url)) as store:
        made = page("p", ["kettle here", "teapot here", "kettle and teapot"])
        await store.put(made.entry, made.chunks, {}, None)

        class Counted(WordCounts):
            def now(self, connection: object) -> Frequencies:
                often = 2.0 * search.MAX_ROWS
                return Frequencies({"kettl": often, "teapot": often})

        store._counts = Counted(lambda: 0.0)
        found = await store.candidates(terms("kettle teapot"), None, 5)
        assert [one.chunk for one in found] == [made.chunks[2]]


@pytest.mark.parametrize("exact_chunks", [10, 1], ids=["exactly", "by the index"])
async def test_the_nearest_of_a_scope_are_found_whatever_its_size(
    url: str, exact_chunks: int
) -> None:
    async with contextlib.aclosing(PostgresStore(url)) as store:
        for name in ("a", "b"):
            made = page(name, [f"kettle {name}", f"teapot {name}", f"samovar {name}"])
            vectors = {one.id: vector(one.text) for one in made.chunks}
            entry = replace(made.entry, collection=name)
            await store.put(entry, made.chunks, vectors, MODEL)
    with asked(url) as connection, connection.transaction():
        register_vector(connection)
        scope = RecallScope(collection="b")
        found = search.nearest_in_scope(connection, vector("teapot b"), 2, scope, exact_chunks)
        texts = connection.execute("SELECT text FROM kindly_chunks WHERE n = %s", (found[0],))
        assert texts.fetchall() == [("teapot b",)]
        assert len(found) == 2
        assert connection.execute("SHOW enable_sort").fetchone() == ("on",)
