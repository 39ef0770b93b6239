"""Candidate chunks in PostgreSQL: by the rarest words (GIN) and by the nearest vectors (HNSW)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from itertools import combinations
from typing import TYPE_CHECKING, Any

from kindly.frozen import frozen
from kindly.models import RecallScope
from kindly.read import row_format
from kindly.read.pages.page_outline import NAMED
from kindly.read.row_format import DOCUMENT, PREPARED_CHUNK
from kindly.read.store import NAMED_SHARE, Candidate
from kindly.read.stores.postgres.rows import model_of, quoted, to_entry, to_vector

if TYPE_CHECKING:
    import numpy as np
    import psycopg
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]
    Connection = psycopg.Connection[tuple[Any, ...]]

MAX_ROWS = 3000
"""How many chunks the words of a question may find together; more frequent words say little."""
MAX_NAMED_ROWS = 600
"""The same for the words of titles and addresses."""
MAX_UNLISTED = 4
"""Words, not among the frequent ones, that are asked for together in a large library."""
MAX_TERMS = 64
MAX_TERM_BYTES = 2000
EXACT_CHUNKS = 10_000
"""A scope of more chunks is searched by the index: comparing one exactly takes about 12 µs."""
WIDEST_SEARCH = 1_000
"""pgvector's largest breadth, for versions whose index cannot go on (before 0.8)."""
EF_SEARCH = 200
"""pgvector's breadth of the HNSW search: more finds more of the nearest vectors."""
FREQUENCIES_TTL_S = 300.0
"""How long PostgreSQL's statistics of frequent words are cached."""
FREQUENCIES = """
SELECT most_common_elems::text::text[], most_common_elem_freqs, reltuples
FROM pg_stats JOIN pg_class ON pg_class.oid = to_regclass('kindly_chunks')
JOIN pg_namespace ON pg_namespace.oid = relnamespace AND nspname = schemaname
WHERE tablename = 'kindly_chunks' AND attname = 'words'
"""
RANKED = """
WITH pair AS MATERIALIZED (
    SELECT n, which, ts_rank(words, term, 1) AS rank
    FROM unnest(%(each)s::tsquery[]) WITH ORDINALITY AS one (term, which), LATERAL (
        SELECT n, words FROM kindly_chunks WHERE words @@ term{within} LIMIT %(rows)s
    ) AS hit
), weight AS (
    SELECT which, 1 / ln(2 + count(*)) AS rarity FROM pair GROUP BY which
)
SELECT n FROM pair JOIN weight USING (which)
GROUP BY n ORDER BY sum(rank * rarity) DESC LIMIT %(limit)s
"""
EMBEDDING = row_format.DOCUMENT_COLUMNS + row_format.PREPARED_CHUNK_COLUMNS
CANDIDATES = f"""
SELECT {DOCUMENT}, {PREPARED_CHUNK}, embedding, outline FROM kindly_chunks JOIN kindly_documents USING (doc)
WHERE n = ANY(%s)
""".encode()  # noqa: S608 - names only
NEAREST_IN_SCOPE = """
WITH own AS MATERIALIZED (
    SELECT n, embedding FROM kindly_chunks WHERE embedding IS NOT NULL
        AND doc IN (SELECT doc FROM kindly_documents WHERE {condition})
)
SELECT n FROM own ORDER BY embedding::halfvec({dimension}) <=> %s::halfvec({dimension}) LIMIT {limit}
"""
"""Exactly, for a scope of few chunks: the index would find the nearest of all, of which few may be in the scope."""
IS_LARGE = """
SELECT count(*) > {most} FROM (
    SELECT FROM kindly_chunks WHERE doc IN (SELECT doc FROM kindly_documents WHERE {condition}) LIMIT {most} + 1
) AS own
"""
HAS_ITERATIVE_SCAN = b"""
SELECT string_to_array(extversion, '.')::int[] >= '{0,8}' FROM pg_extension WHERE extname = 'vector'
"""
NEAREST_BY_INDEX = """
SELECT n FROM kindly_chunks
WHERE embedding IS NOT NULL AND doc IN (SELECT doc FROM kindly_documents WHERE {condition})
ORDER BY embedding::halfvec({dimension}) <=> %s::halfvec({dimension}) LIMIT {limit}
"""
"""For a scope of many chunks: the index goes on until enough of the nearest are in the scope."""
NEAREST = """
SELECT n FROM kindly_chunks WHERE embedding IS NOT NULL
ORDER BY embedding::halfvec({dimension}) <=> %s::halfvec({dimension}) LIMIT {limit}
"""


@frozen
class Frequencies:
    """The number of chunks per word, from PostgreSQL's statistics."""

    known: Mapping[str, float] = field(default_factory=dict)
    unknown: float = 0.0
    """For a word that is not among the frequent ones."""

    def of(self, term: str) -> float:
        """The approximate number of chunks that have the word."""
        return self.known.get(term, self.unknown)


