"""Candidate chunks in SQLite: by the rarest words (FTS5, BM25) and by the nearest vectors (sign bits, then cosine)."""

import threading
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from kindly.models import RecallScope, StoredPageInfo
from kindly.read import row_format
from kindly.read.crawls.micros import to_micros
from kindly.read.row_format import (
    DOCUMENT,
    PREPARED_CHUNK,
    PREPARED_CHUNK_COLUMNS,
    to_prepared_chunk,
)
from kindly.read.store import Candidate
from kindly.read.stores.sqlite.rows import EPOCH, meta_of, to_entry, to_vectors
from kindly.read.stores.sqlite.sign_index import SignIndex

if TYPE_CHECKING:
    import sqlite3

    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

MAX_POSTINGS = 5000
"""How many occurrences the words of a question may have together; more frequent words say little."""
MAX_SCOPED_POSTINGS = 20_000
"""The same for a question to a part of the library, where a word that is frequent elsewhere may be rare."""
MAX_TERMS = 64
EXACT_SHARE, MIN_FACTOR, MAX_FACTOR = 8, 4, 20
"""An eighth of all vectors is compared exactly: at least 4 and at most 20 times the requested number."""
SIZE = "SELECT count(*) FROM (SELECT 1 FROM chunks LIMIT ?)"
USES = "SELECT count(*) FROM (SELECT 1 FROM word_uses WHERE term = ? LIMIT ?)"
MATCHING = "SELECT rowid FROM words WHERE words MATCH ?"
IN_SCOPE = "EXISTS (SELECT 1 FROM chunks JOIN documents USING (doc) WHERE chunks.n = words.rowid"
NUMBERS = "SELECT n FROM chunks WHERE doc IN (SELECT doc FROM documents"
EMBEDDINGS = "SELECT n, embedding FROM chunks WHERE embedding IS NOT NULL"
EMBEDDING = PREPARED_CHUNK_COLUMNS
"""The column after those of the chunk."""
CANDIDATES = f"""
SELECT {PREPARED_CHUNK}, embedding, {DOCUMENT}, outline FROM chunks JOIN documents USING (doc)
"""  # noqa: S608


class SharedSignIndex:
    """The sign-bit index of all vectors, kept up to date with a file that other processes write, too."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._index = SignIndex()
        self._epoch = ""
        self._gone = 0

    def nearest(
        self,
        database: "sqlite3.Connection",
        vector: "Vectors",
        limit: int,
        allowed: "NDArray[np.int64] | None" = None,
    ) -> list[int]:
        """The numbers of chunks that likely include the `limit` nearest (of those allowed), by their sign bits."""
        with self._lock:
            self._update(database)
            count = max(
                MIN_FACTOR * limit, min(len(self._index) // EXACT_SHARE, MAX_FACTOR * limit)
            )
            return self._index.nearest(vector, count, allowed)

    def _update(self, database: "sqlite3.Connection") -> None:
        epoch = meta_of(database).get(EPOCH, "")
        if epoch != self._epoch:
            self._index.clear()
            self._epoch, self._gone = epoch, 0
        after = (self._index.last,)
        self._index.add(
            database.execute("SELECT n, bits FROM signs WHERE n > ? ORDER BY n", after).fetchall()
        )
        gone = database.execute(
            "SELECT seq, n FROM gone WHERE seq > ? ORDER BY seq", (self._gone,)
        ).fetchall()
        if gone:
            self._gone = gone[-1][0]
            self._index.drop(n for _, n in gone)


def by_words(
    database: "sqlite3.Connection",
    terms: Sequence[str],
    limit: int,
    scope: RecallScope = RecallScope(),  # noqa: B008 - frozen
) -> list[int]:
    """The numbers of the chunks with the rarest of these terms, best first.

    A term with as many occurrences as chunks is not rare. If all are frequent, chunks that have them all.
    """
    most = MAX_SCOPED_POSTINGS if scope else MAX_POSTINGS
    distinct = tuple(dict.fromkeys(terms))[:MAX_TERMS]
    (chunks,) = database.execute(SIZE, (most,)).fetchone()
    frequent = max(chunks, limit)
    uses = sorted((count, term) for term in distinct if (count := _uses(database, term, frequent)))
    total, rare = 0, list[str]()
    for count, term in uses:
        total += count
        if count <= frequent and total <= most:
            rare.append(term)
    if rare:
        order, query = "ORDER BY rank", " OR ".join(map(_quoted, rare))
    elif uses:
        order, query = "", " AND ".join(_quoted(term) for _, term in uses)
    else:
        return []
    within, values = "", list[object]()
    if scope:
        condition, values = row_format.scope_condition(scope, "?", to_micros)
        within = f"AND {IN_SCOPE} AND {condition})"
    found = database.execute(f"{MATCHING} {within} {order} LIMIT ?", (query, *values, limit))
    return [n for (n,) in found]


def numbers_in(database: "sqlite3.Connection", scope: RecallScope) -> "NDArray[np.int64]":
    """The numbers of all chunks of a scope."""
    import numpy as np

    condition, values = row_format.scope_condition(scope, "?", to_micros)
    found = database.execute(f"{NUMBERS} WHERE {condition})", values)
    return np.fromiter((n for (n,) in found), np.int64)


def _uses(database: "sqlite3.Connection", term: str, maximum: int) -> int:
    """The occurrences of a term, counted up to one more than `maximum`."""
    (count,) = database.execute(USES, (term, maximum + 1)).fetchone()
    return int(count)


def _quoted(term: str) -> str:
    doubled = term.replace('"', '""')
    return f'"{doubled}"'


def by_vector(
    database: "sqlite3.Connection", near: Sequence[int], vector: "Vectors", limit: int
) -> list[int]:
    """The numbers of the `near` chunks with the highest cosine, best first."""
    import numpy as np

    found = database.execute(f"{EMBEDDINGS} AND n IN ({_listed(near)})").fetchall()
    if not found:
        return []
    cosines = to_vectors([blob for _, blob in found]) @ vector
    return [found[row][0] for row in np.argsort(-cosines)[:limit]]


def fetched(database: "sqlite3.Connection", numbers: Iterable[int]) -> list[Candidate]:
    """The chunks with these numbers, with their pages and vectors."""
    found = database.execute(f"{CANDIDATES} WHERE n IN ({_listed(numbers)})").fetchall()
    blobs = [row[EMBEDDING] for row in found if row[EMBEDDING] is not None]
    vectors = iter(to_vectors(blobs) if blobs else ())
    pages: dict[str, StoredPageInfo] = {}
    candidates = []
    for row in found:
        document = row[EMBEDDING + 1 :]
        url = document[0]
        if url not in pages:
            pages[url] = to_entry(document)
        vector = None if row[EMBEDDING] is None else next(vectors)
        candidates.append(Candidate(pages[url], to_prepared_chunk(url, row), vector, row[-1]))
    return candidates


def _listed(numbers: Iterable[int]) -> str:
    return ",".join(map(str, map(int, numbers)))
