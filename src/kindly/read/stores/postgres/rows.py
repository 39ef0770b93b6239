"""The tables of the library in PostgreSQL and the statements on them, which run inside the caller's transaction."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from kindly.frozen import frozen
from kindly.models import Chunk, StoredPageInfo
from kindly.read import row_format
from kindly.read.crawls.crawl_sql import Dialect, Execute
from kindly.read.evidence.page_versions import FormerVersion, VersionTable
from kindly.read.pages.page_outline import page_indexing
from kindly.read.row_format import DOCUMENT, PREPARED_CHUNK, Row
from kindly.read.store import EmbeddingModel, PageVersion, PreparedPage, StoredPage, StoreStats

if TYPE_CHECKING:
    import numpy as np
    import psycopg
    from numpy.typing import NDArray
    from pgvector import HalfVector

    Vectors = NDArray[np.float32]
    Connection = psycopg.Connection[tuple[Any, ...]]

MAX_INDEXED_DIMENSION = 4000
MAX_POSITION = 16_383
MAX_TERMS_OF_CHUNK = 20_000
CRAWLS = Dialect("kindly_", "%s", " FOR UPDATE", " FOR UPDATE SKIP LOCKED")
FORMER = VersionTable(CRAWLS, "bytea")
MIGRATIONS = (
    """
CREATE TABLE kindly_meta (key text PRIMARY KEY, value text);
CREATE TABLE kindly_documents (
    doc bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, key text NOT NULL UNIQUE,
    url text NOT NULL, title text NOT NULL, etag text, last_modified text,
    last_crawled timestamptz NOT NULL, content_hash text NOT NULL, total bigint NOT NULL,
    language text, how text NOT NULL, partial boolean NOT NULL, size bigint NOT NULL
);
CREATE INDEX kindly_documents_by_age ON kindly_documents (last_crawled);
CREATE TABLE kindly_chunks (
    n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    doc bigint NOT NULL REFERENCES kindly_documents ON DELETE CASCADE, position integer NOT NULL,
    embedding halfvec, words tsvector NOT NULL, id text NOT NULL, section_path text NOT NULL,
    start_at bigint NOT NULL, end_at bigint NOT NULL, tokens integer NOT NULL, text text NOT NULL
);
ALTER TABLE kindly_chunks ALTER words SET STORAGE MAIN;
CREATE INDEX kindly_chunks_of_document ON kindly_chunks (doc, position);
CREATE INDEX kindly_chunks_words ON kindly_chunks USING gin (words) WITH (fastupdate = off);
""",
    "ALTER TABLE kindly_chunks ADD COLUMN prepared bytea",
    "ALTER TABLE kindly_documents ADD COLUMN cut boolean NOT NULL DEFAULT false",
    "ALTER TABLE kindly_documents ADD COLUMN collection text NOT NULL DEFAULT '';\n"
    "CREATE INDEX kindly_documents_of_collection ON kindly_documents (collection) "
    f"WHERE collection <> '';\n{CRAWLS.migration}",
    "ALTER TABLE kindly_documents ADD COLUMN outline bytea",
    FORMER.migration,
    FORMER.second_migration,
)
# The statements below contain no values, only the two lists of column names.
ENTRY = f"SELECT {DOCUMENT}, doc FROM kindly_documents".encode()  # noqa: S608
DOC_NUMBER = row_format.DOCUMENT_COLUMNS
CHUNK_NUMBER, FIRST_OF_CHUNK = DOC_NUMBER + 1, DOC_NUMBER + 2
EMBEDDING = FIRST_OF_CHUNK + row_format.PREPARED_CHUNK_COLUMNS
"""Columns of `PAGE`."""
PAGE = f"""
SELECT {DOCUMENT}, doc, c.n, {PREPARED_CHUNK}, embedding
FROM kindly_documents LEFT JOIN kindly_chunks AS c USING (doc)
""".encode()  # noqa: S608
UPSERT_DOCUMENT = f"""
INSERT INTO kindly_documents ({DOCUMENT}, key, size, outline)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, encode(sha256(convert_to(%s, 'UTF8')), 'hex'), %s, %s)
ON CONFLICT (key) DO UPDATE SET title = excluded.title, etag = excluded.etag,
    last_modified = excluded.last_modified, last_crawled = excluded.last_crawled,
    content_hash = excluded.content_hash, total = excluded.total, language = excluded.language,
    how = excluded.how, partial = excluded.partial, cut = excluded.cut,
    size = excluded.size, outline = excluded.outline
