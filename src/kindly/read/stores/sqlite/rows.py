"""The library's tables in SQLite and the statements on them. Every function runs inside the caller's transaction."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from kindly.frozen import frozen
from kindly.models import Chunk, StoredPageInfo
from kindly.read import row_format
from kindly.read.crawls.crawl_sql import Dialect, Execute
from kindly.read.crawls.micros import from_micros, to_micros
from kindly.read.evidence.page_versions import FormerVersion, VersionTable
from kindly.read.pages.page_outline import PageIndexing, page_indexing
from kindly.read.row_format import DOCUMENT, PREPARED_CHUNK, Row
from kindly.read.store import EmbeddingModel, PageVersion, PreparedPage, StoredPage, StoreStats
from kindly.read.stores.sqlite.sign_index import bits_of_half, to_bits

if TYPE_CHECKING:
    import sqlite3

    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

EPOCH = "epoch"
"""A key of `meta`: a random value that changes when the sign-bit index of other processes becomes invalid."""
MAX_GONE = 20_000
"""Rows of the log of dropped vectors, which other processes read to update their sign-bit index."""
ASCII_MARKS = "!#$%&()*+,-./:;<=>?@[]^_`{|}~"

WORDS = (
    f"""CREATE VIRTUAL TABLE words USING fts5(terms, tokenize="ascii tokenchars '{ASCII_MARKS}'")"""
)
FTS_AUTOMERGE = "INSERT INTO words (words, rank) VALUES ('automerge', 2)"
"""Keeps the FTS5 index in few segments, because a query reads all of them. Writes cost no more than with four."""
CRAWLS = Dialect(integer="INTEGER")
VERSIONS = VersionTable(CRAWLS)
MIGRATIONS = (
    f"""
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
INSERT INTO meta (key, value) VALUES ('epoch', lower(hex(randomblob(8))));
CREATE TABLE documents (
    doc INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE, title TEXT NOT NULL, etag TEXT,
    last_modified TEXT, last_crawled INTEGER NOT NULL, content_hash TEXT NOT NULL,
    total INTEGER NOT NULL, language TEXT, how TEXT NOT NULL, partial INTEGER NOT NULL,
    size INTEGER NOT NULL
);
CREATE INDEX documents_by_age ON documents (last_crawled, size);
CREATE TABLE chunks (
    n INTEGER PRIMARY KEY AUTOINCREMENT, doc INTEGER NOT NULL, position INTEGER NOT NULL,
    embedding BLOB, id TEXT NOT NULL, section_path TEXT NOT NULL, start_at INTEGER NOT NULL,
    end_at INTEGER NOT NULL, tokens INTEGER NOT NULL, text TEXT NOT NULL
);
CREATE INDEX chunks_of_document ON chunks (doc, position);
CREATE TABLE signs (n INTEGER PRIMARY KEY, bits BLOB NOT NULL);
CREATE TABLE gone (seq INTEGER PRIMARY KEY AUTOINCREMENT, n INTEGER NOT NULL);
{WORDS};
{FTS_AUTOMERGE};
CREATE VIRTUAL TABLE word_uses USING fts5vocab(words, instance)""",  # noqa: S608 - nothing from outside
    "ALTER TABLE chunks ADD COLUMN prepared BLOB",
    "ALTER TABLE documents ADD COLUMN cut INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE documents ADD COLUMN collection TEXT NOT NULL DEFAULT '';\n"
    "CREATE INDEX documents_of_collection ON documents (collection) WHERE collection <> '';\n"
    f"{CRAWLS.migration}",
    "ALTER TABLE documents ADD COLUMN outline BLOB",
    VERSIONS.migration,
    VERSIONS.second_migration,
)

# The statements below contain no values, only the two lists of column names.
ENTRY = f"SELECT {DOCUMENT}, doc FROM documents"  # noqa: S608
DOC_NUMBER = row_format.DOCUMENT_COLUMNS
"""The column of `doc` in `ENTRY`."""
ENTRIES = f"{ENTRY} WHERE ? IN ('', collection) ORDER BY last_crawled DESC, url LIMIT ? OFFSET ?"
CHUNKS = f"SELECT {PREPARED_CHUNK}, embedding FROM chunks WHERE doc = ? ORDER BY position"  # noqa: S608
UPSERT_DOCUMENT = f"""
INSERT INTO documents ({DOCUMENT}, size, outline)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (url) DO UPDATE SET title = excluded.title, etag = excluded.etag,
    last_modified = excluded.last_modified, last_crawled = excluded.last_crawled,
    content_hash = excluded.content_hash, total = excluded.total, language = excluded.language,
    how = excluded.how, partial = excluded.partial, cut = excluded.cut, size = excluded.size,
    outline = excluded.outline
