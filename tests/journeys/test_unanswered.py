"""`read_page` and `recall` withhold nothing: the closest passages come, marked, and a short page comes whole."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.paths import SHARED_DATA
from tests.support.served_world import GUIDE, QUESTION, calling, environment, text_of
from tests.support.shared_data import needs_shared
from tests.support.site import Site, html

pytestmark = pytest.mark.anyio

OFF_PAGE = "Which enzymes split lactose in infants?"
THRESHOLD = 0.72
ON_PAGE = "The page does not seem to answer this. Closest passages:"
IN_LIBRARY = "No page read so far seems to answer this. Closest passages:"
SHORT = (
    "<h1>Tea</h1><p>Green tea is steeped at eighty degrees for two minutes.</p>"
    "<h2>Black tea</h2><p>Black tea takes boiling water and four minutes.</p>"
    "<h2>Storage</h2><p>Keep all of it dry, dark and away from coffee.</p>"
)
WAL = "WAL mode lets readers continue while a writer appends"
ENDS = (
    "its changes to a separate file, which a checkpoint copies back later.",
    "new frames, each with a checksum that guards against torn writes.",
    "to the log, and an index in shared memory tells where each page is.",
    "at the end of the file, which is synchronised once per commit.",
    "pages, so that a long query sees the database as it was at its start.",
    "more, although the oldest reader limits how far a checkpoint can go.",
)


async def finding(site: Site, folder: Path, tool: str, **arguments: Any) -> tuple[Any, str]:
    """The only finding of a call, as data and as text."""
    async with calling(environment(site, folder)) as call:
        result = await call(tool, **arguments)
    assert not result.is_error, text_of(result)
    assert result.structured_content is not None
    (found,) = result.structured_content["findings"]
    return found, text_of(result)


async def read(site: Site, folder: Path, body: str, question: str, **more: Any) -> tuple[Any, str]:
    site.add("/page", html(body))
    url = site.url("/page")
    return await finding(site, folder, "read_page", url=url, question=question, **more)


async def test_page_that_does_not_answer_gives_its_closest_passages(
    site: Site, tmp_path: Path
) -> None:
    found, text = await read(site, tmp_path, GUIDE, OFF_PAGE)
    assert found["answered"] is False
    assert 0 < len(found["passages"]) <= 3
    assert all(one["score"] < THRESHOLD for one in found["passages"])
    assert found["note"] == ON_PAGE
    assert text.index(ON_PAGE) < text.index("1. score")


async def test_closest_passages_are_at_most_as_many_as_asked_for(
    site: Site, tmp_path: Path
) -> None:
    found, _ = await read(site, tmp_path, GUIDE, OFF_PAGE, max_results=1)
    assert found["answered"] is False
    assert len(found["passages"]) == 1


@pytest.mark.parametrize("question", ["???", "—"], ids=["marks", "dash"])
async def test_question_without_words_still_gives_a_part_of_the_page(
    site: Site, tmp_path: Path, question: str
) -> None:
    found, _ = await read(site, tmp_path, GUIDE, question)
    assert found["answered"] is False
    assert found["passages"]


@pytest.mark.parametrize(
    ("question", "answered"),
    [("How long does black tea take?", True), (OFF_PAGE, False)],
    ids=["answered", "unanswered"],
)
async def test_short_page_is_given_whole(
    site: Site, tmp_path: Path, question: str, answered: bool
) -> None:
    found, text = await read(site, tmp_path, SHORT, question)
    (whole,) = found["passages"]
    assert found["answered"] is answered
    assert (whole["score"] >= THRESHOLD) is answered
    assert whole["start"] == 0
    for part in ("eighty degrees", "boiling water", "away from coffee"):
        assert part in whole["text"]
        assert part in text


async def test_long_page_is_not_given_whole(site: Site, tmp_path: Path) -> None:
    found, _ = await read(site, tmp_path, GUIDE, QUESTION, max_results=1)
    (best,) = found["passages"]
    assert best["section"][-1] == "Limits"
    assert len(best["text"]) < len(GUIDE) / 2


@pytest.mark.parametrize("repeats", [1, 4, 20])
async def test_word_in_every_paragraph_is_what_the_page_is_about(
    site: Site, tmp_path: Path, repeats: int
) -> None:
    """Such a word separates no passage from another; that must not count against the page."""
    body = "<h1>Notes</h1>" + "".join(
        f"<p>{WAL} {end.replace('its', f'its {number}')}</p>"
        for number in range(repeats)
        for end in ENDS
    )
    found, text = await read(site, tmp_path, body, "What does WAL mode do?")
    assert found["answered"], text
    assert WAL in found["passages"][0]["text"]


async def test_recall_gives_the_closest_passages_of_the_library(site: Site, tmp_path: Path) -> None:
    await read(site, tmp_path, GUIDE, QUESTION)
    found, text = await finding(site, tmp_path, "recall", question=OFF_PAGE)
    assert found["answered"] is False
    assert 0 < len(found["passages"]) <= 3
    assert all(one["score"] < THRESHOLD for one in found["passages"])
    assert all(one["url"] == site.url("/page") for one in found["passages"])
    assert found["note"] == IN_LIBRARY
    assert text.index(IN_LIBRARY) < text.index("1. score")


async def test_recall_of_an_empty_library_says_that_there_is_nothing(
    site: Site, tmp_path: Path
) -> None:
    found, _ = await finding(site, tmp_path, "recall", question=OFF_PAGE)
    assert found["answered"] is False
    assert found["passages"] == []
    assert found["note"] == "No page read so far seems to answer this."


@needs_shared(SHARED_DATA / "tables")
async def test_every_question_about_a_table_gets_passages(site: Site, tmp_path: Path) -> None:
    with gzip.open(SHARED_DATA / "tables" / "wtq.dev.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line, _ in zip(lines, range(12), strict=False)]
    async with calling(environment(site, tmp_path)) as call:
        for number, row in enumerate(rows):
            site.add(f"/{number}", html(f"<h1>{row['title']}</h1>{row['html']}"))
            asked = [one["question"] for one in row["questions"]]
            result = await call("read_page", url=site.url(f"/{number}"), question=asked)
            assert result.structured_content is not None
            assert all(one["passages"] for one in result.structured_content["findings"])
