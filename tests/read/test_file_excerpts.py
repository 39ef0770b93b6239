"""Long files through the pipeline: what is answered at once, what is kept later, when the whole is waited for."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

import anyio
import pytest

from kindly import pipeline
from kindly.budget import Deadline
from kindly.concurrency.background_tasks import background_tasks
from kindly.concurrency.deferred_work import DeferredWork
from kindly.errors import ExtractError, ExtractionFailed, ExtractionLate
from kindly.extract import ExtractOptions
from kindly.models import Document, Finding, Page, PageFindings
from kindly.read.store import StoredPage
from kindly.stages import Reads, Stages
from kindly.urls import Url
from tests.support.fake_stages import FakeFetcher, FakeLibrary, FakeSearcher, document

pytestmark = pytest.mark.anyio

FILE = "https://a.example/filing.pdf"
EXCERPT, WHOLE = "Some pages.", "All pages of the file."


@dataclass
class LongFiles:
    """An extractor of files that are long: with questions, an excerpt; the whole when it is released."""

    cut: bool = False
    partial: bool = False
    failure: ExtractError | None = None
    asked: list[tuple[str, ...]] = field(default_factory=list)
    let_go: anyio.Event = field(default_factory=anyio.Event)

    async def extract(self, page: Page, options: ExtractOptions, deadline: Deadline) -> Document:
        self.asked.append(options.questions)
        if options.questions:
            found = replace(document(page), text=EXCERPT, content_hash="e", note="1 of 9 pages.")
            return replace(found, excerpt=True, partial=True, cut=self.cut)
        await self.let_go.wait()
        if self.failure is not None:
            raise self.failure
        return replace(document(page), text=WHOLE, content_hash="w", partial=self.partial)

    async def warm(self) -> None:
        pass


@dataclass
class PickyLibrary(FakeLibrary):
    """Answers from texts that are at least so long."""

    least: int = 0

    async def ask(
        self, stored: StoredPage, questions: Sequence[str], limit: int
    ) -> tuple[Finding, ...]:
        found = await super().ask(stored, questions, limit)
        return tuple(replace(one, answered=stored.entry.total >= self.least) for one in found)


@dataclass
class PrivateFetcher(FakeFetcher):
    async def fetch(self, url: Url, deadline: Deadline, *, force_refresh: bool = False) -> Page:
        found = await super().fetch(url, deadline, force_refresh=force_refresh)
        return replace(found, private=True)


@dataclass
class World:
    stages: Stages
    library: PickyLibrary
    extractor: LongFiles

    async def ask(self, *questions: str, seconds: float = 120.0) -> PageFindings:
        return await pipeline.read(self.stages, FILE, questions, Deadline.after(seconds))

    async def rest(self) -> None:
        """Let the work after the answer end."""
        self.extractor.let_go.set()
        assert self.stages.deferred is not None
        await self.stages.deferred.wait(FILE, 120)


@asynccontextmanager
async def world(
    extractor: LongFiles | None = None, *, least: int = 0, private: bool = False
) -> AsyncIterator[World]:
    library, extractor = PickyLibrary(least=least), extractor or LongFiles()

    async def open_library() -> Reads:
        return library

    fetcher = (PrivateFetcher if private else FakeFetcher)({FILE: "bytes"})
    with anyio.fail_after(120):
        async with background_tasks() as tasks:
            stages = Stages(
                FakeSearcher(),
                fetcher,
                extractor,
                open_library=open_library,
                deferred=DeferredWork(tasks),
            )
            yield World(stages, library, extractor)


async def test_question_is_answered_before_the_whole_file_is_read() -> None:
    async with world() as here:
        found = await here.ask("Why?")
        assert (found.page.content_hash, found.note) == ("e", "1 of 9 pages.")
        assert here.library.pages == {}
        await here.rest()
        assert here.library.texts[FILE] == WHOLE
        later = await here.ask("How?")
    assert later.page.content_hash == "w"
    assert here.extractor.asked == [("Why?",), ()]


async def test_second_question_before_that_is_answered_from_an_excerpt_of_its_own() -> None:
    async with world() as here:
        await here.ask("Why?")
        await anyio.wait_all_tasks_blocked()
        assert (await here.ask("How?")).page.content_hash == "e"
        await here.rest()
    assert here.extractor.asked == [("Why?",), (), ("How?",)]


async def test_whole_file_is_waited_for_if_its_excerpt_does_not_answer() -> None:
    extractor = LongFiles()
    extractor.let_go.set()
    async with world(extractor, least=len(WHOLE)) as here:
        found = await here.ask("Why?")
    assert (found.page.content_hash, found.note) == ("w", "")
    assert found.findings[0].answered


async def test_excerpt_answers_as_well_as_it_can_if_the_whole_is_not_read_in_time() -> None:
    async with world(least=len(WHOLE)) as here:
        found = await here.ask("Why?", seconds=1.2)
    assert found.page.content_hash == "e"
    assert not found.findings[0].answered


@pytest.mark.parametrize(
    "extractor",
    [LongFiles(partial=True), LongFiles(failure=ExtractionFailed("Too slow.", url=FILE))],
    ids=["read in part", "not read"],
)
async def test_file_that_cannot_be_read_whole_is_not_kept_and_not_tried_again(
    extractor: LongFiles,
) -> None:
    extractor = replace(extractor, asked=[], let_go=anyio.Event())
    async with world(extractor) as here:
        for question in ("Why?", "How?"):
            await here.ask(question)
            await here.rest()
    assert here.library.pages == {}
    assert extractor.asked == [("Why?",), (), ("How?",)]


async def test_file_for_which_no_worker_was_free_is_tried_again_with_the_next_question() -> None:
    extractor = LongFiles(failure=ExtractionLate("No worker was free.", url=FILE))
    async with world(extractor) as here:
        for question in ("Why?", "How?"):
            await here.ask(question)
            await here.rest()
    assert extractor.asked == [("Why?",), (), ("How?",), ()]


async def test_file_that_is_too_long_to_be_read_whole_is_not_tried() -> None:
    async with world(LongFiles(cut=True)) as here:
        await here.ask("Why?")
        await here.rest()
    assert here.extractor.asked == [("Why?",)]


async def test_private_file_is_never_kept() -> None:
    async with world(private=True) as here:
        assert (await here.ask("Why?")).page.content_hash == "e"
        await here.rest()
    assert here.library.pages == {}
    assert here.extractor.asked == [("Why?",)]


async def test_file_is_read_whole_if_nothing_can_be_done_after_the_answer() -> None:
    extractor = LongFiles()
    extractor.let_go.set()
    async with world(extractor) as here:
        stages = replace(here.stages, deferred=None)
        found = await pipeline.read(stages, FILE, ["Why?"], Deadline.after(120))
    assert found.page.content_hash == "w"
    assert here.extractor.asked == [()]