"""  # noqa: S608
INSERT_CHUNK = f"""
INSERT INTO chunks ({PREPARED_CHUNK}, doc, position, embedding)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""  # noqa: S608
MOVE_CHUNK = "UPDATE chunks SET position = ?, start_at = ?, end_at = ?, tokens = ? WHERE n = ?"
VERSION = """
SELECT url, content_hash, last_crawled, EXISTS (SELECT 1 FROM chunks WHERE chunks.doc = d.doc)
    AND NOT EXISTS (SELECT 1 FROM chunks WHERE chunks.doc = d.doc AND embedding IS NULL)
FROM documents AS d WHERE url = ?
"""
GONE_SPAN = "SELECT (SELECT min(seq) FROM gone), (SELECT max(seq) FROM gone)"
"""Two subqueries: SQLite uses the index for one minimum or maximum, but scans all rows for both."""
DELETE_ALL = (
    "DELETE FROM documents",
    "DELETE FROM chunks",
    "DELETE FROM signs",
    "DELETE FROM gone",
    "DROP TABLE words",
    WORDS,
    FTS_AUTOMERGE,
)


@frozen
class SqliteNewPage:
    """A page to write."""

    entry: StoredPageInfo
    chunks: tuple[Chunk, ...]
    vectors: "Mapping[str, Vectors] | Mapping[str, bytes]"
    """As numbers, or in half precision as they are stored."""
    model: EmbeddingModel | None


@frozen
class StoredChunk:
    """A chunk that is stored already."""

    n: int
    place: tuple[int, int, int, int]
    """Position, start, end, tokens."""
    embedded: bool


def meta_of(database: "sqlite3.Connection") -> dict[str, str]:
    """The table `meta`."""
    return dict(database.execute("SELECT key, value FROM meta"))


def model_of(database: "sqlite3.Connection") -> EmbeddingModel | None:
    """The model of the vectors."""
    return row_format.to_model(meta_of(database))


def terms_of(chunks: Iterable[Chunk]) -> dict[str, str]:
    """The indexed terms of chunks, by id."""
    return {chunk.id: " ".join(row_format.indexed_terms(chunk)) for chunk in chunks}


def entries(
    limit: int, offset: int, collection: str, database: "sqlite3.Connection"
) -> list[StoredPageInfo]:
    """Pages, newest first."""
    return list(map(to_entry, database.execute(ENTRIES, (collection, limit, offset))))


def page_of(url: str, database: "sqlite3.Connection") -> StoredPage | None:
    """A page with all its chunks."""
    row = database.execute(f"{ENTRY} WHERE url = ?", (url,)).fetchone()
    return None if row is None else _to_page(row, database)


def next_page(after: int, database: "sqlite3.Connection") -> tuple[int, StoredPage] | None:
    """The page that was added after the one with this number, with its own number."""
    row = database.execute(f"{ENTRY} WHERE doc > ? ORDER BY doc LIMIT 1", (after,)).fetchone()
    return None if row is None else (row[DOC_NUMBER], _to_page(row, database))


def _to_page(row: Row, database: "sqlite3.Connection") -> StoredPage:
    entry = to_entry(row)
    found = database.execute(CHUNKS, (row[DOC_NUMBER],)).fetchall()
    chunks = tuple(row_format.to_prepared_chunk(entry.key, one) for one in found)
    blobs = [one[-1] for one in found]
    return StoredPage(entry, chunks, to_vectors(blobs) if blobs and all(blobs) else None)


def to_entry(row: Row) -> StoredPageInfo:
    """The page from a row that begins with the columns of `DOCUMENT`."""
    return row_format.to_entry(row, from_micros(row[row_format.LAST_CRAWLED]))


def to_vectors(blobs: Sequence[bytes]) -> "Vectors":
    """Half-precision blobs → one row of float32 each."""
    import numpy as np

    halves = np.frombuffer(b"".join(blobs), np.float16)
    return halves.astype(np.float32).reshape(len(blobs), -1)