class WordCounts:
    """A cache of PostgreSQL's statistics of frequent words."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._until = float("-inf")
        self._counts = Frequencies()

    def now(self, connection: "Connection") -> Frequencies:
        """The counts, at most some minutes old."""
        if self._clock() > self._until:
            row = connection.execute(FREQUENCIES).fetchone()
            self._counts = Frequencies() if row is None else _to_frequencies(*row)
            self._until = self._clock() + FREQUENCIES_TTL_S
        return self._counts


def _to_frequencies(
    words: Sequence[str] | None, shares: Sequence[float] | None, chunks: float
) -> Frequencies:
    if not words or not shares:
        return Frequencies()
    known = {word: share * chunks for word, share in zip(words, shares, strict=False)}
    return Frequencies(known, min(known.values()) / 2)


def candidates(
    terms: Sequence[str],
    vector: "Vectors | None",
    limit: int,
    counts: WordCounts,
    scope: RecallScope,
    connection: "Connection",
) -> list[Candidate]:
    """Chunks by words and by vector, without duplicates."""
    indexable = [term for term in dict.fromkeys(terms) if len(term.encode()) < MAX_TERM_BYTES]
    storable = [row_format.storable(term) for term in indexable if term.strip()][:MAX_TERMS]
    numbers = []
    if storable:
        known = counts.now(connection)
        numbers = _by_words(connection, storable, limit, known, scope)
        named = [NAMED + term for term in storable]
        few = limit // NAMED_SHARE
        numbers += _by_words(connection, named, few, known, scope, MAX_NAMED_ROWS)
    model = model_of(connection)
    if vector is not None and model and vector.shape == (model.dimension,):
        numbers += _by_vector(connection, vector, limit, scope)
    found = connection.execute(CANDIDATES, (list(set(numbers)),), binary=True)
    return [
        Candidate(
            entry,
            row_format.to_prepared_chunk(entry.key, row[row_format.DOCUMENT_COLUMNS :]),
            None if row[EMBEDDING] is None else to_vector(row[EMBEDDING]),
            row[EMBEDDING + 1],
        )
        for row in found.fetchall()
        if row_format.in_scope(entry := to_entry(row), scope)
    ]


def _by_words(
    connection: "Connection",
    terms: Sequence[str],
    limit: int,
    counts: Frequencies,
    scope: RecallScope,
    max_rows: int = MAX_ROWS,
) -> list[int]:
    """The numbers of the chunks with the rarest of these terms; if all are frequent, of those that have all."""
    queries, rows = word_queries(terms, counts, max_rows)
    values: dict[str, object] = {"each": queries, "rows": rows, "limit": limit}
    within = ""
    if scope:
        condition, given = _condition(scope)
        values |= given
        within = f" AND doc IN (SELECT doc FROM kindly_documents WHERE {condition})"  # noqa: S608
    found = connection.execute(RANKED.format(within=within).encode(), values)
    return [n for (n,) in found.fetchall()]


def _condition(scope: RecallScope) -> tuple[str, dict[str, object]]:
    """The condition on documents, with named values."""
    condition, values = row_format.scope_condition(scope, "\0", lambda moment: moment)
    first, *rest = condition.split("\0")
    named = first + "".join(f"%(scope{number})s{part}" for number, part in enumerate(rest))
    return named, {f"scope{number}": value for number, value in enumerate(values)}


def word_queries(
    terms: Sequence[str], counts: Frequencies, max_rows: int = MAX_ROWS
) -> tuple[list[str], int]:
    """Queries for the rarest of these terms, and how many rows each may read.

    The statistics list the thousand most frequent words. In a large library, words that are not listed may have many
    rows, too: then pairs of them are asked for as well, and all queries share the rows.
    """
    total, rare = 0.0, list[str]()
    for term in sorted(terms, key=counts.of):
        total += counts.of(term)
        if total <= max_rows:
            rare.append(term)
    unlisted = [term for term in terms if term not in counts.known][:MAX_UNLISTED]
    if set(unlisted) <= set(rare):
        return list(map(quoted, rare)) or [" & ".join(map(quoted, terms))], max_rows
    single = list(map(quoted, unlisted))
    queries = [*map(" & ".join, combinations(single, 2)), *single]
    return queries, max_rows // len(queries)


def _by_vector(
    connection: "Connection", vector: "Vectors", limit: int, scope: RecallScope
) -> list[int]:
    from pgvector import HalfVector

    if scope:
        return nearest_in_scope(connection, vector, limit, scope)
    connection.execute(f"SET LOCAL hnsw.ef_search = {max(limit, EF_SEARCH):d}".encode())
    sql = NEAREST.format(dimension=len(vector), limit=int(limit)).encode()
    found = connection.execute(sql, (HalfVector(vector),), prepare=False)
    return [n for (n,) in found.fetchall()]


def nearest_in_scope(
    connection: "Connection",
    vector: "Vectors",
    limit: int,
    scope: RecallScope,
    exact_chunks: int = EXACT_CHUNKS,
) -> list[int]:
    """The nearest chunks of a scope: exactly if it has few chunks, else by the index."""
    from pgvector import HalfVector

    condition, values = row_format.scope_condition(scope, "%s", lambda moment: moment)
    named = {"condition": condition, "dimension": len(vector), "limit": int(limit)}
    count = IS_LARGE.format(condition=condition, most=exact_chunks).encode()
    row = connection.execute(count, values).fetchone()
    is_large = bool(row and row[0])
    if is_large:
        _widen_search(connection, limit)
    sql = (NEAREST_BY_INDEX if is_large else NEAREST_IN_SCOPE).format(**named).encode()
    found = connection.execute(sql, (*values, HalfVector(vector)), prepare=False).fetchall()
    connection.execute("SET LOCAL enable_sort = on")
    return [n for (n,) in found]


def _widen_search(connection: "Connection", limit: int) -> None:
    """Let the index find the nearest chunks of a part of all pages; without sorting, the planner takes it."""
    row = connection.execute(HAS_ITERATIVE_SCAN).fetchone()
    is_iterative = bool(row and row[0])
    breadth = max(limit, EF_SEARCH) if is_iterative else WIDEST_SEARCH
    connection.execute(f"SET LOCAL hnsw.ef_search = {breadth:d}".encode())
    if is_iterative:
        connection.execute("SET LOCAL hnsw.iterative_scan = relaxed_order")
    connection.execute("SET LOCAL enable_sort = off")
