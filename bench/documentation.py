"""The documentation pages of `../shared/data/docs_search` as a library, and distinct questions about them.

    bench.py --target bench.documentation:open_index

measures which page `recall` puts first.
"""

import atexit
import gzip
import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from anyio.from_thread import start_blocking_portal

from kindly.errors import KindlyError
from kindly.extract import ExtractOptions
from kindly.extract.document import extract
from kindly.models import Document, Page
from kindly.read.embedders.local.embedder import LocalEmbedder
from kindly.read.library import Library
from kindly.read.store import Store, StoreSettings
from kindly.read.stores import open_store

DATA = Path(__file__).parents[1] / "../shared/data/docs_search"
NOON = datetime(2026, 11, 18, 12, tzinfo=UTC)
HEADING = re.compile(r"^#{2,4} +(.{12,90})$", re.MULTILINE)
PROSE = re.compile(r"^(?![#|>`*\-\s\d])([A-Z][^\n.?!]{40,160})[.?!]", re.MULTILINE)
MARKUP = re.compile(r"\[([^\]]*)\]\([^)]*\)|\{[^}]*\}|[`*_#¶]")
PASSAGES = 8
OPENINGS = ("", "how does it work: ", "what is meant by ", "where is it said that ")


def pages() -> Iterator[dict[str, Any]]:
    """All pages: `library`, `url`, `media_type`, `body`."""
    with gzip.open(DATA / "pages.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def graded() -> list[dict[str, Any]]:
    """The queries with known pages: `library`, `query`, `relevant`."""
    return [json.loads(line) for line in (DATA / "queries.jsonl").read_text().splitlines()]


def document(page: dict[str, Any]) -> Document | None:
    """The page as the extractor reads it; None if it has no text."""
    url, body = page["url"], page["body"].encode()
    fetched = Page(url, url, 200, page["media_type"], body, NOON, charset="utf-8")
    try:
        return extract(fetched, ExtractOptions())
    except KindlyError:
        return None


async def keep_all(store: Store) -> int:
    """Store every page as the server does; return how many there are."""
    library = Library(store, LocalEmbedder())
    kept = 0
    for page in pages():
        if (read := document(page)) is not None:
            await library.keep(page["url"], read)
            kept += 1
    return kept


def open_index(found: Sequence[dict[str, Any]]) -> Callable[[str], list[str]]:
    """Keep these pages in a new SQLite library; the addresses that `recall` gives for a question, best first."""
    stack = ExitStack()
    atexit.register(stack.close)
    portal = stack.enter_context(start_blocking_portal())
    folder = Path(stack.enter_context(TemporaryDirectory()))
    store = open_store("sqlite", StoreSettings(folder))
    stack.callback(portal.call, store.aclose)
    library = Library(store, LocalEmbedder())
    for page in found:
        if (read := document(page)) is not None:
            portal.call(library.keep, page["url"], read)

    def search(question: str) -> list[str]:
        (finding,) = portal.call(library.recall, [question], PASSAGES)
        return [one.page.url for one in finding.citations]

    return search


async def questions(store: Store, count: int) -> list[str]:
    """The graded queries, then headings and first sentences of the stored pages; each once, always the same."""
    chance = Random(16)
    made = [
        question async for stored in store.pages() for question in _asked(stored.chunks[0].text)
    ]
    chance.shuffle(made)
    wanted = [query["query"] for query in graded()]
    return list(dict.fromkeys(wanted + made))[:count]


def _asked(text: str) -> Sequence[str]:
    bare = MARKUP.sub(r"\1", text)
    found = [*HEADING.findall(text)[:1], *PROSE.findall(bare)[:1]]
    plain = [" ".join(MARKUP.sub(r"\1", one).split()) for one in found]
    return [
        f"{OPENINGS[(len(one) + place) % len(OPENINGS)]}{one}?"
        for place, one in enumerate(plain)
        if len(one.split()) >= 2
    ]
