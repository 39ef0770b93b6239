"""A library of generated pages in PostgreSQL, filled with COPY, as a restored dump would fill it."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import aclosing
from hashlib import sha256
from itertools import chain
from multiprocessing import get_context
from typing import Any

import psycopg

from bench.generated import MOST_WORDS, PAGE_CHUNKS, Generator
from kindly.read import row_format
from kindly.read.ranking.prepared import from_bytes, with_prepared
from kindly.read.ranking.static_model import NAME, load
from kindly.read.stores.postgres.rows import MAX_POSITION, quoted
from kindly.read.stores.postgres.store import PostgresStore
from kindly.text.terms import terms

DIMENSION = 256
INDEXES = (
    "CREATE INDEX kindly_chunks_words ON kindly_chunks USING gin (words) WITH (fastupdate = off)",
    "CREATE INDEX kindly_chunks_near ON kindly_chunks "
    "USING hnsw ((embedding::halfvec(256)) halfvec_cosine_ops)",
)
DOCUMENTS = f"COPY kindly_documents ({row_format.DOCUMENT}, doc, key, size) FROM STDIN"
CHUNKS = f"COPY kindly_chunks ({row_format.CHUNK}, doc, position, words, embedding) FROM STDIN"
BATCH = 250
"""Pages per COPY."""
PLACES = tuple(str(min(place, MAX_POSITION)) for place in range(1, 2 * MOST_WORDS))
"""The positions of words as text, for twice as many as a chunk has."""
FOUND = """
SELECT n, prepared, id, url, text, start_at, end_at, section_path, tokens FROM kindly_chunks
JOIN kindly_documents USING (doc) WHERE id = ANY(%s)
"""


async def fill(url: str, chunks: int, processes: int = 2) -> None:
    """Store that many generated chunks, unless there are as many already."""
    async with aclosing(PostgresStore(url)) as store:
        if (await store.stats()).chunks >= chunks:
            return
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP INDEX IF EXISTS kindly_chunks_near, kindly_chunks_words")
        for item in ((row_format.MODEL_NAME, NAME), (row_format.MODEL_DIMENSION, str(DIMENSION))):
            connection.execute("INSERT INTO kindly_meta VALUES (%s, %s)", item)
        pages = chunks // PAGE_CHUNKS
        parts = [(url, number, pages, processes) for number in range(processes)]
        with get_context("spawn").Pool(processes) as pool:
            pool.starmap(_copy_part, parts)
        connection.execute("SET maintenance_work_mem = '2GB'")
        for sql in INDEXES:
            connection.execute(sql.encode())
        connection.execute("VACUUM ANALYZE kindly_documents, kindly_chunks")


def prepare_found(url: str, ids: Sequence[str]) -> int:
    """Prepare the chunks with these ids, as those of kept pages are, and count those that were not.

    Those that another version prepared are prepared again. To prepare all takes as long as the filling.
    """
    model = load()
    with psycopg.connect(url, autocommit=True) as connection:
        found = connection.execute(FOUND, (list(ids),)).fetchall()
        rows = [row for row in found if row[1] is None or from_bytes(row[1]) is None]
        chunks = [row_format.to_chunk(row[3], (row[2], *row[4:])) for row in rows]
        numbers = {row[2]: row[0] for row in rows}
        with connection.cursor() as cursor:
            cursor.executemany(
                "UPDATE kindly_chunks SET prepared = %s WHERE n = %s",
                [(one.prepared, numbers[one.id]) for one in with_prepared(chunks, model)],
            )
    return len(rows)


def _copy_part(url: str, first: int, pages: int, step: int) -> None:
    """Every `step`th page."""
    generator = Generator(load())
    stems = [tuple(map(quoted, terms(word))) for word in generator.words]
    with psycopg.connect(url, autocommit=True) as connection:
        for batch in batched(range(first, pages, step), BATCH):
            _copy(connection, batch, generator, stems)


def _copy(
    connection: "psycopg.Connection[Any]",
    numbers: Sequence[int],
    generator: Generator,
    stems: Sequence[Sequence[str]],
) -> None:
    pages = list(generator.pages(numbers))
    with connection.transaction(), connection.cursor() as cursor:
        with cursor.copy(DOCUMENTS.encode()) as copy:
            for doc, page in zip(numbers, pages, strict=True):
                key = sha256(page.entry.url.encode()).hexdigest()
                size = row_format.estimated_bytes(page.chunks, DIMENSION)
                values = row_format.from_entry(page.entry, page.entry.crawled_at)
                copy.write_row((*values, doc, key, size))
        with cursor.copy(CHUNKS.encode()) as copy:
            for doc, page in zip(numbers, pages, strict=True):
                for position, chunk in enumerate(page.chunks):
                    words = _lexemes(stems[word] for word in page.words[position].tolist())
                    vector = f"[{','.join(map('%.3g'.__mod__, page.vectors[position].tolist()))}]"
                    copy.write_row((*row_format.from_chunk(chunk), doc, position, words, vector))


def batched(numbers: range, size: int) -> Iterator[range]:
    """Consecutive parts of a range."""
    for first in range(0, len(numbers), size):
        yield numbers[first : first + size]


def _lexemes(stems: Iterable[Sequence[str]]) -> str:
    """The positions of each quoted stem, as a tsvector is written."""
    places: dict[str, list[str]] = {}
    for term, place in zip(chain.from_iterable(stems), PLACES, strict=False):
        if term in places:
            places[term].append(place)
        else:
            places[term] = [place]
    return " ".join(f"{term}:{','.join(where)}" for term, where in places.items())