RETURNING doc
""".encode()  # noqa: S608
INSERT_CHUNK = f"""
INSERT INTO kindly_chunks ({PREPARED_CHUNK}, doc, position, words, embedding)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s::tsvector, %s)
""".encode()  # noqa: S608
MOVE_CHUNK = """
UPDATE kindly_chunks SET position = %s, start_at = %s, end_at = %s, tokens = %s WHERE n = %s
"""
KNOWN = """
SELECT id, n, position, start_at, end_at, tokens, embedding IS NOT NULL
FROM kindly_chunks WHERE doc = %s
"""
VERSION = b"""
SELECT url, content_hash, last_crawled,
    EXISTS (SELECT FROM kindly_chunks AS c WHERE c.doc = d.doc)
    AND NOT EXISTS (SELECT FROM kindly_chunks AS c WHERE c.doc = d.doc AND embedding IS NULL)
FROM kindly_documents AS d
"""
OF_URL = b" WHERE key = encode(sha256(convert_to(%s, 'UTF8')), 'hex')"
"""By hash, because an address may be too long for an index."""


@frozen
class PostgresNewPage:
    """A page to write, with the lexemes of its chunks."""

    entry: StoredPageInfo
    chunks: tuple[Chunk, ...]
    words: Mapping[str, str]
    vectors: "Mapping[str, Vectors]"
    model: EmbeddingModel | None
    outline: bytes


def new_page(
    entry: StoredPageInfo,
    chunks: tuple[Chunk, ...],
    terms: Mapping[str, Sequence[str]],
    vectors: "Mapping[str, Vectors]",
    model: EmbeddingModel | None,
) -> PostgresNewPage:
    """A page to write, from the terms of its chunks by id."""
    indexing = page_indexing(entry, chunks)
    named = {chunks[0].id: indexing.named.split()} if chunks else {}
    words = {id_: _lexemes([*named.get(id_, ()), *own]) for id_, own in terms.items()}
    return PostgresNewPage(entry, chunks, words, vectors, model, indexing.outline)


def terms_of(chunks: Iterable[Chunk]) -> dict[str, list[str]]:
    """The indexed terms of chunks, by id."""
    return {chunk.id: row_format.indexed_terms(chunk) for chunk in chunks}


def _lexemes(terms: Sequence[str]) -> str:
    places: dict[str, list[str]] = {}
    for place, term in enumerate(terms[:MAX_TERMS_OF_CHUNK], 1):
        places.setdefault(term, []).append(str(min(place, MAX_POSITION)))
    return " ".join(f"{quoted(term)}:{','.join(where)}" for term, where in places.items())


def quoted(term: str) -> str:
    """A term, quoted for a tsvector or tsquery."""
    doubled = term.replace("\\", "\\\\").replace("'", "''")
    return f"'{doubled}'"


def model_of(connection: "Connection") -> EmbeddingModel | None:
    """The model of the vectors."""
    return row_format.to_model(
        dict(connection.execute("SELECT key, value FROM kindly_meta").fetchall())
    )


def entries(
    limit: int, offset: int, collection: str, connection: "Connection"
) -> list[StoredPageInfo]:
    """Pages, newest first."""
    latest = b" WHERE %s IN ('', collection) ORDER BY last_crawled DESC, url LIMIT %s OFFSET %s"
    found = connection.execute(ENTRY + latest, (collection, limit, offset))
    return list(map(to_entry, found.fetchall()))


def page_of(url: str, connection: "Connection") -> StoredPage | None:
    """A page with all its chunks."""
    found = connection.execute(PAGE + OF_URL + b" ORDER BY c.position", (url,), binary=True)
    return _to_page(found.fetchall())


def next_page(after: int, connection: "Connection") -> tuple[int, StoredPage] | None:
    """The page that was added after the one with this number, with its own number."""
    following = (
        b" WHERE doc = (SELECT min(doc) FROM kindly_documents WHERE doc > %s) ORDER BY c.position"
    )
    found = connection.execute(PAGE + following, (after,), binary=True).fetchall()
    stored = _to_page(found)
    return None if stored is None else (found[0][DOC_NUMBER], stored)


def _to_page(found: Sequence[Row]) -> StoredPage | None:
    import numpy as np

    if not found:
        return None
    entry = to_entry(found[0])
    if found[0][CHUNK_NUMBER] is None:
        return StoredPage(entry, (), None)
    chunks = tuple(row_format.to_prepared_chunk(entry.key, row[FIRST_OF_CHUNK:]) for row in found)
    if any(row[EMBEDDING] is None for row in found):
        return StoredPage(entry, chunks, None)
    return StoredPage(entry, chunks, np.stack([to_vector(row[EMBEDDING]) for row in found]))


def to_entry(row: Row) -> StoredPageInfo:
    """The page from a row that begins with the columns of `DOCUMENT`."""
    return row_format.to_entry(row, row[row_format.LAST_CRAWLED].astimezone(UTC))


def to_vector(half: "HalfVector") -> "Vectors":
    """Half-precision → float32."""
    vector: Vectors = half.to_numpy().astype("float32")
    return vector


def put(page: PostgresNewPage, connection: "Connection") -> None:
    """Store the page as exactly these chunks."""
    model = _settled_model(connection, page)
    _keep_former(page.entry, connection)
    dimension = model.dimension if model else 0
    size = row_format.estimated_bytes(page.chunks, dimension) + len(page.outline)
    values = row_format.from_entry(page.entry, page.entry.crawled_at)
    added = (page.entry.key, size, page.outline)
    row = connection.execute(UPSERT_DOCUMENT, (*values, *added)).fetchone()
    doc = row[0] if row else 0
    known = {
        id_: (n, tuple(place), has)
        for id_, n, *place, has in connection.execute(KNOWN, (doc,)).fetchall()
    }
    unchanged = {
        one.id
        for one in page.chunks
        if one.id in known and (known[one.id][2] or one.id not in page.vectors)
    }
    dropped = [n for id_, (n, _, _) in known.items() if id_ not in unchanged]
    if dropped:
        connection.execute("DELETE FROM kindly_chunks WHERE n = ANY(%s)", (dropped,))
    new = []
    for position, one in enumerate(page.chunks):
        place = (position, one.start, one.end, one.tokens)
        if one.id not in unchanged:
            values = row_format.from_prepared_chunk(one)
            new.append((*values, doc, position, page.words[one.id], _half(page, one)))
        elif place != known[one.id][1]:
            connection.execute(MOVE_CHUNK, (*place, known[one.id][0]))
    with connection.cursor() as cursor:
        cursor.executemany(INSERT_CHUNK, new)


def _keep_former(entry: StoredPageInfo, connection: "Connection") -> None:
    """Keep the version that another text replaces."""
    hash_of = b"SELECT content_hash FROM kindly_documents"
    row = connection.execute(hash_of + OF_URL, (entry.key,)).fetchone()
    load = partial(page_of, entry.key, connection)
    if version := row_format.replaced_version(entry, row[0] if row else None, load):
        FORMER.keep(executor(connection), entry.key, version)


def former_versions(key: str, connection: "Connection") -> list[FormerVersion]:
    """The former versions of a page."""
    return FORMER.of(executor(connection), key)


def put_all(pages: Sequence[PreparedPage], connection: "Connection") -> None:
    """Store several pages whose terms and vectors are computed already."""
    for page in sorted(pages, key=lambda one: one.entry.key):  # all writers lock rows in one order
        entry = row_format.storable_entry(page.entry)
        chunks = row_format.storable_chunks(page.chunks)
        terms = {id_: own.split() for id_, own in page.terms.items()}
        vectors = row_format.to_vectors(page.halves)
        put(new_page(entry, chunks, terms, vectors, page.model), connection)


def versions(urls: Sequence[str], connection: "Connection") -> dict[str, PageVersion]:
    """The stored versions of these pages."""
    found = (connection.execute(VERSION + OF_URL, (url,)).fetchone() for url in urls)
    return {
        url: PageVersion(content_hash, crawled.astimezone(UTC), complete)
        for url, content_hash, crawled, complete in filter(None, found)
    }


def _half(page: PostgresNewPage, chunk: Chunk) -> "HalfVector | None":
    from pgvector import HalfVector

    vector = page.vectors.get(chunk.id)
    return None if vector is None else HalfVector(vector)


def _settled_model(connection: "Connection", page: PostgresNewPage) -> EmbeddingModel | None:
    """The model of the stored vectors; the page's model, if its vectors are the first."""
    stored = model_of(connection)
    first = row_format.model_to_keep(stored, page.model, page.vectors)
    if first is None:
        return stored
    insert = "INSERT INTO kindly_meta VALUES (%s, %s) ON CONFLICT DO NOTHING"
    connection.execute(insert, (row_format.MODEL_NAME, first.name))
    connection.execute(insert, (row_format.MODEL_DIMENSION, str(first.dimension)))
    row_format.model_to_keep(model_of(connection), page.model, page.vectors)
    if first.dimension <= MAX_INDEXED_DIMENSION:
        connection.execute(
            b"CREATE INDEX IF NOT EXISTS kindly_chunks_near ON kindly_chunks "
            b"USING hnsw ((embedding::halfvec(%d)) halfvec_cosine_ops)" % first.dimension
        )
    return first