def known_chunks(url: str, database: "sqlite3.Connection") -> dict[str, StoredChunk]:
    """The chunks of a page, by id."""
    found = database.execute(
        """
        SELECT id, n, position, start_at, end_at, tokens, embedding IS NOT NULL
        FROM chunks JOIN documents USING (doc) WHERE url = ?
        """,
        (url,),
    )
    return {id_: StoredChunk(n, tuple(place), bool(has)) for id_, n, *place, has in found}


def prepared(
    page: SqliteNewPage, database: "sqlite3.Connection"
) -> "Callable[[sqlite3.Connection], None]":
    """The write of a page, with the terms of its new chunks computed before the transaction."""
    known = known_chunks(page.entry.key, database)
    new = [one for one in page.chunks if one.id not in known or not known[one.id].embedded]
    return partial(put, page, terms_of(new), page_indexing(page.entry, page.chunks))


def put(
    page: SqliteNewPage,
    terms: Mapping[str, str],
    indexing: PageIndexing,
    database: "sqlite3.Connection",
) -> None:
    """Store the page as exactly these chunks."""
    stored = model_of(database)
    model = row_format.model_to_keep(stored, page.model, page.vectors)
    if model is not None:
        named = {
            row_format.MODEL_NAME: model.name,
            row_format.MODEL_DIMENSION: str(model.dimension),
        }
        database.executemany("INSERT INTO meta (key, value) VALUES (?, ?)", named.items())
    _keep_former(page.entry, database)
    known = known_chunks(page.entry.key, database)
    unchanged = {
        one.id
        for one in page.chunks
        if one.id in known and (known[one.id].embedded or one.id not in page.vectors)
    }
    _drop_chunks(database, [old for id_, old in known.items() if id_ not in unchanged])
    dimension = (model or stored or EmbeddingModel("", 0)).dimension
    size = row_format.estimated_bytes(page.chunks, dimension) + len(indexing.outline)
    doc = _upsert_document(database, page.entry, size, indexing.outline)
    for position, chunk in enumerate(page.chunks):
        if chunk.id not in unchanged:
            added = terms.get(chunk.id)
            if added is None:  # another process dropped it after `prepare`
                added = terms_of([chunk])[chunk.id]
            if not position:
                added = f"{added} {indexing.named}"
            _add_chunk(database, chunk, (doc, position), added, page.vectors.get(chunk.id))
        elif (place := (position, chunk.start, chunk.end, chunk.tokens)) != known[chunk.id].place:
            database.execute(MOVE_CHUNK, (*place, known[chunk.id].n))


def _keep_former(entry: StoredPageInfo, database: "sqlite3.Connection") -> None:
    """Keep the version that another text replaces."""
    row = database.execute(
        "SELECT content_hash FROM documents WHERE url = ?", (entry.key,)
    ).fetchone()
    load = partial(page_of, entry.key, database)
    if version := row_format.replaced_version(entry, row[0] if row else None, load):
        VERSIONS.keep(executor(database), entry.key, version)


def former_versions(key: str, database: "sqlite3.Connection") -> list[FormerVersion]:
    """The former versions of a page."""
    return VERSIONS.of(executor(database), key)


def executor(database: "sqlite3.Connection") -> Execute:
    """Runs the statements that stores share."""
    return lambda statement, values: database.execute(statement, values).fetchall()


def put_all(pages: Sequence[PreparedPage], database: "sqlite3.Connection") -> None:
    """Store several pages whose terms and vectors are computed already."""
    for page in pages:
        entry = row_format.storable_entry(page.entry)
        chunks = row_format.storable_chunks(page.chunks)
        new = SqliteNewPage(entry, chunks, page.halves, page.model)
        put(new, page.terms, page_indexing(entry, chunks), database)


def versions(urls: Sequence[str], database: "sqlite3.Connection") -> dict[str, PageVersion]:
    """The stored versions of these pages."""
    rows = (database.execute(VERSION, (url,)).fetchone() for url in urls)
    return {
        url: PageVersion(content_hash, from_micros(crawled), bool(complete))
        for url, content_hash, crawled, complete in filter(None, rows)
    }


def _upsert_document(
    database: "sqlite3.Connection", entry: StoredPageInfo, size: int, outline: bytes
) -> int:
    values = (*row_format.from_entry(entry, to_micros(entry.crawled_at)), size, outline)
    database.execute(UPSERT_DOCUMENT, values)
    (doc,) = database.execute("SELECT doc FROM documents WHERE url = ?", (entry.key,)).fetchone()
    return int(doc)


