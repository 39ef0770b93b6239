"""The library's tables in DuckDB and the statements on them. Every function runs inside the caller's transaction."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from kindly.frozen import frozen
from kindly.models import Chunk, RecallScope, StoredPageInfo
from kindly.read import row_format
from kindly.read.crawls.crawl_sql import Dialect, Execute
from kindly.read.evidence.page_versions import FormerVersion, VersionTable
from kindly.read.pages.page_outline import NAMED, page_indexing
from kindly.read.row_format import CHUNK, DOCUMENT, Row
from kindly.read.store import (
    NAMED_SHARE,
    Candidate,
    EmbeddingModel,
    PageVersion,
    PreparedPage,
    StoredPage,
    StoreStats,
)

if TYPE_CHECKING:
    import duckdb
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

MAX_TERMS = 32
ANY_LENGTH = "FLOAT[]"
EMBEDDING = row_format.CHUNK_COLUMNS
"""The column after those of the chunk."""
MAKE_CHUNKS = """
CREATE TABLE chunks (
    id TEXT PRIMARY KEY, url TEXT NOT NULL, section_path TEXT, text TEXT NOT NULL,
    tokens INTEGER NOT NULL, embedding {kind}, created_at TIMESTAMP DEFAULT now(),
    updated_at TIMESTAMP DEFAULT now(),
    position INTEGER, start_at BIGINT, end_at BIGINT, terms TEXT
)
"""
MAKE_INDEX = "CREATE INDEX chunks_url_idx ON chunks (url)"
CRAWLS = Dialect(has_index=False)
"""Without an index: DuckDB refuses to change an indexed row twice in one transaction."""
FORMER = VersionTable(CRAWLS)
MIGRATIONS = (
    f"""
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT);
CREATE TABLE documents (
    url TEXT PRIMARY KEY, title TEXT, etag TEXT, last_modified TEXT, last_crawled TIMESTAMP,
    content_hash TEXT,
    total BIGINT, language TEXT, how TEXT, partial BOOLEAN, size BIGINT
);
{MAKE_CHUNKS.format(kind=ANY_LENGTH)};
{MAKE_INDEX};
""",
    "ALTER TABLE documents ADD COLUMN cut BOOLEAN DEFAULT false",
    f"ALTER TABLE documents ADD COLUMN collection TEXT DEFAULT '';\n{CRAWLS.migration}",
    "ALTER TABLE documents ADD COLUMN outline BLOB",
    FORMER.migration,
    FORMER.second_migration,
)
# The statements below contain no values, only the two lists of column names.
ENTRY = f"SELECT {DOCUMENT} FROM documents"  # noqa: S608
CHUNKS = f"SELECT {CHUNK}, embedding FROM chunks WHERE url = ? ORDER BY position"  # noqa: S608
CANDIDATES = f"""
SELECT {", ".join("c." + one for one in CHUNK.split(", "))}, embedding,
    {", ".join("d." + one for one in DOCUMENT.split(", "))}, d.outline
FROM chunks AS c JOIN documents AS d USING (url)
WHERE id IN (SELECT unnest(?::TEXT[]))
"""  # noqa: S608
UPSERT_DOCUMENT = f"""
INSERT OR REPLACE INTO documents ({DOCUMENT}, size, outline)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""  # noqa: S608
INSERT_CHUNKS = f"""
INSERT INTO chunks ({CHUNK}, position, terms, url, embedding)
SELECT unnest(?::TEXT[]), unnest(?::TEXT[]), unnest(?::BIGINT[]), unnest(?::BIGINT[]),
    unnest(?::TEXT[]), unnest(?::INTEGER[]), unnest(?::INTEGER[]), unnest(?::TEXT[]), ?,
"""
VERSIONS = """
SELECT url, any_value(content_hash), any_value(last_crawled), count(id) > 0 AND count(id) = count(embedding)
FROM documents LEFT JOIN chunks USING (url)
WHERE url IN (SELECT unnest(?::TEXT[])) GROUP BY url
"""
MOVE_CHUNK = """
UPDATE chunks SET start_at = ?, end_at = ?, tokens = ?, position = ?, updated_at = now()
WHERE id = ?
"""


@frozen
class DuckdbNewPage:
    """A page to write, with the terms of its chunks: each between spaces."""

    entry: StoredPageInfo
    chunks: tuple[Chunk, ...]
    terms: Mapping[str, str]
    vectors: "Mapping[str, Vectors]"
    model: EmbeddingModel | None
    outline: bytes