def drop_vectors(connection: "Connection") -> None:
    """Drop all vectors and the model."""
    connection.execute("DROP INDEX IF EXISTS kindly_chunks_near")
    connection.execute("UPDATE kindly_chunks SET embedding = NULL WHERE embedding IS NOT NULL")
    names = [row_format.MODEL_NAME, row_format.MODEL_DIMENSION]
    connection.execute("DELETE FROM kindly_meta WHERE key = ANY(%s)", (names,))


def touch(url: str, crawled_at: datetime, connection: "Connection") -> None:
    """Set the time of a page."""
    sql = b"UPDATE kindly_documents SET last_crawled = %s"
    connection.execute(sql + OF_URL, (crawled_at, url))


def forget(url: str | None, connection: "Connection") -> int:
    """Drop a page, or all; return how many there were."""
    sql = b"DELETE FROM kindly_documents"
    FORMER.drop(executor(connection), None if url is None else [url])
    if url is not None:
        return connection.execute(sql + OF_URL, (url,)).rowcount
    return connection.execute(sql).rowcount


def forget_collection(collection: str, connection: "Connection") -> int:
    """Drop the pages of a collection; return how many there were."""
    sql = "DELETE FROM kindly_documents WHERE collection = %s"
    count = connection.execute(sql, (collection,)).rowcount
    FORMER.drop_orphans(executor(connection))
    return count