def _add_chunk(
    database: "sqlite3.Connection",
    chunk: Chunk,
    place: tuple[int, int],
    terms: str,
    vector: "Vectors | bytes | None",
) -> None:
    blob, bits = _stored_vector(vector)
    values = (*row_format.from_prepared_chunk(chunk), *place, blob)
    n = database.execute(INSERT_CHUNK, values).lastrowid
    database.execute("INSERT INTO words (rowid, terms) VALUES (?, ?)", (n, terms))
    if bits is not None:
        database.execute("INSERT INTO signs (n, bits) VALUES (?, ?)", (n, bits))


def _stored_vector(vector: "Vectors | bytes | None") -> tuple[bytes | None, bytes | None]:
    """A vector in half precision, and its sign bits."""
    if vector is None:
        return None, None
    if isinstance(vector, bytes):
        return vector, bits_of_half(vector)
    return vector.astype("float16").tobytes(), to_bits(vector)


def _drop_chunks(database: "sqlite3.Connection", chunks: Sequence[StoredChunk]) -> None:
    numbers = [(one.n,) for one in chunks]
    database.executemany("DELETE FROM chunks WHERE n = ?", numbers)
    database.executemany("DELETE FROM words WHERE rowid = ?", numbers)
    database.executemany("DELETE FROM signs WHERE n = ?", numbers)
    dropped = [(one.n,) for one in chunks if one.embedded]
    if dropped:
        database.executemany("INSERT INTO gone (n) VALUES (?)", dropped)
        first, newest = database.execute(GONE_SPAN).fetchone()
        if newest - first > MAX_GONE:
            database.execute("DELETE FROM gone")
            _new_epoch(database)


def forget(urls: Sequence[str], database: "sqlite3.Connection") -> int:
    """Drop pages; return how many there were."""
    count = 0
    for url in urls:
        _drop_chunks(database, list(known_chunks(url, database).values()))
        count += database.execute("DELETE FROM documents WHERE url = ?", (url,)).rowcount
    VERSIONS.drop(executor(database), urls)
    return count


def urls_of(collection: str, database: "sqlite3.Connection") -> list[str]:
    """The keys of the pages of a collection."""
    found = database.execute("SELECT url FROM documents WHERE collection = ?", (collection,))
    return [url for (url,) in found]


def forget_all(database: "sqlite3.Connection") -> int:
    """Drop every page; return how many there were."""
    (count,) = database.execute("SELECT count(*) FROM documents").fetchone()
    for statement in DELETE_ALL:
        database.execute(statement)
    VERSIONS.drop(executor(database), None)
    _new_epoch(database)
    return int(count)


def drop_vectors(database: "sqlite3.Connection") -> None:
    """Drop all vectors and the model."""
    database.execute("UPDATE chunks SET embedding = NULL")
    database.execute("DELETE FROM signs")
    database.execute("DELETE FROM gone")
    names = (row_format.MODEL_NAME, row_format.MODEL_DIMENSION)
    database.execute("DELETE FROM meta WHERE key IN (?, ?)", names)
    _new_epoch(database)


def _new_epoch(database: "sqlite3.Connection") -> None:
    database.execute(
        "INSERT OR REPLACE INTO meta (key, value) VALUES (?, lower(hex(randomblob(8))))", (EPOCH,)
    )


def eviction_candidates(database: "sqlite3.Connection") -> list[row_format.EvictionCandidate]:
    """All pages, for eviction."""
    found = database.execute("SELECT url, last_crawled, size FROM documents WHERE collection = ''")
    return [
        row_format.EvictionCandidate(url, from_micros(crawled), size)
        for url, crawled, size in found
    ]


def stats(path: Path, database: "sqlite3.Connection") -> StoreStats:
    """Size and age of the library."""
    pages, oldest, newest = database.execute(
        "SELECT count(*), min(last_crawled), max(last_crawled) FROM documents"
    ).fetchone()
    (chunks,) = database.execute("SELECT count(*) FROM chunks").fetchone()
    files = (path, path.with_name(path.name + "-wal"))
    return StoreStats(
        kind="sqlite",
        place=str(path),
        pages=pages,
        chunks=chunks,
        size_bytes=sum(one.stat().st_size for one in files if one.exists()),
        model=model_of(database),
        oldest=None if oldest is None else from_micros(oldest),
        newest=None if newest is None else from_micros(newest),
    )
