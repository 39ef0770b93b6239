"""Questions to a library of several pages: which page comes first, and how pages take turns."""

import pytest

from kindly.models import Document
from kindly.read.embedders.local.embedder import LocalEmbedder
from kindly.read.library import Library
from kindly.read.pages.page_order import PageOrder, candidate_pages
from kindly.read.store import Candidate, Store
from kindly.read.stores.memory.store import MemoryStore
from kindly.text.terms import terms
from tests.support.stored_pages import NOON

pytestmark = pytest.mark.anyio

FILLER = "The rest of this page is about other matters, such as gardens, weather and music. " * 4
PAGES = {
    "https://r.example/reference/useEffect": "# useEffect\n\n`useEffect` runs code after a component is shown.\n\n"
    + FILLER,
    "https://r.example/learn/lists": f"# Rendering lists\n\nA list may also need useEffect usage notes. {FILLER}",
    "https://r.example/blog/2022/03/29/release": (
        f"# Release 18\n\nuseEffect usage changed. The usage of useEffect is stricter: useEffect. {FILLER}"
    ),
}


async def library_of(pages: dict[str, str]) -> Library:
    library = Library(MemoryStore(), LocalEmbedder())
    for url, text in pages.items():
        await library.keep(url, Document(url, text, NOON))
    return library


async def candidates(store: Store, question: str) -> list[Candidate]:
    return await store.candidates(terms(question), None, 8)


async def test_the_page_that_is_named_so_comes_before_pages_that_mention_it() -> None:
    library = await library_of(PAGES)
    (finding,) = await library.recall(["useEffect usage"], 8)
    assert finding.citations[0].page.url == "https://r.example/reference/useEffect"


async def test_a_page_has_two_passages_before_others_have_their_turn() -> None:
    long = "\n\n".join(
        f"## Use {number}\n\nThe kettle boils water in case {number}. "
        + f"Detail {number} of tea. " * 60
        for number in range(8)
    )
    library = await library_of(
        {
            "https://tea.example/kettle": f"# Kettle\n\n{long}",
            "https://tea.example/pot": "# Pot\n\nA pot holds the water that the kettle boils."
            + FILLER,
        }
    )
    (finding,) = await library.recall(["when does the kettle boil water"], 6)
    urls = [one.page.url for one in finding.citations]
    assert "https://tea.example/pot" in urls[:3]
    assert urls.count("https://tea.example/kettle") > 2
    scores = [one.passage.score or 0.0 for one in finding.citations]
    assert scores == sorted(scores, reverse=True)


async def test_a_page_without_an_outline_is_ranked_by_the_chunks_at_hand() -> None:
    library = await library_of(PAGES)
    found = await candidates(library.store, "useEffect usage")
    without = [Candidate(one.entry, one.chunk, one.vector) for one in found]
    assert [page.outline.title for page in candidate_pages(without)] == [
        page.outline.title for page in candidate_pages(found)
    ]


async def test_every_chunk_belongs_to_one_page() -> None:
    library = await library_of(PAGES)
    found = await candidates(library.store, "useEffect usage")
    order = PageOrder(found)
    assert set(order.urls) == {one.entry.url for one in found}
    assert len(order.urls) == len(set(order.urls))
