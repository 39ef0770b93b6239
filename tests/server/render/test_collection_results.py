"""Collections as text and data."""

from kindly.read.crawls.collection import (
    Collection,
    CollectionState,
    CollectionStatus,
    TaskState,
)
from kindly.server.render.collection_results import collections_output, index_output
from tests.support.stored_pages import NOON

DOCS = Collection(
    "docs", "https://e.com/docs/", NOON, "1.0", state=CollectionState.CRAWLING, note="Left out: 3."
)
STATUS = CollectionStatus(DOCS, {TaskState.PENDING: 4, TaskState.FAILED: 1}, 1_200, 3_000)


def test_a_crawl_that_goes_on_answers_with_its_handle() -> None:
    output = index_output(STATUS, "", is_running=True)
    assert output.text.startswith("docs@1.0: crawling, 1,200 pages, 4 left. Left out: 3.")
    assert "collection=docs@1.0" in output.text
    assert not output.failed
    assert (output.structured["left"], output.structured["failed"]) == (4, 1)


def test_a_crawl_that_failed_says_why() -> None:
    output = index_output(STATUS, "The site is down.", is_running=False)
    assert output.failed
    assert output.structured["note"] == "The site is down. Left out: 3."


def test_all_collections_are_listed_with_their_failures() -> None:
    output = collections_output([STATUS], {"docs@1.0": "The site is down."})
    (one,) = output.structured["collections"]
    assert (one["collection"], one["pages"], one["checked_at"]) == ("docs@1.0", 1_200, None)
    assert "The site is down." in output.text


def test_no_collections_are_said_to_be_none() -> None:
    assert collections_output([], {}).text == "There are no collections; index makes one."