def new_page(
    entry: StoredPageInfo,
    chunks: tuple[Chunk, ...],
    terms: Mapping[str, str],
    vectors: "Mapping[str, Vectors]",
    model: EmbeddingModel | None,
) -> DuckdbNewPage:
    """A page to write, from the terms of its chunks by id."""
    indexing = page_indexing(entry, chunks)
    named = {chunks[0].id: f"{indexing.named} "} if chunks else {}
    spaced = {id_: f" {own} {named.get(id_, '')}" for id_, own in terms.items()}
    return DuckdbNewPage(entry, chunks, spaced, vectors, model, indexing.outline)


def terms_of(chunks: Iterable[Chunk]) -> dict[str, str]:
    """The indexed terms of chunks, by id."""
    return {chunk.id: " ".join(row_format.indexed_terms(chunk)) for chunk in chunks}


def model_of(database: "duckdb.DuckDBPyConnection") -> EmbeddingModel | None:
    """The model of the vectors."""
    return row_format.to_model(dict(database.execute("SELECT key, value FROM meta").fetchall()))


def entries(
    limit: int, offset: int, collection: str, database: "duckdb.DuckDBPyConnection"
) -> list[StoredPageInfo]:
    """Pages, newest first."""
    found = database.execute(
        f"{ENTRY} WHERE ? IN ('', collection) ORDER BY last_crawled DESC, url LIMIT ? OFFSET ?",
        [collection, limit, offset],
    )
    return list(map(_to_entry, found.fetchall()))


def page_of(url: str, database: "duckdb.DuckDBPyConnection") -> StoredPage | None:
    """A page with all its chunks."""
    row = database.execute(f"{ENTRY} WHERE url = ?", [url]).fetchone()
    return None if row is None else _stored_page(_to_entry(row), database)


def next_page(after: str, database: "duckdb.DuckDBPyConnection") -> StoredPage | None:
    """The page with the next address."""
    row = database.execute(f"{ENTRY} WHERE url > ? ORDER BY url LIMIT 1", [after]).fetchone()
    return None if row is None else _stored_page(_to_entry(row), database)


def _stored_page(entry: StoredPageInfo, database: "duckdb.DuckDBPyConnection") -> StoredPage:
    import numpy as np

    found = database.execute(CHUNKS, [entry.key]).fetchall()
    chunks = tuple(row_format.to_chunk(entry.key, row) for row in found)
    embedded = found and all(row[EMBEDDING] is not None for row in found)
    vectors = np.array([row[EMBEDDING] for row in found], np.float32) if embedded else None
    return StoredPage(entry, chunks, vectors)


def _to_entry(row: Row) -> StoredPageInfo:
    return row_format.to_entry(row, _aware(row[row_format.LAST_CRAWLED]))


def _aware(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC)


