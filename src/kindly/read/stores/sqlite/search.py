"""Which chunks of the SQLite library may answer: by the rarest words, by the nearest vectors."""

import threading
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from kindly.models import StoredPageInfo
from kindly.read.row_format import CHUNK, DOCUMENT, to_chunk
from kindly.read.store import Candidate
from kindly.read.stores.sqlite.rows import EPOCH, meta_of, to_entry, to_vectors
from kindly.read.stores.sqlite.sign_index import Signs

if TYPE_CHECKING:
    import sqlite3

    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

MAX_POSTINGS = 5000
"""How often the words of a question may stand in the library together; more frequent ones tell little."""
MAX_TERMS = 64
SHARE, LEAST, MOST = 8, 4, 20
"""Of all vectors, an eighth is looked at exactly: at least 4 and at most 20 times as many as are wanted."""
SIZE = "SELECT count(*) FROM (SELECT 1 FROM chunks LIMIT ?)"
USES = "SELECT count(*) FROM (SELECT 1 FROM word_uses WHERE term = ? LIMIT ?)"
MATCHING = "SELECT rowid FROM words WHERE words MATCH ?"
EMBEDDINGS = "SELECT n, embedding FROM chunks WHERE embedding IS NOT NULL"
CANDIDATES = f"SELECT {CHUNK}, embedding, {DOCUMENT} FROM chunks JOIN documents USING (doc)"  # noqa: S608


class SharedSigns:
    """The signs of all vectors, kept in step with the file that other processes write too."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._signs = Signs()
        self._epoch = ""
        self._gone = 0

    def nearest(self, database: "sqlite3.Connection", vector: "Vectors", limit: int) -> list[int]:
        """The numbers of those chunks among which the `limit` nearest are, as their signs tell."""
        with self._lock:
            self._follow(database)
            few = max(LEAST * limit, min(len(self._signs) // SHARE, MOST * limit))
            return self._signs.nearest(vector, few)

    def _follow(self, database: "sqlite3.Connection") -> None:
        epoch = meta_of(database).get(EPOCH, "")
        if epoch != self._epoch:
            self._signs.clear()
            self._epoch, self._gone = epoch, 0
        after = (self._signs.last,)
        self._signs.add(
            database.execute("SELECT n, bits FROM signs WHERE n > ? ORDER BY n", after).fetchall()
        )
        gone = database.execute(
            "SELECT seq, n FROM gone WHERE seq > ? ORDER BY seq", (self._gone,)
        ).fetchall()
        if gone:
            self._gone = gone[-1][0]
            self._signs.drop(n for _, n in gone)


def by_words(database: "sqlite3.Connection", terms: Sequence[str], limit: int) -> list[int]:
    """The numbers of the chunks that the rarest of these terms find, best first.

    A term that there is for every chunk, or more, is not rare. Where all are frequent, of chunks that have them all.
    """
    wanted = tuple(dict.fromkeys(terms))[:MAX_TERMS]
    (chunks,) = database.execute(SIZE, (MAX_POSTINGS,)).fetchone()
    often = max(chunks, limit)
    uses = sorted((count, term) for term in wanted if (count := _uses(database, term, often)))
    total, rare = 0, list[str]()
    for count, term in uses:
        total += count
        if count <= often and total <= MAX_POSTINGS:
            rare.append(term)
    if rare:
        order, query = "ORDER BY rank", " OR ".join(map(_quoted, rare))
    elif uses:
        order, query = "", " AND ".join(_quoted(term) for _, term in uses)
    else:
        return []
    found = database.execute(f"{MATCHING} {order} LIMIT ?", (query, limit))
    return [n for (n,) in found]


def _uses(database: "sqlite3.Connection", term: str, often: int) -> int:
    """How often a term stands in the library; one more than `often` where it does so more often."""
    (count,) = database.execute(USES, (term, often + 1)).fetchone()
    return int(count)


def _quoted(term: str) -> str:
    doubled = term.replace('"', '""')
    return f'"{doubled}"'


def by_vector(
    database: "sqlite3.Connection", near: Sequence[int], vector: "Vectors", limit: int
) -> list[int]:
    """The numbers of the chunks, of those `near`, whose vectors are nearest."""
    import numpy as np

    found = database.execute(f"{EMBEDDINGS} AND n IN ({_listed(near)})").fetchall()
    if not found:
        return []
    alike = to_vectors([blob for _, blob in found]) @ vector
    return [found[place][0] for place in np.argsort(-alike)[:limit]]


def fetched(database: "sqlite3.Connection", numbers: Iterable[int]) -> list[Candidate]:
    """The chunks with these numbers."""
    found = database.execute(f"{CANDIDATES} WHERE n IN ({_listed(numbers)})").fetchall()
    blobs = [row[6] for row in found if row[6] is not None]
    vectors = iter(to_vectors(blobs) if blobs else ())
    known: dict[str, StoredPageInfo] = {}
    candidates = []
    for row in found:
        url = row[7]
        if url not in known:
            known[url] = to_entry(row[7:])
        vector = None if row[6] is None else next(vectors)
        candidates.append(Candidate(known[url], to_chunk(url, row), vector))
    return candidates


def _listed(numbers: Iterable[int]) -> str:
    return ",".join(str(int(number)) for number in numbers)