def evict(max_bytes: int, before: datetime, connection: "Connection") -> int:
    """Drop old pages, and the oldest beyond the size."""
    found = connection.execute(
        "SELECT doc, last_crawled, size FROM kindly_documents WHERE collection = ''"
    ).fetchall()
    evicted = row_format.outdated(
        [row_format.EvictionCandidate(*row) for row in found], max_bytes, before
    )
    sql = "DELETE FROM kindly_documents WHERE doc = ANY(%s)"
    count = connection.execute(sql, (evicted,)).rowcount
    if count:
        FORMER.drop_orphans(executor(connection))
    return count


def stats(place: str, connection: "Connection") -> StoreStats:
    """Size and age of the library."""
    row = connection.execute(
        """
        SELECT count(*), min(last_crawled), max(last_crawled),
            (SELECT count(*) FROM kindly_chunks),
            pg_total_relation_size('kindly_documents') + pg_total_relation_size('kindly_chunks')
        FROM kindly_documents
        """
    ).fetchone()
    pages, oldest, newest, chunks, size = row or (0, None, None, 0, 0)
    return StoreStats(
        kind="postgres",
        place=place,
        pages=pages,
        chunks=chunks,
        size_bytes=size,
        model=model_of(connection),
        oldest=oldest and oldest.astimezone(UTC),
        newest=newest and newest.astimezone(UTC),
    )


def executor(connection: "Connection") -> Execute:
    """Runs the shared statements of collections."""

    def execute(statement: str, values: Sequence[object]) -> list[Row]:
        cursor = connection.execute(statement.encode(), values)
        return cursor.fetchall() if cursor.description else []

    return execute
