"""Each stage's call as a step: what happens without a renderer or a library, and what is traced."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from kindly import urls
from kindly.budget import Deadline
from kindly.errors import (
    FetchError,
    PageChallenged,
    PageNotFound,
    PageUnreachable,
    StoreUnavailable,
)
from kindly.extract import ExtractOptions
from kindly.models import FetchMethod, How, Link
from kindly.stages import RECENT_BYTES, Stages, held_bytes
from kindly.telemetry.trace import Span, listening
from tests.support.fake_stages import (
    FakeExtractor,
    FakeFetcher,
    FakeRenderer,
    FakeSearcher,
    document,
    page,
)

pytestmark = pytest.mark.anyio

URL = "https://a.example/"
SHELL = "<div id=root></div><script src=/app.js></script>"
CHALLENGE = PageChallenged("A bot check.", url=URL)


def stages(renderer: FakeRenderer | None = None) -> Stages:
    return Stages(FakeSearcher(), FakeFetcher({URL: "Tea."}), FakeExtractor(), renderer)


async def test_fetch_render_and_extract_are_traced_with_their_facts() -> None:
    steps: list[Span] = []

    @contextmanager
    def listener(step: Span) -> Iterator[None]:
        yield
        steps.append(step)

    ready, deadline = stages(FakeRenderer({URL: "Drawn."})), Deadline.after(10)
    with listening(listener):
        fetched = await ready.fetch(urls.parse(URL), deadline)
        await ready.extract(fetched, ExtractOptions(), deadline)
        await ready.render(urls.parse(URL), deadline)
    assert [(step.name, step.facts) for step in steps] == [
        ("fetch", {"host": "a.example", "how": How(), "bytes": 4}),
        ("extract", {"bytes": 4, "characters": 4}),
        ("render", {"host": "a.example", "how": How(FetchMethod.BROWSER), "bytes": 6}),
    ]


@pytest.mark.parametrize(
    ("failure", "expected"),
    [(CHALLENGE, True), (PageNotFound("No.", url=URL), False)],
    ids=["challenge", "not found"],
)
async def test_a_failure_is_evidence_only_if_a_browser_may_pass_it(
    failure: FetchError, expected: bool
) -> None:
    assert await stages(FakeRenderer()).needs_browser(None, None, failure) is expected


async def test_a_shell_without_text_needs_a_browser_and_a_page_with_text_does_not() -> None:
    ready = stages(FakeRenderer())
    shell, article = page(URL, SHELL), page(URL, "A sentence of an article. " * 400)
    assert await ready.needs_browser(shell, None, None)
    assert not await ready.needs_browser(article, document(article), None)


async def test_without_a_renderer_no_page_needs_a_browser() -> None:
    assert not await stages().needs_browser(None, None, CHALLENGE)
    with pytest.raises(PageUnreachable):
        await stages().render(urls.parse(URL), Deadline.after(10))


async def test_without_a_library_opening_it_is_an_error() -> None:
    with pytest.raises(StoreUnavailable):
        await stages().library()


@pytest.mark.parametrize("letters", ["abc", "αβγ"], ids=["one byte each", "two bytes each"])
async def test_recent_documents_are_bounded_by_their_bytes(letters: str) -> None:
    recent = stages().recent
    half = RECENT_BYTES // 2 // (1 if letters.isascii() else 2) - 100
    for name in letters:
        recent.put(name, document(page(URL, name * half)))
    assert [name in recent for name in letters] == [False, True, True]
    assert recent.weight <= RECENT_BYTES


def test_links_count_against_the_bytes_of_a_document() -> None:
    plain = document(page(URL, "Tea."))
    linked = replace(plain, links=(Link("tea", URL),) * 100)
    assert held_bytes(linked) > held_bytes(plain) + 100 * len(URL)
