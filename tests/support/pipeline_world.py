"""Fake stages behind the verbs of the pipeline."""

from dataclasses import dataclass, field

from kindly import pipeline
from kindly.budget import Deadline
from kindly.extract import ExtractOptions
from kindly.models import Query, SearchResults
from kindly.stages import Reads, Stages, ignore_progress
from tests.support.fake_stages import (
    FakeExtractor,
    FakeFetcher,
    FakeLibrary,
    FakeRenderer,
    FakeSearcher,
)

A, B = "https://a.example/", "https://b.example/"
LONG = "A sentence of a long page. " * 400


@dataclass
class World:
    """Fake stages, and the verbs bound to them."""

    searcher: FakeSearcher = field(default_factory=lambda: FakeSearcher([A, B]))
    fetcher: FakeFetcher = field(default_factory=lambda: FakeFetcher({A: "Tea.", B: "Wine."}))
    extractor: FakeExtractor = field(default_factory=FakeExtractor)
    renderer: FakeRenderer | None = None
    library: FakeLibrary | None = None
    deadline_s: float = 10.0

    def __post_init__(self) -> None:
        self.stages = Stages(
            self.searcher,
            self.fetcher,
            self.extractor,
            self.renderer,
            self._open if self.library else None,
        )

    async def _open(self) -> Reads:
        assert self.library is not None
        return self.library

    @property
    def deadline(self) -> Deadline:
        return Deadline.after(self.deadline_s)

    async def fetch(self, url: str = A, options: ExtractOptions | None = None) -> str:
        options = options or ExtractOptions()
        return (await pipeline.fetch(self.stages, url, options, self.deadline)).text

    async def search(self, *, fetch_content: bool = True) -> SearchResults:
        return await pipeline.search(
            self.stages,
            Query("tea"),
            self.deadline,
            ignore_progress,
            fetch_content=fetch_content,
        )