def _naive(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(tzinfo=None)


def put(page: DuckdbNewPage, database: "duckdb.DuckDBPyConnection") -> None:
    """Store the page as exactly these chunks."""
    stored = model_of(database)
    first = row_format.model_to_keep(stored, page.model, page.vectors)
    if first is not None:
        _set_model(database, first)
    dimension = (first or stored or EmbeddingModel("", 0)).dimension
    url = page.entry.key
    _keep_former(page.entry, database)
    known = {
        id_: (tuple(place), has)
        for id_, *place, has in database.execute(
            "SELECT id, start_at, end_at, tokens, position, embedding IS NOT NULL FROM chunks WHERE url = ?",
            [url],
        ).fetchall()
    }
    unchanged = {
        one.id
        for one in page.chunks
        if one.id in known and (known[one.id][1] or one.id not in page.vectors)
    }
    dropped = [id_ for id_ in known if id_ not in unchanged]
    if dropped:
        database.execute("DELETE FROM chunks WHERE id IN (SELECT unnest(?::TEXT[]))", [dropped])
    size = row_format.estimated_bytes(page.chunks, dimension) + len(page.outline)
    values = row_format.from_entry(page.entry, _naive(page.entry.crawled_at))
    database.execute(UPSERT_DOCUMENT, (*values, size, page.outline))
    for position, one in enumerate(page.chunks):
        place = (one.start, one.end, one.tokens, position)
        if one.id in unchanged and known[one.id][0] != place:
            database.execute(MOVE_CHUNK, (*place, one.id))
    new = [(position, one) for position, one in enumerate(page.chunks) if one.id not in unchanged]
    if new:
        _add_chunks(database, page, new, dimension)


def _keep_former(entry: StoredPageInfo, database: "duckdb.DuckDBPyConnection") -> None:
    """Keep the version that another text replaces."""
    row = database.execute(
        "SELECT content_hash FROM documents WHERE url = ?", [entry.key]
    ).fetchone()
    load = partial(page_of, entry.key, database)
    if version := row_format.replaced_version(entry, row[0] if row else None, load):
        FORMER.keep(executor(database), entry.key, version)


def former_versions(key: str, database: "duckdb.DuckDBPyConnection") -> list[FormerVersion]:
    """The former versions of a page."""
    return FORMER.of(executor(database), key)


def put_all(pages: Sequence[PreparedPage], database: "duckdb.DuckDBPyConnection") -> None:
    """Store several pages whose terms and vectors are computed already."""
    for page in pages:
        entry = row_format.storable_entry(page.entry)
        chunks = row_format.storable_chunks(page.chunks)
        vectors = row_format.to_vectors(page.halves)
        put(new_page(entry, chunks, page.terms, vectors, page.model), database)


def versions(urls: Sequence[str], database: "duckdb.DuckDBPyConnection") -> dict[str, PageVersion]:
    """The stored versions of these pages."""
    found = database.execute(VERSIONS, [list(urls)]).fetchall()
    return {
        url: PageVersion(content_hash, _aware(crawled), bool(complete))
        for url, content_hash, crawled, complete in found
    }


def _add_chunks(
    database: "duckdb.DuckDBPyConnection",
    page: DuckdbNewPage,
    new: Sequence[tuple[int, Chunk]],
    dimension: int,
) -> None:
    columns = zip(
        *((*row_format.from_chunk(one), position, page.terms[one.id]) for position, one in new),
        strict=True,
    )
    values: list[object] = [*map(list, columns), page.entry.key]
    if not page.vectors:
        database.execute(f"{INSERT_CHUNKS} NULL", values)
        return
    given = [page.vectors.get(one.id) for _, one in new]
    vectors = [None if vector is None else _as_text(vector) for vector in given]
    database.execute(f"{INSERT_CHUNKS} unnest(?::TEXT[])::FLOAT[{dimension:d}]", [*values, vectors])


def _as_text(vector: "Vectors") -> str:
    """A vector as text, which DuckDB reads fifty times faster than a list of numbers."""
    return str(vector.tolist())


def _set_model(database: "duckdb.DuckDBPyConnection", model: EmbeddingModel) -> None:
    _retype(database, f"FLOAT[{model.dimension:d}]")
    named = {row_format.MODEL_NAME: model.name, row_format.MODEL_DIMENSION: str(model.dimension)}
    for item in named.items():
        database.execute("INSERT INTO meta VALUES (?, ?)", item)


def _retype(database: "duckdb.DuckDBPyConnection", kind: str) -> None:
    """Empty the column of vectors and change its type.

    The table is rebuilt: DuckDB cannot open a file again if the process is killed after `ALTER` on a table with
    defaults.
    """
    database.execute(
        "CREATE OR REPLACE TEMP TABLE copied AS SELECT * EXCLUDE embedding FROM chunks"
    )
    database.execute("DROP TABLE chunks")
    database.execute(MAKE_CHUNKS.format(kind=kind))
    database.execute("INSERT INTO chunks BY NAME SELECT * FROM copied")
    database.execute("DROP TABLE copied")
    database.execute(MAKE_INDEX)


def drop_vectors(database: "duckdb.DuckDBPyConnection") -> None:
    """Drop all vectors and the model."""
    _retype(database, ANY_LENGTH)
    names = [row_format.MODEL_NAME, row_format.MODEL_DIMENSION]
    database.execute("DELETE FROM meta WHERE key IN (?, ?)", names)


def touch(url: str, crawled_at: datetime, database: "duckdb.DuckDBPyConnection") -> None:
    """Set the time of a page."""
    values = [_naive(crawled_at), url]
    database.execute("UPDATE documents SET last_crawled = ? WHERE url = ?", values)


def forget(urls: Sequence[str] | None, database: "duckdb.DuckDBPyConnection") -> int:
    """Drop pages, or all; return how many there were."""
    which, values = "", list[object]()
    if urls is not None:
        which, values = " WHERE url IN (SELECT unnest(?::TEXT[]))", [list(urls)]
    FORMER.drop(executor(database), urls)
    database.execute(f"DELETE FROM chunks{which}", values)  # noqa: S608 - one of the two above
    found = database.execute(f"DELETE FROM documents{which}", values).fetchone()  # noqa: S608
    return int(found[0]) if found else 0


def forget_collection(collection: str, database: "duckdb.DuckDBPyConnection") -> int:
    """Drop the pages of a collection; return how many there were."""
    found = database.execute("SELECT url FROM documents WHERE collection = ?", [collection])
    return forget([url for (url,) in found.fetchall()], database)


def evict(max_bytes: int, before: datetime, database: "duckdb.DuckDBPyConnection") -> int:
    """Drop old pages, and the oldest beyond the size."""
    found = database.execute(
        "SELECT url, last_crawled, size FROM documents WHERE collection = ''"
    ).fetchall()
    pages = [
        row_format.EvictionCandidate(url, _aware(crawled), size) for url, crawled, size in found
    ]
    return forget([str(one) for one in row_format.outdated(pages, max_bytes, before)], database)


def stats(path: Path, database: "duckdb.DuckDBPyConnection") -> StoreStats:
    """Size and age of the library."""
    (found,) = database.execute(
        "SELECT count(*), min(last_crawled), max(last_crawled), (SELECT count(*) FROM chunks) FROM documents"
    ).fetchall()
    pages, oldest, newest, chunks = found
    files = (path, Path(f"{path}.wal"))
    return StoreStats(
        kind="duckdb",
        place=str(path),
        pages=pages,
        chunks=chunks,
        size_bytes=sum(one.stat().st_size for one in files if one.exists()),
        model=model_of(database),
        oldest=None if oldest is None else _aware(oldest),
        newest=None if newest is None else _aware(newest),
    )


def candidates(
    terms: Sequence[str],
    vector: "Vectors | None",
    limit: int,
    scope: RecallScope,
    database: "duckdb.DuckDBPyConnection",
) -> list[Candidate]:
    """Chunks by words and by vector, without duplicates."""
    import numpy as np

    within = _limit_to(database, scope)
    distinct = tuple(dict.fromkeys(terms))[:MAX_TERMS]
    ids = _by_words(database, distinct, limit, within)
    ids += _by_words(database, [NAMED + term for term in distinct], limit // NAMED_SHARE, within)
    model = model_of(database)
    if vector is not None and model and vector.shape == (model.dimension,):
        ids += _by_vector(database, vector, limit, within)
    found = []
    for row in database.execute(CANDIDATES, [list(dict.fromkeys(ids))]).fetchall():
        known = None if row[EMBEDDING] is None else np.array(row[EMBEDDING], np.float32)
        entry = _to_entry(row[EMBEDDING + 1 :])
        found.append(Candidate(entry, row_format.to_chunk(entry.key, row), known, row[-1]))
    return [one for one in found if row_format.in_scope(one.entry, scope)]


def _limit_to(database: "duckdb.DuckDBPyConnection", scope: RecallScope) -> str:
    """A condition on chunks that a scope demands, as SQL without values."""
    if not scope:
        return ""
    condition, values = row_format.scope_condition(scope, "?", _naive)
    database.execute(
        f"CREATE OR REPLACE TEMP TABLE scope AS SELECT url FROM documents WHERE {condition}",  # noqa: S608
        values,
    )
    return " AND url IN (SELECT url FROM scope)"


def _by_words(
    database: "duckdb.DuckDBPyConnection", terms: Sequence[str], limit: int, within: str
) -> list[str]:
    """The ids of the chunks with the highest IDF sum of these terms; of equal ones, short chunks first."""
    import numpy as np

    if not terms:
        return []
    spaced = [f" {row_format.storable(term)} " for term in terms]
    has = ", ".join(f"contains(terms, ${number + 1})::FLOAT" for number in range(len(spaced)))
    any_of = " OR ".join(f"contains(terms, ${number + 1})" for number in range(len(spaced)))
    found = database.execute(
        f"SELECT id, tokens, [{has}] FROM chunks WHERE ({any_of}){within}",  # noqa: S608 - numbered places
        spaced,
    ).fetchall()
    if not found:
        return []
    hits = np.array([row[2] for row in found], np.float32)
    idf = np.log1p(len(found) / np.maximum(hits.sum(axis=0), 1))
    lengths = np.array([row[1] for row in found])
    best = np.lexsort((lengths, -(hits @ idf)))[:limit]
    return [found[row][0] for row in best]


def _by_vector(
    database: "duckdb.DuckDBPyConnection", vector: "Vectors", limit: int, within: str
) -> list[str]:
    found = database.execute(
        f"""
        SELECT id FROM chunks WHERE embedding IS NOT NULL{within}
        ORDER BY array_cosine_similarity(embedding, ?::FLOAT[{len(vector):d}]) DESC LIMIT ?
        """,  # noqa: S608 - a number
        [_as_text(vector), limit],
    )
    return [id_ for (id_,) in found.fetchall()]


def executor(database: "duckdb.DuckDBPyConnection") -> Execute:
    """Runs the shared statements of collections."""
    return lambda statement, values: database.execute(statement, values).fetchall()
